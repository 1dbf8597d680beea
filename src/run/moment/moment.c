#include "run/moment/moment.h"

#include "base/clock.h"
#include "run/moment/moment_private.h"

const char *const moment_samplers[] = { "stat", "memory",  "vmstat", "pressure", "disk", "net",
                                        "nfs",  "softnet", "cgroup", "nvml",     "amd",  "intel",
                                        "dcmi", "fake",    "rapl",   NULL };

static void fill_job(const struct moment_view *v, const struct family_growth *g)
{
    const struct {
        enum run_signal signal;
        double value;
    } rates[] = {
        { RUN_JOB_CPU, g->cpu_s },
        { RUN_JOB_RUN_WAIT, g->run_wait_s },
        { RUN_JOB_IO_WAIT, g->io_wait_s },
        { RUN_JOB_MEMORY_WAIT, g->memory_wait_s },
        { RUN_JOB_READ, g->read_b },
        { RUN_JOB_WRITE, g->written_b },
        { RUN_JOB_IO_READ, g->io_read_b },
        { RUN_JOB_IO_WRITTEN, g->io_written_b },
        { RUN_JOB_READ_CALLS, g->read_calls },
        { RUN_JOB_WRITE_CALLS, g->write_calls },
        { RUN_JOB_MAJOR_FAULTS, g->major_faults },
        { RUN_JOB_PREEMPTIONS, g->preemptions },
    };

    v->values[RUN_JOB_PROCESSES] = g->processes;
    v->values[RUN_JOB_THREADS] = g->threads;
    v->values[RUN_JOB_BLOCKED] = g->blocked;
    v->values[RUN_JOB_RESIDENT] = g->resident_b;
    for (size_t i = 0; i < ARRAY_SIZE(rates); i++)
        v->values[rates[i].signal] = rates[i].value / v->seconds;
    if (!(g->ranks > 0))
        return;
    v->values[RUN_RANK_CPU] = g->rank_cpu_s / g->ranks / v->seconds;
    v->values[RUN_RANK_THREAD_CPU] = g->thread_cpu_s / g->ranks / v->seconds;
    v->values[RUN_RANK_THREAD_WAIT] = g->thread_run_wait_s / g->ranks / v->seconds;
    v->values[RUN_WORKERS] = g->workers;
    if (!(g->workers > 0))
        return;
    v->values[RUN_WORKER_CPU] = g->worker_cpu_s / g->workers / v->seconds;
    v->values[RUN_WORKER_IO_WAIT] = g->worker_blocked / g->workers;
    if (g->worker_io_wait_s / v->seconds > g->worker_blocked)
        v->values[RUN_WORKER_IO_WAIT] = g->worker_io_wait_s / v->seconds / g->workers;
}

static double not_below_zero(double value)
{
    return value < 0 ? 0 : value;
}

/* What the node did and the job did not. */
static void fill_others(const struct moment_view *v)
{
    double *x = v->values;

    x[RUN_OTHER_CPU] = not_below_zero(x[RUN_CPU_BUSY] * x[RUN_CPUS] - x[RUN_JOB_CPU]);
    x[RUN_OTHER_READ] = not_below_zero(x[RUN_DISK_READ] - x[RUN_JOB_READ]);
    x[RUN_OTHER_WRITE] = not_below_zero(x[RUN_DISK_WRITE] - x[RUN_JOB_WRITE]);
}

static void fill_cgroup(const struct moment_view *v, const char *cgroup)
{
    size_t n;
    const struct signal_row *row = tick_set(v->now, "cgroup", &n);

    if (!row || !*cgroup)
        return;
    row = tick_find(v->now, row->set, cgroup);
    if (!row)
        return;
    v->values[RUN_JOB_CPU_LIMIT] = moment_gauge(row, "cpu_limit_cores", NULL);
    v->values[RUN_JOB_MEMORY] = moment_gauge(row, "memory_bytes", NULL);
    v->values[RUN_JOB_MEMORY_LIMIT] = moment_gauge(row, "memory_limit_bytes", NULL);
    v->values[RUN_JOB_THROTTLED] = moment_rate(v, row, "throttled_periods_total", NULL) /
                                   moment_rate(v, row, "periods_total", NULL);
}

void moment_make(const struct tick *before, const struct tick *now,
                 const struct family_growth *growth, const struct moment_job *job,
                 struct run_moment *ret)
{
    struct moment_view v = { .before = before, .now = now, .values = ret->values };

    ret->wall_ns = now->wall_ns;
    ret->monotonic_ns = now->monotonic_ns;
    ret->seconds = v.seconds = clock_seconds(now->monotonic_ns - before->monotonic_ns);
    for (int i = 0; i < RUN_SIGNALS; i++)
        ret->values[i] = (double)NAN;
    moment_host(&v);
    moment_io(&v);
    moment_gpus(&v, job);
    fill_cgroup(&v, job->cgroup);
    fill_job(&v, growth);
    fill_others(&v);
    for (int i = 0; i < RUN_SIGNALS; i++)
        if (!isfinite(ret->values[i]))
            ret->values[i] = (double)NAN;
}

void moment_merge(struct run_moment *into, const struct run_moment *from)
{
    double all = into->seconds + from->seconds;

    for (int i = 0; i < RUN_SIGNALS; i++) {
        double *value = &into->values[i];

        if (isnan(*value))
            *value = from->values[i];
        else if (!isnan(from->values[i]) && all > 0)
            *value += (from->values[i] - *value) * (from->seconds / all);
    }
    into->wall_ns = from->wall_ns;
    into->monotonic_ns = from->monotonic_ns;
    into->seconds = all;
}
