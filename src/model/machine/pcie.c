#include "model/machine/pcie.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"

/* Line rates per generation, PCI Express Base Specification 1.0 to 7.0. */
static const double rates[] = { 0, 2.5, 5, 8, 16, 32, 64, 128 };

int pci_address_cmp(struct pci_address a, struct pci_address b)
{
    uint64_t x = (uint64_t)a.domain << 24 | (uint64_t)a.bus << 16 | (uint64_t)a.dev << 8 | a.fn;
    uint64_t y = (uint64_t)b.domain << 24 | (uint64_t)b.bus << 16 | (uint64_t)b.dev << 8 | b.fn;

    return COMPARE(x, y);
}

/* Up to max hexadecimal digits at *at, then the character end; moves *at behind it. */
static int hex_field(const char **at, int max, char end, uint32_t *ret)
{
    uint32_t value = 0;
    int digits = 0;

    for (; digits < max; digits++) {
        char c = (*at)[digits];
        uint32_t d;

        if (c >= '0' && c <= '9')
            d = (uint32_t)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            d = (uint32_t)((c | 32) - 'a' + 10);
        else
            break;
        value = value << 4 | d;
    }
    if (!digits || (*at)[digits] != end)
        return -EINVAL;
    *at += digits + (end != 0);
    *ret = value;
    return 0;
}

int pci_address_parse(const char *text, struct pci_address *ret)
{
    const char *at = text;
    uint32_t domain = 0, bus, dev, fn;

    if (hex_field(&at, 8, ':', &domain) < 0)
        return -EINVAL;
    if (hex_field(&at, 2, ':', &bus) < 0) {
        bus = domain; /* no domain was given: the first field was the bus */
        domain = 0;
        if (bus > 0xff)
            return -EINVAL;
    }
    if (hex_field(&at, 2, '.', &dev) < 0 || dev > 31)
        return -EINVAL;
    if (hex_field(&at, 1, 0, &fn) < 0 || fn > 7)
        return -EINVAL;
    *ret = (struct pci_address){ domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn };
    return 0;
}

const char *pci_address_text(struct pci_address at, char buf[PCI_ADDRESS_TEXT])
{
    snprintf(buf, PCI_ADDRESS_TEXT, "%04x:%02x:%02x.%x", at.domain, at.bus, at.dev & 31u,
             at.fn & 7u);
    return buf;
}

int pcie_gen(double gts)
{
    for (int gen = 1; gen < (int)ARRAY_SIZE(rates); gen++)
        if (gts > rates[gen] - 0.01 && gts < rates[gen] + 0.01)
            return gen;
    return 0;
}

double pcie_gts(int gen)
{
    return gen > 0 && gen < (int)ARRAY_SIZE(rates) ? rates[gen] : 0;
}

double pcie_gbs(double gts, int width)
{
    double encoding = gts < 6 ? 8.0 / 10 : gts < 40 ? 128.0 / 130 : 242.0 / 256;

    if (gts <= 0 || width <= 0)
        return ABSENT;
    return gts * encoding * width / 8;
}
