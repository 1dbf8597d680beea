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
    QUEUE_PRIORITY = 100, /* the highest; the lowest is -100 */
    QUEUE_NAME = 64,
    QUEUE_AFTER = 512,
    QUEUE_SLOTS = 1024,
    QUEUE_REASON = 256,
    QUEUE_USER = 48,
    QUEUE_GROUP = 48, /* a team, a class: as long as a policy may name one */
    QUEUE_TOKEN = 40,
    QUEUE_USED = 256,
    QUEUE_TASKS = 10000,   /* of one array */
    QUEUE_REQUEUED = 75,   /* the exit status that asks to be queued again: EX_TEMPFAIL */
    QUEUE_ATTEMPTS = 1000, /* then it is not queued again */
};

enum queue_state { QUEUE_WAITING, QUEUE_RUNNING, QUEUE_ENDED };

enum queue_outcome {
    QUEUE_NONE,
    QUEUE_DONE,      /* exit status 0 */
    QUEUE_FAILED,    /* another one, or a signal */
    QUEUE_CANCELLED, /* by its owner */
    QUEUE_TIMEOUT,   /* it reached its time limit */
    QUEUE_LOST,      /* nobody saw how it ended: a reboot, or its guard was killed */
    QUEUE_NEVER,     /* what it depends on cannot come any more */
};

/* What ends a job that runs. A later one overrides an earlier one. */
enum queue_stop { QUEUE_GO, QUEUE_PREEMPT, QUEUE_LIMIT, QUEUE_CANCEL };

struct queue_job {
    int64_t id;
    int64_t array; /* the id of the first of its array; its own when it is in none */
    int32_t task;  /* number in the array; -1: in none */
    int32_t width; /* how many of the array may run at a time; 0: all */
    uint32_t uid, gid;
    char user[QUEUE_USER];
    char name[QUEUE_NAME];
    char team[QUEUE_GROUP], class[QUEUE_GROUP]; /* whose share it counts in; "": none */
    char token[QUEUE_TOKEN]; /* of its submission: one that is sent again adds nothing */
    char after[QUEUE_AFTER]; /* dependencies, as queue_after_next() reads them */
    int32_t devices, cpus;   /* cpus: 0 where nobody said */
    int32_t least;           /* devices that it can go on with after it was stopped; 0: all */
    int32_t priority;
    int64_t limit_ms, warn_ms, grace_ms; /* limit_ms 0: none; warn_ms: before the limit */
    int64_t deadline_ms;                 /* wall time by which it is to have ended; 0: none */
    int32_t signal;                      /* that asks for a checkpoint */
    bool held, requeue;
    bool share;       /* it may be on the same devices as another job that says so (sharing.h) */
    int64_t memory_b; /* of each device that it needs at most; 0: nobody said */
    int8_t watch;     /* 1: under brim run, 0: not, -1: if it has devices */
    /* What became of it. */
    uint8_t state, outcome, stop;
    int32_t attempt;                     /* the present one, or the last; 0: none */
    int32_t status;                      /* of waitpid(), once ended */
    int64_t submit_ms, start_ms, end_ms; /* wall time; 0: not yet */
    int64_t since_ms;                    /* that it waits, or runs */
    int64_t ran_ms;                      /* before that */
    int64_t device_ms;                   /* the same for each device that it had */
    char slots[QUEUE_SLOTS];             /* "0,1": numbers of the pool's slots; of a running job */
    char next[QUEUE_SLOTS];              /* those that it goes on with as soon as it can; "" */
    char place[QUEUE_SLOTS];             /* the same as slots in words */
    char bound[QUEUE_SLOTS];             /* the CPUs that it is bound to; "": any */
    char reason[QUEUE_REASON];           /* why it waits, started or ended */
    char stopped[QUEUE_REASON];          /* why it was stopped for others the last time; "" */
    int64_t yields;                      /* it was idle, and that job goes before it; 0 */
    /* How busy it keeps its devices while it runs, where the policy asks (idle_history.h). */
    char used[QUEUE_USED]; /* when it did; "": nobody looked */
    int32_t milli;         /* when they were looked at last, in thousandths; -1: not known */
    int64_t seen_ms;       /* that was at; 0: not since it started */
    int64_t told_ms;       /* its owner was told that they are idle at; 0 */
    /* What was seen of one that may share devices, where the policy asks (sharing.h). */
    int64_t parked_ms; /* it gave its devices up and keeps its memory there since then (wall); 0 */
    int64_t host;      /* it is on the devices of that job, or about to be; 0: its own */
    bool apart;        /* it cost another job too much, or one cost it: it shares no more */
    int32_t memory_milli;      /* the most that was seen of a device's memory in use; 0 */
    int64_t worked_ms, worked; /* time at work with devices of its own; that times how busy */
    int64_t alone_ms, alone;   /* of that, time in which steps ended; how many */
    /* These are in no database. */
    int64_t kept_ms; /* seen_ms as it was stored last */
    uint64_t ticks;  /* of CPU time that it had at ticks_ms (monotonic); 0: nobody looked */
    int64_t ticks_ms;
    double steps;              /* that it had done at steps_ms; below 0: nobody looked */
    bool known;                /* enough for it to share, at the last look */
    bool works;                /* by its steps, as long as they are told */
    int64_t steps_ms, use_ms;  /* when one ended last, and its use was noted (monotonic); 0 */
    int64_t beside_ms, beside; /* time beside another one, and the steps of that */
    int64_t late_ms;           /* of that, it waited for CPUs that neither of the two had */
    /* One more than it waited for CPUs, and the other one was on some, so far; 0: not known. */
    int64_t waited_ms, other_ms;
};

/* What a guard tells of an attempt (queue/guard/files.h). */
struct queue_end {
    int32_t status; /* of waitpid() */
    uint8_t stop;   /* enum queue_stop: what the guard had begun by then */
    bool lost;      /* nobody saw the status */
    bool unstarted; /* the command was not started; text says why */
    int64_t end_ms;
    char text[QUEUE_REASON];
};

/* An array as it is asked for: "0-9", "1,3,5-7", "0-99%4" (4 at a time), "0-90:10". Calls back with
 * each number once, in order. -EINVAL with a sentence. */
typedef int queue_task_fn(void *arg, int32_t task);
int queue_array(const char *text, int32_t *width, queue_task_fn *fn, void *arg, struct err *e)
    CHECK_RESULT;

enum queue_after_kind { AFTER_NONE, AFTER_START, AFTER_OK, AFTER_ANY, AFTER_NOT_OK };

/* The next of "afterok:12:13,afterany:7": 1 with *kind and *id set, 0 at the end, -EINVAL with a
 * sentence. *at starts as text, *kind as AFTER_NONE. */
int queue_after_next(const char **at, enum queue_after_kind *kind, int64_t *id, struct err *e)
    CHECK_RESULT;
const char *queue_after_name(enum queue_after_kind kind);

/* How many of those that a dependency names are where. */
struct queue_met {
    int64_t all, started, ended, done;
};

/* 1: met; 0: not yet; -1: it cannot be met any more. Of an array all must. */
int queue_after_met(enum queue_after_kind kind, const struct queue_met *m);

/* Whether a job may have that priority. may_lead: it may be above 0; a user of a queue that users
 * share may let others go first, not overtake them. -EINVAL or -EACCES with a sentence. */
int queue_priority_check(int64_t priority, bool may_lead, struct err *e) CHECK_RESULT;

/* The next of a list of slots ("0,1,5"), behind which *at moves; -1 at the end. How many it has. */
int queue_slots_next(const char **at);
int32_t queue_slots_count(const char *slots);

/* An attempt ended: the job waits again, or has ended, and why. */
void queue_job_end(struct queue_job *j, const struct queue_end *end);

/* A job that waits ends without having run. */
void queue_job_drop(struct queue_job *j, enum queue_outcome outcome, int64_t now_ms,
                    const char *why);

/* "done", "waiting" ...: the state in a word, the outcome where it has ended. */
const char *queue_job_word(const struct queue_job *j);

/* Whether it runs and has devices, in part or as a whole: it is not parked. */
static inline bool queue_job_has(const struct queue_job *j)
{
    return j->state == QUEUE_RUNNING && !j->parked_ms;
}

/* Whether a job that is stopped can go on with fewer devices. */
bool queue_job_stretches(const struct queue_job *j);

/* The CPUs of a job that has so many of its devices: its part of them. */
int32_t queue_job_cpus(const struct queue_job *j, int32_t devices);

/* "12", or "12_3" of an array. */
void queue_job_label(const struct queue_job *j, struct str *out);

/* Read "12" or "12_3": the task is -1 of the first. -EINVAL with a sentence. */
int queue_label_read(const char *text, int64_t *id, int32_t *task, struct err *e) CHECK_RESULT;

/* The number of a signal by its name ("USR1", "SIGTERM") or number; -EINVAL with a sentence. */
int queue_signal(const char *text, struct err *e) CHECK_RESULT;

/* Whether a number is that of one of them. */
bool queue_signal_known(int32_t number);

/* The status that a shell would tell. */
int queue_exit(int32_t status);

#endif
