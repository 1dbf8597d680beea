/* What jobs do with the devices that they hold, as the stretches of a workload say: a part of the
 * time they keep them busy, then nobody does for a while. An idle stretch passes by the clock, with
 * devices or without: its owner is away; one in which the job hangs is over, too, when it is
 * started anew. Work can be lost, up to the last checkpoint; an idle stretch that has passed does
 * not come again. */
#ifndef BRIM_SIM_USE_H
#define BRIM_SIM_USE_H
#include "base/arena.h"
#include "model/job/job_spec.h"

/* What jobs held devices for: together all the time that they did, USE_SHARED not counted. */
enum use_what {
    USE_BUSY,   /* devices were busy with work that was not lost */
    USE_PARTLY, /* and with nothing meanwhile, for it keeps them busy a part of the time only */
    USE_IDLE,   /* idle stretches */
    USE_START,  /* starts after preemptions and losses */
    USE_REDONE, /* work that was lost */
    USE_SAVING, /* checkpoints */
    USE_SHARED, /* of all that: on the devices of another job, which counts them, too */
    USE_KINDS,
};

/* Up to the last submission, from use.from_ms on; up to the end. */
enum { USE_COUNTED, USE_ALL, USE_TIMES };

struct use_job {
    int64_t since_ms; /* counted up to then */
    int64_t left_ms;  /* of its present stretch */
    int64_t rest_ms;  /* of all stretches, and of what is to be done again */
    int64_t again_ms; /* of that, what was lost in an idle stretch: for when it works again */
    int64_t cured_ms; /* of a hang, when it stopped: passes without devices at the next count */
    double rate;      /* of its own speed, while it works */
    int64_t start_ms; /* of a start, during which nothing is done */
    int64_t save_ms;  /* of a checkpoint, during which nothing is done */
    int64_t round_ms; /* work since the last checkpoint, or start */
    double round[USE_TIMES][USE_PARTLY + 1]; /* device time of that */
    uint32_t at;                             /* its present stretch */
    uint32_t more;                           /* those behind it */
    int32_t devices;                         /* that it has; 0: those that it asked for */
    bool begun, holds, guest;
};

struct use {
    const struct workload *work;
    struct use_job *jobs;               /* NULL: no job has stretches, and nothing is counted */
    int64_t from_ms, submitted_ms;      /* what counts; submitted_ms: the last submission */
    bool saves;                         /* jobs write the checkpoints that they have */
    int64_t cost_ms;                    /* of one */
    double spent[USE_TIMES][USE_KINDS]; /* device time in ms */
};

/* Room in the arena. -ENOMEM. */
int use_open(struct use *u, struct arena *a, const struct workload *w) CHECK_RESULT;

/* Count up to now. Returns how much of the job's length has passed without devices. */
int64_t use_count(struct use *u, uint32_t job, int64_t now_ms);

/* From now on a job has its devices, or (holds false) has none; its start costs cost_ms more. One
 * that had devices gives up what was left of a start. What it did is saved. Counts up to now, as
 * use_count(). */
int64_t use_hold(struct use *u, uint32_t job, int64_t now_ms, bool holds, int64_t cost_ms);

/* It has stopped, and starts anew when it goes on: if it hung, that is over. The next count has it
 * as passed without devices. */
void use_stopped(struct use *u, uint32_t job);

/* It has lost its devices and what it did since its last checkpoint; its next start costs cost_ms.
 * Returns the work that it is to do again, as busy as the stretch in which it does. */
int64_t use_lose(struct use *u, uint32_t job, int64_t now_ms, int64_t cost_ms);

/* From now on its devices are another one's, or (guest false) its own. Counts up to now. */
void use_guest(struct use *u, uint32_t job, int64_t now_ms, bool guest);

/* How busy its devices are, in thousandths, when it has some and its start is over. */
int use_milli(const struct use *u, uint32_t job);

/* Whether its last stretch has passed: it may end without devices. */
bool use_over(const struct use *u, uint32_t job);

/* When that changes by itself, or it ends, or a checkpoint is due; without devices, when it could
 * go on. WORK_UNKNOWN: it does not. */
int64_t use_until_ms(const struct use *u, uint32_t job);

/* What is left of it, with its start. */
int64_t use_left(const struct use *u, uint32_t job);

/* From now on it has as many devices, on which it works at that rate. Counts up to now. */
void use_devices(struct use *u, uint32_t job, int64_t now_ms, int32_t devices, double rate);

/* Its speed while it works, from now on: 1 is its own. Counts up to now. */
void use_rate(struct use *u, uint32_t job, int64_t now_ms, double rate);

#endif
