/* How sure a verdict is, and what a stage may cost before it is named. */
#include "all.h"
#include "rows.h"

enum { PARTS = 10 };

/* ---- steps ---- */

static bool has_enough_steps(double x)
{
    struct made m = limits_waiting(0.3);

    m.steps = (size_t)x;
    return !limits_says(&m, "too few steps");
}

/* So many steady steps: the first and the last one are not among them. */
static double confidence_of(double steps)
{
    struct made m = limits_waiting(0.3);
    struct run r;

    m.steps = (size_t)steps + 2;
    made_build(&m, &r);
    return limits_judge(&r, NULL).first.confidence;
}

static bool is_as_sure_as_can_be(double x)
{
    return confidence_of(x) == confidence_of(100);
}

/* ---- shares ---- */

static bool names_waiting(double x)
{
    struct made m = limits_waiting(x);

    return limits_finds(&m, CAUSE_LOADER_WAITS);
}

static bool waiting_is_first(double x)
{
    struct made m = limits_waiting(x);

    return limits_is_first(&m, CAUSE_LOADER_WAITS);
}

static bool waiting_warns(double x)
{
    struct made m = limits_waiting(x);
    struct run r;

    made_build(&m, &r);
    return limits_judge(&r, NULL).of[CAUSE_LOADER_WAITS].severity == SEVERITY_WARNING;
}

static bool waiting_is_noted(double x)
{
    struct made m = limits_plain();
    struct run r;

    limits_stage(&m, BRIM_STAGE_CHECKPOINT, x);
    made_build(&m, &r);
    return limits_judge(&r, NULL).of[CAUSE_CHECKPOINT].severity == SEVERITY_WARNING;
}

static bool waiting_is_critical(double x)
{
    struct made m = limits_waiting(x);
    struct run r;

    made_build(&m, &r);
    return limits_judge(&r, NULL).first.severity == SEVERITY_CRITICAL;
}

/* More of a stage in one tenth of the steps only: that share of all time. */
static void lengthen_a_tenth(struct run *r, int stage, double share)
{
    struct run_rank *k = &r->ranks[0];
    size_t n = k->n_steps - 2, first = 1 + n * 4 / PARTS, end = 1 + n * 5 / PARTS;
    double step_s = step_seconds(&k->steps[1]);
    double more_s = share / (1 - share) * (double)n * step_s / (double)(end - first);
    int64_t late = 0;

    for (size_t i = 0; i < k->n_steps; i++) {
        k->steps[i].begin_ns += late;
        if (i >= first && i < end) {
            k->steps[i].host_s[stage] += more_s;
            late += (int64_t)(more_s * 1e9);
        }
        k->steps[i].end_ns += late;
    }
}

static bool limits_though_once(double x)
{
    struct made m = limits_waiting(0);
    struct run r;

    made_build(&m, &r);
    lengthen_a_tenth(&r, BRIM_STAGE_WAIT, x);
    return limits_judge(&r, NULL).first.cause == CAUSE_LOADER_WAITS;
}

/* Waited for in four tenths of the steps, by workers that wait for a disk under pressure. */
static bool limits_at_times(double share, double pressure)
{
    struct made m = limits_reading();
    struct run r;

    limits_stage(&m, BRIM_STAGE_WAIT, share * PARTS / 4);
    m.s[RUN_IO_PRESSURE] = pressure;
    made_build(&m, &r);
    for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
        struct step *s = &r.ranks[0].steps[i];

        if (i < 21 || i > 60) {
            s->host_s[BRIM_STAGE_BACKWARD] += s->host_s[BRIM_STAGE_WAIT];
            s->host_s[BRIM_STAGE_WAIT] = 0;
        }
    }
    return limits_judge(&r, NULL).first.cause == CAUSE_STORAGE_BANDWIDTH;
}

static bool limits_where_four_agree(double x)
{
    return limits_at_times(x, 0.2);
}

static bool limits_where_so_many_agree(double x)
{
    return limits_at_times(0.3, x > 3 ? 0.2 : 0);
}

/* A tenth of the steps is long outside of all stages: no loop is to blame, nor a collector of
 * garbage, of which its framework would tell. */
static bool is_unknown(struct made *m, double share)
{
    struct run r;

    limits_stage(m, BRIM_STAGE_OTHER, 0);
    made_build(m, &r);
    r.ranks[0].framework = "torch 1.13.1";
    lengthen_a_tenth(&r, BRIM_STAGE_OTHER, share);
    return limits_judge(&r, NULL).causes >> CAUSE_UNKNOWN & 1;
}

static bool does_not_know(double x)
{
    struct made m = limits_plain();

    return is_unknown(&m, x);
}

static bool does_not_know_beside_a_gpu(double x)
{
    struct made m = limits_gpu();

    m.s[RUN_GPU_BUSY] = x;
    return is_unknown(&m, 0.35);
}

/* A job without marks in which nothing repeats itself, and which waits. */
static struct limits_said asleep(double cpus, double bytes, double gpu)
{
    struct made m = limits_waiting(0.99);
    struct run r;

    m.s[RUN_JOB_CPU] = m.s[RUN_RANK_CPU] = cpus;
    m.s[RUN_JOB_READ] = m.s[RUN_JOB_WRITE] = m.s[RUN_JOB_IO_WRITTEN] = 0;
    m.s[RUN_JOB_IO_READ] = bytes;
    m.s[RUN_GPU_BUSY] = gpu;
    made_build(&m, &r);
    r.inferred = "nothing repeats itself";
    r.inferred_confidence = 0;
    return limits_judge(&r, NULL);
}

static bool is_asleep(double cpus, double bytes, double gpu)
{
    struct limits_said s = asleep(cpus, bytes, gpu);

    return s.first.cause == CAUSE_UNKNOWN && isnan(s.first.share) && isnan(s.first.gain) &&
           strstr(s.text, "uses nothing") && !strstr(s.text, "faster");
}

static bool idles_on_cpus(double x)
{
    return is_asleep(x, 0, (double)NAN);
}

static bool idles_on_disks(double x)
{
    return is_asleep(0, x, (double)NAN);
}

static bool idles_on_gpus(double x)
{
    return is_asleep(0, 0, x);
}

static bool promises_nothing(double x)
{
    struct limits_said s = asleep(x, 0, (double)NAN);

    return strstr(s.text, " of the time (") && isnan(s.first.gain) && !strstr(s.text, "faster");
}

static bool says_that_little_is_lost(double x)
{
    struct made m = limits_plain();

    limits_stage(&m, BRIM_STAGE_CHECKPOINT, x);
    return limits_is_first(&m, CAUSE_CHECKPOINT);
}

/* One cause beside another: more weight goes first. */
static bool communication_is_first(double x)
{
    struct made m = limits_waiting(0.3);

    m.ranks = 2;
    limits_stage(&m, BRIM_STAGE_COMMUNICATION, x);
    return limits_is_first(&m, CAUSE_COMMUNICATION);
}

static bool the_past_is_first(double x)
{
    struct made m = limits_waiting(0.2), past;
    struct run r, before;

    m.steps = 62;
    past = m;
    past.step_s = (1 - x) * m.step_s;
    made_build(&m, &r);
    made_build(&past, &before);
    return limits_judge(&r, &before).first.cause == CAUSE_SLOWER_THAN_BEFORE;
}

static const struct limit_row rows[] = {
    { "steps-least", 1, 2, has_enough_steps, "so many steps are enough for a verdict" },
    { "steps-sure", 19, 20, is_as_sure_as_can_be, "so many steps are enough to be sure" },
    { "wait-warning", 0.099, 0.101, names_waiting, "so much waiting for data is named", AT_HOLDS },
    { "wait-warning", 0.049, 0.0505, says_that_little_is_lost,
      "such a share for checkpoints limits the run", AT_HOLDS },
    { "named", 0.129, 0.131, waiting_is_first, "such a share that is waited for stands first",
      AT_HOLDS },
    { "agreed", 0.198, 0.202, limits_where_four_agree,
      "such a share that comes and goes stands first where four measurements agree" },
    { NULL, 3, 4, limits_where_so_many_agree, "so many measurements agree on what comes and goes" },
    { "mostly", 0.395, 0.405, limits_though_once, "such a share that came once stands first" },
    { "wait-critical", 0.199, 0.201, waiting_is_critical,
      "such a share that is waited for is critical" },
    { "wait-warning", 0.099, 0.101, waiting_warns, "so much waiting for data warns", AT_HOLDS },
    { "wait-warning", 0.099, 0.101, waiting_is_noted, "such a share for checkpoints warns",
      AT_HOLDS },
    { "other-unknown", 0.295, 0.305, does_not_know,
      "such a share in no stage makes a run unknown" },
    { "idle-cpus", 0.0101, 0.0099, idles_on_cpus, "a job that uses so few CPUs is idle" },
    { "idle-cpus", 0.0101, 0.0099, idles_on_gpus, "a job whose GPUs are so busy is idle" },
    { "idle-bytes", 10.1e3, 9.9e3, idles_on_disks, "a job that reads so much is idle" },
    { "idle-cpus", 0.0099, 0.0101, promises_nothing,
      "a job without steps that uses so few CPUs is not said to become faster" },
    { "gpu-busy", 0.855, 0.845, does_not_know_beside_a_gpu,
      "such a share of the time busy leaves a run unknown" },
    { NULL, 0.37, 0.38, communication_is_first, "such a share counts 0.8 where it communicates" },
    { NULL, 0.59, 0.61, the_past_is_first, "such a share counts a third where it was faster before",
      AT_HOLDS_NOT },
};
const struct limit_rows limits_sure = { rows, ARRAY_SIZE(rows) };
