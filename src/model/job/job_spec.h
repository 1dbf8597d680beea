/* Jobs as they were asked for: what a trace holds, or a queue. Plain data; times are milliseconds,
 * counted from the first submission of a trace. */
#ifndef BRIM_MODEL_JOB_JOB_SPEC_H
#define BRIM_MODEL_JOB_JOB_SPEC_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { WORK_WHOLE = 1000, WORK_DEVICES = 1 << 20, WORK_GROUPS = 4096, WORK_STAGES = 3 };
enum { WORK_KINDS = 64, WORK_SPEEDS = 1024, WORK_DATA = UINT16_MAX - 1 };
#define WORK_UNKNOWN INT64_MAX

/* How busy a job keeps its devices for a part of its length: 1000 is all the time, WORK_HANGS:
 * idle, until it is started anew. */
struct work_stretch {
    int64_t ms;
    int16_t milli;
};

enum {
    WORK_IDLE = 10,  /* thousandths: a stretch that is as busy as this, or less, is idle */
    WORK_HANGS = -1, /* one that ends when the job is started anew, or else after its time */
    WORK_STRETCHES = 50000000, /* of all jobs */
};

/* What few jobs say besides. */
struct work_wish {
    int64_t due_ms;  /* it is to have ended so long after its submission; 0: at any time */
    int64_t data_ms; /* what a start costs that is away from its data */
    uint16_t data;   /* where they are: number in the workload's table, plus 1; 0: nobody said */
    int16_t memory_milli; /* of the memory of each of its devices, in thousandths; 0: it fits */
    bool alone;           /* shares its devices with no other job */
};

struct work {
    const char *name;
    int64_t submit_ms;
    int64_t length_ms;            /* what it really takes on its devices, without interruptions */
    int64_t limit_ms;             /* what its owner asked for; WORK_UNKNOWN */
    int64_t checkpoint_ms;        /* between two checkpoints; 0: as often as it is stopped */
    uint64_t kinds;               /* bits of the kinds that suit it; 0: all */
    const struct work_wish *wish; /* of the workload's arena; NULL: nothing of that */
    int32_t restart_ms;           /* what a start after a preemption costs; -1: the policy says */
    int32_t memory_mib;           /* on each of its nodes */
    int32_t cpus_milli;           /* on each of its nodes */
    int32_t devices;              /* of the whole gang; 0: none */
    int32_t per_node;             /* 0: on as few nodes as hold it */
    float step_ms;                /* one iteration, alone; 0: not known */
    /* What it needs of that to read its data, compute, and talk: of some this overlaps. */
    float stage_ms[WORK_STAGES];
    int32_t least, most; /* of an elastic job; both 0: it is not */
    float scaling;       /* of such a job: work_pace() */
    int16_t milli;       /* of one device, where devices is 1; WORK_WHOLE otherwise */
    int16_t user, team;  /* numbers in the tables of the workload */
    int16_t class;       /* the same: what results are told apart by */
    int16_t priority;    /* higher goes first, where a policy looks at it */
    bool fixed;          /* may not be preempted */
    uint8_t mig;         /* slices of an instance, which milli is then (mig.h); 0 */
    uint16_t speeds;     /* number in the workload's table, plus 1; 0: as fast on all its kinds */
    uint16_t shape;      /* equal for jobs that need the same: workload_settle() */
    uint32_t stretch, n_stretches; /* in the workload's: its length; 0: nobody said */
};

/* When a job is to have ended; WORK_UNKNOWN: at any time. */
static inline int64_t work_deadline(const struct work *w)
{
    return w->wish && w->wish->due_ms ? w->submit_ms + w->wish->due_ms : WORK_UNKNOWN;
}

static inline bool work_is_alone(const struct work *w)
{
    return w->wish && w->wish->alone;
}

/* What it takes of the memory of each of its devices, in thousandths; 0: it fits beside any. */
static inline int work_memory_milli(const struct work *w)
{
    return w->wish ? w->wish->memory_milli : 0;
}

/* How it went with a job, where accounting tells: when it had its devices. */
struct work_went {
    int64_t start_ms, end_ms;
};

/* Names with numbers, in the order in which they came. */
struct work_names {
    const char **names;
    size_t n;
    uint32_t *slots; /* hashed; 0: empty, otherwise number + 1 */
    size_t n_slots;
};

/* How fast a job is on each kind of devices; its length is for a speed of 1. */
struct work_speeds {
    float of[WORK_KINDS];
};

struct workload {
    struct arena arena;
    struct work *jobs;
    size_t n_jobs;
    struct work_names users, teams, classes;
    struct work_names data; /* places of it, as node_names_find() reads them */
    struct work_speeds *speeds;
    size_t n_speeds;
    struct work_stretch *stretches; /* of all jobs, each one's together */
    size_t n_stretches;
    size_t n_shapes;
    int64_t first_ms; /* of the first submission, on the trace's own clock */
};

void workload_done(struct workload *w);

/* The number of a name in a table, added when it is new; -ENOMEM, or -E2BIG behind
 * WORK_GROUPS names. */
int work_number(struct workload *w, struct work_names *table, const char *name) CHECK_RESULT;

/* The same for a place of data, behind WORK_DATA of them. The number of one that is there; -1. */
int work_data_number(struct workload *w, const char *name) CHECK_RESULT;
int work_data_find(const struct workload *w, const char *name);

/* Whether a start away from its data costs some job anything. */
bool work_data_costs(const struct workload *w);

/* The number, plus 1, of a table of speeds, added when it is new; -ENOMEM, or -E2BIG behind
 * WORK_SPEEDS tables. */
int work_speeds(struct workload *w, const struct work_speeds *speeds) CHECK_RESULT;

/* How fast a job is on a kind. */
double work_speed(const struct workload *w, const struct work *job, unsigned kind);

/* How fast an elastic job is on so many devices, of how fast it is on those that it asked for: the
 * ratio of the two numbers to the power of its scaling. */
double work_pace(const struct work *job, int32_t asked, int32_t devices);

/* Add a stretch behind the last one of a job, before any of the next job; all of them are to add up
 * to its length. One that is as busy as that before makes it longer. -ENOMEM, or -E2BIG. */
int work_stretch_add(struct workload *w, struct work *job, int64_t ms, int milli) CHECK_RESULT;

/* After the last job was added: put them in the order of submission (those of one moment stay in
 * theirs), let the first be at 0, and number their shapes. -ENOMEM, or -E2BIG when there are more
 * than 65,535 shapes. */
int workload_settle(struct workload *w, struct err *e) CHECK_RESULT;

#endif
