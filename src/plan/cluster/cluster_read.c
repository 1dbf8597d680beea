#include "plan/cluster/cluster_read.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"

enum { WORD_MAX = 64, GPUS_PER_NODE = 8 /* of a machine that no vendor is known to build */ };
enum { SPEC_SHOWN = 80 };

/* ---- one key ---- */

enum key_kind { KEY_NUMBER, KEY_WHOLE, KEY_NIC, KEY_GPU };

static const struct key {
    const char *name;
    size_t offset; /* in struct cluster_wish */
    double unit;   /* KEY_NUMBER: what one of them is */
    enum key_kind kind;
    bool in_spec; /* the others are its first word */
} keys[] = {
    { "gpu", 0, 0, KEY_GPU, false },
    { "nodes", offsetof(struct cluster_wish, c.nodes), 0, KEY_WHOLE, false },
    { "gpus", offsetof(struct cluster_wish, c.per_node), 0, KEY_WHOLE, false },
    { "nic", 0, 0, KEY_NIC, true },
    { "domain", offsetof(struct cluster_wish, c.domain), 0, KEY_WHOLE, true },
    { "link", offsetof(struct cluster_wish, c.link_rate), 1e9, KEY_NUMBER, true },
    { "leaf", offsetof(struct cluster_wish, c.leaf_nodes), 0, KEY_WHOLE, true },
    { "oversubscribed", offsetof(struct cluster_wish, c.oversubscribed), 1, KEY_NUMBER, true },
    { "nic_latency", offsetof(struct cluster_wish, c.nic_latency_s), 1e-6, KEY_NUMBER, true },
    { "link_latency", offsetof(struct cluster_wish, c.link_latency_s), 1e-6, KEY_NUMBER, true },
    { "memory", offsetof(struct cluster_wish, memory_b), 1e9, KEY_NUMBER, true },
    { "power", offsetof(struct cluster_wish, c.power_w), 1, KEY_NUMBER, true },
    { "price", offsetof(struct cluster_wish, c.price), 1, KEY_NUMBER, true },
    { "mtbf", offsetof(struct cluster_wish, c.mtbf_s), 3600, KEY_NUMBER, true },
};

struct reading {
    const struct gpus *gpus;
    struct cluster_wish wish;
    bool has[ARRAY_SIZE(keys)];
};

/* A count from 1 to 2147483647 and nothing else. */
static bool to_count(const char *text, int *ret)
{
    uint64_t n;

    if (parse_u64(text, &n) < 0 || n < 1 || n > INT32_MAX)
        return false;
    *ret = (int)n;
    return true;
}

static int set_number(struct reading *r, const struct key *k, const char *text, struct err *e)
{
    double value;
    int rc = parse_double(text, &value);

    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0 || value < 0 || !isfinite(value * k->unit))
        return err_set(e, -EINVAL, "%s is a number from 0 on, not '%.40s'", k->name, text);
    *(double *)(void *)((char *)&r->wish + k->offset) = value * k->unit;
    return 0;
}

/* "8x400G", "400G" of one port, "0" for none. */
static int set_nic(struct reading *r, const char *text, struct err *e)
{
    const char *x = strchr(text, 'x');
    char word[WORD_MAX] = "";
    int ports = 1;
    double rate = 0;
    size_t len;

    r->wish.nics_said = true;
    if (!strcmp(text, "0"))
        return 0;
    if (x && (size_t)(x - text) < sizeof(word))
        memcpy(word, text, (size_t)(x - text));
    if (x && !to_count(word, &ports))
        return err_set(e, -EINVAL, "nic is ports x Gbit/s, such as 8x400G, not '%.40s'", text);
    text = x ? x + 1 : text;
    len = strlen(text);
    if (len > 0 && text[len - 1] == 'G')
        len--;
    memset(word, 0, sizeof(word));
    memcpy(word, text, MIN(len, sizeof(word) - 1));
    if (parse_double(word, &rate) < 0 || !(rate > 0) || len >= sizeof(word))
        return err_set(e, -EINVAL, "the rate of a port is Gbit/s, such as 400G, not '%.40s'", text);
    r->wish.c.nics = ports;
    r->wish.c.nic_rate = rate * 1e9 / 8;
    return 0;
}

static int set_value(struct reading *r, const struct key *k, const char *text, struct err *e)
{
    switch (k->kind) {
    case KEY_GPU:
        return gpus_find(r->gpus, text, &r->wish.gpu, e);
    case KEY_NIC:
        return set_nic(r, text, e);
    case KEY_NUMBER:
        return set_number(r, k, text, e);
    default:
        if (to_count(text, (int *)(void *)((char *)&r->wish + k->offset)))
            return 0;
        return err_set(e, -EINVAL, "%s is a whole number from 1 to %d, not '%.40s'", k->name,
                       INT32_MAX, text);
    }
}

static const char *key_at(const void *ctx, size_t i)
{
    (void)ctx;
    return keys[i].name;
}

static int set_key(struct reading *r, const char *name, const char *text, bool in_spec,
                   struct err *e)
{
    const char *near;
    size_t i = 0;

    while (i < ARRAY_SIZE(keys) && (strcmp(keys[i].name, name) != 0 || keys[i].in_spec < in_spec))
        i++;
    if (i == ARRAY_SIZE(keys)) {
        near = opt_nearest(name, ARRAY_SIZE(keys), key_at, NULL);
        near = near && strcmp(near, name) != 0 ? near : NULL;
        return err_set(e, -EINVAL, "unknown key '%.40s'%s%s%s", name, near ? " (did you mean " : "",
                       near ? near : "", near ? "?)" : "");
    }
    if (r->has[i])
        return err_set(e, -EINVAL, "'%s' stands twice", name);
    r->has[i] = true;
    return set_value(r, &keys[i], text, e);
}

/* ---- a word on the command line ---- */

struct spec {
    const char *text;
    const char *at; /* where the part that is looked at starts */
};

static int at_character(const struct spec *s, int rc, struct err *e)
{
    return err_context(e, rc, "cluster '%.*s', character %d: ", SPEC_SHOWN, s->text,
                       (int)(s->at - s->text) + 1);
}

/* Copy n letters; -EINVAL when they are too many. */
static int take(char word[WORD_MAX], const char *from, size_t n, struct err *e)
{
    if (n >= WORD_MAX)
        return err_set(e, -EINVAL, "a word is longer than %d letters", WORD_MAX - 1);
    memcpy(word, from, n);
    word[n] = '\0';
    return 0;
}

/* "64x" in front of what s is at: moves behind it. 1, 0 when there is none, -EINVAL. */
static int take_count(struct spec *s, const char *end, int *ret, struct err *e)
{
    size_t digits = strspn(s->at, "0123456789");
    char word[WORD_MAX];
    int rc;

    if (!digits || s->at + digits >= end || s->at[digits] != 'x')
        return 0;
    rc = take(word, s->at, digits, e);
    if (rc < 0)
        return rc;
    if (!to_count(word, ret))
        return err_set(e, -EINVAL, "a count is a whole number from 1 to %d, not '%s'", INT32_MAX,
                       word);
    s->at += digits + 1;
    return 1;
}

/* GPUs in nodes as their vendor builds them. */
static int split_nodes(struct cluster_wish *w, int all, struct err *e)
{
    int each = w->gpu->node ? w->gpu->node_gpus : GPUS_PER_NODE;

    if (all > each && all % each != 0)
        return err_set(e, -EINVAL,
                       "%d GPUs are no whole number of nodes with %d: write nodes x GPUs, such as "
                       "%dx%d",
                       all, each, all / each, each);
    w->c.per_node = MIN(all, each);
    w->c.nodes = all / w->c.per_node;
    return 0;
}

static int read_head(struct reading *r, struct spec *s, const char *end, struct err *e)
{
    int counts[2] = { 1, 1 }, n = 0, rc = 1;
    char word[WORD_MAX] = "";

    while (n < 2 && rc > 0) {
        rc = take_count(s, end, &counts[n], e);
        n += rc > 0;
    }
    if (rc >= 0)
        rc = take(word, s->at, (size_t)(end - s->at), e);
    if (rc >= 0 && !word[0])
        rc = err_set(e, -EINVAL, "the kind of GPU is missing: write 64x8xH100-SXM, say");
    if (rc >= 0)
        rc = gpus_find(r->gpus, word, &r->wish.gpu, e);
    if (rc < 0)
        return rc;
    r->wish.c.nodes = counts[0];
    r->wish.c.per_node = counts[1];
    return n < 2 ? split_nodes(&r->wish, counts[0], e) : 0;
}

static int read_part(struct reading *r, struct spec *s, const char *end, struct err *e)
{
    const char *equals = memchr(s->at, '=', (size_t)(end - s->at));
    char name[WORD_MAX], value[WORD_MAX];
    int rc;

    if (!equals)
        return err_set(e, -EINVAL, "behind the GPUs stand key=value, parted by commas");
    rc = take(name, s->at, (size_t)(equals - s->at), e);
    if (rc == 0)
        rc = take(value, equals + 1, (size_t)(end - equals - 1), e);
    return rc < 0 ? rc : set_key(r, name, value, true, e);
}

int cluster_from_spec(struct cluster *ret, const struct gpus *g, const char *spec, struct err *e)
{
    struct reading r = { .gpus = g };
    struct spec s = { .text = spec, .at = spec };
    const char *end = strchrnul(spec, ',');
    int rc;

    cluster_wish_init(&r.wish);
    rc = read_head(&r, &s, end, e);
    while (rc == 0 && *end) {
        s.at = end + 1;
        end = strchrnul(s.at, ',');
        rc = read_part(&r, &s, end, e);
    }
    if (rc < 0)
        return rc == -ENOMEM ? rc : at_character(&s, rc, e);
    rc = cluster_settle(ret, &r.wish, e);
    return rc < 0 ? err_context(e, rc, "cluster '%.*s': ", SPEC_SHOWN, spec) : 0;
}

/* ---- a file ---- */

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct reading *r = ctx;
    int rc;

    if (!at->key || strcmp(at->section, "cluster") != 0)
        return 0;
    rc = set_key(r, at->key, at->value, false, e);
    return rc < 0 && rc != -ENOMEM ? err_context(e, rc, "%s:%d: ", at->file, at->line) : rc;
}

int cluster_from_ini(struct cluster *ret, const struct gpus *g, const char *file, const char *text,
                     size_t len, struct err *e)
{
    struct reading r = { .gpus = g };
    int rc;

    cluster_wish_init(&r.wish);
    rc = ini_parse(file, text, len, read_entry, &r, e);
    if (rc < 0)
        return rc;
    if (!r.wish.gpu)
        return err_set(e, -EINVAL, "%s: 'gpu' is missing in [cluster]", file);
    r.wish.c.nodes = MAX(r.wish.c.nodes, 1);
    if (!r.wish.c.per_node)
        r.wish.c.per_node = r.wish.gpu->node ? r.wish.gpu->node_gpus : 1;
    rc = cluster_settle(ret, &r.wish, e);
    return rc < 0 ? err_context(e, rc, "%s: ", file) : 0;
}
