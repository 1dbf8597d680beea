#include "sched/core/reason_text.h"

#include "model/signal/quantity.h"
#include "sched/core/scheduler.h"

enum { CPU_MILLI = 1000 };

void reason_time(struct str *out, int64_t ms)
{
    str_add(out, quantity_span((double)ms / 1e3).text);
}

void reason_devices(const struct sched *s, const struct work *w, int32_t devices, struct str *out)
{
    int cpus = (int)w->cpus_milli / CPU_MILLI;

    if (w->mig)
        str_addf(out, "an instance of %dg", w->mig);
    else if (w->milli < WORK_WHOLE)
        str_addf(out, "%d %% of a %s", w->milli / 10, pool_word(s->pool, 1));
    else if (!devices && cpus)
        str_addf(out, "%d CPU%s", cpus, str_plural(cpus));
    else
        str_addf(out, "%d %s", (int)devices, pool_word(s->pool, devices));
}

void reason_other(const struct sched *s, uint32_t job, struct str *out)
{
    const struct work *w = &s->work->jobs[job];

    str_addf(out, "job %s, which waits for ", w->name);
    reason_devices(s, w, s->asked->jobs[job].devices, out);
}
