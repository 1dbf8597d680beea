/* brim plan memory: what a layout takes of each GPU. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/plan/job.h"
#include "plan/search/fewest_gpus.h"

enum { MODELS = 8, STAGES = 8, OUTPUT_MAX = 8 << 20, NAME = 15, FIGURE = 13 };

static const char usual_cluster[] = "8xH100-SXM";
static const double gb = 1e9;

struct model {
    struct plan_ask ask;
    struct layout layout, fit;
    struct layer_bytes bytes;
    struct memory worst, fit_memory;
    bool fits, found; /* found: another layout that does */
};

struct models_shown {
    struct model *list;
    int n;
};

static const struct {
    const char *name, *key;
    size_t offset;
} parts[] = {
    { "weights", "weights_b", offsetof(struct memory, weights) },
    { "gradients", "gradients_b", offsetof(struct memory, gradients) },
    { "states", "states_b", offsetof(struct memory, states) },
    { "gathered", "gathered_b", offsetof(struct memory, gathered) },
    { "activations", "activations_b", offsetof(struct memory, activations) },
    { "logits", "logits_b", offsetof(struct memory, logits) },
    { "CUDA context", "context_b", offsetof(struct memory, context) },
    { "communicators", "communicators_b", offsetof(struct memory, communicators) },
    { "gaps", "gaps_b", offsetof(struct memory, gaps) },
    { "total", "total_b", offsetof(struct memory, total) },
};

static double part_of(const struct memory *m, size_t i)
{
    return *(const double *)(const void *)((const char *)m + parts[i].offset);
}

static void models_shown_done(struct models_shown *m)
{
    for (int i = 0; i < m->n; i++)
        plan_ask_done(&m->list[i].ask);
    free(m->list);
}

/* ---- what is asked ---- */

/* A cluster that nobody named holds what is pinned, with one replica of it. */
static void size_cluster(struct plan_ask *a)
{
    struct layout l = { .tp = 1, .pp = 1, .cp = 1, .dp = 1 };
    double gpus;

    pins_set_layout(&a->pins, &l);
    gpus = MIN((double)l.tp * l.pp * l.cp * l.dp, (double)FIT_GPUS);
    a->cluster.nodes = (int)(gpus + a->cluster.per_node - 1) / a->cluster.per_node;
    a->pins.layout.dp = l.dp;
    a->pins.fixed |= 1U << PIN_DP;
}

static int lay_out(struct model *m, bool batch, struct err *e)
{
    struct plan_ask *a = &m->ask;
    struct layout l = { .tp = 1, .pp = 1, .cp = 1, .micro_batch = 1 };

    pins_set_layout(&a->pins, &l);
    if (!pins_has(&a->pins, PIN_DP))
        l.dp = (int)MAX((int64_t)a->cluster.nodes * a->cluster.per_node /
                            MAX((int64_t)l.tp * l.pp * l.cp, 1),
                        1);
    if (!batch)
        a->job.global_batch = (int)MIN((double)l.dp * l.micro_batch * l.pp, (double)(1 << 28));
    return pins_complete(&a->pins, &a->job, &a->cluster, &m->layout, e);
}

static int read_model(const struct plan_opts *o, const char *name, struct model *m, struct err *e)
{
    bool cluster = o->cluster, batch = o->batch || o->batch_tokens;
    struct plan_opts given = *o;
    struct pins pins;
    int rc;

    given.cluster = cluster ? o->cluster : usual_cluster;
    given.batch = batch ? o->batch : 1;
    rc = plan_ask_read(&given, name, &m->ask, e);
    if (rc)
        return rc;
    pins = m->ask.pins;
    if (!cluster)
        size_cluster(&m->ask);
    rc = lay_out(m, batch, e);
    if (rc < 0)
        return rc;
    layer_bytes(&m->ask.job, &m->layout, &m->bytes);
    memory_make(&m->ask.job, &m->layout, &m->bytes, &m->worst);
    m->fits = m->worst.total <= m->ask.cluster.gpu.memory_b;
    if (!m->fits)
        m->found = fewest_gpus_find(&m->ask.job, &m->ask.cluster, &pins, batch, &m->fit,
                                    &m->fit_memory);
    return 0;
}

/* The stages to show of one model: all, or those that differ: the first two and the last. */
static int stage_at(const struct layout *l, int i)
{
    if (l->pp <= STAGES)
        return i < l->pp ? i : -1;
    return i < 2 ? i : i == 2 ? l->pp - 1 : -1;
}

/* ---- text ---- */

static void add_words(struct str *out, const struct layout *l)
{
    str_addf(out, "%d GPU%s, ", layout_gpus(l), str_plural(layout_gpus(l)));
    layout_words(l, out);
}

static void add_sentence(struct str *out, const struct model *m)
{
    double has = m->ask.cluster.gpu.memory_b, left = has - m->worst.total;

    str_addf(out, "%s %s on %s: %.1f of %.0f GB", m->ask.job.shape.name,
             m->fits ? "fits" : "does not fit", m->ask.cluster.gpu.name, m->worst.total / gb,
             has / gb);
    if (m->layout.pp > 1)
        str_addf(out, " on stage %d", m->worst.stage);
    str_addf(out, ", %.1f GB %s\n  ", (m->fits ? left : -left) / gb,
             m->fits ? "are left" : "are missing");
    add_words(out, &m->layout);
    str_add_char(out, '\n');
    if (m->found) {
        str_addf(out, "  it fits, with %.1f GB, on ", m->fit_memory.total / gb);
        add_words(out, &m->fit);
        str_add_char(out, '\n');
    } else if (!m->fits) {
        str_add(out, "  no number of GPUs makes it fit with what is pinned\n");
    }
}

static void add_table(struct str *out, const struct memory *columns, int n, double capacity)
{
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
        str_addf(out, "%-*s", NAME, parts[i].name);
        for (int k = 0; k < n; k++)
            str_addf(out, "%*.2f", FIGURE, part_of(&columns[k], i) / gb);
        str_add_char(out, '\n');
    }
    if (capacity > 0) {
        str_addf(out, "%-*s", NAME, "of the GPU");
        for (int k = 0; k < n; k++)
            str_addf(out, "%*.0f %%", FIGURE - 2, 100 * columns[k].total / capacity);
        str_add_char(out, '\n');
    }
}

/* Whether all fit the cluster that was named; without one, some number of GPUs. */
static bool all_fit(const struct models_shown *all, bool named)
{
    for (int i = 0; i < all->n; i++)
        if (!all->list[i].fits && (named || !all->list[i].found))
            return false;
    return true;
}

static void add_text(struct str *out, const struct models_shown *all)
{
    const struct model *first = all->list;
    struct memory columns[STAGES];
    int n = 0, stage;

    for (int i = 0; i < all->n; i++)
        add_sentence(out, &all->list[i]);
    str_addf(out, "\n%-*s", NAME, all->n > 1 ? "GB" : "GB of stage");
    if (all->n > 1) {
        for (; n < all->n; n++) {
            columns[n] = all->list[n].worst;
            str_addf(out, "%*.*s", FIGURE, FIGURE - 1, all->list[n].ask.job.shape.name);
        }
    } else {
        for (; n < STAGES && (stage = stage_at(&first->layout, n)) >= 0; n++) {
            memory_stage(&first->ask.job, &first->layout, &first->bytes, stage, &columns[n]);
            str_addf(out, "%*d", FIGURE, stage);
        }
    }
    str_add_char(out, '\n');
    add_table(out, columns, n, first->ask.cluster.gpu.memory_b);
    for (int i = 0; i < all->n; i++)
        if (*all->list[i].ask.notes && (i == 0 || strcmp(all->list[i].ask.notes, first->ask.notes)))
            str_addf(out, "%sassumed: %s\n", i == 0 ? "\n" : "", all->list[i].ask.notes);
}

/* ---- JSON ---- */

static void json_words(struct json *j, const char *key, const struct layout *l)
{
    CLEANUP(str_done) struct str words = STR_INIT(1024);

    layout_words(l, &words);
    str_fail(j->out, str_error(&words));
    json_string(j, key, str_text(&words));
}

static void json_stage(struct json *j, const struct model *m, int stage)
{
    struct memory memory;

    memory_stage(&m->ask.job, &m->layout, &m->bytes, stage, &memory);
    json_object(j, NULL);
    json_int(j, "stage", stage);
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        json_round(j, parts[i].key, part_of(&memory, i), 0);
    json_end(j);
}

static void json_model(struct json *j, const struct model *m)
{
    json_object(j, NULL);
    json_string(j, "model", m->ask.job.shape.name);
    json_round(j, "parameters", m->ask.parameters, 0);
    json_string(j, "gpu", m->ask.cluster.gpu.name);
    json_round(j, "capacity_b", m->ask.cluster.gpu.memory_b, 0);
    json_int(j, "gpus", layout_gpus(&m->layout));
    json_words(j, "layout", &m->layout);
    json_int(j, "seq", m->ask.job.seq);
    json_bool(j, "fits", m->fits);
    json_round(j, "total_b", m->worst.total, 0);
    json_int(j, "worst_stage", m->worst.stage);
    json_array(j, "stages");
    for (int s = 0; s < m->layout.pp; s++)
        json_stage(j, m, s);
    json_end(j);
    if (m->found) {
        json_object(j, "fits_with");
        json_int(j, "gpus", layout_gpus(&m->fit));
        json_words(j, "layout", &m->fit);
        json_round(j, "total_b", m->fit_memory.total, 0);
        json_end(j);
    }
    json_string(j, "assumed", m->ask.notes);
    json_end(j);
}

static void add_json(struct str *out, const struct models_shown *all)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.memory.v1");
    json_array(&j, "models");
    for (int i = 0; i < all->n; i++)
        json_model(&j, &all->list[i]);
    json_end(&j);
    json_end(&j);
}

/* ---- the command ---- */

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    CLEANUP(models_shown_done) struct models_shown all = { .n = 0 };
    int rc;

    (void)app;
    if (!operands[0])
        return err_usage(e, "name a model: brim plan memory Llama-3.1-8B");
    all.list = calloc(MODELS, sizeof(*all.list));
    if (!all.list)
        return err_nomem(e);
    for (; operands[all.n];) {
        if (all.n == MODELS)
            return err_usage(e, "that is more than the %d models that fit side by side", MODELS);
        rc = read_model(o, operands[all.n], &all.list[all.n], e);
        all.n++;
        if (rc)
            return rc;
    }
    if (o->json)
        add_json(&out, &all);
    else
        add_text(&out, &all);
    rc = cmd_print(&out, o->json, e);
    return rc < 0 || all_fit(&all, o->cluster != NULL) ? rc : EXIT_FAILED;
}

const struct plan_command plan_memory = {
    "memory",
    "MODEL...",
    "what a layout takes of the memory of each GPU, and the fewest GPUs that it fits on",
    run,
};
