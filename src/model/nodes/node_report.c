#include "model/nodes/node_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/json_read.h"

static const char schema[] = "brim.node.v1", family[] = "brim.node.";

/* As deploy/prometheus counts it, too. */
static const double idle_below = 0.05;

/* ---- of a live view ---- */

static void count_gpus(struct node_report *r, const struct live *l)
{
    for (size_t i = 0; i < l->n_gpus; i++) {
        const struct live_gpu *g = &l->gpus[i];

        if (i < NODE_REPORT_GPUS)
            r->busy[r->n_busy++] = g->lost > 0 ? (double)NAN : g->busy;
        if (g->lost > 0) {
            r->lost++;
            r->gpu_hours++;
        } else if (!isnan(g->busy)) {
            r->gpus++;
            r->idle += g->busy < idle_below;
            r->gpu_hours += 1 - MIN(MAX(g->busy, 0), 1);
        }
    }
}

/* One for which nothing is to start on the node. */
static void note_unfit(struct node_report *r, const struct live *l, const struct live_alert *a)
{
    if (!*r->unfit)
        live_run_text(r->unfit, sizeof(r->unfit), a->text);
    for (size_t i = 0; i < l->n_gpus && i < NODE_REPORT_GPUS; i++)
        if (l->gpus[i].gpu && !strcmp(l->gpus[i].gpu, a->thing))
            r->faulty |= 1U << i;
}

static void count_alerts(struct node_report *r, const struct live *l, const struct live_extra *x)
{
    for (size_t i = 0; i < x->n_alerts; i++) {
        bool critical = !strcmp(x->alerts[i].severity, severity_text(SEVERITY_CRITICAL));
        bool warning = !strcmp(x->alerts[i].severity, severity_text(SEVERITY_WARNING));

        if ((critical && r->critical == 0) || (warning && r->critical + r->warnings == 0))
            live_run_text(r->alert, sizeof(r->alert), x->alerts[i].text);
        r->critical += critical;
        r->warnings += warning;
        if (x->alerts[i].drain)
            note_unfit(r, l, &x->alerts[i]);
    }
}

static void take_runs(struct node_report *r, const struct live_extra *x)
{
    for (size_t i = 0; x->runs && i < x->n_runs && r->n_jobs < NODE_REPORT_RUNS; i++) {
        const struct live_run *run = &x->runs[i];
        struct node_run *to = &r->jobs[r->n_jobs];

        if (!run->slurm_job || run->uid < 0)
            continue;
        r->n_jobs++;
        to->job = run->slurm_job;
        to->uid = run->uid;
        to->limited = run->limited;
        to->severity = (uint8_t)run->severity;
        to->share = run->share;
        to->steps_per_s = run->steps_per_s;
        live_run_text(to->sentence, sizeof(to->sentence), run->sentence);
    }
}

void node_report_make(struct node_report *r, const struct live *l, const struct live_extra *x)
{
    *r = (struct node_report){ .time_ms = l->wall_ns / NS_PER_MS,
                               .verdict = l->verdict,
                               .judged = true,
                               .runs = (double)x->n_runs };
    live_run_text(r->host, sizeof(r->host), x->host ? x->host : "");
    live_run_text(r->version, sizeof(r->version), BRIM_VERSION);
    count_gpus(r, l);
    count_alerts(r, l, x);
    take_runs(r, x);
}

/* ---- writing ---- */

static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, *text ? text : NULL);
}

static void add_verdict(struct json *j, const struct live_verdict *v)
{
    bool stage = v->bottleneck < LIVE_NONE;

    json_string(j, "state", live_state_name(v->state));
    json_string(j, "severity", severity_text(MAX(v->severity, SEVERITY_NOTE)));
    json_string(j, "bottleneck", stage ? live_stage_name(v->bottleneck) : NULL);
    json_string(j, "sentence", v->sentence);
    add_text(j, "waste", v->waste);
    add_text(j, "action", v->action);
    add_text(j, "run", v->run);
}

static void add_runs(struct json *j, const struct node_report *r)
{
    json_array(j, "slurm_jobs");
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct node_run *run = &r->jobs[i];

        json_object(j, NULL);
        json_int(j, "job", run->job);
        json_int(j, "uid", run->uid);
        json_bool(j, "limited", run->limited);
        json_int(j, "severity", run->severity);
        json_round(j, "share", run->share, 4);
        json_number(j, "steps_per_s", run->steps_per_s, 4);
        add_text(j, "sentence", run->sentence);
        json_end(j);
    }
    json_end(j);
}

void node_report_write(const struct node_report *r, struct str *out)
{
    struct json j = { .out = out, .compact = true };

    json_object(&j, NULL);
    json_string(&j, "schema", schema);
    json_string(&j, "version", r->version);
    add_text(&j, "host", r->host);
    json_int(&j, "time_ms", r->time_ms);
    add_verdict(&j, &r->verdict);
    json_round(&j, "gpus", r->gpus, 0);
    json_round(&j, "gpus_idle", r->idle, 0);
    json_round(&j, "gpus_lost", r->lost, 0);
    json_round(&j, "gpu_hours_lost_per_h", r->gpu_hours, 3);
    json_round(&j, "alerts_critical", r->critical, 0);
    json_round(&j, "alerts_warning", r->warnings, 0);
    add_text(&j, "alert", r->alert);
    add_text(&j, "unfit", r->unfit);
    json_array(&j, "gpus_faulty");
    for (unsigned i = 0; i < NODE_REPORT_GPUS; i++)
        if (r->faulty & 1U << i)
            json_int(&j, NULL, i);
    json_end(&j);
    json_round(&j, "runs", r->runs, 0);
    json_array(&j, "busy");
    for (size_t i = 0; i < r->n_busy; i++)
        json_round(&j, NULL, r->busy[i], 3);
    json_end(&j);
    if (r->n_jobs > 0)
        add_runs(&j, r);
    json_end(&j);
}

/* ---- reading ---- */

static double number_of(const struct json_value *root, const char *key, double most)
{
    const struct json_value *v = json_get(root, key);

    if (!v || v->kind != JSON_NUMBER || v->number < 0 || v->number > most)
        return (double)NAN;
    return v->number;
}

static const char *text_of(const struct json_value *root, const char *key)
{
    const struct json_value *v = json_get(root, key);

    return v && v->kind == JSON_STRING ? v->text : "";
}

static void read_verdict(const struct json_value *root, struct live_verdict *v)
{
    const char *state = text_of(root, "state"), *stage = text_of(root, "bottleneck");
    const char *severity = text_of(root, "severity");

    v->state = LIVE_UNKNOWN;
    for (int i = LIVE_UNKNOWN; i <= LIVE_LIMIT; i++)
        if (!strcmp(state, live_state_name((enum live_state)i)))
            v->state = (enum live_state)i;
    v->severity = SEVERITY_NOTE;
    for (int i = SEVERITY_NOTE; i <= SEVERITY_CRITICAL; i++)
        if (!strcmp(severity, severity_text((enum severity)i)))
            v->severity = (enum severity)i;
    v->bottleneck = LIVE_NONE;
    for (int i = 0; i < LIVE_STAGES; i++)
        if (!strcmp(stage, live_stage_name((enum live_stage_id)i)))
            v->bottleneck = (enum live_stage_id)i;
    live_run_text(v->sentence, sizeof(v->sentence), text_of(root, "sentence"));
    live_run_text(v->waste, sizeof(v->waste), text_of(root, "waste"));
    live_run_text(v->action, sizeof(v->action), text_of(root, "action"));
    live_run_text(v->run, sizeof(v->run), text_of(root, "run"));
}

static void read_numbers(const struct json_value *root, struct node_report *r)
{
    static const double gpus = 4096, many = 1e6, moment = 1e15;
    const double time = number_of(root, "time_ms", moment);

    r->time_ms = isnan(time) ? 0 : (int64_t)time;
    r->gpus = number_of(root, "gpus", gpus);
    r->idle = number_of(root, "gpus_idle", gpus);
    r->lost = number_of(root, "gpus_lost", gpus);
    r->gpu_hours = number_of(root, "gpu_hours_lost_per_h", gpus);
    r->critical = number_of(root, "alerts_critical", many);
    r->warnings = number_of(root, "alerts_warning", many);
    r->runs = number_of(root, "runs", many);
}

/* What is not a share of the time is not known. */
static void read_busy(const struct json_value *root, struct node_report *r)
{
    const struct json_value *v = json_get(root, "busy");

    for (size_t i = 0; v && v->kind == JSON_ARRAY && i < MIN(v->n_items, NODE_REPORT_GPUS); i++) {
        const struct json_value *x = &v->items[i];
        bool share = x->kind == JSON_NUMBER && x->number >= 0 && x->number <= 1;

        r->busy[r->n_busy++] = share ? x->number : (double)NAN;
    }
}

static void read_faulty(const struct json_value *root, struct node_report *r)
{
    const struct json_value *v = json_get(root, "gpus_faulty");

    r->judged = v && v->kind == JSON_ARRAY;
    for (size_t i = 0; r->judged && i < v->n_items; i++) {
        const struct json_value *x = &v->items[i];

        if (x->kind == JSON_NUMBER && x->number >= 0 && x->number < NODE_REPORT_GPUS)
            r->faulty |= 1U << (unsigned)x->number;
    }
    live_run_text(r->unfit, sizeof(r->unfit), r->judged ? text_of(root, "unfit") : "");
}

/* One whose job or owner is not told is none. */
static void read_runs(const struct json_value *root, struct node_report *r)
{
    static const double rates = 1e12;
    const struct json_value *v = json_get(root, "slurm_jobs");

    for (size_t i = 0; v && v->kind == JSON_ARRAY && i < v->n_items && r->n_jobs < NODE_REPORT_RUNS;
         i++) {
        const struct json_value *x = &v->items[i], *limited = json_get(x, "limited");
        struct node_run *to = &r->jobs[r->n_jobs];
        double job = number_of(x, "job", UINT32_MAX), uid = number_of(x, "uid", UINT32_MAX);
        double severity = number_of(x, "severity", SEVERITY_CRITICAL);

        if (!(job >= 1) || isnan(uid))
            continue;
        r->n_jobs++;
        to->job = (uint32_t)job;
        to->uid = (int64_t)uid;
        to->severity = isnan(severity) ? SEVERITY_NOTE : (uint8_t)severity;
        to->share = number_of(x, "share", 1);
        to->steps_per_s = number_of(x, "steps_per_s", rates);
        live_run_text(to->sentence, sizeof(to->sentence), text_of(x, "sentence"));
        to->limited = limited && limited->kind == JSON_BOOL && limited->boolean && *to->sentence;
    }
}

int node_report_read(struct node_report *ret, const char *text, size_t len)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root;
    struct node_report r = { .time_ms = 0 };
    const char *of;
    int rc;

    if (len > NODE_REPORT_MAX)
        return -EINVAL;
    rc = json_read(&root, &a, "", text, len, NULL);
    if (rc < 0)
        return rc;
    of = text_of(root, "schema");
    if (strncmp(of, family, strlen(family)) != 0)
        return -EINVAL;
    if (strcmp(of, schema) != 0)
        return -EPROTONOSUPPORT;
    live_run_text(r.host, sizeof(r.host), text_of(root, "host"));
    live_run_text(r.version, sizeof(r.version), text_of(root, "version"));
    live_run_text(r.alert, sizeof(r.alert), text_of(root, "alert"));
    read_verdict(root, &r.verdict);
    read_numbers(root, &r);
    read_busy(root, &r);
    read_faulty(root, &r);
    read_runs(root, &r);
    *ret = r;
    return 0;
}
