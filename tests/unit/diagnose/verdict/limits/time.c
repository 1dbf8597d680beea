/* What happens now and then, what the loop does, and what was faster before. */
#include <stdio.h>
#include <string.h>

#include "all.h"
#include "rows.h"

/* ---- now and then ---- */

static bool saves(double x)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_CHECKPOINT, x);
    return limits_finds(&m, CAUSE_CHECKPOINT);
}

static bool tells_what_it_writes(double x)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_CHECKPOINT, 0.1);
    m.s[RUN_JOB_WRITE] = x;
    return limits_says(&m, "/s written");
}

static bool collects(double x)
{
    char text[16];
    struct made m = limits_plain();

    snprintf(text, sizeof(text), "%.4f", x * m.step_s * (double)m.steps);
    made_note(&m, "gc.seconds", text);
    return limits_finds(&m, CAUSE_GC);
}

/* Long steps after so many others and so many, in turn; of so many times the usual length. */
static bool pauses(size_t gap, size_t next_gap, double factor, size_t most, double cpu)
{
    struct made m = limits_plain();
    struct run r;
    int64_t late = 0;
    size_t next = 10, n = 0;

    m.steps = 502;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = cpu;
    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        struct step *s = &r.ranks[0].steps[i];
        double more_s = i == next && n < most ? (factor - 1) * m.step_s : 0;

        s->host_s[BRIM_STAGE_BACKWARD] += more_s;
        s->begin_ns += late;
        late += (int64_t)(more_s * 1e9);
        s->end_ns += late;
        if (i == next)
            next += n++ % 2 ? next_gap : gap;
    }
    return limits_judge(&r, NULL).causes >> CAUSE_GC & 1;
}

static bool pauses_for_long(double x)
{
    return pauses(10, 10, x, 100, 1.9);
}

static bool pauses_at_equal_distances(double x)
{
    size_t off = (size_t)(50 * x + 0.5);

    return pauses(50 - off, 50 + off, 4, 9, 1.9);
}

static bool pauses_often(double x)
{
    return pauses(20, 20, 5, (size_t)x, 1.9);
}

static bool pauses_on_a_cpu(double x)
{
    return pauses(20, 20, 5, 100, x);
}

/* Every 20th step is longer, which costs so much of the time. */
static bool pauses_cost_enough(double x)
{
    return pauses(20, 20, 1 + 20 * x / (1 - x), 100, 1.9);
}

static bool pauses_without_quota(double x)
{
    struct made m = limits_plain();

    m.steps = 302;
    m.pause_every = 20;
    m.pause_s = 3 * m.step_s;
    m.pause_stage = BRIM_STAGE_OTHER;
    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_GC);
}

/* ---- the loop ---- */

static struct made looping(double share)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_OTHER, share);
    return m;
}

static bool loops(double x)
{
    struct made m = looping(x);

    return limits_finds(&m, CAUSE_LOOP);
}

static bool loops_and_writes(double x)
{
    struct made m = looping(x);

    m.s[RUN_JOB_WRITE] = 50e6;
    m.s[RUN_JOB_IO_WAIT] = 0.1;
    return limits_finds(&m, CAUSE_LOOP);
}

/* Its first thread is on a CPU while it is in no stage, or not, or waits for a disk. */
static struct made looping_with(double thread)
{
    struct made m = looping(0.4);

    m.s[RUN_RANK_THREAD_CPU] = 0.6 + 0.4 * thread;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 1.3;
    return m;
}

static bool loops_on_a_cpu(double x)
{
    struct made m = looping_with(x);

    return limits_says(&m, ", on a CPU");
}

static bool loops_asleep(double x)
{
    struct made m = looping_with(x);

    return limits_says(&m, ", asleep");
}

static bool loops_in_io(double x)
{
    struct made m = looping_with(0);

    m.s[RUN_JOB_IO_WAIT] = 0.4 * x;
    return limits_says(&m, "waiting for a disk");
}

static bool loops_under_pressure(double x)
{
    struct made m = looping_with(0);

    m.s[RUN_IO_PRESSURE] = 0.4 * x;
    return limits_says(&m, "waiting for a disk");
}

static bool loops_in_processes(double x)
{
    struct made m = looping_with(0);

    m.s[RUN_JOB_CPU] += 0.4 * x;
    return limits_says(&m, "waiting for processes");
}

static bool loops_in_time(double x)
{
    struct made m = looping_with(1);

    limits_stage(&m, BRIM_STAGE_WAIT, x);
    m.s[RUN_RANK_THREAD_CPU] = 1;
    return limits_says(&m, ", on a CPU");
}

/* ---- Python's lock ---- */

static struct made locked(double asleep, double rest)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_COPY, 0.28); /* computes 70 % of the step */
    m.s[RUN_RANK_THREAD_CPU] = 0.7 - asleep;
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.7 - asleep + rest;
    return m;
}

static bool is_locked(double x)
{
    struct made m = locked(x, 0.9);

    return limits_finds(&m, CAUSE_PYTHON_LOCK);
}

static bool is_locked_by_others(double x)
{
    struct made m = locked(0.5, x);

    return limits_finds(&m, CAUSE_PYTHON_LOCK);
}

static bool is_locked_most_of_it(double x)
{
    struct made m = limits_plain();

    m.s[RUN_RANK_THREAD_CPU] = 0.98 * x;
    return limits_finds(&m, CAUSE_PYTHON_LOCK);
}

static bool is_locked_without_quota(double x)
{
    struct made m = locked(0.5, 0.9);

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_finds(&m, CAUSE_PYTHON_LOCK);
}

/* ---- the past ---- */

/* It takes so many times as long for so many steps at the end of 200. */
static struct made slower(double level, size_t steps)
{
    struct made m = limits_plain();

    m.steps = 201;
    m.slow_from = 200 - steps;
    m.level = level;
    return m;
}

static bool is_slower(double x)
{
    struct made m = slower(x, 100);

    return limits_finds(&m, CAUSE_SLOWER_THAN_BEFORE);
}

static bool is_slower_for_steps(double x)
{
    struct made m = slower(1.3, (size_t)x);

    return limits_finds(&m, CAUSE_SLOWER_THAN_BEFORE);
}

static bool is_slower_for_seconds(double x)
{
    struct made m = slower(1.3, 50);

    m.step_s = x / 50 / 1.3;
    return limits_is_first(&m, CAUSE_SLOWER_THAN_BEFORE);
}

static bool is_slower_than_a_run(double x)
{
    struct made m = limits_plain(), past = m;
    struct run r, before;

    past.step_s = m.step_s / x;
    made_build(&m, &r);
    made_build(&past, &before);
    return limits_judge(&r, &before).causes >> CAUSE_SLOWER_THAN_BEFORE & 1;
}

static bool is_slower_than_a_run_of_as_much(double x)
{
    struct made m = limits_plain(), past = m;
    struct run r, before;

    past.step_s = m.step_s / 1.5;
    m.samples[0] *= x;
    made_build(&m, &r);
    made_build(&past, &before);
    return limits_judge(&r, &before).causes >> CAUSE_SLOWER_THAN_BEFORE & 1;
}

/* Since step 100 it takes longer, and others use more of the CPUs, a hypervisor among them. */
static bool is_by_others(double level, double more, double stolen, double busy)
{
    struct made m = slower(level, 100);
    struct run r;
    int64_t since;

    made_build(&m, &r);
    since = r.ranks[0].steps[100].begin_ns;
    for (size_t i = 0; i < r.n_moments; i++) {
        struct run_moment *k = &r.moments[i];
        double behind_s = (double)(k->monotonic_ns - since) / 1e9;
        double now = fmax(0, fmin(1, behind_s / k->seconds)); /* of that moment */

        k->values[RUN_OTHER_CPU] = 0.1 + 2 * more * now;
        k->values[RUN_CPU_STEAL] = stolen * now;
        k->values[RUN_CPU_BUSY] = busy;
    }
    return limits_judge(&r, NULL).causes >> CAUSE_CPU_NEIGHBOURS & 1;
}

static bool others_use_more(double x)
{
    return is_by_others(1.15, x, 0, 0.95);
}

static bool others_steal_more(double x)
{
    return is_by_others(1.15, 0, x, 0.95);
}

static bool others_leave_no_room(double x)
{
    return is_by_others(1.15, 0.2, 0, x);
}

/* What others use more is a quarter of what steps are longer. */
static bool others_use_a_quarter(double x)
{
    return is_by_others(2, 0.5 * x, 0, 0.95);
}

/* Steps get longer all the time, to so many times their length. */
static bool grows(size_t steps, double to)
{
    struct made m = limits_plain();
    struct run r;
    int64_t late = 0;
    bool found;

    m.steps = steps + 2;
    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        struct step *s = &r.ranks[0].steps[i];
        double quarter = i ? (double)((i - 1) * 4 / steps) : 0; /* level from 0 to 3 */
        double more_s = m.step_s * (to - 1) * fmin(3, quarter) / 3;

        s->host_s[BRIM_STAGE_OTHER] += more_s;
        s->begin_ns += late;
        late += (int64_t)(more_s * 1e9);
        s->end_ns += late;
    }
    found = strstr(limits_judge(&r, NULL).text, "longer all the time") != NULL;
    return found;
}

static bool grows_enough(double x)
{
    return grows(160, x);
}

static bool grows_in_enough_steps(double x)
{
    return grows((size_t)x, 1.6);
}

static bool grows_in_half_the_steps(double x)
{
    return grows(60, x);
}

static bool grows_in_few_steps(double x)
{
    return grows((size_t)x, 3);
}

static const struct limit_row rows[] = {
    { "checkpoint", 0.0495, 0.0505, saves, "so much of the step saves", AT_HOLDS },
    { "bytes-some", 0.99e6, 1.01e6, tells_what_it_writes, "so many bytes written a second are told",
      AT_HOLDS },
    { "gc", 0.0295, 0.0305, collects, "so much of the time collects garbage" },
    { "gc", 0.0295, 0.0305, pauses_cost_enough, "so much of the time pauses" },
    { "spike", 1.49, 1.51, pauses_for_long, "so many times the usual step is a pause" },
    { "spike-regular", 0.36, 0.34, pauses_at_equal_distances, "so much of a distance is regular" },
    { NULL, 7, 8, pauses_often, "so many pauses are regular" },
    { "launch-cpu", 0.79, 0.81, pauses_on_a_cpu, "so much of a CPU is used in pauses" },
    { "cpu-throttled", 0.101, 0.099, pauses_without_quota,
      "so much of the periods cut short leave pauses" },
    { "loop", 0.199, 0.201, loops, "so much of the step is in no stage", AT_HOLDS },
    { "wait-warning", 0.099, 0.101, loops_and_writes, "so much of the step writes in no stage",
      AT_HOLDS },
    { NULL, 0.59, 0.61, loops_on_a_cpu, "so much of the loop is on a CPU" },
    { NULL, 0.41, 0.39, loops_asleep, "so much of the loop is on no CPU" },
    { "io-waiting", 0.295, 0.305, loops_in_io, "so much of the loop is in I/O", AT_HOLDS },
    { NULL, 0.49, 0.51, loops_under_pressure, "so much of the loop is under pressure", AT_HOLDS },
    { "io-waiting", 0.295, 0.305, loops_in_processes, "so much of the loop is in processes",
      AT_HOLDS_NOT },
    { "wait-warning", 0.101, 0.099, loops_in_time,
      "so much of the step waited for leaves its thread known", AT_HOLDS_NOT },
    { "lock-asleep", 0.295, 0.305, is_locked, "so much of the time sleeps for a lock", AT_HOLDS },
    { "lock-others", 0.495, 0.505, is_locked_by_others,
      "so many CPUs of other threads hold a lock" },
    { NULL, 0.61, 0.59, is_locked_most_of_it, "so much of computing on a CPU leaves a lock",
      AT_HOLDS },
    { "cpu-throttled", 0.101, 0.099, is_locked_without_quota,
      "so much of the periods cut short leave a lock", AT_HOLDS_NOT },
    { "slower", 1.095, 1.105, is_slower, "so many times as long is slower" },
    { "steps-sure", 19, 20, is_slower_for_steps, "so many steps are slower for sure" },
    { "slower-for", 4.9, 5.25, is_slower_for_seconds, "so many seconds are slower for long" },
    { "slower-run", 1.195, 1.205, is_slower_than_a_run,
      "so many times as long as a run is slower" },
    { "samples-differ", 1.105, 1.095, is_slower_than_a_run_of_as_much,
      "so many times the samples are the same run", AT_HOLDS_NOT },
    { "other-share", 0.0485, 0.0525, others_use_more, "so much of the CPUs used by others is why" },
    { "other-share", 0.0485, 0.0525, others_steal_more, "so much of the CPUs stolen is why" },
    { "cpus-free", 0.695, 0.705, others_leave_no_room, "so much of the CPUs busy leave no room" },
    { NULL, 0.24, 0.26, others_use_a_quarter, "so much of the slowdown used by others is why" },
    { "slower-run", 1.195, 1.205, grows_enough, "so many times as long grows" },
    { "steps-sure", 79, 80, grows_in_enough_steps, "so many steps are enough to grow" },
    { NULL, 1.98, 2.02, grows_in_half_the_steps, "so many times as long grows in fewer steps" },
    { "steps-sure", 39, 40, grows_in_few_steps, "so many steps are enough to grow three times" },
};
const struct limit_rows limits_time = { rows, ARRAY_SIZE(rows) };
