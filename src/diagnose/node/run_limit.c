#include "diagnose/node/run_limit.h"

#include "diagnose/node/live_private.h"

/* Which run it is: its name, and whose where others' go on as well. */
static void say_whose(struct live_verdict *to, const struct live_run *r, bool others)
{
    live_say(to->sentence, LIVE_TEXT, "run %s", r->name);
    if (others && r->user[0])
        live_add(to->sentence, " of %s", r->user);
}

static bool is_of_others(const struct live_run *runs, size_t n, const struct live_run *of)
{
    for (size_t i = 0; i < n; i++)
        if (runs[i].uid != of->uid)
            return true;
    return false;
}

/* Whether a stage says more than a run: it is at its limit, and for more than want of another. */
static bool has_limit(const struct live *l)
{
    const enum live_stage_id id = l->verdict.bottleneck;

    return id != LIVE_NONE && !(l->stages[id].weak && l->verdict.severity <= SEVERITY_NOTE);
}

void run_limit(struct live *l, const struct live_run *runs, size_t n)
{
    struct live_verdict *to = &l->verdict;
    const struct live_run *r = live_run_worst(runs, n, to->run);

    to->run[0] = '\0';
    if (!r || has_limit(l) || to->state == LIVE_UNKNOWN)
        return;
    live_run_text(to->run, sizeof(to->run), r->id);
    say_whose(to, r, is_of_others(runs, n, r));
    live_add(to->sentence, ": %s", r->sentence);
    live_say(to->action, LIVE_TEXT, "%s", r->action);
    to->state = LIVE_LIMIT;
    to->severity = r->severity;
    to->bottleneck = LIVE_NONE;
}
