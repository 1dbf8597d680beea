/* Figures of services and spot jobs out of what became of their jobs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "oom_arena.h"
#include "sched/policy/policy.h"
#include "sim/sim.h"
#include "tap.h"

enum { MOST = 8 };

/* A job of a class (0: "chat", 1: "draw", 2: "spot", -1: none), in seconds. */
struct line {
    int submit_s, class, starts, start_s, end_s;
    uint8_t fate;
};

struct world {
    struct workload w;
    struct policy policy;
    struct sim_job jobs[MOST];
    struct sim_result r;
    struct sim_tier_stats s;
};

static void check(int rc)
{
    if (rc < 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
}

/* Jobs of two devices each that take half an hour. */
static void make(struct world *t, const char *sections, const struct line *lines, size_t n)
{
    char text[256];

    *t = (struct world){ .r = { .submitted_ms = 100000 } };
    t->r.jobs = t->jobs;
    snprintf(text, sizeof(text), "[policy]\norder = fifo\nbackfill = greedy\n%s", sections);
    check(policy_read(&t->policy, "test", text, strlen(text), NULL));
    check(work_number(&t->w, &t->w.classes, "chat"));
    check(work_number(&t->w, &t->w.classes, "draw"));
    check(work_number(&t->w, &t->w.classes, "spot"));
    for (size_t i = 0; i < n; i++) {
        struct work *job = ARENA_PUSH(&t->w.arena, &t->w.jobs, &t->w.n_jobs);

        check(job ? 0 : -1);
        *job = (struct work){ .name = "j", .milli = WORK_WHOLE, .devices = 2 };
        job->submit_ms = lines[i].submit_s * 1000LL;
        job->length_ms = 1800 * 1000LL;
        job->class = (int16_t)lines[i].class;
        t->jobs[i] = (struct sim_job){ .start_ms = lines[i].start_s * 1000LL };
        t->jobs[i].end_ms = lines[i].end_s * 1000LL;
        t->jobs[i].starts = (uint32_t)lines[i].starts;
        t->jobs[i].fate = lines[i].fate;
    }
    check(sim_tier_stats_make(&t->s, &t->r, &t->policy, &t->w, NULL));
}

static void end(struct world *t)
{
    sim_tier_stats_done(&t->s);
    workload_done(&t->w);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static const struct line usual[] = {
    { 10, 0, 1, 13, 60, SIM_ENDED },   { 10, 0, 2, 15, 100, SIM_ENDED },
    { 10, 0, 1, 16, 101, SIM_ENDED },  { 10, 0, 0, 0, 0, SIM_IMPOSSIBLE },
    { 20, 1, 1, 20, 90, SIM_ENDED },   { 20, 2, 1, 40, 100, SIM_ENDED },
    { 20, 2, 1, 40, 50, SIM_ENDLESS }, { 20, -1, 1, 40, 80, SIM_ENDED },
};

static void test_services(void)
{
    const struct sim_service *x;
    struct world t;

    make(&t, "[service]\nclass = chat\nclass = draw\nclass = none\nwithin = 5s\n", usual,
         ARRAY_SIZE(usual));
    is_int((int)t.s.n_services, 4, "three services are told, and all of them");
    x = &t.s.services[0];
    is_str(x->name, "chat", "the first service is the first class");
    ok(x->replicas == 4 && x->started == 3, "three of four replicas started");
    ok(near(x->wait, 14.0 / 3) && near(x->p50, 5) && near(x->p99, 5.98) && near(x->max, 6),
       "replicas wait from their submission to their first start");
    ok(near(x->within, 0.5), "a replica that starts just within the time is in time");
    x = &t.s.services[1];
    ok(x->replicas == 1 && near(x->wait, 0) && near(x->within, 1),
       "the second service has figures of its own");
    x = &t.s.services[2];
    ok(x->replicas == 0 && isnan(x->within) && isnan(x->wait) && isnan(x->p50) && isnan(x->p99) &&
           isnan(x->max),
       "a service without replicas has no figures");
    x = &t.s.services[3];
    is_str(x->name, "all", "the last service is all of them");
    ok(x->replicas == 5 && x->started == 4 && near(x->wait, 14.0 / 4) && near(x->within, 0.6),
       "all services have the replicas of each");
    ok(t.s.spot_jobs == 0 && near(t.s.done_hours, 0), "where nobody is spot no work is counted");
    end(&t);
}

static void test_one_service(void)
{
    static const struct line late[] = { { 10, 0, 0, 0, 0, SIM_IMPOSSIBLE } };
    struct world t;

    make(&t, "[service]\nclass = chat\nwithin = 5s\n", late, 1);
    is_int((int)t.s.n_services, 1, "one service is told alone");
    ok(t.s.services[0].replicas == 1 && t.s.services[0].started == 0 &&
           near(t.s.services[0].within, 0) && isnan(t.s.services[0].wait),
       "a replica that never starts is not in time, and has no wait");
    end(&t);
}

static void test_spot(void)
{
    struct world t;

    make(&t, "[spot]\nclass = spot\n", usual, ARRAY_SIZE(usual));
    is_int((int)t.s.n_services, 0, "where there are no services none is told");
    ok(t.s.spot_jobs == 2 && t.s.spot_ended == 1, "one of two spot jobs ended");
    ok(near(t.s.done_hours, 5), "work counts of those that ended up to the last submission");
    end(&t);
    make(&t, "[power]\ncap = 5kW\n", usual, ARRAY_SIZE(usual));
    ok(t.s.spot_jobs == 0 && near(t.s.done_hours, 5), "work below a cap of power is counted");
    end(&t);
}

static void test_no_memory(void)
{
    int wrong = 0, rounds = 0;
    struct world t;
    bool failed;

    make(&t, "[service]\nclass = chat\nclass = draw\n", usual, ARRAY_SIZE(usual));
    sim_tier_stats_done(&t.s);
    oom_restart();
    do {
        int rc;

        oom_next();
        rc = sim_tier_stats_make(&t.s, &t.r, &t.policy, &t.w, NULL);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        if (rc == 0)
            sim_tier_stats_done(&t.s);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 4, "%d allocations for tiers fail, %d wrongly", rounds, wrong);
    workload_done(&t.w);
}

int main(void)
{
    test_services();
    test_one_service();
    test_spot();
    test_no_memory();
    return done();
}
