/* Jobs that wait are kept in order, those that run by when they fall or where the last pass placed
 * them: all is as in a scheduler that looks at all jobs in each pass, which a section or a word
 * makes of it that changes nothing here. */
#include "sched/core/labels.h"
#include "sched/core/scheduler.h"
#include "made_work.h"
#include "sim/sim.h"
#include "tap.h"

enum { ROUNDS = 150, JOBS = 60 };

#define LAS "order = las\npreempt = victims\nrestart = 3s\n"
#define IDLE "[idle]\nwarn = 999h\nreclaim = 999h\naction = warn\n"
#define LIST "ties = list\nrestart = 3s\n"
#define NO_AGE "ageing = 300d\n"

/* A policy, and what makes it look at all jobs. */
static const struct pair {
    const char *policy, *all;
} parts[] = {
    { LAS "queues = 20s 100s\n", IDLE },
    { LAS "queues = 10s 20s 40s 80s 160s\n", IDLE },
    { LAS "queues = 30s\nleast-run = 20s\n", IDLE },
    { LAS "queues = 20s 100s\nageing = 200s\n", IDLE },
    { LAS "queues = 20s 100s\nevery = 10s\npriorities = yes\n", IDLE },
    { "order = srtf\npreempt = rebuild\nlength = oracle\nplace = first\n" LIST, NO_AGE },
    { "order = srsf\npreempt = rebuild\nlength = oracle\nplace = first\n" LIST
      "restart-each-pass = yes\n",
      NO_AGE },
    { "order = srsf\npreempt = quota\nlength = oracle\npriorities = yes\n" LIST, NO_AGE },
    { "order = las\nqueues = 20s 100s\npreempt = rebuild\npriorities = yes\n" LIST, NO_AGE },
    { "order = las\nqueues = 20s 100s\npreempt = quota\nplace = scatter\n" LIST
      "restart-each-pass = yes\n",
      NO_AGE },
    { "order = fifo\npreempt = rebuild\npriorities = yes\n" LIST, NO_AGE },
};

static int make(struct workload *w, uint64_t seed)
{
    int now_s = 0;

    if (made_begin(w) < 0)
        return -1;
    for (int i = 0; i < JOBS; i++) {
        struct work *job = made_job(w, now_s, 1 + below(&seed, below(&seed, 3) ? 40 : 400));

        if (!job)
            return -1;
        job->devices = below(&seed, 3) ? 1 + below(&seed, 4) : 1 + below(&seed, 16);
        job->priority = (int16_t)((int)below(&seed, 3) - 1);
        job->fixed = below(&seed, 10) == 0;
        if (job->devices == 1 && below(&seed, 3) == 0)
            job->milli = 500;
        now_s += below(&seed, 12);
    }
    return workload_settle(w, NULL);
}

/* Number all anew in the midst of it: that changes no order. */
static void compact(void *ctx, const struct sched *s, const struct action *a, int64_t now_ms)
{
    (void)ctx, (void)a;
    if (labels_are_kept(s) && now_ms % 3 == 0)
        labels_compact((struct sched *)(uintptr_t)s);
}

static int run(const char *policy, const char *more, const struct workload *w, struct sim_result *r)
{
    const struct sim_options options = { .watch = compact };
    struct pool pool = { .n_nodes = 0 };
    struct policy p;
    char text[256];
    int rc = pool_parse(&pool, "3x8", NULL);

    snprintf(text, sizeof(text), "[policy]\n%s%s", policy, more);
    if (rc == 0)
        rc = policy_read(&p, "test", text, strlen(text), NULL);
    if (rc == 0)
        rc = sim_run(r, &p, &pool, w, &options, NULL);
    pool_done(&pool);
    return rc;
}

/* How many jobs fare otherwise; -1: it could not be simulated. */
static int compare(const struct pair *part, uint64_t seed, int *preempted)
{
    struct sim_result kept = { .events = 0 }, all = { .events = 0 };
    struct workload w;
    int differ = -1;

    if (make(&w, seed) == 0 && run(part->policy, "", &w, &kept) == 0 &&
        run(part->policy, part->all, &w, &all) == 0) {
        differ = 0;
        for (size_t i = 0; i < w.n_jobs; i++)
            differ += kept.jobs[i].end_ms != all.jobs[i].end_ms ||
                      kept.jobs[i].wait_ms != all.jobs[i].wait_ms ||
                      kept.jobs[i].starts != all.jobs[i].starts;
        *preempted += (int)kept.preemptions;
    }
    sim_result_done(&kept);
    sim_result_done(&all);
    workload_done(&w);
    return differ;
}

int main(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(parts); k++) {
        int differ = 0, preempted = 0;

        for (uint64_t seed = 1; seed <= ROUNDS; seed++)
            differ += compare(&parts[k], seed, &preempted) != 0;
        is_int(differ, 0, "jobs fare the same on each of %d workloads under policy %zu", ROUNDS, k);
        ok(preempted > ROUNDS, "jobs are stopped in these workloads (%d)", preempted);
    }
    return done();
}
