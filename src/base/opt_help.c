#include "base/opt.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt_private.h"

enum { HELP_COLUMN = 24 }; /* where the texts of a table with short names start */

/* The largest unit of which it is a whole number, as parse_duration_ns() reads it. */
static struct opt_limit duration_limit(int64_t ns)
{
    static const struct {
        int64_t ns;
        const char *unit;
    } units[] = { { 86400000000000, "d" },
                  { 3600000000000, "h" },
                  { 60000000000, "m" },
                  { NS_PER_S, "s" },
                  { 1000000, "ms" } };
    struct opt_limit ret = { "0s" };

    for (size_t i = 0; ns != 0 && i < ARRAY_SIZE(units); i++)
        if (ns % units[i].ns == 0) {
            snprintf(ret.text, sizeof(ret.text), "%lld%s", (long long)(ns / units[i].ns),
                     units[i].unit);
            break;
        }
    return ret;
}

struct opt_limit opt_limit(const struct opt *o, int64_t value)
{
    struct opt_limit ret;

    if (o->kind == OPT_DURATION)
        return duration_limit(value);
    snprintf(ret.text, sizeof(ret.text), "%lld", (long long)value);
    return ret;
}

bool opt_has_limits(const struct opt *o)
{
    return o->least != 0 || o->most != 0;
}

bool opt_may_stand_alone(const struct opt *o)
{
    return o->kind == OPT_OUTPUT || o->kind == OPT_MAYBE;
}

/* "; 16 to 1024 MiB", "; at least 1s". */
static void add_limits(struct str *out, const struct opt *o)
{
    const char *blank = o->unit ? " " : "", *unit = o->unit ? o->unit : "";

    if (o->most != 0)
        str_addf(out, "; %s to %s%s%s", opt_limit(o, o->least).text, opt_limit(o, o->most).text,
                 blank, unit);
    else if (o->least != 0)
        str_addf(out, "; at least %s%s%s", opt_limit(o, o->least).text, blank, unit);
    else if (o->unit)
        str_addf(out, ", in %s", o->unit);
}

/* " (text, json)", each choice written by add(). */
static void add_choices(struct str *out, const struct opt *o,
                        void (*add)(struct str *out, const char *text))
{
    if (o->kind != OPT_CHOICE)
        return;
    for (size_t i = 0; o->choices[i]; i++) {
        str_add(out, i > 0 ? ", " : " (");
        add(out, o->choices[i]);
    }
    str_add_char(out, ')');
}

/* Of "  -j, --name=ARG". */
static size_t left_width(const struct opt *o)
{
    size_t brackets = opt_may_stand_alone(o) ? 2 : 0;

    return strlen("  -j, --") + strlen(o->name) + (o->arg ? 1 + strlen(o->arg) + brackets : 0);
}

/* Text as roff reads it literally: '-' would be a hyphen, and '.' or ''' first a request. */
static void add_roff(struct str *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        str_add(out, "\\&");
    for (; *text; text++) {
        if (*text == '-')
            str_add(out, "\\-");
        else if (*text == '\\')
            str_add(out, "\\e");
        else
            str_add_char(out, *text);
    }
}

void opt_describe(const struct opt *o, struct str *out)
{
    str_add(out, o->help);
    add_limits(out, o);
    add_choices(out, o, str_add);
}

void opt_help(const struct opt *table, struct str *out)
{
    size_t column = HELP_COLUMN;

    for (const struct opt *o = table; o->kind != OPT_END; o++)
        column = MAX(column, left_width(o) + 2);
    for (const struct opt *o = table; o->kind != OPT_END; o++) {
        if (o->letter)
            str_addf(out, "  -%c, --%s", o->letter, o->name);
        else
            str_addf(out, "      --%s", o->name);
        if (o->arg)
            str_addf(out, opt_may_stand_alone(o) ? "[=%s]" : "=%s", o->arg);
        str_pad(out, column);
        opt_describe(o, out);
        str_add_char(out, '\n');
    }
}

void opt_man(const struct opt *table, struct str *out)
{
    for (const struct opt *o = table; o->kind != OPT_END; o++) {
        str_add(out, ".TP\n");
        if (o->letter)
            str_addf(out, "\\fB\\-%c\\fR, ", o->letter);
        str_add(out, "\\fB\\-\\-");
        add_roff(out, o->name);
        str_add(out, "\\fR");
        if (o->arg) {
            str_add(out, opt_may_stand_alone(o) ? "[=\\fI" : "=\\fI");
            add_roff(out, o->arg);
            str_add(out, opt_may_stand_alone(o) ? "\\fR]" : "\\fR");
        }
        str_add_char(out, '\n');
        add_roff(out, o->help);
        add_limits(out, o);
        add_choices(out, o, add_roff);
        str_add_char(out, '\n');
    }
}

void opt_words(const struct opt *table, struct str *out)
{
    for (const struct opt *o = table; o->kind != OPT_END; o++) {
        str_addf(out, "%s--%s", o == table ? "" : " ", o->name);
        if (o->letter)
            str_addf(out, " -%c", o->letter);
    }
}
