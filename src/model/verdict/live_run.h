/* A run that goes on, as its observer tells of it each second: what the agent, the page and 'brim
 * top' show. A plain value, and the text that it travels in (schema "brim.live_run.v1"), which
 * another user's process may have written: nothing in it is trusted. Pure.
 *
 * Absent is NaN. Shares are 0 to 1. */
#ifndef BRIM_MODEL_VERDICT_LIVE_RUN_H
#define BRIM_MODEL_VERDICT_LIVE_RUN_H
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "brim/step.h"
#include "model/signal/severity.h"

enum {
    LIVE_RUNS_MAX = 32,
    LIVE_RUN_NAME = 64,
    LIVE_RUN_SENTENCE = 320,
    LIVE_RUN_FILE = 8 << 10,
    LIVE_RUN_PIDS = 256
};

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): it reads in order */
struct live_run {
    char id[LIVE_RUN_NAME], name[LIVE_RUN_NAME];
    char user[LIVE_RUN_NAME]; /* what the text says; see live_runs.h for what may be shown */
    int64_t uid;              /* of its observer, not from the text; -1: not known */
    uint32_t slurm_job;       /* the number of its job, as the text says; 0: none is told */
    int64_t since_ms;         /* when it began, since 1970; 0: not told */
    double ranks, steps;      /* so far; NaN: nothing is marked */
    double steps_per_s, samples_per_s; /* of the last part, that was judged */
    double split[BRIM_STAGES];         /* of a step, by stage */
    enum severity severity;
    char cause[LIVE_RUN_NAME]; /* "few-workers"; "" when nothing is known yet */
    bool limited;              /* something is known to limit it */
    double share;              /* of a step's time that the cause costs */
    char sentence[LIVE_RUN_SENTENCE], action[LIVE_RUN_SENTENCE]; /* "" */
    char trying[LIVE_RUN_SENTENCE]; /* what 'brim optimize' has on trial; "" */
    uint64_t pid_space;             /* whose numbers 'pids' are: that of a namespace; 0: not told */
    uint32_t pids[LIVE_RUN_PIDS];   /* of its processes, the lowest first; a job may have more */
    size_t n_pids;
};

/* Nothing is known of it. */
extern const struct live_run live_run_none;

/* Copy a text into 'size' bytes: what is too long ends at a whole character, and what a terminal
 * would act upon is written as '?'. */
void live_run_text(char *to, size_t size, const char *from);

/* Add its text. Failures stick in out. */
void live_run_write(const struct live_run *r, struct str *out);

/* Read a text. 0, -ENOMEM, or -EINVAL for what is none; *ret is set only on success. What is
 * missing or out of range is absent. */
int live_run_read(struct live_run *ret, const char *text, size_t len) CHECK_RESULT;

/* Whether a process of that user is the run's. No other user's is, whatever the text says. */
bool live_run_has(const struct live_run *r, uint64_t pid, uint64_t uid);

/* The run whose sentence says most, of those that something limits: the most severe one, and of
 * these the one that it costs most; the one whose id was told before ("": none) unless it costs
 * another clearly more. NULL when there is none. */
const struct live_run *live_run_worst(const struct live_run *runs, size_t n, const char *before);

#endif
