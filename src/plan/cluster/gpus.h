/* The GPUs that the planner knows: data/gpus.csv, and what was fitted to measurements of them.
 *
 * A table of fitted figures (data/plan_constants.csv) has a column 'name' (any name of the GPU) and
 * some of: gemm_best_X, gemm_k0_X and gemm_sustained_X with a precision's name for X,
 * gemm_t0_us, memory_best, attention_best, attention_first, attention_back, attention_third,
 * attention_half, launch_us, link_best, link_few, link_fill_us, spread, rates (runs, operations or
 * kernels: what they are from; blank: runs) and rows (which, for people). data/gpus.csv may have
 * them too.
 */
#ifndef BRIM_PLAN_CLUSTER_GPUS_H
#define BRIM_PLAN_CLUSTER_GPUS_H
#include <stddef.h>

#include "base/arena.h"
#include "plan/cluster/cluster.h"
#include "plan/shape/names.h"

struct gpu_row {
    struct gpu gpu; /* domain: 1 without links; absent figures are NaN */
    const char *vendor;
    double sold_b;    /* of memory, as the vendor states it */
    double usable_b;  /* of it, what a process can have; NaN: not known. gpu.memory_b is this one */
    double pcie_rate; /* bytes a second in one direction; NaN: not known */
    const char *node; /* "DGX H100": a machine that its vendor builds of it; NULL: none is known */
    int node_gpus, node_nics;
    double node_nic_rate;       /* bytes a second in one direction */
    const char *source, *notes; /* keys that data/gpus.csv explains; "" for none */
    const char *fitted;         /* what its fitted figures are from; "": none are */
};

struct gpus {
    struct arena arena;
    struct gpu_row *rows;
    size_t n_rows;
    struct names names;
};

/* Read the table. -EINVAL with "gpus.csv:LINE: ..." for a row that is no GPU or has the name of
 * another one. */
int gpus_load(struct gpus *ret, const char *text, size_t len, struct err *e) CHECK_RESULT;
void gpus_done(struct gpus *g);

/* Set fitted figures from another table; file is for messages. -EINVAL with a sentence for one
 * without a row, and for a row that is of no known GPU. */
int gpus_fit(struct gpus *g, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

/* A row by one of its names; -EINVAL with "unknown GPU 'H10' (did you mean H100?)". */
int gpus_find(const struct gpus *g, const char *name, const struct gpu_row **ret, struct err *e)
    CHECK_RESULT;

/* "runs", "operations", "kernels"; "like" for none of them. */
const char *plan_rates_name(enum plan_rates r);

/* "bf16" and so on. */
const char *plan_precision_name(enum plan_precision p);

#endif
