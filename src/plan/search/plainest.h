/* Of layouts that are as fast as a prediction can tell, the plainest: the one with the fewest kinds
 * of parallelism, where one that fills the memory counts as one kind more. */
#ifndef BRIM_PLAN_SEARCH_PLAINEST_H
#define BRIM_PLAN_SEARCH_PLAINEST_H
#include "plan/search/pareto.h"

enum { PLAINEST_KINDS = 9 };

/* The fastest of each number of kinds. All zeros: none. */
struct plainest {
    struct found_layout list[PLAINEST_KINDS];
    bool has[PLAINEST_KINDS];
};

/* How many of tp, pp, cp and ep are above 1, and one more for ZeRO-3, for a tp beyond the fast
 * domain of so many GPUs, and for stages that are neither even nor less a layer at both ends.
 * Replicas come by themselves. */
int layout_kinds(const struct layout *l, int domain);

/* Whether so little is left of a GPU's memory that gaps between tensors decide whether it fits. */
bool layout_fills(double memory_b, double room_b);

void plainest_offer(struct plainest *p, const struct found_layout *c, const struct cluster *on);
void plainest_merge(struct plainest *into, const struct plainest *from);

/* The plainest that takes no longer than limit_s; NULL: there is none. */
const struct found_layout *plainest_find(const struct plainest *p, double limit_s);

#endif
