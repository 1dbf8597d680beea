/* Nodes that fail and come back, and what a job that was on one has saved. Rates make failures that
 * do not depend on the policy: each policy meets the same ones. */
#ifndef BRIM_SIM_OUTAGES_H
#define BRIM_SIM_OUTAGES_H
#include <stdbool.h>

#include "base/err.h"
#include "model/machine/pool.h"
#include "sim/heap.h"

enum outage_kind {
    OUTAGE_FAILURE,
    OUTAGE_CLOSES, /* nothing starts on the node any more: a window begins in lasts_ms */
    OUTAGE_WINDOW, /* planned: jobs save what they did and leave */
};

struct outage {
    int64_t at_ms, lasts_ms;
    uint32_t node;
    uint8_t kind; /* enum outage_kind */
};

struct outage_options {
    double per_device_day;     /* failures that one device causes; 0: those of the list */
    uint64_t seed;             /* of the failures by rate */
    int64_t repair_ms;         /* how long one of them lasts */
    const struct outage *list; /* by their times */
    size_t n_list;
    uint32_t spares;            /* nodes that are kept back, the last ones */
    int64_t checkpoint_cost_ms; /* what a job pays for each of its checkpoints */
};

enum outage_node { OUTAGE_UP, OUTAGE_DOWN, OUTAGE_SPARE };

struct outages {
    struct arena arena;
    struct outage_options o;
    const struct pool *pool;
    int64_t *until;   /* devices of the nodes up to each, to draw one by its devices */
    uint8_t *state;   /* by node: enum outage_node */
    uint8_t *stood;   /* by node: a spare stood in for it, or it is one */
    uint8_t *shut;    /* by node: nothing starts there (1), and its window has begun (2) */
    int64_t *back_ms; /* by node: when it is back at the earliest */
    struct heap ups;  /* when nodes come back: their numbers are the jobs of its events */
    size_t next;      /* of the list */
    uint64_t random;
    struct outage drawn; /* the next failure by rate */
};

/* What happens at a moment. */
struct outage_step {
    uint32_t node;
    uint8_t kind;     /* enum outage_kind, of what is not up */
    bool up;          /* it is back; else it fails */
    bool used;        /* jobs may be on it, or may be placed on it from now on */
    bool opens;       /* jobs may start on it again */
    uint32_t other;   /* another node that is used from now on, in its stead; UINT32_MAX */
    int64_t until_ms; /* of a failure */
};

/* pool is borrowed, as is the list. -ENOMEM; -EINVAL with a sentence when nodes are no more than
 * spares. The spares are the last nodes: their state says so. */
int outages_open(struct outages *f, const struct outage_options *o, const struct pool *pool,
                 struct err *e) CHECK_RESULT;
void outages_done(struct outages *f);

/* When something happens next; INT64_MAX: never. */
int64_t outages_next(struct outages *f);

/* What happens at that time, one by one: 1, 0 when nothing more does, -ENOMEM. */
int outages_step(struct outages *f, int64_t now_ms, struct outage_step *ret) CHECK_RESULT;

/* How long a job takes for some work with a checkpoint after each every_ms of it (0: none) but the
 * last, which cost_ms are paid for. */
int64_t outages_takes(int64_t work_ms, int64_t every_ms, int64_t cost_ms);

/* The work that it did in a time, and what of it its last checkpoint has. */
struct outage_work {
    int64_t did_ms, saved_ms;
    int64_t paid_ms; /* for checkpoints */
};
struct outage_work outages_did(int64_t ran_ms, int64_t work_ms, int64_t every_ms, int64_t cost_ms);

/* A file that was read. */
struct outage_text {
    const char *file, *text;
    size_t len;
};

/* Read windows: a table with the columns time_s, node, duration_s and drain_s, the time before it
 * during which nothing starts on the node. Each is two of the list; as outages_read(). */
int outages_read_windows(struct arena *a, const struct pool *pool, const struct outage_text *text,
                         struct outage **ret, size_t *n, struct err *e) CHECK_RESULT;

/* Put two lists into one, by time. -ENOMEM. */
int outages_join(struct arena *a, struct outage **ret, size_t *n, const struct outage *other,
                 size_t n_other) CHECK_RESULT;

/* Read a list: a table with the columns time_s, node and duration_s, nodes by their names, times
 * counted from the first submission. *ret is in the arena, by time.
 * -EINVAL with "file:line: ..." */
int outages_read(struct arena *a, const struct pool *pool, const struct outage_text *text,
                 struct outage **ret, size_t *n, struct err *e) CHECK_RESULT;

#endif
