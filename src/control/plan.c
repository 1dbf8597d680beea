#include "control/plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/place.h"
#include "model/site/words.h"
#include "sched/sched.h"

enum { SENTENCE = 1024, NODES_MOST = 1 << 20 };

/* A cycle while it is made. */
struct making {
    const struct control_scene *scene;
    struct control_plan *plan;
    struct policy policy; /* of the scheduler: [idle], and what stands for Slurm */
    struct pool pool;
    struct workload work;
    struct sched *sched;
    uint32_t *node;       /* by number in the site: in the pool; CONTROL_NONE */
    uint32_t *job;        /* by number in the workload: in the site */
    struct kind {         /* by number in the pool: nodes of one are in the same partitions */
        const char *name; /* NULL: nobody said */
        uint64_t partitions;
    } kinds[POOL_KINDS];
};

/* ---- nodes ---- */

/* The number of what joins a node with others, from a table of names that grows: 0 where nobody
 * said. */
static int path_number(struct making *m, const char *path, int32_t *ret)
{
    int number = path ? work_data_number(&m->work, path) : -1;

    *ret = number < 0 ? 0 : number + 1;
    return number == -ENOMEM ? number : 0;
}

static int add_node(struct making *m, size_t i, struct err *e)
{
    const struct site_node *n = &m->scene->site->nodes[i];
    struct pool_node node = {
        .name = n->name,
        .memory_mib = n->memory_mib,
        .cpus_milli = n->cpus * 1000,
        .devices = (uint8_t)n->devices,
    };
    int rc;
    const char *kind = arena_printf(&m->plan->arena, "%s in %" PRIx64, n->kind ? n->kind : "",
                                    n->partitions);
    int number;

    m->node[i] = CONTROL_NONE;
    if (!kind)
        return err_nomem(e);
    if (n->devices < 1 || n->devices > POOL_DEVICES)
        return 0;
    if (path_number(m, n->path, &node.leaf) < 0)
        return err_nomem(e);
    m->node[i] = (uint32_t)m->pool.n_nodes;
    rc = pool_add(&m->pool, &node, kind, e);
    if (rc == -EINVAL && m->pool.n_kinds == POOL_KINDS) { /* more kinds than a policy tells apart */
        m->node[i] = CONTROL_NONE;
        return 0;
    }
    number = rc < 0 ? -1 : pool_kind(&m->pool, kind);
    if (number >= 0)
        m->kinds[number] = (struct kind){ n->kind, n->partitions };
    return rc;
}

static int add_nodes(struct making *m, struct err *e)
{
    const struct site *site = m->scene->site;
    int rc = 0;

    m->node = arena_alloc(&m->plan->arena, site->n_nodes * sizeof(*m->node));
    if (!m->node)
        return err_nomem(e);
    for (size_t i = 0; i < site->n_nodes && rc == 0; i++)
        rc = add_node(m, i, e);
    return rc;
}

static int close_nodes(struct making *m)
{
    const struct site *site = m->scene->site;
    int rc = 0;

    for (size_t i = 0; i < site->n_nodes && rc == 0; i++) {
        const struct site_node *n = &site->nodes[i];

        if (m->node[i] != CONTROL_NONE &&
            (n->state != SITE_NODE_UP || n->drained || n->silent || n->reserved))
            rc = sched_close_node(m->sched, m->node[i], true);
    }
    return rc;
}

/* ---- jobs ---- */

/* What one has that ends is as good as free: whoever waits needs nobody else's. */
static bool has_devices(const struct site_job *j)
{
    return j->state == SITE_STARTING || j->state == SITE_RUNNING || j->state == SITE_SUSPENDED;
}

/* One that would start if it had devices: nothing else keeps it. */
static bool waits_for_devices(const struct site_job *j)
{
    return j->state == SITE_WAITING && !j->depends && j->devices > 0 &&
           (!j->held || control_waits_for_place(j));
}

/* What it is exempt by, if by anything: its partition, account, QOS or user. */
static const char *class_of(const struct making *m, const struct site_job *j)
{
    const char *const names[] = { j->account, j->qos, j->user };
    const struct policy_idle *idle = &m->policy.idle;

    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        for (size_t k = 0; k < idle->n_exempt; k++)
            if (!strcmp(names[i], idle->exempt[k]))
                return names[i];
    return j->partition;
}

/* The kinds of nodes on which a job may run, by what it asks for and its partitions: bits. */
static uint64_t kinds_of(const struct making *m, const struct site_job *j)
{
    uint64_t in = site_partitions_of(m->scene->site, j->partition), kinds = 0;

    for (size_t i = 0; i < m->pool.n_kinds; i++) {
        const struct kind *k = &m->kinds[i];
        bool is = !j->kind || (k->name && !strcmp(k->name, j->kind));

        if (is && (in == 0 || k->partitions == 0 || (k->partitions & in)))
            kinds |= UINT64_C(1) << i;
    }
    return kinds;
}

static int add_work(struct making *m, size_t i, uint64_t kinds)
{
    const struct site_job *j = &m->scene->site->jobs[i];
    struct work *w = ARENA_PUSH(&m->work.arena, &m->work.jobs, &m->work.n_jobs);
    int class;
    int32_t nodes = MAX(j->nodes, 1);

    if (!w)
        return -ENOMEM;
    *w = (struct work){
        .name = arena_printf(&m->work.arena, "%u", (unsigned)j->id),
        .length_ms = WORK_UNKNOWN,
        .limit_ms = j->limit_ms > 0 ? j->limit_ms : WORK_UNKNOWN,
        .restart_ms = -1,
        .devices = j->devices,
        .per_node = j->devices_per_node,
        .cpus_milli = j->cpus / nodes * 1000,
        .memory_mib = (int32_t)MIN(j->memory_mib, INT32_MAX),
        .kinds = kinds,
        .milli = WORK_WHOLE,
        .user = -1,
        .team = -1,
        .fixed = !site_job_may_restart(j),
    };
    class = work_number(&m->work, &m->work.classes, class_of(m, j));
    w->class = (int16_t)MAX(class, -1);
    return w->name && class != -ENOMEM ? 0 : -ENOMEM;
}

/* Jobs that wait, in the order in which Slurm lets them go: by priority, then by their ids. Those
 * that wait for a place have none: they go first, since nobody keeps anything for them. */
struct waiting {
    uint32_t priority, job;
};

static int compare_waiting(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;

    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* What a job that runs has in the pool. False: none of it is told apart. */
static bool fit_of(const struct making *m, const struct site_job *j, struct fit *f)
{
    f->n = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct site_part *p = &j->parts[i];
        uint32_t node = p->node < m->scene->site->n_nodes ? m->node[p->node] : CONTROL_NONE;
        uint32_t all;

        if (node == CONTROL_NONE)
            continue;
        all = (1U << m->pool.nodes[node].devices) - 1;
        if (p->devices & all)
            f->parts[f->n++] = (struct part){ node, (uint16_t)(p->devices & all), WORK_WHOLE,
                                              NO_PART };
    }
    return f->n > 0;
}

/* The workload: first those that hold devices, then those that wait. */
static int add_jobs(struct making *m, struct err *e)
{
    const struct site *site = m->scene->site;
    struct waiting *waits = arena_alloc(&m->plan->arena, site->n_jobs * sizeof(*waits));
    size_t n_waits = 0, n = 0;
    int rc = 0;

    m->job = arena_alloc(&m->plan->arena, site->n_jobs * sizeof(*m->job));
    if (!waits || !m->job)
        return err_nomem(e);
    for (size_t i = 0; i < site->n_jobs && rc == 0; i++) {
        const struct site_job *j = &site->jobs[i];

        if (waits_for_devices(j))
            waits[n_waits++] = (struct waiting){ j->held ? UINT32_MAX : j->priority, (uint32_t)i };
        if (!has_devices(j) || j->devices <= 0 || j->n_parts == 0)
            continue;
        rc = add_work(m, i, 0); /* it is where it is */
        m->job[n++] = (uint32_t)i;
    }
    if (n_waits > 0)
        qsort(waits, n_waits, sizeof(*waits), compare_waiting);
    for (size_t i = 0; i < n_waits && rc == 0; i++) {
        uint64_t kinds = kinds_of(m, &site->jobs[waits[i].job]);

        if (kinds == 0) /* no node that there is would do */
            continue;
        rc = add_work(m, waits[i].job, kinds);
        m->job[n++] = waits[i].job;
    }
    return rc < 0 ? err_nomem(e) : workload_settle(&m->work, e);
}

/* Those that run are there as Slurm has them. One whose devices are not told apart is left out: the
 * scheduler thinks them free, and Slurm knows better. */
static int take_up(struct making *m, uint32_t number, struct fit *f)
{
    const struct site_job *j = &m->scene->site->jobs[m->job[number]];
    const struct control_seen *seen = &m->scene->seen[m->job[number]];
    const struct sched_job was = { .since_ms = j->start_ms, .left_ms = WORK_UNKNOWN };

    if (!has_devices(j))
        return sched_take_up(m->sched, number, m->scene->now_ms, &was, NULL);
    if (!fit_of(m, j, f))
        return 0;
    if (sched_take_up(m->sched, number, m->scene->now_ms, &was, f) < 0)
        return -ENOMEM;
    if (j->state == SITE_RUNNING && seen->bursts.n > 0)
        sched_worked(m->sched, number, &seen->bursts, m->scene->now_ms, 0);
    return 0;
}

static int take_up_all(struct making *m)
{
    struct fit f = { .n = 0 };
    int rc = 0;

    f.parts = arena_alloc(&m->plan->arena, m->pool.n_nodes * sizeof(*f.parts));
    if (!f.parts)
        return -ENOMEM;
    for (uint32_t i = 0; i < m->work.n_jobs && rc == 0; i++)
        rc = take_up(m, i, &f);
    return rc;
}

/* ---- what comes of it ---- */

/* Whether a job that waits could use what another one gives up. Where Slurm does not tell which
 * nodes are in which partition, both are to be in the same. */
static bool may_use(const struct making *m, uint32_t job, uint32_t other)
{
    const struct site *site = m->scene->site;
    const struct site_job *to = &site->jobs[other];

    return site_partitions_of(site, to->partition) != 0 ||
           !strcmp(site->jobs[job].partition, to->partition);
}

/* What a job has on the nodes behind the first ones, which it keeps. */
static int32_t behind(const struct site_job *j, size_t keeps)
{
    int32_t n = 0;

    for (size_t i = keeps; i < j->n_parts; i++)
        n += j->parts[i].count;
    return n;
}

/* A job that can do with fewer nodes keeps those, where the policy says so and that is enough for
 * who waits. */
static void shrink(const struct making *m, struct control_step *s)
{
    const struct site_job *jobs = m->scene->site->jobs, *j = &jobs[s->job];
    struct site_words w = site_words_of(j->comment);
    int64_t idle_ms = bursts_idle_ms(&m->scene->seen[s->job].bursts, m->scene->now_ms);

    if (m->scene->policy->idle.action != IDLE_SHRINK || w.fewest == 0 ||
        (size_t)w.fewest >= j->n_parts || behind(j, (size_t)w.fewest) < jobs[s->other].devices)
        return;
    s->kind = CONTROL_SHRINK;
    s->nodes = w.fewest;
    snprintf(
        s->text, sizeof(s->text),
        "job %u goes on with %d of its %zu nodes: its devices were idle for %lld s, and job %u "
        "waits for %d",
        (unsigned)j->id, (int)w.fewest, j->n_parts,
        (long long)((m->scene->now_ms - idle_ms) / 1000), (unsigned)jobs[s->other].id,
        (int)jobs[s->other].devices);
}

static int add_idle(struct making *m, const struct action *a)
{
    CLEANUP(str_done) struct str why = STR_INIT(SENTENCE);
    uint32_t other = a->other < m->work.n_jobs ? m->job[a->other] : CONTROL_NONE;
    bool warns = a->kind == ACTION_WARN;
    struct control_step *s;

    if (a->why != WHY_IDLE || (!warns && a->kind != ACTION_PREEMPT))
        return 0;
    if (warns && m->scene->seen[m->job[a->job]].told_ms)
        return 0;
    if (!warns && (other == CONTROL_NONE || !may_use(m, m->job[a->job], other)))
        return 0;
    s = ARENA_PUSH(&m->plan->arena, &m->plan->steps, &m->plan->n);
    if (!s)
        return -ENOMEM;
    sched_reason(m->sched, a, m->scene->now_ms, &why);
    *s = (struct control_step){ .kind = warns ? CONTROL_WARN : CONTROL_REQUEUE,
                                .policy = CONTROL_IDLE,
                                .job = m->job[a->job],
                                .node = CONTROL_NONE,
                                .other = other,
                                .devices = m->scene->site->jobs[m->job[a->job]].devices };
    snprintf(s->text, sizeof(s->text), "%s", str_error(&why) ? "" : str_text(&why));
    if (!warns)
        shrink(m, s);
    return str_error(&why) == -ENOMEM ? -ENOMEM : 0;
}

/* Whether it starts once somebody has given way, which others may not let happen. */
static bool needs_others(const struct making *m, uint32_t job)
{
    for (size_t i = 0; i < m->plan->n; i++)
        if (control_step_takes(m->plan->steps[i].kind) && m->plan->steps[i].other == job)
            return true;
    return false;
}

/* A job that starts as the scheduler has it, and waits to be told where. */
static int add_place(struct making *m, uint32_t number)
{
    const struct site *site = m->scene->site;
    CLEANUP(str_done) struct str nodes = STR_INIT(NODES_MOST);
    size_t n = 0;

    if (!control_wants_place(&site->jobs[m->job[number]]) || needs_others(m, m->job[number]))
        return 0;
    for (size_t i = 0; i < site->n_nodes; i++)
        if (m->node[i] != CONTROL_NONE && sched_is_on(m->sched, number, m->node[i]))
            str_addf(&nodes, "%s%s", n++ ? "," : "", site->nodes[i].name);
    return str_error(&nodes)
               ? 0
               : control_place_add(m->plan, site, m->job[number], str_text(&nodes), n);
}

static int pass(struct making *m)
{
    const struct action *actions;
    int64_t again_ms;
    size_t n;
    int rc = sched_pass(m->sched, m->scene->now_ms, &again_ms);

    actions = sched_actions(m->sched, &n);
    for (size_t i = 0; i < n && rc >= 0; i++)
        rc = actions[i].kind == ACTION_START ? add_place(m, actions[i].job)
                                             : add_idle(m, &actions[i]);
    return MIN(rc, 0);
}

/* Slurm itself, as far as it matters for who needs devices: in its order, whatever fits starts. */
static int stand_in(struct making *m, struct err *e)
{
    int rc = policy_named(&m->policy, "greedy", e);

    m->policy.idle = m->scene->policy->idle;
    m->policy.place = m->scene->policy->place;
    if (m->policy.idle.action == IDLE_SHRINK) /* nobody could tell when it needs devices again */
        m->policy.idle.action = IDLE_REQUEUE;
    return rc;
}

int control_plan_make(struct control_plan *ret, const struct control_scene *scene, struct err *e)
{
    struct making m = { .scene = scene, .plan = ret };
    int rc;

    *ret = (struct control_plan){ .n = 0 };
    rc = stand_in(&m, e);
    if (rc == 0)
        rc = add_nodes(&m, e);
    if (rc == 0 && m.pool.n_nodes > 0)
        rc = add_jobs(&m, e);
    if (rc == 0 && m.work.n_jobs > 0) {
        rc = sched_open(&m.sched, &m.policy, &m.pool, &m.work, e);
        if (rc == 0 && (close_nodes(&m) < 0 || take_up_all(&m) < 0 || pass(&m) < 0))
            rc = err_nomem(e);
    }
    if (rc == 0 && control_place_let_go(ret, scene->site, scene->now_ms) < 0)
        rc = err_nomem(e);
    sched_close(m.sched);
    workload_done(&m.work);
    pool_done(&m.pool);
    if (rc < 0)
        control_plan_done(ret);
    return rc;
}

void control_plan_done(struct control_plan *p)
{
    arena_done(&p->arena);
    *p = (struct control_plan){ .n = 0 };
}

/* ---- which policies ---- */

int control_policy_check(const struct policy *p, struct err *e)
{
    const struct {
        bool said;
        const char *part;
    } others[] = {
        { p->quota.n > 0, "[quota]" },
        { p->share.below > 0, "[share]" },
        { p->elastic.on, "[elastic]" },
        { p->service.said, "[service]" },
        { p->spot.said, "[spot]" },
        { p->power.said, "[power]" },
        { p->interleave > 1, "interleave" },
        { p->restart_each_pass, "restart-each-pass" },
        { p->preempt != PREEMPT_NONE, "preempt" },
    };

    if (p->idle.reclaim_ms == 0)
        return err_set(e, -EINVAL,
                       "policy %s: brim control carries out section [idle], and there is none: add "
                       "reclaim = 1h and action = requeue",
                       p->name);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (others[i].said)
            return err_set(
                e, -EINVAL,
                "policy %s: %s: brim control carries out [idle] alone, and Slurm decides "
                "the rest: leave it out",
                p->name, others[i].part);
    return 0;
}
