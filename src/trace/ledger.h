/* Jobs that had devices: who, how long, how it ended, and what of that was of use. Plain data; a
 * source of jobs adds them with ledger_add(). */
#ifndef BRIM_TRACE_LEDGER_H
#define BRIM_TRACE_LEDGER_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum ledger_end {
    LEDGER_DONE,
    LEDGER_RUNNING,
    LEDGER_UNKNOWN, /* nobody says how it ended */
    LEDGER_FAILED,
    LEDGER_CANCELLED,
    LEDGER_TIME_LIMIT,
    LEDGER_MEMORY,
    LEDGER_NODE, /* a node failed */
    LEDGER_PREEMPTED,
    LEDGER_ENDS,
};

/* "failed"; of those that waste what a job had, what they are called as a cause. */
const char *ledger_end_name(enum ledger_end end);

struct ledger_job {
    const char *name, *user, *team, *project; /* NULL: not known */
    const char *kind;                         /* of its devices; "" where nobody says */
    const char *idle_cause; /* why its devices were idle: "small-files"; NULL: not known */
    int64_t begin_s;        /* since 1970; 0: not known */
    double seconds;         /* that it had its devices */
    double devices;
    double busy; /* share of that time in which they did something; NaN: not measured */
    double kwh;  /* measured; NaN */
    enum ledger_end end;
    /* For whoever knows rates: */
    double usd;       /* NaN: no price is known */
    double kwh_guess; /* kwh, or by the power of such devices; NaN */
};

struct ledger {
    struct arena arena; /* owns the texts */
    struct ledger_job *jobs;
    size_t n;
    size_t rows, bad, skipped; /* of texts: all, those that are none, those without devices */
    char note[160];            /* about the first bad one */
};

void ledger_done(struct ledger *l);

/* A job of which nothing is known. */
struct ledger_job ledger_empty(void);

/* Add a job; its texts are copied. -ENOMEM. */
int ledger_add(struct ledger *l, const struct ledger_job *job) CHECK_RESULT;

double ledger_device_hours(const struct ledger_job *j);

/* What of its device-hours was wasted: all when it ended in vain, else its idle share; 0 where that
 * was not measured. */
double ledger_wasted_hours(const struct ledger_job *j);

/* What it was wasted by: "failed", "idle: small-files", "idle, cause not known"; NULL where nothing
 * was. -ENOMEM. */
int ledger_wasted_by(const char **ret, const struct ledger_job *j, struct arena *a) CHECK_RESULT;

/* Read jobs from a text: sacct --parsable2, brim's own table, or any trace (trace/trace.h).
 * -EINVAL with a sentence, -ENOMEM. */
int ledger_read(struct ledger *l, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

/* ---- sums ---- */

struct ledger_sum {
    const char *name;
    size_t jobs;
    double hours;                /* device-hours */
    double measured;             /* of those, with a known busy share */
    double idle;                 /* of those */
    double wasted;               /* of hours */
    double kwh, usd, usd_wasted; /* NaN: not known of some */
    double kwh_measured;         /* of kwh, what was measured and not taken from such devices */
};

enum ledger_by { LEDGER_USER, LEDGER_TEAM, LEDGER_PROJECT, LEDGER_JOB, LEDGER_CAUSE, LEDGER_BYS };

struct ledger_sums {
    struct arena arena;
    struct ledger_sum *list; /* those with the most device-hours first */
    size_t n;
};

/* Sum up by users and so on; by causes only what was wasted counts as hours. -ENOMEM. */
int ledger_sum_by(struct ledger_sums *ret, const struct ledger *l, enum ledger_by by, struct err *e)
    CHECK_RESULT;
void ledger_sums_done(struct ledger_sums *s);

/* All jobs as one. */
struct ledger_sum ledger_total(const struct ledger *l);

#endif
