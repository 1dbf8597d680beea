#include "cmd/why/card.h"

#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/json.h"
#include "cmd/common/slurm_json.h"
#include "cmd/common/tuning_json.h"
#include "cmd/why/where.h"
#include "model/job/slurm_job.h"
#include "model/signal/quantity.h"

enum { LABEL = 10, WIDTH_LEAST = 40, GAINED_MAX = 64 << 10, NAME_MAX_B = 4096 };

/* Seconds without the end of a step, and the same as a multiple of the longest step: then something
 * stands still. */
enum { STILL_LEAST = 5, STILL_TIMES = 5 };

static const char *const bold = "\033[1m", *const red = "\033[1;31m", *const yellow = "\033[1;33m",
                         *const green = "\033[1;32m", *const plain = "\033[0m";

/* ---- text ---- */

/* How many bytes of text fit into so many columns, cut at a blank where there is one. */
static size_t fitting(const char *text, size_t columns)
{
    size_t len = strlen(text), at = 0;

    if (len <= columns)
        return len;
    for (size_t i = 1; i <= columns; i++)
        at = text[i] == ' ' ? i : at;
    return at ? at : columns;
}

/* A label and a text in lines behind it; "; " in evidence begins a line. */
static void add_lines(struct str *out, const char *label, const char *text, unsigned columns,
                      bool parts)
{
    size_t room = (columns > WIDTH_LEAST ? columns : WIDTH_LEAST) - LABEL - 2;

    while (*text) {
        const char *end = parts ? strstr(text, "; ") : NULL;
        size_t len = end ? (size_t)(end - text) : strlen(text), n = fitting(text, room);

        n = n < len ? n : len;
        str_addf(out, "  %-*s", LABEL, label);
        str_add_n(out, text, n);
        str_add_char(out, '\n');
        label = "";
        text += n;
        text += n == len && end ? 2 : 0;
        text += strspn(text, " ");
    }
}

static const char *colour_of(enum severity s)
{
    if (s == SEVERITY_CRITICAL)
        return red;
    return s == SEVERITY_WARNING ? yellow : green;
}

static void add_shares(struct str *out, const struct run *r, const struct verdict *v)
{
    const char *comma = "";

    if (!(v->step_s > 0) || (r->inferred && !(r->inferred_confidence > 0)))
        return;
    str_addf(out, "  %-*s%s (p90 %s, best %s), %s steps/s", LABEL, "step",
             quantity_seconds(v->step_s).text, quantity_seconds(v->step_p90_s).text,
             quantity_seconds(v->step_best_s).text, quantity_number(v->steps_per_s, 3).text);
    if (v->samples_per_s >= 0)
        str_addf(out, ", %s samples/s", quantity_number(v->samples_per_s, 4).text);
    str_addf(out, "\n  %-*s", LABEL, "");
    for (unsigned s = 0; s < BRIM_STAGES; s++) {
        if (!(v->share[s] >= 0.005))
            continue;
        str_addf(out, "%s%s %s", comma, step_stage_name(s), quantity_share(v->share[s]).text);
        comma = ", ";
    }
    str_add_char(out, '\n');
}

static void add_item(struct str *out, const struct verdict_item *i, size_t number, bool colour,
                     unsigned columns)
{
    str_addf(out, "\n%zu. %s%s%s", number, colour ? colour_of(i->severity) : "",
             cause_name(i->cause), colour ? plain : "");
    if (i->share >= 0 && i->cause != CAUSE_NONE && isnan(i->gain))
        str_addf(out, "  %s of the time", quantity_share(i->share).text);
    else if (i->share >= 0 && i->cause != CAUSE_NONE)
        str_addf(out, "  costs %s of the step, at most %.*fx faster", quantity_share(i->share).text,
                 i->gain < 1.995 ? 2 : 1, i->gain);
    if (i->cause != CAUSE_UNKNOWN || i->confidence > 0)
        str_addf(out, "  (%s, %s sure)", severity_text(i->severity),
                 quantity_share(i->confidence).text);
    str_add_char(out, '\n');
    add_lines(out, "", i->sentence, columns, false);
    add_lines(out, "seen", i->evidence, columns, true);
    add_lines(out, "next", i->action ? i->action : "", columns, false);
}

/* Whether it hangs, as far as steps tell: they come no longer as they did. */
static bool is_still(const struct why_live *live)
{
    return live && live->still_s >= STILL_LEAST && live->still_s >= STILL_TIMES * live->longest_s;
}

static void add_live(struct str *out, const struct why_live *live, unsigned columns)
{
    char text[160];

    snprintf(text, sizeof(text),
             live->outside ? "process %d observed from outside for %.0f s"
                           : "process %d, under brim run: the last %.0f s",
             live->pid, live->seconds);
    add_lines(out, "live", text, columns, false);
    if (!is_still(live))
        return;
    snprintf(text, sizeof(text), "no step has ended for %s; the longest before took %s",
             quantity_seconds(live->still_s).text, quantity_seconds(live->longest_s).text);
    add_lines(out, "still", text, columns, false);
}

/* Which job of Slurm it is of. */
static void add_slurm(struct str *out, const struct run *r, unsigned columns)
{
    CLEANUP(str_done) struct str text = STR_INIT(NAME_MAX_B);
    struct slurm_job j;

    if (!slurm_job_of(r, &j))
        return;
    str_addf(&text, "job %s", slurm_job_say(&j).text);
    if (j.name)
        str_addf(&text, " (%s)", j.name);
    add_lines(out, "slurm", str_text(&text), columns, false);
    str_fail(out, str_error(&text));
}

/* How it ended, unless as it should. */
static void add_end(struct str *out, const struct run *r, unsigned columns)
{
    char text[160] = "";

    if (r->end == RUN_LOST)
        snprintf(text, sizeof(text),
                 "lost: its observer was killed, the job need not have been; "
                 "judged is what was seen until then");
    else if (r->end == RUN_KILLED)
        snprintf(text, sizeof(text), "killed by signal %d", r->status);
    else if (r->end == RUN_EXITED && r->status)
        snprintf(text, sizeof(text), "exit %d", r->status);
    if (*text)
        add_lines(out, "end", text, columns, false);
}

/* What brim optimize gained, and that causes are of what came then. */
static void add_gained(struct str *out, const struct run *r, const struct verdict *v,
                       unsigned columns)
{
    CLEANUP(str_done) struct str text = STR_INIT(GAINED_MAX);

    if (!r->tuning)
        return;
    run_tuning_say(r->tuning, &text);
    add_lines(out, "gained", str_text(&text), columns, true);
    str_fail(out, str_error(&text));
    str_reset(&text);
    if (!(v->stretch_s > 0))
        return;
    str_addf(&text, "%s without a trial%s", quantity_seconds(v->stretch_s).text,
             run_tuning_kept_any(r->tuning) ? ", with what was kept" : "");
    add_lines(out, "judged", str_text(&text), columns, false);
    str_fail(out, str_error(&text));
}

/* Which lines of the job's Python take the time. */
static void add_where(struct str *out, const struct verdict *v, unsigned columns)
{
    CLEANUP(str_done) struct str text = STR_INIT(GAINED_MAX);

    where_say(v, &text);
    if (text.len)
        add_lines(out, "where", str_text(&text), columns, true);
    str_fail(out, str_error(&text));
}

void why_card(const struct run *r, const struct verdict *v, const struct why_live *live,
              bool colour, unsigned columns, struct str *out)
{
    if (r->id || !live)
        str_addf(out, "run %s", r->id ? r->id : "?");
    else
        str_addf(out, "process %d", live->pid);
    if (r->name)
        str_addf(out, "  %s", r->name);
    str_addf(out, "  %zu rank%s", r->n_ranks, str_plural(r->n_ranks));
    str_add_char(out, '\n');
    add_slurm(out, r, columns);
    if (live)
        add_live(out, live, columns);
    else
        add_end(out, r, columns);
    add_gained(out, r, v, columns);
    if (r->inferred)
        add_lines(out, "inferred", r->inferred, columns, false);
    add_shares(out, r, v);
    add_where(out, v, columns);
    str_addf(out, "\n%sVERDICT%s  ", colour ? bold : "", colour ? plain : "");
    str_addf(out, "%s\n", v->sentence);
    for (size_t i = 0; i < v->count; i++)
        add_item(out, &v->items[i], i + 1, colour, columns);
}

/* ---- JSON ---- */

static void add_json_item(struct json *j, const struct verdict_item *i)
{
    json_object(j, NULL);
    json_string(j, "cause", cause_name(i->cause));
    json_string(j, "severity", severity_text(i->severity));
    json_number(j, "share", i->share, 4);
    json_number(j, "least", i->least, 4);
    json_number(j, "gain", i->gain, 4);
    json_number(j, "confidence", i->confidence, 3);
    json_int(j, "rank", i->rank);
    json_string(j, "sentence", i->sentence);
    json_string(j, "evidence", i->evidence);
    json_string(j, "action", i->action);
    where_json_item(j, i);
    json_end(j);
}

/* By its name, and by the one that it had at first. */
static void json_twice(struct json *j, const char *key, const char *was, double value)
{
    json_number(j, key, value, 6);
    json_number(j, was, value, 6);
}

static void add_json_live(struct json *j, const struct why_live *live)
{
    json_object(j, "live");
    json_int(j, "pid", live->pid);
    json_string(j, "observed", live->outside ? "outside" : "run");
    json_number(j, "seconds", live->seconds, 4);
    json_twice(j, "still_s", "still_seconds", live->still_s);
    json_bool(j, "still", is_still(live));
    json_end(j);
}

void why_json(const struct run *r, const struct verdict *v, const struct why_live *live,
              struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.verdict.v1");
    json_string(&j, "run", r->id);
    json_string(&j, "name", r->name);
    slurm_json(r, &j);
    if (live)
        add_json_live(&j, live);
    tuning_json(r, &j);
    if (r->tuning)
        json_number(&j, "stretch_s", v->stretch_s > 0 ? v->stretch_s : (double)NAN, 4);
    json_string(&j, "inferred", r->inferred);
    json_string(&j, "sentence", v->sentence);
    json_twice(&j, "step_s", "step_seconds", v->step_s);
    json_twice(&j, "step_p90_s", "step_p90_seconds", v->step_p90_s);
    json_twice(&j, "step_best_s", "step_best_seconds", v->step_best_s);
    json_twice(&j, "steps_per_s", "steps_per_second", v->steps_per_s);
    json_twice(&j, "samples_per_s", "samples_per_second", v->samples_per_s);
    json_object(&j, "share");
    for (unsigned s = 0; s < BRIM_STAGES; s++)
        json_number(&j, step_stage_name(s), v->step_s > 0 ? v->share[s] : (double)NAN, 4);
    json_end(&j);
    where_json(&j, v);
    json_array(&j, "items");
    for (size_t i = 0; i < v->count; i++)
        add_json_item(&j, &v->items[i]);
    json_end(&j);
    json_end(&j);
}

/* ---- traces ---- */

static const char *class_name(enum straggler_class c)
{
    static const char *const names[] = { "none", "worker", "last-stage", "sequence-lengths",
                                         "spread" };

    return names[c];
}

static void add_class(const struct straggler *s, struct str *out)
{
    switch (s->class) {
    case STRAGGLER_NONE:
        str_add(out, "no stragglers to speak of");
        break;
    case STRAGGLER_WORKER:
        str_addf(out, "a slow worker: data-parallel rank %u, stage %u", s->worst_dp,
                 s->worst_stage);
        break;
    case STRAGGLER_STAGE:
        str_add(out, "the last stage has more to do than the others");
        break;
    case STRAGGLER_LENGTHS:
        str_add(out, "samples of unequal length: another rank is slow each time");
        break;
    case STRAGGLER_SPREAD:
        str_add(out, "slow operations everywhere: no worker and no stage stands out");
    }
}

static const char *advice(enum straggler_class c)
{
    static const char *const texts[] = {
        "nothing",
        "take that node out, and look at its clocks, links and CPUs",
        "give the last stage fewer layers: the loss layer counts as some",
        "spread long samples evenly over ranks and micro-batches",
        "look at the operations below with the largest slowdown",
    };

    return texts[c];
}

/* A share that others undo is none, and what wins more than the mean of all explains all. */
static double of_all(double share)
{
    return fmax(0, fmin(1, share));
}

/* What explains the time that is lost; nothing where none is. */
static void add_loss(const struct straggler *s, struct str *out)
{
    str_addf(out, "  slowdown  %.3f times: %.0f %% of the time is lost (S)\n", s->slowdown,
             100 * (1 - 1 / s->slowdown));
    if (isfinite(s->worker))
        str_addf(out,
                 "  worker    %.0f %% of the loss comes from the slowest 3 %% of workers (M_W)\n",
                 100 * of_all(s->worker));
    if (isfinite(s->stage))
        str_addf(out, "  stage     %.0f %% of the loss comes from the last stage (M_S)\n",
                 100 * of_all(s->stage));
    if (isfinite(s->correlation))
        str_addf(out, "  lengths   forward and backward times correlate by %.2f (r)\n",
                 s->correlation);
}

void why_trace_card(const struct op_trace *t, const struct straggler *s, struct str *out)
{
    size_t cells = op_trace_cells(t);

    str_addf(out, "%u step%s of %u rank%s with %u stage%s, %zu operation%s\n\nVERDICT  ",
             t->n_steps, str_plural(t->n_steps), t->n_dp, str_plural(t->n_dp), t->n_stages,
             str_plural(t->n_stages), cells, str_plural(cells));
    add_class(s, out);
    str_addf(out, "\n\n  step      %s, %s if all operations of a kind were equal\n",
             quantity_seconds(s->actual_s).text, quantity_seconds(s->ideal_s).text);
    add_loss(s, out);
    str_addf(out, "  next      %s\n\nslowdown by these alone\n", advice(s->class));
    for (unsigned k = 0; k < OP_TYPES; k++)
        if (s->by_type[k] >= 1.001)
            str_addf(out, "  %-28s %.3f\n", op_type_name(k), s->by_type[k]);
    for (unsigned k = 0; k < t->n_stages; k++)
        str_addf(out, "  stage %-22u %.3f\n", k, s->by_stage[k]);
}

static void add_array(struct json *j, const char *key, const double *values, unsigned n)
{
    json_array(j, key);
    for (unsigned i = 0; i < n; i++)
        json_number(j, NULL, values[i], 6);
    json_end(j);
}

void why_trace_json(const struct op_trace *t, const struct straggler *s, struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.straggler.v1");
    json_string(&j, "class", class_name(s->class));
    json_number(&j, "slowdown", s->slowdown, 6);
    json_twice(&j, "actual_s", "actual_seconds", s->actual_s);
    json_twice(&j, "ideal_s", "ideal_seconds", s->ideal_s);
    json_number(&j, "worker_share", s->worker, 4);
    json_number(&j, "last_stage_share", s->stage, 4);
    json_number(&j, "correlation", s->correlation, 4);
    json_int(&j, "slowest_rank", s->worst_dp);
    json_int(&j, "slowest_stage", s->worst_stage);
    json_object(&j, "by_operation");
    for (unsigned k = 0; k < OP_TYPES; k++)
        json_number(&j, op_type_name(k), s->by_type[k], 6);
    json_end(&j);
    add_array(&j, "by_stage", s->by_stage, t->n_stages);
    add_array(&j, "by_rank", s->by_dp, t->n_dp);
    json_end(&j);
}
