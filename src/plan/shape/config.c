#include "plan/shape/config.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "plan/shape/families.h"
#include "plan/shape/unknown.h"

/* ---- names ---- */

/* Names of one thing in the files of different families, the usual one first, then GPT-2's and
 * MPT's. All are taken everywhere: transformers renamed some over time. */
static const char *const layers_names[SHAPE_NAMES] = { "num_hidden_layers", "n_layer", "n_layers",
                                                       "num_layers" };
static const char *const hidden_names[SHAPE_NAMES] = { "hidden_size", "n_embd", "d_model",
                                                       "n_embed" };
static const char *const heads_names[SHAPE_NAMES] = { "num_attention_heads", "n_head", "n_heads",
                                                      "num_heads" };
static const char *const positions_names[SHAPE_NAMES] = {
    "max_position_embeddings", "n_positions",     "max_seq_len", "seq_length", "n_ctx",
    "max_sequence_length",     "model_max_length"
};
static const char *const ffn_names[SHAPE_NAMES] = { "intermediate_size", "ffn_dim", "n_inner",
                                                    "ffn_hidden_size" };
static const char *const kv_names[SHAPE_NAMES] = { "num_key_value_heads", "num_kv_heads",
                                                   "n_head_kv", "num_query_groups" };
static const char *const head_dim_names[SHAPE_NAMES] = { "head_dim", "kv_channels",
                                                         "attention_head_dim" };
static const char *const vocab_names[SHAPE_NAMES] = { "vocab_size", "padded_vocab_size" };

/* ---- the family ---- */

static int unknown_family(const struct shape_file *c, const struct json_value *v)
{
    CLEANUP(str_done) struct str known = STR_INIT(1024);

    for (size_t i = 0; shape_family(i); i++)
        str_addf(&known, "%s%s", i ? ", " : "", shape_family(i));
    if (str_error(&known))
        return err_nomem(c->e);
    return err_set(
        c->e, -EINVAL,
        "%s:%d:%d: model_type '%.40s' is not known, so that nothing says which layers it "
        "has; known are %s",
        c->file, v->line, v->column, v->text, str_text(&known));
}

/* The family, and the part of the file that describes the shape. */
static int choose_family(struct shape_file *c, const struct shape_family **ret)
{
    const struct json_value *type = shape_get(c, "model_type"), *part = shape_get(c, "text_config");

    *ret = shape_family_named(NULL);
    if (type && type->kind != JSON_STRING)
        return shape_bad_value(c, type, "a string");
    if (type && !shape_family_named(type->text) && part && part->kind == JSON_OBJECT) {
        const struct json_value *inner = json_get(part, "model_type");

        if (inner && inner->kind == JSON_STRING) {
            c->whole = c->root;
            c->root = part;
            type = inner;
        }
    }
    if (!type)
        return 0;
    *ret = shape_family_named(type->text);
    return *ret ? 0 : unknown_family(c, type);
}

/* ---- what all have ---- */

/* A size that must be there, unless the family has one for files that leave it out. */
static int need(const struct shape_file *c, const char *const *any, const char *asked, int *ret)
{
    return *ret > 0 ? MIN(shape_get_int(c, any, ret), 0) : shape_need_int(c, any, asked, ret);
}

static int read_ffn(const struct shape_file *c, const struct shape_family *f, struct shape *s)
{
    if (f->ffn == SHAPE_FFN_MAYBE)
        return MIN(shape_get_int(c, ffn_names, &s->ffn), 0);
    if (f->ffn != SHAPE_FFN_FOURFOLD)
        return shape_need_int(c, ffn_names, ffn_names[f->ffn], &s->ffn);
    if (__builtin_mul_overflow(s->hidden, 4, &s->ffn))
        return shape_bad(c, "four times the hidden size is too large");
    return MIN(shape_get_int(c, ffn_names, &s->ffn), 0);
}

static int read_heads(const struct shape_file *c, const struct shape_family *f, struct shape *s)
{
    int rc = need(c, heads_names, heads_names[f->names], &s->heads);

    s->kv_heads = f->start.kv_heads ? f->start.kv_heads : s->heads;
    if (rc == 0)
        rc = shape_get_int(c, kv_names, &s->kv_heads);
    if (rc >= 0)
        rc = shape_get_int(c, head_dim_names, &s->head_dim);
    if (rc != 0 || s->head_dim > 0)
        return MIN(rc, 0);
    if (s->heads == 0 || s->hidden % s->heads != 0)
        return err_set(c->e, -EINVAL, "%s: the hidden size %d does not divide by %d heads", c->file,
                       s->hidden, s->heads);
    s->head_dim = s->hidden / s->heads;
    return 0;
}

/* Their number, or as many as there are kinds of them. */
static int read_layers(const struct shape_file *c, const struct shape_family *f, struct shape *s)
{
    static const char *const lists[] = { "layers_block_type", "hybrid_override_pattern",
                                         "layer_types" };

    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        const struct json_value *v = shape_get(c, lists[i]);
        size_t n = !v                       ? 0
                   : v->kind == JSON_ARRAY  ? v->n_items
                   : v->kind == JSON_STRING ? v->len
                                            : 0;

        s->layers = s->layers ? s->layers : (int)MIN(n, (size_t)INT32_MAX);
    }
    return need(c, layers_names, layers_names[f->names], &s->layers);
}

static int read_sizes(const struct shape_file *c, const struct shape_family *f, struct shape *s)
{
    int rc = read_layers(c, f, s);

    if (rc == 0 && s->layers > SHAPE_LAYERS_MAX) /* readers go through them */
        return err_set(c->e, -EINVAL, "%s: layers is %d: it must be 1 to %d", c->file, s->layers,
                       SHAPE_LAYERS_MAX);
    if (rc == 0)
        rc = shape_need_int(c, hidden_names, hidden_names[f->names], &s->hidden);
    if (rc == 0)
        rc = read_heads(c, f, s);
    if (rc == 0)
        rc = read_ffn(c, f, s);
    if (rc == 0)
        rc = need(c, vocab_names, vocab_names[0], &s->vocab);
    if (rc == 0)
        rc = s->learned_positions
                 ? shape_need_int(c, positions_names, positions_names[f->names], &s->positions)
                 : shape_get_int(c, positions_names, &s->positions);
    return MIN(rc, 0);
}

static int read_dropout(const struct shape_file *c, struct shape *s)
{
    static const char *const rates[] = { "resid_pdrop",         "attn_pdrop",
                                         "embd_pdrop",          "dropout",
                                         "attention_dropout",   "hidden_dropout",
                                         "hidden_dropout_prob", "resid_dropout" };
    bool said = false, some = false;

    for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
        const struct json_value *v = shape_get(c, rates[i]);

        if (!v)
            continue;
        if (v->kind != JSON_NUMBER)
            return shape_bad_value(c, v, "a number");
        said = true;
        some = some || v->number > 0;
    }
    s->dropout = said ? some : s->dropout;
    return 0;
}

/* Of a model of several parts the whole says it, if anything does. */
static int read_tied(const struct shape_file *c, bool *ret)
{
    const struct shape_file whole = { .file = c->file, .root = c->whole, .e = c->e };
    int rc = shape_get_bool(c, "tie_word_embeddings", ret);

    return rc == 0 && c->whole != c->root ? shape_get_bool(&whole, "tie_word_embeddings", ret) : rc;
}

static int read_traits(const struct shape_file *c, struct shape *s)
{
    bool attention = false;
    int rc = read_tied(c, &s->tied);

    if (rc == 0)
        rc = shape_get_bool(c, "attention_bias", &attention);
    if (rc == 0)
        rc = shape_get_bool(c, "mlp_bias", &s->mlp_biases);
    s->qkv_biases = s->qkv_biases || attention;
    s->out_biases = s->out_biases || attention;
    return rc < 0 ? rc : read_dropout(c, s);
}

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '.' ||
           c == '_' || c == '-';
}

/* The last part of a path that tells models apart: of "Qwen3-8B/config.json" the folder, of others
 * the file, without ".json". 0 letters when there is none. */
static size_t name_of_file(const char *path, const char **ret)
{
    static const char usual[] = "config.json", ending[] = ".json";
    const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
    size_t len = strlen(last);

    if (!strcmp(last, usual)) {
        len = 0;
        while (slash && last > path && last[-1] == '/')
            last--;
        while (slash && last > path && last[-1] != '/') {
            last--;
            len++;
        }
    } else if (len > strlen(ending) && !strcmp(last + len - strlen(ending), ending)) {
        len -= strlen(ending);
    }
    *ret = last;
    return len > 0 && last[0] != '.' ? len : 0;
}

/* The last part of where the model came from, else of the file, or the family; only letters that
 * such names have: it is written into scripts (brim plan emit). */
static void set_name(const struct shape_file *c, const struct shape_family *f, struct shape *s)
{
    const struct json_value *of_whole = json_get(c->whole, "_name_or_path");
    const struct json_value *v = of_whole ? of_whole : json_get(c->root, "_name_or_path");
    const char *name = v && v->kind == JSON_STRING ? v->text : "";
    const char *slash = strrchr(name, '/');
    size_t len, n = 0;

    name = slash ? slash + 1 : name;
    len = *name ? strlen(name) : name_of_file(c->file, &name);
    if (len == 0) {
        name = f->name;
        len = strlen(name);
    }
    for (; n < len && n < sizeof(s->name) - 1; n++)
        s->name[n] = (char)(is_plain(name[n]) ? name[n] : '?');
    s->name[n] = '\0';
}

static int read_shape(struct shape_file *c, struct arena *a, struct shape *s)
{
    const struct shape_family *f;
    int rc;

    if (c->root->kind != JSON_OBJECT)
        return shape_bad(c, "this is no object with the fields of a model");
    c->whole = c->root;
    rc = choose_family(c, &f);
    if (rc < 0)
        return rc;
    c->seen = arena_alloc(a, sizeof(*c->seen) * c->root->n_items);
    if (!c->seen)
        return err_nomem(c->e);
    *s = f->start;
    s->part = c->whole != c->root;
    set_name(c, f, s);
    rc = read_sizes(c, f, s);
    if (rc == 0)
        rc = read_traits(c, s);
    if (rc == 0 && f->more)
        rc = f->more(c, s);
    if (rc >= 0)
        rc = shape_check_unknown(c, f);
    if (rc < 0)
        return rc;
    rc = shape_check(s, c->e);
    return rc < 0 ? err_context(c->e, rc, "%s: ", c->file) : 0;
}

int shape_from_config(struct shape *ret, const char *file, const char *text, size_t len,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct shape_file c = { .file = file, .e = e };
    struct shape s;
    int rc = json_read_python(&c.root, &a, file, text, len, e);

    if (rc == 0)
        rc = read_shape(&c, &a, &s);
    if (rc < 0)
        return rc;
    *ret = s;
    return 0;
}
