#include "run/archive/figures.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return COMPARE(left, right);
}

/* Steps that are left out at the start: at most a tenth. */
static size_t warm_of(const struct run_rank *k)
{
    return MIN(k->n_steps / 10, (size_t)FIGURES_WARM);
}

/* The sums without the first steps. */
static struct step steady_of(const struct run_rank *k)
{
    struct step sum = k->total;

    for (size_t i = 0; i < warm_of(k); i++) {
        const struct step *s = &k->steps[i];

        sum.number--;
        sum.begin_ns = s->end_ns;
        for (unsigned g = 0; g < BRIM_STAGES; g++)
            sum.host_s[g] -= s->host_s[g];
        if (!isnan(s->samples))
            sum.samples -= s->samples;
    }
    return sum;
}

/* Of what is known: the mean of shares and rates over ranks, the sum of samples. */
static void add_rank(const struct run_rank *k, struct run_figures *f, double *n)
{
    struct step sum = steady_of(k);
    double seconds = clock_seconds(sum.end_ns - sum.begin_ns), all = 0;

    if (sum.number == 0 || k->total.number == 0 || !(seconds > 0))
        return;
    for (unsigned g = 0; g < BRIM_STAGES; g++)
        all += sum.host_s[g];
    ++*n;
    f->steps += (double)k->total.number;
    f->steps_per_s += (double)sum.number / seconds;
    if (!isnan(sum.samples))
        f->samples_per_s = (isnan(f->samples_per_s) ? 0 : f->samples_per_s) + sum.samples / seconds;
    for (unsigned g = 0; g < BRIM_STAGES && all > 0; g++)
        f->share[g] += sum.host_s[g] / all;
}

static int fill_lengths(const struct run *r, struct run_figures *f)
{
    double *lengths;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < r->n_ranks; i++)
        room += r->ranks[i].n_steps;
    if (room == 0)
        return 0;
    lengths = malloc(room * sizeof(*lengths));
    if (!lengths)
        return -ENOMEM;
    for (size_t i = 0; i < r->n_ranks; i++)
        for (size_t k = warm_of(&r->ranks[i]); k < r->ranks[i].n_steps; k++)
            lengths[n++] = step_seconds(&r->ranks[i].steps[k]);
    qsort(lengths, n, sizeof(*lengths), by_size);
    f->step_s = n % 2 ? lengths[n / 2] : (lengths[n / 2 - 1] + lengths[n / 2]) / 2;
    f->step_p90_s = lengths[MIN(n - 1, n * 9 / 10)];
    free(lengths);
    return 0;
}

/* The mean over the run, by the moments' lengths. */
static double mean_of(const struct run *r, enum run_signal s)
{
    double sum = 0, seconds = 0;

    for (size_t i = 0; i < r->n_moments; i++) {
        if (isnan(r->moments[i].values[s]))
            continue;
        sum += r->moments[i].values[s] * r->moments[i].seconds;
        seconds += r->moments[i].seconds;
    }
    return seconds > 0 ? sum / seconds : (double)NAN;
}

/* The most memory: NaN where every look came when the processes had ended, and had none. */
static double most_memory(const struct run *r, enum run_signal s)
{
    double most = (double)NAN;

    for (size_t i = 0; i < r->n_moments; i++)
        most = fmax(most, r->moments[i].values[s]);
    return most > 0 ? most : (double)NAN;
}

int run_figures(const struct run *r, struct run_figures *f)
{
    double n = 0, work;
    int64_t end_ns = r->end_ns;

    *f = (struct run_figures){ .samples_per_s = (double)NAN,
                               .step_s = (double)NAN,
                               .step_p90_s = (double)NAN,
                               .communication = (double)NAN };
    if (!end_ns && r->n_moments)
        end_ns = r->moments[r->n_moments - 1].wall_ns;
    f->seconds = end_ns >= r->begin_ns && r->begin_ns > 0 ? clock_seconds(end_ns - r->begin_ns)
                                                          : (double)NAN;
    for (size_t i = 0; i < r->n_ranks; i++)
        add_rank(&r->ranks[i], f, &n);
    f->steps /= n;
    f->steps_per_s /= n;
    for (unsigned g = 0; g < BRIM_STAGES; g++)
        f->share[g] /= n;
    work = f->share[BRIM_STAGE_FORWARD] + f->share[BRIM_STAGE_BACKWARD] +
           f->share[BRIM_STAGE_OPTIMIZER];
    if (work > 0)
        f->communication = f->share[BRIM_STAGE_COMMUNICATION] / work;
    f->gpus = mean_of(r, RUN_GPUS);
    f->gpu_busy = mean_of(r, RUN_GPU_BUSY);
    f->cpus = mean_of(r, RUN_CPUS);
    f->job_cpu = mean_of(r, RUN_JOB_CPU);
    f->job_read = mean_of(r, RUN_JOB_IO_READ);
    f->resident = most_memory(r, RUN_JOB_RESIDENT);
    f->pss = most_memory(r, RUN_JOB_PSS);
    return fill_lengths(r, f);
}

static const char *host_of(const struct run *r, size_t rank)
{
    const char *host = r->ranks[rank].host;

    return host && *host ? host : r->host;
}

size_t run_figures_hosts(const struct run *r, const char **names, size_t most)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n_ranks; i++) {
        const char *host = host_of(r, i);
        bool known = !host;

        for (size_t k = 0; k < i && !known; k++)
            known = host_of(r, k) && !strcmp(host_of(r, k), host);
        if (!known && n < most)
            names[n] = host;
        n += !known;
    }
    return n;
}
