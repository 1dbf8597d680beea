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
    double step_s;             /* median of a step */
    double own_s;              /* median of a step without its communication */
    double share[BRIM_STAGES]; /* of the steady time, by stage */
    double samples;            /* mean of a step; NaN */
};

/* What a signal was while the steps were steady. */
struct judge_signal {
    double mean;      /* NaN: never measured */
    double variation; /* standard deviation to mean; NaN with less than 5 moments */
};

/* One judgement: what the rules look at, and the verdict that they add items to. */
struct judge {
    const struct run *r, *earlier; /* earlier: of the same job; NULL */
    struct judge_limits l;
    struct arena scratch; /* for as long as the judgement takes */
    struct verdict *v;
    struct run_span span;     /* of steps that are judged, by their clock */
    struct judge_rank *ranks; /* those that have steady steps */
    size_t n_ranks;
    size_t steps; /* steady ones, of the rank that has fewest */
    struct judge_signal s[RUN_SIGNALS];
    size_t n_moments; /* that touch the steady time */
    size_t n_whole;   /* of these, the ones that lie in it */
    bool marked;      /* the steps have stages */
    bool has_gpus;

    /* Shares of the step. */
    double wait;          /* for data, of the middle rank (the lower one of two); NaN */
    double wait_least;    /* the same, at least (sure.h); NaN */
    double exposed;       /* in communication, of the rank that waits least for others; NaN */
    double exposed_least; /* the same, at least; NaN */
    double compute;       /* in forward, backward and optimizer, mean over ranks; NaN */

    /* What a step has, and what a job may use. */
    double samples; /* of all ranks in a step; NaN */
    double bytes;   /* of collectives, of a rank in a step; NaN: none */
    double workers; /* of the loader, of one rank; NaN: not known */
    double threads; /* that a rank's operators run on; NaN */
    double cpus;    /* that the job may use: the node's, or its cgroup's; NaN */

    /* Of the time in which a rank waits for data, the share in which its loader is on a CPU or
     * waits for one: 0 to 1; NaN. */
    double cpu_waiting;
    bool guessed;   /* cpu_waiting is a guess: loader and training are one process */
    double starved; /* of the time in which threads want to run, they wait for a CPU; NaN */

    struct verdict_item lost; /* what the rules write to when there is no memory for an item */
};

/* Fill j, of which r, earlier, l and v are set: find the steady part of the run, and what was
 * measured in it. 0 or -ENOMEM. */
int judge_look(struct judge *j) CHECK_RESULT;

/* The mean of a signal over the steady part; NaN: never measured. */
static inline double judge_mean(const struct judge *j, enum run_signal s)
{
    return j->s[s].mean;
}

/* The mean of a signal between two times of the steps' clock; NaN: not measured then. */
double judge_mean_between(const struct judge *j, enum run_signal s, int64_t begin, int64_t end);

/* A setting in the notes of a rank: judge_setting(j, r, "loader", "workers") is the value of the
 * note "loader.workers", else the word behind "workers" in a note "loader...: workers 4, ...".
 * Owned by the run or by j's scratch memory; NULL: the rank has no such note. */
const char *judge_setting(struct judge *j, const struct run_rank *r, const char *group,
                          const char *key);

/* The same as a number, of the first rank that has it; NaN. */
double judge_number(struct judge *j, const char *group, const char *key);

/* The value of a name in the environment of a run ("cpus.smt", "env.OMP_WAIT_POLICY"); NULL. */
const char *judge_environment(const struct run *r, const char *name);

/* The checkpoints of a rank. */
struct judge_saving {
    size_t n, of;   /* steps that save, of all */
    size_t flushed; /* of these, the ones whose time outside of all stages is unusually long */
    double share;   /* of the steady time, with these flushes */
    double longest_s;
};
struct judge_saving judge_saving(const struct judge_rank *r);

/* Those of the rank that saves longest, which all wait for; *sum: the shares of all ranks. */
struct judge_saving judge_saving_most(const struct judge *j, double *sum);

/* ---- items ---- */

/* Add an item to the verdict: a cause that costs this share of the step (NaN: not known), of a rank
 * (-1: of all). While rules run, its confidence is the number of signals that agree. The item is
 * valid until the next one is added. Never NULL: see lost. */
struct verdict_item *judge_add(struct judge *j, enum cause cause, int rank, double share);

/* Add to the evidence of an item: a signal that agrees with the cause, which makes it surer. */
void judge_agrees(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* Add to the evidence of an item: a figure that does not make the cause surer. */
void judge_tells(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* Set the sentence of an item: what limits the run. */
void judge_says(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* Set the action of an item: the next command, or what to change. */
void judge_advises(struct judge *j, struct verdict_item *to, const char *fmt, ...) PRINTF(3, 4);

/* Find the lines of the job's Python that take the time, for those below. */
void judge_find_lines(struct judge *j);

/* The line that takes most of a stage (BRIM_STAGE_WAIT: of the loader, in whatever process); where
 * steps are not marked, most of what does not compute. NULL: not known. */
const struct verdict_line *judge_line(const struct judge *j, unsigned stage);

/* Add to the sentence of an item where that stage spends its time; where no line is known, and
 * where the item has one, it stays as it is. */
void judge_at(struct judge *j, struct verdict_item *to, unsigned stage);

/* Add to the evidence of an item where that stage spends its time, where that is known. */
void judge_tells_line(struct judge *j, struct verdict_item *to, unsigned stage);

/* Add to the sentences of items the lines that they are about. */
void judge_locate(struct judge *j);

/* The first item of a cause; NULL: none. */
struct verdict_item *judge_find(const struct judge *j, enum cause cause);

/* How many times as fast the run would be without this share of the step, at most; NaN. */
double judge_gain(double share);

/* Add to the evidence how long ranks wait for data. Where steps are not marked, the evidence is how
 * long GPUs or the ranks' processes are idle. */
void judge_tells_wait(struct judge *j, struct verdict_item *to);

/* The share of the step in which ranks lack CPUs because loader workers use them; 0: something else
 * keeps the ranks off, or nothing does. */
double judge_taken(const struct judge *j);

/* Add to the evidence what judge_taken() is made of. */
void judge_tells_taken(struct judge *j, struct verdict_item *to);

/* Whether ranks wait next to nothing, for workers that have time: a worker hands a batch over. */
bool judge_is_handing_over(const struct judge *j);

/* Whether the job has torch.compile, its own or brim's. */
bool judge_is_compiled(struct judge *j);

/* What the loader of a rank needs, by the causes that were found so far. */
struct loader_need judge_loader_need(struct judge *j);

/* ---- rules: each adds an item for each cause of its area that it finds ---- */

/* Ranks wait for data, and storage is why: *found is set to true then, and left alone else. */
void judge_storage(struct judge *j, bool *found);

/* Ranks wait for data, and storage is not why: decoding, too few workers, or something remote. */
void judge_loader(struct judge *j);

/* Something keeps threads from CPUs: a quota, other processes, a hypervisor, a binding, workers. */
void judge_cpus(struct judge *j);

/* Threads use CPUs badly: too many or too few of them, spinning, a slow BLAS, remote memory. */
void judge_numerics(struct judge *j);

/* Memory is full or short, or its limit is too low for files that are read again. */
void judge_memory(struct judge *j);

/* Copies to devices take long: PCIe, or memory that is not pinned. */
void judge_copies(struct judge *j);

/* GPUs run below their clock: heat, or a limit of power. */
void judge_gpus(struct judge *j);

/* Kernels or operators are so small that calling them costs most. */
void judge_launches(struct judge *j);

/* One rank is slower than its peers, or the ranks have unequal work. Sets j->exposed and
 * j->exposed_least, so that it goes before judge_communication(). */
void judge_slow_ranks(struct judge *j);

/* Every rank waits for communication: a slow link, a lossy network, or no overlap. */
void judge_communication(struct judge *j);

/* Checkpoints and collections of garbage stop the training now and then. */
void judge_pauses(struct judge *j);

/* Steps are longer than earlier in the run or, where that is not so, than in the earlier run. */
void judge_past(struct judge *j);

/* The loop does something else than loading and training. Goes behind judge_pauses() and
 * judge_past(), whose time is not the loop's. */
void judge_loop(struct judge *j);

/* Another thread of the process keeps the first one from running. */
void judge_python_lock(struct judge *j);

/* Memory of the GPUs is free: advice, no limit. */
void judge_room(struct judge *j);

#endif
