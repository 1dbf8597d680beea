/* Tables of measured training runs, one a row, with named columns (docs/plan-model.md lists them):
 * what was run and what it took. Blank fields get defaults that depend on what is stated. */
#ifndef BRIM_PLAN_MEASURED_ROWS_H
#define BRIM_PLAN_MEASURED_ROWS_H
#include <stdint.h>

#include "base/arena.h"
#include "plan/cluster/gpus.h"
#include "plan/layout/layout.h"
#include "plan/shape/models.h"

enum { ROW_NAME = 48, ROW_REASON = 160, ROW_UNDERSTOOD = 128 };

/* Of what it is said how the row was understood. */
enum row_topic {
    ROW_NETWORK,
    ROW_ENGINE,
    ROW_RECOMPUTE,
    ROW_PRECISION,
    ROW_SEQ_PARALLEL,
    ROW_ZERO,
    ROW_SPLIT,
    ROW_TOPICS
};

struct plan_row {
    int line;
    char name[ROW_NAME];
    char reason[ROW_REASON]; /* why it cannot be modelled; "": it can */
    struct plan_job job;
    struct cluster cluster;
    struct layout layout; /* the likely one; between these, where settings are not stated: */
    struct layout fastest, slowest;
    uint64_t sweep;  /* equal for rows of the same model, GPUs and batch, whose layouts compete */
    double time_s;   /* of a step; NaN: not measured */
    double memory_b; /* NaN: not measured */
    bool peak_only;  /* memory_b is what the allocator handed out, without the context */
    bool reserved;   /* memory_b is what it reserved, gaps and all */
    bool from_flops; /* time_s was made of a rate of FLOPs, whose counting differs */
    double counted;  /* FLOPs of a step as the row counts them, where it has time and rate */
    uint64_t source; /* equal for rows of one source, which count FLOPs alike */
    bool out;        /* it ran out of memory */
    /* What was taken, and why: "400 Gbit/s a node: '4x100Gb' in notes"; "": nothing was read. */
    char understood[ROW_TOPICS][ROW_UNDERSTOOD];
};

/* What rows are read against. */
struct row_tables {
    const struct gpus *gpus;
    const struct models *models; /* for rows that name a model without its shape */
    double node_rate; /* bytes a second of a node's network cards; 0: as stated, or by GPU */
};

struct plan_rows {
    struct arena *arena; /* that the list is to lie in */
    struct plan_row *list;
    size_t n;
};

/* "network" and so on. */
const char *row_topic_name(enum row_topic t);

/* -EINVAL when the text is no such table, -ENOMEM. A row that cannot be modelled is no error. */
int rows_read(const char *text, size_t len, const struct row_tables *tables, struct plan_rows *ret,
              struct err *e) CHECK_RESULT;

#endif
