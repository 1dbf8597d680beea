/* What the rules of a verdict share. */
#ifndef BRIM_DIAGNOSE_VERDICT_JUDGE_PRIVATE_H
#define BRIM_DIAGNOSE_VERDICT_JUDGE_PRIVATE_H
#include <math.h>

#include "diagnose/verdict/judge.h"
#include "diagnose/verdict/limits.h"
#include "diagnose/verdict/sure.h"
#include "model/signal/quantity.h"

/* The steady steps of one rank. */
struct judge_rank {
    const struct run_rank *r;
    const struct step *steps; /* the steady ones, of r */
    size_t n;
    double step_s;             /* median */
    double own_s;              /* median of what is not waiting for other ranks */
    double share[BRIM_STAGES]; /* of the steady time */
    double samples;            /* mean per step; NaN */
};

/* What a signal was while the steps were steady. */
struct judge_signal {
    double mean;      /* NaN: never measured */
    double variation; /* deviation to mean; NaN with less than 5 moments */
};

struct judge {
    const struct run *r, *earlier;
    struct judge_limits l;
    struct arena scratch;
    struct verdict *v;
    struct judge_rank *ranks; /* those with steady steps */
    size_t n_ranks;
    size_t steps; /* steady ones, of the rank with the fewest */
    struct judge_signal s[RUN_SIGNALS];
    size_t n_moments, n_whole; /* that touch the steady time, and lie in it */
    bool marked;               /* the steps have stages */
    /* Shares of the step. */
    double wait;    /* for data, of the middle rank (the lower one of two) */
    double exposed; /* in communication, of the rank that waits least for others */
    double wait_least, exposed_least; /* of both, at least (sure.h); NaN */
    double compute;                   /* forward, backward and optimizer, mean over ranks */
    double samples;                   /* of all ranks in a step; NaN */
    double bytes;                     /* of collectives, of a rank in a step; NaN: none */
    double workers;                   /* that the loader has; NaN: not known */
    double threads;                   /* that a rank's operators run on; NaN */
    double cpus;                      /* that the job may use: the node's, or its cgroup's; NaN */
    double cpu_waiting; /* threads in the loader's place that are on a CPU while it is waited
                             for: 0 to 1; NaN */
    bool guessed;       /* that is not sure: its own process computes, too */
    double starved;     /* of the time in which threads want to run, they wait for a CPU; NaN */
    bool has_gpus;
    struct verdict_item lost; /* what is written to when there is no memory */
};

/* Find the steady part and what was measured in it. 0 or -ENOMEM. */
int judge_look(struct judge *j) CHECK_RESULT;

/* Mean over the steady part. */
static inline double judge_mean(const struct judge *j, enum run_signal s)
{
    return j->s[s].mean;
}

/* The same between two times of the steps' clock; NaN where it is not known then. */
double judge_mean_between(const struct judge *j, enum run_signal s, int64_t begin, int64_t end);

/* The word behind a key in what a rank told once: judge_setting(j, "loader", "workers") is that of
 * the note "loader.workers", else the word behind "workers" in a note "loader...: workers 4, ...".
 * In scratch memory; NULL when it was not told. */
const char *judge_setting(struct judge *j, const struct run_rank *r, const char *group,
                          const char *key);

/* The same as a number, of the first rank that told it; NaN. */
double judge_number(struct judge *j, const char *group, const char *key);

/* What a run tells of its surroundings; NULL. */
const char *judge_environment(const struct run *r, const char *name);

/* A rank's checkpoints. */
struct judge_saving {
    size_t n, flushed; /* flushed: with time behind them that is in no stage */
    double share;      /* of the time, with the flushes */
    double longest_s;
};
struct judge_saving judge_saving(const struct judge_rank *r);

/* ---- items ---- */

/* A cause that costs this share of the step; rank -1: of all. Until the end its confidence is the
 * number of signals that agree. Never NULL. */
struct verdict_item *judge_add(struct judge *j, enum cause cause, int rank, double share);

/* A signal that agrees, as a part of the evidence. */
void judge_agrees(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* A number for the evidence that does not make it surer. */
void judge_tells(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

void judge_says(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);
void judge_advises(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* The item of a cause, or NULL. */
struct verdict_item *judge_find(const struct judge *j, enum cause cause);

/* How much faster all would be without this share of the time, at most. */
double judge_gain(double share);

/* How much is waited for data, as evidence: of steps that are marked, or as far as it can be told
 * without. */
void judge_tells_wait(struct judge *j, struct verdict_item *to);

/* The share of the time in which ranks lack CPUs because loader workers have them; 0 when it is not
 * these. The same as evidence. */
double judge_taken(const struct judge *j);
void judge_tells_taken(struct judge *j, struct verdict_item *to);

/* ---- rules: each adds what it finds ---- */

void judge_loader(struct judge *j); /* why data is waited for */
void judge_storage(struct judge *j, bool *found);
void judge_cpus(struct judge *j);
void judge_memory(struct judge *j);
void judge_copies(struct judge *j);
void judge_gpus(struct judge *j);
void judge_launches(struct judge *j);
void judge_numerics(struct judge *j); /* BLAS and threads */
void judge_slow_ranks(struct judge *j);

void judge_communication(struct judge *j);
void judge_pauses(struct judge *j); /* checkpoints, GC */
void judge_loop(struct judge *j);   /* behind judge_pauses() and judge_past() */
void judge_python_lock(struct judge *j);
void judge_past(struct judge *j);
void judge_room(struct judge *j); /* for larger batches */

/* What is waited for is next to nothing, by workers that have time: a batch is handed over. */
bool judge_is_handing_over(const struct judge *j);

#endif
