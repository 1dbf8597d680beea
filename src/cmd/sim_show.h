/* What brim sim prints. */
#ifndef BRIM_CMD_SIM_SHOW_H
#define BRIM_CMD_SIM_SHOW_H
#include "cmd/sim_faults.h"
#include "cmd/sim_money.h"
#include "engine/pack.h"
#include "engine/sim_stats.h"
#include "engine/trace.h"

/* One policy on the trace. */
struct sim_run {
    struct policy policy;
    struct sim_result result;
    struct sim_stats stats;
    struct pack_result pack;
    struct sim_money money;
};

struct sim_report {
    const char *trace, *nodes;
    const struct pool *pool;
    const struct workload *work;
    const struct trace_notes *notes;
    struct sim_run *runs;
    size_t n_runs;
    uint64_t load;                     /* per cent: they were packed; 0: they were run */
    const struct sim_failing *failing; /* NULL: nothing fails */
    const struct rates *rates;
    const char *by; /* a table by that: "user", "team"; NULL: by class or devices */
};

void sim_show_text(const struct sim_report *r, struct str *out);
void sim_show_json(const struct sim_report *r, struct str *out);

#endif
