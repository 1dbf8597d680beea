/* What brim sim prints. */
#ifndef BRIM_CMD_SIM_SHOW_H
#define BRIM_CMD_SIM_SHOW_H
#include "base/json.h"
#include "cmd/sim/accounts.h"
#include "cmd/sim/faults.h"
#include "cmd/sim/money.h"
#include "cmd/sim/what.h"
#include "model/signal/quantity.h"
#include "sched/engine.h"
#include "sim/fill_test.h"
#include "sim/stats/stats.h"
#include "trace/trace.h"

/* One policy on the trace. */
struct sim_run {
    struct policy asked, policy; /* before and after an engine changed it */
    struct sim_result result;
    struct sim_stats stats;
    struct sim_tier_stats tiers;
    struct fill_test_result pack;
    struct sim_money money;
};

struct sim_report {
    const char *trace, *nodes;
    bool nodes_assumed; /* nobody said which there are */
    const struct pool *pool;
    const struct workload *work;
    const struct trace_notes *notes;
    struct sim_run *runs;
    size_t n_runs;
    uint64_t load;                     /* per cent: they were packed; 0: they were run */
    const struct sim_failing *failing; /* NULL: nothing fails */
    const struct device_prices *rates;
    uint64_t spot_percent; /* of the price, for an hour of a spot job */
    /* The same runs with other nodes; NULL: nobody asked. */
    const char *what_if;
    const struct pool *then_pool;
    const struct sim_run *then;
    const struct sim_needs *needs; /* NULL: no target was given */
    enum engine engine;            /* that carries them out; ENGINE_N: nobody said */
    /* How it really went, and what is known of it; NULL: nobody knows. Else the first n_bases runs
     * are Slurm, simulated: as it is, and with the backfill of some of the others. */
    const struct sim_run *went;
    const struct sim_accounts *accounts;
    size_t n_bases;
    const char *by; /* a table by that: "user", "team"; NULL: by class or devices */
};

void sim_show_text(const struct sim_report *r, struct str *out);
void sim_show_json(const struct sim_report *r, struct str *out);

/* Whether a policy is told what nobody knows: true lengths. */
bool sim_show_is_oracle(const struct sim_run *run);

/* All policies in one picture, where there are several or other nodes; else nothing. */
void sim_show_beside(const struct sim_report *r, struct str *out);

/* What other nodes change under a policy, and at what price: a sentence. */
void sim_show_change(const struct sim_run *before, const struct sim_run *after, struct str *out);

/* What an engine makes of the policies; without one, what brim's queue lacks of them. Of a policy
 * that is not run: what an engine makes of it, in a line without its end. */
void sim_show_engine(const struct sim_report *r, struct str *out);
void sim_show_engine_json(const struct sim_report *r, const struct sim_run *run, struct json *j);
void sim_show_engine_of(const struct policy *p, enum engine engine, struct str *out);

/* How it went, how far a simulation of Slurm is from that, and what each other policy would have
 * changed, for whom; where accounting was read, else nothing. */
void sim_show_accounts(const struct sim_report *r, struct str *out); /* what was read */
void sim_show_changes(const struct sim_report *r, struct str *out);
void sim_show_changes_json(const struct sim_report *r, struct json *j);

/* A group in JSON. */
void sim_show_group_json(struct json *j, const char *key, const struct sim_group *g);

/* Of several policies, under which a job takes the least in the mean: of those that need no true
 * lengths, and of all where that is another one. */
void sim_show_best(const struct sim_run *runs, size_t n, struct str *out);

/* How many nodes a target needs, where one was given; else nothing. */
void sim_show_needs(const struct sim_report *r, struct str *out);
void sim_show_needs_lines(const struct sim_report *r, struct str *out); /* as sentences */
void sim_show_needs_json(const struct sim_report *r, struct json *j);

/* Services and spot jobs, where a policy or a job has them; else nothing. */
void sim_show_tiers(const struct sim_report *r, struct str *out);
void sim_show_tiers_json(const struct sim_report *r, const struct sim_run *run, struct json *j);

/* Elastic jobs, where a policy resizes them; else nothing. */
bool sim_show_any_elastic(const struct sim_run *runs, size_t n);
void sim_show_elastic(const struct sim_run *runs, size_t n, struct str *out);
void sim_show_elastic_json(const struct sim_run *r, struct json *j);

/* Starts away from data, where a job says where its own are; else nothing. */
bool sim_show_any_data(const struct sim_run *runs, size_t n);
void sim_show_data(const struct sim_run *runs, size_t n, struct str *out);
void sim_show_data_json(const struct sim_run *r, struct json *j);

/* Deadlines, where a job has one; else nothing. What the tables by class and the like say of them
 * besides, and of a group in JSON. */
bool sim_show_any_due(const struct sim_run *runs, size_t n);
void sim_show_due(const struct sim_run *runs, size_t n, struct str *out);
void sim_show_due_head(struct str *out);
void sim_show_due_group(const struct sim_group *g, struct str *out);
void sim_show_due_json(const struct sim_group *g, struct json *j);

#endif
