/* Search for layouts: exhaustive over a space, with pruning that does not change the answer. Pure:
 * the caller may let each thread work on cells of its own and merge what they found; the result
 * does not depend on who did what.
 *
 *     search_cells(&space, &opts, &cells, e);             all cells, the most promising first
 *     search_init(&s, &space, &opts);
 *     search_start(&s, &cells);                           something to measure the others against
 *     for (i = 0; i < cells.n && !search_done(&s, &cells.list[i]); i++)
 *         search_cell(&s, &cells.list[i]);
 *
 * What is pruned, and why nothing is lost:
 *   - Memory never falls when the micro-batch grows, nor with fewer GPUs to share states, with
 *     GPipe, or with more chunks than one: what does not fit with one chunk and ZeRO-1, 2 and 3
 *     over all replicas does not fit at all.
 *   - A step takes at least as long as all its layers' work spread evenly over the stages, and as
 *     its slowest stage's micro-batches; recompute only adds to that. */
#ifndef BRIM_PLAN_SEARCH_SEARCH_H
#define BRIM_PLAN_SEARCH_SEARCH_H
#include "plan/model/step.h"
#include "plan/search/plainest.h"
#include "plan/search/space.h"

enum { SEARCH_BEST_MAX = 64 };

struct search_opts {
    int best;      /* how many layouts to keep, 1 to SEARCH_BEST_MAX */
    bool families; /* of those with the same tp, pp, cp, ep, etp and dp only the fastest */
    bool front;    /* what nothing beats in time, memory and GPUs at once, too: prunes less */
    double margin; /* also the plainest of those that take at most this share longer; 0: not */
    bool whole;    /* no pruning: time and memory of every layout, for tests */
};

/* Layouts that have their layers' times in common, but for recompute. */
struct search_cell {
    int tp, cp, ep, etp, micro_batch;
    unsigned char context;
    bool seq_parallel, overlap_tp, overlap_ep;
    double bound_s; /* no step of these is shorter */
    bool done;      /* by search_start() */
};

struct search_cells {
    struct search_cell *list; /* the lowest bound first */
    size_t n;
};

struct search {
    const struct space *space;
    struct search_opts opts;
    struct found_layout best[SEARCH_BEST_MAX]; /* that fit, the fastest first */
    int n_best;
    double limit_s;           /* what another thread's search_limit() says; infinite at first */
    struct pareto front;      /* with opts.front */
    struct plainest plainest; /* with opts.margin */
    double asked;             /* pp and dp of cells whose bound was looked at */
    double bounded;           /* their chunkings whose time without replicas was computed */
    double made;              /* layouts of which time and memory were computed */
    double fit;               /* of those */
    int error;                /* 0 or -ENOMEM */
};

/* -ENOMEM. search_cells_done() in any case. */
int search_cells(const struct space *space, const struct search_opts *opts,
                 struct search_cells *ret, struct err *e) CHECK_RESULT;
void search_cells_done(struct search_cells *c);

void search_init(struct search *s, const struct space *space, const struct search_opts *opts);
void search_free(struct search *s);

/* Search the cells of which a good layout is likely, so that the others can be left early. One
 * search of those that share the list does, before any of them goes on. May be left out. */
void search_start(struct search *s, struct search_cells *cells);

/* Nothing, when search_start() did it. */
void search_cell(struct search *s, const struct search_cell *cell);

/* Whether neither this cell nor those behind it can change the result. */
bool search_done(const struct search *s, const struct search_cell *cell);

/* Layouts slower than this do not matter any more: the slowest that is kept. */
double search_limit(const struct search *s);

/* Put the plainest that takes at most opts.margin longer than the fastest before all others.
 * Returns whether that is another than the fastest; *fastest is that one. Of a search that found
 * some. */
bool search_prefer_plain(struct search *s, struct found_layout *fastest);

/* Add what another found. */
void search_merge(struct search *into, const struct search *from);

/* The layout that needs least memory: false when the space has none at all. */
bool search_near(const struct space *space, struct found_layout *ret);

/* Time and memory of one layout, from scratch. */
void candidate_make(const struct plan_job *job, const struct cluster *c, const struct layout *l,
                    struct found_layout *ret);

#endif
