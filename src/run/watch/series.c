#include "run/watch/series.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "run/watch/infer.h"

/* Samples that come later than this after the one before are no tenth of a second. */
#define GAP_NS ((int64_t)500 * 1000 * 1000)

void series_add(struct series *s, const struct family_glance *g, int64_t now_ns)
{
    double seconds = clock_seconds(now_ns - s->last_ns);

    if (s->last_ns && now_ns - s->last_ns > GAP_NS)
        s->n = 0;
    if (s->last_ns && seconds > 0 && now_ns - s->last_ns <= GAP_NS) {
        s->cpu[s->n % SERIES_MAX] = (g->cpu_s - s->last.cpu_s) / seconds;
        s->bytes[s->n % SERIES_MAX] = (g->bytes - s->last.bytes) / seconds;
        s->n++;
    }
    if (!s->from_ns)
        s->from_ns = now_ns;
    s->last = *g;
    s->last_ns = now_ns;
}

static struct infer look(const struct series *s, const double *ring)
{
    double last[SERIES_WINDOW], scratch[2 * SERIES_WINDOW];
    size_t n = MIN(s->n, (size_t)SERIES_WINDOW);

    for (size_t i = 0; i < n; i++)
        last[i] = ring[(s->n - n + i) % SERIES_MAX];
    return infer_period(last, n, INFER_HZ, scratch);
}

int series_infer(struct series *s, struct rank_steps *l, int64_t now_ns)
{
    struct infer cpu = look(s, s->cpu), bytes = look(s, s->bytes);
    bool by_cpu = cpu.confidence >= bytes.confidence;
    struct infer best = by_cpu ? cpu : bytes;
    int64_t period_ns;
    int rc = 0;

    if (isnan(best.period_s)) {
        s->from_ns = now_ns;
        return 0;
    }
    s->period_s = best.period_s;
    s->confidence = best.confidence;
    s->what = by_cpu ? "the job's CPU time" : "what the job reads and writes";
    period_ns = clock_ns(best.period_s);
    for (; rc == 0 && s->from_ns + period_ns <= now_ns; s->from_ns += period_ns) {
        struct step step = { .number = l->count,
                             .begin_ns = s->from_ns,
                             .end_ns = s->from_ns + period_ns,
                             .samples = (double)NAN,
                             .loss = (double)NAN };

        step.host_s[BRIM_STAGE_OTHER] = best.period_s;
        for (unsigned i = 0; i < BRIM_STAGES; i++)
            step.device_s[i] = (double)NAN;
        rc = rank_steps_step(l, &step);
    }
    return rc;
}

bool series_say(const struct series *s, char *text, size_t size)
{
    if (!s->what)
        return false;
    snprintf(text, size,
             "inferred from %s, which repeats every %.3g s (confidence %.2f): no steps "
             "were marked",
             s->what, s->period_s, s->confidence);
    return true;
}
