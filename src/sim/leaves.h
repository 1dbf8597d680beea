/* Over how many leaf switches gangs lie. */
#ifndef BRIM_SIM_LEAVES_H
#define BRIM_SIM_LEAVES_H
#include <stdint.h>

struct pool;
struct free_capacity;

/* Of starts of jobs on more than one node. */
struct sim_leaves {
    uint64_t gangs, apart; /* on more than one leaf */
    uint64_t leaves;       /* of all of them */
};

/* Count a start whose parts begin with that one. */
void sim_leaves_count(struct sim_leaves *to, const struct pool *p, const struct free_capacity *r,
                      uint32_t part);

#endif
