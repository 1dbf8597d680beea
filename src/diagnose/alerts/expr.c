#include "diagnose/alerts/expr.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt.h"
#include "base/parse.h"

enum { NUMBER_MAX = 32, NEAR_MAX = 24 };

static const char *const functions[] = { "rate", "increase", "peers", "past" };

struct parser {
    const char *at;
    const char *set;
    bool by;
    bool in_block; /* of peers() or past() */
    int nesting;
    size_t depth; /* values waiting */
    struct arena *arena;
    struct err *e;
    struct expr x; /* its arrays are the two below */
    struct expr_code code[EXPR_CODE_MAX];
    struct expr_signal signals[EXPR_SIGNALS_MAX];
};

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static int fail(const struct parser *p, const char *what)
{
    if (!*p->at)
        return err_set(p->e, -EINVAL, "%s at the end", what);
    return err_set(p->e, -EINVAL, "%s at '%.*s'", what, NEAR_MAX, p->at);
}

static bool take(struct parser *p, const char *text)
{
    size_t len = strlen(text);

    skip_blanks(p);
    if (strncmp(p->at, text, len) != 0)
        return false;
    p->at += len;
    return true;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of the name here, 0 when there is none. */
static size_t name_here(struct parser *p)
{
    size_t len = 0;

    skip_blanks(p);
    if (isdigit((unsigned char)*p->at))
        return 0;
    while (is_name(p->at[len]))
        len++;
    return len;
}

static bool take_word(struct parser *p, const char *word)
{
    size_t len = name_here(p);

    if (len != strlen(word) || strncmp(p->at, word, len) != 0)
        return false;
    p->at += len;
    return true;
}

/* Add an instruction that takes so many values and leaves one. */
static int emit(struct parser *p, struct expr_code code, size_t takes)
{
    if (p->x.n_code == EXPR_CODE_MAX)
        return fail(p, "the expression is too long");
    p->depth = p->depth - takes + 1;
    if (p->depth > EXPR_DEPTH_MAX)
        return fail(p, "the expression is nested too deeply");
    p->code[p->x.n_code++] = code;
    return 0;
}

/* The scope of what the last instruction left. A block's is at its begin. */
static int binary(struct parser *p, enum expr_op op, enum expr_scope left, enum expr_scope right,
                  enum expr_scope *scope)
{
    *scope = MAX(left, right);
    return emit(p, (struct expr_code){ .op = op, .scope = *scope }, 2);
}

static int parse_sum(struct parser *p, enum expr_scope *scope);

static int parse_number(struct parser *p)
{
    char text[NUMBER_MAX];
    size_t len = 0;
    double number;

    while (is_name(p->at[len]) || p->at[len] == '.' ||
           ((p->at[len] == '-' || p->at[len] == '+') && len > 0 &&
            (p->at[len - 1] == 'e' || p->at[len - 1] == 'E')))
        len++;
    if (len >= sizeof(text))
        return fail(p, "a number is too long");
    memcpy(text, p->at, len);
    text[len] = 0;
    if (parse_double(text, &number) < 0)
        return fail(p, "this is no number");
    p->at += len;
    return emit(p, (struct expr_code){ .op = EXPR_NUMBER, .number = number }, 0);
}

/* {mode="idle"} */
static int parse_label(struct parser *p, struct expr_signal *s)
{
    size_t key_len = name_here(p), len;
    const char *key = p->at;

    if (key_len == 0)
        return fail(p, "a label is missing");
    p->at += key_len;
    if (!take(p, "="))
        return fail(p, "a '=' is missing");
    if (!take(p, "\""))
        return fail(p, "a '\"' is missing");
    len = strcspn(p->at, "\"\\");
    if (p->at[len] != '"')
        return fail(p, "the label's value has no end");
    s->key = arena_strndup(p->arena, key, key_len);
    s->text = arena_strndup(p->arena, p->at, len);
    s->label = arena_printf(p->arena, "%.*s=\"%.*s\"", (int)key_len, key, (int)len, p->at);
    if (!s->key || !s->text || !s->label)
        return err_nomem(p->e);
    p->at += len + 1;
    return take(p, "}") ? 0 : fail(p, "a '}' is missing");
}

static const char *function_at(const void *ctx, size_t i)
{
    (void)ctx;
    return functions[i];
}

/* A name that a '(' follows, and that is no function. */
static int no_function(const struct parser *p, size_t len)
{
    const char *near;
    char word[NEAR_MAX];

    snprintf(word, sizeof(word), "%.*s", (int)MIN(len, sizeof(word)), p->at);
    near = opt_nearest(word, ARRAY_SIZE(functions), function_at, NULL);
    return err_set(p->e, -EINVAL, "there is no function '%s'%s%s%s", word,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

/* NAME, SET.NAME or SET:NAME, and a label: which signal of the expression it is. */
static int parse_signal(struct parser *p, size_t *ret, enum expr_scope *scope)
{
    struct expr_signal s = { .set = p->set, .scope = p->by ? EXPR_THING : EXPR_HOST };
    size_t len = name_here(p);
    const char *name = p->at;

    if (len == 0)
        return fail(p, "a signal is missing");
    p->at += len;
    if (*p->at == '(') {
        p->at = name;
        return no_function(p, len);
    }
    if (*p->at == '.' || *p->at == ':') {
        s.scope = *p->at == ':' ? EXPR_HOST : s.scope;
        s.set = arena_strndup(p->arena, name, len);
        name = ++p->at;
        len = name_here(p);
        if (len == 0 || p->at != name)
            return fail(p, "the name of a signal is missing");
        p->at += len;
    }
    s.name = arena_strndup(p->arena, name, len);
    if (!s.name || !s.set)
        return err_nomem(p->e);
    if (take(p, "{")) {
        int rc = parse_label(p, &s);

        if (rc < 0)
            return rc;
    }
    if (p->x.n_signals == EXPR_SIGNALS_MAX)
        return fail(p, "there are too many signals");
    *ret = p->x.n_signals;
    *scope = s.scope;
    p->signals[p->x.n_signals++] = s;
    return 0;
}

/* ", 10m" of increase(), in seconds. */
static int parse_window(struct parser *p, double *seconds)
{
    char text[NUMBER_MAX];
    int64_t ns;
    size_t len = 0;

    if (!take(p, ","))
        return fail(p, "increase() takes a signal and a time, as in increase(x, 10m);"
                       " a ',' is missing");
    skip_blanks(p);
    while (is_name(p->at[len]))
        len++;
    if (len >= sizeof(text))
        return fail(p, "a time is too long");
    memcpy(text, p->at, len);
    text[len] = 0;
    if (parse_duration_ns(text, &ns) < 0 || ns < NS_PER_S)
        return fail(p, "this is no time of a second at least");
    p->at += len;
    *seconds = clock_seconds(ns);
    return 0;
}

static int close_parenthesis(struct parser *p)
{
    return take(p, ")") ? 0 : fail(p, "a ')' is missing");
}

/* The inside of rate() and increase(). */
static int parse_growth(struct parser *p, enum expr_op op, enum expr_scope *scope)
{
    struct expr_code code = { .op = op };
    int rc = parse_signal(p, &code.signal, scope);

    if (rc == 0 && op == EXPR_INCREASE) {
        if (p->in_block)
            return fail(p, "increase() may not stand in peers() or past()");
        code.slot = p->x.n_windows++;
        rc = parse_window(p, &code.number);
    }
    code.scope = *scope;
    if (rc == 0)
        rc = close_parenthesis(p);
    return rc < 0 ? rc : emit(p, code, 0);
}

/* The inside of peers() and past(). */
static int parse_block(struct parser *p, enum expr_op op, enum expr_scope *scope)
{
    size_t begin = p->x.n_code;
    struct expr_code code = { .op = op };
    int rc;

    if (p->in_block)
        return fail(p, "peers() and past() may not stand in each other");
    if (op == EXPR_PEERS && !p->by)
        return fail(p, "peers() is for rules that are 'by' a thing");
    if (op == EXPR_PEERS && p->x.n_peers == EXPR_PEERS_MAX)
        return fail(p, "peers() stands here too often");
    code.slot = op == EXPR_PEERS ? p->x.n_peers++ : p->x.n_pasts++;
    rc = emit(p, code, 0);
    p->depth--;
    p->in_block = true;
    if (rc == 0)
        rc = parse_sum(p, scope);
    p->in_block = false;
    if (rc == 0)
        rc = close_parenthesis(p);
    if (rc < 0)
        return rc;
    if (*scope == EXPR_CONSTANT || (op == EXPR_PEERS && *scope != EXPR_THING))
        return fail(p, op == EXPR_PEERS ? "peers() needs a signal of the things"
                                        : "past() needs a signal");
    p->code[begin].end = p->x.n_code;
    *scope = op == EXPR_PEERS ? EXPR_HOST : *scope;
    p->code[begin].scope = *scope;
    return 0;
}

static int parse_operand(struct parser *p, enum expr_scope *scope)
{
    struct expr_code code = { .op = EXPR_VALUE };
    int rc;

    *scope = EXPR_CONSTANT;
    skip_blanks(p);
    if (isdigit((unsigned char)*p->at) || *p->at == '.')
        return parse_number(p);
    if (take(p, "(")) {
        rc = parse_sum(p, scope);
        return rc < 0 ? rc : close_parenthesis(p);
    }
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        size_t len = strlen(functions[i]);

        if (name_here(p) != len || strncmp(p->at, functions[i], len) != 0 || p->at[len] != '(')
            continue;
        p->at += len + 1;
        return i < 2 ? parse_growth(p, i ? EXPR_INCREASE : EXPR_RATE, scope)
                     : parse_block(p, i == 2 ? EXPR_PEERS : EXPR_PAST, scope);
    }
    rc = parse_signal(p, &code.signal, scope);
    code.scope = *scope;
    return rc < 0 ? rc : emit(p, code, 0);
}

static int parse_unary(struct parser *p, enum expr_scope *scope)
{
    bool minus = take(p, "-");
    int rc = ++p->nesting > EXPR_DEPTH_MAX ? fail(p, "the expression is nested too deeply")
                                           : parse_operand(p, scope);

    p->nesting--;
    if (rc == 0 && minus)
        rc = emit(p, (struct expr_code){ .op = EXPR_NEGATE, .scope = *scope }, 1);
    return rc;
}

static int parse_product(struct parser *p, enum expr_scope *scope)
{
    int rc = parse_unary(p, scope);

    while (rc == 0) {
        enum expr_scope left = *scope, right = EXPR_CONSTANT;
        bool times = take(p, "*");

        if (!times && !take(p, "/"))
            return 0;
        rc = parse_unary(p, &right);
        if (rc == 0)
            rc = binary(p, times ? EXPR_MULTIPLY : EXPR_DIVIDE, left, right, scope);
    }
    return rc;
}

static int parse_sum(struct parser *p, enum expr_scope *scope)
{
    int rc = parse_product(p, scope);

    while (rc == 0) {
        enum expr_scope left = *scope, right = EXPR_CONSTANT;
        bool plus = take(p, "+");

        if (!plus && !take(p, "-"))
            return 0;
        rc = parse_product(p, &right);
        if (rc == 0)
            rc = binary(p, plus ? EXPR_ADD : EXPR_SUBTRACT, left, right, scope);
    }
    return rc;
}

static const struct {
    const char *text;
    enum expr_op op;
} comparisons[] = {
    { ">=", EXPR_AT_LEAST }, { "<=", EXPR_AT_MOST }, { "==", EXPR_EQUAL },
    { ">", EXPR_GREATER },   { "<", EXPR_LESS },
};

static int parse_comparison(struct parser *p, enum expr_scope *scope)
{
    enum expr_scope left = EXPR_CONSTANT, right = EXPR_CONSTANT;
    int rc = parse_sum(p, &left);

    if (rc < 0)
        return rc;
    if (left == EXPR_CONSTANT)
        return fail(p, "the left of a comparison needs a signal; it is missing");
    for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
        if (!take(p, comparisons[i].text))
            continue;
        rc = parse_sum(p, &right);
        if (rc < 0)
            return rc;
        if (right > left)
            return fail(p, "the signal of the thing must be on the left of the comparison");
        return binary(p, comparisons[i].op, left, right, scope);
    }
    return fail(p, "a comparison (> < >= <= ==) is missing");
}

static int parse_whole(struct parser *p)
{
    enum expr_scope scope = EXPR_CONSTANT, next = EXPR_CONSTANT;
    int rc = parse_comparison(p, &scope);

    if (rc == 0 && p->by && scope != EXPR_THING)
        return fail(p, "the first comparison needs a signal of the thing; it is missing");
    while (rc == 0 && take_word(p, "and")) {
        rc = parse_comparison(p, &next);
        if (rc == 0)
            rc = binary(p, EXPR_AND, scope, next, &scope);
    }
    skip_blanks(p);
    return rc == 0 && *p->at ? fail(p, "'and' or the end is missing") : rc;
}

int expr_parse(struct expr *ret, struct arena *a, const char *text, const char *set, bool by,
               struct err *e)
{
    struct parser p = { .at = text, .set = set, .by = by, .arena = a, .e = e };
    int rc = parse_whole(&p);

    if (rc < 0)
        return rc;
    p.x.code = arena_alloc(a, p.x.n_code * sizeof(*p.code));
    p.x.signals = arena_alloc(a, p.x.n_signals * sizeof(*p.signals));
    if (!p.x.code || !p.x.signals)
        return err_nomem(e);
    memcpy(p.x.code, p.code, p.x.n_code * sizeof(*p.code));
    memcpy(p.x.signals, p.signals, p.x.n_signals * sizeof(*p.signals));
    *ret = p.x;
    return 0;
}
