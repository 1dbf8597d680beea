/* Traces of all kinds, tables of nodes, lists of failures, accounting, pools and policies; what is
 * read is run if it is small. */
#include <errno.h>

#include <math.h>

#include "fuzz.h"
#include "sim/outages.h"
#include "sim/sim.h"
#include "trace/ledger.h"
#include "trace/past.h"
#include "trace/trace.h"

enum { SMALL = 200 };

static void run(const struct workload *w, const struct pool *p, const struct policy *policy)
{
    struct sim_result r;

    if (w->n_jobs > SMALL || (policy->restart_each_pass &&
                              (w->n_stretches > 0 || w->n_speeds > 0 || work_data_costs(w))))
        return;
    check(sim_run(&r, policy, p, w, NULL, NULL) == 0);
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r.jobs[i];

        if (j->fate == SIM_ENDED)
            check(j->starts > 0 && j->ran_ms + j->idle_ms >= w->jobs[i].length_ms &&
                  j->end_ms - w->jobs[i].submit_ms == j->ran_ms + j->wait_ms + j->away_ms);
    }
    sim_result_done(&r);
}

/* What jobs had is never less than what of it was wasted. */
static void read_ledger(const char *text, size_t size)
{
    struct ledger l = { .n = 0 };
    struct ledger_sums sums;
    int rc = ledger_read(&l, "f", text, size, NULL);

    check(rc == 0 || rc == -EINVAL || rc == -E2BIG);
    for (int by = 0; by < LEDGER_BYS; by++) {
        double hours = 0;

        check(ledger_sum_by(&sums, &l, (enum ledger_by)by, NULL) == 0);
        for (size_t i = 0; i < sums.n; i++) {
            check(sums.list[i].wasted >= 0 && sums.list[i].idle >= 0);
            check(sums.list[i].wasted <= sums.list[i].hours * 1.000001 + 1e-9);
            hours += sums.list[i].hours;
        }
        check(by == LEDGER_CAUSE || fabs(hours - ledger_total(&l).hours) <= 1e-6 * (1 + hours));
        ledger_sums_done(&sums);
    }
    ledger_done(&l);
}

/* Jobs that were: as many as there are times, none before it could start, or longer than what a
 * replay takes. */
static void read_past(const char *text, size_t size, const struct pool *pool, int64_t from_s)
{
    struct past p = { .pool = pool, .from_s = from_s, .until_s = from_s ? from_s + 86400 : 0 };
    int rc = past_text(&p, text, size, NULL);

    check(rc == 0 || rc == -EINVAL);
    if (rc == 0)
        rc = past_settle(&p, NULL);
    check(rc == 0 || rc == -EINVAL || rc == -ENODATA || rc == -E2BIG);
    for (size_t i = 0; rc == 0 && i < p.work.n_jobs; i++) {
        const struct work *w = &p.work.jobs[i];

        check(w->submit_ms >= 0 && p.went[i].start_ms >= w->submit_ms);
        check(p.went[i].end_ms - p.went[i].start_ms == w->length_ms);
        check(i == 0 || w->submit_ms >= p.work.jobs[i - 1].submit_ms);
    }
    past_done(&p);
}

static void read_outages(const char *text, size_t size, const struct pool *pool)
{
    struct arena a = ARENA_INIT;
    struct outage *list;
    size_t n;
    int rc = outages_read(&a, pool, &(struct outage_text){ "f", text, size }, &list, &n, NULL);

    check(rc == 0 || rc == -EINVAL);
    for (size_t i = 0; rc == 0 && i < n; i++)
        check(list[i].node < pool->n_nodes && list[i].at_ms >= 0 && list[i].lasts_ms >= 0 &&
              (i == 0 || list[i].at_ms >= list[i - 1].at_ms));
    arena_done(&a);
}

/* Each of those that are no traces. */
static void read_others(const char *text, size_t size)
{
    struct pool nodes = { .n_nodes = 0 }, spec = { .n_nodes = 0 };
    struct policy policy;
    int rc = policy_read(&policy, "f", text, size, NULL);

    check(rc == 0 || rc == -EINVAL);
    rc = trace_read_nodes(&nodes, "f", text, size, NULL);
    check(rc == 0 || rc == -EINVAL);
    if (size < 64 && !memchr(text, '\0', size)) {
        rc = pool_parse(&spec, text, NULL);
        check(rc == 0 || rc == -EINVAL);
    }
    pool_done(&nodes);
    pool_done(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = { "easy", "las",          "tiresias",
                                         "fgd",  "rebuild-srtf", "deadline" };
    CLEANUP(freep) char *text = malloc(size + 1);
    struct pool pool = { .n_nodes = 0 };
    struct workload w = { .n_jobs = 0 };
    struct trace_notes notes;
    struct policy policy;
    int rc;

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    read_others(text, size);
    check(pool_parse(&pool, "2x8:T4,1x4:V100", NULL) == 0);
    read_ledger(text, size);
    read_outages(text, size, &pool);
    read_past(text, size, &pool, 0);
    read_past(text, size, &pool, 1793600000);
    rc = trace_read(&w, &notes, &pool, &(struct trace_text){ "f", text, size, "brim sim" }, NULL);
    check(rc == 0 || rc == -EINVAL || rc == -E2BIG);
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(names); i++) {
        check(policy_named(&policy, names[i], NULL) == 0);
        run(&w, &pool, &policy);
    }
    workload_done(&w);
    pool_done(&pool);
    return 0;
}
