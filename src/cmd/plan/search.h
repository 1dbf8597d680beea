/* A search for layouts on all cores. */
#ifndef BRIM_CMD_PLAN_SEARCH_H
#define BRIM_CMD_PLAN_SEARCH_H
#include "cmd/plan/job.h"
#include "plan/search/search.h"

struct plan_found {
    struct search search; /* what all threads found together */
    struct space *space;
    double layouts; /* that there are; NaN: not counted */
    bool plain;     /* search.best begins with the plainest, which is not the fastest: */
    struct found_layout fastest;
};

/* Search for what is asked, with other pins than those of the question. *ret is the same whatever
 * the number of threads (0: one for each core). A search that takes longer than a second says so on
 * stderr when that is a terminal. 0 or -ENOMEM; plan_found_done() in any case. */
struct plan_search_how {
    struct search_opts opts;
    unsigned threads;
    bool fewer;
};
int plan_search(const struct plan_ask *a, const struct pins *pins,
                const struct plan_search_how *how, struct plan_found *ret, struct err *e)
    CHECK_RESULT;
void plan_found_done(struct plan_found *f);

/* A layout with all that is known of it. */
struct plan_one {
    struct layout layout;
    struct plan_tables tables;
    struct plan_step step;
    struct memory memory;
};
void plan_one_make(const struct plan_ask *a, const struct layout *l, struct plan_one *ret);

#endif
