#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/plan/sure.h"
#include "cmd/plan/train.h"
#include "render/text.h"
#include "model/signal/quantity.h"

enum { WORDS_MAX = 512, SENTENCE_MAX = 4096 };

/* ---- figures ---- */

struct plan_figure plan_seconds(double seconds)
{
    struct plan_figure f;

    double shown = seconds >= .9995 ? seconds : seconds * 1e3;

    snprintf(f.text, sizeof(f.text), "%.*f %s",
             shown >= 99.95 || shown == 0 ? 0
             : shown >= 9.995             ? 1
                                          : 2,
             shown, seconds >= .9995 ? "s" : "ms");
    return f;
}

struct plan_figure plan_thousands(double count)
{
    struct plan_figure f = { "" };
    char digits[32];
    int n = snprintf(digits, sizeof(digits), "%.0f", count), at = 0;

    for (int i = 0; i < n && at < (int)sizeof(f.text) - 2; i++) {
        if (i > 0 && (n - i) % 3 == 0 && digits[i - 1] != '-')
            f.text[at++] = ',';
        f.text[at++] = digits[i];
    }
    f.text[at] = '\0';
    return f;
}

double plan_days(const struct plan_ask *a, double time_s)
{
    return a->tokens / ((double)a->job.seq * a->job.global_batch) * time_s / 86400;
}

double plan_cost(const struct plan_ask *a, double time_s, int gpus)
{
    return plan_days(a, time_s) * 24 * gpus * a->cluster.price;
}

/* Four digits and a unit, of tokens: "1.5T", "300B". */
static struct plan_figure amount(double count)
{
    static const struct {
        double unit;
        const char *name;
    } units[] = { { 1e12, "T" }, { 1e9, "B" }, { 1e6, "M" }, { 1, "" } };
    struct plan_figure f;
    size_t i = 0;

    while (i + 1 < ARRAY_SIZE(units) && count < units[i].unit)
        i++;
    snprintf(f.text, sizeof(f.text), "%.4g%s", count / units[i].unit, units[i].name);
    return f;
}

/* ---- the sentence ---- */

/* How many layers each stage has, where they differ. */
static void add_stages(const struct layout *l, int layers, struct str *out)
{
    int first = layout_layers(l, layers, 0), last = layout_layers(l, layers, l->pp - 1);
    int most, least;

    if (l->pp == 1)
        return;
    if (l->pp == 2 && first != last)
        str_addf(out, ", %d layers on the first stage and %d on the last", first, last);
    if (l->pp == 2)
        return;
    most = layout_layers(l, layers, 1);
    least = layout_layers(l, layers, l->pp - 2);
    if (first == most && most == least && least == last)
        return;
    str_addf(out, ", %d layers on the first stage, %d ", first, most);
    if (least < most)
        str_addf(out, "or %d ", least);
    str_addf(out, "on those between, %d on the last", last);
}

static void add_layout(const struct layout *l, int micro_batches, int layers, struct str *out)
{
    str_addf(out, "tp %d%s, pp %d", l->tp,
             l->tp > 1 && !l->seq_parallel ? ", no sequence parallelism" : "", l->pp);
    if (l->vpp > 1)
        str_addf(out, " in %d chunks each", l->vpp);
    if (l->cp > 1)
        str_addf(out, ", cp %d (%s)", l->cp, context_name(l->context));
    if (l->ep > 1)
        str_addf(out, ", ep %d", l->ep);
    if (l->etp > 1)
        str_addf(out, ", etp %d", l->etp);
    str_addf(out, ", dp %d, %d micro-batch%s of %d", l->dp, micro_batches,
             micro_batches == 1 ? "" : "es", l->micro_batch);
    if (l->zero > 0)
        str_addf(out, ", ZeRO-%d", l->zero);
    if (l->shard > 0)
        str_addf(out, " in groups of %d", l->shard);
    if (l->recompute != RECOMPUTE_NONE)
        str_addf(out, ", %s recompute", recompute_name(l->recompute));
    if (l->pp > 1 && l->schedule != SCHEDULE_1F1B)
        str_addf(out, ", %s", schedule_name(l->schedule));
    add_stages(l, layers, out);
    if (l->overlap_ep)
        str_add(out, ", experts' collectives beside other micro-batches");
    if (l->offload)
        str_add(out, ", optimizer states in the host's memory");
}

/* What states in the host's memory take there. */
static void add_offloaded(const struct plan_ask *a, const struct plan_one *best, struct str *out)
{
    struct layout l = best->layout;
    struct memory m;

    if (!l.offload)
        return;
    l.offload = false;
    memory_make(&a->job, &l, &best->tables.bytes, &m);
    str_addf(out, " Optimizer states take %.0f GB of each node's memory.",
             m.states * MIN(layout_gpus(&l), a->cluster.per_node) / 1e9);
}

static void add_budget(const struct plan_ask *a, double time_s, int gpus, struct str *out)
{
    double days = plan_days(a, time_s), cost = plan_cost(a, time_s, gpus);

    if (!isfinite(days))
        return;
    str_addf(out, " %s tokens take ", amount(a->tokens).text);
    if (days < 2)
        str_addf(out, "%.3g hours", days * 24);
    else if (days < 100)
        str_addf(out, "%.3g days", days);
    else
        str_addf(out, "%s days", plan_thousands(days).text);
    if (isfinite(cost))
        str_addf(out, " and cost %s at %s a GPU and hour", plan_thousands(cost).text,
                 quantity_number(a->cluster.price, 4).text);
    str_add_char(out, '.');
}

/* Why it is the one: the fastest, or the plainest of those that are as fast. */
static void add_choice(const struct plan_train *t, const struct plan_one *best, struct str *out)
{
    const struct plan_found *f = t->found;

    if (f->plain)
        str_addf(out,
                 " Of %s layouts the plainest, %.1f %% behind the fastest: less than predictions "
                 "tell apart.",
                 plan_thousands(f->layouts).text,
                 100 * (best->step.time_s / f->fastest.time_s - 1));
    else if (isfinite(f->layouts))
        str_addf(out, " The fastest of %s layouts.", plan_thousands(f->layouts).text);
}

static void add_sentence(const struct plan_train *t, const struct plan_one *best, struct str *out)
{
    const struct plan_ask *a = t->ask;
    int gpus = layout_gpus(&best->layout), all = a->cluster.nodes * a->cluster.per_node;

    str_addf(out, "%s on ", a->job.shape.name);
    if (gpus < all)
        str_addf(out, "%s of the ", plan_thousands(gpus).text);
    str_addf(out, "%s %s: ", plan_thousands(all).text, a->cluster.gpu.name);
    add_layout(&best->layout, best->step.micro_batches, a->job.shape.layers, out);
    str_addf(out, ". A step takes %s: %s tokens/s,", plan_seconds(best->step.time_s).text,
             plan_thousands(best->step.tokens_s * gpus).text);
    str_addf(out, " %s tokens/s and %s TFLOP/s of a GPU, %.1f %% MFU.",
             plan_thousands(best->step.tokens_s).text,
             plan_thousands(best->step.model_flops / 1e12).text, 100 * best->step.mfu);
    add_budget(a, best->step.time_s, gpus, out);
    str_addf(out, " The fullest GPU, of stage %d, uses %.1f of %.1f GB.", best->memory.stage,
             best->memory.total / 1e9, a->cluster.gpu.memory_b / 1e9);
    add_offloaded(a, best, out);
    add_choice(t, best, out);
    if (t->forced)
        str_addf(out,
                 " No layout has all %s GPUs: their degrees must multiply to it, and dp times the "
                 "micro-batch divide the batch of %s.",
                 plan_thousands(all).text, plan_thousands(a->job.global_batch).text);
}

/* ---- tables ---- */

void plan_table(const struct plan_train *t, const struct found_layout *list, size_t n,
                struct str *out)
{
    const struct plan_ask *a = t->ask;
    bool fewer = t->forced || t->opts->fewer, costs = isfinite(plan_cost(a, 1, 1));

    str_addf(out, "      step   slower      tokens/s     MFU  GB of %-4.0f%s%s  layout\n",
             a->cluster.gpu.memory_b / 1e9, fewer ? "   GPUs" : "", costs ? "        cost" : "");
    for (size_t i = 0; i < n; i++) {
        const struct found_layout *c = &list[i];
        struct plan_one one;
        char slower[16] = "-";

        plan_one_make(a, &c->layout, &one);
        if (i > 0)
            snprintf(slower, sizeof(slower), "%+.1f %%", 100 * (c->time_s / list[0].time_s - 1));
        str_addf(out, "%10s %8s %13s  %4.1f %%  %10.1f", plan_seconds(c->time_s).text, slower,
                 plan_thousands(one.step.tokens_s * c->gpus).text, 100 * one.step.mfu,
                 c->memory_b / 1e9);
        if (fewer)
            str_addf(out, " %6d", c->gpus);
        if (costs)
            str_addf(out, " %11s", plan_thousands(plan_cost(a, c->time_s, c->gpus)).text);
        str_add(out, "  ");
        layout_words(&c->layout, out);
        str_add_char(out, '\n');
    }
}

/* What the optimizer keeps, and how many bytes of a parameter. */
static const char *states_why(const struct plan_job *job)
{
    struct plan_job wide = *job;

    wide.precision = PLAN_BF16;
    if (layout_state_bytes(&wide) < layout_state_bytes(job))
        return job->moment_b == 2 ? "master weights, gradients in 32 bits and both moments, 12 "
                                    "bytes; divided by ZeRO-1 too"
                                  : "master weights, gradients in 32 bits and both moments, 16 "
                                    "bytes; divided by ZeRO-1 too";
    return job->moment_b == 2 ? "master weights and both moments, 8 bytes; divided by ZeRO-1 too"
                              : "master weights and both moments, 12 bytes; divided by ZeRO-1 too";
}

bool plan_memory_part(const struct memory *m, const struct plan_job *job, size_t i,
                      struct plan_memory_part *ret)
{
    bool tune = job->tune.kind != FINETUNE_NONE;
    const struct plan_memory_part parts[] = {
        { "weights",
          tune ? "frozen ones as they are kept, and those that are trained"
               : "2 bytes a parameter, divided by tp, pp, ep; by ZeRO-3 if pp=1",
          m->weights },
        { "gradients",
          tune ? "of what is trained; divided by ZeRO-2 too"
               : "as they are summed; divided by ZeRO-2 too",
          m->gradients },
        { "optimizer",
          tune ? "what it keeps of what is trained; divided by ZeRO-1 too" : states_why(job),
          m->states },
        { "gathered",
          tune ? "weights unpacked from 4 bits; ZeRO-3: of the blocks at work"
               : "ZeRO-3: the weights of the blocks at work",
          m->gathered },
        { "activations", "kept for the backward pass, of all micro-batches in flight",
          m->activations },
        { "logits", "of one micro-batch, on the last stage", m->logits },
        { "overhead", "CUDA's context, communicators, gaps of the allocator", m->overhead },
    };

    if (i >= ARRAY_SIZE(parts))
        return false;
    *ret = parts[i];
    return true;
}

static void add_explained(const struct plan_train *t, const struct plan_one *best, struct str *out)
{
    struct plan_memory_part part;

    str_addf(out, "\nWhere the %s of a step go:\n", plan_seconds(best->step.time_s).text);
    for (int p = 0; p < PARTS; p++)
        if (best->step.part[p] > 0)
            str_addf(out, "%10s %5.1f %%  %-17s %s\n", plan_seconds(best->step.part[p]).text,
                     100 * best->step.part[p] / best->step.time_s,
                     step_part_name((enum step_part)p), plan_step_part_why((enum step_part)p));
    str_addf(out, "\nWhere the %.1f GB of a GPU of stage %d go, of %.1f:\n",
             best->memory.total / 1e9, best->memory.stage, t->ask->cluster.gpu.memory_b / 1e9);
    for (size_t i = 0; plan_memory_part(&best->memory, &t->ask->job, i, &part); i++)
        if (part.bytes > 0)
            str_addf(out, "%7.2f GB %5.1f %%  %-17s %s\n", part.bytes / 1e9,
                     100 * part.bytes / best->memory.total, part.name, part.why);
}

/* With fewer GPUs the front is long: of each number of them the fastest, where no smaller number is
 * faster. How many are left of f. */
static size_t shorten(const struct pareto *f, struct found_layout *list)
{
    double least = (double)INFINITY;
    size_t n = 0;

    for (size_t i = f->n; i-- > 0;) {
        bool first = i == 0 || f->list[i - 1].gpus != f->list[i].gpus;

        if (!first || f->list[i].time_s >= least)
            continue;
        least = f->list[i].time_s;
        list[n++] = f->list[i];
    }
    for (size_t i = 0; i < n / 2; i++) {
        struct found_layout c = list[i];

        list[i] = list[n - 1 - i];
        list[n - 1 - i] = c;
    }
    return n;
}

static void add_front(const struct plan_train *t, struct str *out)
{
    const struct pareto *f = &t->found->search.front;
    CLEANUP(freep) struct found_layout *list = calloc(f->n + 1, sizeof(*list));

    if (!list) {
        str_fail(out, -ENOMEM);
        return;
    }
    if (t->forced || t->opts->fewer) {
        str_add(out,
                "\nThe fastest on each number of GPUs, where no smaller number is faster (--json "
                "has all that nothing beats):\n");
        plan_table(t, list, shorten(f, list), out);
    } else {
        str_add(out, "\nWhat nothing beats in time and memory at once:\n");
        plan_table(t, f->list, f->n, out);
    }
}

static void add_sure(const struct plan_train *t, const struct plan_one *best, struct str *out)
{
    CLEANUP(str_done) struct str words = STR_INIT(SENTENCE_MAX);

    plan_sure_text(t->ask, best, &words);
    str_fail(out, str_error(&words));
    str_add(out, "How sure: ");
    text_add_wrapped(out, str_text(&words), strlen("How sure: "), t->app->columns);
    str_add(out, ".\n");
}

/* How many of the table are as fast as the first, as far as predictions tell. */
static void add_ties(const struct plan_train *t, struct str *out)
{
    const struct search *s = &t->found->search;
    double fastest = t->found->plain ? t->found->fastest.time_s : s->best[0].time_s;
    int n = 0;

    for (int i = 1; i < s->n_best; i++)
        n += s->best[i].time_s <= fastest * (1 + s->opts.margin);
    if (n && s->opts.margin > 0)
        str_addf(out,
                 "%d of these besides the first take%s at most %.0f %% longer than the fastest: as "
                 "fast, as far as predictions tell.\n",
                 n, n > 1 ? "" : "s", 100 * s->opts.margin);
}

void plan_train_text(const struct plan_train *t, struct str *out)
{
    CLEANUP(str_done) struct str sentence = STR_INIT(SENTENCE_MAX);
    const struct search *s = &t->found->search;
    struct plan_one best;

    plan_one_make(t->ask, &s->best[0].layout, &best);
    add_sentence(t, &best, &sentence);
    str_fail(out, str_error(&sentence));
    text_add_wrapped(out, str_text(&sentence), 0, t->app->columns);
    str_add(out, "\n");
    if (*t->ask->notes) {
        str_add(out, "Assumed: ");
        text_add_wrapped(out, t->ask->notes, strlen("Assumed: "), t->app->columns);
        str_add(out, ".\n");
    }
    add_sure(t, &best, out);
    str_add(out, "\n");
    plan_table(t, s->best, (size_t)s->n_best, out);
    add_ties(t, out);
    if (t->opts->pareto)
        add_front(t, out);
    if (t->opts->explain)
        add_explained(t, &best, out);
}
