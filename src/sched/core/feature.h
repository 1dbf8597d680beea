/* A feature of schedulers: what a section of a policy switches on beside the policy's own parts
 * (order, place, backfill, preempt). Each is a file, or a few with one prefix, and one row of the
 * list in feature_list.c. A function that a feature does not need is NULL; those of a feature that
 * is off are never called. What it keeps hangs off the scheduler (scheduler.h). For src/sched. */
#ifndef BRIM_SCHED_CORE_FEATURE_H
#define BRIM_SCHED_CORE_FEATURE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct action;
struct ini_entry;
struct policy;
struct sched;

struct feature {
    /* The section of a policy that asks for it, and who reads a key there, or (key NULL) its head.
     * -EINVAL with a sentence. */
    const char *section;
    int (*take)(struct policy *p, const struct ini_entry *at, struct err *e);

    /* Whether what a policy says goes together, asked for each policy. -EINVAL with a sentence. */
    int (*check)(const struct policy *p, const char *file, struct err *e);

    bool orders;     /* it decides who goes first, beside the order of the policy */
    bool from_start; /* it has to see jobs from their start on: sched_take_up() is not for it */

    /* 1: it is on, 0: it is off, -ENOMEM, -EINVAL with a sentence. Those before it are open. */
    int (*open)(struct sched *s, struct err *e);
    void (*close)(struct sched *s);

    /* ---- what happens to a job ---- */

    /* It waits from now on, before its key is made; it no longer does. */
    void (*queued)(struct sched *s, uint32_t job, int64_t now_ms);
    void (*unqueued)(struct sched *s, uint32_t job);

    /* It was given the place in s->fit, and the action says why. */
    void (*starts)(struct sched *s, uint32_t job, int64_t now_ms, struct action *a);

    /* It runs since then, at the place that it has: it started, or was taken up from another
     * scheduler. */
    void (*runs)(struct sched *s, uint32_t job, int64_t since_ms);

    /* It keeps its devices that busy from now on, in thousandths. */
    void (*used)(struct sched *s, uint32_t job, int64_t now_ms, int milli);

    /* It will be stopped for another one. -ENOMEM. */
    int (*preempts)(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why);

    /* It gives its place up, which it still has. Called from the last feature to the first. */
    void (*stops)(struct sched *s, uint32_t job, int64_t now_ms);

    /* ---- places ---- */

    /* Whether a job may have any now. Before one is looked for: what of the capacity it may have
     * (capacity.keep, capacity.near; they are reset behind it). Whether it may have that in s->fit.
     */
    bool (*allows)(struct sched *s, uint32_t job);
    void (*narrows)(struct sched *s, uint32_t job);
    bool (*accepts)(struct sched *s, uint32_t job);

    /* A running job counts as if it had no devices (up), or again as before. */
    void (*lifts)(struct sched *s, uint32_t job, bool up);

    /* How many devices could be freed for a job, at most. Free a place for one that has found none:
     * it is in s->fit. 1, 0: there is none, and nothing was taken; -1 on failure. */
    int64_t (*could_free)(const struct sched *s, uint32_t job);
    int (*frees)(struct sched *s, uint32_t job, int64_t now_ms);

    /* ---- passes ---- */

    /* Before the jobs are looked at that wait in the order of the policy. -ENOMEM. */
    int (*begin)(struct sched *s, int64_t now_ms);

    /* Instead of the policy's own pass over them, without preemption. -ENOMEM. */
    int (*pass)(struct sched *s, int64_t now_ms);

    /* After them, from the last feature to the first. -ENOMEM. */
    int (*finish)(struct sched *s, int64_t now_ms);

    /* When there is more to be done by time alone; WORK_UNKNOWN. */
    int64_t (*again_ms)(const struct sched *s, int64_t now_ms);

    /* ---- sentences ---- */

    /* Add why an action is taken, behind who does what; false: another one knows. */
    bool (*reason)(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out);

    /* Add what else there is to know of an action. */
    void (*remark)(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out);
};

enum { FEATURE_MOST = 16 };

/* For each function, the features that are on and have it; NULL behind the last. */
struct feature_hooks {
    const struct feature *queued[FEATURE_MOST + 1], *unqueued[FEATURE_MOST + 1];
    const struct feature *starts[FEATURE_MOST + 1], *stops[FEATURE_MOST + 1];
    const struct feature *runs[FEATURE_MOST + 1], *used[FEATURE_MOST + 1];
    const struct feature *preempts[FEATURE_MOST + 1];
    const struct feature *allows[FEATURE_MOST + 1], *narrows[FEATURE_MOST + 1];
    const struct feature *accepts[FEATURE_MOST + 1], *lifts[FEATURE_MOST + 1];
    const struct feature *could_free[FEATURE_MOST + 1], *frees[FEATURE_MOST + 1];
    const struct feature *begin[FEATURE_MOST + 1], *finish[FEATURE_MOST + 1];
    const struct feature *pass[FEATURE_MOST + 1], *again_ms[FEATURE_MOST + 1];
    const struct feature *reason[FEATURE_MOST + 1], *remark[FEATURE_MOST + 1];
};

#endif
