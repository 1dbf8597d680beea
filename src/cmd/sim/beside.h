/* All policies beside each other: the bars that the text and the page draw. */
#ifndef BRIM_CMD_SIM_BESIDE_H
#define BRIM_CMD_SIM_BESIDE_H
#include "cmd/sim/show.h"

enum { BESIDE_COLUMNS = 3 };

/* One policy, with the nodes that there are or with others. */
struct sim_beside {
    const struct sim_run *run;
    bool then; /* with other nodes */
    /* Of each column: how long its bar is (0 to 1, NaN: not known), and what it stands for. */
    double shares[BESIDE_COLUMNS];
    struct quantity values[BESIDE_COLUMNS];
};

/* How many rows there are; 0: nothing is to be compared. */
size_t sim_beside_rows(const struct sim_report *r);

/* How many columns, and what they are. */
size_t sim_beside_columns(const struct sim_report *r);
const char *sim_beside_head(size_t column);

/* The bars of a row: a policy, and right behind it the same with other nodes, where there are. */
void sim_beside_row(const struct sim_report *r, size_t row, struct sim_beside *ret);

#endif
