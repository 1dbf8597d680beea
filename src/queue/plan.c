#include "queue/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "queue/job/idle_history.h"
#include "queue/job/sharing.h"
#include "sched/engine.h"

enum { LABEL = 48, PASSES = 100000 };

/* What a job that says nothing of it loses with fewer devices (docs/sim/elastic.md), and for how
 * long one is let alone. */
static const float scaling_usual = 0.8F;
static const int64_t every_usual_ms = 600000;

/* A job that is being stopped goes last: it is the first to be stopped for another one. */
enum { GOES_LAST = INT16_MIN / 32 };

void queue_plan_done(struct queue_plan *p)
{
    sched_close(p->sched);
    workload_done(&p->work);
    arena_done(&p->arena);
}

/* Times of the scheduler count from the first submission. */
static int64_t of_wall(const struct queue_plan *p, int64_t ms)
{
    return MAX(ms - p->work.first_ms, 0);
}

/* A job that was stopped and goes on at once has its place. */
static bool has_place(const struct queue_job *j)
{
    return queue_job_has(j) || *j->next;
}

static const char *place_of(const struct queue_job *j)
{
    return *j->next ? j->next : j->slots;
}

/* One that is being stopped, and has no place after that. */
static bool leaves(const struct queue_job *j)
{
    return j->stop != QUEUE_GO && !*j->next;
}

static bool any_stretches(const struct queue_scene *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (queue_job_stretches(s->items[i].job))
            return true;
    return false;
}

/* What the queue makes of the policy. Jobs that were left with fewer devices get more when nobody
 * waits, whether it has [elastic] or not. */
static int adapt(struct queue_plan *p, struct err *e)
{
    struct policy *y = &p->policy;
    int rc;

    *y = *p->scene.policy;
    if (y->idle.action == IDLE_SHRINK) /* who has no devices meanwhile is not in the plan */
        y->idle.action = IDLE_REQUEUE;
    rc = engine_change(y, ENGINE_LOCAL, e);
    if (!y->elastic.on && y->share.below == 0 && !y->restart_each_pass &&
        y->backfill != BACKFILL_CONSERVATIVE &&
        (y->preempt == PREEMPT_NONE || y->preempt == PREEMPT_VICTIMS) && any_stretches(&p->scene))
        y->elastic = (struct policy_elastic){ .on = true,
                                              .grow = true,
                                              .every_ms = every_usual_ms };
    return rc;
}

/* What it can go on with; where nobody resizes it, it is as large as its place. */
static void stretch(const struct queue_plan *p, const struct queue_job *j, struct work *w)
{
    int32_t has = has_place(j) ? queue_slots_count(place_of(j)) : 0;

    if (!queue_job_stretches(j))
        return;
    if (p->policy.elastic.on && !leaves(j)) {
        w->least = j->least;
        w->most = j->devices;
        w->scaling = scaling_usual;
    } else if (has > 0) {
        w->devices = has;
        w->cpus_milli = queue_job_cpus(j, has) * 1000;
    }
}

/* The number of a user, team or class. Of more than WORK_GROUPS those that come late have none. */
static int name_group(struct queue_plan *p, struct work_names *table, const char *name,
                      int16_t *ret)
{
    int number = *name ? work_number(&p->work, table, name) : ABSENT;

    *ret = (int16_t)MAX(number, ABSENT);
    return number == -ENOMEM ? number : 0;
}

/* Those that the policy names have numbers however many others jobs name. */
static int name_shares(struct queue_plan *p)
{
    const struct policy_quota *q = &p->scene.policy->quota;
    const struct policy_idle *idle = &p->scene.policy->idle;
    struct work_names *table = q->by_team ? &p->work.teams : &p->work.classes;
    int16_t number;
    int rc = 0;

    for (size_t i = 0; i < q->n && rc == 0; i++)
        rc = name_group(p, table, q->shares[i].name, &number);
    for (size_t i = 0; i < idle->n_exempt && rc == 0; i++)
        rc = name_group(p, &p->work.classes, idle->exempt[i], &number);
    return rc;
}

/* Whether nobody may come to its devices, nor it to another one's: where one of them did not say
 * that it may, was seen too little, or is about to leave. */
static bool is_alone(const struct queue_plan *p, const struct queue_job *j)
{
    return !j->share || j->apart || j->stop != QUEUE_GO || *j->next ||
           queue_pool_memory(p->scene.pool, j) == 0 ||
           !sharing_is_known(j, p->policy.share.after_ms);
}

/* What the scheduler is to know besides. The deadline counts from the submission, as that is seen
 * here; one before that was missed. */
static int add_wish(struct queue_plan *p, const struct queue_job *j, struct work *w)
{
    struct work_wish *wish = arena_alloc(&p->work.arena, sizeof(*wish));

    if (!wish)
        return -ENOMEM;
    *wish = (struct work_wish){
        .due_ms = j->deadline_ms ? MAX(j->deadline_ms - w->submit_ms, 1) : 0,
        .memory_milli = (int16_t)queue_pool_memory(p->scene.pool, j),
        .alone = is_alone(p, j),
    };
    w->wish = wish;
    return 0;
}

static int add_work(struct queue_plan *p, const struct queue_job *j, int64_t submit_ms)
{
    CLEANUP(str_done) struct str label = STR_INIT(LABEL);
    struct work *w = ARENA_PUSH(&p->work.arena, &p->work.jobs, &p->work.n_jobs);

    if (!w)
        return -ENOMEM;
    queue_pool_work(p->scene.pool, j, w);
    stretch(p, j, w);
    w->submit_ms = submit_ms;
    queue_job_label(j, &label);
    w->name = str_error(&label) ? NULL : arena_strdup(&p->work.arena, str_text(&label));
    if (!w->name || name_group(p, &p->work.users, j->user, &w->user) < 0 ||
        name_group(p, &p->work.teams, j->team, &w->team) < 0 ||
        name_group(p, &p->work.classes, j->class, &w->class) < 0 || add_wish(p, j, w) < 0)
        return -ENOMEM;
    if (leaves(j)) {
        w->priority = GOES_LAST;
        w->fixed = false;
    }
    return 0;
}

/* ---- who is on whose devices ---- */

/* The item of a job; p->scene.n. */
static size_t item_of(const struct queue_plan *p, int64_t id)
{
    size_t low = 0, high = p->scene.n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (p->scene.items[middle].job->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->scene.n && p->scene.items[low].job->id == id ? low : p->scene.n;
}

/* Note by item whose guest it is. Of two of which one leaves, the other one has the devices. */
static void find_guests(struct queue_plan *p)
{
    for (size_t i = 0; i < p->scene.n; i++)
        p->host[i] = UINT32_MAX;
    for (size_t i = 0; i < p->scene.n && p->policy.share.below > 0; i++) {
        const struct queue_job *j = p->scene.items[i].job, *other;
        size_t k = j->host && has_place(j) ? item_of(p, j->host) : p->scene.n;

        if (k == p->scene.n)
            continue;
        other = p->scene.items[k].job;
        if (!has_place(other) || strcmp(place_of(other), place_of(j)) != 0)
            continue;
        if (leaves(other) && !leaves(j))
            p->host[k] = (uint32_t)i;
        else
            p->host[i] = (uint32_t)k;
    }
}

/* Those that run, and those that are ready, in the order of submission whatever the clock did. */
static int add_all(struct queue_plan *p, struct err *e)
{
    int64_t submit_ms = 0;
    uint32_t n = 0;

    if (name_shares(p) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < p->scene.n; i++) {
        const struct queue_job *j = p->scene.items[i].job;

        p->at[i] = UINT32_MAX;
        if (j->state == QUEUE_ENDED || (!has_place(j) && !p->scene.items[i].ready))
            continue;
        submit_ms = MAX(submit_ms, j->submit_ms);
        if (add_work(p, j, submit_ms) < 0)
            return err_nomem(e);
        p->at[i] = n++;
    }
    return workload_settle(&p->work, e);
}

/* The part of the machine that has a slot. */
static uint32_t node_of(const struct queue_pool *pool, uint32_t slot)
{
    uint32_t node = 0;

    while (node + 1 < pool->pool.n_nodes && pool->first[node + 1] <= slot)
        node++;
    return node;
}

/* The place of a job that runs, or goes on. */
static void fit_of(const struct queue_plan *p, const struct queue_job *j, struct fit *f)
{
    const struct queue_pool *pool = p->scene.pool;
    const char *at = place_of(j);
    int slot;

    f->n = 0;
    while ((slot = queue_slots_next(&at)) >= 0) {
        uint32_t node;

        if ((size_t)slot >= pool->n_slots)
            continue;
        node = node_of(pool, (uint32_t)slot);
        if (f->n == 0 || f->parts[f->n - 1].node != node)
            f->parts[f->n++] = (struct part){ node, 0, WORK_WHOLE, NO_PART };
        f->parts[f->n - 1].devices |= (uint16_t)(1U << ((uint32_t)slot - pool->first[node]));
    }
    if (f->n == 0)
        f->parts[f->n++] = (struct part){ 0, 0, 0, NO_PART };
}

/* When a job kept its devices busy. Of one that is being stopped nobody looks any more. */
static void tell_use(struct queue_plan *p, const struct queue_job *j, uint32_t number,
                     int64_t now_ms)
{
    struct bursts b;

    idle_history_read(j, &b);
    sched_worked(p->sched, number, &b, j->stop == QUEUE_GO ? now_ms : b.seen_ms, p->work.first_ms);
}

/* What was seen of it, and when it was busy. */
static void tell_seen(struct queue_plan *p, const struct queue_job *j, uint32_t number,
                      int64_t now_ms)
{
    if (j->state != QUEUE_RUNNING)
        return;
    tell_use(p, j, number, now_ms);
    sched_seen(p->sched, number, of_wall(p, now_ms), j->worked_ms, sharing_usual(j));
}

static int take_up(struct queue_plan *p, size_t item, struct fit *f, int64_t now_ms)
{
    const struct queue_job *j = p->scene.items[item].job;
    uint32_t number = p->at[item];
    const struct work *w = &p->work.jobs[number];
    int64_t ran_ms = j->devices > 0 ? j->device_ms : j->ran_ms * MAX(w->devices, 0);
    struct sched_job was = {
        .since_ms = of_wall(p, j->since_ms),
        .left_ms = WORK_UNKNOWN,
        .attained_ms = ran_ms,
        .was = j->attempt > 1,
        .leaves = leaves(j),
    };

    if (p->scene.policy->length != LENGTH_NONE && w->limit_ms != WORK_UNKNOWN)
        was.left_ms = w->limit_ms; /* each attempt has it anew */
    if (!has_place(j))
        return sched_take_up(p->sched, number, of_wall(p, now_ms), &was, NULL);
    if (p->host[item] != UINT32_MAX) {
        sched_take_up_guest(p->sched, number, of_wall(p, now_ms), &was, p->at[p->host[item]]);
    } else {
        fit_of(p, j, f);
        if (sched_take_up(p->sched, number, of_wall(p, now_ms), &was, f) < 0)
            return -ENOMEM;
    }
    tell_seen(p, j, number, now_ms);
    return 0;
}

/* Those with devices of their own first: their places are taken; then their guests. */
enum { TAKE_OWNERS, TAKE_GUESTS, TAKE_WAITING, TAKES };

static int take_of(const struct queue_plan *p, size_t item)
{
    if (!has_place(p->scene.items[item].job))
        return TAKE_WAITING;
    return p->host[item] == UINT32_MAX ? TAKE_OWNERS : TAKE_GUESTS;
}

static int take_up_all(struct queue_plan *p, int64_t now_ms)
{
    struct fit f = { .n = 0 };

    f.parts = arena_alloc(&p->arena, p->scene.pool->pool.n_nodes * sizeof(*f.parts));
    if (!f.parts)
        return -ENOMEM;
    for (int take = 0; take < TAKES; take++)
        for (size_t i = 0; i < p->scene.n; i++)
            if (p->at[i] != UINT32_MAX && take_of(p, i) == take && take_up(p, i, &f, now_ms) < 0)
                return -ENOMEM;
    return 0;
}

int queue_plan_make(struct queue_plan *ret, const struct queue_scene *scene, int64_t now_ms,
                    struct err *e)
{
    struct queue_plan *p = ret;
    int rc;

    *p = (struct queue_plan){ .scene = *scene };
    rc = adapt(p, e);
    p->at = arena_alloc(&p->arena, scene->n * sizeof(*p->at));
    p->host = arena_alloc(&p->arena, scene->n * sizeof(*p->host));
    if (p->host)
        find_guests(p);
    if (rc == 0)
        rc = p->at && p->host ? add_all(p, e) : err_nomem(e);
    if (rc == 0)
        rc = sched_open(&p->sched, &p->policy, &scene->pool->pool, &p->work, e);
    if (rc == 0 && take_up_all(p, now_ms) < 0)
        rc = err_nomem(e);
    if (rc < 0)
        queue_plan_done(p);
    return rc;
}

size_t queue_plan_item(const struct queue_plan *p, uint32_t job)
{
    size_t i = job;

    while (p->at[i] != job)
        i++;
    return i;
}

int queue_plan_pass(struct queue_plan *p, int64_t now_ms, int64_t *again_ms)
{
    int rc = sched_pass(p->sched, of_wall(p, now_ms), again_ms);

    if (*again_ms != WORK_UNKNOWN)
        *again_ms += p->work.first_ms;
    return rc;
}

void queue_plan_slots(const struct queue_plan *p, uint32_t job, char slots[QUEUE_SLOTS])
{
    const struct free_capacity *r = sched_capacity(p->sched);
    size_t len = 0;

    slots[0] = 0;
    for (uint32_t at = sched_job(p->sched, job)->part; at != NO_PART; at = r->parts[at].next) {
        uint32_t first = p->scene.pool->first[r->parts[at].node];

        for (uint32_t bits = r->parts[at].devices; bits; bits &= bits - 1)
            if (len < QUEUE_SLOTS)
                len += (size_t)snprintf(slots + len, QUEUE_SLOTS - len, "%s%u", len ? "," : "",
                                        first + (uint32_t)__builtin_ctz(bits));
    }
}

bool queue_plan_runs(const struct queue_plan *p, uint32_t job)
{
    return sched_job(p->sched, job)->state == SCHED_RUNNING;
}

int queue_plan_left(const struct queue_plan *p, const char *slots, char ret[QUEUE_SLOTS])
{
    const struct queue_pool *pool = p->scene.pool;
    const struct free_capacity_node *nodes = sched_capacity(p->sched)->nodes;
    int64_t cpus_milli = INT32_MAX;
    size_t len = 0;
    int slot;

    ret[0] = 0;
    while ((slot = queue_slots_next(&slots)) >= 0) {
        uint32_t node = node_of(pool, (uint32_t)slot);

        if ((size_t)slot >= pool->n_slots ||
            !(nodes[node].whole >> ((uint32_t)slot - pool->first[node]) & 1))
            continue;
        cpus_milli = MIN(cpus_milli, nodes[node].cpus_milli);
        len += (size_t)snprintf(ret + len, QUEUE_SLOTS - len, "%s%d", len ? "," : "", slot);
    }
    return (int)(cpus_milli / 1000);
}

int queue_plan_check(const struct queue_pool *pool, const struct policy *policy, struct err *e)
{
    struct queue_plan p;
    int rc = 0;

    if (policy->share.below > 0 && pool->cpus)
        return err_set(e, -EINVAL,
                       "%s: [share] is for accelerators, and this machine has none: leave the "
                       "section out",
                       policy->name);
    rc = queue_plan_make(&p, &(const struct queue_scene){ pool, policy, NULL, 0 }, 0, e);
    if (rc == 0)
        queue_plan_done(&p);
    return rc;
}

int queue_plan_possible(const struct queue_pool *pool, const struct policy *policy,
                        const struct queue_job *j, struct err *e)
{
    struct queue_job waits = *j;
    const struct queue_item item = { &waits, true };
    struct queue_plan p;
    int rc;

    waits.state = QUEUE_WAITING;
    rc = queue_plan_make(&p, &(const struct queue_scene){ pool, policy, &item, 1 }, j->submit_ms,
                         e);
    if (rc < 0)
        return rc;
    rc = sched_possible(p.sched, 0);
    queue_plan_done(&p);
    return rc;
}

/* The first end of those that run, by their limits: the job, at its time. */
static bool next_end(const struct queue_plan *p, uint32_t *job, int64_t *end_ms)
{
    size_t n;
    const uint32_t *running = sched_running(p->sched, &n);

    *end_ms = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct work *w = &p->work.jobs[running[i]];
        int64_t begin = sched_job(p->sched, running[i])->since_ms;

        if (w->limit_ms != WORK_UNKNOWN && begin + w->limit_ms < *end_ms) {
            *end_ms = begin + w->limit_ms;
            *job = running[i];
        }
    }
    return *end_ms != INT64_MAX;
}

int queue_plan_foresee(struct queue_plan *p, size_t item, int64_t now_ms, int64_t *start_ms,
                       char slots[QUEUE_SLOTS])
{
    uint32_t number = p->at[item], job = 0;
    int64_t at = of_wall(p, now_ms), end_ms, again_ms;

    *start_ms = INT64_MAX;
    for (int i = 0; i < PASSES; i++) {
        if (sched_pass(p->sched, at, &again_ms) < 0)
            return -ENOMEM;
        if (sched_job(p->sched, number)->state == SCHED_RUNNING) {
            *start_ms = at + p->work.first_ms;
            queue_plan_slots(p, number, slots);
            return 0;
        }
        if (!next_end(p, &job, &end_ms))
            return 0;
        at = MAX(at, end_ms);
        sched_end(p->sched, job, at);
    }
    return 0;
}
