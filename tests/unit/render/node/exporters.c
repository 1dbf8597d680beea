/* brim's ticks under the names of other exporters. */
#include "render/node/exporters.h"

#include <stdio.h>

#include "probe/gpu/gpu_sample.h"
#include "tap.h"

static const struct utsname host = { "Linux", "n\"1", "6.1", "#1", "x86_64", "(none)" };

static void add_gpu(struct tick *t, const char *thing)
{
    struct signal_row *row = tick_add(t, &gpu_set, thing);

    if (!row)
        return;
    row->values[GPU_SM_CLOCK] = 1.98e9;
    row->values[GPU_BUSY] = 0.5;
    row->values[GPU_MEMORY_USED] = 3 << 20;
    row->values[GPU_ENERGY] = 2;
    tick_fact(row, GPU_UUID, "GPU-1");
    tick_fact(row, GPU_MODEL, "H100");
    tick_fact(row, GPU_PCI, "0000:17:00.0");
}

static void has(const struct str *out, const char *want)
{
    ok(strstr(str_text(out), want) != NULL, "the exporters' page has: %s", want);
}

static void test_gpu(void)
{
#define LABELS(gpu) \
    "{gpu=\"" gpu "\",UUID=\"GPU-1\",pci_bus_id=\"0000:17:00.0\",device=\"nvidia" gpu \
    "\",modelName=\"H100\",Hostname=\"n\\\"1\"}"
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    struct tick t = { .n_rows = 0 };
    struct signal_row *row;

    tick_begin(&t, 1500000000, 0);
    add_gpu(&t, "0");
    add_gpu(&t, "1");
    row = tick_add(&t, &gpu_error_set, "1");
    if (row) {
        row->values[GPU_LAST_XID] = 79;
        row->values[GPU_ROWS_CORRECTED] = 1;
        row->values[GPU_ROWS_UNCORRECTED] = 2;
    }
    exporters_render(&t, NULL, &host, &out);
    has(&out, "# TYPE DCGM_FI_DEV_SM_CLOCK gauge\nDCGM_FI_DEV_SM_CLOCK" LABELS(
                  "0") " 1980\n"
                       "DCGM_FI_DEV_SM_CLOCK" LABELS("1") " 1980\n");
    has(&out, "\nDCGM_FI_DEV_GPU_UTIL" LABELS("1") " 50\n");
    has(&out, "\nDCGM_FI_DEV_FB_USED" LABELS("0") " 3\n");
    has(&out, "# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\n");
    has(&out, "\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" LABELS("0") " 2000\n");
    has(&out, "\nDCGM_FI_DEV_XID_ERRORS" LABELS("1") " 79\n");
    has(&out, "\nDCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS" LABELS("1") " 2\n");
    has(&out, "\nDCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS" LABELS("1") " 1\n");
    has(&out, "\nnode_time_seconds 1.500\n");
    has(&out, "\nnode_uname_info{domainname=\"(none)\",machine=\"x86_64\",nodename=\"n\\\"1\","
              "release=\"6.1\",sysname=\"Linux\",version=\"#1\"} 1\n");
    ok(!strstr(str_text(&out), "GPU_TEMP"), "absent is left out, and its head too");
    tick_done(&t);
}

static void test_hosts(void)
{
    static const struct signal_def waiting[] = {
        { "waiting_seconds_total", "waiting", SIGNAL_COUNTER },
        { "stalled_seconds_total", "stalled", SIGNAL_COUNTER },
    };
    static const struct signal_def sizes[] = { { "free_bytes", "free", SIGNAL_GAUGE } };
    static const char *const facts[] = { "device", "fstype", NULL };
    static const struct signal_set pressure = { "pressure", "resource", waiting, 2 };
    static const struct signal_set mounts = { "filesystem", "mount", sizes, 1, facts };
    static const char *const places[] = { "/", "/dev/shm", "/device" };
    CLEANUP(str_done) struct str out = STR_INIT(1 << 16);
    struct tick t = { .n_rows = 0 };
    struct signal_row *row;

    tick_begin(&t, 0, 0);
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        row = tick_add(&t, &mounts, places[i]);
        if (!row)
            return;
        row->values[0] = 7;
        tick_fact(row, 0, "/dev/sdT\n\x7f");
        tick_fact(row, 1, "ext4");
    }
    for (int i = 0; i < 2; i++) {
        row = tick_add(&t, &pressure, i ? "io" : "cpu");
        if (row)
            row->values[0] = row->values[1] = i + 1;
    }
    exporters_render(&t, NULL, &host, &out);
    has(&out,
        "# TYPE node_filesystem_avail_bytes gauge\n"
        "node_filesystem_avail_bytes{device=\"/dev/sdT??\",fstype=\"ext4\",mountpoint=\"/\"} 7\n"
        "node_filesystem_avail_bytes{device=\"/dev/sdT??\",fstype=\"ext4\","
        "mountpoint=\"/device\"} 7\n");
    ok(!strstr(str_text(&out), "shm"), "what is below /dev is left out");
    has(&out, "\nnode_pressure_cpu_waiting_seconds_total 1\n");
    has(&out, "\nnode_pressure_io_waiting_seconds_total 2\n");
    ok(!strstr(str_text(&out), "pressure_cpu_stalled"), "node_exporter has no such one");
    tick_done(&t);
}

int main(void)
{
    test_gpu();
    test_hosts();
    return done();
}
