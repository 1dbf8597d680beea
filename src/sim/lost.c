/* Nodes that fail or are planned to be away, and the jobs on them. */
#include <errno.h>

#include "sim/counting.h"
#include "sim/feature.h"
#include "sim/outages.h"
#include "sim/sim_private.h"

/* Failures do not go on for ever after the last submission. */
static const int64_t endless_ms = (int64_t)5 * 365 * 86400 * 1000;

static void tell(struct sim *m, const struct action *a)
{
    m->result->events++;
    if (m->options->watch)
        m->options->watch(m->options->ctx, m->sched, a, m->now_ms);
}

/* What is known to be left of a job that waits again. */
static int64_t known_left(const struct sim *m, uint32_t job)
{
    int64_t left = sim_known_left(m, job, m->left_ms[job] - m->fresh_ms[job]);

    return left == WORK_UNKNOWN ? left : left + m->fresh_ms[job];
}

/* It goes back to its last checkpoint, and pays a start. Returns the work that it goes back by. */
static int64_t go_back(struct sim *m, uint32_t job)
{
    int64_t restart = sched_restart_ms(m->sched, job), back;

    sim_ran(m, job); /* before its start is forgotten */
    (void)sim_drop_data(m, job);
    back = m->counting->goes_back(m, job, true, restart);
    m->fresh_ms[job] = restart;
    return back;
}

/* A job's node is lost: it goes back to its last checkpoint and waits. */
static int lose_job(struct sim *m, uint32_t job, uint32_t node)
{
    struct sim_job *j = &m->result->jobs[job];
    struct action a = { .job = job, .kind = ACTION_LOSE, .other = node };

    a.until_ms = go_back(m, job);
    tell(m, &a);
    sim_stop_job(m, job);
    m->result->losses.jobs++;
    m->since_ms[job] = m->now_ms;
    if (++j->losses == SIM_LOSSES) {
        j->fate = SIM_ENDLESS;
        sched_end(m->sched, job, m->now_ms);
        m->result->losses.endless++;
        m->unfinished--;
    } else {
        sched_return(m->sched, job, m->now_ms, known_left(m, job));
    }
    return m->counting->waits ? m->counting->waits(m, job) : 0;
}

/* A job leaves a node whose window begins: it saves what it did and waits. */
static int leave(struct sim *m, uint32_t job, uint32_t node)
{
    tell(m, &(struct action){ .job = job, .kind = ACTION_LEAVE, .other = node });
    if (sim_preempt_job(m, job) < 0)
        return -ENOMEM;
    sched_return(m->sched, job, m->now_ms, known_left(m, job));
    return 0;
}

static int lose_node(struct sim *m, const struct outage_step *x)
{
    bool planned = x->kind == OUTAGE_WINDOW;
    size_t n;
    const uint32_t *running = sched_running(m->sched, &n);

    m->result->losses.failures += !planned;
    tell(m, &(struct action){ .job = UINT32_MAX,
                              .kind = planned ? ACTION_WINDOW : ACTION_DOWN,
                              .other = x->node,
                              .until_ms = x->until_ms });
    while (n-- > 0) { /* the last one takes the place of one that goes */
        if (!sched_is_on(m->sched, running[n], x->node))
            continue;
        if ((planned ? leave(m, running[n], x->node) : lose_job(m, running[n], x->node)) < 0)
            return -ENOMEM;
    }
    sched_node(m->sched, x->node, false);
    if (x->other == UINT32_MAX)
        return 0;
    sched_node(m->sched, x->other, true);
    tell(m, &(struct action){ .job = x->node, .kind = ACTION_STANDS, .other = x->other });
    return 0;
}

/* Nothing starts on a node any more, or may again. */
static int shut(struct sim *m, const struct outage_step *x)
{
    if (x->opens)
        return sched_close_node(m->sched, x->node, false);
    if (x->up || x->kind != OUTAGE_CLOSES)
        return 0;
    tell(m,
         &(struct action){
             .job = UINT32_MAX, .kind = ACTION_CLOSE, .other = x->node, .until_ms = x->until_ms });
    return sched_close_node(m->sched, x->node, true);
}

static int happens(struct sim *m)
{
    struct outage_step x;
    int rc, any = 0;

    while ((rc = outages_step(m->outages, m->now_ms, &x)) > 0) {
        if (shut(m, &x) < 0)
            return -ENOMEM;
        if (!x.used || (!x.up && x.kind == OUTAGE_CLOSES))
            continue;
        any = 1;
        if (!x.up) {
            if (lose_node(m, &x) < 0)
                return -ENOMEM;
            continue;
        }
        sched_node(m->sched, x.node, true);
        tell(m, &(struct action){ .job = UINT32_MAX, .kind = ACTION_UP, .other = x.node });
    }
    return rc < 0 ? rc : any;
}

/* Leave out the jobs that no time would end. */
static void ended(struct sim *m)
{
    for (size_t i = 0; m->unfinished > 0 && i < m->work->n_jobs; i++) {
        struct sim_job *j = &m->result->jobs[i];

        if (j->fate != SIM_ENDED ||
            (j->starts > 0 && sched_job(m->sched, (uint32_t)i)->state == SCHED_ABSENT))
            continue;
        j->fate = SIM_ENDLESS;
        m->result->losses.endless++;
        m->unfinished--;
    }
}

static int64_t next_ms(const struct sim *m)
{
    return outages_next(m->outages);
}

/* Which nodes fail, and which are kept back for them. */
static int open(struct sim *m, struct err *e)
{
    struct outages *f;
    int rc;

    if (!m->options->outages)
        return 0;
    if (m->policy->restart_each_pass)
        return err_set(e, -EINVAL, "%s starts all jobs anew in each pass: not with failures",
                       m->policy->name);
    if (m->counting->own_rate && sched_resizes(m->sched))
        return err_set(e, -EINVAL,
                       "%s: with failures [elastic] is for jobs whose activity nobody knows",
                       m->policy->name);
    f = arena_alloc(&m->result->arena, sizeof(*f));
    if (!f)
        return err_nomem(e);
    m->outages = f;
    rc = outages_open(f, m->options->outages, m->pool, e);
    if (rc < 0)
        return rc;
    m->save_cost_ms = m->options->outages->checkpoint_cost_ms;
    m->use.saves = true;
    m->use.cost_ms = m->save_cost_ms;
    if (!m->counting->own_rate)
        m->counting = &counting_with_saves;
    m->until_ms = m->result->submitted_ms + endless_ms;
    for (uint32_t i = 0; i < m->pool->n_nodes; i++)
        if (f->state[i] == OUTAGE_SPARE)
            sched_node(m->sched, i, false);
    return 1;
}

static void finish(struct sim *m)
{
    if (m->outages)
        outages_done(m->outages);
}

const struct sim_feature sim_lost = {
    .open = open,
    .close = finish,
    .next_ms = next_ms,
    .happens = happens,
    .ended = ended,
};
