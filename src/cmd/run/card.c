#include "cmd/run/card.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/common/load_run.h"
#include "cmd/common/slurm_json.h"
#include "cmd/common/tuning_json.h"
#include "diagnose/verdict/judge.h"
#include "model/signal/quantity.h"
#include "run/archive/figures.h"

enum { LABEL = 9, BAR_MIN = 20, BAR_MAX = 80, HOSTS_MOST = 256 };

/* In the order of a step, with their letters and colours on the bar. */
static const struct {
    enum brim_stage stage;
    char letter;
    const char *colour;
} stages[] = {
    { BRIM_STAGE_WAIT, 'w', "\033[31m" },          { BRIM_STAGE_COPY, 'h', "\033[35m" },
    { BRIM_STAGE_FORWARD, 'f', "\033[32m" },       { BRIM_STAGE_BACKWARD, 'b', "\033[36m" },
    { BRIM_STAGE_COMMUNICATION, 'c', "\033[33m" }, { BRIM_STAGE_OPTIMIZER, 'o', "\033[34m" },
    { BRIM_STAGE_CHECKPOINT, 'k', "\033[95m" },    { BRIM_STAGE_OTHER, '.', "\033[90m" },
};

int run_card_judge(const struct run *r, struct verdict *ret)
{
    CLEANUP(run_done) struct run earlier = { .id = NULL };
    bool known = load_run_earlier(r, &earlier, NULL) == 0 && earlier.id;

    *ret = (struct verdict){ .sentence = NULL };
    return judge_run(r, known ? &earlier : NULL, ret);
}

struct run_card_end run_card_end(const struct run *r)
{
    struct run_card_end end;

    if (r->end == RUN_RUNNING)
        snprintf(end.text, sizeof(end.text), "running");
    else if (r->end == RUN_LOST)
        snprintf(end.text, sizeof(end.text), "lost");
    else if (r->end == RUN_KILLED)
        snprintf(end.text, sizeof(end.text), "killed by signal %d", r->status);
    else
        snprintf(end.text, sizeof(end.text), "exit %d", r->status);
    return end;
}

static void add_label(struct str *out, const char *label)
{
    str_addf(out, "  %-*s ", LABEL, label);
}

static void add_steps(const struct run *r, const struct run_figures *f, struct str *out)
{
    size_t hosts = run_figures_hosts(r, NULL, 0);

    if (!(f->steps > 0)) {
        add_label(out, "steps");
        str_add(out, "none were marked, and none could be inferred\n");
        return;
    }
    add_label(out, "steps");
    str_addf(out, "%.0f, %s/s", f->steps, quantity_number(f->steps_per_s, 3).text);
    if (!isnan(f->samples_per_s))
        str_addf(out, ", %s samples/s", quantity_number(f->samples_per_s, 4).text);
    str_addf(out, "; a step takes %s, one of ten %s or more", quantity_seconds(f->step_s).text,
             quantity_seconds(f->step_p90_s).text);
    if (r->n_ranks > 1)
        str_addf(out, "; %zu ranks", r->n_ranks);
    if (hosts > 1)
        str_addf(out, " on %zu hosts", hosts);
    str_add_char(out, '\n');
    if (r->inferred) {
        add_label(out, "");
        str_addf(out, "%s\n", r->inferred);
    }
}

/* Each stage gets columns by its share; what rounding leaves goes to the largest. */
static void share_columns(const double *share, int width, int *columns)
{
    int left = width;
    size_t most = 0;

    for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
        columns[i] = (int)floor(share[stages[i].stage] * width + 0.5);
        columns[i] = MIN(MAX(columns[i], 0), left);
        left -= columns[i];
        if (share[stages[i].stage] > share[stages[most].stage])
            most = i;
    }
    columns[most] += left;
}

static void add_bar(const struct run_figures *f, const struct run_card_look *look, struct str *out)
{
    int width = (int)look->columns - LABEL - 4, columns[ARRAY_SIZE(stages)];

    width = MIN(MAX(width, BAR_MIN), BAR_MAX);
    share_columns(f->share, width, columns);
    add_label(out, "step");
    for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
        if (look->colour && columns[i])
            str_add(out, stages[i].colour);
        if (look->unicode && look->colour)
            for (int k = 0; k < columns[i]; k++)
                str_add(out, "\xe2\x96\x88"); /* full block */
        else
            str_fill(out, stages[i].letter, columns[i]);
        if (look->colour && columns[i])
            str_add(out, "\033[0m");
    }
    str_add_char(out, '\n');
}

static void add_split(const struct run_figures *f, const struct run_card_look *look,
                      struct str *out)
{
    bool first = true;

    add_bar(f, look, out);
    add_label(out, "");
    for (size_t i = 0; i < ARRAY_SIZE(stages); i++) {
        double share = f->share[stages[i].stage];

        if (!(share >= 0.005))
            continue;
        str_addf(out, "%s%s", first ? "" : ", ", look->colour ? stages[i].colour : "");
        str_addf(out, "%s%s %s", step_stage_name(stages[i].stage), look->colour ? "\033[0m" : "",
                 quantity_share(share).text);
        if (!look->colour)
            str_addf(out, " (%c)", stages[i].letter);
        first = false;
    }
    str_add_char(out, '\n');
}

static void add_use(const struct run_figures *f, struct str *out)
{
    if (f->gpus > 0) {
        add_label(out, "GPU");
        str_addf(out, "%.0f, %s busy\n", f->gpus, quantity_share(f->gpu_busy).text);
    }
    if (f->share[BRIM_STAGE_COMMUNICATION] > 0 && !isnan(f->communication)) {
        add_label(out, "exchange");
        str_addf(out, "waits for communication %.2f of the time that computing takes\n",
                 f->communication);
    }
    if (isnan(f->job_cpu))
        return;
    add_label(out, "CPU");
    str_addf(out, "%s CPUs used", quantity_number(f->job_cpu, 3).text);
    if (f->cpus > 0)
        str_addf(out, " of %.0f", f->cpus);
    if (!isnan(f->pss))
        str_addf(out, ", %s of memory at most", quantity_bytes(f->pss).text);
    else if (!isnan(f->resident))
        str_addf(out, ", %s resident at most", quantity_bytes(f->resident).text);
    if (f->job_read > 0)
        str_addf(out, ", reads %s", quantity_rate(f->job_read).text);
    str_add_char(out, '\n');
}

static void add_verdict(const struct run *r, const struct verdict *v, bool stored, struct str *out)
{
    if (v && v->sentence) {
        add_label(out, "verdict");
        str_addf(out, "%s\n", v->sentence);
    }
    if (v && v->count && v->items[0].action) {
        add_label(out, "next");
        str_addf(out, "%s\n", v->items[0].action);
    } else if (stored) {
        add_label(out, "next");
        str_addf(out, "brim why %s\n", r->id);
    }
}

int run_card(const struct run *r, const struct verdict *verdict, bool stored,
             const struct run_card_look *look, struct str *out)
{
    struct run_figures f;
    int rc = run_figures(r, &f);

    if (rc < 0)
        return rc;
    str_addf(out, "brim: run %s (%s) took %s: %s\n", r->id, r->name,
             quantity_seconds(f.seconds).text, run_card_end(r).text);
    add_steps(r, &f, out);
    if (f.steps > 0 && !r->inferred)
        add_split(&f, look, out);
    add_use(&f, out);
    add_verdict(r, verdict, stored, out);
    return str_error(out);
}

static void json_hosts(const struct run *r, struct json *j)
{
    const char *hosts[HOSTS_MOST];
    size_t n = MIN(run_figures_hosts(r, hosts, HOSTS_MOST), (size_t)HOSTS_MOST);

    json_array(j, "hosts");
    for (size_t i = 0; i < n; i++)
        json_string(j, NULL, hosts[i]);
    json_end(j);
}

/* Of a run that had one. */
static void json_profile(const struct run *r, struct json *j)
{
    const char *profile = run_environment(r, "profile");

    if (!profile)
        return;
    json_string(j, "profile", profile);
    json_string(j, "profile_applied", run_environment(r, "profile.applied"));
}

int run_card_json_in(const struct run *r, const struct verdict *verdict, const char *key,
                     struct json *j)
{
    static const char *const ends[] = { "running", "exited", "killed", "lost" };
    struct run_figures f;
    int rc = run_figures(r, &f);

    if (rc < 0)
        return rc;
    json_object(j, key);
    json_string(j, "schema", "brim.run.v1");
    json_string(j, "id", r->id);
    json_string(j, "name", r->name);
    json_string(j, "command", r->command);
    json_string(j, "folder", r->folder);
    json_string(j, "user", r->user);
    json_string(j, "host", r->host);
    slurm_json(r, j);
    json_profile(r, j);
    json_string(j, "end", ends[r->end]);
    json_int(j, "status", r->status);
    json_int(j, "begin_ms", r->begin_ns / NS_PER_MS);
    json_round(j, "seconds", f.seconds, 3);
    json_int(j, "ranks", (int64_t)r->n_ranks);
    json_hosts(r, j);
    json_round(j, "steps", f.steps, 1);
    json_number(j, "steps_per_s", f.steps_per_s, 6);
    json_number(j, "samples_per_s", f.samples_per_s, 6);
    json_number(j, "step_s", f.step_s, 6);
    json_number(j, "step_p90_s", f.step_p90_s, 6);
    json_string(j, "inferred", r->inferred);
    json_number(j, "inferred_confidence", r->inferred ? r->inferred_confidence : (double)NAN, 3);
    json_object(j, "share");
    for (size_t i = 0; i < ARRAY_SIZE(stages); i++)
        json_round(j, step_stage_name(stages[i].stage), f.share[stages[i].stage], 4);
    json_end(j);
    json_number(j, "communication_to_compute", f.communication, 4);
    json_number(j, "gpus", f.gpus, 4);
    json_number(j, "gpu_busy", f.gpu_busy, 4);
    json_number(j, "job_cpu", f.job_cpu, 5);
    json_number(j, "job_resident", f.resident, 10);
    json_number(j, "job_pss", f.pss, 10);
    tuning_json(r, j);
    json_string(j, "verdict", verdict ? verdict->sentence : NULL);
    json_string(j, "action", verdict && verdict->count ? verdict->items[0].action : NULL);
    json_end(j);
    return str_error(j->out);
}

int run_card_json(const struct run *r, const struct verdict *verdict, struct str *out)
{
    struct json j = JSON_INIT(out);

    return run_card_json_in(r, verdict, NULL, &j);
}
