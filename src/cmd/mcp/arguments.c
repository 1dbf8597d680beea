#include "cmd/mcp/arguments.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/parse.h"

enum { VALUE_MAX = 64 << 10, NUMBER_TEXT = 64, NUMBER_DIGITS = 15, ARGUMENTS = 128 };

struct maker {
    struct arena *arena;
    const struct mcp_tool *tool;
    struct mcp_line *line;
    struct err *e;
};

static int add_word(struct maker *m, const char *word)
{
    const char **at = word ? ARENA_PUSH(m->arena, &m->line->argv, &m->line->n) : NULL;

    if (!at)
        return err_nomem(m->e);
    *at = word;
    return 0;
}

/* ---- values ---- */

static const char *kind_of(const struct json_value *v)
{
    static const char *const kinds[] = {
        [JSON_NULL] = "null",       [JSON_BOOL] = "true or false", [JSON_NUMBER] = "a number",
        [JSON_STRING] = "a string", [JSON_ARRAY] = "an array",     [JSON_OBJECT] = "an object",
    };

    return kinds[v->kind];
}

static int is_wrong(const struct maker *m, const char *name, const char *wanted,
                    const struct json_value *v)
{
    return err_usage(m->e, "argument '%s' of %s must be %s, not %s", name, m->tool->offer->name,
                     wanted, kind_of(v));
}

static const char *number_text(struct arena *a, const struct json_value *v)
{
    CLEANUP(str_done) struct str text = STR_INIT(NUMBER_TEXT);
    struct json j = { .out = &text, .compact = true };

    if (v->is_whole)
        return arena_printf(a, "%lld", (long long)v->whole);
    json_number(&j, NULL, v->number, NUMBER_DIGITS);
    return str_error(&text) ? NULL : arena_strdup(a, str_text(&text));
}

/* A string, or a number as a command line has it. */
static int read_text(struct maker *m, const char *name, const struct json_value *v,
                     const char **ret)
{
    if (v->kind == JSON_NUMBER) {
        *ret = number_text(m->arena, v);
        return *ret ? 0 : err_nomem(m->e);
    }
    if (v->kind != JSON_STRING)
        return is_wrong(m, name, "a string or a number", v);
    if (strlen(v->text) != v->len)
        return err_usage(m->e, "argument '%s' of %s has a NUL in it", name, m->tool->offer->name);
    if (v->len > VALUE_MAX)
        return err_usage(m->e, "argument '%s' of %s is longer than %d KiB", name,
                         m->tool->offer->name, VALUE_MAX >> 10);
    *ret = v->text;
    return 0;
}

/* ---- options ---- */

static int add_value(struct maker *m, const struct opt *o, const struct json_value *v)
{
    const char *text = "";
    int rc = read_text(m, o->name, v, &text);

    return rc < 0 ? rc : add_word(m, arena_printf(m->arena, "--%s=%s", o->name, text));
}

static int add_flag(struct maker *m, const char *name, const struct json_value *v)
{
    if (v->kind != JSON_BOOL)
        return is_wrong(m, name, "true or false", v);
    return v->boolean ? add_word(m, arena_printf(m->arena, "--%s", name)) : 0;
}

static int add_option(struct maker *m, const struct opt *o, const struct json_value *v)
{
    int rc = 0;

    if (o->kind == OPT_FLAG)
        return add_flag(m, o->name, v);
    if (o->kind != OPT_LIST || v->kind != JSON_ARRAY)
        return add_value(m, o, v);
    for (size_t i = 0; i < v->n_items && rc == 0; i++)
        rc = add_value(m, o, &v->items[i]);
    return rc;
}

static const struct opt *find_option(const struct mcp_tool *t, const char *name)
{
    for (const struct opt *o = t->opts; o->kind != OPT_END; o++)
        if (!strcmp(o->name, name))
            return o;
    return NULL;
}

static bool is_operand(const struct mcp_tool *t, const char *name)
{
    for (size_t i = 0; i < t->operands.n; i++)
        if (!strcmp(t->operands.list[i].name, name))
            return true;
    return false;
}

static int unknown(const struct maker *m, const char *name)
{
    const char *names[ARGUMENTS] = { NULL };
    const struct mcp_tool *t = m->tool;
    size_t n = 0;

    for (; n < t->operands.n; n++)
        names[n] = t->operands.list[n].name;
    for (const struct opt *o = t->opts; o->kind != OPT_END && n + 2 < ARRAY_SIZE(names); o++)
        names[n++] = o->name;
    if (t->offer->gives == MCP_JSON)
        names[n++] = MCP_PLAIN;
    if (!n)
        return err_usage(m->e, "%s takes no arguments, not '%.100s'", t->offer->name, name);
    return err_context(m->e, opt_unknown("argument", name, names, m->e), "%s: ", t->offer->name);
}

/* One member of the arguments; operands wait. */
static int add_argument(struct maker *m, const struct json_value *v)
{
    const struct opt *o = find_option(m->tool, v->key);
    bool has_plain = m->tool->offer->gives == MCP_JSON;

    if (is_operand(m->tool, v->key))
        return 0;
    if (has_plain && !strcmp(v->key, MCP_PLAIN)) {
        if (v->kind != JSON_BOOL && v->kind != JSON_NULL)
            return is_wrong(m, v->key, "true or false", v);
        m->line->plain = v->kind == JSON_BOOL && v->boolean;
        return 0;
    }
    if (!o)
        return unknown(m, v->key);
    return v->kind == JSON_NULL ? 0 : add_option(m, o, v);
}

/* ---- operands ---- */

static int add_operand(struct maker *m, const struct mcp_operand *o, const struct json_value *v)
{
    const bool is_jobs = m->tool->cmd->runs_program && o->many;
    const char *text = "";
    double number;
    int rc = read_text(m, o->name, v, &text);

    if (rc < 0)
        return rc;
    if (!*text && !is_jobs)
        return err_usage(m->e, "argument '%s' of %s is empty", o->name, m->tool->offer->name);
    if (text[0] == '-' && !is_jobs && parse_double(text, &number) < 0)
        return err_usage(m->e, "argument '%s' of %s may not begin with a dash: '%.100s'", o->name,
                         m->tool->offer->name, text);
    return add_word(m, text);
}

static int add_operands(struct maker *m, const struct json_value *arguments)
{
    const char *missing = NULL;
    int rc = 0;

    for (size_t i = 0; i < m->tool->operands.n && rc == 0; i++) {
        const struct mcp_operand *o = &m->tool->operands.list[i];
        const struct json_value *v = json_get(arguments, o->name);
        bool is_list = v && v->kind == JSON_ARRAY && o->many;

        if (!v || v->kind == JSON_NULL || (is_list && !v->n_items)) {
            if (o->needed)
                return err_usage(m->e, "%s needs the argument '%s'", m->tool->offer->name, o->name);
            missing = missing ? missing : o->name;
            continue;
        }
        if (missing)
            return err_usage(m->e, "argument '%s' of %s needs '%s' before it", o->name,
                             m->tool->offer->name, missing);
        if (!is_list)
            rc = add_operand(m, o, v);
        for (size_t k = 0; is_list && k < v->n_items && rc == 0; k++)
            rc = add_operand(m, o, &v->items[k]);
    }
    return rc;
}

/* ---- the line ---- */

static int add_head(struct maker *m)
{
    const struct mcp_tool *t = m->tool;
    int rc = add_word(m, "brim");

    if (rc == 0)
        rc = add_word(m, t->cmd->name);
    if (rc == 0 && t->sub)
        rc = add_word(m, t->sub->name);
    if (rc == 0 && t->offer->always)
        rc = add_word(m, arena_printf(m->arena, "--%s", t->offer->always));
    return rc;
}

int mcp_line_make(struct mcp_line *ret, struct arena *a, const struct mcp_tool *t,
                  const struct json_value *arguments, struct err *e)
{
    struct maker m = { .arena = a, .tool = t, .line = ret, .e = e };
    int rc;

    *ret = (struct mcp_line){ .argv = NULL };
    if (arguments && arguments->kind != JSON_OBJECT && arguments->kind != JSON_NULL)
        return err_usage(e, "the arguments of %s must be an object, not %s", t->offer->name,
                         kind_of(arguments));
    rc = add_head(&m);
    for (size_t i = 0; arguments && i < arguments->n_items && rc == 0; i++)
        rc = add_argument(&m, &arguments->items[i]);
    if (rc == 0 && t->offer->gives == MCP_JSON && !ret->plain)
        rc = add_word(&m, "--json");
    if (rc == 0)
        rc = add_word(&m, "--");
    if (rc == 0)
        rc = add_operands(&m, arguments);
    if (rc == 0 && !ARENA_PUSH(a, &ret->argv, &ret->n))
        rc = err_nomem(e);
    if (rc == 0)
        ret->n--; /* the NULL behind them */
    return rc;
}
