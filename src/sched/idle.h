/* Batch jobs whose devices are idle: their owners are told, and what waits gets the devices. Idle
 * is what worked for no more than a burst within a window that slides, so that a job which worked
 * once does not escape, nor one that twitches. For src/sched alone. */
#ifndef BRIM_SCHED_IDLE_H
#define BRIM_SCHED_IDLE_H
#include "base/ini.h"
#include "sched/policy.h"
#include "sched/choose_victims.h"

struct sched;

enum { IDLE_BURSTS = 4 }; /* remembered of each job: more become one */

struct idle_burst {
    int64_t from_ms, to_ms;
};

struct idle_job {
    struct idle_burst bursts[IDLE_BURSTS]; /* of work, the newest last */
    int64_t from_ms;                       /* what was before does not count: a start, and grace */
    int64_t warn_ms, due_ms; /* when it is told; when its devices can be taken; while it is idle */
    int64_t pause_ms;        /* when it became idle */
    uint32_t at;             /* in the list */
    uint8_t n;               /* bursts */
    bool idle, warned;
    bool pauses; /* the last time that it was idle for policy.again, it was for policy.reclaim */
};

struct idle {
    struct idle_job *jobs; /* NULL: there is no [idle] */
    uint32_t *list;        /* those that run and are idle */
    size_t n, n_due;       /* n_due: whose devices can be taken in this pass */
    uint8_t *exempt;       /* by class, plus 1 */
    struct victim *victims;
};

/* A key of [idle]; whether all that it needs was said. -EINVAL with a sentence. */
int idle_take(struct policy_idle *p, const struct ini_entry *at, struct err *e) CHECK_RESULT;
int idle_check(const struct policy_idle *p, const char *file, struct err *e) CHECK_RESULT;

/* -ENOMEM. */
int idle_open(struct sched *s, struct err *e) CHECK_RESULT;

/* A job starts, no longer runs, or is that busy from now on. */
void idle_begin(struct sched *s, uint32_t job, int64_t now_ms);
void idle_leave(struct sched *s, uint32_t job);
void idle_use(struct sched *s, uint32_t job, int64_t now_ms, int milli);

/* A job whose devices were taken needs some again. */
void idle_wake(struct sched *s, uint32_t job, int64_t now_ms);

/* How long a job is to be idle until its devices can be taken. */
int64_t idle_window_ms(const struct sched *s, uint32_t job);

/* Whether a running job's devices can be taken. */
bool idle_due(const struct sched *s, uint32_t job, int64_t now_ms);

/* Take them for another one, which waits. -ENOMEM. */
int idle_stop(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms) CHECK_RESULT;

/* Before a pass: tell those who are to be told. -ENOMEM. */
int idle_pass(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* When there is more to be told or taken; WORK_UNKNOWN. */
int64_t idle_again(const struct sched *s, int64_t now_ms);

/* Find a place by taking devices of idle jobs, the longest idle first, and letting jobs of little
 * use share theirs (device_sharing.h); neither where there is a place without it. Spot jobs give
 * way beside them. 1, 0: there is none, and nothing was taken; -1 on failure. */
int idle_reclaim(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

#endif
