/* Why: sentences, made only when somebody asks. */
#include "sched/reason_text.h"
#include "sched/sched_private.h"

/* Those that an action is about. */
static void add_these(const struct sched *s, const struct action *a, struct str *out)
{
    const struct work *w = &s->work->jobs[a->job];
    int32_t asked = elastic_asked(s, a->job);

    if (a->kind == ACTION_RESIZE)
        str_addf(out, "%d to ", (int)a->before);
    if (a->kind == ACTION_START && a->devices < asked)
        str_addf(out, "%d of ", (int)a->devices);
    reason_devices(w, a->kind == ACTION_START ? asked : a->devices ? a->devices : w->devices, out);
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

static void add_share(const struct sched *s, uint32_t job, struct str *out)
{
    const struct work *w = &s->work->jobs[job];
    bool team = s->policy.quota.by_team;
    const struct work_names *names = team ? &s->work->teams : &s->work->classes;
    int number = team ? w->team : w->class;

    if (number >= 0)
        str_addf(out, "the share of %s %s", team ? "team" : "class", names->names[number]);
    else
        str_addf(out, "the share of those without a %s", team ? "team" : "class");
    str_addf(out, " (%g)", (double)s->quota.share[quota_slot(s, job)] / WORK_WHOLE);
}

static void add_reclaim(const struct sched *s, const struct action *a, struct str *out)
{
    str_add(out, ": it is above ");
    add_share(s, a->job, out);
    str_add(out, ", and ");
    add_other(s, a, out);
    str_add(out, ", is within ");
    add_share(s, a->other, out);
}

/* For how long devices were idle, and what comes of it. */
static void add_idle(const struct sched *s, const struct action *a, struct str *out)
{
    const struct policy_idle *p = &s->policy.idle;
    bool warns = a->kind == ACTION_WARN;

    str_add(out, warns ? " idle for " : ": they were idle for ");
    reason_time(out, warns && p->warn_ms ? p->warn_ms : idle_window_ms(s, a->job));
    if (p->burst_ms > 0) {
        str_add(out, " but for ");
        reason_time(out, p->burst_ms);
        str_add(out, " at most");
    }
    if (!warns) {
        str_add(out, ", and are for ");
        add_other(s, a, out);
        str_add(out, a->kind == ACTION_PARK ? "; it goes on when it needs some"
                                            : "; it starts again in its turn");
    } else if (a->until_ms != WORK_UNKNOWN) {
        str_add(out, "; after ");
        reason_time(out, idle_window_ms(s, a->job));
        str_add(out, " they are for jobs that wait");
    }
}

static void add_little(const struct sched *s, const struct action *a, struct str *out)
{
    str_addf(out, " and shares those of job %s: both are at most %d %% busy, together %d %%, and ",
             s->work->jobs[a->with].name, s->policy.share.below / 10,
             s->policy.share.together / 10);
    add_other(s, a, out);
    str_add(out, ", gets them");
}

static void add_start(const struct sched *s, const struct action *a, int64_t now_ms,
                      struct str *out)
{
    switch (a->why) {
    case WHY_FIRST:
        str_addf(out, ": of those that wait it %s", reason_first(s, a->job));
        return;
    case WHY_SHARE:
        str_addf(out, ": it is among those that get devices by the order of %s",
                 s->policy.order->name);
        return;
    case WHY_WITHIN:
        str_add(out, ": it is within ");
        add_share(s, a->job, out);
        return;
    case WHY_LENT:
        str_add(out, ": it borrows, above ");
        add_share(s, a->job, out);
        str_add(out, ", what nobody within a share needs");
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

static void add_resize(const struct sched *s, const struct action *a, struct str *out)
{
    add_place(s, a->job, out);
    if (a->why == WHY_FREE) {
        str_add(out, ": nobody waits for those that are free");
        return;
    }
    str_add(out, ": ");
    add_other(s, a, out);
    str_add(out, ", gets what it can do without");
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
        for (const struct feature *const *f = s->hooks.remark; *f; f++)
            (*f)->remark(s, a, now_ms, out);
        reason_deadline(s, a, now_ms, out);
        reason_data(s, a, out);
    } else if (a->kind == ACTION_RESIZE) {
        add_resize(s, a, out);
    } else if (feature_reason(s, a, now_ms, out)) {
        return;
    } else if (a->why == WHY_VICTIM) {
        str_add(out, ": they are for ");
        add_other(s, a, out);
        reason_deadline(s, a, now_ms, out);
    } else if (a->why == WHY_IDLE) {
        add_idle(s, a, out);
    } else if (a->why == WHY_LITTLE) {
        add_little(s, a, out);
    } else if (a->why == WHY_RECLAIM) {
        add_reclaim(s, a, out);
    } else {
        str_addf(out, ": it is no longer among those that get devices by the order of %s",
                 s->policy.order->name);
    }
}
