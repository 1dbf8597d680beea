/* What a pass decided, stored and then done. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "queue/job/idle_history.h"
#include "queue/job/sharing.h"
#include "queue/policy.h"
#include "queue/queue_private.h"
#include "queue/resize.h"

enum { SENTENCE = 1024 };

const struct queue_job *queue_holder(const struct local *l, const char *slots, int64_t but)
{
    bool has[QUEUE_SLOTS] = { false };
    int slot;

    while ((slot = queue_slots_next(&slots)) >= 0)
        has[slot % QUEUE_SLOTS] = true;
    for (size_t i = 0; i < l->n; i++) {
        const char *at = l->jobs[i]->slots;

        if (!queue_job_has(l->jobs[i]) || l->jobs[i]->id == but)
            continue;
        while ((slot = queue_slots_next(&at)) >= 0)
            if (has[slot % QUEUE_SLOTS])
                return l->jobs[i];
    }
    return NULL;
}

/* ---- actions ---- */

/* One action of a pass, and the job that it is about. */
struct doing {
    struct local *l;
    const struct queue_plan *plan;
    const struct action *action;
    struct queue_job *job;
};

static void say(const struct doing *d, char ret[QUEUE_REASON])
{
    CLEANUP(str_done) struct str why = STR_INIT(SENTENCE);

    sched_reason(d->plan->sched, d->action, queue_wall_ms(d->l) - d->plan->work.first_ms, &why);
    snprintf(ret, QUEUE_REASON, "%s",
             str_error(&why) == -ENOMEM ? "there was no memory to tell why" : str_text(&why));
}

/* Its CPUs: near its devices, and none that another one has. */
static int bind_cpus(const struct local *l, struct queue_job *j)
{
    CLEANUP(freep) struct queue_taken *taken = calloc(1, sizeof(*taken));

    if (!taken)
        return -ENOMEM;
    if (j->host) { /* those of the job whose devices it is on */
        memcpy(j->bound, life_find(l, j->host)->bound, sizeof(j->bound));
        return 0;
    }
    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i] != j && queue_job_has(l->jobs[i]))
            queue_pool_hold(&l->pool, l->jobs[i], taken);
    queue_pool_give(&l->pool, j, taken, j->bound);
    return 0;
}

/* Another attempt, on those slots: those of its host, if that one still has them. */
static int begin(struct local *l, struct queue_job *j, const char *slots)
{
    const struct queue_job *host = j->host ? life_find(l, j->host) : NULL;

    if (!host || !queue_job_has(host) || strcmp(host->slots, slots) != 0)
        j->host = 0;
    snprintf(j->slots, sizeof(j->slots), "%s", slots);
    if (bind_cpus(l, j) < 0)
        return -ENOMEM;
    j->next[0] = 0;
    j->state = QUEUE_RUNNING;
    j->stop = QUEUE_GO;
    j->yields = 0;
    j->attempt++;
    j->since_ms = queue_wall_ms(l);
    if (!j->start_ms)
        j->start_ms = j->since_ms;
    idle_history_begin(j);
    sharing_begin(j);
    queue_pool_place(&l->pool, j->slots, j->place);
    return 0;
}

static int start(const struct doing *d)
{
    const struct queue_job *other;
    struct queue_job *j = d->job;
    struct local *l = d->l;
    char slots[QUEUE_SLOTS];

    if (j->state != QUEUE_WAITING)
        return 0;
    queue_plan_slots(d->plan, d->action->job, slots);
    other = queue_holder(l, slots, 0);
    if (!other)
        other = queue_parked(l, j, slots);
    if (other) {
        snprintf(j->reason, sizeof(j->reason),
                 "starts as soon as job %lld, which is being stopped for it, has gone",
                 (long long)other->id);
        return 0;
    }
    if (begin(l, j, slots) < 0)
        return -ENOMEM;
    say(d, j->reason);
    return 0;
}

/* Nothing happens to it: others have its devices from now on. */
static void park(const struct doing *d)
{
    struct queue_job *j = d->job;
    uint32_t other = d->action->other;

    j->parked_ms = queue_wall_ms(d->l);
    j->host = 0;
    snprintf(
        j->reason, sizeof(j->reason),
        "job %lld was idle and is parked: it keeps its memory on its %d device%s, which job %lld "
        "gets; when it works again it waits for devices",
        (long long)j->id, (int)queue_slots_count(j->slots), str_plural(queue_slots_count(j->slots)),
        other == UINT32_MAX ? 0LL : (long long)d->l->jobs[queue_plan_item(d->plan, other)]->id);
    memcpy(j->stopped, j->reason, sizeof(j->stopped));
}

static void stop(const struct doing *d)
{
    struct queue_job *j = d->job;

    j->next[0] = 0; /* keep() */
    if (j->state != QUEUE_RUNNING || j->stop != QUEUE_GO)
        return;
    if (d->action->why == WHY_IDLE && queue_may_park(d->l, j)) {
        park(d);
        return;
    }
    j->stop = QUEUE_PREEMPT;
    say(d, j->reason);
    memcpy(j->stopped, j->reason, sizeof(j->stopped));
    if (d->action->why == WHY_IDLE && d->action->other != UINT32_MAX)
        j->yields = d->l->jobs[queue_plan_item(d->plan, d->action->other)]->id;
}

/* It goes on with the devices of another one, beside that. */
static void join(const struct doing *d)
{
    struct queue_job *j = d->job;
    const struct queue_job *host = d->l->jobs[queue_plan_item(d->plan, d->action->with)];

    if (j->state != QUEUE_RUNNING || j->stop != QUEUE_GO || host->state != QUEUE_RUNNING)
        return;
    j->stop = QUEUE_PREEMPT;
    j->host = host->id;
    memcpy(j->next, host->slots, sizeof(j->next));
    say(d, j->reason);
    memcpy(j->stopped, j->reason, sizeof(j->stopped));
}

/* What one that was stopped or resized goes on with, when the whole pass is known. */
static void keep(const struct doing *d, int *cpus)
{
    struct action a = *d->action;
    struct queue_job *j = d->job;
    const struct doing told = { d->l, d->plan, &a, j };

    if (j->state == QUEUE_RUNNING && j->stop != QUEUE_PREEMPT)
        return; /* it ends */
    queue_resize_next(d->plan, &a, j, cpus, j->next);
    if (!*j->next)
        return;
    j->yields = 0;
    if (j->state != QUEUE_RUNNING)
        return;
    a.kind = ACTION_RESIZE;
    a.before = queue_slots_count(j->slots);
    a.devices = queue_slots_count(j->next);
    say(&told, j->reason);
    memcpy(j->stopped, j->reason, sizeof(j->stopped));
}

/* The plan is made anew each time, and tells again: its owner is told once. */
static void tell(const struct doing *d)
{
    struct queue_job *j = d->job;

    if (j->state != QUEUE_RUNNING || j->stop != QUEUE_GO || j->told_ms)
        return;
    j->told_ms = queue_wall_ms(d->l);
    say(d, j->reason);
}

/* Policies that ask for more are refused when the engine starts: this would be our mistake. */
static void refuse(const struct doing *d)
{
    log_error("job %lld: nothing is done: this queue cannot carry out action %d of policy %s",
              (long long)d->job->id, (int)d->action->kind, d->l->c->policy->name);
}

static int act(const struct doing *d)
{
    switch (queue_deed(d->action->kind)) {
    case DEED_START:
        return start(d);
    case DEED_STOP:
    case DEED_RESIZE:
        stop(d);
        break;
    case DEED_JOIN:
        join(d);
        break;
    case DEED_TELL:
        tell(d);
        break;
    default:
        refuse(d);
    }
    return 0;
}

/* ---- all of them ---- */

/* What a job was before an action, to go back to when that cannot be stored; and what it became. */
struct change {
    struct queue_job *job, was;
    enum queue_deed deed; /* DEED_NONE: it is as it was */
};

static bool is_new(const struct change *c)
{
    return c->job->attempt != c->was.attempt || c->job->stop != c->was.stop ||
           c->job->parked_ms != c->was.parked_ms || c->job->told_ms != c->was.told_ms ||
           strcmp(c->job->next, c->was.next) != 0;
}

static int store(struct local *l, const struct change *changes, size_t n, struct err *e)
{
    int rc = queue_store_begin(l->store, e);

    for (size_t i = 0; i < n && rc == 0; i++)
        if (changes[i].deed)
            rc = queue_store_put(l->store, changes[i].job, e);
    if (rc == 0)
        return queue_store_commit(l->store, e);
    queue_store_rollback(l->store);
    return rc;
}

static void finish(struct local *l, const struct change *c)
{
    bool stops = c->deed == DEED_STOP || c->deed == DEED_RESIZE || c->deed == DEED_JOIN;

    if (c->deed == DEED_START)
        life_spawn(l, c->job);
    for (size_t i = 0; i < l->n && c->deed == DEED_START; i++)
        l->changed |= l->jobs[i]->yields ==
                      c->job->id; /* it waits for something else from now on */
    if (stops || (c->deed == DEED_TELL && c->job->stop == QUEUE_GO))
        log_info("%s", c->job->reason);
    if (stops && c->job->state == QUEUE_RUNNING && c->job->stop != QUEUE_GO)
        life_tell(l, c->job);
}

/* An idle job that was told, worked, and is not yet to be told again: that is forgotten. */
static void forget_told(struct local *l, const struct action *actions, size_t n,
                        const struct queue_plan *p)
{
    for (size_t i = 0; i < l->n; i++) {
        struct queue_job *j = l->jobs[i];
        bool again = false;

        if (!j->told_ms || j->state != QUEUE_RUNNING || j->stop != QUEUE_GO ||
            !idle_history_idle_ms(j, queue_wall_ms(l)))
            continue;
        for (size_t k = 0; k < n && !again; k++)
            again = queue_plan_item(p, actions[k].job) == i;
        if (again)
            continue;
        j->told_ms = j->kept_ms = 0; /* stored with the next look */
        snprintf(j->reason, sizeof(j->reason), "it worked again after its devices were idle");
    }
}

int queue_carry(struct local *l, const struct queue_plan *p, struct err *e)
{
    CLEANUP(freep) struct change *changes = NULL;
    const struct action *actions;
    size_t n, any = 0;
    int rc = 0, cpus = 0;

    actions = sched_actions(p->sched, &n);
    changes = calloc(n + 1, sizeof(*changes));
    if (!changes)
        return err_nomem(e);
    forget_told(l, actions, n, p);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct doing d = { l, p, &actions[i], l->jobs[queue_plan_item(p, actions[i].job)] };

        changes[i] = (struct change){ d.job, *d.job, DEED_NONE };
        rc = act(&d);
    }
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct doing d = { l, p, &actions[i], changes[i].job };
        enum queue_deed deed = queue_deed(actions[i].kind);

        if (deed == DEED_STOP || deed == DEED_RESIZE)
            keep(&d, &cpus);
        if (is_new(&changes[i]))
            changes[i].deed = deed;
        any += changes[i].deed != DEED_NONE;
    }
    if (rc < 0)
        rc = err_nomem(e);
    else if (any)
        rc = store(l, changes, n, e);
    for (size_t i = n; i-- > 0;) {
        struct change *c = &changes[i];

        if (rc < 0 && c->job)
            *c->job = c->was;
        else if (rc == 0)
            finish(l, c);
    }
    return rc;
}

/* ---- going on ---- */

/* A job that was stopped and has devices that it goes on with; not when it is held meanwhile. */
static int go_on(struct local *l, struct queue_job *j, struct err *e)
{
    const struct queue_job *other = queue_holder(l, j->next, j->host);
    const struct queue_job was = *j;
    int rc = 0;

    if (!other && !j->held)
        other = queue_parked(l, j, j->next);
    if (other && !j->held) {
        snprintf(j->reason, sizeof(j->reason), "goes on as soon as job %lld has gone",
                 (long long)other->id);
        return 0;
    }
    if (j->held)
        j->next[0] = 0, j->host = 0;
    else if (begin(l, j, was.next) < 0)
        rc = err_nomem(e);
    else if (j->host)
        snprintf(j->reason, sizeof(j->reason),
                 "goes on on the devices of job %lld, which it shares", (long long)j->host);
    else
        snprintf(j->reason, sizeof(j->reason), "goes on with %d of %d devices",
                 (int)queue_slots_count(j->slots), (int)j->devices);
    if (rc == 0)
        rc = queue_store_put(l->store, j, e);
    if (rc < 0)
        *j = was;
    else if (j->state == QUEUE_RUNNING)
        life_spawn(l, j);
    return rc;
}

int queue_go_on(struct local *l, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < l->n && rc == 0; i++)
        if (l->jobs[i]->state == QUEUE_WAITING && *l->jobs[i]->next)
            rc = go_on(l, l->jobs[i], e);
    return rc;
}
