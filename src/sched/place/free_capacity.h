/* Which devices are free, and who holds the others: the nodes of a pool by how many of their
 * devices are wholly free, so that a place is found without a look at every node. */
#ifndef BRIM_SCHED_PLACE_FREE_CAPACITY_H
#define BRIM_SCHED_PLACE_FREE_CAPACITY_H
#include "model/machine/mig.h"
#include "model/machine/pool.h"
#include "model/job/job_spec.h"
#include "sched/place/bits.h"

/* What a job has, or would get, of one node. */
struct part {
    uint32_t node;
    uint16_t devices; /* bits */
    int16_t milli;    /* of each: WORK_WHOLE, or the share of one device */
    uint32_t next;    /* in the table of parts: the job's next one */
    uint8_t slices;   /* bits of memory, of an instance (mig.h), once it is taken; 0 */
};

enum { NO_PART = UINT32_MAX };

struct free_capacity_node {
    int64_t memory_mib;
    int32_t cpus_milli;
    uint16_t whole;               /* bits of the wholly free devices */
    uint8_t n_whole;              /* how many */
    uint32_t version;             /* grows with each change */
    int16_t left[POOL_DEVICES];   /* of each device, in thousandths */
    uint8_t slices[POOL_DEVICES]; /* of its memory that instances take; 0: it is not divided */
};

/* A place that was found: nothing is taken yet. */
struct fit {
    struct part *parts; /* as many as the pool has nodes */
    uint32_t n;
};

/* Nodes where the data of a job are, by number, in order. */
struct nearby {
    const uint32_t *nodes;
    uint32_t n;
};

/* Whether they are on a node. */
static inline bool nearby_has(const struct nearby *x, uint32_t node)
{
    uint32_t low = 0, high = x->n;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (x->nodes[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low < x->n && x->nodes[low] == node;
}

struct scores;
struct wiring;

struct free_capacity {
    const struct pool *pool;
    struct arena arena;
    struct free_capacity_node *nodes;
    uint8_t *wholes;                     /* n_whole of each, for those who look at all */
    struct bits level[POOL_DEVICES + 1]; /* nodes by how many devices are wholly free */
    int64_t whole;                       /* devices that are wholly free */
    int64_t milli;                       /* what is free of all devices, in thousandths */
    int64_t lost;                        /* devices of nodes that are lost, in thousandths */
    int64_t *taken;                      /* of each kind, in thousandths; NULL: there is one */
    uint8_t *closed;                     /* by node: nothing starts there; NULL: nowhere */
    struct part *parts;                  /* those taken, chained by job */
    size_t n_parts;
    uint32_t spare;            /* the first of those given back */
    const uint8_t *spare_of;   /* NULL, or what a long job may take of each node (backfill) */
    const struct nearby *near; /* of the job that is placed; NULL: nobody said, or it is nowhere */
    const uint8_t *keep;       /* NULL, or what a job leaves free of each node (tiers.h) */
    struct scores *scores;     /* of placements that make some; NULL */
    struct wiring *wiring;     /* of those that look at it; NULL */
};

/* Whether the data of the job that is placed are on a node; false where nobody said. */
static inline bool free_capacity_is_near(const struct free_capacity *r, uint32_t node)
{
    return r->near && nearby_has(r->near, node);
}

/* Whether a device of a node has the share that a job needs. A device is divided into instances, or
 * shared by jobs that take what they get of it. */
static inline bool free_capacity_has_share(const struct free_capacity_node *n, int device,
                                           const struct work *w)
{
    if (n->left[device] < w->milli)
        return false;
    if (!w->mig)
        return !n->slices[device];
    return (n->slices[device] || n->left[device] == WORK_WHOLE) &&
           mig_fits(n->slices[device], w->mig);
}

/* All devices of the pool are free. -ENOMEM. */
int free_capacity_init(struct free_capacity *r, const struct pool *pool) CHECK_RESULT;
void free_capacity_done(struct free_capacity *r);

/* Whether need wholly free devices of a node, or a share where need is 0, suit a job. */
bool free_capacity_suits(const struct free_capacity *r, uint32_t node, const struct work *w,
                         int need);

/* Add need wholly free devices of a node to a place: those with the lowest numbers. */
void free_capacity_fit_add(const struct free_capacity *r, struct fit *f, uint32_t node, int need);

/* Take a place for a job. Returns its first part, NO_PART when it needs no device; -ENOMEM. */
int free_capacity_take(struct free_capacity *r, const struct work *w, const struct fit *f,
                       uint32_t *ret) CHECK_RESULT;

/* Let what free_capacity_take() returned count as free (up), or as taken again: to see what a place
 * would be. Nothing is taken or given in between. */
void free_capacity_lift(struct free_capacity *r, const struct work *w, uint32_t first, bool up);

/* A node on which nothing is taken is lost: no job finds a place there until it is back. */
void free_capacity_lose(struct free_capacity *r, uint32_t node);
void free_capacity_regain(struct free_capacity *r, uint32_t node);

/* From now on nothing starts on a node, or may again; what runs there goes on. -ENOMEM. */
int free_capacity_close(struct free_capacity *r, uint32_t node, bool closed) CHECK_RESULT;

/* Give back what free_capacity_take() returned. */
void free_capacity_give(struct free_capacity *r, const struct work *w, uint32_t first);

#endif
