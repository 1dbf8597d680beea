#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/signal/sorted.h"

#include "sim/stats/stats.h"

static const double hour_ms = 3600e3;

void sim_tier_stats_done(struct sim_tier_stats *s)
{
    arena_done(&s->arena);
    *s = (struct sim_tier_stats){ .n_services = 0 };
}

static bool is_of(const struct workload *w, size_t job, const struct policy_classes *c)
{
    int class = w->jobs[job].class;

    for (size_t i = 0; i < c->n && class >= 0; i++)
        if (!strcmp(c->names[i], w->classes.names[class]))
            return true;
    return false;
}

/* The waits of the replicas of some classes, with room for all jobs. */
static void look_at(struct sim_service *ret, const struct policy_classes *c, double *waits,
                    const struct sim_result *r, const struct policy *policy,
                    const struct workload *w)
{
    size_t in_time = 0;

    for (size_t i = 0; i < w->n_jobs; i++) {
        double wait = (double)(r->jobs[i].start_ms - w->jobs[i].submit_ms) / 1e3;

        if (!is_of(w, i, c))
            continue;
        ret->replicas++;
        if (r->jobs[i].starts == 0)
            continue;
        in_time += r->jobs[i].start_ms - w->jobs[i].submit_ms <= policy->service.within_ms;
        ret->wait += wait;
        waits[ret->started++] = wait;
    }
    ret->within = ret->replicas ? (double)in_time / (double)ret->replicas : (double)NAN;
    if (ret->started == 0) {
        ret->wait = ret->p50 = ret->p99 = ret->max = (double)NAN;
        return;
    }
    sorted_put(waits, ret->started);
    ret->wait /= (double)ret->started;
    ret->p50 = sorted_quantile(waits, ret->started, 0.5);
    ret->p99 = sorted_quantile(waits, ret->started, 0.99);
    ret->max = waits[ret->started - 1];
}

static int look_at_services(struct sim_tier_stats *s, const struct sim_result *r,
                            const struct policy *policy, const struct workload *w)
{
    const struct policy_classes *all = &policy->service.classes;
    CLEANUP(freep) double *waits = calloc(w->n_jobs + 1, sizeof(*waits));

    s->services = arena_alloc(&s->arena, (all->n + 1) * sizeof(*s->services));
    if (!waits || !s->services)
        return -ENOMEM;
    for (size_t i = 0; i < all->n; i++) {
        struct policy_classes one = { .n = 1 };

        memcpy(one.names[0], all->names[i], sizeof(one.names[0]));
        s->services[i].name = arena_strdup(&s->arena, all->names[i]);
        if (!s->services[i].name)
            return -ENOMEM;
        look_at(&s->services[i], &one, waits, r, policy, w);
    }
    s->n_services = all->n;
    if (all->n < 2)
        return 0;
    s->services[all->n].name = "all";
    look_at(&s->services[s->n_services++], all, waits, r, policy, w);
    return 0;
}

int sim_tier_stats_make(struct sim_tier_stats *ret, const struct sim_result *r,
                        const struct policy *policy, const struct workload *work, struct err *e)
{
    struct sim_tier_stats s = { .n_services = 0 };

    if (policy->service.said && look_at_services(&s, r, policy, work) < 0) {
        sim_tier_stats_done(&s);
        return err_nomem(e);
    }
    for (size_t i = 0; i < work->n_jobs && (policy->spot.said || policy->power.said); i++) {
        const struct work *w = &work->jobs[i];
        const struct sim_job *j = &r->jobs[i];
        bool ended = j->fate == SIM_ENDED && j->end_ms <= r->submitted_ms;

        if (ended)
            s.done_hours += (double)w->length_ms / hour_ms * w->devices * w->milli / WORK_WHOLE;
        if (policy->spot.said && is_of(work, i, &policy->spot.classes)) {
            s.spot_jobs++;
            s.spot_ended += ended;
        }
    }
    *ret = s;
    return 0;
}
