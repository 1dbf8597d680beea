/* Ranks against each other, and communication. */
#include <string.h>

#include "all.h"
#include "rows.h"

/* ---- communication ---- */

static struct made communicating(double share)
{
    struct made m = limits_group();

    limits_stage(&m, BRIM_STAGE_COMMUNICATION, share);
    return m;
}

static bool communicates(double x)
{
    struct made m = communicating(x);

    return limits_finds(&m, CAUSE_COMMUNICATION);
}

static bool loses_packets(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_TCP_RETRANSMITS] = x;
    return limits_finds(&m, CAUSE_LOSSY_NETWORK);
}

static bool fills_the_link(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_NET_LOAD] = x;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

/* By what collectives tell. */
static bool gets_little(double x)
{
    struct made m = communicating(0.4);

    m.collective_b = 5e6;
    m.collective_s = m.collective_b / x;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

static bool exchanges_enough_to_tell(double x)
{
    struct made m = communicating(0.4);

    m.collective_b = x;
    m.collective_s = 0.04;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

/* By what the network carries in the 40 % of the time in which they communicate. */
static bool carries_little(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 0.4 * x;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

static bool carries_enough_to_tell(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = x / m.step_s;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

static bool carries_while_threads_run(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 20e6;
    m.s[RUN_RANK_THREAD_WAIT] = 0.4 * x;
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

static bool carries_while_ranks_run(double x)
{
    struct made m = communicating(0.4);

    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 20e6;
    m.s[RUN_RANK_THREAD_WAIT] = (double)NAN;
    m.s[RUN_JOB_RUN_WAIT] = m.s[RUN_JOB_CPU] * x / (1 - x);
    return limits_finds(&m, CAUSE_SLOW_LINK);
}

static bool is_held(double x)
{
    struct made m = communicating(0.4);
    struct run r;

    m.s[RUN_NET_SENT] = m.s[RUN_NET_RECEIVED] = 20e6;
    made_build(&m, &r);
    for (size_t i = 0; i < r.n_moments; i++)
        r.moments[i].values[RUN_NET_SENT] *= 1 + (i % 2 ? x : -x);
    return strstr(limits_judge(&r, NULL).text, "what is sent is held at") != NULL;
}

/* ---- one rank ---- */

static bool is_slow(double x)
{
    struct made m = limits_group();

    m.slow[1] = x;
    return limits_finds(&m, CAUSE_SLOW_RANK);
}

/* Each rank is late in its turn: rank 1 in 'often' of 100 steps, by so much of a step. */
static bool is_slow_in_turns(int often, double by, double other_by)
{
    struct made m = limits_group();
    struct run r;
    int64_t late = 0;

    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        bool turn = (int)(i * 37 % 100) < often;
        double more_s = m.step_s * (turn ? by : other_by);

        for (size_t k = 0; k < 2; k++) {
            struct step *s = &r.ranks[k].steps[i];

            s->host_s[(k == 1) == turn ? BRIM_STAGE_BACKWARD : BRIM_STAGE_COMMUNICATION] += more_s;
            s->begin_ns += late;
            s->end_ns += late + (int64_t)(more_s * 1e9);
        }
        late += (int64_t)(more_s * 1e9);
    }
    return limits_judge(&r, NULL).causes >> CAUSE_SLOW_RANK & 1;
}

/* Half of what is lost is lost to it. */
static bool is_slowest_often(double x)
{
    return is_slow_in_turns((int)(100 * x + 0.5), 0.5, 0.5 * x / (1 - x));
}

/* In 40 of 100 steps; the other one's turns are as much shorter. */
static bool is_waited_for_most(double x)
{
    return is_slow_in_turns(40, 1, 0.4 / 0.6 * (1 - x) / x);
}

/* So many seconds are lost to it in its last 30 steps, since when it is slow. */
static bool is_slow_since(double x)
{
    struct made m = limits_group();

    m.slow_from = m.steps - 31; /* the last one does not count */
    m.slow[1] = 1 + x / (30 * m.step_s);
    return limits_says(&m, "is slow since step");
}

static bool has_equal_samples(double x)
{
    struct made m = limits_group();

    m.slow[1] = 1.5;
    m.samples[1] = x * m.samples[0];
    return limits_finds(&m, CAUSE_SLOW_RANK);
}

static bool tells_samples(double x)
{
    struct made m = limits_group();

    m.alternates = true;
    m.slow[0] = 1.5;
    m.samples[0] = x * m.samples[1];
    return limits_says(&m, "times the samples");
}

/* Rank 0 and rank 1 take turns. */
static bool is_unequal(double x)
{
    struct made m = limits_group();

    m.alternates = true;
    m.slow[0] = 1 / (1 - 2 * x);
    return limits_finds(&m, CAUSE_IMBALANCE);
}

/* One rank has as many samples more as it takes longer. */
static bool is_unequal_by_samples(double x)
{
    struct made m = limits_group();

    m.slow[1] = x;
    m.samples[1] = 1.3 * m.samples[0];
    return limits_finds(&m, CAUSE_IMBALANCE);
}

/* ---- why it is slow ---- */

static struct made lacking(double waits, double others)
{
    struct made m = limits_group();

    m.slow[1] = 1.3;
    m.s[RUN_RANK_THREAD_WAIT] = waits / 2; /* of two ranks */
    m.s[RUN_OTHER_CPU] = others;
    return m;
}

static bool lacks_a_cpu(double x)
{
    struct made m = lacking(x, 1);

    return limits_says(&m, "it lacks a CPU");
}

static bool lacks_a_cpu_of_others(double x)
{
    struct made m = lacking(0.4, x);

    return limits_says(&m, "other processes use");
}

static bool lacks_quota(double x)
{
    struct made m = lacking(0, 0);

    m.s[RUN_JOB_THROTTLED] = x;
    return limits_says(&m, "raise the quota");
}

static struct made slow_on_gpus(void)
{
    struct made m = limits_gpu();

    m.ranks = 2;
    m.slow[1] = 1.3;
    return m;
}

static bool has_a_slow_gpu(double x)
{
    struct made m = slow_on_gpus();

    m.s[RUN_GPU_WORST_CLOCK] = x;
    return limits_says(&m, "cool or replace the GPU");
}

static bool has_a_hot_gpu(double x)
{
    struct made m = slow_on_gpus();

    m.s[RUN_GPU_THROTTLED] = x;
    return limits_says(&m, "cool or replace the GPU");
}

static const struct limit_row rows[] = {
    { "communication-warning", 0.099, 0.101, communicates, "so much of the step communicates" },
    { "retransmits", 0.0099, 0.0101, loses_packets, "so much of the segments are sent again",
      AT_HOLDS },
    { "link-load", 0.795, 0.805, fills_the_link, "so much of the interface is full", AT_HOLDS },
    { "link-slow", 126e6, 124e6, gets_little, "so many bytes a second of collectives are slow" },
    { "bytes-some", 0.99e6, 1.01e6, exchanges_enough_to_tell, "so many bytes of collectives tell",
      AT_HOLDS },
    { "link-slow", 126e6, 124e6, carries_little, "so many bytes a second of the network are slow" },
    { "exchange-small", 0.99e5, 1.01e5, carries_enough_to_tell, "so many bytes of the network tell",
      AT_HOLDS },
    { NULL, 0.51, 0.49, carries_while_threads_run,
      "so much of the communication without a CPU leaves the link", AT_HOLDS_NOT },
    { "cpu-starved", 0.205, 0.195, carries_while_ranks_run,
      "so much of the time without a CPU leaves the link", AT_HOLDS },
    { "flat", 0.155, 0.145, is_held, "so many deviation to mean of what is sent is told" },
    { "slow-rank", 1.095, 1.105, is_slow, "so many times the other's time are slow" },
    { "slow-rank-steady", 0.68, 0.72, is_slowest_often, "so much of the steps make a slow rank" },
    { "slow-rank-loss", 0.68, 0.72, is_waited_for_most,
      "so much of what is lost makes a slow rank" },
    { "slow-rank-lost", 0.48, 0.52, is_slow_since,
      "so many seconds lost tell since when it is slow" },
    { "samples-differ", 1.105, 1.095, has_equal_samples,
      "so many times the samples leave a slow rank" },
    { "samples-differ", 1.095, 1.105, tells_samples, "so many times the samples are told" },
    { "imbalance", 0.099, 0.101, is_unequal, "so much of the step lost in turns is unequal work" },
    { "slow-rank", 1.105, 1.115, is_unequal_by_samples,
      "so many times the other's time is unequal work where half of that is lost" },
    { "cpu-starved", 0.195, 0.205, lacks_a_cpu,
      "so much of the time without a CPU is why it is slow" },
    { "others-cpu", 0.245, 0.255, lacks_a_cpu_of_others,
      "so many CPUs used by others are why it is slow" },
    { "cpu-throttled", 0.099, 0.101, lacks_quota,
      "so much of the periods cut short are why it is slow" },
    { "gpu-clock", 0.905, 0.895, has_a_slow_gpu, "so much of the others' clock is why it is slow" },
    { "gpu-throttled", 0.0495, 0.0505, has_a_hot_gpu,
      "so much of the time throttled is why it is slow" },
};
const struct limit_rows limits_ranks = { rows, ARRAY_SIZE(rows) };
