/* Figures of a simulation out of what became of its jobs: groups, means, percentiles, deadlines,
 * fairness and shares of devices. */
#include "sim/stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "oom_arena.h"
#include "tap.h"

enum { MOST = 16, HOUR_S = 3600 };

/* A job and what became of it, in seconds. */
struct line {
    int submit_s, length_s, devices, user, team, class, wait_s, end_s;
    uint8_t fate;
};

struct world {
    struct workload w;
    struct pool pool;
    struct sim_job jobs[MOST];
    struct sim_result r;
    struct sim_stats s;
};

static void check(int rc)
{
    if (rc < 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
}

/* Users, teams and classes as the lines have them: "u0", "t0", "c0" and so on. */
static void name(struct workload *w, struct work_names *table, char letter, int n)
{
    char text[16];

    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%c%d", letter, i);
        check(work_number(w, table, text));
    }
}

static void begin(struct world *t, const struct line *lines, size_t n)
{
    int users = 0, teams = 0, classes = 0;

    *t = (struct world){ .r = { .submitted_ms = 0 } };
    t->r.jobs = t->jobs;
    check(pool_parse(&t->pool, "2x4", NULL));
    for (size_t i = 0; i < n; i++) {
        struct work *job = ARENA_PUSH(&t->w.arena, &t->w.jobs, &t->w.n_jobs);

        check(job ? 0 : -1);
        *job = (struct work){ .name = "j", .milli = WORK_WHOLE };
        job->submit_ms = lines[i].submit_s * 1000LL;
        job->length_ms = lines[i].length_s * 1000LL;
        job->devices = lines[i].devices;
        job->user = (int16_t)lines[i].user;
        job->team = (int16_t)lines[i].team;
        job->class = (int16_t)lines[i].class;
        users = MAX(users, lines[i].user + 1);
        teams = MAX(teams, lines[i].team + 1);
        classes = MAX(classes, lines[i].class + 1);
        t->jobs[i] = (struct sim_job){ .wait_ms = lines[i].wait_s * 1000LL };
        t->jobs[i].end_ms = lines[i].end_s * 1000LL;
        t->jobs[i].ran_ms = lines[i].length_s * 1000LL;
        t->jobs[i].fate = lines[i].fate;
    }
    name(&t->w, &t->w.users, 'u', users);
    name(&t->w, &t->w.teams, 't', teams);
    name(&t->w, &t->w.classes, 'c', classes);
}

static void make(struct world *t)
{
    check(sim_stats_make(&t->s, &t->r, &t->pool, &t->w, NULL));
}

static void end(struct world *t)
{
    sim_stats_done(&t->s);
    workload_done(&t->w);
    pool_done(&t->pool);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* The names of groups and how many jobs each has, in a line. */
static const char *groups(const struct sim_breakdown *b, char ret[128])
{
    size_t len = 0;

    ret[0] = '\0';
    for (size_t i = 0; i < b->n; i++)
        len += (size_t)snprintf(ret + len, 128 - len, "%s%s:%zu", i ? " " : "", b->groups[i].name,
                                b->groups[i].jobs);
    return ret;
}

static void test_sizes(void)
{
    static const int devices[] = { 0, 1, 2, 7, 8, 9, 64, 7 };
    struct line lines[ARRAY_SIZE(devices)];
    struct world t;
    char text[128];

    for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
        lines[i] = (struct line){ 0, 10, devices[i], -1, -1, -1, 0, 10, SIM_ENDED };
    begin(&t, lines, ARRAY_SIZE(devices));
    make(&t);
    is_str(t.s.main.by, "devices", "jobs without classes are told apart by devices");
    is_str(groups(&t.s.main, text), "1:2 2-7:3 8:1 >8:2", "each job is in the group of its size");
    ok(t.s.all.jobs == 8 && !strcmp(t.s.all.name, "all"), "all jobs are a group of their own");
    ok(t.s.users.n == 0 && t.s.teams.n == 0, "without users and teams there are no such groups");
    is_str(t.s.fairness_of, "jobs", "where nobody has a name jobs are treated fairly, or not");
    ok(near(t.s.fairness, 1), "jobs that are slowed down alike are treated fairly");
    end(&t);
}

static void test_names(void)
{
    static const struct line lines[] = {
        { 0, 10, 1, 0, -1, 1, 0, 10, SIM_ENDED },  { 0, 10, 1, 2, 1, 1, 10, 20, SIM_ENDED },
        { 0, 10, 1, -1, 0, 0, 20, 30, SIM_ENDED }, { 0, 10, 1, 2, 1, -1, 0, 0, SIM_IMPOSSIBLE },
        { 0, 10, 1, 1, 1, -1, 0, 9, SIM_ENDLESS },
    };
    struct world t;
    char text[128];

    begin(&t, lines, ARRAY_SIZE(lines));
    make(&t);
    is_str(t.s.main.by, "class", "jobs with classes are told apart by class");
    is_str(groups(&t.s.main, text), "c0:1 c1:2", "classes of which no job ended are left out");
    is_str(groups(&t.s.users, text), "-:1 u0:1 u2:1", "jobs are told apart by user");
    is_str(groups(&t.s.teams, text), "-:1 t0:1 t1:1", "jobs are told apart by team");
    is_int((int)t.s.all.jobs, 3, "jobs that did not end are not counted");
    is_str(t.s.fairness_of, "users", "where there are several users fairness is theirs");
    /* slowdowns 3, 1 and 2 */
    ok(near(t.s.fairness, 36.0 / (3 * 14)), "fairness is that of the users' slowdowns");
    end(&t);
}

static void test_fairness_of(void)
{
    static const struct {
        int users, teams, classes;
        const char *of;
        double want;
    } cases[] = {
        { 2, 2, 2, "users", 9.0 / 10 },   { 1, 2, 2, "teams", 9.0 / 10 },
        { 1, 1, 2, "classes", 9.0 / 10 }, { 1, 1, 1, "jobs", 25.0 / 27 },
        { 0, 0, 0, "jobs", 25.0 / 27 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct line lines[3];
        struct world t;

        for (int k = 0; k < 3; k++) {
            lines[k] = (struct line){ 0, 100, 1, MIN(k, cases[i].users - 1), 0, 0, 0, 0, 0 };
            lines[k].team = MIN(k, cases[i].teams - 1);
            lines[k].class = MIN(k, cases[i].classes - 1);
            lines[k].end_s = k ? 200 : 100;
        }
        begin(&t, lines, 3);
        make(&t);
        is_str(t.s.fairness_of, cases[i].of,
               "of %d users, %d teams and %d classes fairness is of %s", cases[i].users,
               cases[i].teams, cases[i].classes, cases[i].of);
        ok(near(t.s.fairness, cases[i].want), "fairness of %s is Jain's index (%g)", cases[i].of,
           t.s.fairness);
        end(&t);
    }
}

/* Eleven jobs that are submitted at 5 s: they end 10, 20, ... s later, and wait 1, 2, ... s. */
static void test_percentiles(void)
{
    struct line lines[11];
    const struct sim_group *g;
    struct world t;

    for (int i = 0; i < 11; i++) {
        int k = (i * 7) % 11; /* in no order */

        lines[i] = (struct line){ 5, 20, 2, -1, -1, -1, k + 1, 5 + 10 * (k + 1), SIM_ENDED };
    }
    begin(&t, lines, 11);
    make(&t);
    g = &t.s.all;
    ok(near(g->completion, 60) && near(g->completion_p50, 60) && near(g->completion_p90, 100) &&
           near(g->completion_p99, 109),
       "completion is from submission to end");
    ok(near(g->wait, 6) && near(g->wait_p50, 6) && near(g->wait_p90, 10) && near(g->wait_p99, 10.9),
       "waits have a mean and percentiles");
    ok(near(g->wait_max, 11), "the longest wait is told");
    /* 0.5 counts as 1, then 1, 1.5, ... 5.5 */
    ok(near(g->slowdown, (1 + 1 + 1.5 + 2 + 2.5 + 3 + 3.5 + 4 + 4.5 + 5 + 5.5) / 11),
       "slowdown is completion to length, and at least 1");
    ok(near(g->device_hours, 11 * 2 * 20.0 / HOUR_S), "device hours are those that jobs had");
    end(&t);
}

static void test_short_jobs(void)
{
    static const struct line lines[] = {
        { 0, 1, 1, -1, -1, -1, 0, 30, SIM_ENDED },
        { 0, 11, 1, -1, -1, -1, 0, 22, SIM_ENDED },
    };
    struct world t;

    begin(&t, lines, 2);
    t.w.jobs[1].milli = 500;
    t.jobs[0].more_ms = 2 * HOUR_S * 1000LL;
    t.jobs[1].ran_ms = 4 * HOUR_S * 1000LL;
    make(&t);
    ok(near(t.s.all.slowdown, (3 + 2) / 2.0), "a length below ten seconds counts as ten");
    ok(near(t.s.all.device_hours, 1.0 / HOUR_S + 2 + 2),
       "device hours are of shares, and of what an elastic job had more");
    end(&t);
}

static void test_deadlines(void)
{
    static const struct line lines[] = {
        { 10, 50, 1, -1, -1, -1, 0, 110, SIM_ENDED }, { 10, 50, 1, -1, -1, -1, 0, 111, SIM_ENDED },
        { 10, 50, 1, -1, -1, -1, 0, 117, SIM_ENDED }, { 10, 50, 1, -1, -1, -1, 0, 60, SIM_ENDLESS },
        { 10, 50, 1, -1, -1, -1, 0, 60, SIM_ENDED },
    };
    static const struct work_wish due = { .due_ms = 100000 };
    struct world t;

    begin(&t, lines, ARRAY_SIZE(lines));
    for (int i = 0; i < 4; i++)
        t.w.jobs[i].wish = &due;
    make(&t);
    is_int((int)t.s.all.due, 4, "four jobs have a deadline");
    is_int((int)t.s.all.due_ended, 3, "three of them ended");
    is_int((int)t.s.all.met, 1, "one that ends at its deadline meets it");
    ok(near(t.s.all.tardiness, 8.0 / 3), "tardiness is the mean of those that ended");
    ok(near(t.s.all.tardiness_max, 7), "the longest time behind a deadline is told");
    end(&t);
}

static void test_shares(void)
{
    static const struct line lines[] = {
        { 0, 100, 1, -1, -1, -1, 0, 100, SIM_ENDED },
        { 40, 100, 1, -1, -1, -1, 0, 200, SIM_ENDED },
    };
    struct sim_sample samples[] = { { 4, 1 }, { 4, 3 } };
    struct world t;

    begin(&t, lines, 2);
    t.r.used = 8 * 20e3;
    t.r.used_all = 8 * 50e3;
    t.r.busy = 8 * 10e3;
    t.r.busy_all = 8 * 40e3;
    t.r.counted_ms = 40000;
    t.r.end_ms = 200000;
    t.jobs[1].away_ms = 30000;
    make(&t);
    ok(near(t.s.allocated, 0.5) && near(t.s.allocated_all, 0.25),
       "shares of devices are up to the last submission, and up to the last end");
    ok(isnan(t.s.busy) && isnan(t.s.busy_all), "what was not measured is not known");
    ok(isnan(t.s.fragmented), "without samples nobody knows what was fragmented");
    ok(near(t.s.away, 15), "time away is the mean of all jobs");
    sim_stats_done(&t.s);
    t.r.measured = true;
    t.r.samples = samples;
    t.r.n_samples = 2;
    make(&t);
    ok(near(t.s.busy, 0.25) && near(t.s.busy_all, 0.2), "shares of busy devices are told");
    ok(near(t.s.fragmented, 0.5), "half of what was free was on nodes in use");
    sim_stats_done(&t.s);
    t.r.counted_ms = 0;
    t.r.samples = NULL;
    t.r.n_samples = 0;
    make(&t);
    ok(isnan(t.s.allocated) && isnan(t.s.busy), "of no time there is no share");
    end(&t);
}

static void test_nothing(void)
{
    static const struct line lines[] = { { 0, 100, 99, -1, -1, -1, 0, 0, SIM_IMPOSSIBLE } };
    struct world t;

    begin(&t, lines, 1);
    make(&t);
    ok(t.s.all.jobs == 0 && !strcmp(t.s.all.name, "all"), "where no job ended all are none");
    is_int((int)t.s.main.n, 0, "where no job ended there are no groups");
    ok(isnan(t.s.fairness), "where no job ended nobody knows what is fair");
    end(&t);
}

/* Users, teams and classes, for each of which there is memory. */
static void test_no_memory(void)
{
    static const struct line lines[] = {
        { 0, 10, 1, 0, 0, 0, 0, 10, SIM_ENDED },
        { 0, 10, 1, 1, 1, 1, 0, 10, SIM_ENDED },
    };
    int wrong = 0, rounds = 0;
    struct world t;
    bool failed;

    begin(&t, lines, 2);
    make(&t);
    ok(!strcmp(t.s.users.by, "user") && !strcmp(t.s.teams.by, "team"),
       "groups say what they are told apart by");
    sim_stats_done(&t.s);
    oom_restart();
    do {
        int rc;

        oom_next();
        rc = sim_stats_make(&t.s, &t.r, &t.pool, &t.w, NULL);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        if (rc == 0)
            sim_stats_done(&t.s);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 16, "%d allocations for figures fail, %d wrongly", rounds, wrong);
    workload_done(&t.w);
    pool_done(&t.pool);
}

int main(void)
{
    test_sizes();
    test_names();
    test_fairness_of();
    test_percentiles();
    test_short_jobs();
    test_deadlines();
    test_shares();
    test_nothing();
    test_no_memory();
    return done();
}
