/* What jobs typically ask for, and what of a node none of them could use: by hand. */
#include "sched/place/typical_shapes.h"

#include "made_work.h"
#include "tap.h"

/* So many jobs that need the same. */
static void add(struct workload *w, int n, int devices, int milli, int cpus_milli)
{
    for (int i = 0; i < n; i++) {
        struct work *job = made_job(w, 0, 10);

        if (!job)
            exit(1);
        job->devices = devices;
        job->milli = (int16_t)milli;
        job->cpus_milli = cpus_milli;
    }
}

static void shapes_of(struct workload *w, struct typical_shapes *t)
{
    struct err e = { "" };

    if (workload_settle(w, &e) != 0 || typical_shapes_make(t, &w->arena, w) != 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
}

/* Of 100 jobs, those of the most frequent shapes that are 95. */
static void test_covered(void)
{
    struct typical_shapes t;
    struct workload w;

    made_begin(&w);
    add(&w, 4, 4, WORK_WHOLE, 1000);
    add(&w, 30, 1, 500, 2000);
    add(&w, 1, 8, WORK_WHOLE, 0);
    add(&w, 65, 2, WORK_WHOLE, 6000);
    shapes_of(&w, &t);
    is_int((long long)t.n, 2, "two shapes are 95 of 100 jobs");
    ok(t.shapes[0].devices == 2 && t.shapes[1].milli == 500 && t.shapes[1].cpus_milli == 2000,
       "the most frequent shape is the first");
    ok(near(t.shapes[0].share, 65 / 95.0) && near(t.shapes[1].share, 30 / 95.0),
       "the shares of typical shapes are together 1");
    ok(near(t.cpus_milli, (65 * 6000 + 30 * 2000) / (65 * 2 + 30 * 0.5)),
       "typical jobs take so many CPUs for a device: %g", t.cpus_milli);
    workload_done(&w);
    made_begin(&w);
    add(&w, 6, 4, WORK_WHOLE, 1000);
    add(&w, 94, 1, WORK_WHOLE, 0);
    shapes_of(&w, &t);
    is_int((long long)t.n, 2, "94 of 100 jobs are too few");
    workload_done(&w);
}

/* Shapes that are as frequent stand as the workload has them; jobs of no device count no CPUs. */
static void test_equals(void)
{
    struct typical_shapes t;
    struct workload w;

    made_begin(&w);
    add(&w, 2, 3, WORK_WHOLE, 0);
    add(&w, 2, 1, WORK_WHOLE, 0);
    add(&w, 2, 2, WORK_WHOLE, 0);
    shapes_of(&w, &t);
    ok(t.n == 3 && t.shapes[0].devices == 3 && t.shapes[1].devices == 1 && t.shapes[2].devices == 2,
       "shapes that are as frequent stand in the order of the workload");
    workload_done(&w);
    made_begin(&w);
    add(&w, 1, 2, WORK_WHOLE, 0);
    add(&w, 1, 3, WORK_WHOLE, 0);
    shapes_of(&w, &t);
    ok(t.n == 2 && t.shapes[0].devices == 2 && t.shapes[1].devices == 3,
       "a shape of which there is one job is the shape of that job");
    workload_done(&w);
    made_begin(&w);
    add(&w, 3, 0, WORK_WHOLE, 4000);
    shapes_of(&w, &t);
    ok(t.cpus_milli < 1e-9, "jobs without devices take no CPUs for a device: %g", t.cpus_milli);
    workload_done(&w);
    made_begin(&w);
    shapes_of(&w, &t);
    is_int((long long)t.n, 0, "a workload without jobs has no typical shape");
    workload_done(&w);
}

static void test_fragments(void)
{
    struct typical_shape shapes[] = {
        { .kinds = 0, .cpus_milli = 1000, .devices = 1, .milli = 500, .share = 0.5 },
        { .kinds = 0, .cpus_milli = 4000, .devices = 2, .milli = WORK_WHOLE, .share = 0.25 },
        { .kinds = 2, .cpus_milli = 0, .devices = 1, .milli = 100, .share = 0.125 },
        { .kinds = 0, .cpus_milli = 0, .devices = 0, .milli = WORK_WHOLE, .share = 0.125 },
    };
    const struct typical_shapes t = { .shapes = shapes, .n = 4 };
    struct typical_shapes_node n = { .left = { 1000, 1000, 400, 0 }, .cpus_milli = 4000 };

    n.devices = 4;
    n.kind = 1;
    /* 400 are too small for a half and for two whole ones, all of 2,400 are lost to no device */
    ok(near(typical_shapes_fragments(&t, &n), 0.5 * 400 + 0.25 * 400 + 0.125 * 2400),
       "devices that are too small for a shape are its fragments");
    n.kind = 0;
    ok(near(typical_shapes_fragments(&t, &n), 0.5 * 400 + 0.25 * 400 + 0.25 * 2400),
       "a node of another kind is lost to a shape");
    n.cpus_milli = 3999;
    ok(near(typical_shapes_fragments(&t, &n), 0.5 * 400 + 0.5 * 2400),
       "a node with too few CPUs is lost to a shape");
    n.cpus_milli = 4000;
    n.left[0] = 999;
    ok(near(typical_shapes_fragments(&t, &n), 0.5 * 400 + 0.5 * 2399),
       "a node with too few whole devices is lost to a shape");
    n.left[2] = 500;
    ok(near(typical_shapes_fragments(&t, &n), 0.5 * 2499),
       "a device with just enough is no fragment");
    for (int d = 0; d < 4; d++)
        n.left[d] = 0;
    ok(typical_shapes_fragments(&t, &n) < 1e-9, "a full node has no fragments");
    n.left[3] = 1;
    ok(near(typical_shapes_fragments(&t, &n), 1), "a thousandth of a device is a fragment");
}

int main(void)
{
    test_covered();
    test_equals();
    test_fragments();
    return done();
}
