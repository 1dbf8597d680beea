/* Why: sentences, made only when somebody asks. */
#include "sched/sched.h"
#include "sched/core/action.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"

/* Those that an action is about. */
static void add_these(const struct sched *s, const struct action *a, struct str *out)
{
    const struct work *w = &s->work->jobs[a->job];
    int32_t asked = s->asked->jobs[a->job].devices;

    if (a->kind == ACTION_RESIZE)
        str_addf(out, "%d to ", (int)a->before);
    if (a->kind == ACTION_START && a->devices < asked)
        str_addf(out, "%d of ", (int)a->devices);
    reason_devices(s, w,
                   a->kind == ACTION_START ? asked
                   : a->devices            ? a->devices
                                           : w->devices,
                   out);
}

static void add_place(const struct sched *s, uint32_t job, struct str *out)
{
    uint32_t p = s->jobs[job].part;
    int more = 0;

    if (s->jobs[job].state != SCHED_RUNNING || p == NO_PART)
        return;
    str_addf(out, " on %s", s->pool->nodes[s->capacity.parts[p].node].name);
    for (p = s->capacity.parts[p].next; p != NO_PART; p = s->capacity.parts[p].next)
        more++;
    if (more)
        str_addf(out, " and %d more", more);
}

static void add_other(const struct sched *s, const struct action *a, struct str *out)
{
    if (a->other != WAITING_NONE)
        reason_other(s, a->other, out);
}

static void add_start(const struct sched *s, const struct action *a, int64_t now_ms,
                      struct str *out)
{
    switch (a->why) {
    case WHY_FIRST:
        str_addf(out, ": of those that wait it %s", s->policy.order->what);
        return;
    case WHY_SHARE:
        str_addf(out, ": it is among those that get %s by the order of %s", pool_word(s->pool, 0),
                 s->policy.order->name);
        return;
    case WHY_SHORT:
    case WHY_SPARE:
    case WHY_PLANNED:
        str_add(out, ": it does not delay ");
        add_other(s, a, out);
        if (a->until_ms != WORK_UNKNOWN) {
            str_add(out, " for ");
            reason_time(out, a->until_ms - now_ms);
        }
        str_add(out, a->why == WHY_SHORT   ? ": it ends before that"
                     : a->why == WHY_SPARE ? ": it leaves what that one will need"
                                           : ": it fits into the plan");
        return;
    default:
        str_add(out, ": there is no room for ");
        add_other(s, a, out);
    }
}

/* What happened to a node, and to a job that was on it. */
static void add_loss(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    const char *node = s->pool->nodes[a->other].name;

    switch (a->kind) {
    case ACTION_DOWN:
        str_addf(out, "node %s fails, and is out for ", node);
        reason_time(out, a->until_ms - now_ms);
        return;
    case ACTION_UP:
        str_addf(out, "node %s is back", node);
        return;
    case ACTION_CLOSE:
        str_addf(out, "nothing starts on node %s any more: its window begins in ", node);
        reason_time(out, a->until_ms - now_ms);
        return;
    case ACTION_WINDOW:
        str_addf(out, "the window of node %s begins, for ", node);
        reason_time(out, a->until_ms - now_ms);
        return;
    case ACTION_LEAVE:
        str_addf(out, "job %s gives up ", s->work->jobs[a->job].name);
        add_these(s, a, out);
        str_addf(out, ": the window of node %s begins; what it did is saved", node);
        return;
    case ACTION_STANDS:
        str_addf(out, "node %s, a spare, stands in for %s", node, s->pool->nodes[a->job].name);
        return;
    default:
        str_addf(out, "job %s loses ", s->work->jobs[a->job].name);
        add_these(s, a, out);
        str_addf(out, ": node %s failed; it goes back ", node);
        reason_time(out, a->until_ms);
        str_add(out, s->work->jobs[a->job].checkpoint_ms ? ", to its last checkpoint, and waits"
                                                         : ", to its start, and waits");
    }
}

/* What a feature knows of it; whether one does. */
static bool feature_reason(const struct sched *s, const struct action *a, int64_t now_ms,
                           struct str *out)
{
    for (const struct feature *const *f = s->hooks.reason; *f; f++)
        if ((*f)->reason(s, a, now_ms, out))
            return true;
    return false;
}

static void add_remarks(const struct sched *s, const struct action *a, int64_t now_ms,
                        struct str *out)
{
    for (const struct feature *const *f = s->hooks.remark; *f; f++)
        (*f)->remark(s, a, now_ms, out);
}

void sched_reason(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    if (a->kind >= ACTION_LOSE) {
        add_loss(s, a, now_ms, out);
        return;
    }
    str_addf(out, "job %s %s ", s->work->jobs[a->job].name,
             a->kind == ACTION_HOLD     ? "waits for"
             : a->kind == ACTION_START  ? "starts with"
             : a->kind == ACTION_RESIZE ? "goes from"
             : a->kind == ACTION_WARN   ? "keeps"
                                        : "gives up");
    if (a->kind == ACTION_HOLD) {
        feature_reason(s, a, now_ms, out);
        return;
    }
    add_these(s, a, out);
    if (a->kind == ACTION_START) {
        add_place(s, a->job, out);
        if (!feature_reason(s, a, now_ms, out))
            add_start(s, a, now_ms, out);
        if (a->ready_ms > now_ms) {
            str_add(out, "; they are free in ");
            reason_time(out, a->ready_ms - now_ms);
        }
        add_remarks(s, a, now_ms, out);
    } else if (a->kind == ACTION_RESIZE) {
        add_place(s, a->job, out);
        if (!feature_reason(s, a, now_ms, out) && a->why == WHY_VICTIM) {
            str_add(out, ": they are for ");
            add_other(s, a, out);
        }
    } else if (feature_reason(s, a, now_ms, out)) {
        return;
    } else if (a->why == WHY_VICTIM) {
        str_add(out, ": they are for ");
        add_other(s, a, out);
        add_remarks(s, a, now_ms, out);
    } else {
        str_addf(out, ": it is no longer among those that get %s by the order of %s",
                 pool_word(s->pool, 0), s->policy.order->name);
    }
}
