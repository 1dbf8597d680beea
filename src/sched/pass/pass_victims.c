/* Preemption by need: a job that waits and finds no place takes that of running jobs which it
 * goes before, on the nodes where the fewest devices have to stop. In an order by queues, what
 * runs is let alone by jobs of its own queue; with quotas, by those of other classes. In an order
 * by deadlines, those that can meet theirs stop later ones, the others nobody. */
#include <string.h>

#include "sched/core/action.h"
#include "sched/feature/data.h"
#include "sched/feature/elastic.h"
#include "sched/core/find_place.h"
#include "sched/pass/pass.h"
#include "sched/feature/quota.h"
#include "sched/core/queue.h"
#include "sched/core/scheduler.h"
#include "sched/feature/service.h"
#include "sched/feature/spot_preempt.h"
#include "sched/core/state.h"

enum { NODES = 256 }; /* that one job may clear */

/* What it takes to clear a node for a job. */
struct clearing {
    int32_t cost; /* devices that stop; -1: it cannot be */
    uint32_t node;
    uint32_t last; /* where the first one that stops stands in the order */
};

/* Whether a running job started in this pass: it goes before all that have not had their turn. */
static bool is_new(const struct sched *s, uint32_t job)
{
    return s->queues && s->jobs[job].list > s->begun;
}

/* Which running jobs are on which node: those of node n from first[n] to first[n + 1]. */
static void find_holders(struct sched *s)
{
    const struct free_capacity *r = &s->capacity;

    memset(s->first, 0, (s->pool->n_nodes + 2) * sizeof(*s->first));
    for (int fill = 0; fill < 2; fill++) {
        for (size_t i = 0; i < s->n_ranked; i++) {
            uint32_t job = s->ranked[i].job;

            if (s->jobs[job].state != SCHED_RUNNING || s->work->jobs[job].milli < WORK_WHOLE ||
                s->work->jobs[job].devices == 0 || is_new(s, job))
                continue;
            for (uint32_t p = s->jobs[job].part; p != NO_PART; p = r->parts[p].next) {
                uint32_t *slot = &s->first[r->parts[p].node + 2 - (uint32_t)fill];

                if (fill)
                    s->holders[*slot] = (struct holder){
                        job, (uint32_t)i, (uint8_t)__builtin_popcount(r->parts[p].devices)
                    };
                ++*slot;
            }
        }
        for (size_t n = 0; n < s->pool->n_nodes && !fill; n++)
            s->first[n + 2] += s->first[n + 1];
    }
}

/* Whether a running job comes so far behind one that waits that it may be stopped: one of a lower
 * queue or class, one with a later deadline, or, where the order is by what is left of jobs, any
 * that comes later. */
static bool is_behind(const struct sched *s, const struct holder *h, const struct ranked *waits)
{
    const struct order_key *key = &s->ranked[h->at].key, *first = &waits->key;
    const struct sched_job *j = &s->jobs[waits->job];

    if (s->policy.order->falls)
        return order_compare(key, first) > 0;
    if (key->rank != first->rank || !s->policy.order->by_deadline)
        return key->rank > first->rank;
    return !j->aged && sched_job_due(j, &s->work->jobs[waits->job]) && key->value > first->value;
}

static bool may_stop(const struct sched *s, const struct holder *h, const struct ranked *waits,
                     int64_t now_ms)
{
    return is_behind(s, h, waits) && quota_slot(s, h->job) == quota_slot(s, waits->job) &&
           s->jobs[h->job].state == SCHED_RUNNING && !s->work->jobs[h->job].fixed &&
           !state_waits_for_devices(s, h->job, now_ms) &&
           now_ms - s->jobs[h->job].since_ms >= s->policy.least_run_ms;
}

/* The free devices of a node that a job may use: without what is kept for replicas; with quotas,
 * what is left of its share. */
static int may_use(const struct sched *s, uint32_t job, uint32_t node)
{
    int64_t left = quota_left(s, job);
    int whole = s->capacity.nodes[node].n_whole - service_keeps_now(s, node);

    return quota_allows(s, job) ? whole : (int)MIN((int64_t)whole, MAX(left, 0));
}

/* Stop those that must on a node, or (stop false) only count their devices. The last in the order
 * stop first. The cost is -1 when even all of them are not enough; -2 on failure. */
static struct clearing clear(struct sched *s, const struct ranked *waits, uint32_t node, int need,
                             int64_t now_ms, bool stop)
{
    const struct action why = { .why = WHY_VICTIM, .other = waits->job };
    const struct work *w = &s->work->jobs[waits->job];
    int64_t cpus = s->capacity.nodes[node].cpus_milli, memory = s->capacity.nodes[node].memory_mib;
    int have = may_use(s, waits->job, node);
    struct clearing x = { -1, node, UINT32_MAX };
    int32_t cost = 0;

    if ((w->kinds && !(w->kinds >> s->pool->nodes[node].kind & 1)) ||
        (s->capacity.closed && s->capacity.closed[node]))
        return x;
    for (uint32_t i = s->first[node + 1]; i-- > s->first[node];) {
        const struct holder *h = &s->holders[i];

        if (have >= need && cpus >= w->cpus_milli && memory >= w->memory_mib)
            break;
        if (!may_stop(s, h, waits, now_ms))
            continue;
        x.last = MIN(x.last, h->at);
        have += h->devices;
        cpus += s->work->jobs[h->job].cpus_milli;
        memory += s->work->jobs[h->job].memory_mib;
        cost += s->work->jobs[h->job].devices;
        if (stop && s->queues)
            s->other[s->n_stopped++] = s->ranked[h->at];
        if (stop && state_preempt(s, h->job, now_ms, &why) < 0)
            return (struct clearing){ -2, node, 0 };
    }
    if (have >= need && cpus >= w->cpus_milli && memory >= w->memory_mib)
        x.cost = cost;
    return x;
}

static bool is_cheaper(const struct nearby *near, const struct clearing *a,
                       const struct clearing *b)
{
    bool here = near && nearby_has(near, a->node), there = near && nearby_has(near, b->node);

    if (a->cost != b->cost)
        return a->cost < b->cost;
    return here != there ? here : a->last > b->last;
}

/* The n cheapest nodes to clear, cheapest first; of equals those with the job's data, then those
 * where it is the turn of who comes last in the order. How many there are. */
static int cheapest(struct sched *s, const struct ranked *waits, int need, int n,
                    struct clearing *ret, int64_t now_ms)
{
    const struct nearby *near = data_of(s, waits->job);
    int found = 0;

    for (uint32_t node = 0; node < s->pool->n_nodes; node++) {
        const struct clearing x = clear(s, waits, node, need, now_ms, false);
        int at = found;

        if (x.cost < 0 || (found == n && !is_cheaper(near, &x, &ret[n - 1])))
            continue;
        if (found == n)
            at--;
        else
            found++;
        for (; at > 0 && is_cheaper(near, &x, &ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = x;
    }
    return found;
}

/* Make room for a job. 1 when there is some now, 0 when there cannot be, -1 on failure. */
static int make_room(struct sched *s, const struct ranked *waits, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[waits->job];
    int most = w->per_node ? w->per_node : s->pool->most;
    int each = MIN(w->devices, most), n = each ? (w->devices + each - 1) / each : 0;
    struct clearing nodes[NODES] = { { 0 } };

    if (!quota_allows(s, waits->job) && (n > 1 || s->policy.quota.borrow))
        return 0;
    if (n == 0 || n > NODES || w->milli < WORK_WHOLE || each > s->pool->most)
        return 0;
    if (cheapest(s, waits, each, n, nodes, now_ms) < n)
        return 0;
    for (int i = 0; i < n; i++)
        if (clear(s, waits, nodes[i].node, each, now_ms, true).cost < -1)
            return -1;
    return sched_find_place(s, waits->job);
}

/* Whether make_room() has a chance, at a glance. */
static bool may_make_room(const struct sched *s, const struct ranked *waits)
{
    const struct work *w = &s->work->jobs[waits->job];
    int most = w->per_node ? w->per_node : s->pool->most;
    int each = MIN(w->devices, most), n = each ? (w->devices + each - 1) / each : 0;

    return lowest_may_stop(s, waits->key.rank) && falling_may_free(s, waits->key.rank, each, n);
}

/* The same where spot jobs, too, give up what they have of the place. */
static int make_room_beside(struct sched *s, const struct ranked *waits, int64_t now_ms)
{
    bool lifted = spot_preempt_lift(s, true);
    int found = make_room(s, waits, now_ms);

    if (!lifted)
        return found;
    spot_preempt_lift(s, false);
    return found > 0 ? spot_preempt_leave(s, waits->job, now_ms) : found;
}

static int sweep(struct sched *s, int64_t now_ms)
{
    bool known = false;

    memset(s->cursor, 0, s->n_groups * sizeof(*s->cursor)); /* groups that found no place */
    for (size_t i = 0; i < s->n_ranked; i++) {
        const struct ranked *r = &s->ranked[i];
        struct action why = { .other = WAITING_NONE };
        uint32_t group = s->group[r->job];
        int found;

        if (s->jobs[r->job].state != SCHED_WAITING || s->cursor[group])
            continue;
        found = sched_free_place(s, r->job, now_ms);
        if (found == 0)
            found = quota_reclaim(s, r->job, now_ms);
        if (found == 0) {
            if (!known)
                find_holders(s);
            known = true;
            found = make_room_beside(s, r, now_ms);
        }
        why.why = (uint8_t)quota_why(s, r->job, WHY_SHARE);
        if (found < 0 || (found && state_start(s, r->job, now_ms, &why) < 0))
            return -1;
        s->cursor[group] = !found;
        if (found && elastic_resizes(s)) /* others may have given devices up */
            known = false;
    }
    return 0;
}

int pass_victims(struct sched *s, int64_t now_ms)
{
    return quota_sweeps(s, now_ms, sweep);
}

/* ---- where those that wait are kept in order ---- */

/* The next job of a group; those that were stopped in this pass have their turns as they ran. */
static void advance(struct sched *s, uint32_t group, const struct order_key *after)
{
    uint32_t job = waiting_next(&s->waiting, group, after, WORK_UNKNOWN);

    while (job != WAITING_NONE && s->jobs[job].list > s->begun)
        job = waiting_next(&s->waiting, group, &s->waiting.nodes[job].key, WORK_UNKNOWN);
    s->cursor[group] = job;
}

/* Take the job whose turn it is: of the first ones of all groups, and of those that were stopped.
 * false: there is none. */
static bool next_turn(struct sched *s, struct ranked *ret)
{
    uint32_t group = queue_first_group(s);
    size_t best = s->n_stopped;

    *ret = (struct ranked){ .job = group == WAITING_NONE ? WAITING_NONE : s->cursor[group] };
    if (ret->job != WAITING_NONE)
        ret->key = s->waiting.nodes[ret->job].key;
    for (size_t i = 0; i < s->n_stopped; i++)
        if (ret->job == WAITING_NONE || order_compare(&s->other[i].key, &ret->key) < 0) {
            *ret = s->other[i];
            best = i;
        }
    if (best < s->n_stopped)
        s->other[best] = s->other[--s->n_stopped];
    else if (ret->job != WAITING_NONE)
        advance(s, group, &ret->key);
    return ret->job != WAITING_NONE;
}

int pass_queued_victims(struct sched *s, int64_t now_ms)
{
    const struct action why = { .why = WHY_SHARE, .other = WAITING_NONE };
    struct ranked r;
    bool known = false;

    s->begun = s->lists;
    s->n_stopped = 0;
    falling_pass(s, now_ms);
    for (uint32_t g = 0; g < s->n_groups; g++) {
        s->longest[g] = 1; /* of those of this group, none has looked for a place in vain */
        advance(s, g, NULL);
    }
    while (next_turn(s, &r)) {
        uint32_t group = s->group[r.job];
        int found;

        if (!s->longest[group])
            continue;
        found = sched_free_place(s, r.job, now_ms);
        if (found == 0 && !may_make_room(s, &r)) {
            s->longest[group] = 0;
            s->cursor[group] = WAITING_NONE;
            continue;
        }
        if (found == 0 && !known) {
            rank_running(s, now_ms);
            find_holders(s);
            known = true;
        }
        if (found == 0)
            found = make_room(s, &r, now_ms);
        if (found < 0 || (found && state_start(s, r.job, now_ms, &why) < 0))
            return -1;
        if (found)
            continue;
        s->longest[group] = 0;
        s->cursor[group] = WAITING_NONE;
    }
    return 0;
}
