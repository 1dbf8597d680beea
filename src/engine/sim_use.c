#include "engine/sim_use.h"

#include <errno.h>
#include <math.h>

int use_open(struct use *u, struct arena *a, const struct workload *w)
{
    *u = (struct use){ .work = w };
    if (w->n_stretches == 0)
        return 0;
    u->submitted_ms = w->jobs[w->n_jobs - 1].submit_ms;
    u->jobs = arena_alloc(a, w->n_jobs * sizeof(*u->jobs));
    if (!u->jobs)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *job = &w->jobs[i];
        struct use_job *j = &u->jobs[i];

        j->at = job->stretch;
        j->left_ms = job->n_stretches ? w->stretches[j->at].ms : job->length_ms;
        j->rest_ms = job->length_ms;
        j->rate = 1;
        j->more = job->n_stretches ? job->n_stretches - 1 : 0;
    }
    return 0;
}

int use_milli(const struct use *u, uint32_t job)
{
    return u->work->jobs[job].n_stretches ? u->work->stretches[u->jobs[job].at].milli : WORK_WHOLE;
}

static bool is_idle(const struct use *u, uint32_t job)
{
    return use_milli(u, job) <= WORK_IDLE;
}

bool use_over(const struct use *u, uint32_t job)
{
    return u->jobs[job].more == 0 && u->jobs[job].left_ms == 0;
}

/* An idle stretch passes by the clock. */
static double rate_of(const struct use *u, uint32_t job)
{
    return is_idle(u, job) ? 1 : u->jobs[job].rate;
}

int64_t use_left(const struct use *u, uint32_t job)
{
    return u->jobs[job].start_ms + u->jobs[job].rest_ms;
}

void use_rate(struct use *u, uint32_t job, int64_t now_ms, double rate)
{
    use_count(u, job, now_ms);
    u->jobs[job].rate = rate;
}

int64_t use_until_ms(const struct use *u, uint32_t job)
{
    const struct use_job *j = &u->jobs[job];

    if (j->holds)
        return j->since_ms + j->start_ms + (int64_t)ceil((double)j->left_ms / rate_of(u, job));
    return is_idle(u, job) ? j->since_ms + j->left_ms : WORK_UNKNOWN;
}

static double before(int64_t from_ms, int64_t to_ms, int64_t limit_ms)
{
    int64_t end = MIN(to_ms, limit_ms);

    return end > from_ms ? (double)(end - from_ms) : 0;
}

/* A part of the time in which the devices of a job did the same. */
static void count(struct use *u, uint32_t job, int64_t from_ms, int64_t to_ms, int64_t did_ms)
{
    const struct work *w = &u->work->jobs[job];
    double devices = (double)w->devices * w->milli / WORK_WHOLE * use_milli(u, job) / WORK_WHOLE;

    double within = to_ms > from_ms
                        ? before(from_ms, to_ms, u->submitted_ms) / (double)(to_ms - from_ms)
                        : 0;

    u->busy += devices * within * (double)did_ms;
    u->busy_all += devices * (double)did_ms;
}

int64_t use_count(struct use *u, uint32_t job, int64_t now_ms)
{
    struct use_job *j = &u->jobs[job];
    int64_t passed = now_ms - j->since_ms, at_ms = j->since_ms, without = 0;

    j->since_ms = now_ms;
    if (!j->begun)
        return 0;
    if (j->holds) {
        int64_t start = MIN(passed, j->start_ms);

        j->start_ms -= start;
        at_ms += start;
        passed -= start;
    } else if (!is_idle(u, job)) {
        return 0;
    }
    while (passed > 0) {
        double rate = rate_of(u, job);
        int64_t all = (int64_t)ceil((double)j->left_ms / rate), ms = MIN(passed, all);
        int64_t did = ms == all ? j->left_ms : (int64_t)((double)ms * rate);

        if (j->holds)
            count(u, job, at_ms, at_ms + ms, did);
        else
            without += did;
        at_ms += ms;
        passed -= ms;
        j->left_ms -= did;
        j->rest_ms -= did;
        if (ms < all || j->more == 0)
            break; /* what it holds beyond its length is idle */
        j->more--;
        j->left_ms = u->work->stretches[++j->at].ms;
        if (!j->holds && !is_idle(u, job))
            break;
    }
    return without;
}

int64_t use_hold(struct use *u, uint32_t job, int64_t now_ms, bool holds, int64_t cost_ms)
{
    int64_t without = use_count(u, job, now_ms);

    u->jobs[job].holds = holds;
    u->jobs[job].begun = true;
    u->jobs[job].start_ms += cost_ms;
    return without;
}
