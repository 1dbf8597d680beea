#include "diagnose/alerts/promql.h"

#include <string.h>

#include "base/clock.h"

/* What tells nodes apart: Prometheus adds both labels to whatever it scrapes. */
#define NODE "(job, instance)"

enum { TEXT_MAX = 16 << 10 };

static const char fault_rest[] =
    "\\\"} == 1\"\n    annotations:\n"
    "      summary: \"fault {{ $labels.code }}{{ with $labels.thing }} of {{ . }}{{ end }}\"\n"
    "      description: \"The kernel's log of {{ $labels.instance }} told of it in the last "
    "minutes;"
    " the agent there has the line.\"\n"
    "      action: \"{{ if match \\\"^[0-9]+$\\\" $labels.code }}brim xid {{ $labels.code }}"
    "{{ else }}journalctl -k{{ end }}\"\n";

struct writer {
    const struct rule *rule;
    struct str stack[EXPR_DEPTH_MAX + 1];
    enum expr_scope scopes[EXPR_DEPTH_MAX + 1];
    size_t n;
    int error; /* the first of any text: texts are used again, which forgets theirs */
};

static void keep_error(struct writer *w, const struct str *text)
{
    if (!w->error)
        w->error = str_error(text);
}

static const char *operator_text(enum expr_op op)
{
    static const char *const texts[] = {
        [EXPR_ADD] = "+",     [EXPR_SUBTRACT] = "-", [EXPR_MULTIPLY] = "*",  [EXPR_DIVIDE] = "/",
        [EXPR_GREATER] = ">", [EXPR_LESS] = "<",     [EXPR_AT_LEAST] = ">=", [EXPR_AT_MOST] = "<=",
        [EXPR_EQUAL] = "==",  [EXPR_AND] = "and",
    };

    return texts[op];
}

/* A label that the rest of the expression does not have is taken away, so that samples match. */
static void add_signal(const struct expr_signal *s, const struct expr_code *c, struct str *out)
{
    if (s->label)
        str_addf(out, "sum without (%s) (", s->key);
    if (c->op != EXPR_VALUE)
        str_add(out, c->op == EXPR_RATE ? "rate(" : "increase(");
    str_addf(out, "brim_%s_%s", s->set, s->name);
    if (s->label)
        str_addf(out, "{%s}", s->label);
    if (c->op == EXPR_RATE)
        str_add(out, "[1m])");
    if (c->op == EXPR_INCREASE)
        str_addf(out, "[%.0fs])", c->number);
    if (s->label)
        str_add_char(out, ')');
}

/* Join the two last texts. One of the host has fewer labels than one of a thing: it is spread. */
static void join(struct writer *w, const struct expr_code *c)
{
    struct str *left = &w->stack[w->n - 2], *right = &w->stack[w->n - 1];
    enum expr_scope a = w->scopes[w->n - 2], b = w->scopes[w->n - 1];
    CLEANUP(str_done) struct str whole = STR_INIT(TEXT_MAX);
    bool inner = c->op < EXPR_GREATER;

    str_addf(&whole, "%s%s %s ", inner ? "(" : "", str_text(left), operator_text(c->op));
    if (a != b && a != EXPR_CONSTANT && b != EXPR_CONSTANT)
        str_addf(&whole, "on " NODE " %s",
                 c->op == EXPR_AND ? ""
                 : a > b           ? "group_left () "
                                   : "group_right () ");
    str_addf(&whole, "%s%s", str_text(right), inner ? ")" : "");
    keep_error(w, left);
    keep_error(w, right);
    keep_error(w, &whole);
    str_reset(left);
    str_add(left, str_text(&whole));
    str_reset(right);
    w->n--;
    w->scopes[w->n - 1] = c->scope;
}

static void push(struct writer *w, enum expr_scope scope)
{
    keep_error(w, &w->stack[w->n]);
    str_reset(&w->stack[w->n]);
    w->scopes[w->n++] = scope;
}

static void write_code(struct writer *w, size_t at, size_t end);

/* The text of a block, then what is made of it. */
static void write_block(struct writer *w, const struct expr_code *c, size_t at)
{
    CLEANUP(str_done) struct str inside = STR_INIT(TEXT_MAX);
    struct str *out;

    write_code(w, at, c->end);
    out = &w->stack[w->n - 1];
    /* values that are none, 0 / 0 of what is idle, are left out in the agent, too */
    str_addf(&inside, "(%s > -Inf < Inf)", str_text(out));
    w->n--;
    push(w, c->scope);
    if (c->op == EXPR_PEERS)
        str_addf(out,
                 "(quantile by " NODE " (0.5, %s) and on " NODE " count by " NODE " (%s) >= 3)",
                 str_text(&inside), str_text(&inside));
    else
        str_addf(out, "(avg_over_time(%s[1h:1m]) and count_over_time(%s[1h:1m]) >= 10)",
                 str_text(&inside), str_text(&inside));
    keep_error(w, &inside);
}

static void write_code(struct writer *w, size_t at, size_t end)
{
    while (at < end) {
        const struct expr_code *c = &w->rule->when.code[at++];

        if (c->op == EXPR_NUMBER) {
            push(w, c->scope);
            str_addf(&w->stack[w->n - 1], "%.15g", c->number);
        } else if (c->op <= EXPR_INCREASE) {
            push(w, c->scope);
            add_signal(&w->rule->when.signals[c->signal], c, &w->stack[w->n - 1]);
        } else if (c->op == EXPR_NEGATE) {
            CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
            struct str *top = &w->stack[w->n - 1];

            str_addf(&text, "(-%s)", str_text(top));
            keep_error(w, top);
            keep_error(w, &text);
            str_reset(top);
            str_add(top, str_text(&text));
        } else if (c->op >= EXPR_PEERS) {
            write_block(w, c, at);
            at = c->end;
        } else {
            join(w, c);
        }
    }
}

void promql_add(const struct rule *r, struct str *out)
{
    struct writer w = { .rule = r };

    for (size_t i = 0; i < ARRAY_SIZE(w.stack); i++)
        w.stack[i] = (struct str)STR_INIT(TEXT_MAX);
    write_code(&w, 0, r->when.n_code);
    str_add(out, str_text(&w.stack[0]));
    for (size_t i = 0; i < ARRAY_SIZE(w.stack); i++) {
        keep_error(&w, &w.stack[i]);
        str_done(&w.stack[i]);
    }
    str_fail(out, w.error);
}

/* A string of YAML in double quotes. */
static void add_quoted(struct str *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '"' || c == '\\')
            str_add_char(out, '\\');
        if ((unsigned char)c < ' ' || c == 0x7f)
            c = '?';
        str_add_char(out, c);
    }
}

static void add_pair(struct str *out, const char *key, const char *text)
{
    if (!*text)
        return;
    str_addf(out, "      %s: \"", key);
    add_quoted(out, text, strlen(text));
    str_add(out, "\"\n");
}

/* "say" as a template of Prometheus. */
static void add_summary(struct str *out, const struct rule *r)
{
    const char *at = r->say;
    struct rule_piece piece;

    str_add(out, "      summary: \"");
    while (rule_next_piece(&at, &piece) > 0) {
        if (piece.text)
            add_quoted(out, piece.text, piece.len);
        else if (piece.format)
            add_quoted(out, piece.format->prometheus, strlen(piece.format->prometheus));
        else
            str_addf(out, "{{ $labels.%s }}", r->by);
    }
    str_add(out, "\"\n");
}

static void add_rule(struct str *out, const struct rule *r)
{
    CLEANUP(str_done) struct str expr = STR_INIT(TEXT_MAX);

    promql_add(r, &expr);
    str_addf(out, "  - alert: %s\n    expr: \"", r->name);
    add_quoted(out, str_text(&expr), expr.len);
    str_addf(out, "\"\n    for: %llds\n    labels:\n      severity: %s\n    annotations:\n",
             (long long)(r->for_ns / NS_PER_S), severity_text(r->severity));
    add_summary(out, r);
    add_pair(out, "description", r->why);
    add_pair(out, "action", r->action);
    str_fail(out, str_error(&expr));
}

/* Prometheus sees no events, but the alerts that the agent makes of them: one rule passes on those
 * of all rules of events, with the severity that they have. */
static void add_faults(struct str *out, const struct rules *rules)
{
    size_t n = 0;

    for (size_t i = 0; i < rules->count; i++)
        if (rules->list[i].event)
            str_addf(out, "%s%s",
                     n++ ? "|" : "  - alert: fault\n    expr: \"brim_alert_firing{alert=~\\\"",
                     rules->list[i].name);
    if (n)
        str_add(out, fault_rest);
}

void promql_rules(const struct rules *rules, const char *file, struct str *out)
{
    str_addf(
        out,
        "# Alert rules for the metrics of brim, made from %s by\n#\n"
        "#     brim alerts --prometheus\n#\n"
        "# Events (XIDs, the kernel's log) are seen by the agent; its alerts of them are the last"
        " rule.\n"
        "groups:\n- name: brim\n  rules:\n",
        file);
    for (size_t i = 0; i < rules->count; i++)
        if (!rules->list[i].event)
            add_rule(out, &rules->list[i]);
    add_faults(out, rules);
}
