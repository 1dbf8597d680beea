/* A verdict: what limits a run, how sure that is, what it costs and what to do next. Causes are
 * ranked; the first one is the sentence. Plain data. */
#ifndef BRIM_MODEL_VERDICT_VERDICT_H
#define BRIM_MODEL_VERDICT_VERDICT_H
#include <stdbool.h>

#include "base/arena.h"
#include "brim/step.h"
#include "model/verdict/loader_need.h"
#include "model/signal/severity.h"

enum cause {
    CAUSE_NONE, /* nothing: computes most of the time, near what this machine can do */
    CAUSE_STORAGE_BANDWIDTH,
    CAUSE_STORAGE_LATENCY,
    CAUSE_SMALL_FILES,        /* metadata: opens and little reads */
    CAUSE_STORAGE_CONTENTION, /* another job uses the same disks or mounts */
    CAUSE_LOADER_CPU,         /* decoding: workers are busy all the time */
    CAUSE_LOADER_WAITS,       /* for something else: a remote store, a sleep, a lock */
    CAUSE_FEW_WORKERS,
    CAUSE_MANY_WORKERS,
    CAUSE_CPU_NEIGHBOURS,
    CAUSE_CPU_QUOTA,
    CAUSE_CPU_BINDING,  /* to fewer CPUs than there are, or to the same ones */
    CAUSE_CPU_THREADS,  /* too few or too many for the CPUs */
    CAUSE_CPU_SPINNING, /* they wait actively, on CPUs that others of the job need */
    CAUSE_PYTHON_LOCK,  /* another thread of the process keeps the first one from running */
    CAUSE_BLAS,
    CAUSE_NUMA,
    CAUSE_PAGEABLE_COPY,
    CAUSE_PCIE,
    CAUSE_COMMUNICATION, /* exposed: not overlapped, or more than this link can carry */
    CAUSE_SLOW_LINK,
    CAUSE_LOSSY_NETWORK,
    CAUSE_SMALL_BATCH, /* launch-bound */
    CAUSE_IMBALANCE,   /* ranks have unequal work */
    CAUSE_SLOW_RANK,   /* one rank or node is slower at the same work */
    CAUSE_THERMAL,
    CAUSE_POWER_CAP,
    CAUSE_MEMORY_PRESSURE,
    CAUSE_MEMORY_UNUSED, /* room for larger batches: advice, never first */
    CAUSE_CHECKPOINT,
    CAUSE_GC,
    CAUSE_LOOP,               /* the loop does something else than loading and training */
    CAUSE_SLOWER_THAN_BEFORE, /* than its own past, or than earlier runs of the same job */
    CAUSE_UNKNOWN,            /* what was measured does not tell */
    CAUSES
};

/* A line of the job's Python, and what it takes. */
struct verdict_line {
    unsigned stage;         /* in which it was seen: enum brim_stage, LINES_WORKER, LINES_THREAD */
    const char *text;       /* "train.py:142 in log_images (json.dumps)" */
    const char *place;      /* "train.py:142" */
    const char *file;       /* the whole path */
    const char *function;   /* "log_images"; "<module>" */
    const char *callee;     /* "json.dumps"; "": nothing in Python */
    int first, last;        /* several lines of that function, else the same; 0: not known */
    double share;           /* of all time; NaN: of a thread beside the loop's */
    double of_stage, least; /* of its stage, and that at least: 95 % sure */
    unsigned samples;       /* of its stage */
};

struct verdict_item {
    enum cause cause;
    enum severity severity;
    double share;                    /* of the step's time that it costs; NaN */
    double gain;                     /* speed-up if it were gone, at most (Amdahl): 1.8; NaN */
    double confidence;               /* 0 to 1 */
    int rank;                        /* that it is about; -1: all */
    const char *sentence;            /* "the loader's workers are busy decoding: ..." */
    const char *evidence;            /* the numbers, and where each comes from */
    const char *action;              /* the next command, or what to change; NULL */
    double least;                    /* the share, at least: 95 % sure; NaN: not known */
    const struct verdict_line *line; /* that it is about, in the verdict; NULL: not known */
};

struct verdict {
    struct arena arena;         /* owns the texts */
    const char *sentence;       /* the whole in one: what limits, how much it costs, how sure */
    struct verdict_item *items; /* the worst first */
    size_t count, room;
    struct verdict_line *lines; /* where the time goes, the dearest first */
    size_t n_lines;
    const char *lines_off; /* why no lines are known; NULL: they are, or nobody could look */
    double steps_per_s, samples_per_s;      /* of the steady part; NaN */
    double share[BRIM_STAGES];              /* of the step, mean over ranks */
    double step_s, step_p90_s, step_best_s; /* median, and so on */
    double stretch_s; /* what was judged of a run that was optimized: so many seconds without a
                       * trial, after the last setting that was kept; 0: all of the run */
    struct loader_need loader; /* margin 0: nothing is known of it */
    bool too_few;              /* steps were seen to tell anything */
    bool no_memory;            /* something was lost: the caller must fail */
};

void verdict_done(struct verdict *v);

/* "storage-bandwidth"; for --json, tests and rules. */
const char *cause_name(enum cause c);

#endif
