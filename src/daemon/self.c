#include "daemon/self.h"

#include <fcntl.h>
#include <sys/resource.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"

static const struct signal_def defs[SELF_VALUES] = {
    [SELF_CPU] = { "cpu_seconds_total", "CPU time that brim used", SIGNAL_COUNTER },
    [SELF_RESIDENT] = { "resident_bytes", "memory that brim has", SIGNAL_GAUGE },
    [SELF_TICKS] = { "ticks_total", "samples taken", SIGNAL_COUNTER },
    [SELF_MISSED] = { "missed_ticks_total", "samples that were due and not taken", SIGNAL_COUNTER },
    [SELF_TICK_SECONDS] = { "tick_seconds", "how long the last sample took", SIGNAL_GAUGE },
    [SELF_CONNECTIONS] = { "connections", "open HTTP connections", SIGNAL_GAUGE },
    [SELF_STREAMS] = { "streams", "clients that listen for events", SIGNAL_GAUGE },
    [SELF_REQUESTS] = { "requests_total", "HTTP requests served", SIGNAL_COUNTER },
    [SELF_REFUSED] = { "refused_total", "HTTP requests refused", SIGNAL_COUNTER },
    [SELF_STORED] = { "stored_ticks_total", "samples written to the store", SIGNAL_COUNTER },
    [SELF_ALERTS_DROPPED] = { "alerts_dropped", "alerts that are not shown: there are too many",
                              SIGNAL_GAUGE },
    [SELF_UNSTORED] = { "unstored_ticks_total", "samples that the store did not get",
                        SIGNAL_COUNTER },
};

static const struct signal_set set = { "agent", NULL, defs, SELF_VALUES };

/* The second number of /proc/self/statm, in pages. */
static double resident(void)
{
    struct kept k;
    char text[128];
    const char *at = text;
    double pages = (double)NAN;

    kept_open(&k, AT_FDCWD, "/proc/self/statm");
    if (kept_read(&k, text, sizeof(text)) > 0) {
        scan_number(&at);
        pages = scan_number(&at);
    }
    kept_close(&k);
    return pages * (double)sysconf(_SC_PAGESIZE);
}

struct signal_row *self_add(struct tick *t)
{
    struct signal_row *row = tick_add(t, &set, "");
    struct rusage used;

    if (!row)
        return NULL;
    row->values[SELF_RESIDENT] = resident();
    if (getrusage(RUSAGE_SELF, &used) == 0)
        row->values[SELF_CPU] = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                                (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    return row;
}
