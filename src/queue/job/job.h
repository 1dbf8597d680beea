/* A job in the queue of one machine: what was asked for, what became of it, and the rules by which
 * one follows from the other. Plain data and functions without I/O. */
#ifndef BRIM_QUEUE_JOB_JOB_H
#define BRIM_QUEUE_JOB_JOB_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
    LOCAL_NAME = 64,
    LOCAL_AFTER = 512,
    LOCAL_SLOTS = 1024,
    LOCAL_REASON = 256,
    LOCAL_USER = 48,
    LOCAL_TOKEN = 40,
    LOCAL_USED = 256,
    LOCAL_TASKS = 10000,   /* of one array */
    LOCAL_REQUEUED = 75,   /* the exit status that asks to be queued again: EX_TEMPFAIL */
    LOCAL_ATTEMPTS = 1000, /* then it is not queued again */
};

enum local_state { LOCAL_WAITING, LOCAL_RUNNING, LOCAL_ENDED };

enum local_outcome {
    LOCAL_NONE,
    LOCAL_DONE,      /* exit status 0 */
    LOCAL_FAILED,    /* another one, or a signal */
    LOCAL_CANCELLED, /* by its owner */
    LOCAL_TIMEOUT,   /* it reached its time limit */
    LOCAL_LOST,      /* nobody saw how it ended: a reboot, or its guard was killed */
    LOCAL_NEVER,     /* what it depends on cannot come any more */
};

/* What ends a job that runs. A later one overrides an earlier one. */
enum local_stop { LOCAL_GO, LOCAL_PREEMPT, LOCAL_LIMIT, LOCAL_CANCEL };

struct local_job {
    int64_t id;
    int64_t array; /* the id of the first of its array; its own when it is in none */
    int32_t task;  /* number in the array; -1: in none */
    int32_t width; /* how many of the array may run at a time; 0: all */
    uint32_t uid, gid;
    char user[LOCAL_USER];
    char name[LOCAL_NAME];
    char token[LOCAL_TOKEN]; /* of its submission: one that is sent again adds nothing */
    char after[LOCAL_AFTER]; /* dependencies, as local_after_next() reads them */
    int32_t devices, cpus;   /* cpus: 0 where nobody said */
    int32_t priority;
    int64_t limit_ms, warn_ms, grace_ms; /* limit_ms 0: none; warn_ms: before the limit */
    int64_t deadline_ms;                 /* wall time by which it is to have ended; 0: none */
    int32_t signal;                      /* that asks for a checkpoint */
    bool held, requeue;
    int8_t watch; /* 1: under brim run, 0: not, -1: if it has devices */
    /* What became of it. */
    uint8_t state, outcome, stop;
    int32_t attempt;                     /* the present one, or the last; 0: none */
    int32_t status;                      /* of waitpid(), once ended */
    int64_t submit_ms, start_ms, end_ms; /* wall time; 0: not yet */
    int64_t since_ms;                    /* that it waits, or runs */
    int64_t ran_ms;                      /* before that */
    char slots[LOCAL_SLOTS];             /* "0,1": numbers of the pool's slots; of a running job */
    char place[LOCAL_SLOTS];             /* the same in words */
    char bound[LOCAL_SLOTS];             /* the CPUs that it is bound to; "": any */
    char reason[LOCAL_REASON];           /* why it waits, started or ended */
    char stopped[LOCAL_REASON];          /* why it was stopped for others the last time; "" */
    int64_t yields;                      /* it was idle, and that job goes before it; 0 */
    /* How busy it keeps its devices while it runs, where the policy asks (local_use.h). */
    char used[LOCAL_USED]; /* when it did; "": nobody looked */
    int32_t milli;         /* when they were looked at last, in thousandths; -1: not known */
    int64_t seen_ms;       /* that was at; 0: not since it started */
    int64_t told_ms;       /* its owner was told that they are idle at; 0 */
    /* These are in no database. */
    int64_t kept_ms; /* seen_ms as it was stored last */
    uint64_t ticks;  /* of CPU time that it had at ticks_ms (monotonic); 0: nobody looked */
    int64_t ticks_ms;
};

/* What a guard tells of an attempt (local_files.h). */
struct local_end {
    int32_t status; /* of waitpid() */
    uint8_t stop;   /* enum local_stop: what the guard had begun by then */
    bool lost;      /* nobody saw the status */
    bool unstarted; /* the command was not started; text says why */
    int64_t end_ms;
    char text[LOCAL_REASON];
};

/* An array as it is asked for: "0-9", "1,3,5-7", "0-99%4" (4 at a time), "0-90:10". Calls back with
 * each number once, in order. -EINVAL with a sentence. */
typedef int local_task_fn(void *arg, int32_t task);
int local_array(const char *text, int32_t *width, local_task_fn *fn, void *arg, struct err *e)
    CHECK_RESULT;

enum local_after_kind { AFTER_NONE, AFTER_START, AFTER_OK, AFTER_ANY, AFTER_NOT_OK };

/* The next of "afterok:12:13,afterany:7": 1 with *kind and *id set, 0 at the end, -EINVAL with a
 * sentence. *at starts as text, *kind as AFTER_NONE. */
int local_after_next(const char **at, enum local_after_kind *kind, int64_t *id, struct err *e)
    CHECK_RESULT;
const char *local_after_name(enum local_after_kind kind);

/* How many of those that a dependency names are where. */
struct local_met {
    int64_t all, started, ended, done;
};

/* 1: met; 0: not yet; -1: it cannot be met any more. Of an array all must. */
int local_after_met(enum local_after_kind kind, const struct local_met *m);

/* An attempt ended: the job waits again, or has ended, and why. */
void local_job_end(struct local_job *j, const struct local_end *end);

/* A job that waits ends without having run. */
void local_job_drop(struct local_job *j, enum local_outcome outcome, int64_t now_ms,
                    const char *why);

/* "done", "waiting" ...: the state in a word, the outcome where it has ended. */
const char *local_job_word(const struct local_job *j);

/* "12", or "12_3" of an array. */
void local_job_label(const struct local_job *j, struct str *out);

/* Read "12" or "12_3": the task is -1 of the first. -EINVAL with a sentence. */
int local_label_read(const char *text, int64_t *id, int32_t *task, struct err *e) CHECK_RESULT;

/* The number of a signal by its name ("USR1", "SIGTERM") or number; -EINVAL with a sentence. */
int local_signal(const char *text, struct err *e) CHECK_RESULT;

/* Whether a number is that of one of them. */
bool local_signal_known(int32_t number);

/* The status that a shell would tell. */
int local_exit(int32_t status);

#endif
