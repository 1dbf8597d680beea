#include "plan/shape/models.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "plan/shape/table.h"

static const char table_name[] = "models.csv";

static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    { "layers", offsetof(struct shape, layers) },
    { "hidden", offsetof(struct shape, hidden) },
    { "heads", offsetof(struct shape, heads) },
    { "kv_heads", offsetof(struct shape, kv_heads) },
    { "head_dim", offsetof(struct shape, head_dim) },
    { "ffn", offsetof(struct shape, ffn) },
    { "vocab", offsetof(struct shape, vocab) },
    { "positions", offsetof(struct shape, positions) },
    { "extra_positions", offsetof(struct shape, extra_positions) },
    { "norms", offsetof(struct shape, norms) },
    { "qk_norms", offsetof(struct shape, qk_norms) },
    { "window", offsetof(struct shape, window) },
    { "full_every", offsetof(struct shape, full_every) },
    { "q_rank", offsetof(struct shape, q_rank) },
    { "kv_rank", offsetof(struct shape, kv_rank) },
    { "rope_dim", offsetof(struct shape, rope_dim) },
    { "nope_dim", offsetof(struct shape, nope_dim) },
    { "v_dim", offsetof(struct shape, v_dim) },
    { "experts", offsetof(struct shape, experts) },
    { "active", offsetof(struct shape, active) },
    { "expert_ffn", offsetof(struct shape, expert_ffn) },
    { "shared", offsetof(struct shape, shared) },
    { "shared_ffn", offsetof(struct shape, shared_ffn) },
    { "groups", offsetof(struct shape, groups) },
    { "active_groups", offsetof(struct shape, active_groups) },
    { "dense_first", offsetof(struct shape, dense_first) },
    { "expert_every", offsetof(struct shape, expert_every) },
    { "further_layers", offsetof(struct shape, further_layers) },
};

static const struct {
    const char *name;
    size_t offset;
} traits[] = {
    { "gated", offsetof(struct shape, gated) },
    { "tied", offsetof(struct shape, tied) },
    { "learned_positions", offsetof(struct shape, learned_positions) },
    { "biases", offsetof(struct shape, biases) },
    { "qkv_biases", offsetof(struct shape, qkv_biases) },
    { "out_biases", offsetof(struct shape, out_biases) },
    { "mlp_biases", offsetof(struct shape, mlp_biases) },
    { "head_bias", offsetof(struct shape, head_bias) },
    { "norm_biases", offsetof(struct shape, norm_biases) },
    { "embedding_norm", offsetof(struct shape, embedding_norm) },
    { "dropout", offsetof(struct shape, dropout) },
    { "parallel", offsetof(struct shape, parallel) },
    { "sinks", offsetof(struct shape, sinks) },
    { "shared_gate", offsetof(struct shape, shared_gate) },
    { "router_biases", offsetof(struct shape, router_biases) },
};

static int set_trait(struct shape *s, const char *word, size_t len)
{
    for (size_t i = 0; i < ARRAY_SIZE(traits); i++)
        if (strlen(traits[i].name) == len && !memcmp(traits[i].name, word, len)) {
            *(bool *)(void *)((char *)s + traits[i].offset) = true;
            return 0;
        }
    return -EINVAL;
}

static int read_traits(const struct table_row *row, struct shape *s, struct err *e)
{
    const char *text = table_text(row, "traits");

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");

        if (set_trait(s, text, len) < 0)
            return err_set(e, -EINVAL, "%s:%d: unknown trait '%.*s'", row->file, row->csv.line,
                           (int)MIN(len, (size_t)40), text);
        text += len;
    }
    return 0;
}

static int read_shape(const struct table_row *row, struct shape *s, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(numbers); i++)
        rc = table_whole(row, numbers[i].name, (int *)(void *)((char *)s + numbers[i].offset), e);
    if (rc == 0)
        rc = read_traits(row, s, e);
    if (rc < 0)
        return rc;
    if (!s->kv_heads)
        s->kv_heads = s->heads;
    if (!s->head_dim && s->heads && s->hidden % s->heads == 0)
        s->head_dim = s->hidden / s->heads;
    s->attention = s->kv_rank ? SHAPE_LATENT : SHAPE_HEADS;
    rc = shape_check(s, e);
    return rc < 0 ? err_context(e, rc, "%s:%d: %s: ", row->file, row->csv.line, s->name) : 0;
}

static int read_names(struct models *m, const struct table_row *row, struct shape *s, struct err *e)
{
    const char *name = table_text(row, "name");
    int rc = 0;

    if (!*name || strlen(name) >= sizeof(s->name) || strpbrk(name, " /"))
        return err_set(e, -EINVAL,
                       "%s:%d: a model needs a name, of 95 letters at most, without blanks and '/'",
                       row->file, row->csv.line);
    snprintf(s->name, sizeof(s->name), "%s", name);
    rc = names_add(&m->names, &m->arena, name, m->n_rows - 1);
    if (rc == 0)
        rc = names_add(&m->names, &m->arena, table_text(row, "aliases"), m->n_rows - 1);
    if (rc == -EEXIST)
        return err_set(e, -EINVAL, "%s:%d: %s has a name that another model has", row->file,
                       row->csv.line, name);
    return rc < 0 ? err_nomem(e) : 0;
}

static int add_row(void *ctx, const struct table_row *row, struct err *e)
{
    struct models *m = ctx;
    struct model_row *r = ARENA_PUSH(&m->arena, &m->rows, &m->n_rows);
    int rc;

    if (!r)
        return err_nomem(e);
    r->parameters = (double)NAN;
    rc = read_names(m, row, &r->shape, e);
    if (rc == 0)
        rc = read_shape(row, &r->shape, e);
    return rc < 0 ? rc : table_number(row, "parameters", 1, &r->parameters, e);
}

int models_load(struct models *ret, const char *text, size_t len, struct err *e)
{
    struct models m = { .n_rows = 0 };
    int rc = table_read(table_name, text, len, add_row, &m, e);

    if (rc < 0) {
        models_done(&m);
        return rc;
    }
    *ret = m;
    return 0;
}

void models_done(struct models *m)
{
    arena_done(&m->arena);
    *m = (struct models){ .n_rows = 0 };
}

int models_find(const struct models *m, const char *name, const struct model_row **ret,
                struct err *e)
{
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    char near[NAMES_NEAR];
    const char *hint;
    size_t i;

    if (!names_find(&m->names, last, &i)) {
        hint = names_near(&m->names, last, near);
        return err_set(e, -EINVAL, "unknown model '%.100s'%s", name,
                       *hint ? hint : " (brim plan models lists them)");
    }
    *ret = &m->rows[i];
    return 0;
}
