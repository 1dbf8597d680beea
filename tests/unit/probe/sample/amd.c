/* amdgpu's files: a card as an MI300X has them, one as older cards do. */
#include "probe/gpu/gpu_sample.h"
#include "sampled.h"

extern const struct sampler_ops sampler_amd;

#define CARD(n) "sys/class/drm/card" #n "/device/"

static const char *value_of(const struct sampled *s, const struct signal_set *set,
                            const char *thing, size_t i, char buf[32])
{
    const struct signal_row *row = tick_find(&s->tick, set, thing);

    if (!row)
        return "no row";
    if (isnan(row->values[i]))
        return "absent";
    snprintf(buf, 32, "%.15g", row->values[i]);
    return buf;
}
#define is_of(s, set, thing, i, want) \
    is_str(value_of((s), &(set), (thing), (i), (char[32]){ "" }), (want), "thing %s has %s at %s", \
           (thing), #i, (want))

/* Little-endian numbers of a table. */
static void put(uint8_t *table, size_t at, size_t size, uint64_t n)
{
    for (size_t i = 0; i < size; i++, n >>= 8)
        table[at + i] = (uint8_t)n;
}

static void start_table(uint8_t *table, size_t size, int revision)
{
    memset(table, 0xff, size);
    put(table, 0, 2, size);
    put(table, 2, 1, 1);
    put(table, 3, 1, (uint64_t)revision);
}

/* As struct gpu_metrics_v1_5: throttled by power and by the temperature of the memory. */
static void table_5(struct sampled *s, int card)
{
    uint8_t table[360];
    char path[64];

    start_table(table, sizeof(table), 5);
    put(table, 4, 2, 71);
    put(table, 6, 2, 63);
    put(table, 10, 2, 612);
    put(table, 12, 2, 97);
    put(table, 14, 2, 41);
    put(table, 88, 8, 65536ull * 12345);
    put(table, 104, 4, 0x12);
    put(table, 152, 8, 9);
    for (size_t i = 0; i < 7; i++) { /* the eighth is not there */
        put(table, 176 + 8 * i, 8, 1000);
        put(table, 240 + 8 * i, 8, 3000);
    }
    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/gpu_metrics", card);
    folder_file(s->folder, path, table, sizeof(table));
}

/* As struct gpu_metrics_v1_8, of 2,000 bytes. */
static void table_8(struct sampled *s, uint32_t cycles, uint32_t power, uint32_t memory)
{
    uint8_t table[2000];

    start_table(table, sizeof(table), 8);
    put(table, 12, 2, 50);
    put(table, 24, 8, 65536);
    put(table, 40, 4, cycles);
    put(table, 44, 4, 0);
    put(table, 48, 4, power);
    put(table, 52, 4, 0);
    put(table, 56, 4, 0);
    put(table, 60, 4, memory);
    put(table, 112, 8, 2);
    put(table, 136, 8, 5);
    put(table, 200, 8, 6);
    folder_file(s->folder, CARD(1) "gpu_metrics", table, sizeof(table));
}

static void uevent(struct sampled *s, int card, const char *driver, const char *id,
                   const char *slot)
{
    char path[64], text[128];

    snprintf(path, sizeof(path), "sys/class/drm/card%d/device/uevent", card);
    snprintf(text, sizeof(text), "DRIVER=%s\nPCI_CLASS=120000\nPCI_ID=%s\nPCI_SLOT_NAME=%s\n",
             driver, id, slot);
    folder_text(s->folder, path, text);
}

static void build_mi300x(struct sampled *s)
{
    uevent(s, 1, "amdgpu", "1002:74A1", "0000:05:00.0");
    folder_text(s->folder, CARD(1) "gpu_busy_percent", "98\n");
    folder_text(s->folder, CARD(1) "mem_busy_percent", "37\n");
    folder_text(s->folder, CARD(1) "mem_info_vram_used", "150000000000\n");
    folder_text(s->folder, CARD(1) "mem_info_vram_total", "206141652992\n");
    folder_text(s->folder, CARD(1) "unique_id", "1d2b3c4d5e6f7081\n");
    folder_text(s->folder, CARD(1) "product_name", "AMD Instinct MI300X OAM\n");
    folder_text(s->folder, CARD(1) "pp_dpm_sclk", "S: 19Mhz *\n0: 500Mhz\n1: 2100Mhz *\n");
    folder_text(s->folder, CARD(1) "current_link_speed", "32.0 GT/s PCIe\n");
    folder_text(s->folder, CARD(1) "max_link_speed", "32.0 GT/s PCIe\n");
    folder_text(s->folder, CARD(1) "current_link_width", "8\n");
    folder_text(s->folder, CARD(1) "max_link_width", "16\n");
    folder_text(s->folder, CARD(1) "pcie_replay_count", "4");
    folder_text(s->folder, CARD(1) "ras/umc_err_count", "5\nue: 1\nce: 7\n");
    folder_text(s->folder, CARD(1) "ras/gfx_err_count", "ue: 2\nce: 0\n");
    folder_text(s->folder, CARD(1) "ras/features", "ue: 9\n");
    folder_text(s->folder, CARD(1) "ras/gpu_vram_bad_pages",
                "0x00000001 : 0x00001000 : R\n0x00000002 : 0x00001000 : R\n"
                "0x00000003 : 0x00001000 : P\n0x00000004 : 0x00001000 : F\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon2/name", "other\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon2/power1_average", "1\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/name", "amdgpu\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/power1_input", "600500000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/power1_cap", "750000000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/freq1_input", "1925000000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/freq2_input", "1300000000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/temp2_label", "junction\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/temp2_input", "70000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/temp2_crit", "100000\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/temp3_label", "mem\n");
    folder_text(s->folder, CARD(1) "hwmon/hwmon5/temp3_input", "61000\n");
    table_5(s, 1);
}

/* Before it in PCI, after it by name; without a table. */
static void build_old(struct sampled *s)
{
    uevent(s, 2, "amdgpu", "1002:66A1", "0000:03:00.0");
    folder_text(s->folder, CARD(2) "mem_info_vram_total", "34342961152\n");
    folder_text(s->folder, CARD(2) "current_link_speed", "Unknown\n");
    folder_text(s->folder, CARD(2) "hwmon/hwmon6/name", "amdgpu\n");
    folder_text(s->folder, CARD(2) "hwmon/hwmon6/power1_average", "26000000\n");
    folder_text(s->folder, CARD(2) "hwmon/hwmon6/temp1_label", "edge\n");
    folder_text(s->folder, CARD(2) "hwmon/hwmon6/temp1_input", "45000\n");
}

static void test_mi300x(struct sampled *s)
{
    is_of(s, gpu_set, "amd1", GPU_BUSY, "0.98");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_BUSY, "0.37");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_USED, "150000000000");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_FREE, "56141652992");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_TOTAL, "206141652992");
    is_of(s, gpu_set, "amd1", GPU_POWER, "600.5");
    is_of(s, gpu_set, "amd1", GPU_POWER_LIMIT, "750");
    is_of(s, gpu_set, "amd1", GPU_ENERGY, "12345");
    is_of(s, gpu_set, "amd1", GPU_SM_CLOCK, "1925000000");
    is_of(s, gpu_set, "amd1", GPU_SM_CLOCK_MAX, "2100000000");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_CLOCK, "1300000000");
    is_of(s, gpu_set, "amd1", GPU_TEMPERATURE, "70");
    is_of(s, gpu_set, "amd1", GPU_TEMPERATURE_MARGIN, "30");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_TEMPERATURE, "61");
    is_of(s, gpu_set, "amd1", GPU_PCIE_GEN, "5");
    is_of(s, gpu_set, "amd1", GPU_PCIE_GEN_MAX, "5");
    is_of(s, gpu_set, "amd1", GPU_PCIE_WIDTH, "8");
    is_of(s, gpu_set, "amd1", GPU_PCIE_WIDTH_MAX, "16");
    is_of(s, gpu_set, "amd1", GPU_LINK_RECEIVED, "7168000");
    is_of(s, gpu_set, "amd1", GPU_LINK_SENT, "21504000");
    is_of(s, gpu_set, "amd1", GPU_LOST, "0");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_POWER, "1");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_THERMAL, "1");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_BRAKE, "0");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_SYNC, "absent");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_POWER_SECONDS, "absent");
    is_of(s, gpu_error_set, "amd1", GPU_ECC_CORRECTED, "7");
    is_of(s, gpu_error_set, "amd1", GPU_ECC_UNCORRECTED, "3");
    is_of(s, gpu_error_set, "amd1", GPU_PAGES_RETIRED, "2");
    is_of(s, gpu_error_set, "amd1", GPU_PAGES_PENDING, "1");
    is_of(s, gpu_error_set, "amd1", GPU_PCIE_REPLAYS, "4");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "amd1"), "uuid"), "1d2b3c4d5e6f7081",
           "a card's unique_id is its uuid");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "amd1"), "model"), "AMD Instinct MI300X OAM",
           "a card's product_name is its model");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "amd1"), "pci"), "0000:05:00.0",
           "a card has its PCI address");
    is_str(signal_fact(tick_find(&s->tick, &gpu_set, "amd1"), "vendor"), "amd",
           "a card has the vendor amd");
}

static void test_values(struct sampled *s)
{
    build_mi300x(s);
    build_old(s);
    uevent(s, 0, "ast", "1A03:2000", "0000:01:00.0");
    uevent(s, 3, "amdgpu", "10022:74A1", "0000:04:00.0");
    folder_text(s->folder, "sys/class/drm/card1-DP-1/device/uevent",
                "PCI_ID=1002:1\nPCI_SLOT_NAME=0000:06:00.0\n");
    folder_text(s->folder, "sys/class/drm/card7/device/uevent", "DRIVER=amdgpu_xcp\n");
    is_int(sampled_open(s), 0, "the sampler opens with two cards");
    is_int(sampled_at(s, 0), 4, "two cards have rows, and one has throttling and errors");
    ok(s->tick.rows[0].set == &gpu_set && s->tick.rows[1].set == &gpu_set,
       "the rows of a set stand together");
    test_mi300x(s);
    is_of(s, gpu_set, "amd0", GPU_MEMORY_TOTAL, "34342961152");
    is_of(s, gpu_set, "amd0", GPU_MEMORY_FREE, "absent");
    is_of(s, gpu_set, "amd0", GPU_POWER, "26");
    is_of(s, gpu_set, "amd0", GPU_TEMPERATURE, "45");
    is_of(s, gpu_set, "amd0", GPU_TEMPERATURE_MARGIN, "absent");
    is_of(s, gpu_set, "amd0", GPU_BUSY, "absent");
    is_of(s, gpu_set, "amd0", GPU_PCIE_GEN, "absent");
    is_of(s, gpu_set, "amd0", GPU_ENERGY, "absent");
    is_of(s, gpu_throttle_set, "amd0", GPU_THROTTLED_POWER, "no row");
}

static void test_slow(struct sampled *s)
{
    folder_text(s->folder, CARD(1) "ras/umc_err_count", "ue: 1\nce: 8\n");
    folder_text(s->folder, CARD(1) "gpu_busy_percent", "12\n");
    is_int(sampled_at(s, 9), 4, "the sampler has four rows after nine seconds");
    is_of(s, gpu_set, "amd1", GPU_BUSY, "0.12");
    is_of(s, gpu_error_set, "amd1", GPU_ECC_CORRECTED, "7");
    is_int(sampled_at(s, 10), 4, "the sampler has four rows after ten seconds");
    is_of(s, gpu_error_set, "amd1", GPU_ECC_CORRECTED, "8");
}

/* The table of newer drivers counts in how many cycles the clock was held down. */
static void test_cycles(struct sampled *s)
{
    table_8(s, 0xfffffff0, 1000, 500);
    is_int(sampled_at(s, 20), 4, "the sampler has four rows with a table of 1.8");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_POWER, "absent");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_POWER_SECONDS, "0");
    table_8(s, 0xfffffff0, 1000, 500);
    is_int(sampled_at(s, 21), 4, "the sampler has four rows with the same table of 1.8");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_POWER, "0");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_POWER_SECONDS, "0");
    table_8(s, 84, 1050, 525); /* 100 cycles later, in 2 s */
    is_int(sampled_at(s, 23), 4, "the sampler has four rows two seconds of cycles later");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_POWER, "1");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_THERMAL, "1");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_BRAKE, "0");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_OTHER, "absent");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_POWER_SECONDS, "1");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_THERMAL_SECONDS, "0.5");
    table_8(s, 10, 5, 5); /* a reset */
    is_int(sampled_at(s, 24), 4, "the sampler has four rows after the counts were reset");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLE_POWER_SECONDS, "1");
    table_8(s, 110, 3, 55); /* one count went back */
    is_int(sampled_at(s, 24), 4, "the sampler has four rows with a count that went back");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_POWER, "0");
    is_of(s, gpu_throttle_set, "amd1", GPU_THROTTLED_THERMAL, "1");
    is_of(s, gpu_set, "amd1", GPU_ENERGY, "1");
    is_of(s, gpu_set, "amd1", GPU_LINK_RECEIVED, "5120");
    is_of(s, gpu_set, "amd1", GPU_LINK_SENT, "6144");
}

static void remove_file(struct sampled *s, const char *path)
{
    char full[PATH_MAX];

    folder_path(s->folder, path, full);
    folder_need(remove(full), full);
}

static void test_gone(struct sampled *s)
{
    remove_file(s, CARD(2) "uevent");
    is_int(sampled_at(s, 25), 4, "a card that is gone is not missed before half a minute");
    is_int(sampled_at(s, 30), 3, "a card that is gone has no row after half a minute");
    is_of(s, gpu_set, "amd0", GPU_POWER, "no row");
    is_of(s, gpu_set, "amd1", GPU_POWER, "600.5");
    uevent(s, 2, "amdgpu", "1002:66A1", "0000:03:00.0");
    uevent(s, 5, "amdgpu", "1002:66A1", "0000:02:00.0");
    folder_text(s->folder, CARD(5) "hwmon/other/name", "amdgpu\n");
    folder_text(s->folder, CARD(5) "hwmon/other/power1_average", "26000000\n");
    is_int(sampled_at(s, 60), 5, "a card is back, and another is new");
    is_of(s, gpu_set, "amd0", GPU_POWER, "26");
    is_of(s, gpu_set, "amd2", GPU_POWER, "absent");
}

/* Reading /proc/self/mem at its start is an I/O error, as from a card that fell off the bus. */
static void test_lost(struct sampled *s)
{
    static const char *const files[] = { "gpu_busy_percent", "mem_busy_percent",
                                         "mem_info_vram_used", "mem_info_vram_total" };
    char path[128];

    remove_file(s, CARD(1) "hwmon/hwmon5/name");
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        snprintf(path, sizeof(path), "%s%s", CARD(1), files[i]);
        remove_file(s, path);
        folder_link(s->folder, path, "/proc/self/mem");
    }
    is_int(sampled_at(s, 90), 3, "a card that does not answer has no errors to tell");
    is_of(s, gpu_set, "amd1", GPU_LOST, "1");
    is_of(s, gpu_set, "amd1", GPU_POWER, "absent");
    is_of(s, gpu_set, "amd0", GPU_LOST, "0");
    remove_file(s, CARD(1) "mem_info_vram_total");
    folder_text(s->folder, CARD(1) "mem_info_vram_total", "");
    is_int(sampled_at(s, 119), 3, "a card is still lost before half a minute");
    is_int(sampled_at(s, 120), 5, "a card that answers again has all its rows");
    is_of(s, gpu_set, "amd1", GPU_LOST, "0");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_TOTAL, "absent");
    folder_text(s->folder, CARD(1) "mem_info_vram_total", "206141652992\n");
    is_int(sampled_at(s, 121), 5, "a card that answers with nothing is not lost");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_TOTAL, "206141652992");
}

static void test_hostile(struct sampled *s)
{
    uint8_t table[2000];

    folder_text(s->folder, CARD(1) "gpu_metrics", "\x08\x00\x01\x08");
    folder_text(s->folder, CARD(1) "ras/umc_err_count", "ue: x\nce:\n");
    folder_text(s->folder, CARD(1) "ras/gfx_err_count", "\n\n");
    folder_text(s->folder, CARD(1) "ras/gpu_vram_bad_pages", "R\nP");
    folder_text(s->folder, CARD(1) "pp_dpm_sclk", ":\n0: \n9");
    folder_text(s->folder, CARD(1) "mem_info_vram_total", "-5\n");
    is_int(sampled_at(s, 140), 4, "the sampler has four rows with broken files");
    is_of(s, gpu_set, "amd1", GPU_ENERGY, "absent");
    is_of(s, gpu_set, "amd1", GPU_MEMORY_TOTAL, "absent");
    is_of(s, gpu_set, "amd1", GPU_SM_CLOCK_MAX, "absent");
    is_of(s, gpu_error_set, "amd1", GPU_ECC_CORRECTED, "absent");
    is_of(s, gpu_error_set, "amd1", GPU_PAGES_RETIRED, "0");
    folder_text(s->folder, CARD(1) "pp_dpm_sclk", "0: 500Mhz\n1: 300Mhz *\n2: x\n3\n");
    is_int(sampled_at(s, 150), 4, "the sampler has four rows with clocks out of order");
    is_of(s, gpu_set, "amd1", GPU_SM_CLOCK_MAX, "500000000");
    memset(table, 1, sizeof(table));
    put(table, 0, 2, 384);
    put(table, 2, 2, 0x0601);
    folder_file(s->folder, CARD(1) "gpu_metrics", table, sizeof(table));
    is_int(sampled_at(s, 151), 4, "the sampler has four rows with a table of 1.6 as it was first");
    is_of(s, gpu_set, "amd1", GPU_ENERGY, "absent");
}

int main(void)
{
    struct sampled s;

    sampled_make(&s, &sampler_amd);
    is_int(sampled_open(&s), -ENOENT, "the sampler does not open without a card");
    test_values(&s);
    test_slow(&s);
    test_cycles(&s);
    test_gone(&s);
    test_lost(&s);
    test_hostile(&s);
    sampled_oom(&s);
    sampled_remove(&s);
    return done();
}
