/* brim plan emit: a layout as flags and files of programs that train. */
#include "base/str.h"
#include "plan/emit/emit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cmd/plan/train.h"

enum { TEXT_MAX = 1 << 20, OUTPUT_MAX = 2 << 20 };

static void add_json(struct str *out, const struct plan_ask *a, const char *target,
                     const struct layout *l, const struct str *text)
{
    CLEANUP(str_done) struct str words = STR_INIT(1024);
    struct json j = JSON_INIT(out);

    layout_words(l, &words);
    str_fail(out, str_error(&words));
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.emit.v1");
    json_string(&j, "target", target);
    json_string(&j, "model", a->job.shape.name);
    json_string(&j, "layout", str_text(&words));
    json_string(&j, "text", str_text(text));
    json_string(&j, "assumed", a->notes);
    json_end(&j);
}

static int emit(const struct plan_opts *o, char **operands, struct str *out, struct err *e)
{
    CLEANUP(plan_ask_done) struct plan_ask a = { .parameters = 0 };
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    enum emit_target target = EMIT_MEGATRON;
    struct layout l;
    int rc = err_usage_of(emit_find(operands[0], &target, e));

    if (rc == 0)
        rc = plan_ask_read(o, operands[1], &a, e);
    if (rc == 0)
        rc = pins_complete(&a.pins, &a.job, &a.cluster, &l, e);
    if (rc == 0)
        rc = emit_text(target, &a.job, &a.cluster, &l, &text, e);
    if (rc)
        return rc;
    if (o->json)
        add_json(out, &a, operands[0], &l, &text);
    else
        str_add(out, str_text(&text));
    return 0;
}

/* "1.2 % faster": what a layout is that another takes 'share' longer than. */
static struct plan_figure ahead(double share)
{
    struct plan_figure f;

    if (share < 0)
        snprintf(f.text, sizeof(f.text), "plainer, %.1f %% slower,", -100 * share);
    else
        snprintf(f.text, sizeof(f.text), "%.1f %% faster", 100 * share);
    return f;
}

int plan_emit_best(const struct plan_train *t, struct str *out, struct err *e)
{
    const struct search *s = &t->found->search;
    enum emit_target target = EMIT_MEGATRON;
    struct err first = { "" }, why = { "" };
    int rc = emit_find(t->opts->emit, &target, e);

    for (int i = 0; rc == 0 && i < s->n_best; i++) {
        int done = emit_text(target, &t->ask->job, &t->ask->cluster, &s->best[i].layout, out, &why);

        if (done == 0 && i > 0)
            str_addf(out, "# A layout that is %s has no words here: %s\n",
                     ahead(s->best[i].time_s / s->best[0].time_s - 1).text, first.text);
        if (done != -EINVAL)
            return done < 0 ? err_set(e, done, "%s", why.text) : 0;
        if (i == 0)
            first = why;
    }
    return rc < 0 ? rc
                  : err_set(e, -EINVAL,
                            "none of the %d fastest layouts has words: %s; pin what it can do",
                            s->n_best, first.text);
}

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc;

    (void)app;
    if (!operands[0] || !operands[1])
        return err_usage(e, "name a program and a model: brim plan emit megatron Llama-3.1-8B "
                            "--cluster=8xH100 --batch=128 --pin=tp=2");
    if (operands[2])
        return err_usage(e, "one model at a time, not '%.40s' too", operands[2]);
    rc = emit(o, operands, &out, e);
    return rc ? rc : cmd_print(&out, o->json, e);
}

const struct plan_command plan_emit = {
    "emit",
    "TARGET MODEL",
    "a layout as flags and files of Megatron-LM, torchtitan, DeepSpeed, NeMo, FSDP2, Slurm",
    run,
};
