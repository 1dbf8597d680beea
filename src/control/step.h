/* What a policy wants done on a cluster, and why. Plain data. */
#ifndef BRIM_CONTROL_STEP_H
#define BRIM_CONTROL_STEP_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Kept by number in the book: new ones go to the end. */
enum control_step_kind {
    CONTROL_WARN,    /* tell a job's owner */
    CONTROL_REQUEUE, /* a job waits again */
    CONTROL_SIGNAL,  /* a job is to save: it will be requeued */
    CONTROL_DRAIN,   /* nothing more starts on a node */
    CONTROL_RETURN,  /* jobs start on it again */
    CONTROL_PLACE,   /* a job that waits is given its nodes, or let go without */
    CONTROL_SHRINK,  /* a job goes on with fewer nodes */
    CONTROL_STEP_KINDS
};

/* What decided it: each has a mode of its own. */
enum control_policy {
    CONTROL_IDLE,    /* idle GPUs, for jobs that wait */
    CONTROL_FAULTS,  /* nodes that are not fit for jobs */
    CONTROL_PLACING, /* jobs that want to be given their nodes */
    CONTROL_POLICIES
};

enum { CONTROL_TEXT = 256, CONTROL_NONE = 0xffffffff };

struct control_step {
    uint8_t kind;            /* enum control_step_kind */
    uint8_t policy;          /* enum control_policy */
    uint32_t job, node;      /* numbers in the site; CONTROL_NONE: it is about the other one */
    uint32_t other;          /* a job that gets the devices; CONTROL_NONE */
    int32_t devices;         /* that the job has */
    int32_t nodes;           /* shrink: that it keeps */
    int64_t since_ms;        /* of a node: when what it is done for began */
    bool at_once;            /* no time to save: what it runs on is lost */
    const char *detail;      /* drain: what Slurm is told; place: nodes, NULL: any. Of the plan */
    char text[CONTROL_TEXT]; /* why, in a sentence */
};

struct control_plan {
    struct arena arena;
    struct control_step *steps;
    size_t n;
};

/* What begins the reason of a node that brim drained, and what it notes at jobs. */
#define CONTROL_OWN "brim: "

/* What the admin_comment of a job begins with that waits to be given its nodes: the hook of
 * job_submit writes it. */
#define CONTROL_WAITS CONTROL_OWN "waits for its place"

/* Whether a job gives something up for another one, or for good: it is told to save before. */
static inline bool control_step_takes(uint8_t kind)
{
    return kind == CONTROL_REQUEUE || kind == CONTROL_SHRINK;
}

static inline bool control_step_is_of_node(uint8_t kind)
{
    return kind == CONTROL_DRAIN || kind == CONTROL_RETURN;
}

#endif
