/* brim plan train: the layout with the shortest step. */
#include "cmd/plan/train.h"

#include <string.h>

#include "cmd/plan/nothing.h"
#include "plan/emit/emit.h"

enum { OUTPUT_MAX = 16 << 20, BEST_USUAL = 5 };

/* What predictions do not tell apart: of 174 pairs of layouts of one job whose predicted steps are
 * so near or nearer (vTrain's sweeps but for the rows held back, 2026-11-26), 56 % were measured in
 * the order that was predicted; of those 7 to 10 % apart 85 %. */
static const double as_fast = .04;

/* What is told of the list of layouts, beside an answer that has none. JSON has the parts of each
 * layout anyway. */
static int check_list(const struct plan_opts *o, struct err *e)
{
    const char *answer = o->compares.n ? "compare"
                         : o->why      ? "why"
                         : o->svg      ? "svg"
                         : o->emit     ? "emit"
                                       : NULL;
    const char *list = o->best ? "best" : o->explain ? "explain" : o->pareto ? "pareto" : NULL;

    if (answer && list)
        return err_usage(e, "--%s is of the list of layouts, and --%s shows none: give one of them",
                         list, answer);
    return 0;
}

static int check_options(const struct plan_opts *o, char **operands, struct err *e)
{
    bool named = o->compares.n > 0;
    enum emit_target target;
    int rc;

    if (!operands[0])
        return err_usage(e, "name a model: brim plan train Llama-3.1-70B --cluster=8x8xH100-SXM "
                            "--batch=1024");
    if (operands[1] && !named)
        return err_usage(e, "does not know what to do with '%.60s'", operands[1]);
    if (named + (o->why != NULL) + (o->svg != NULL) + (o->emit != NULL) + (o->json != NULL) > 1)
        return err_usage(e, "--compare, --why, --svg, --emit and --json are different answers: "
                            "give one of them");
    rc = check_list(o, e);
    if (rc < 0)
        return rc;
    if (o->emit && o->finetune)
        return err_usage(e, "--emit has no words for --finetune: leave out one of them");
    if (!o->emit || emit_find(o->emit, &target, e) == 0)
        return 0;
    return err_context(e, ERR_USAGE, "--emit: ");
}

/* All GPUs; where no layout has them all, fewer. */
static int search(const struct plan_ask *a, const struct plan_opts *o, struct plan_found *ret,
                  bool *forced, struct err *e)
{
    struct plan_search_how how = {
        /* A program may have no words for the first ones. */
        .opts = { .best = o->emit   ? SEARCH_BEST_MAX
                          : o->best ? (int)o->best
                                    : BEST_USUAL,
                  .families = !o->emit,
                  .front = o->pareto,
                  .margin = o->fewer ? 0 : as_fast },
        .threads = (unsigned)MIN(o->threads, (uint64_t)1 << 16),
        .fewer = o->fewer,
    };
    int rc = plan_search(a, &a->pins, &how, ret, e);

    if (rc < 0 || ret->search.n_best || o->fewer)
        return rc;
    plan_found_done(ret);
    how.fewer = *forced = true;
    how.opts.margin = 0;
    return plan_search(a, &a->pins, &how, ret, e);
}

static int answer(const struct plan_train *t, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct plan_opts *o = t->opts;
    int rc = 0;

    if (o->compares.n)
        rc = plan_compare(t, operands + 1, &out, e);
    else if (o->why)
        rc = plan_why(t, &out, e);
    else if (o->emit)
        rc = plan_emit_best(t, &out, e);
    else if (o->svg)
        plan_svg(t, &out);
    else if (o->json)
        plan_train_json(t, &out);
    else
        plan_train_text(t, &out);
    rc = rc ? rc : cmd_print(&out, o->svg ? o->svg : o->json, e);
    if (rc || !o->svg || strcmp(o->svg, "-") == 0)
        return rc;
    str_reset(&out);
    str_addf(&out, "%s has the memory of each stage, the step by parts%s\n", o->svg,
             t->found->search.best[0].layout.pp > 1 ? " and the pipeline" : "");
    return cmd_print(&out, NULL, e);
}

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(plan_ask_done) struct plan_ask ask = { .parameters = 0 };
    CLEANUP(plan_found_done) struct plan_found found = { .space = NULL };
    struct plan_train t = { app, o, &ask, &found, false };
    int rc = check_options(o, operands, e);

    if (rc)
        return rc;
    rc = plan_ask_read(o, operands[0], &ask, e);
    if (rc == 0)
        rc = search(&ask, o, &found, &t.forced, e);
    if (rc == 0 && !found.search.n_best)
        rc = plan_nothing(&ask, &ask.pins, o->fewer || t.forced, e);
    return rc ? rc : answer(&t, operands, e);
}

const struct plan_command plan_train = {
    "train",
    "MODEL --cluster=SPEC --batch=N",
    "search the layout with the shortest step",
    run,
};
