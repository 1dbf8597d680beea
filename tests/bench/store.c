/* What storing costs: CPU per tick, memory, bytes per row, with rows of which each changes every
 * time. Prints name, value, unit, limit and note with tabs between them; script/bench makes the
 * table. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/file.h"
#include "store/store.h"

enum { SETS = 10, THINGS = 10, VALUES = 12, TICKS = 1200, WARM = 60 };

#define NS INT64_C(1000000000)

static const struct signal_def defs[VALUES] = {
    { "a_total", "", SIGNAL_COUNTER },
    { "a_bytes_total", "", SIGNAL_COUNTER },
    { "a_seconds_total", "", SIGNAL_COUNTER },
    { "b_total", "", SIGNAL_COUNTER },
    { "b_bytes_total", "", SIGNAL_COUNTER },
    { "b_seconds_total", "", SIGNAL_COUNTER },
    { "now", "", SIGNAL_GAUGE },
    { "busy_ratio", "", SIGNAL_GAUGE },
    { "c_total", "", SIGNAL_COUNTER },
    { "errors_total", "", SIGNAL_COUNTER },
    { "d_total", "", SIGNAL_COUNTER },
    { "celsius", "", SIGNAL_GAUGE },
};
static const struct signal_set sets[SETS] = {
    { "s0", "device", defs, VALUES }, { "s1", "device", defs, VALUES },
    { "s2", "device", defs, VALUES }, { "s3", "device", defs, VALUES },
    { "s4", "device", defs, VALUES }, { "s5", "device", defs, VALUES },
    { "s6", "device", defs, VALUES }, { "s7", "device", defs, VALUES },
    { "s8", "device", defs, VALUES }, { "s9", "device", defs, VALUES },
};

static void say(const char *name, double value, const char *unit, const char *limit,
                const char *note)
{
    printf("%s\t%.4g\t%s\t%s\t%s\n", name, value, unit, limit, note);
    fflush(stdout);
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A number of a line "NAME: N" of a file of /proc/self. */
static double proc(const char *path, const char *name)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 10);
    const char *at;

    if (file_read(path, &text, NULL) < 0 || !(at = strstr(str_text(&text), name)))
        return 0;
    return strtod(at + strlen(name), NULL);
}

static void fill(struct tick *t, int second)
{
    tick_begin(t, (int64_t)(1800000000 + second) * NS, second * NS);
    for (int i = 0; i < SETS * THINGS; i++) {
        char name[16];
        double pace = second * (1 + i % 7) + i;
        struct signal_row *row;

        snprintf(name, sizeof(name), "nvme%dn1", i % THINGS);
        row = tick_add(t, &sets[i / THINGS], name);
        if (!row)
            exit(1);
        for (int v = 0; v < VALUES; v++)
            row->values[v] = pace * (v % 3 == 1 ? 4096 : v % 3 == 2 ? 0.001 : 1) + v * 100000;
        row->values[7] = 1 / (2 + pace);
        row->values[9] = 0;
        row->values[11] = 40 + second % 9;
    }
}

static double size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static void measure(const char *where, const char *folder, bool figures)
{
    char path[512], name[600];
    struct store *store = NULL;
    struct tick tick = { .n_rows = 0 };
    double begin = 0, wrote = 0, resident = proc("/proc/self/status", "VmRSS:"), bytes;
    struct timespec a, b;
    double worst = 0;
    struct err e;

    snprintf(path, sizeof(path), "%s/brim-bench-%d/store.db", folder, (int)getpid());
    if (store_open(&store, path, NULL, 1800000000 * NS, &e) < 0) {
        fprintf(stderr, "store: %s\n", e.text);
        exit(1);
    }
    for (int i = 0; i < WARM + TICKS; i++) {
        if (i == WARM) {
            begin = cpu_ms();
            wrote = proc("/proc/self/io", "\nwrite_bytes:");
        }
        fill(&tick, i);
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (store_tick(store, &tick, &e) < 0) {
            fprintf(stderr, "store: %s\n", e.text);
            exit(1);
        }
        clock_gettime(CLOCK_MONOTONIC, &b);
        if (i >= WARM)
            worst = MAX(worst, (double)(b.tv_sec - a.tv_sec) * 1e3 +
                                   (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    }
    snprintf(name, sizeof(name), "storing 100 rows of 12, %s", where);
    say(name, (cpu_ms() - begin) / TICKS, "ms CPU", "<= 0.5", "per tick, checkpoints included");
    say("  longest tick", worst, "ms", "", "waiting for the disk included");
    if (figures) {
        say("  resident size, growth", (proc("/proc/self/status", "VmRSS:") - resident) / 1024,
            "MiB", "<= 3", "");
        say("  written per tick", (proc("/proc/self/io", "\nwrite_bytes:") - wrote) / TICKS / 1024,
            "KiB", "", "log and file");
    }
    store_close(store);
    bytes = size_of(path) / ((double)SETS * THINGS * (WARM + TICKS));
    if (figures) {
        say("  bytes per row", bytes, "B", "<= 110", "of 12 values, all tiers");
        say("  60 rows/s", bytes * 60 * 86400 / 1e6, "MB/day", "",
            "when each changes each second; the file has 1 GiB at most");
    }
    tick_done(&tick);
    unlink(path);
    snprintf(name, sizeof(name), "%s-lock", path);
    unlink(name);
    *strrchr(path, '/') = 0;
    rmdir(path);
}

int main(void)
{
    measure("disk", ".", true);
    if (access("/dev/shm", W_OK) == 0)
        measure("memory", "/dev/shm", false);
    return 0;
}
