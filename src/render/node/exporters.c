#include "render/node/exporters.h"

#include <stdbool.h>
#include <string.h>
#include "base/clock.h"

/* Which labels a metric has. */
enum form {
    PLAIN, /* none but the fixed */
    THING, /* the thing, under 'label' */
    MOUNT, /* a file system's three */
    GPU    /* the DCGM exporter's */
};

struct metric {
    const char *set, *signal, *select; /* select: the label of the signal */
    const char *name;
    const char *label; /* what the thing's label is called; of PLAIN: the thing that is meant */
    const char *fixed; /* a label that is always the same */
    double scale;
    enum form form;
    enum signal_kind kind;
};

#define COUNTER SIGNAL_COUNTER
#define GAUGE SIGNAL_GAUGE
#define MIB (1.0 / 1048576)
#define ROW(...) \
    { \
        __VA_ARGS__ \
    }
#define MODE(name_, from, to) \
    ROW(.set = "core", .signal = "seconds_total", .select = "mode=\"" from "\"", .name = name_, \
        .label = "cpu", .fixed = "mode=\"" to "\"", .scale = 1, .form = THING, .kind = COUNTER)
#define CPU(mode) MODE("node_cpu_seconds_total", mode, mode)
#define GUEST(from, to) MODE("node_cpu_guest_seconds_total", from, to)
#define HOST(signal_, name_, kind_) \
    ROW(.set = "host", .signal = signal_, .name = name_, .scale = 1, .form = PLAIN, .kind = kind_)
#define PRESSURE(thing, signal_) \
    ROW(.set = "pressure", .signal = signal_, .name = "node_pressure_" thing "_" signal_, \
        .label = thing, .scale = 1, .form = PLAIN, .kind = COUNTER)
#define DEVICE(set_, signal_, name_, kind_) \
    ROW(.set = set_, .signal = signal_, .name = name_, .label = "device", .scale = 1, \
        .form = THING, .kind = kind_)
#define DISK(signal, name, kind) DEVICE("disk", signal, "node_disk_" name, kind)
#define NET(signal, name, kind) DEVICE("net", signal, "node_network_" name, kind)
#define MOUNTED(signal_, name_) \
    ROW(.set = "filesystem", .signal = signal_, .name = "node_filesystem_" name_, .scale = 1, \
        .form = MOUNT, .kind = GAUGE)
#define DCGM(signal_, name_, scale_, kind_) \
    ROW(.set = "gpu", .signal = signal_, .name = "DCGM_FI_" name_, .scale = scale_, .form = GPU, \
        .kind = kind_)
#define DCGM_ERROR(signal_, select_, name_, kind_) \
    ROW(.set = "gpu_error", .signal = signal_, .select = select_, .name = "DCGM_FI_" name_, \
        .scale = 1, .form = GPU, .kind = kind_)

/* In the order in which they are written; those of one name stand together. */
static const struct metric metrics[] = {
    CPU("user"),
    CPU("nice"),
    CPU("system"),
    CPU("idle"),
    CPU("iowait"),
    CPU("irq"),
    CPU("softirq"),
    CPU("steal"),
    GUEST("guest", "user"),
    GUEST("guest_nice", "nice"),
    HOST("load1", "node_load1", GAUGE),
    HOST("load5", "node_load5", GAUGE),
    HOST("load15", "node_load15", GAUGE),
    HOST("boot_time_seconds", "node_boot_time_seconds", GAUGE),
    HOST("context_switches_total", "node_context_switches_total", COUNTER),
    HOST("interrupts_total", "node_intr_total", COUNTER),
    HOST("forks_total", "node_forks_total", COUNTER),
    HOST("processes_running", "node_procs_running", GAUGE),
    HOST("processes_blocked", "node_procs_blocked", GAUGE),
    PRESSURE("cpu", "waiting_seconds_total"),
    PRESSURE("io", "waiting_seconds_total"),
    PRESSURE("io", "stalled_seconds_total"),
    PRESSURE("memory", "waiting_seconds_total"),
    PRESSURE("memory", "stalled_seconds_total"),
    DISK("reads_total", "reads_completed_total", COUNTER),
    DISK("read_bytes_total", "read_bytes_total", COUNTER),
    DISK("read_seconds_total", "read_time_seconds_total", COUNTER),
    DISK("writes_total", "writes_completed_total", COUNTER),
    DISK("write_bytes_total", "written_bytes_total", COUNTER),
    DISK("write_seconds_total", "write_time_seconds_total", COUNTER),
    DISK("io_now", "io_now", GAUGE),
    DISK("io_seconds_total", "io_time_seconds_total", COUNTER),
    DISK("queue_seconds_total", "io_time_weighted_seconds_total", COUNTER),
    DISK("discards_total", "discards_completed_total", COUNTER),
    DISK("flushes_total", "flush_requests_total", COUNTER),
    DISK("flush_seconds_total", "flush_requests_time_seconds_total", COUNTER),
    NET("receive_bytes_total", "receive_bytes_total", COUNTER),
    NET("receive_packets_total", "receive_packets_total", COUNTER),
    NET("receive_errors_total", "receive_errs_total", COUNTER),
    NET("receive_dropped_total", "receive_drop_total", COUNTER),
    NET("transmit_bytes_total", "transmit_bytes_total", COUNTER),
    NET("transmit_packets_total", "transmit_packets_total", COUNTER),
    NET("transmit_errors_total", "transmit_errs_total", COUNTER),
    NET("transmit_dropped_total", "transmit_drop_total", COUNTER),
    NET("speed_bytes", "speed_bytes", GAUGE),
    MOUNTED("size_bytes", "size_bytes"),
    MOUNTED("free_bytes", "avail_bytes"),
    MOUNTED("files", "files"),
    MOUNTED("files_free", "files_free"),
    DCGM("sm_clock_hertz", "DEV_SM_CLOCK", 1e-6, GAUGE),
    DCGM("memory_clock_hertz", "DEV_MEM_CLOCK", 1e-6, GAUGE),
    DCGM("memory_temperature_celsius", "DEV_MEMORY_TEMP", 1, GAUGE),
    DCGM("temperature_celsius", "DEV_GPU_TEMP", 1, GAUGE),
    DCGM("power_watts", "DEV_POWER_USAGE", 1, GAUGE),
    DCGM("energy_joules_total", "DEV_TOTAL_ENERGY_CONSUMPTION", 1e3, COUNTER),
    DCGM_ERROR("pcie_replays_total", NULL, "DEV_PCIE_REPLAY_COUNTER", COUNTER),
    DCGM("busy_ratio", "DEV_GPU_UTIL", 100, GAUGE),
    DCGM("memory_busy_ratio", "DEV_MEM_COPY_UTIL", 100, GAUGE),
    DCGM("encoder_busy_ratio", "DEV_ENC_UTIL", 100, GAUGE),
    DCGM("decoder_busy_ratio", "DEV_DEC_UTIL", 100, GAUGE),
    DCGM_ERROR("last_xid", NULL, "DEV_XID_ERRORS", GAUGE),
    DCGM("memory_free_bytes", "DEV_FB_FREE", MIB, GAUGE),
    DCGM("memory_used_bytes", "DEV_FB_USED", MIB, GAUGE),
    DCGM("memory_reserved_bytes", "DEV_FB_RESERVED", MIB, GAUGE),
    DCGM_ERROR("remapped_rows", "after=\"uncorrected\"", "DEV_UNCORRECTABLE_REMAPPED_ROWS",
               COUNTER),
    DCGM_ERROR("remapped_rows", "after=\"corrected\"", "DEV_CORRECTABLE_REMAPPED_ROWS", COUNTER),
    DCGM_ERROR("remap_failed", NULL, "DEV_ROW_REMAP_FAILURE", GAUGE),
    DCGM("sm_active_ratio", "PROF_SM_ACTIVE", 1, GAUGE),
    DCGM("sm_occupancy_ratio", "PROF_SM_OCCUPANCY", 1, GAUGE),
    DCGM("tensor_active_ratio", "PROF_PIPE_TENSOR_ACTIVE", 1, GAUGE),
    DCGM("dram_active_ratio", "PROF_DRAM_ACTIVE", 1, GAUGE),
    DCGM("fp64_active_ratio", "PROF_PIPE_FP64_ACTIVE", 1, GAUGE),
    DCGM("fp32_active_ratio", "PROF_PIPE_FP32_ACTIVE", 1, GAUGE),
    DCGM("fp16_active_ratio", "PROF_PIPE_FP16_ACTIVE", 1, GAUGE),
};

static void add_label(struct str *out, const char *name, const char *value)
{
    str_addf(out, "%s=\"", name);
    for (; *value; value++) {
        char c = *value;

        if (c == '\\' || c == '"')
            str_add_char(out, '\\');
        if ((unsigned char)c < ' ' || c == 0x7f)
            c = '?';
        str_add_char(out, c);
    }
    str_add_char(out, '"');
}

/* The row of the set "gpu" for this thing, which knows what it is; itself when there is none. */
static const struct signal_row *gpu_row(const struct tick *t, const struct signal_row *row)
{
    size_t n;
    const struct signal_row *rows = tick_set(t, "gpu", &n);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(rows[i].thing, row->thing))
            return &rows[i];
    return row;
}

static void add_gpu(struct str *out, const struct tick *t, const struct signal_row *row,
                    const char *host)
{
    const struct signal_row *gpu = gpu_row(t, row);

    add_label(out, "gpu", row->thing);
    str_add_char(out, ',');
    add_label(out, "UUID", signal_fact(gpu, "uuid"));
    str_add_char(out, ',');
    add_label(out, "pci_bus_id", signal_fact(gpu, "pci"));
    str_add(out, ",device=\"nvidia");
    str_add(out, strspn(row->thing, "0123456789") == strlen(row->thing) ? row->thing : "");
    str_add(out, "\",");
    add_label(out, "modelName", signal_fact(gpu, "model"));
    str_add_char(out, ',');
    add_label(out, "Hostname", host);
}

static void add_labels(struct str *out, const struct metric *m, const struct tick *t,
                       const struct signal_row *row, const char *host)
{
    if (m->form == PLAIN)
        return;
    str_add_char(out, '{');
    if (m->form == THING) {
        add_label(out, m->label, row->thing);
    } else if (m->form == MOUNT) {
        add_label(out, "device", signal_fact(row, "device"));
        str_add_char(out, ',');
        add_label(out, "fstype", signal_fact(row, "fstype"));
        str_add_char(out, ',');
        add_label(out, "mountpoint", row->thing);
    } else {
        add_gpu(out, t, row, host);
    }
    if (m->fixed)
        str_addf(out, ",%s", m->fixed);
    str_add_char(out, '}');
}

static void add_head(struct str *out, const char *name, const char *type)
{
    str_addf(out, "# HELP %s as the exporter of that name has it\n# TYPE %s %s\n", name, name,
             type);
}

/* Rows that the exporter does not have: of a resource that the metric is not of, and what is
 * mounted below /dev. */
static bool is_other(const struct metric *m, const char *thing)
{
    if (m->form == PLAIN)
        return m->label && strcmp(m->label, thing) != 0;
    return m->form == MOUNT && !strncmp(thing, "/dev/", strlen("/dev/"));
}

/* All samples of one metric; *headed: the head of its name is there. */
static void add_metric(struct str *out, const struct metric *m, const struct tick *t,
                       const char *host, bool *headed)
{
    size_t n;
    const struct signal_row *rows = tick_set(t, m->set, &n);
    size_t value = n ? signal_index(rows->set, m->signal, m->select) : 0;

    for (size_t i = 0; i < n && value < rows->set->n_defs; i++) {
        double v = rows[i].values[value];

        if (isnan(v) || is_other(m, rows[i].thing))
            continue;
        if (!*headed)
            add_head(out, m->name, m->kind == SIGNAL_COUNTER ? "counter" : "gauge");
        *headed = true;
        str_add(out, m->name);
        add_labels(out, m, t, &rows[i], host);
        str_addf(out, " %.15g\n", v * m->scale);
    }
}

/* What has its name already. node_exporter gives what it only passes on no type. */
static void add_more(struct str *out, const struct tick *more)
{
    for (size_t r = 0; more && r < more->n_rows; r++) {
        const struct signal_row *row = &more->rows[r];

        for (size_t i = 0; i < row->set->n_defs; i++) {
            const char *name = row->set->defs[i].name;
            bool untyped = !strncmp(name, "vmstat_", 7) || !strncmp(name, "netstat_", 8);

            if (isnan(row->values[i]))
                continue;
            str_addf(out, "# TYPE node_%s %s\nnode_%s %.15g\n", name, untyped ? "untyped" : "gauge",
                     name, row->values[i]);
        }
    }
}

static void add_host(struct str *out, const struct tick *t, const struct utsname *host)
{
    add_head(out, "node_time_seconds", "gauge");
    str_addf(out, "node_time_seconds %.3f\n", clock_seconds(t->wall_ns));
    add_head(out, "node_uname_info", "gauge");
    str_add(out, "node_uname_info{");
    add_label(out, "domainname", host->domainname);
    str_add_char(out, ',');
    add_label(out, "machine", host->machine);
    str_add_char(out, ',');
    add_label(out, "nodename", host->nodename);
    str_add_char(out, ',');
    add_label(out, "release", host->release);
    str_add_char(out, ',');
    add_label(out, "sysname", host->sysname);
    str_add_char(out, ',');
    add_label(out, "version", host->version);
    str_add(out, "} 1\n");
}

void exporters_render(const struct tick *t, const struct tick *more, const struct utsname *host,
                      struct str *out)
{
    bool headed = false;

    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
        if (i == 0 || strcmp(metrics[i].name, metrics[i - 1].name) != 0)
            headed = false;
        add_metric(out, &metrics[i], t, host->nodename, &headed);
    }
    add_host(out, t, host);
    add_more(out, more);
}
