/* Layouts that compete, and the Pareto front of them: those that no other beats in step time,
 * memory and number of GPUs at once. Cost follows from time and GPUs. */
#ifndef BRIM_PLAN_SEARCH_PARETO_H
#define BRIM_PLAN_SEARCH_PARETO_H
#include <stddef.h>

#include "plan/layout/layout.h"

struct found_layout {
    struct layout layout;
    double time_s, memory_b; /* of a step; of the fullest GPU */
    int gpus;
};

/* Whether a comes before b: by time, then by simplicity. A total order of different layouts. */
bool found_layout_before(const struct found_layout *a, const struct found_layout *b);

/* The same by simplicity alone: less than 0, 0 or more, as strcmp(). */
int layout_compare(const struct layout *a, const struct layout *b);

/* Whether tp, pp, cp, ep, etp and dp are the same. */
bool layout_same_degrees(const struct layout *a, const struct layout *b);

/* Memory counts in whole GB, so that it has few points. */
struct pareto {
    struct found_layout *list; /* in no order until pareto_sort() */
    size_t n, room;
};

void pareto_done(struct pareto *f);

/* 0 or -ENOMEM. */
int pareto_offer(struct pareto *f, const struct found_layout *c) CHECK_RESULT;

/* Whether a layout that is at best as good as this could not get in. */
bool pareto_beats(const struct pareto *f, double time_s, double memory_b, int gpus);

/* By GPUs falling, then by time. */
void pareto_sort(struct pareto *f);

#endif
