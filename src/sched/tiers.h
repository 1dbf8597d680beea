/* Replicas of services, batch jobs and spot jobs beside each other. A policy's [service] and [spot]
 * name classes; a job of neither is batch. Replicas go first: devices of nodes are kept for them
 * (their reserve), which batch leaves free. Spot jobs run on what is free, of the reserve too, and
 * give way to both others. For src/sched alone. */
#ifndef BRIM_SCHED_TIERS_H
#define BRIM_SCHED_TIERS_H
#include "sched/policy.h"
#include "sched/free_capacity.h"
#include "sched/choose_victims.h"

struct action;
struct sched;
struct str;

enum tier { TIER_BATCH, TIER_SERVICE, TIER_SPOT };

/* Jobs that wait, in the order of their submission. */
struct tier_queue {
    uint32_t *jobs;
    size_t n;
};

/* Devices that a spot job was told to leave. */
struct leaving {
    int64_t due_ms;
    uint32_t part;
};

struct tiers {
    bool on;
    uint8_t *tier, *number; /* by class, plus 1: enum tier; its place in its section */
    struct tier_queue waits[TIER_SPOT + 1];
    uint64_t *failed; /* by shape and number: the sweep in which one found no place */
    uint64_t sweep;
    /* The reserve, by node. kept 0: none of it is there. */
    uint8_t *kept, *owner; /* devices, and whose: the number of a class; TIER_CLASSES: all */
    int32_t *had;          /* what its owners have there, in thousandths of devices */
    uint8_t *keep;         /* what others leave free; NULL: there is no reserve */
    uint8_t *view;         /* the same as a service sees it */
    bool own;              /* services look at their own reserve alone */
    /* Spot jobs. */
    size_t n_spot;         /* that run */
    int64_t most;          /* devices that would be wholly free if they stopped, at most */
    int64_t used, ceiling; /* by them, in thousandths of devices; WORK_UNKNOWN: none */
    struct victim *victims;
    struct fit rest;         /* what a job leaves that gave way */
    struct leaving *leaving; /* owned */
    size_t n_leaving, room_leaving;
    int64_t ready_ms; /* when the place that was found is free of them; 0: at once */
    int64_t *ready;   /* by job: when that of its present start is; NULL: there is no notice */
};

/* -ENOMEM; -EINVAL with a sentence when a reserve is more than there is. */
int tiers_open(struct sched *s, struct err *e) CHECK_RESULT;

enum tier tiers_of(const struct sched *s, uint32_t job);

/* A job of a service, or a spot job, waits from now on, or no longer does. */
void tiers_queue(struct sched *s, uint32_t job);
void tiers_unqueue(struct sched *s, uint32_t job);

/* It has devices from now on (1), or has none any more (-1): before they are given back. */
void tiers_count(struct sched *s, uint32_t job, int sign);

/* What others leave free of a node when its owners have so much there. What a part of a running job
 * takes there of a reserve that is its own. Had, and that, in thousandths of devices. */
int tiers_keep(const struct sched *s, uint32_t node, int32_t had);
int32_t tiers_owned(const struct sched *s, uint32_t job, const struct part *part);

/* It starts: count it, and say when its devices are free of spot jobs. */
void tiers_start(struct sched *s, uint32_t job, struct action *why);

/* Find a place that a job may have, by its tier: s->fit. */
bool tiers_find(struct sched *s, uint32_t job);

/* Start those that wait: services before batch, spot jobs behind it. -1 on failure. */
int services_pass(struct sched *s, int64_t now_ms) CHECK_RESULT;
int spot_pass(struct sched *s, int64_t now_ms) CHECK_RESULT;

/* ---- sentences (reason_tiers.c) ---- */

/* What stands behind a job and its devices; whether it was said. */
bool reason_rest(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out);

/* ---- giving way (spot_preempt.c) ---- */

/* Who gives way. */
enum yields {
    YIELDS_SPOT,  /* spot jobs */
    YIELDS_ABOVE, /* then batch jobs of those that are above their shares (quota.h) */
    YIELDS_BATCH, /* instead, then any batch jobs */
};

/* Let some of them give way so that there is a place for another job: the youngest, and none
 * without which there is one, too. 1: it is in s->fit; 0: there is none, and nobody stopped; -1 on
 * failure. */
int spot_preempt_find(struct sched *s, uint32_t job, int64_t now_ms, enum yields who) CHECK_RESULT;

/* The same for a place in s->fit that was found while spot jobs counted as free; for one that there
 * is as soon as spot jobs go, or there already. */
int spot_preempt_leave(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;
int spot_preempt_beside(struct sched *s, uint32_t job, int64_t now_ms) CHECK_RESULT;

/* Let all spot jobs count as free (up), or no longer. */
void spot_preempt_lift(struct sched *s, bool up);

/* Give back what spot jobs have left by now; all that they are leaving on a node. */
void spot_preempt_settle(struct sched *s, int64_t now_ms);
void spot_preempt_drop(struct sched *s, uint32_t node);

/* Whether a job has devices that spot jobs are leaving yet. From when on it really runs. */
bool spot_preempt_waits(const struct sched *s, uint32_t job, int64_t now_ms);
int64_t spot_preempt_from(const struct sched *s, uint32_t job);

/* When there is more to be given back; WORK_UNKNOWN. When all of it is; 0: there is nothing. */
int64_t spot_preempt_again(const struct sched *s);
int64_t spot_preempt_over(const struct sched *s);

#endif
