#include "model/job/job_spec.h"

#include <errno.h>
#include <stdio.h>

#include "tap.h"

static void test_names(void)
{
    struct workload w = { .n_jobs = 0 };
    char name[16];
    bool in_order = true, again = true;

    is_int(work_data_find(&w, "d0"), -1, "an empty table holds no name");
    for (int i = 0; i < WORK_GROUPS; i++) {
        snprintf(name, sizeof(name), "u%d", i);
        in_order &= work_number(&w, &w.users, name) == i;
    }
    for (int i = WORK_GROUPS - 1; i >= 0; i--) {
        snprintf(name, sizeof(name), "u%d", i);
        again &= work_number(&w, &w.users, name) == i && !strcmp(w.users.names[i], name);
    }
    ok(in_order, "names are numbered in the order in which they come");
    ok(again, "a name that comes again keeps its number");
    is_int((long long)w.users.n, WORK_GROUPS, "a table holds 4096 names");
    is_int(work_number(&w, &w.users, "one more"), -E2BIG, "a table takes no name more than 4096");
    ok(w.users.n_slots >= 2 * w.users.n, "at least half of the slots are empty");
    is_int(work_number(&w, &w.teams, "u7"), 0, "each table counts on its own");
    in_order = again = true;
    for (int i = 0; i < WORK_DATA; i++) {
        snprintf(name, sizeof(name), "d%d", i);
        in_order &= work_data_number(&w, name) == i;
    }
    is_int(work_data_number(&w, "one more"), -E2BIG, "there are no more places than 65534");
    for (int i = 0; i < WORK_DATA; i += 1001) {
        snprintf(name, sizeof(name), "d%d", i);
        again &= work_data_find(&w, name) == i;
    }
    ok(in_order, "places are numbered in the order in which they come");
    ok(again, "a place is found by its name");
    is_int(work_data_find(&w, "e1"), -1, "a place that is not there is not found");
    workload_done(&w);
}

static void test_data_costs(void)
{
    struct work_wish none = { .due_ms = 5 }, free = { .data = 1 },
                     costs = { .data = 1, .data_ms = 1 };
    struct work_wish nowhere = { .data_ms = 9 };
    struct work jobs[2] = { { .name = "a" }, { .name = "b", .wish = &none } };
    struct workload w = { .jobs = jobs, .n_jobs = 2 };

    ok(!work_data_costs(&w), "without places no start away from them costs anything");
    is_int(work_data_number(&w, "here"), 0, "a first place is numbered");
    ok(!work_data_costs(&w), "jobs that name no place cost nothing");
    jobs[0].wish = &free;
    ok(!work_data_costs(&w), "a place that costs no time costs nothing");
    jobs[1].wish = &nowhere;
    ok(!work_data_costs(&w), "a cost without a place costs nothing");
    jobs[1].wish = &costs;
    ok(work_data_costs(&w), "one job whose start away from its data costs is enough");
    is_int(work_deadline(&jobs[0]), WORK_UNKNOWN, "a job without a time to end by has none");
    jobs[0].submit_ms = 7;
    jobs[0].wish = &none;
    is_int(work_deadline(&jobs[0]), 12, "a time to end by counts from the submission");
    w.jobs = NULL;
    workload_done(&w);
}

static void test_speeds(void)
{
    struct workload w = { .n_jobs = 0 };
    struct work_speeds s = { .of = { 0 } };
    struct work job = { .speeds = 0 };
    bool in_order = true;

    for (int i = 0; i < WORK_SPEEDS; i++) {
        s.of[i % WORK_KINDS] = (float)(i + 1);
        in_order &= work_speeds(&w, &s) == i + 1;
    }
    ok(in_order, "tables of speeds are numbered from 1 on");
    is_int(work_speeds(&w, &s), WORK_SPEEDS, "a table that is there keeps its number");
    s.of[WORK_KINDS - 1] = -1;
    is_int(work_speeds(&w, &s), -E2BIG, "there are no more tables than 1024");
    ok(work_speed(&w, &job, 3) > 0.999 && work_speed(&w, &job, 3) < 1.001,
       "a job without a table is as fast everywhere");
    job.speeds = 2;
    is_int((long long)work_speed(&w, &job, 0), 1,
           "the table of a job says how fast it is on kind 0");
    is_int((long long)work_speed(&w, &job, 1), 2,
           "the table of a job says how fast it is on kind 1");
    job.scaling = 0.5F;
    is_int((long long)(1000 * work_pace(&job, 1, 4) + 0.5), 2000,
           "four times the devices are twice the pace where scaling is a half");
    is_int((long long)(1000 * work_pace(&job, 8, 2) + 0.5), 500,
           "a quarter of the devices is half the pace");
    workload_done(&w);
}

static void test_stretches(void)
{
    struct workload w = { .n_jobs = 0 };
    struct work a = { .name = "a" }, b = { .name = "b" };

    is_int(work_stretch_add(&w, &a, 0, 500), 0, "a stretch of no length is nothing");
    is_int(a.n_stretches, 0, "nothing is added for no length");
    is_int(work_stretch_add(&w, &a, 5, 500) | work_stretch_add(&w, &a, 7, 500) |
               work_stretch_add(&w, &a, 1, 501) | work_stretch_add(&w, &b, 2, 501) |
               work_stretch_add(&w, &b, 3, 10),
           0, "stretches are added");
    is_int((long long)w.n_stretches, 4, "equal stretches one after the other are one");
    is_int(w.stretches[0].ms, 12, "an equal stretch makes the last one longer");
    is_int(w.stretches[0].milli, 500, "a stretch says how busy it is");
    is_int(a.stretch, 0, "the first job's stretches begin at 0");
    is_int(a.n_stretches, 2, "the first job has two stretches");
    is_int(b.stretch, 2, "the second job's stretches begin behind those of the first");
    is_int(b.n_stretches, 2, "an equal stretch of another job is the second job's own");
    is_int(w.stretches[2].ms, 2, "the other job's stretch is as long as it said");
    w.n_stretches = WORK_STRETCHES;
    a.n_stretches = 0;
    is_int(work_stretch_add(&w, &a, 5, 500), -E2BIG, "there is a greatest number of stretches");
    is_int(a.n_stretches, 0, "a stretch too many is not the job's");
    workload_done(&w);
}

/* 'n' jobs in an order that repeats moments: numbered by name, so that ties can be told apart. */
static void test_order(size_t n)
{
    static struct work jobs[600];
    static char names[600][8];
    struct workload w = { .jobs = jobs, .n_jobs = n };
    struct err e = { "" };
    bool sorted = true, stable = true;
    int64_t first = INT64_MAX;

    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof(names[i]), "%03zu", i);
        jobs[i] = (struct work){ .name = names[i], .submit_ms = 1000 + (int64_t)(i * 7919 % 37) };
        first = jobs[i].submit_ms < first ? jobs[i].submit_ms : first;
    }
    is_int(workload_settle(&w, &e), 0, "%zu jobs are settled", n);
    for (size_t i = 1; i < n; i++) {
        const struct work *a = &w.jobs[i - 1], *b = &w.jobs[i];

        sorted &= a->submit_ms <= b->submit_ms;
        stable &= a->submit_ms != b->submit_ms || strcmp(a->name, b->name) < 0;
    }
    ok(sorted, "%zu jobs are in the order of their submission", n);
    ok(stable, "of %zu jobs those of one moment stay in their order", n);
    is_int(w.first_ms, n ? first : 0, "the first submission of %zu jobs is kept", n);
    is_int(n ? w.jobs[0].submit_ms : 0, 0, "the first of %zu jobs is at 0", n);
    is_int((long long)w.n_shapes, n ? 1 : 0, "%zu equal jobs have one shape", n);
    workload_done(&w);
}

/* Each field that makes a shape, another one in each job; the last two are like others. */
static void test_shapes(void)
{
    const struct work base = { .devices = 8, .milli = WORK_WHOLE };
    struct work jobs[12];
    struct workload w = { .jobs = jobs, .n_jobs = ARRAY_SIZE(jobs) };
    struct err e = { "" };

    for (size_t i = 0; i < ARRAY_SIZE(jobs); i++) {
        jobs[i] = base;
        jobs[i].submit_ms = (int64_t)i;
        jobs[i].priority = (int16_t)i;
    }
    jobs[1].devices = 4;
    jobs[2].per_node = 4;
    jobs[3].milli = 500;
    jobs[4].mig = 2;
    jobs[5].kinds = 2;
    jobs[6].cpus_milli = 3;
    jobs[7].memory_mib = 9;
    jobs[8].speeds = 1;
    jobs[9].least = 1;
    jobs[11].least = 1;
    is_int(workload_settle(&w, &e), 0, "jobs of ten shapes are settled");
    is_int((long long)w.n_shapes, 10, "each field that a shape has makes a shape");
    for (int i = 0; i < 10; i++)
        is_int(jobs[i].shape, i, "job %d has a shape of its own", i);
    is_int(jobs[10].shape, 0, "a job that needs the same has the same shape");
    is_int(jobs[11].shape, 9, "another that needs the same has the same shape");
    is_int(workload_settle(&w, &e), 0, "a workload may be settled again");
    is_int((long long)w.n_shapes, 10, "shapes are numbered anew");
    workload_done(&w);
}

static void test_most_shapes(void)
{
    struct workload w = { .n_jobs = 0 };
    struct err e = { "" };

    w.n_jobs = UINT16_MAX;
    w.jobs = arena_alloc(&w.arena, (w.n_jobs + 1) * sizeof(*w.jobs));
    if (!w.jobs)
        return;
    for (size_t i = 0; i <= w.n_jobs; i++)
        w.jobs[i] = (struct work){ .devices = (int32_t)i };
    is_int(workload_settle(&w, &e), 0, "jobs of 65535 shapes are settled");
    is_int((long long)w.n_shapes, UINT16_MAX, "there may be 65535 shapes");
    w.n_jobs++;
    is_int(workload_settle(&w, &e), -E2BIG, "jobs of 65536 shapes are refused");
    is_str(e.text, "jobs of more than 65535 shapes", "the refusal says how many there may be");
    workload_done(&w);
}

int main(void)
{
    test_names();
    test_data_costs();
    test_speeds();
    test_stretches();
    for (size_t i = 0; i < 10; i++)
        test_order(i);
    test_order(600);
    test_shapes();
    test_most_shapes();
    return done();
}
