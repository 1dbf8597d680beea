/* How many workers a loader needs: by what is waited for, and by each thing that carries them. */
#include "model/verdict/loader_need.h"

#include <math.h>

#include "tap.h"

/* A job without workers that waits for 0.8 of its steps: 1.15 * 0.8 / 0.2 is 4.6. Nothing else is
 * known. */
static struct loader_need waiting(void)
{
    const double none = (double)NAN;

    return (struct loader_need){ .workers = 0,
                                 .wait = 0.8,
                                 .on_cpu = none,
                                 .queued = none,
                                 .margin = 1.15,
                                 .cpus = none,
                                 .memory_b = none,
                                 .worker_b = none,
                                 .shm_b = none,
                                 .batch_b = none,
                                 .epoch = none,
                                 .refused = none };
}

static void is_workers(const struct loader_need *n, int want, const char *why)
{
    is_int((long long)loader_workers(n), want, "%s", why);
}

static void test_law(void)
{
    struct loader_need n = waiting();

    is_workers(&n, 5, "as many workers keep up as fetching takes times the rest, rounded up");
    n.wait = 0.999;
    is_workers(&n, LOADER_WORKERS_MOST, "no more than 64 workers are wanted");
    n.wait = 1;
    is_workers(&n, LOADER_WORKERS_MOST, "a step that only waits has some rest");
    ok(fabs(loader_compute(&n) - 0.001) < 1e-12, "the rest of a step is a thousandth at least");
    n.wait = 0.5;
    n.margin = 1;
    is_workers(&n, 1, "one worker keeps up where fetching takes as long as the rest");
    ok(fabs(loader_fetch(&n) - 0.5) < 1e-12, "without workers what is waited for is fetching");
    n.workers = 3;
    n.starting = 0.25;
    ok(fabs(loader_fetch(&n) - 2.25) < 1e-12, "workers fetch but while they start");
    is_workers(&n, 5, "workers that are busy all the time are too few");
    n.starting = 0.449;
    is_workers(&n, 4, "a wait of more than a twentieth of the step is for busy workers");
    n.starting = 0.451;
    is_workers(&n, 3, "a wait of less than that is not: there are as many as now");
    n.workers = 1;
    is_workers(&n, 1, "one worker that is not waited for is enough");
    ok(fabs(loader_fetch(&n) - 0.549) < 1e-12, "one worker fetches but while it starts");
}

static void test_nothing(void)
{
    struct loader_need n = waiting();

    n.wait = 0;
    is_workers(&n, 0, "a job that does not wait needs none");
    n.wait = (double)NAN;
    is_workers(&n, 0, "a job of which nobody knows whether it waits needs none");
    n = waiting();
    n.margin = 0;
    is_workers(&n, 0, "a job without a need needs none");
    n = waiting();
    n.workers = (double)NAN;
    is_workers(&n, 0, "a job without a loader needs none");
}

/* What carries them: each of these alone. */
static void test_carried(void)
{
    struct loader_need n = waiting();

    n.cpus = 3;
    is_workers(&n, 3, "as many workers run as there are CPUs, where they only compute");
    n.on_cpu = 0.75;
    is_workers(&n, 4, "more run where they sleep for a part of the time");
    n.on_cpu = 0;
    is_workers(&n, 5, "workers that use no CPU need none");
    n.on_cpu = 1;
    n.cpus = 0.5;
    is_workers(&n, 1, "half a CPU carries one worker");
    n.cpus = 0;
    is_workers(&n, 5, "a run that saw no CPUs is not thought to lack them");
    n = waiting();
    n.memory_b = 2e9;
    is_workers(&n, 3, "half of the memory is for workers of 300 MB");
    n.worker_b = 500e6;
    is_workers(&n, 2, "half of the memory is for workers of the size that is known");
    n.worker_b = 0;
    is_workers(&n, 3, "a size of nothing is not known");
    n.worker_b = 1;
    n.memory_b = 8;
    is_workers(&n, 4, "half of eight bytes carries four workers of a byte");
    n.memory_b = 0;
    is_workers(&n, 0, "no memory carries no worker");
    n = waiting();
    n.shm_b = 60;
    n.batch_b = 5;
    is_workers(&n, 2, "half of /dev/shm has three batches of each worker");
    n.shm_b = 9;
    n.batch_b = 1;
    is_workers(&n, 1, "half of nine bytes has three batches of a byte");
    n.shm_b = 0;
    is_workers(&n, 0, "no /dev/shm carries no worker");
    n.batch_b = 0;
    is_workers(&n, 5, "batches of no size need no room");
    n = waiting();
    n.epoch = 3;
    is_workers(&n, 3, "an epoch of three batches has work for three workers");
    n.epoch = 1;
    is_workers(&n, 1, "an epoch of one batch has work for one worker");
    n.epoch = 0.5;
    is_workers(&n, 5, "an epoch of less than a batch is not known");
    n = waiting();
    n.refused = 7;
    is_workers(&n, 3, "half of what cost the job its memory is tried at most");
    n.refused = 1;
    is_workers(&n, 0, "where one worker was too many none is tried");
    n.refused = 0;
    is_workers(&n, 5, "a refusal of none is no refusal");
    n = waiting();
    n.stream = true;
    is_workers(&n, 1, "one worker reads a stream ahead");
    n.memory_b = 0;
    is_workers(&n, 0, "a stream without memory has no worker");
}

static void is_fewer(double workers, double cpus, double on_cpu, double queued, int want,
                     const char *why)
{
    struct loader_need n = waiting();

    n.workers = workers;
    n.cpus = cpus;
    n.on_cpu = on_cpu;
    n.queued = queued;
    is_int((long long)loader_fewer(&n), want, "%s", why);
}

static void test_fewer(void)
{
    const double none = (double)NAN;

    is_fewer(16, 4, 0.25, 0.75, 4, "workers that only compute do as much as they do now");
    is_fewer(16, 8, 0.1, 0.9, 7, "workers fill all CPUs but one");
    is_fewer(16, 8.9, 0.1, 0.9, 7, "a part of a CPU is none");
    is_fewer(16, 4, 0.25, 0.5, 8, "workers that sleep for half of the time are more than the CPUs");
    is_fewer(16, 5, 0.125, 0.75, 8, "workers that sleep fill all CPUs but one together");
    is_fewer(40, 4, 0.0525, 0.95, 3,
             "a little more work is no other worker: 2.1 workers are three "
             "of CPUs");
    is_fewer(40, 2, 0.0525, 0.9475, 2, "a tenth of a worker's work is no worker");
    is_fewer(40, 2, 0.0550, 0.9450, 3, "two tenths of a worker's work are one");
    is_fewer(16, 1, none, none, 1, "one worker at least stays");
    is_fewer(16, 4, none, none, 3, "workers of which nothing is known only compute");
    is_fewer(16, 4, 0.5, 1, 8, "workers that always wait for a CPU only compute");
    is_fewer(16, 4, 0.9, 0.5, 15, "workers cannot be on CPUs for more than all of their time");
    is_fewer(16, 1000, 0.1, 0.9, LOADER_WORKERS_MOST, "64 workers are the most");
}

int main(void)
{
    test_law();
    test_nothing();
    test_carried();
    test_fewer();
    return done();
}
