#include "daemon/feed.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "diagnose/alerts/alert.h"
#include "diagnose/node/live.h"
#include "diagnose/node/run_limit.h"
#include "model/nodes/node_report.h"
#include "render/node/live_json.h"

enum { EVENTS_KEPT = 32, ALERTS_SHOWN = 64 };

struct feed {
    const char *host;
    struct alerts *alerts;
    struct tick ticks[2]; /* this one and the one before, in turns */
    unsigned now;
    struct live live;
    struct event events[EVENTS_KEPT]; /* the last ones, the oldest first */
    size_t n_events;
    const struct live_run *runs;
    size_t n_runs;
};

static const struct signal_def stage_defs[] = {
    { "load_ratio", "how near a stage of the pipeline is to its limit", SIGNAL_GAUGE, NULL },
    { "limiting", "1 for the stage that limits this node", SIGNAL_GAUGE, NULL },
};
static const struct signal_set stage_set = { "stage", "stage", stage_defs, ARRAY_SIZE(stage_defs) };

int feed_open(struct feed **ret, const char *host, const struct rules *rules, struct err *e)
{
    CLEANUP(feed_closep) struct feed *f = calloc(1, sizeof(*f));

    if (!f || alerts_new(&f->alerts, rules) < 0)
        return err_nomem(e);
    f->host = host;
    *ret = steal(&f);
    return 0;
}

void feed_close(struct feed *f)
{
    if (!f)
        return;
    alerts_free(f->alerts);
    tick_done(&f->ticks[0]);
    tick_done(&f->ticks[1]);
    free(f);
}

struct tick *feed_next(struct feed *f, int64_t wall_ns, int64_t monotonic_ns)
{
    f->now = !f->now;
    tick_begin(&f->ticks[f->now], wall_ns, monotonic_ns);
    return &f->ticks[f->now];
}

const struct tick *feed_tick(const struct feed *f)
{
    return &f->ticks[f->now];
}

const struct live *feed_view(const struct feed *f)
{
    return &f->live;
}

void feed_runs(struct feed *f, const struct live_run *runs, size_t n)
{
    f->runs = runs;
    f->n_runs = n;
}

static void keep(struct feed *f, const struct event *event)
{
    if (f->n_events == EVENTS_KEPT)
        memmove(&f->events[0], &f->events[1], --f->n_events * sizeof(f->events[0]));
    f->events[f->n_events++] = *event;
}

static int add_stages(struct feed *f)
{
    for (int i = 0; i < LIVE_STAGES; i++) {
        struct signal_row *row = tick_add(&f->ticks[f->now], &stage_set,
                                          live_stage_name((enum live_stage_id)i));

        if (!row)
            return -ENOMEM;
        row->values[0] = f->live.stages[i].load;
        row->values[1] = f->live.verdict.bottleneck == (enum live_stage_id)i;
    }
    return 0;
}

int feed_judge(struct feed *f)
{
    struct tick *now = &f->ticks[f->now];
    const struct tick *before = &f->ticks[!f->now];
    int rc = alerts_step(f->alerts, before->n_rows ? before : NULL, now);

    live_update(&f->live, before, now);
    run_limit(&f->live, f->runs, f->n_runs);
    if (rc == 0)
        rc = alerts_rows(f->alerts, now);
    if (rc == 0)
        rc = add_stages(f);
    for (size_t i = 0; i < now->n_events; i++)
        keep(f, &now->events[i]);
    return rc;
}

size_t feed_dropped(const struct feed *f)
{
    return alerts_dropped(f->alerts);
}

void feed_metrics(const struct feed *f, enum metrics_format format, struct str *out)
{
    metrics_render(&f->ticks[f->now], format, out);
}

/* What is told besides the view; its alerts are put into 'shown'. */
static struct live_extra extra_of(const struct feed *f, struct live_alert shown[ALERTS_SHOWN])
{
    struct live_extra extra = { .host = f->host,
                                .alerts = shown,
                                .events = f->events,
                                .n_events = f->n_events,
                                .runs = f->runs,
                                .n_runs = f->n_runs };
    size_t n;
    const struct alert *firing = alerts_firing(f->alerts, &n);

    extra.n_alerts = MIN(n, (size_t)ALERTS_SHOWN);
    for (size_t i = 0; i < extra.n_alerts; i++)
        shown[i] = (struct live_alert){ .name = firing[i].rule->name,
                                        .severity = severity_text(firing[i].severity),
                                        .thing = firing[i].thing,
                                        .text = firing[i].text,
                                        .action = firing[i].action,
                                        .since_ms = firing[i].since_ns / NS_PER_MS,
                                        .drain = firing[i].rule->drain &&
                                                 firing[i].severity == SEVERITY_CRITICAL,
                                        .code = firing[i].code };
    return extra;
}

void feed_live(const struct feed *f, struct str *out)
{
    struct live_alert shown[ALERTS_SHOWN];
    const struct live_extra extra = extra_of(f, shown);

    live_json(&f->live, &extra, out);
}

void feed_node(const struct feed *f, struct str *out)
{
    struct live_alert shown[ALERTS_SHOWN];
    const struct live_extra extra = extra_of(f, shown);
    struct node_report report;

    node_report_make(&report, &f->live, &extra);
    node_report_write(&report, out);
}
