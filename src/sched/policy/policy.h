/* A policy: which parts make up a scheduler, and their numbers. One is written as INI:
 *
 *     [policy]
 *     order = srtf
 *     preempt = quota
 *     restart = 40s
 *     [quota]
 *     share = vision 64
 *
 * or named, when it is one of those that the program knows. */
#ifndef BRIM_SCHED_POLICY_POLICY_H
#define BRIM_SCHED_POLICY_POLICY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sched/policy/policy_tiers.h"

enum { POLICY_NAME = 48, POLICY_QUEUES = 16, POLICY_SHARES = 64, POLICY_EXEMPT = 16 };

/* What becomes of the jobs behind the first one that finds no place. */
enum policy_backfill {
    BACKFILL_NONE,         /* they wait, too */
    BACKFILL_GREEDY,       /* whatever fits starts */
    BACKFILL_EASY,         /* what does not delay the first one starts */
    BACKFILL_CONSERVATIVE, /* what delays none of those before it starts */
};

/* Which devices a job gets that is faster on some kinds. */
enum policy_kinds {
    KINDS_FASTEST, /* the fastest that are free */
    KINDS_PLACED,  /* those on which the placement puts it */
};

enum policy_preempt {
    PREEMPT_NONE,
    PREEMPT_QUOTA,   /* in their order, jobs get devices by number while any are left */
    PREEMPT_REBUILD, /* in their order, all jobs are placed anew */
    PREEMPT_VICTIMS, /* a job that goes first takes the devices of the last ones it needs to stop */
};

/* Who goes first of two that are equal in their order. */
enum policy_ties {
    TIES_SUBMITTED, /* as they were submitted */
    TIES_WAITING,   /* one that waits; of two such, who waits longer */
    TIES_RUNNING,   /* one that runs; of two such, who runs longer */
    TIES_LIST,      /* as they stood after the last pass, where those that run move ahead */
};

/* What the scheduler is told about how long jobs take. */
enum policy_length {
    LENGTH_NONE,
    LENGTH_LIMIT,   /* what their owners asked for */
    LENGTH_ORACLE,  /* the truth: for comparisons */
    LENGTH_HISTORY, /* what those took that were like it: sched/forecast.h */
    LENGTH_STEPS,   /* how many steps a job is to make, and once it was seen, how long each takes */
};

enum { LENGTH_SEEN_MS = 60000 }; /* that a job runs until its steps were seen (LENGTH_STEPS) */

/* What a class or team may have at any time. */
struct policy_share {
    char name[POLICY_NAME];
    double amount; /* devices, or per cent of all (of_all) */
    bool of_all;
};

/* Section [quota]. */
struct policy_quota {
    struct policy_share shares[POLICY_SHARES];
    size_t n;     /* 0: no quotas */
    bool by_team; /* otherwise by class */
    bool borrow;  /* what others do not need, until they do */
};

/* Section [idle]. */
enum policy_idle_action {
    IDLE_WARN,    /* its owner is told */
    IDLE_SHRINK,  /* it gives its devices up until it needs them */
    IDLE_REQUEUE, /* it waits, and starts again from its checkpoint */
};

struct policy_idle {
    enum policy_idle_action action;
    bool acts;          /* that was said */
    int64_t warn_ms;    /* after so long; 0: never */
    int64_t reclaim_ms; /* of so long a time up to now; 0: there is no such section */
    int64_t again_ms;   /* the same for one whose last pause was that long; 0: reclaim_ms */
    int64_t burst_ms;   /* it may have worked for this and counts as idle nevertheless */
    int64_t grace_ms;   /* after a start this long does not count */
    char exempt[POLICY_EXEMPT][POLICY_NAME]; /* classes */
    size_t n_exempt;
};

/* Section [share]: in thousandths. */
struct policy_share_devices {
    int below;        /* a job that is that busy, or less, may share; 0: there is no such section */
    int together;     /* all jobs of a device */
    int cost;         /* by so much they are slower */
    int64_t after_ms; /* a job's use is known when it was seen at work for that long */
};

/* Section [elastic]: jobs that can use more or fewer devices than they asked for. */
struct policy_elastic {
    bool on;          /* there is such a section */
    bool start;       /* one that waits may start on fewer */
    bool give;        /* those that run give some to those that wait */
    bool grow;        /* they take more that nobody waits for */
    int64_t every_ms; /* after a start or a resize, a job is let alone for so long */
};

struct order_ops;
struct place_ops;

struct policy {
    char name[POLICY_NAME];
    const struct order_ops *order;
    const struct place_ops *place;
    enum policy_backfill backfill;
    enum policy_preempt preempt;
    enum policy_kinds kinds;
    enum policy_ties ties;
    enum policy_length length;
    bool priorities;          /* classes of priority first, then the order */
    bool restart_adds;        /* who stops during a restart pays what is left of it, too */
    bool restart_each_pass;   /* every pass restarts what runs (as where all is placed anew) */
    int64_t every_ms;         /* passes at multiples of this only; 0: at any time */
    int64_t notice_ms;        /* an end is noticed that much later */
    int64_t restart_ms;       /* what a start after a preemption costs on one node */
    int64_t restart_multi_ms; /* and on several; as on one when not given */
    int64_t queue_ms[POLICY_QUEUES]; /* device time at which a job falls into the next queue */
    int n_queues;                    /* of those limits */
    int interleave;                  /* jobs that may share devices by turns; 0 or 1: none do */
    int64_t half_life_ms;            /* of what users have had (fair share) */
    int64_t ageing_ms;    /* what waits for so long goes before all that have not; 0: never */
    int64_t least_run_ms; /* what runs for less than this is not preempted */
    struct policy_quota quota;
    struct policy_idle idle;
    struct policy_share_devices share;
    struct policy_service service;
    struct policy_spot spot;
    struct policy_power power;
    struct policy_elastic elastic;
};

/* What a start costs a job that was stopped and had so much of the one before to pay yet. */
static inline int64_t policy_owes_ms(const struct policy *p, int64_t restart_ms, int64_t rest_ms)
{
    return restart_ms + (p->restart_adds ? rest_ms : 0);
}

/* The policy of that name. -ENOENT with a sentence that names the nearest. */
int policy_named(struct policy *ret, const char *name, struct err *e) CHECK_RESULT;

/* The names that policy_named() knows; NULL behind the last. What one is, in a line. */
const char *policy_name_at(size_t i);
const char *policy_about(size_t i);

/* Whether its parts go together; the file's name is for messages. -EINVAL with a sentence. */
int policy_check(const struct policy *p, const char *file, struct err *e) CHECK_RESULT;

/* Read a file's text; its name is for messages, and the policy's when it does not give itself one.
 * -EINVAL with "file:line: ..." */
int policy_read(struct policy *ret, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

#endif
