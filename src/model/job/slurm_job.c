#include "model/job/slurm_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

/* Steps that are no srun of the user's have numbers from here on: of the batch script, the shell
 * of salloc, and what was adopted. */
enum { DIGITS = 18 };
#define STEP_SPECIAL 0xfffffff0u

static bool number(const struct run *r, const char *name, uint64_t *ret)
{
    const char *text = run_environment(r, name);

    return text && parse_u64(text, ret) == 0 && *ret <= INT64_MAX;
}

bool slurm_job_of(const struct run *r, struct slurm_job *ret)
{
    struct slurm_job j = { .step = -1, .task = -1 };
    uint64_t n;

    if (!number(r, "env.SLURM_JOB_ID", &j.job) || j.job == 0)
        return false;
    if (number(r, "env.SLURM_STEP_ID", &n) && n < STEP_SPECIAL)
        j.step = (int64_t)n;
    if (number(r, "env.SLURM_ARRAY_JOB_ID", &j.array) && number(r, "env.SLURM_ARRAY_TASK_ID", &n))
        j.task = (int64_t)n;
    if (!number(r, "env.SLURM_RESTART_COUNT", &j.restarts))
        j.restarts = 0;
    j.name = run_environment(r, "env.SLURM_JOB_NAME");
    j.cluster = run_environment(r, "env.SLURM_CLUSTER_NAME");
    *ret = j;
    return true;
}

struct slurm_job_text slurm_job_say(const struct slurm_job *j)
{
    struct slurm_job_text t;
    char step[32] = "", requeue[40] = "";

    if (j->step >= 0)
        snprintf(step, sizeof(step), ".%" PRId64, j->step);
    if (j->restarts)
        snprintf(requeue, sizeof(requeue), ", requeue %" PRIu64, j->restarts);
    if (j->task >= 0)
        snprintf(t.text, sizeof(t.text), "%" PRIu64 "_%" PRId64 "%s%s", j->array, j->task, step,
                 requeue);
    else
        snprintf(t.text, sizeof(t.text), "%" PRIu64 "%s%s", j->job, step, requeue);
    return t;
}

/* The number at *at, which is moved behind it. */
static bool take(const char **at, uint64_t *ret)
{
    int n = parse_digits(*at, 10, DIGITS, ret);

    *at += n;
    return n > 0;
}

bool slurm_job_is(const struct slurm_job *j, const char *which)
{
    uint64_t job, task, step;

    if (j->name && !strcmp(j->name, which))
        return true;
    if (!take(&which, &job))
        return false;
    if (*which == '_') {
        which++;
        if (!take(&which, &task) || j->task < 0 || job != j->array || task != (uint64_t)j->task)
            return false;
    } else if (job != j->job && (j->task < 0 || job != j->array)) {
        return false;
    }
    if (*which == '.') {
        which++;
        if (!take(&which, &step) || j->step < 0 || step != (uint64_t)j->step)
            return false;
    }
    return !*which;
}
