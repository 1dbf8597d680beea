/* Why: what deadlines have to do with it. */
#include "model/signal/quantity.h"
#include "sched/sched_private.h"

/* "its deadline is in 2 h". */
static void add_deadline(const struct sched *s, uint32_t job, const char *whose, int64_t now_ms,
                         struct str *out)
{
    int64_t left_ms = work_deadline(&s->work->jobs[job]) - now_ms;
    struct quantity time = quantity_seconds((double)(left_ms < 0 ? -left_ms : left_ms) / 1e3);

    if (left_ms < 0)
        str_addf(out, "; %s deadline was %s ago", whose, time.text);
    else if (s->jobs[job].late)
        str_addf(out, "; %s deadline in %s cannot be met", whose, time.text);
    else
        str_addf(out, "; %s deadline is in %s", whose, time.text);
}

const char *reason_first(const struct sched *s, uint32_t job)
{
    const struct order_ops *order = s->policy.order;

    if (!order->by_deadline || sched_job_due(&s->jobs[job], &s->work->jobs[job]))
        return order->what;
    return "was submitted first, and none has a deadline that it can meet";
}

void reason_deadline(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    if (!s->policy.order->by_deadline)
        return;
    if (a->kind == ACTION_START && work_deadline(&s->work->jobs[a->job]) != WORK_UNKNOWN)
        add_deadline(s, a->job, "its", now_ms, out);
    if (a->why == WHY_VICTIM && sched_job_due(&s->jobs[a->other], &s->work->jobs[a->other]))
        add_deadline(s, a->other, "the other's", now_ms, out);
}
