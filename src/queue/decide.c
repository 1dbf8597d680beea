#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "queue/queue_private.h"

enum { SOON_MS = 100 };

/* ---- who may start ---- */

/* What dependencies were found to be like in this pass, by id: many jobs may wait for the same. */
enum { ASKED = 64 };
struct asked {
    int64_t id; /* 0: nothing */
    struct queue_met met;
};

static int ask(struct local *l, struct asked *asked, int64_t id, struct queue_met *ret,
               struct err *e)
{
    struct asked *a = &asked[id % ASKED];
    int rc = 0;

    if (a->id != id)
        rc = queue_store_met(l->store, id, &a->met, e);
    a->id = rc < 0 ? 0 : id;
    *ret = a->met;
    return rc;
}

/* 1: all that it depends on is met; 0 or -1 with the reason set: not yet, never. */
static int met(struct local *l, struct queue_job *j, struct asked *asked, struct err *e)
{
    enum queue_after_kind kind = AFTER_NONE;
    const char *at = j->after;
    int all = 1, rc;
    int64_t id;

    while ((rc = queue_after_next(&at, &kind, &id, e)) > 0) {
        struct queue_met m = { .all = 0 };
        int now;

        rc = ask(l, asked, id, &m, e);
        if (rc < 0)
            return rc;
        now = queue_after_met(kind, &m);
        if (now == 1 || all < 0)
            continue;
        all = now;
        snprintf(j->reason, sizeof(j->reason),
                 now < 0 ? "%s:%lld cannot be met any more: %lld of %lld ended, %lld with success"
                         : "waits for %s:%lld: %lld of %lld ended",
                 queue_after_name(kind), (long long)id, (long long)m.ended, (long long)m.all,
                 (long long)m.done);
    }
    return rc < 0 ? rc : all < 0 ? -EPIPE : all;
}

/* An array, whose jobs stand together, and how many of them run or are about to. */
struct busy {
    int64_t array;
    int32_t n;
};

static void count_busy(const struct local *l, size_t from, struct busy *b)
{
    *b = (struct busy){ .array = l->jobs[from]->array };
    for (size_t i = from; i < l->n && l->jobs[i]->array == b->array; i++)
        b->n += l->jobs[i]->state == QUEUE_RUNNING;
}

static int is_ready(struct local *l, struct queue_job *j, const struct busy *b, struct asked *asked,
                    struct err *e)
{
    int rc = 1;

    if (j->state != QUEUE_WAITING)
        return 0;
    if (j->held) {
        snprintf(j->reason, sizeof(j->reason), "held: brim release %lld lets it go on",
                 (long long)j->id);
        return 0;
    }
    if (*j->after)
        rc = met(l, j, asked, e);
    if (rc == 1 && j->width > 0 && b->n >= j->width) {
        snprintf(j->reason, sizeof(j->reason), "its array runs %d at a time", (int)j->width);
        return 0;
    }
    return rc;
}

/* One that was stopped because it was idle does not take its devices back before the job that it
 * was stopped for, whatever the order of the policy: as long as that one waits and could start. */
static void let_go_first(const struct local *l, struct queue_item *items)
{
    for (size_t i = 0; i < l->n; i++) {
        struct queue_job *j = l->jobs[i];
        size_t other = 0;

        if (!j->yields || !items[i].ready)
            continue;
        while (other < l->n && l->jobs[other]->id != j->yields)
            other++;
        if (other < l->n && items[other].ready) {
            items[i].ready = false;
            snprintf(j->reason, sizeof(j->reason),
                     "its devices were idle: job %lld, which they were taken for, goes first",
                     (long long)j->yields);
        } else {
            j->yields = 0;
        }
    }
}

int queue_decide_items(struct local *l, struct queue_item *ret, struct err *e)
{
    struct asked asked[ASKED] = { { .id = 0 } };
    struct busy b = { .array = 0 };

    for (size_t i = 0; i < l->n; i++) {
        struct queue_job *j = l->jobs[i];
        int rc;

        if (j->array != b.array)
            count_busy(l, i, &b);
        ret[i] = (struct queue_item){ j, false };
        rc = is_ready(l, j, &b, asked, e);
        if (rc == -EPIPE) {
            char why[QUEUE_REASON];

            memcpy(why, j->reason, sizeof(why));
            rc = life_drop(l, j, QUEUE_NEVER, why, e);
        }
        if (rc < 0)
            return rc;
        ret[i].ready = rc == 1;
        b.n += ret[i].ready;
    }
    let_go_first(l, ret);
    return 0;
}

/* ---- why they wait ---- */

/* "2 devices and 1 CPU: 2 of 8 devices and 0 of 4 CPUs are free" */
static void say_needs(const struct local *l, const struct free_capacity *r,
                      const struct queue_job *j, struct str *out)
{
    const char *ending = str_plural(j->cpus);

    if (l->pool.cpus) {
        str_addf(out, "%d CPU%s: %lld of %d", (int)j->cpus, ending, (long long)r->whole,
                 l->pool.n_cpus);
    } else {
        if (j->devices > 0)
            str_addf(out, "%d device%s and ", (int)j->devices, str_plural(j->devices));
        str_addf(out, "%d CPU%s: ", (int)j->cpus, ending);
        if (j->devices > 0)
            str_addf(out, "%lld of %lld devices and ", (long long)r->whole,
                     (long long)l->pool.pool.devices);
        str_addf(out, "%d of %d CPUs", (int)r->nodes[0].cpus_milli / 1000, l->pool.n_cpus);
    }
    str_add(out, " are free");
}

/* Why those wait that the scheduler left waiting. */
static void explain(struct local *l, const struct queue_plan *p)
{
    int64_t first = 0;

    for (size_t i = 0; i < p->scene.n; i++) {
        CLEANUP(str_done) struct str why = STR_INIT(QUEUE_REASON), share = STR_INIT(QUEUE_REASON);
        struct queue_job *j = l->jobs[i];

        if (p->at[i] == UINT32_MAX || j->state != QUEUE_WAITING ||
            sched_job(p->sched, p->at[i])->state != SCHED_WAITING)
            continue;
        str_add(&why, "waits for ");
        say_needs(l, sched_capacity(p->sched), j, &why);
        if (sched_above_share(p->sched, p->at[i], &share))
            str_addf(&why, "; %s", str_text(&share));
        if (first)
            str_addf(&why, "; job %lld was there before it", (long long)first);
        else
            first = j->id;
        snprintf(j->reason, sizeof(j->reason), "%s",
                 str_error(&why) == -ENOMEM ? "waits; there was no memory to tell why"
                                            : str_text(&why));
    }
}

/* Shares of users that had some before, where the policy looks at that. */
struct having {
    struct queue_plan *plan;
    double *had; /* by number */
};

static int add_had(void *arg, const char *user, double had_ms)
{
    const struct having *h = arg;
    const struct work_names *users = &h->plan->work.users;

    for (size_t i = 0; i < users->n; i++)
        if (!strcmp(users->names[i], user))
            h->had[i] += had_ms;
    return 0;
}

static int tell_shares(const struct local *l, struct queue_plan *p, int64_t now_ms, struct err *e)
{
    CLEANUP(freep) double *had = calloc(p->work.users.n + 1, sizeof(*had));
    struct having h = { p, had };
    int rc;

    if (!had)
        return err_nomem(e);
    rc = queue_store_had(l->store, now_ms, l->c->policy->half_life_ms, add_had, &h, e);
    for (size_t i = 0; rc == 0 && i < p->work.users.n; i++)
        sched_had(p->sched, (int)i, MAX(now_ms - p->work.first_ms, 0), had[i]);
    return rc;
}

static int decide_now(struct local *l, struct err *e)
{
    CLEANUP(freep) struct queue_item *items = calloc(l->n + 1, sizeof(*items));
    int64_t now_ms = queue_wall_ms(l), again_ms = INT64_MAX;
    struct queue_plan plan;
    int rc;

    if (!items)
        return err_nomem(e);
    rc = queue_go_on(l, e);
    if (rc == 0)
        rc = queue_decide_items(l, items, e);
    if (rc == 0)
        rc = queue_plan_make(
            &plan, &(const struct queue_scene){ &l->pool, l->c->policy, items, l->n }, now_ms, e);
    if (rc != 0)
        return rc;
    if (l->c->policy->half_life_ms > 0)
        rc = tell_shares(l, &plan, now_ms, e);
    if (rc == 0)
        rc = queue_plan_pass(&plan, now_ms, &again_ms) < 0 ? err_nomem(e) : 0;
    if (rc == 0 && again_ms != INT64_MAX) /* whatever the clock does meanwhile */
        l->again_ms = queue_now_ms(l) + MAX(again_ms - now_ms, SOON_MS);
    if (rc == 0)
        explain(l, &plan);
    if (rc == 0)
        rc = queue_carry(l, &plan, e);
    queue_plan_done(&plan);
    return rc;
}

void queue_decide(struct local *l)
{
    struct err e = { "" };

    l->changed = false;
    l->again_ms = INT64_MAX;
    if (decide_now(l, &e) < 0)
        life_trouble(l, &e);
    else if (l->retry_ms) {
        log_info("the queue goes on");
        l->retry_ms = 0;
    }
    life_sweep(l);
}
