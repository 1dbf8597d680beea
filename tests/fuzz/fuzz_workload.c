/* Traces of all kinds, tables of nodes, pools and policies; what is read is run if it is small. */
#include <errno.h>

#include "engine/sim.h"
#include "engine/trace.h"
#include "fuzz.h"

enum { SMALL = 200 };

static void run(const struct workload *w, const struct pool *p, const struct policy *policy)
{
    struct sim_result r;

    if (w->n_jobs > SMALL)
        return;
    check(sim_run(&r, policy, p, w, NULL, NULL) == 0);
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct sim_job *j = &r.jobs[i];

        if (j->fate == SIM_ENDED)
            check(j->starts > 0 && j->ran_ms >= w->jobs[i].length_ms &&
                  j->end_ms - w->jobs[i].submit_ms == j->ran_ms + j->wait_ms);
    }
    sim_result_done(&r);
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
    static const char *const names[] = { "easy", "las", "tiresias", "fgd", "rebuild-srtf" };
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
    rc = trace_read(&w, &notes, &pool, &(struct trace_text){ "f", text, size }, NULL);
    check(rc == 0 || rc == -EINVAL || rc == -E2BIG);
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(names); i++) {
        check(policy_named(&policy, names[i], NULL) == 0);
        run(&w, &pool, &policy);
    }
    workload_done(&w);
    pool_done(&pool);
    return 0;
}
