/* Replicas, spot jobs and power in the simulator. */
#include <errno.h>

#include "sim/feature.h"
#include "sim/sim_private.h"

static int open(struct sim *m, struct err *e)
{
    const struct policy *p = m->policy;
    int rc = 0;

    if (p->power.cap_mw > 0 && !m->options->watts)
        return err_set(e, -EINVAL,
                       "%s: [power] needs to know what devices draw, which is not "
                       "known of nodes to add",
                       p->name);
    if (p->spot.said)
        m->use.saves = true; /* what they have saved is not lost when they give way */
    if (p->power.cap_mw > 0)
        rc = sched_watts(m->sched, m->options->watts, e);
    return rc < 0 ? rc : p->spot.said || p->service.said || m->options->watts;
}

/* What it held devices for, up to the last submission. */
static void stops(struct sim *m, uint32_t job)
{
    const struct work *w = &m->work->jobs[job];
    int64_t ms = MIN(m->now_ms, m->result->submitted_ms) - m->since_ms[job];
    double devices = (double)w->devices * w->milli / WORK_WHOLE;

    if (ms <= 0)
        return;
    if (sched_is_spot(m->sched, job))
        m->result->tiers.spot += devices * (double)ms;
    else if (sched_is_service(m->sched, job))
        m->result->tiers.service += devices * (double)ms;
}

/* What spot jobs leave meanwhile, they save; and what is drawn. */
static void passes(struct sim *m, int64_t at_ms)
{
    double devices = (double)sched_leaving(m->sched) / WORK_WHOLE;
    int64_t counted_ms = sim_counted(m, at_ms);

    if (m->policy->spot.notice_ms > 0) {
        m->use.spent[USE_COUNTED][USE_SAVING] += devices * (double)counted_ms;
        m->use.spent[USE_ALL][USE_SAVING] += devices * (double)(at_ms - m->now_ms);
    }
    if (m->options->watts)
        m->result->tiers.drawn += (double)sched_drawn_mw(m->sched) * (double)counted_ms;
}

static int64_t acted(struct sim *m)
{
    if (m->options->watts) {
        m->result->tiers.peak_mw = MAX(m->result->tiers.peak_mw, sched_drawn_mw(m->sched));
        m->result->tiers.limited = sched_limited(m->sched);
    }
    return WORK_UNKNOWN;
}

const struct sim_feature sim_tiers = {
    .open = open,
    .stops = stops,
    .passes = passes,
    .acted = acted,
};
