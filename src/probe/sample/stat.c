/* What /proc/stat tells: CPU time by what it went to, of the host and of each CPU, and what the
 * host does as a whole, with /proc/loadavg. The kernel walks all CPUs and interrupts for this
 * file, so one read serves all three sets. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

#define MODE(name) \
    { \
        "seconds_total", "time of CPUs by what it went to", SIGNAL_COUNTER, "mode=\"" name "\"" \
    }

/* In the order of the file. iowait is idle time with input or output outstanding, steal what the
 * hypervisor gave to others; guest time is in user too, guest_nice in nice. */
static const struct signal_def modes[] = {
    MODE("user"), MODE("nice"),    MODE("system"), MODE("idle"),  MODE("iowait"),
    MODE("irq"),  MODE("softirq"), MODE("steal"),  MODE("guest"), MODE("guest_nice"),
};

/* All CPUs together, and each: two sets, so that a sum over one counts nothing twice. */
static const struct signal_set cpu_set = { "cpu", NULL, modes, ARRAY_SIZE(modes) };
static const struct signal_set core_set = { "core", "cpu", modes, ARRAY_SIZE(modes) };

enum {
    CONTEXT_SWITCHES,
    INTERRUPTS,
    FORKS,
    RUNNING,
    BLOCKED,
    BOOT_TIME,
    LOAD1,
    LOAD5,
    LOAD15,
};

static const struct signal_def defs[] = {
    [CONTEXT_SWITCHES] = { "context_switches_total", "context switches", SIGNAL_COUNTER },
    [INTERRUPTS] = { "interrupts_total", "interrupts served", SIGNAL_COUNTER },
    [FORKS] = { "forks_total", "processes and threads started", SIGNAL_COUNTER },
    [RUNNING] = { "processes_running", "threads that run or could", SIGNAL_GAUGE },
    [BLOCKED] = { "processes_blocked", "threads that wait for input or output", SIGNAL_GAUGE },
    [BOOT_TIME] = { "boot_time_seconds", "when the host was started, since 1970", SIGNAL_GAUGE },
    [LOAD1] = { "load1", "mean of threads running or blocked, 1 minute", SIGNAL_GAUGE },
    [LOAD5] = { "load5", "mean of threads running or blocked, 5 minutes", SIGNAL_GAUGE },
    [LOAD15] = { "load15", "mean of threads running or blocked, 15 minutes", SIGNAL_GAUGE },
};

static const struct signal_set host_set = { "host", NULL, defs, ARRAY_SIZE(defs) };

static const struct sample_key keys[] = {
    { "ctxt", CONTEXT_SWITCHES, 1 }, { "intr", INTERRUPTS, 1 },       { "processes", FORKS, 1 },
    { "procs_running", RUNNING, 1 }, { "procs_blocked", BLOCKED, 1 }, { "btime", BOOT_TIME, 1 },
};

struct stat_files {
    struct sample_table *stat;
    struct kept load;
};

static void stat_close(void *state)
{
    struct stat_files *f = state;

    sample_table_close(f->stat);
    kept_close(&f->load);
    free(f);
}

static int stat_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(freep) struct stat_files *f = calloc(1, sizeof(*f));
    int rc;

    if (!f)
        return err_nomem(e);
    rc = sample_table_open(&f->stat, env->root, "proc/stat", e);
    if (rc < 0)
        return rc;
    kept_open(&f->load, env->root, "proc/loadavg");
    *state = steal(&f);
    return 0;
}

/* The lines of CPUs, with which the text starts; *at then stands behind them. */
static int add_cpus(const char **at, struct tick *t)
{
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);

    while (!strncmp(*at, "cpu", 3)) {
        int digits = (int)strspn(*at + 3, "0123456789");
        char thing[SIGNAL_THING];
        struct signal_row *row;

        snprintf(thing, sizeof(thing), "%.*s", digits, *at + 3);
        row = tick_add(t, digits ? &core_set : &cpu_set, thing);
        if (!row)
            return -ENOMEM;
        *at += 3 + digits;
        for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
            row->values[i] = scan_number(at) * tick_s;
        scan_line(at);
    }
    return 0;
}

static int stat_sample(void *state, struct tick *t)
{
    const struct stat_files *f = state;
    struct signal_row *row;
    char load[128];
    const char *at;
    char *text;
    int rc = sample_table_read(f->stat, &text);

    if (rc < 0 || !*text)
        return rc;
    at = text;
    rc = add_cpus(&at, t);
    if (rc < 0)
        return rc;
    row = tick_add(t, &host_set, "");
    if (!row)
        return -ENOMEM;
    sample_table_values(at, row, keys, ARRAY_SIZE(keys));
    if (kept_read(&f->load, load, sizeof(load)) <= 0)
        return 0;
    at = load;
    for (int i = LOAD1; i <= LOAD15; i++)
        row->values[i] = scan_number(&at);
    return 0;
}

static const struct signal_set *const more[] = { &core_set, &host_set, NULL };

const struct sampler_ops sampler_stat = {
    "stat", &cpu_set, stat_open, stat_sample, stat_close, more
};
