/* A job that computes on all CPUs: steps of the same work on each thread, which wait for each other
 * behind it as ranks and OpenMP threads do, marked as a training loop marks them.
 *
 *     spin SECONDS THREADS STEP_US
 *
 * Prints, for each segment of about 20 ms, when it ended and how long it took by CLOCK_MONOTONIC in
 * ns, the CPU time that all threads needed for its work, without waiting for each other, and how
 * long each of its steps took; then "marks N ns X": marks made in a second, and what one takes.
 * SIGUSR1 ends it before its time. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/parse.h"
#include "brim/step.h"

enum { THREADS_MAX = 256, SPINS = 2000, SEGMENT_US = 20000, MARKS = 200000, MARKS_A_STEP = 10 };
enum { STEP_LEAST_US = 10, STEPS_MOST = SEGMENT_US / STEP_LEAST_US + 1 };

struct job {
    uint64_t loops; /* of work, in a step */
    unsigned n;
    atomic_uint arrived, round;
    atomic_bool stop;
    _Atomic int64_t cpu_ns; /* of the work of all threads since the last segment */
};

static volatile sig_atomic_t enough; /* that a signal came: it has no other way to tell */

static void on_signal(int number)
{
    (void)number;
    enough = 1;
}

/* So many dependent steps of a generator: no memory, no library. */
static uint64_t work(uint64_t loops, uint64_t x)
{
    for (uint64_t i = 0; i < loops; i++)
        x = x * 6364136223846793005U + 1442695040888963407U;
    return x;
}

static int64_t cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* A thread's part of a step. */
static uint64_t do_part(struct job *j, uint64_t x)
{
    int64_t begin = cpu_now();

    x = work(j->loops, x);
    atomic_fetch_add(&j->cpu_ns, cpu_now() - begin);
    return x;
}

/* Wait until all are here: on the CPU at first, as who comes last is near. */
static void meet(struct job *j)
{
    unsigned round = atomic_load(&j->round);

    if (atomic_fetch_add(&j->arrived, 1) + 1 == j->n) {
        atomic_store(&j->arrived, 0);
        atomic_fetch_add(&j->round, 1);
        return;
    }
    for (int i = 0; atomic_load(&j->round) == round; i++)
        if (i >= SPINS)
            sched_yield();
}

static void *run_thread(void *arg)
{
    struct job *j = arg;
    uint64_t x = 1;

    while (!atomic_load(&j->stop)) {
        x = do_part(j, x);
        meet(j);
    }
    return x ? NULL : arg; /* what is not used is not computed */
}

/* Loops that take a microsecond when nothing disturbs them. */
static double loops_per_us(void)
{
    double best = 0;

    for (int i = 0; i < 50; i++) {
        int64_t begin = brim_step_now(), ns;
        volatile uint64_t x = work(1000000, (uint64_t)i);

        (void)x;
        ns = brim_step_now() - begin;
        best = 1e9 / (double)ns > best ? 1e9 / (double)ns : best;
    }
    return best;
}

static void mark_step(struct brim_step *s)
{
    for (int stage = 0; stage < 4; stage++) {
        brim_stage_begin(s, BRIM_STAGE_WAIT + stage);
        brim_stage_end(s, BRIM_STAGE_WAIT + stage);
    }
    brim_step_samples(s, 32);
    brim_step_end(s);
}

/* begin: of the first step; ends: of each. */
static void print_segment(struct job *j, int64_t begin, const int64_t *ends, unsigned n)
{
    printf("%lld %lld %lld", (long long)ends[n - 1], (long long)(ends[n - 1] - begin),
           (long long)atomic_exchange(&j->cpu_ns, 0));
    for (unsigned i = 0; i < n; begin = ends[i++])
        printf(" %lld", (long long)(ends[i] - begin));
    putchar('\n');
}

/* The first thread: the one that is measured. The others see that it was the last step when they
 * have met behind it. */
static double run_steps(struct job *j, struct brim_step *s, double seconds, unsigned a_segment)
{
    int64_t first = brim_step_now(), end = first + (int64_t)(seconds * 1e9), last = first;
    int64_t ends[STEPS_MOST];
    uint64_t x = 1, steps = 0;

    for (bool over = false; !over;) {
        over = last >= end || enough;
        for (unsigned i = 0; i < a_segment; i++, steps++) {
            x = do_part(j, x);
            if (over && i + 1 == a_segment)
                atomic_store(&j->stop, true);
            meet(j);
            mark_step(s);
            ends[i] = brim_step_now();
        }
        print_segment(j, last, ends, a_segment);
        last = ends[a_segment - 1];
    }
    return (double)steps * MARKS_A_STEP / ((double)(last - first) / 1e9) + (x ? 0 : 1);
}

int main(int argc, char **argv)
{
    struct job j = { .arrived = 0 };
    struct brim_step *s = brim_step_open("spin 1");
    pthread_t threads[THREADS_MAX];
    uint64_t threads_wanted = 2, step_us = 1000;
    double seconds = 10, marks;
    int64_t begin;

    if (argc != 4 || parse_double(argv[1], &seconds) < 0 ||
        parse_u64(argv[2], &threads_wanted) < 0 || parse_u64(argv[3], &step_us) < 0 ||
        threads_wanted < 1 || threads_wanted > THREADS_MAX || step_us < STEP_LEAST_US)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0); /* who reads it does so meanwhile */
    signal(SIGUSR1, on_signal);
    j.n = (unsigned)threads_wanted;
    j.loops = (uint64_t)(loops_per_us() * (double)step_us);
    for (unsigned i = 1; i < j.n; i++)
        if (pthread_create(&threads[i], NULL, run_thread, &j))
            return 1;
    marks = run_steps(&j, s, seconds, (unsigned)(SEGMENT_US / step_us + 1));
    for (unsigned i = 1; i < j.n; i++)
        pthread_join(threads[i], NULL);
    begin = brim_step_now();
    for (int i = 0; i < MARKS; i++)
        brim_step_samples(s, 32);
    printf("marks %.0f ns %.1f\n", marks, (double)(brim_step_now() - begin) / MARKS);
    brim_step_close(s);
    return 0;
}
