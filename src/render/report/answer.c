/* The first screen: what limits the run, what to do, and the numbers that matter. */
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/report_private.h"
#include "render/report/stats.h"

enum { SENTENCE = 500, EVIDENCE = 1600, ACTION = 600 };

static void add_cost(struct report *p, const struct verdict_item *item)
{
    bool share = item->share > 0, gain = item->gain > 1;

    if (!share && !gain && isnan(item->confidence))
        return;
    str_add(p->out, "<p class=\"cost\">");
    if (share)
        str_addf(p->out, "Costs %s of the step&apos;s time. ", quantity_share(item->share).text);
    if (gain)
        str_addf(p->out, "Without it at most %s times as fast. ",
                 quantity_number(MIN(item->gain, 1e6), 3).text);
    if (!isnan(item->confidence))
        str_addf(p->out, "Confidence %s.", quantity_share(item->confidence).text);
    str_add(p->out, "</p>\n");
}

static void add_first(struct report *p, const struct verdict_item *item)
{
    add_cost(p, item);
    if (item->action) {
        str_add(p->out, "<p class=\"next\"><b>Next:</b> ");
        report_lines(p, item->action, ACTION);
        str_add(p->out, "</p>\n");
    }
    if (item->evidence) {
        str_add(p->out, "<p class=\"evidence\">Evidence: ");
        report_lines(p, item->evidence, EVIDENCE);
        str_add(p->out, "</p>\n");
    }
}

static void add_verdict(struct report *p)
{
    const struct verdict *v = p->verdict;

    str_addf(p->out, "<section>\n<div class=\"card\" data-severity=\"%s\">\n<h1>",
             v->count ? severity_text(v->items[0].severity) : "note");
    if (v->sentence)
        report_text(p, v->sentence, SENTENCE);
    else
        str_add(p->out, "Nothing was judged of this run.");
    str_add(p->out, "</h1>\n");
    if (v->count)
        add_first(p, &v->items[0]);
    if (p->run->inferred) {
        str_add(p->out, "<p class=\"evidence\">Steps were not marked by the job: ");
        report_text(p, p->run->inferred, SENTENCE);
        if (!isnan(p->run->inferred_confidence))
            str_addf(p->out, " (confidence %s)", quantity_share(p->run->inferred_confidence).text);
        str_add(p->out, "</p>\n");
    }
    str_add(p->out, "</div>\n");
}

/* A number in its box: absent is said. The note stands below it, NULL: none. */
static void add_number(struct report *p, const char *title, const char *value, const char *note)
{
    str_addf(p->out, "<div><dt>%s</dt><dd>%s", title, value ? value : "<small>not known</small>");
    if (value && note)
        str_addf(p->out, " <small>%s</small>", note);
    str_add(p->out, "</dd></div>\n");
}

/* "12", "3.42", "0.081": rates of steps may be slow. */
static void add_rate(struct report *p, const char *title, double rate, const char *unit)
{
    struct quantity q = { "" };

    if (isfinite(rate) && fabs(rate) < 99.5)
        snprintf(q.text, sizeof(q.text), "%.3g", rate);
    else if (isfinite(rate))
        q = quantity_count(rate);
    add_number(p, title, isfinite(rate) ? q.text : NULL, unit);
}

static void add_time(struct report *p, const char *title, double seconds)
{
    add_number(p, title, isfinite(seconds) ? report_duration(seconds).text : NULL, NULL);
}

static double run_seconds(const struct run *r)
{
    int64_t end_ns = r->end_ns;

    if (!end_ns && r->n_moments)
        end_ns = r->moments[r->n_moments - 1].wall_ns;
    if (!r->begin_ns || end_ns < r->begin_ns)
        return (double)NAN;
    return ((double)end_ns - (double)r->begin_ns) * 1e-9;
}

static void add_end(struct report *p)
{
    char text[32];

    switch (p->run->end) {
    case RUN_EXITED:
        snprintf(text, sizeof(text), "status %d", p->run->status);
        break;
    case RUN_KILLED:
        snprintf(text, sizeof(text), "signal %d", p->run->status);
        break;
    case RUN_LOST:
        snprintf(text, sizeof(text), "observer died");
        break;
    default:
        snprintf(text, sizeof(text), "still runs");
        break;
    }
    add_number(p, "end", text, NULL);
}

static void add_ratio(struct report *p)
{
    const double *share = p->verdict->share;
    double compute = 0, communication = share[BRIM_STAGE_COMMUNICATION];
    const unsigned computing[] = { BRIM_STAGE_FORWARD, BRIM_STAGE_BACKWARD, BRIM_STAGE_OPTIMIZER };
    char text[32];

    for (size_t i = 0; i < ARRAY_SIZE(computing); i++)
        if (share[computing[i]] > 0)
            compute += share[computing[i]];
    if (!(compute > 0) || !isfinite(communication)) {
        add_number(p, "comm. / compute", NULL, NULL);
        return;
    }
    snprintf(text, sizeof(text), "%.2f", MIN(communication / compute, 1e9));
    add_number(p, "comm. / compute", text, NULL);
}

void report_answer(struct report *p)
{
    const struct verdict *v = p->verdict;
    double gpu = stats_signal(p->run, RUN_GPU_BUSY), seconds = run_seconds(p->run);
    struct step_stats s;
    struct quantity ranks = quantity_count((double)p->run->n_ranks);

    add_verdict(p);
    str_fail(p->out, step_stats_run(p->run, &s));
    if (str_error(p->out))
        return;
    str_add(p->out, "<dl class=\"numbers\">\n");
    add_rate(p, "steps a second", v->steps_per_s, NULL);
    add_rate(p, "samples a second", v->samples_per_s, NULL);
    add_time(p, "step, median", v->step_s);
    add_time(p, "step, p90", v->step_p90_s);
    add_time(p, "step, best", v->step_best_s);
    add_time(p, "duration", seconds);
    add_end(p);
    add_number(p, "GPU use", isnan(gpu) ? NULL : quantity_share(gpu).text, NULL);
    add_ratio(p);
    add_number(p, "ranks", p->run->n_ranks ? ranks.text : NULL, NULL);
    add_number(p, "steps, all ranks", s.steps > 0 ? quantity_count(s.steps).text : NULL, NULL);
    str_add(p->out, "</dl>\n</section>\n");
}
