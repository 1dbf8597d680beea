/* Jobs that say how busy they keep their devices: idle stretches, and devices that two share. */
#include <errno.h>
#include <string.h>

#include "sim/counting.h"
#include "sim/sim_private.h"

/* What a policy and a workload cannot have together with activity. */
static int open(struct sim *m, struct err *e)
{
    const struct policy *p = m->policy;
    size_t n = m->work->n_jobs + 1;

    if (p->length == LENGTH_STEPS)
        return err_set(e, -EINVAL, "%s: length = steps is for jobs that go on at one speed",
                       p->name);
    if (p->restart_each_pass)
        return err_set(e, -EINVAL, "%s: restart-each-pass is for jobs whose activity nobody knows",
                       p->name);
    if (m->work->n_speeds > 0)
        return err_set(e, -EINVAL, "speeds by kinds are for jobs whose activity nobody knows");
    if (p->power.action == POWER_LIMIT)
        return err_set(e, -EINVAL, "%s: action = limit is for jobs whose activity nobody knows",
                       p->name);
    m->partner = arena_alloc(&m->result->arena, n * sizeof(*m->partner));
    if (!m->partner)
        return err_nomem(e);
    memset(m->partner, 0xff, n * sizeof(*m->partner));
    return 0;
}

/* A part of a job's length passed without devices. */
static void pass_without(struct sim *m, uint32_t job, int64_t ms)
{
    const struct sched_job *j = sched_job(m->sched, job);

    if (ms == 0)
        return;
    m->left_ms[job] -= ms;
    m->result->jobs[job].idle_ms += ms;
    if (j->state == SCHED_RUNNING && j->left_ms != WORK_UNKNOWN)
        sched_progress(m->sched, job, m->now_ms, MAX(sched_job_left(j, m->now_ms) - ms, 0));
}

/* How fast a job works beside the one that shares its devices. */
static double rate_of(const struct sim *m, uint32_t job)
{
    uint32_t partner = m->partner[job];
    int use, other;

    if (partner == WAITING_NONE)
        return sim_pace(m, job);
    use = use_milli(&m->use, job);
    other = use_milli(&m->use, partner);
    if (use <= WORK_IDLE || other <= WORK_IDLE)
        return 1;
    return WORK_WHOLE / (double)MAX(use + other, WORK_WHOLE) * WORK_WHOLE /
           (WORK_WHOLE + m->policy->share.cost);
}

/* Its rate may have changed: when it ends follows. */
static int set_rate(struct sim *m, uint32_t job)
{
    use_rate(&m->use, job, m->now_ms, rate_of(m, job));
    return sim_expect(m, job, true);
}

/* A job leaves the devices that it shares, if it does. */
static int part(struct sim *m, uint32_t job)
{
    uint32_t partner = m->partner[job];

    if (partner == WAITING_NONE)
        return 0;
    m->partner[job] = m->partner[partner] = WAITING_NONE;
    use_rate(&m->use, job, m->now_ms, 1);
    use_guest(&m->use, job, m->now_ms, false);
    use_guest(&m->use, partner, m->now_ms, false);
    return set_rate(m, partner);
}

/* Tell the scheduler how busy a job keeps its devices. */
static void tell_use(struct sim *m, uint32_t job)
{
    if (m->policy->idle.reclaim_ms > 0 || m->policy->share.below > 0)
        sched_use(m->sched, job, m->now_ms, use_milli(&m->use, job));
}

int sim_join(struct sim *m, uint32_t guest, uint32_t host)
{
    sim_stop_job(m, guest);
    use_hold(&m->use, guest, m->now_ms, true, sched_restart_ms(m->sched, guest));
    use_guest(&m->use, guest, m->now_ms, true);
    m->left_ms[guest] = use_left(&m->use, guest);
    m->since_ms[guest] = m->now_ms;
    m->partner[guest] = host;
    m->partner[host] = guest;
    m->result->joined++;
    if (sim_begin_span(m, guest) < 0)
        return -ENOMEM;
    return set_rate(m, guest) < 0 ? -ENOMEM : set_rate(m, host);
}

static int64_t until_ms(const struct sim *m, uint32_t job, bool runs, int64_t notice_ms)
{
    int64_t at_ms = use_until_ms(&m->use, job);

    return at_ms + (runs && !m->use.jobs[job].more ? notice_ms : 0);
}

static int happens(struct sim *m, uint32_t job)
{
    const struct sched_job *j = sched_job(m->sched, job);
    int64_t passed = use_count(&m->use, job, m->now_ms);
    bool asked = m->policy->idle.reclaim_ms > 0;

    pass_without(m, job, passed);
    if (use_over(&m->use, job))
        return sim_end_job(m, job) < 0 ? -ENOMEM : true;
    if (j->state == SCHED_AWAY) {
        m->result->jobs[job].away_ms += m->now_ms - m->since_ms[job];
        m->since_ms[job] = m->now_ms;
        sched_wake(m->sched, job, m->now_ms, passed);
        asked = true;
    }
    if (j->state != SCHED_RUNNING)
        return sim_expect(m, job, false) < 0 ? -ENOMEM : asked;
    tell_use(m, job);
    if (m->partner[job] != WAITING_NONE && set_rate(m, m->partner[job]) < 0)
        return -ENOMEM;
    return set_rate(m, job) < 0 ? -ENOMEM : asked;
}

static void early(struct sim *m, uint32_t job, int64_t ms)
{
    m->use.jobs[job].start_ms -= ms;
}

static void started(struct sim *m, uint32_t job, int64_t delay_ms)
{
    pass_without(m, job, use_hold(&m->use, job, m->now_ms, true, delay_ms));
    if (sched_resizes(m->sched))
        use_devices(&m->use, job, m->now_ms, sim_devices(m, job), sim_pace(m, job));
    tell_use(m, job);
}

static int waits(struct sim *m, uint32_t job)
{
    if (part(m, job) < 0)
        return -ENOMEM;
    if (sched_job(m->sched, job)->state != SCHED_AWAY)
        use_stopped(&m->use, job);
    return sim_expect(m, job, false);
}

static int preempted(struct sim *m, uint32_t job, int64_t cost_ms)
{
    use_hold(&m->use, job, m->now_ms, false, cost_ms);
    m->left_ms[job] = use_left(&m->use, job);
    return waits(m, job);
}

static int64_t goes_back(struct sim *m, uint32_t job, bool lost, int64_t restart_ms)
{
    int64_t back = 0;

    if (lost)
        back = use_lose(&m->use, job, m->now_ms, restart_ms);
    else
        use_hold(&m->use, job, m->now_ms, false, restart_ms);
    m->left_ms[job] = use_left(&m->use, job);
    return back;
}

static void resized(struct sim *m, uint32_t job, int32_t devices, int64_t cost_ms)
{
    use_hold(&m->use, job, m->now_ms, true, cost_ms);
    use_devices(&m->use, job, m->now_ms, devices, sim_pace(m, job));
    m->left_ms[job] = use_left(&m->use, job);
}

static int ended(struct sim *m, uint32_t job)
{
    use_hold(&m->use, job, m->now_ms, false, 0);
    return part(m, job);
}

static void sum(struct sim *m)
{
    const struct use *u = &m->use;
    struct sim_result *r = m->result;

    r->measured = true;
    memcpy(r->spent, u->spent, sizeof(r->spent));
    r->busy = u->spent[USE_COUNTED][USE_BUSY];
    r->busy_all = u->spent[USE_ALL][USE_BUSY];
    r->losses.restarts = u->spent[USE_ALL][USE_START];
    r->losses.redone = u->spent[USE_ALL][USE_REDONE];
    r->losses.saving = u->spent[USE_ALL][USE_SAVING];
}

const struct sim_counting counting_by_use = {
    .own_rate = true,
    .away = true,
    .open = open,
    .until_ms = until_ms,
    .happens = happens,
    .early = early,
    .count = sim_count_work,
    .started = started,
    .preempted = preempted,
    .goes_back = goes_back,
    .waits = waits,
    .resized = resized,
    .ended = ended,
    .sum = sum,
};
