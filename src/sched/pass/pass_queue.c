/* Without preemption: the first job that waits starts when there is room; behind one that does not
 * fit, others start as the policy's backfill allows. */
#include "sched/core/action.h"
#include "sched/feature/data.h"
#include "sched/core/find_place.h"
#include "sched/pass/pass.h"
#include "sched/feature/power.h"
#include "sched/pass/promise.h"
#include "sched/core/queue.h"
#include "sched/core/speed.h"
#include "sched/feature/spot_preempt.h"
#include "sched/core/state.h"

/* No job of a group that needs more than is free can start. */
static bool hopeless(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];
    int64_t more = 0;

    for (const struct feature *const *f = s->hooks.could_free; *f; f++)
        more += (*f)->could_free(s, job);

    return w->milli == WORK_WHOLE && w->devices > s->capacity.whole + more;
}

static void advance(struct sched *s, uint32_t group, const struct order_key *after)
{
    s->cursor[group] = waiting_next(&s->waiting, group, after, s->longest[group]);
}

/* A place that spot jobs give up, whose notice is over when the first job starts. 1, 0, -1. */
static int take_from_spot(struct sched *s, uint32_t job, int64_t now_ms)
{
    if (s->promise.start_ms - now_ms < s->policy.spot.notice_ms)
        return 0;
    return spot_preempt_find(s, job, now_ms, YIELDS_SPOT);
}

/* How long a job takes at most: on the slowest kind that suits it, away from its data,
 * at the lowest limit of power. */
static int64_t longest(const struct sched *s, uint32_t job)
{
    int64_t length_ms = speed_longest(s, job);

    if (length_ms != WORK_UNKNOWN)
        length_ms += data_most_ms(s, job);
    return power_longest_ms(s, length_ms);
}

/* Leave the first job what it will need, devices and power. 1, 0, -1. */
static int beside_promise(struct sched *s, uint32_t job, int64_t now_ms)
{
    int found;

    s->capacity.spare_of = s->promise.spare;
    power_spare(s, s->promise.spare_mw);
    found = sched_find_place(s, job) ? 1 : take_from_spot(s, job, now_ms);
    s->capacity.spare_of = NULL;
    power_spare(s, WORK_UNKNOWN);
    if (found > 0)
        promise_use(s, job);
    return found;
}

/* A job behind one that was promised a start. Sets why; 0 when it must wait, -1 on failure. */
static int easy(struct sched *s, uint32_t job, int64_t now_ms, struct action *why)
{
    int64_t length = longest(s, job), left = s->promise.start_ms - now_ms;

    if (s->promise.start_ms == WORK_UNKNOWN) {
        why->why = WHY_GREEDY;
        if (s->jobs[why->other].aged)
            return 0;
        return spot_preempt_beside(s, job, now_ms);
    }
    why->why = WHY_SHORT;
    if (length <= left && sched_find_place(s, job))
        return 1;
    if (length <= left - s->policy.spot.notice_ms) /* which it may have to wait for */
        return take_from_spot(s, job, now_ms);
    why->why = WHY_SPARE;
    return beside_promise(s, job, now_ms);
}

/* After a job of a group had to wait: none of it starts, or none but shorter ones. */
static void pass_over(struct sched *s, uint32_t group, uint32_t job, int64_t now_ms)
{
    struct order_key key = s->waiting.nodes[job].key;
    int64_t left = s->promise.start_ms - now_ms;

    s->cursor[group] = WAITING_NONE;
    if (s->policy.backfill != BACKFILL_EASY || s->promise.start_ms == WORK_UNKNOWN)
        return;
    if (s->jobs[job].left_ms <= left)
        left -= spot_preempt_notice_ms(s);
    left = power_shortest_ms(s, left);
    if (s->jobs[job].left_ms <= left)
        return;
    s->longest[group] = left;
    advance(s, group, &key);
}

static void promise(struct sched *s, uint32_t job, int64_t now_ms)
{
    if (s->promise.job != job || s->promise.start_ms <= now_ms)
        promise_make(s, job, now_ms);
}

int pass_queue(struct sched *s, int64_t now_ms)
{
    struct action why = { .why = WHY_FIRST, .other = WAITING_NONE, .until_ms = WORK_UNKNOWN };
    uint32_t group;

    for (uint32_t g = 0; g < s->n_groups; g++) {
        s->longest[g] = WORK_UNKNOWN;
        advance(s, g, NULL);
    }
    while ((group = queue_first_group(s)) != WAITING_NONE) {
        uint32_t job = s->cursor[group];
        struct order_key key = s->waiting.nodes[job].key;
        int starts;

        if (hopeless(s, job) && why.other != WAITING_NONE) {
            s->cursor[group] = WAITING_NONE;
            continue;
        }
        if (why.other == WAITING_NONE || s->policy.backfill == BACKFILL_GREEDY)
            starts = sched_free_place(s, job, now_ms);
        else
            starts = easy(s, job, now_ms, &why);
        if (starts < 0)
            return -1;
        if (starts) {
            if (state_start(s, job, now_ms, &why) < 0)
                return -1;
            advance(s, group, &key);
            continue;
        }
        if (s->policy.backfill == BACKFILL_NONE)
            return 0;
        if (s->policy.backfill == BACKFILL_GREEDY && s->jobs[job].aged)
            return 0; /* it waited for long enough: nobody overtakes */
        if (why.other == WAITING_NONE) {
            why.other = job;
            why.why = WHY_GREEDY;
            if (s->policy.backfill == BACKFILL_EASY) {
                promise(s, job, now_ms);
                why.until_ms = s->promise.start_ms;
            }
            s->cursor[group] = WAITING_NONE;
            continue;
        }
        pass_over(s, group, job, now_ms);
    }
    return 0;
}
