#include "slurm/gres.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/parse.h"

enum { COUNT_MOST = 1 << 20, COUNT_DIGITS = 9 };

/* Reads a number at *text and goes behind it. */
static bool number_at(const char **text, uint64_t *ret)
{
    int n = parse_digits(*text, 10, COUNT_DIGITS, ret);

    *text += n;
    return n > 0;
}

uint32_t slurm_gres_bits(const char *text)
{
    uint32_t bits = 0;
    uint64_t from, to;

    while (number_at(&text, &from)) {
        to = from;
        if (*text == '-' && (text++, !number_at(&text, &to)))
            break;
        for (; from <= to && from < 32; from++)
            bits |= UINT32_C(1) << from;
        if (*text != ',')
            break;
        text++;
    }
    return bits;
}

/* One of a list, without what it is in: "gpu:h100:8(S:0-1)". */
struct item {
    const char *at;
    size_t len;      /* before a bracket */
    const char *idx; /* behind "IDX:"; NULL */
};

/* The next of a list; commas within brackets do not end it. */
static bool next_item(const char **text, struct item *ret)
{
    const char *p = *text, *open = NULL;
    int depth = 0;

    if (!*p)
        return false;
    *ret = (struct item){ .at = p };
    for (; *p && (depth > 0 || (*p != ',' && *p != ';')); p++) {
        if (*p == '(' && depth++ == 0 && !open) {
            open = p;
            if (strncmp(p + 1, "IDX:", 4) == 0)
                ret->idx = p + 5;
        }
        if (*p == ')' && depth > 0)
            depth--;
    }
    ret->len = (size_t)((open ? open : p) - ret->at);
    *text = *p ? p + 1 : p;
    return true;
}

struct sums {
    int64_t plain, typed; /* of "gres/gpu=8" and "gres/gpu:h100=8", which count the same devices */
    int64_t listed;       /* of lists, where each counts its own */
    bool several;
};

static void keep_kind(struct slurm_gres *g, struct sums *s, const char *kind, size_t len)
{
    char name[sizeof(g->kind)];

    if (len == 0 || len >= sizeof(name))
        return;
    snprintf(name, sizeof(name), "%.*s", (int)len, kind);
    if (g->kind[0] && strcmp(g->kind, name) != 0)
        s->several = true;
    snprintf(g->kind, sizeof(g->kind), "%s", name);
}

/* Of what stands behind "gpu": ":h100:8", "=8", ":8", ":h100", "". */
static void take(struct slurm_gres *g, struct sums *s, const char *text, size_t len)
{
    char buf[192], *last;
    const char *digits;
    uint64_t count = 1;
    bool equals, typed = false;

    if (len >= sizeof(buf))
        return;
    snprintf(buf, sizeof(buf), "%.*s", (int)len, text);
    last = strrchr(buf, '=');
    equals = last != NULL;
    last = last ? last : strrchr(buf, ':');
    digits = last ? last + 1 : "";
    if (number_at(&digits, &count) && (!*digits || strcmp(digits, "K") == 0))
        *last = 0;
    else
        count = 1;
    if (buf[0] == ':') {
        keep_kind(g, s, buf + 1, strcspn(buf + 1, ":"));
        typed = buf[1] != 0;
    }
    count = MIN(count, (uint64_t)COUNT_MOST);
    if (!equals)
        s->listed += (int64_t)count;
    else if (typed)
        s->typed += (int64_t)count;
    else
        s->plain += (int64_t)count;
}

void slurm_gres_read(const char *text, struct slurm_gres *ret)
{
    struct sums s = { 0 };
    struct item item;
    int64_t all;

    *ret = (struct slurm_gres){ 0 };
    while (text && next_item(&text, &item)) {
        size_t skip = strncmp(item.at, "gres:", 5) == 0 || strncmp(item.at, "gres/", 5) == 0 ? 5
                                                                                             : 0;

        if (item.len < skip + 3 || strncmp(item.at + skip, "gpu", 3) != 0)
            continue;
        skip += 3;
        if (item.len > skip && item.at[skip] != ':' && item.at[skip] != '=')
            continue;
        take(ret, &s, item.at + skip, item.len - skip);
        if (item.idx)
            ret->devices |= slurm_gres_bits(item.idx);
    }
    all = s.listed + MAX(s.plain, s.typed);
    ret->count = (int32_t)MIN(all, (int64_t)COUNT_MOST);
    if (s.several)
        ret->kind[0] = 0;
}
