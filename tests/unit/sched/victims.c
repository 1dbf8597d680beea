/* Who stops for a job that goes first: cases made by hand, small enough to be solved on paper. */
#include "made_work.h"
#include "sim/sim.h"
#include "tap.h"

enum { MOST = 8, LONG = 1000 };

/* A job as a line: when, how many devices, on which kind (0: any), with which priority. */
struct line {
    int submit_s, devices, kind, priority;
};

static const char policy[] = "[policy]\norder = fifo\npriorities = yes\npreempt = victims\n";

static int make(struct workload *w, const struct line *lines, int n)
{
    if (made_begin(w) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        struct work *job = made_job(w, lines[i].submit_s, LONG);

        if (!job)
            return -1;
        job->devices = lines[i].devices;
        job->kinds = lines[i].kind ? 1ULL << (lines[i].kind - 1) : 0;
        job->priority = (int16_t)lines[i].priority;
    }
    return workload_settle(w, NULL);
}

/* How often each job started; -1: it could not be simulated. */
static int run(int starts[MOST], const char *nodes, const struct line *lines, int n)
{
    struct workload w;
    struct pool pool = { .n_nodes = 0 };
    struct policy p;
    struct sim_result r = { .events = 0 };
    int rc = pool_parse(&pool, nodes, NULL);

    if (make(&w, lines, n) < 0)
        rc = -1;
    if (rc == 0)
        rc = policy_read(&p, "test", policy, strlen(policy), NULL);
    if (rc == 0)
        rc = sim_run(&r, &p, &pool, &w, NULL, NULL);
    for (int i = 0; i < n; i++)
        starts[i] = rc < 0 ? -1 : (int)r.jobs[i].starts;
    sim_result_done(&r);
    workload_done(&w);
    pool_done(&pool);
    return rc;
}

/* Kinds tie jobs to nodes: the first one is of kind A, the second one of kind B. */
static void test_equals(void)
{
    const struct line one[] = { { 0, 1, 1, 0 }, { 1, 1, 2, 0 }, { 10, 1, 0, 1 } };
    const struct line other[] = { { 0, 1, 2, 0 }, { 1, 1, 1, 0 }, { 10, 1, 0, 1 } };
    int starts[MOST];

    run(starts, "1x1:A,1x1:B", one, 3);
    ok(starts[0] == 1 && starts[1] == 2,
       "the job that came last stops, though another node comes first (%d, %d)", starts[0],
       starts[1]);
    run(starts, "1x1:A,1x1:B", other, 3);
    ok(starts[0] == 1 && starts[1] == 2,
       "the job that came last stops where its node comes first, too (%d, %d)", starts[0],
       starts[1]);
}

/* Two have to stop on either node: on one the first and the last of all, on the other those in
 * between. */
static void test_pairs(void)
{
    const struct line lines[] = {
        { 0, 1, 1, 0 }, { 1, 1, 2, 0 }, { 2, 1, 2, 0 }, { 3, 1, 1, 0 }, { 10, 2, 0, 1 },
    };
    int starts[MOST];

    run(starts, "1x2:A,1x2:B", lines, 5);
    ok(starts[0] == 1 && starts[3] == 1, "the job that is first of all runs on (%d, %d)", starts[0],
       starts[3]);
    ok(starts[1] == 2 && starts[2] == 2, "the two jobs in between stop (%d, %d)", starts[1],
       starts[2]);
}

/* Fewer devices that stop count for more than who comes last. */
static void test_cost(void)
{
    const struct line lines[] = { { 0, 1, 1, 0 }, { 1, 2, 2, 0 }, { 10, 1, 0, 1 } };
    int starts[MOST];

    run(starts, "1x1:A,1x2:B", lines, 3);
    ok(starts[0] == 2 && starts[1] == 1,
       "one device of an early job stops rather than two of a late one (%d, %d)", starts[0],
       starts[1]);
}

int main(void)
{
    test_equals();
    test_pairs();
    test_cost();
    return done();
}
