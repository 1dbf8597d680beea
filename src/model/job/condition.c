#include "model/job/condition.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"

enum { DEPTH = 8 /* of parentheses and nots */, TOKEN_MAX = 64 };

struct reader {
    struct arena *arena;
    const char *at;
    char token[TOKEN_MAX]; /* "" at the end */
    struct condition_part parts[NEEDS_PARTS];
    size_t count;
    int depth;
    struct err *e;
};

static const struct {
    const char *text;
    enum condition_kind kind;
} compares[] = {
    { "==", NEEDS_EQUAL },      { "!=", NEEDS_OTHER }, { "<=", NEEDS_LESS_EQUAL },
    { ">=", NEEDS_MORE_EQUAL }, { "<", NEEDS_LESS },   { ">", NEEDS_MORE },
};

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-+/", c));
}

/* Read the next token; 0 or -EINVAL. */
static int next(struct reader *r)
{
    size_t len = 0;

    r->at += strspn(r->at, " \t");
    while (is_word(r->at[len]))
        len++;
    for (size_t i = 0; !len && i < ARRAY_SIZE(compares); i++)
        if (!strncmp(r->at, compares[i].text, strlen(compares[i].text)))
            len = strlen(compares[i].text);
    if (!len && (*r->at == '(' || *r->at == ')'))
        len = 1;
    if (!len && *r->at)
        return err_set(r->e, -EINVAL, "a condition cannot have '%c'",
                       *r->at > ' ' && *r->at < 127 ? *r->at : '?');
    if (len >= TOKEN_MAX)
        return err_set(r->e, -EINVAL, "a word of a condition is longer than 63 letters");
    memcpy(r->token, r->at, len);
    r->token[len] = '\0';
    r->at += len;
    return 0;
}

static int add(struct reader *r, struct condition_part part)
{
    if (r->count == NEEDS_PARTS)
        return err_set(r->e, -EINVAL, "the condition has more than %d parts", NEEDS_PARTS);
    r->parts[r->count++] = part;
    return 0;
}

static bool is_keyword(const char *t)
{
    return !strcmp(t, "and") || !strcmp(t, "or") || !strcmp(t, "not");
}

static int read_compared(struct reader *r, struct condition_part *part)
{
    for (size_t i = 0; i < ARRAY_SIZE(compares); i++) {
        int rc;

        if (strcmp(r->token, compares[i].text) != 0)
            continue;
        part->kind = compares[i].kind;
        rc = next(r);
        if (rc < 0)
            return rc;
        if (!is_word(*r->token) || is_keyword(r->token))
            return err_set(r->e, -EINVAL, "'%s' is compared with nothing", part->name);
        if (parse_double(r->token, &part->number) < 0)
            part->number = (double)NAN;
        if (part->kind >= NEEDS_LESS && isnan(part->number))
            return err_set(r->e, -EINVAL, "'%s' is no number", r->token);
        part->word = arena_strdup(r->arena, r->token);
        return part->word ? next(r) : err_nomem(r->e);
    }
    return 0;
}

static int read_name(struct reader *r)
{
    struct condition_part part = { .kind = NEEDS_KNOWN, .number = (double)NAN };
    int rc;

    if (!is_word(*r->token) || is_keyword(r->token))
        return err_set(r->e, -EINVAL, "a name is missing %s%s",
                       *r->token ? "before " : "at the end", r->token);
    part.name = arena_strdup(r->arena, r->token);
    if (!part.name)
        return err_nomem(r->e);
    rc = next(r);
    if (rc == 0)
        rc = read_compared(r, &part);
    return rc < 0 ? rc : add(r, part);
}

static int read_or(struct reader *r);

static int read_one(struct reader *r)
{
    bool is_not = !strcmp(r->token, "not");
    int rc;

    if (!is_not && *r->token != '(')
        return read_name(r);
    if (++r->depth > DEPTH)
        return err_set(r->e, -EINVAL, "the condition is nested more than %d deep", DEPTH);
    rc = next(r);
    if (rc == 0)
        rc = is_not ? read_one(r) : read_or(r);
    if (rc == 0 && is_not) {
        rc = add(r, (struct condition_part){ .kind = NEEDS_NOT });
    } else if (rc == 0) {
        if (*r->token != ')')
            return err_set(r->e, -EINVAL, "')' is missing");
        rc = next(r);
    }
    r->depth--;
    return rc;
}

static int read_and(struct reader *r)
{
    int rc = read_one(r);

    while (rc == 0 && !strcmp(r->token, "and")) {
        rc = next(r);
        if (rc == 0)
            rc = read_one(r);
        if (rc == 0)
            rc = add(r, (struct condition_part){ .kind = NEEDS_AND });
    }
    return rc;
}

static int read_or(struct reader *r)
{
    int rc = read_and(r);

    while (rc == 0 && !strcmp(r->token, "or")) {
        rc = next(r);
        if (rc == 0)
            rc = read_and(r);
        if (rc == 0)
            rc = add(r, (struct condition_part){ .kind = NEEDS_OR });
    }
    return rc;
}

int condition_parse(struct condition *ret, struct arena *a, const char *text, struct err *e)
{
    struct reader r = { .arena = a, .at = text, .e = e };
    int rc = next(&r);

    if (rc == 0)
        rc = read_or(&r);
    if (rc == 0 && *r.token)
        rc = err_set(e, -EINVAL, "'%s' was not expected here", r.token);
    if (rc < 0)
        return rc;
    ret->parts = arena_alloc(a, r.count * sizeof(*ret->parts));
    if (!ret->parts)
        return err_nomem(e);
    memcpy(ret->parts, r.parts, r.count * sizeof(*ret->parts));
    ret->count = r.count;
    return 0;
}

static bool compare(const struct condition_part *p, const char *known)
{
    double number = (double)NAN;
    bool equal;

    if (!known)
        return false;
    if (p->kind == NEEDS_KNOWN)
        return true;
    if (parse_double(known, &number) < 0)
        number = (double)NAN;
    equal = isnan(number) || isnan(p->number) ? !strcmp(known, p->word)
                                              : !(number < p->number || number > p->number);
    switch (p->kind) {
    case NEEDS_EQUAL:
        return equal;
    case NEEDS_OTHER:
        return !equal;
    case NEEDS_LESS:
        return number < p->number;
    case NEEDS_LESS_EQUAL:
        return number <= p->number;
    case NEEDS_MORE:
        return number > p->number;
    default:
        return number >= p->number;
    }
}

bool condition_hold(const struct condition *n, condition_look *look, const void *ctx)
{
    bool stack[NEEDS_PARTS] = { true };
    size_t depth = 0;

    for (size_t i = 0; i < n->count; i++) {
        const struct condition_part *p = &n->parts[i];

        if (p->kind < NEEDS_NOT) {
            stack[depth++] = compare(p, look(ctx, p->name));
        } else if (p->kind == NEEDS_NOT) {
            assert(depth > 0);
            stack[depth - 1] = !stack[depth - 1];
        } else {
            assert(depth > 1);
            depth--;
            stack[depth - 1] = p->kind == NEEDS_AND ? stack[depth - 1] && stack[depth]
                                                    : stack[depth - 1] || stack[depth];
        }
    }
    return stack[0];
}
