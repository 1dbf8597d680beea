/* What is seen of a simulation over time: groups in the order of what they had, means of columns,
 * and where the picture ends. */
#include "sim/stats/timeline.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "oom_arena.h"
#include "tap.h"

enum { MOST = 200 };

/* A job of a workload without names; NULL: out of memory. */
static struct work *add(struct workload *w, int64_t submit_ms, int64_t length_ms, int devices)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);

    if (!job) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    *job = (struct work){ .name = "j", .milli = WORK_WHOLE, .user = -1, .team = -1, .class = -1 };
    job->submit_ms = submit_ms;
    job->length_ms = length_ms;
    job->devices = devices;
    return job;
}

static void name(struct workload *w, struct work_names *table, int n, char letter)
{
    char text[16];

    for (int i = 0; i < n; i++) {
        snprintf(text, sizeof(text), "%c%d", letter, i);
        is_int(work_number(w, table, text), i, "%s is named", text);
    }
}

/* ---- groups ---- */

static void test_kinds(void)
{
    static const struct {
        int teams, users, classes;
        const char *by;
    } cases[] = {
        { 2, 3, 3, "team" },  { 1, 2, 3, "user" },  { 0, 2, 0, "user" },
        { 1, 1, 2, "class" }, { 0, 0, 2, "class" }, { 1, 1, 1, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct workload w = { .n_jobs = 0 };
        struct timeline_groups g;
        struct work *job = add(&w, 0, 10, 1);

        name(&w, &w.teams, cases[i].teams, 't');
        name(&w, &w.users, cases[i].users, 'u');
        name(&w, &w.classes, cases[i].classes, 'c');
        job->team = cases[i].teams ? 0 : -1;
        job->user = cases[i].users ? 0 : -1;
        job->class = cases[i].classes ? 0 : -1;
        is_int(timeline_groups_make(&g, &w, NULL), 0, "groups of a workload are made");
        is_str(g.by ? g.by : "", cases[i].by ? cases[i].by : "",
               "of %d teams, %d users and %d classes the groups are by %s", cases[i].teams,
               cases[i].users, cases[i].classes, cases[i].by ? cases[i].by : "nothing");
        is_int((int)g.n, cases[i].by != NULL, "a group that had nothing is not shown");
        if (g.n)
            is_int(g.names[0][0], cases[i].by[0], "the group has the name of its %s", g.by);
        timeline_groups_done(&g);
        workload_done(&w);
    }
}

static void test_order(void)
{
    struct workload w = { .n_jobs = 0 };
    struct timeline_groups g;

    name(&w, &w.teams, 4, 't');
    add(&w, 0, 10, 3)->team = 0;
    add(&w, 0, 20, 2)->team = 2;
    add(&w, 0, 10, 2)->team = 3;
    add(&w, 0, 1, 10)->team = 3;
    add(&w, 0, 35, 1);
    is_int(timeline_groups_make(&g, &w, NULL), 0, "groups of four teams are made");
    is_int((int)g.n, 4, "a team without jobs is no group");
    is_str(g.names[0], "t2", "the team with the most device time comes first");
    is_str(g.names[1], "none", "jobs without a team are a group");
    is_str(g.names[2], "t0", "of two teams that had as much the first named comes first");
    is_str(g.names[3], "t3", "a team has the device time of all its jobs");
    ok(g.of[0] == 1 && g.of[1] == 2 && g.of[3] == 0 && g.of[4] == 3, "each team knows its group");
    timeline_groups_done(&g);
    ok(!g.of && g.n == 0, "groups that are dropped are none");
    workload_done(&w);
}

static void test_others(void)
{
    for (int n = TIMELINE_GROUPS; n <= TIMELINE_GROUPS + 2; n++) {
        bool many = n > TIMELINE_GROUPS;
        struct workload w = { .n_jobs = 0 };
        struct timeline_groups g;

        name(&w, &w.users, n, 'u');
        for (int i = 0; i < n; i++)
            add(&w, 0, 100 - i, 1)->user = (int16_t)i;
        is_int(timeline_groups_make(&g, &w, NULL), 0, "groups of %d users are made", n);
        is_int((int)g.n, TIMELINE_GROUPS, "%d users are as many groups as can be", n);
        is_str(g.names[TIMELINE_GROUPS - 2], "u6", "the last but one of %d users is shown", n);
        is_str(g.names[TIMELINE_GROUPS - 1], many ? "others" : "u7",
               "the last group of %d users is the last one, or all others", n);
        is_int(g.of[TIMELINE_GROUPS - 1], TIMELINE_GROUPS - 2, "user 6 of %d has its group", n);
        is_int(g.of[n], TIMELINE_GROUPS - 1, "the last of %d users is in the last group", n);
        timeline_groups_done(&g);
        workload_done(&w);
    }
}

/* ---- columns ---- */

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

/* Whether columns are 0 but for those from 'first' on. */
static bool are(const double *columns, int first, const double *want, int n)
{
    for (int i = 0; i < TIMELINE_COLUMNS; i++)
        if (!near(columns[i], i >= first && i < first + n ? want[i - first] : 0))
            return false;
    return true;
}

struct world {
    struct workload w;
    struct sim_job jobs[MOST];
    struct sim_span spans[8];
    struct sim_result r;
    struct timeline_groups g;
    struct timeline t;
};

static struct world world;

static void begin(void)
{
    world = (struct world){ .r = { .jobs = world.jobs, .spans = world.spans } };
}

/* Of columns of 2 ms each. */
static void draw(void)
{
    is_int(timeline_groups_make(&world.g, &world.w, NULL), 0, "groups of a picture are made");
    timeline_make(&world.t, &world.r, &world.w, &world.g, 2 * TIMELINE_COLUMNS);
}

static void end(void)
{
    timeline_groups_done(&world.g);
    workload_done(&world.w);
}

/* Submitted at 35, on four devices and a half from 41 to 47; its span has six. */
static void test_columns(void)
{
    static const double used[] = { 3, 6, 6, 3 }, waiting[] = { 0.5, 1, 1, 0.5 };
    static const double wants[] = { 2, 4, 4, 2 };

    begin();
    add(&world.w, 35, 6, 4);
    world.jobs[0].end_ms = 47;
    world.spans[0] = (struct sim_span){ 41, 47, 0, 6 };
    world.r.n_spans = 1;
    draw();
    ok(are(world.t.used, 20, used, 4), "a job uses the devices of its span, parts of columns too");
    ok(are(world.t.waiting, 17, waiting, 4), "a job waits from its submission to its span");
    ok(are(world.t.wants, 17, wants, 4), "a job that waits wants what it asked for");
    ok(are(world.t.group[0], 0, used, 0), "a trace without names has no groups");
    end();
}

/* Spans inside of one column, at its ends, and beyond the last one. */
static void test_edges(void)
{
    static const struct {
        int64_t from_ms, to_ms;
        int first, n;
        double want[3];
    } cases[] = {
        { 40, 42, 20, 1, { 1 } },         { 40, 41, 20, 1, { 0.5 } },
        { 41, 42, 20, 1, { 0.5 } },       { 41, 43, 20, 2, { 0.5, 0.5 } },
        { 40, 44, 20, 2, { 1, 1 } },      { 0, 3, 0, 2, { 1, 0.5 } },
        { 597, 600, 298, 2, { 0.5, 1 } }, { 597, 4000, 298, 2, { 0.5, 1 } },
        { 599, 600, 299, 1, { 0.5 } },    { 600, 800, 299, 0, { 0 } },
        { 700, 800, 299, 0, { 0 } },      { 50, 50, 25, 0, { 0 } },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        begin();
        add(&world.w, cases[i].from_ms, 1, 1);
        world.jobs[0].end_ms = cases[i].to_ms;
        world.spans[0] = (struct sim_span){ cases[i].from_ms, cases[i].to_ms, 0, 1 };
        world.r.n_spans = 1;
        draw();
        ok(are(world.t.used, cases[i].first, cases[i].want, cases[i].n),
           "a span from %d to %d fills its columns", (int)cases[i].from_ms, (int)cases[i].to_ms);
        ok(are(world.t.waiting, 0, cases[i].want, 0) && are(world.t.wants, 0, cases[i].want, 0),
           "a job that runs from %d to %d at once waits in no column", (int)cases[i].from_ms,
           (int)cases[i].to_ms);
        end();
    }
}

static void test_fates(void)
{
    double halves[TIMELINE_COLUMNS], ones[TIMELINE_COLUMNS];
    struct work *job;

    for (int i = 0; i < TIMELINE_COLUMNS; i++) {
        halves[i] = 0.5;
        ones[i] = 1;
    }
    begin();
    add(&world.w, 0, 6, 4);
    job = add(&world.w, 500, 6, 1);
    job->milli = 500;
    world.jobs[0].fate = SIM_IMPOSSIBLE;
    world.jobs[1].fate = SIM_ENDLESS;
    world.jobs[1].end_ms = 510;
    draw();
    ok(are(world.t.waiting, 250, ones, 50), "a job that never ends waits to the end");
    ok(are(world.t.wants, 250, halves, 50), "a job of half a device wants half a device");
    ok(are(world.t.used, 0, ones, 0), "jobs that never run use nothing");
    end();
}

static void test_groups_over_time(void)
{
    static const double one[] = { 1, 1 }, two[] = { 2, 2, 2 };

    begin();
    name(&world.w, &world.w.classes, 2, 'c');
    add(&world.w, 10, 4, 1)->class = 0;
    add(&world.w, 20, 6, 2)->class = 1;
    world.jobs[0].end_ms = 14;
    world.jobs[1].end_ms = 26;
    world.spans[0] = (struct sim_span){ 10, 14, 0, 1 };
    world.spans[1] = (struct sim_span){ 20, 26, 1, 2 };
    world.r.n_spans = 2;
    draw();
    ok(are(world.t.group[0], 10, two, 3), "the class that had the most is the first group");
    ok(are(world.t.group[1], 5, one, 2), "the other class is the second group");
    ok(are(world.t.group[2], 0, one, 0), "there is no third group");
    end();
}

/* ---- where the picture ends ---- */

static void test_end(void)
{
    static const struct {
        int ended, others;
        int64_t submitted_ms, want_ms;
    } cases[] = {
        { 200, 0, 0, 1970 }, { 200, 0, 1971, 1971 }, { 100, 0, 0, 980 }, { 1, 0, 5, 5 },
        { 2, 0, 5, 5 },      { 0, 3, 7, 7 },         { 101, 0, 0, 990 }, { 3, 50, 1, 10 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int n = cases[i].ended + cases[i].others;
        int64_t end_ms = -1;

        begin();
        for (int k = 0; k < n; k++) {
            bool ends = k < cases[i].ended;

            add(&world.w, 0, 1, 1);
            world.jobs[k].end_ms = 10LL * (ends ? cases[i].ended - 1 - k : 9999);
            world.jobs[k].fate = ends ? SIM_ENDED : SIM_ENDLESS;
        }
        world.r.submitted_ms = cases[i].submitted_ms;
        is_int(timeline_end(&end_ms, &world.r, &world.w), 0, "the end of a picture is found");
        is_int(end_ms, cases[i].want_ms, "a picture of %d jobs that end shows 99 %% of them",
               cases[i].ended);
        workload_done(&world.w);
    }
}

static void test_no_memory(void)
{
    int wrong = 0, rounds = 0;
    bool failed;

    begin();
    name(&world.w, &world.w.classes, 2, 'c');
    add(&world.w, 0, 1, 1)->class = 0;
    oom_restart();
    do {
        int64_t end_ms;
        int rc;

        oom_next();
        rc = timeline_groups_make(&world.g, &world.w, NULL);
        if (rc == 0)
            rc = timeline_end(&end_ms, &world.r, &world.w);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        timeline_groups_done(&world.g);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 3, "%d allocations for a picture fail, %d wrongly", rounds, wrong);
    workload_done(&world.w);
}

int main(void)
{
    test_kinds();
    test_order();
    test_others();
    test_columns();
    test_edges();
    test_fates();
    test_groups_over_time();
    test_end();
    test_no_memory();
    return done();
}
