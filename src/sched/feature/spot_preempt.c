/* Jobs that give way: spot jobs to all others, batch jobs to replicas of services. A spot job gets
 * a notice; what it leaves behind beside the place of the other one is given back when that is
 * over, and the other one starts then. */
#include "sched/feature/spot_preempt.h"

#include <errno.h>
#include <stdlib.h>

#include "sched/core/action.h"
#include "sched/core/choose_victims.h"
#include "sched/core/find_place.h"
#include "sched/feature/quota.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"
#include "sched/feature/tiers_private.h"

static const struct work nothing = { .milli = WORK_WHOLE }; /* needs neither CPUs nor memory */

/* ---- who ---- */

/* Spot jobs before batch jobs; the younger first. */
static int younger_first(const void *a, const void *b)
{
    const struct victim *x = a, *y = b;
    int order = COMPARE(y->since_ms, x->since_ms);

    return order ? order : COMPARE(y->list, x->list);
}

static size_t add_tier(struct sched *s, enum tier tier, size_t n)
{
    struct victim *victims = s->tiers->victims + n;
    size_t more = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t job = s->running[i];

        if (s->jobs[job].tier == tier && s->work->jobs[job].devices > 0 &&
            (tier == TIER_SPOT || !s->work->jobs[job].fixed))
            victims[more++] = (struct victim){ s->jobs[job].since_ms, s->jobs[job].list, job };
    }
    qsort(victims, more, sizeof(*victims), younger_first);
    return n + more;
}

/* ---- notice ---- */

/* The devices of a node that a place takes. */
static uint16_t taken_of(const struct fit *f, uint32_t node)
{
    uint16_t devices = 0;

    for (uint32_t i = 0; i < f->n; i++)
        if (f->parts[i].node == node)
            devices |= f->parts[i].devices;
    return devices;
}

/* What of a job's devices the place in s->fit does not take. */
static void find_rest(struct sched *s, uint32_t job)
{
    struct fit *rest = &s->tiers->rest;

    rest->n = 0;
    for (uint32_t p = s->jobs[job].part; p != NO_PART; p = s->capacity.parts[p].next) {
        struct part x = s->capacity.parts[p];

        x.devices &= (uint16_t)~taken_of(&s->fit, x.node);
        x.next = NO_PART;
        if (x.devices)
            rest->parts[rest->n++] = x;
    }
}

/* Keep that until the notice is over. */
static int leave(struct sched *s, int64_t due_ms)
{
    struct tiers *t = s->tiers;

    if (t->rest.n == 0)
        return 0;
    if (t->n_leaving == t->room_leaving) {
        size_t room = 2 * t->room_leaving + 16;
        struct tiers_leaving *grown = reallocarray(t->leaving, room, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        t->leaving = grown;
        t->room_leaving = room;
    }
    t->leaving[t->n_leaving].due_ms = due_ms;
    if (free_capacity_take(&s->capacity, &nothing, &t->rest, &t->leaving[t->n_leaving].part) < 0)
        return -ENOMEM;
    t->n_leaving++;
    return 0;
}

static void give_back(struct sched *s, size_t i)
{
    struct tiers *t = s->tiers;

    free_capacity_give(&s->capacity, &nothing, t->leaving[i].part);
    t->leaving[i] = t->leaving[--t->n_leaving];
}

size_t spot_preempt_n_leaving(const struct sched *s)
{
    return s->tiers ? s->tiers->n_leaving : 0;
}

uint32_t spot_preempt_leaving(const struct sched *s, size_t i)
{
    return s->tiers->leaving[i].part;
}

void spot_preempt_settle(struct sched *s, int64_t now_ms)
{
    for (size_t i = spot_preempt_n_leaving(s); i-- > 0;)
        if (s->tiers->leaving[i].due_ms <= now_ms)
            give_back(s, i);
}

void spot_preempt_drop(struct sched *s, uint32_t node)
{
    for (size_t i = spot_preempt_n_leaving(s); i-- > 0;) {
        uint32_t p = s->tiers->leaving[i].part;

        while (p != NO_PART && s->capacity.parts[p].node != node)
            p = s->capacity.parts[p].next;
        if (p != NO_PART)
            give_back(s, i);
    }
}

int64_t spot_preempt_again(const struct sched *s)
{
    int64_t at_ms = WORK_UNKNOWN;

    for (size_t i = 0; i < spot_preempt_n_leaving(s); i++)
        at_ms = MIN(at_ms, s->tiers->leaving[i].due_ms);
    return at_ms;
}

int64_t spot_preempt_over(const struct sched *s)
{
    int64_t at_ms = 0;

    for (size_t i = 0; i < spot_preempt_n_leaving(s); i++)
        at_ms = MAX(at_ms, s->tiers->leaving[i].due_ms);
    return at_ms;
}

int64_t spot_preempt_leaving_milli(const struct sched *s)
{
    int64_t sum = 0;

    for (size_t i = 0; i < spot_preempt_n_leaving(s); i++)
        for (uint32_t p = s->tiers->leaving[i].part; p != NO_PART; p = s->capacity.parts[p].next)
            sum += (int64_t)s->capacity.parts[p].milli *
                   __builtin_popcount(s->capacity.parts[p].devices);
    return sum;
}

/* ---- going ---- */

/* Stop one for another, whose place is in s->fit. */
static int stop(struct sched *s, uint32_t job, uint32_t other, int64_t now_ms)
{
    bool spot = s->jobs[job].tier == TIER_SPOT;
    int64_t due_ms = now_ms + (spot ? s->policy.spot.notice_ms : 0);
    struct action why = { .why = spot ? WHY_WAY : WHY_REPLICA, .other = other };

    if (state_waits_for_devices(s, job, now_ms))
        due_ms = MAX(due_ms, s->ready_ms[job]);
    why.until_ms = due_ms;
    if (due_ms > now_ms) {
        find_rest(s, job);
        s->tiers->ready_ms = MAX(s->tiers->ready_ms, due_ms);
    }
    if (state_preempt(s, job, now_ms, &why) < 0)
        return -1;
    return due_ms > now_ms ? leave(s, due_ms) : 0;
}

/* Let the devices of some count as free, or as theirs again. */
static void lift(struct sched *s, const struct victim *victims, size_t n, bool up)
{
    for (size_t i = 0; i < n; i++)
        choose_victims_lift(s, victims[i].job, up);
}

/* Whether there is a place without some: it is in s->fit. */
static bool found_without(struct sched *s, uint32_t job, const struct victim *victims, size_t n)
{
    bool found;

    lift(s, victims, n, true);
    found = sched_find_place(s, job);
    lift(s, victims, n, false);
    return found;
}

/* After those before it did: a batch job of a share that is still exceeded. */
static bool is_above(const struct sched *s, uint32_t job)
{
    return s->jobs[job].tier == TIER_SPOT || quota_above(s, job);
}

int spot_preempt_find(struct sched *s, uint32_t job, int64_t now_ms, enum yields who)
{
    const struct work *w = &s->work->jobs[job];
    struct victim *victims;
    size_t n;

    if (!s->tiers || (who == YIELDS_SPOT && s->tiers->n_spot == 0))
        return 0;
    if (who == YIELDS_SPOT && w->milli == WORK_WHOLE &&
        w->devices > s->capacity.whole + s->tiers->most)
        return 0;
    victims = s->tiers->victims;
    n = s->tiers->n_spot ? add_tier(s, TIER_SPOT, 0) : 0;
    if (who != YIELDS_SPOT)
        n = add_tier(s, TIER_BATCH, n);
    if (n == 0 || !found_without(s, job, victims, n)) /* most often there is none: seen at once */
        return 0;
    n = choose_victims(s, job, victims, n, who == YIELDS_ABOVE ? is_above : NULL);
    if (n == 0 || !found_without(s, job, victims, n))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (stop(s, victims[i].job, job, now_ms) < 0)
            return -1;
    return n > 0;
}

int spot_preempt_beside(struct sched *s, uint32_t job, int64_t now_ms)
{
    return sched_find_place(s, job) ? 1 : spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
}

bool spot_preempt_lift(struct sched *s, bool up)
{
    if (!s->tiers || s->tiers->n_spot == 0)
        return false;
    for (size_t i = 0; i < s->n_running; i++)
        if (s->jobs[s->running[i]].tier == TIER_SPOT)
            choose_victims_lift(s, s->running[i], up);
    return true;
}

int64_t spot_preempt_notice_ms(const struct sched *s)
{
    return s->tiers && s->tiers->n_spot > 0 ? s->policy.spot.notice_ms : 0;
}

int spot_preempt_leave(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct victim *victims = s->tiers->victims;
    size_t n = add_tier(s, TIER_SPOT, 0);

    for (size_t i = 0; i < n; i++) {
        const struct work *w = &s->work->jobs[victims[i].job];
        bool hit = false;

        for (uint32_t p = s->jobs[victims[i].job].part; p != NO_PART;
             p = s->capacity.parts[p].next) {
            uint16_t devices = s->capacity.parts[p].devices;

            if (w->cpus_milli > 0 || w->memory_mib > 0) /* those of the node may be needed, too */
                devices = UINT16_MAX;
            hit |= (devices & taken_of(&s->fit, s->capacity.parts[p].node)) != 0;
        }
        if (hit && stop(s, victims[i].job, job, now_ms) < 0)
            return -1;
    }
    return 1;
}
