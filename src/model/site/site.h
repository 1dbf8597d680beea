/* A cluster as its resource manager tells of it: nodes, and jobs that wait or run there. Plain
 * data. Texts are whatever users wrote: nothing in them is trusted. Times are milliseconds since
 * 1970, 0 where there is none. */
#ifndef BRIM_MODEL_SITE_SITE_H
#define BRIM_MODEL_SITE_SITE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { SITE_DEVICES = 16, SITE_PARTITIONS = 64 }; /* of a node, of a site: that are told apart */

enum site_node_state {
    SITE_NODE_UP,   /* jobs run there, or may */
    SITE_NODE_DOWN, /* lost, or set so */
    SITE_NODE_OFF,  /* its power is off, or comes and goes */
};

struct site_node {
    const char *name;
    const char *address; /* what it is reached by; NULL: its name */
    uint8_t state;       /* enum site_node_state */
    bool drained;        /* nothing more starts there: draining or drained */
    bool silent;         /* its daemon does not answer */
    bool reserved;       /* for those of a reservation, maintenance among them */
    const char *reason;  /* why it is drained or down; NULL */
    uint32_t reason_uid; /* who said so */
    int32_t cpus;
    int64_t memory_mib;
    int32_t devices;  /* GPUs that it is configured with; more than SITE_DEVICES: not told apart */
    const char *kind; /* of them: "h100"; NULL: nobody said */
    const char *features; /* as they are active: "a,b"; NULL */
    uint64_t partitions;  /* that it is in: bits by number in the site */
    const char *path;     /* switches above it, the outermost first: "spine0.leaf1"; NULL */
};

enum site_job_state {
    SITE_WAITING,
    SITE_STARTING, /* it has its nodes, which are being made ready */
    SITE_RUNNING,
    SITE_SUSPENDED, /* it keeps its devices */
    SITE_ENDING,    /* what it had is not free yet */
    SITE_ENDED,
};

enum site_job_outcome {
    SITE_NOT_ENDED,
    SITE_DONE, /* exit status 0 */
    SITE_FAILED,
    SITE_CANCELLED,
    SITE_TIMEOUT, /* it reached its time limit, or its deadline */
    SITE_LOST,    /* its nodes failed */
    SITE_OUTCOMES
};

/* What a job has of a node. */
struct site_part {
    uint32_t node;    /* number in the site */
    uint32_t devices; /* which GPUs: bits; 0 where that was not told */
    int32_t count;    /* how many */
};

enum { SITE_NO_TASK = 0xffffffff };

struct site_job {
    uint32_t id;          /* what it is acted on by */
    uint32_t array, task; /* of an array: its id and number; 0 and SITE_NO_TASK */
    uint32_t uid;
    const char *name, *user, *account, *partition, *qos; /* never NULL: "" */
    const char *comment;                                 /* its owner's; NULL */
    const char *note;     /* Slurm's admin_comment: what operators write; NULL */
    const char *why;      /* why it waits, in Slurm's word: "Resources"; NULL */
    const char *after;    /* what it waits for: "afterok:7(unfulfilled)"; NULL */
    const char *tasks;    /* of pending_tasks, which: "4-9%2"; NULL */
    const char *wanted;   /* nodes that it asks for by name; NULL */
    const char *avoided;  /* nodes that it does not want; NULL */
    const char *features; /* that its nodes are to have, as it wrote them; NULL */
    const char *kind;     /* of GPUs that it asks for; NULL: any */
    uint8_t state;        /* enum site_job_state */
    uint8_t outcome;      /* enum site_job_outcome */
    bool held;            /* its priority is 0 */
    bool depends;         /* it waits for another job, a date, a limit: nothing that nodes could
                             help */
    bool requeue;         /* it may be requeued */
    bool batch;           /* it has a script: sbatch */
    bool exclusive;       /* it has its nodes alone */
    bool pending_tasks;   /* stands for all tasks of an array that wait */
    int64_t submit_ms, start_ms, end_ms; /* end_ms: of one that runs, by its limit */
    int64_t limit_ms;                    /* 0: none */
    uint32_t priority, restarts;
    int32_t nodes, nodes_most;     /* that it asks for, or has */
    int32_t cpus;                  /* in all */
    int64_t memory_mib;            /* on each node; 0: not counted */
    int32_t devices;               /* GPUs in all that it asks for, or has */
    int32_t devices_per_node;      /* that it asks for; 0: it said otherwise */
    const struct site_part *parts; /* of one that has nodes */
    size_t n_parts;
};

struct site {
    struct arena arena;
    const char *cluster;                     /* its name; "" */
    const char *partitions[SITE_PARTITIONS]; /* names */
    size_t n_partitions;
    int64_t time_ms; /* of the manager's answer */
    struct site_node *nodes;
    size_t n_nodes;
    struct site_job *jobs; /* in the order of their ids */
    size_t n_jobs;
    uint32_t *slots; /* private: of nodes by name, hashed; 0: empty, otherwise node + 1 */
    size_t n_slots;
};

/* Whether a job runs on devices of its own. */
static inline bool site_job_holds(const struct site_job *j)
{
    return j->state == SITE_RUNNING && j->devices > 0 && j->n_parts > 0;
}

/* Whether one that runs may be made to wait again: Slurm has what starts it, and its owner lets it
 * be. */
static inline bool site_job_may_restart(const struct site_job *j)
{
    return j->state == SITE_RUNNING && j->batch && j->requeue;
}

/* Frees; {0} is empty. */
void site_done(struct site *s);

/* When all nodes are there: make what site_node_find() looks in. -ENOMEM. */
int site_index(struct site *s) CHECK_RESULT;

/* Add a partition, whose name is borrowed, unless it is there: its bit; 0: there are too many. */
uint64_t site_add_partition(struct site *s, const char *name);

/* The bits of the partitions that a job names ("a,b": one of them); 0: they are not told apart. */
uint64_t site_partitions_of(const struct site *s, const char *names);

/* The number of a node, of a job by its id; -1. */
int64_t site_node_find(const struct site *s, const char *name);
int64_t site_job_find(const struct site *s, uint32_t id);

#endif
