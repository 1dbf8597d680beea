#include "model/machine/pcie.h"

#include <errno.h>

#include "tap.h"

static void is_address(const char *text, const char *want)
{
    struct pci_address at = { 1, 2, 3, 4 };
    char buf[PCI_ADDRESS_TEXT];
    int rc = pci_address_parse(text, &at);

    is_int(rc, want ? 0 : -EINVAL, "pci_address_parse of '%s' returns its code", text);
    is_str(pci_address_text(at, buf), want ? want : "0001:02:03.4", "'%s' is %s", text,
           want ? want : "no address, and nothing was set");
}

static void test_addresses(void)
{
    static const char *const bad[] = {
        "",
        "1b",
        "1b:00",
        "1b:00.",
        "1b:00.8",
        "1b:20.0",
        "1b:00.00",
        "1b:00.0 ",
        " 1b:00.0",
        "100:00.0",
        "0000:1b:00",
        "0000:1b.0.0",
        "0000:100:00.0",
        "000000000:1b:00.0",
        "0000:1b:000.0",
        "g:1b:00.0",
        "-1:1b:00.0",
        "0x0:1b:00.0",
        "0000::00.0",
        ":1b:00.0",
    };

    is_address("0000:1b:00.0", "0000:1b:00.0");
    is_address("1b:00.0", "0000:1b:00.0");
    is_address("00000000:1B:00.0", "0000:1b:00.0");
    is_address("0001:ff:1f.7", "0001:ff:1f.7");
    is_address("0:0:0.0", "0000:00:00.0");
    is_address("00010000:02:1f.7",
               "10000:02:1f.7"); /* as a volume controller's domain is written */
    is_address("ffffffff:ff:1f.7", "ffffffff:ff:1f.7");
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_address(bad[i], NULL);
}

static void test_round_trip(void)
{
    bool good = true;

    for (uint32_t bus = 0; bus < 256; bus++)
        for (uint32_t dev = 0; dev < 32; dev++) {
            struct pci_address at = { bus * 257, (uint8_t)bus, (uint8_t)dev, (uint8_t)(dev & 7) };
            struct pci_address back;
            char buf[PCI_ADDRESS_TEXT];

            good = good && pci_address_parse(pci_address_text(at, buf), &back) == 0 &&
                   pci_address_cmp(at, back) == 0;
        }
    ok(good, "each address that is written is read back");
}

static void test_order(void)
{
    static const struct pci_address sorted[] = {
        { 0, 0, 0, 0 },    { 0, 0, 0, 1 }, { 0, 0, 1, 0 },          { 0, 1, 0, 0 },
        { 0, 255, 31, 7 }, { 1, 0, 0, 0 }, { 0xffffffff, 0, 0, 0 }, { 0xffffffff, 0, 0, 7 },
    };
    bool good = true;

    for (size_t a = 0; a < ARRAY_SIZE(sorted); a++)
        for (size_t b = 0; b < ARRAY_SIZE(sorted); b++)
            good = good && pci_address_cmp(sorted[a], sorted[b]) == (a > b) - (a < b);
    ok(good, "addresses are in order of domain, bus, device, function");
}

static void test_generations(void)
{
    static const double rates[] = { 2.5, 5, 8, 16, 32, 64, 128 };

    for (int gen = 1; gen <= 7; gen++) {
        is_int(pcie_gen(rates[gen - 1]), gen, "%.1f GT/s is Gen%d", rates[gen - 1], gen);
        is_int((long long)(pcie_gts(gen) * 10), (long long)(rates[gen - 1] * 10),
               "Gen%d is %.1f GT/s", gen, rates[gen - 1]);
    }
    is_int(pcie_gen(0), 0, "a rate of 0 has no generation");
    is_int(pcie_gen(ABSENT), 0, "an absent rate has no generation");
    is_int(pcie_gen(12), 0, "a rate between two has no generation");
    is_int(pcie_gen(256), 0, "a rate that is not yet specified has no generation");
    ok(pcie_gts(0) <= 0 && pcie_gts(8) <= 0 && pcie_gts(-1) <= 0,
       "pcie_gts has no rate for unknown generations");
}

/* As PCI-SIG and vendors publish them, rounded to a hundredth of a GB/s: x16, one direction. */
static void test_rates(void)
{
    static const int hundredths[] = { 400, 800, 1575, 3151, 6302, 12100, 24200 };

    for (int gen = 1; gen <= 7; gen++)
        is_int((long long)(pcie_gbs(pcie_gts(gen), 16) * 100 + 0.5), hundredths[gen - 1],
               "Gen%d x16 moves %.2f GB/s", gen, hundredths[gen - 1] / 100.0);
    is_int((long long)(pcie_gbs(2.5, 1) * 1000 + 0.5), 250, "Gen1 x1 moves 0.25 GB/s");
    is_int((long long)(pcie_gbs(16, 4) * 100 + 0.5), 788, "Gen4 x4 moves 7.88 GB/s");
    is_int((long long)pcie_gbs(ABSENT, 16), ABSENT,
           "an absent rate moves an absent number of bytes");
    is_int((long long)pcie_gbs(16, ABSENT), ABSENT, "absent lanes move an absent number of bytes");
    is_int((long long)pcie_gbs(16, 0), ABSENT, "no lanes move an absent number of bytes");
    is_int((long long)pcie_gbs(0, 16), ABSENT, "a rate of 0 moves an absent number of bytes");
}

int main(void)
{
    test_addresses();
    test_round_trip();
    test_order();
    test_generations();
    test_rates();
    return done();
}
