/* A scheduler: told what happened to jobs, asked at moments of the caller's choice what to do. It
 * has no clock and does nothing itself: a simulator or a real cluster carries its actions out. */
#ifndef BRIM_SCHED_SCHED_H
#define BRIM_SCHED_SCHED_H
#include "base/str.h"
#include "model/machine/pool.h"
#include "model/job/job_spec.h"
#include "sched/policy.h"
#include "sched/free_capacity.h"
#include "sched/state.h"
#include "sched/watts.h"

struct sched;

enum action_kind {
    ACTION_START,
    ACTION_PREEMPT, /* it waits again */
    ACTION_PARK,    /* it gives its devices up, and says when it needs some: sched_wake() */
    ACTION_WARN,    /* its owner is told */
    ACTION_JOIN,    /* it gives its devices up, and shares those of another one */
    ACTION_HOLD,    /* it found a place and no power, and waits: told once a wait */
    ACTION_RESIZE,  /* it goes on with more devices, or fewer */
    /* What happened, told in the same form for sched_reason(); sched_pass() gives none of them. */
    ACTION_LOSE,   /* a job lost its devices with the node 'other' */
    ACTION_DOWN,   /* the node 'other' is lost until until_ms */
    ACTION_UP,     /* it is back */
    ACTION_STANDS, /* the node 'other' stands in for the node 'job' */
    ACTION_CLOSE,  /* nothing starts on the node 'other': a window begins at until_ms */
    ACTION_WINDOW, /* the window of the node 'other', until until_ms */
    ACTION_LEAVE,  /* a job leaves the node 'other' for its window: what it did is saved */
};

enum action_why {
    WHY_FIRST,   /* goes first, and there is room */
    WHY_GREEDY,  /* fits where the first one does not */
    WHY_SHORT,   /* ends before the first one could start */
    WHY_SPARE,   /* leaves the first one what it will need */
    WHY_PLANNED, /* delays none before it */
    WHY_SHARE,   /* among those that get devices in the order of the policy */
    WHY_BEHIND,  /* no longer among them: preempted */
    WHY_VICTIM,  /* another one goes first: preempted */
    WHY_WITHIN,  /* within the share of its class or team */
    WHY_LENT,    /* above that, of what others do not need */
    WHY_RECLAIM, /* above that, and they do: preempted */
    WHY_IDLE,    /* its devices are idle */
    WHY_LITTLE,  /* its devices are busy for a part of the time */
    WHY_RESERVE, /* a replica, in the reserve of its service */
    WHY_SERVICE, /* a replica, beyond that */
    WHY_SPOT,    /* a spot job, on what nobody else wants */
    WHY_WAY,     /* a spot job, which another one needs to go: preempted */
    WHY_REPLICA, /* a replica needs to go before it: preempted */
    WHY_POWER,   /* there is not enough power for it */
    WHY_GIVES,   /* another one gets what it can do without: resized */
    WHY_FREE,    /* nobody waits for what is free: resized */
};

struct action {
    uint32_t job;
    uint8_t kind, why;
    uint32_t other; /* the job that waits, or that goes first; WAITING_NONE */
    /* When that one can start; WORK_UNKNOWN. LOSE: what it goes back by; HOLD: the power that it
     * needs, in mW; RESIZE: what it costs. */
    int64_t until_ms;
    uint32_t with;    /* ACTION_JOIN: whose devices it shares */
    int32_t devices;  /* START, RESIZE: that it has from then on; PREEMPT, PARK: that it had */
    int32_t before;   /* RESIZE: that it had */
    int64_t ready_ms; /* START: when those that gave way for it are gone; 0: at once */
};

/* For the jobs of a workload on a pool, all devices of which are free. All three are borrowed.
 * -ENOMEM, or -EINVAL with a sentence for a policy that cannot work. */
int sched_open(struct sched **ret, const struct policy *policy, const struct pool *pool,
               const struct workload *jobs, struct err *e) CHECK_RESULT;
void sched_close(struct sched *s);
DEFINE_CLEANUP(struct sched, sched_close)

/* Under a policy with [power], before anything else: what devices of each kind of the pool draw.
 * Without such a section nothing happens. -ENOMEM, or -EINVAL with a sentence. */
int sched_watts(struct sched *s, const struct watts *kinds, struct err *e) CHECK_RESULT;

/* What all nodes draw by that; how many starts were at a lower limit. */
int64_t sched_drawn_mw(const struct sched *s);
uint64_t sched_limited(const struct sched *s);

/* Which of the three a job is (tiers.h): a replica of a service, a batch job, a spot job. */
bool sched_is_service(const struct sched *s, uint32_t job);
bool sched_is_spot(const struct sched *s, uint32_t job);

/* Whether a running job has a node that its data are not on, where it says where they are. */
bool sched_is_away(const struct sched *s, uint32_t job);

/* What spot jobs were told to leave and nobody has yet, in thousandths of devices. */
int64_t sched_leaving(const struct sched *s);

/* What a node keeps for services: devices of its reserve. */
int sched_reserve(const struct sched *s, uint32_t node);

/* Whether a job could ever run on this pool. */
bool sched_possible(struct sched *s, uint32_t job);

/* A job waits from now on; length_ms is what is known of how long it will take, or WORK_UNKNOWN. */
void sched_submit(struct sched *s, uint32_t job, int64_t now_ms, int64_t length_ms);

/* Instead, take up a job as another scheduler had it: was is what sched_job() said there, where is
 * the place of one that runs (NULL: it waits). -ENOMEM. */
int sched_take_up(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                  const struct fit *where) CHECK_RESULT;

/* What a user (by number; -1: those without one) has had before, as device time in ms that is
 * worth something yet at now_ms. */
void sched_had(struct sched *s, int user, int64_t now_ms, double had_ms);

/* A job has ended, or failed, or was taken away. */
void sched_end(struct sched *s, uint32_t job, int64_t now_ms);

/* It became known what is left of a running job. */
void sched_progress(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms);

/* A running job has lost its devices: it waits again. left_ms is what is known to be left of it. */
void sched_return(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms);

/* A node is lost (up false), on which no job runs any more; it is back. */
void sched_node(struct sched *s, uint32_t node, bool up);

/* From now on nothing starts on a node, or may again. -ENOMEM. */
int sched_close_node(struct sched *s, uint32_t node, bool closed) CHECK_RESULT;

/* Whether a running job has a part of a node. */
bool sched_is_on(const struct sched *s, uint32_t job, uint32_t node);

/* A running job keeps its devices that busy from now on, in thousandths; before it is told
 * anything, it is busy. Looked at with a section [idle] or [share] only. */
void sched_use(struct sched *s, uint32_t job, int64_t now_ms, int milli);

/* A job that was parked needs devices again: it waits. So much of what is left of it has passed
 * meanwhile. */
void sched_wake(struct sched *s, uint32_t job, int64_t now_ms, int64_t passed_ms);

/* Whether jobs are resized at all. How many devices a job has, or asked for while it has none. */
bool sched_resizes(const struct sched *s);
int32_t sched_devices(const struct sched *s, uint32_t job);

/* What it costs a job to start again after a preemption. */
int64_t sched_restart_ms(const struct sched *s, uint32_t job);

/* Decide. The actions count as carried out, in their order; they are valid until the next call.
 * Sets when to ask again if nothing happens before; WORK_UNKNOWN: no need to. -ENOMEM. */
int sched_pass(struct sched *s, int64_t now_ms, int64_t *again_ms) CHECK_RESULT;
const struct action *sched_actions(const struct sched *s, size_t *n);

/* Add the sentence that says why. Times in it are relative to now_ms. */
void sched_reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out);

const struct sched_job *sched_job(const struct sched *s, uint32_t job);
const struct free_capacity *sched_capacity(const struct sched *s);

/* The jobs that run, in no order. */
const uint32_t *sched_running(const struct sched *s, size_t *n);

#endif
