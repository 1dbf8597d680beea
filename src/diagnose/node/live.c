#include "diagnose/node/live.h"

#include <string.h>

#include "base/clock.h"
#include "diagnose/node/live_private.h"

/* The time constant of averages: a stage that goes from nothing to its limit is called so after
 * about three times that. */
static const double mean_s = 2;

static const struct live_stage_ops *const stages[LIVE_STAGES] = {
    [LIVE_STORAGE] = &live_storage, [LIVE_CPU] = &live_cpu,         [LIVE_PCIE] = &live_pcie,
    [LIVE_GPU] = &live_gpu,         [LIVE_NETWORK] = &live_network,
};

/* Move a mean towards what is measured now; what was or is not known starts anew. */
static double mean(double was, double now, double weight)
{
    return isnan(was) || isnan(now) ? now : was + weight * (now - was);
}

static enum live_state state_of(const struct live_stage *s, enum live_stage_id id, bool idle)
{
    const struct live_limits *x = &live_limits;
    double limit = id == LIVE_GPU ? x->gpu_busy : x->load_limit;

    if (idle)
        return LIVE_IDLE;
    if (isnan(s->load))
        return LIVE_UNKNOWN;
    if (s->load >= limit)
        return LIVE_LIMIT;
    if (s->state == LIVE_LIMIT && s->load >= limit - (x->load_limit - x->load_leave))
        return LIVE_LIMIT;
    if (s->load >= x->load_busy)
        return LIVE_BUSY;
    return s->load < (id == LIVE_GPU ? x->gpu_idle : x->load_idle) ? LIVE_IDLE : LIVE_OK;
}

static void update_stage(const struct live_view *v, enum live_stage_id id, double weight)
{
    struct live_measure m = { .load = -1, .thing = "" };
    struct live_stage *s = &v->l->stages[id];
    bool same;

    stages[id]->measure(v, &m);
    same = s->cause == m.cause && !strcmp(s->thing, m.thing);
    s->load = mean(s->state == LIVE_UNKNOWN ? (double)NAN : s->load,
                   m.load < 0 ? (double)NAN : m.load, weight);
    for (size_t i = 0; i < LIVE_FIGURES; i++)
        s->figures[i] = mean(same ? s->figures[i] : (double)NAN, m.figures[i], weight);
    s->cause = m.cause;
    s->weak = m.weak;
    live_say(s->thing, sizeof(s->thing), "%s", m.thing);
    s->state = state_of(s, id, m.idle);
    s->value[0] = s->detail[0] = 0;
    stages[id]->describe(v, s);
}

static struct live_view view(struct live *l, const struct tick *before, const struct tick *now)
{
    struct live_view v = { .l = l, .before = before, .now = now, .seconds = (double)NAN };

    if (before->n_rows && now->monotonic_ns > before->monotonic_ns)
        v.seconds = clock_seconds(now->monotonic_ns - before->monotonic_ns);
    return v;
}

void live_resort(struct live *l, const struct tick *before, const struct tick *now)
{
    struct live_view v = view(l, before, now);

    live_fill_processes(&v);
}

void live_update(struct live *l, const struct tick *before, const struct tick *now)
{
    struct live_view v = view(l, before, now);
    double weight;

    weight = isnan(v.seconds) ? 1 : v.seconds / (v.seconds + mean_s);
    l->wall_ns = now->wall_ns;
    l->interval_s = v.seconds;
    live_fill_host(&v);
    l->cpu_mean = mean(l->stages[LIVE_CPU].state == LIVE_UNKNOWN ? (double)NAN : l->cpu_mean,
                       l->cpu.busy, weight);
    live_fill_devices(&v);
    live_fill_gpus(&v);
    live_fill_processes(&v);
    for (int id = 0; id < LIVE_STAGES; id++)
        update_stage(&v, (enum live_stage_id)id, weight);
    live_judge(&v, stages);
}
