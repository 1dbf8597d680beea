/* Why: sentences about services and spot jobs. */
#include "model/signal/quantity.h"
#include "sched/reason_text.h"
#include "sched/sched_private.h"

static void add_other(const struct sched *s, uint32_t job, struct str *out)
{
    const struct work *w = &s->work->jobs[job];

    str_addf(out, "job %s, which waits for ", w->name);
    reason_devices(w, w->devices, out);
}

static void add_class(const struct sched *s, uint32_t job, struct str *out)
{
    int class = s->work->jobs[job].class;

    str_addf(out, "a replica of %s", class < 0 ? "-" : s->work->classes.names[class]);
}

bool reason_rest(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    switch (a->why) {
    case WHY_RESERVE:
        str_add(out, ": ");
        add_class(s, a->job, out);
        str_add(out, ", in the reserve");
        return true;
    case WHY_SERVICE:
        str_add(out, ": ");
        add_class(s, a->job, out);
        str_add(out, s->policy.service.n_reserves ? ", beyond the reserve" : ", which go first");
        return true;
    case WHY_SPOT:
        str_add(out, ": a spot job, on what nobody else wants");
        return true;
    case WHY_WAY:
        str_add(out, ": spot jobs give way, to ");
        add_other(s, a->other, out);
        if (a->until_ms > now_ms)
            str_addf(out, "; it has %s to leave",
                     quantity_seconds((double)(a->until_ms - now_ms) / 1e3).text);
        return true;
    case WHY_REPLICA:
        str_add(out, ": they are for ");
        add_other(s, a->other, out);
        str_add(out, " and is ");
        add_class(s, a->other, out);
        return true;
    default:
        return false;
    }
}
