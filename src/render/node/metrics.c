#include "render/node/metrics.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"
#include "base/utf8.h"

/* Integers beyond this are no longer exact in a double. */
static const double exact = 9007199254740992.0;

/* A fraction of whole nanoseconds, or a time since 1970 of hundredths of a second, as "%.15g" would
 * write it, at a tenth of its cost; false when it is none. Its digits are 15 at most, and then they
 * are the only ones that are as near to it as those. */
static bool add_fraction(struct str *out, double value)
{
    const int decimals = value < 1e6 ? 9 : 2;
    const double scale = value < 1e6 ? 1e9 : 100;
    char digits[24], *at = digits + sizeof(digits);
    double rest;
    uint64_t left;

    if (!(value >= 1e-4 && value < 1e13))
        return false;
    left = (uint64_t)(value * scale + 0.5);
    rest = (double)left / scale - value;
    if (rest > 4e-16 * value || rest < -4e-16 * value)
        return false;
    *--at = '\n';
    for (int i = 0; i < decimals; i++, left /= 10)
        if (left % 10 || *at != '\n')
            *--at = (char)('0' + left % 10);
    if (*at != '\n')
        *--at = '.';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    str_add_n(out, at, (size_t)(digits + sizeof(digits) - at));
    return true;
}

/* Seconds and shares need fractions, counts do not: an integer is written as one, the rest with as
 * many digits as a double has for sure. */
static void add_value(struct str *out, double value)
{
    char digits[24], *at = digits + sizeof(digits);
    uint64_t left;

    if (value < 0 || value > exact || value != (double)(uint64_t)value) {
        if (!add_fraction(out, value))
            str_addf(out, "%.15g\n", value);
        return;
    }
    left = (uint64_t)value;
    *--at = '\n';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    str_add_n(out, at, (size_t)(digits + sizeof(digits) - at));
}

/* Whether a character of a label's value goes out as it is. */
static bool is_plain(uint32_t code)
{
    return code >= ' ' && code != 0x7f && code != '\\' && code != '"';
}

/* A label's value: backslash, quote and newline are escaped. Names come from the kernel and from
 * users: other control characters, and what is no UTF-8 and refused by scrapers, are none of
 * theirs. */
static void add_label(struct str *out, const char *name, const char *value)
{
    str_add(out, name);
    str_add_n(out, "=\"", 2);
    while (*value) {
        size_t plain = 0, n;
        uint32_t code = 0;

        while (value[plain]) {
            n = utf8_decode(value + plain, &code);
            if (!is_plain(code))
                break;
            plain += n;
        }
        str_add_n(out, value, plain);
        value += plain;
        if (!*value)
            break;
        if (*value == '\n')
            str_add(out, "\\n");
        else if (*value == '\\' || *value == '"')
            str_add_n(out, (char[]){ '\\', *value }, 2);
        else
            str_add_char(out, '?');
        value++;
    }
    str_add_char(out, '"');
}

static void add_facts(struct str *out, const struct signal_row *row)
{
    for (size_t i = 0; i < SIGNAL_FACTS && row->set->facts[i]; i++) {
        str_add_char(out, ',');
        add_label(out, row->set->facts[i], row->facts[i]);
    }
}

static void add_sample(struct str *out, const struct signal_row *row, const struct signal_def *d,
                       double value)
{
    bool thing = row->set->thing && row->thing[0];

    str_add(out, "brim_");
    str_add(out, row->set->name);
    str_add_char(out, '_');
    str_add(out, d->name);
    if (thing || d->label)
        str_add_char(out, '{');
    if (thing)
        add_label(out, row->set->thing, row->thing);
    if (thing && row->set->facts_on_samples)
        add_facts(out, row);
    if (thing && d->label)
        str_add_char(out, ',');
    if (d->label)
        str_add(out, d->label);
    if (thing || d->label)
        str_add_char(out, '}');
    str_add_char(out, ' ');
    add_value(out, value);
}

/* "# HELP" and "# TYPE". In OpenMetrics a counter's family is called without its _total. */
static void add_head(struct str *out, const struct signal_set *set, const struct signal_def *d,
                     enum metrics_format format)
{
    static const char suffix[] = "_total";
    size_t len = strlen(d->name), cut = 0;

    if (format == METRICS_OPENMETRICS && d->kind == SIGNAL_COUNTER && len > strlen(suffix))
        cut = strlen(suffix);
    str_add(out, "# HELP brim_");
    str_add(out, set->name);
    str_add_char(out, '_');
    str_add_n(out, d->name, len - cut);
    str_add_char(out, ' ');
    str_add(out, d->help);
    str_add(out, "\n# TYPE brim_");
    str_add(out, set->name);
    str_add_char(out, '_');
    str_add_n(out, d->name, len - cut);
    str_add(out, d->kind == SIGNAL_COUNTER ? " counter\n" : " gauge\n");
}

/* All samples of the family that starts at definition i: those of the same name stand together.
 * Rows of other sets may be among the n. */
static void add_family(struct str *out, const struct signal_row *rows, size_t n, size_t i,
                       enum metrics_format format)
{
    const struct signal_set *set = rows->set;
    const char *name = set->defs[i].name;
    bool headed = false;

    for (size_t r = 0; r < n; r++) {
        const struct signal_row *row = &rows[r];

        if (row->set != set)
            continue;
        for (size_t k = i; k < set->n_defs && !strcmp(set->defs[k].name, name); k++) {
            if (isnan(row->values[k]))
                continue;
            if (!headed)
                add_head(out, set, &set->defs[i], format);
            headed = true;
            add_sample(out, row, &set->defs[k], row->values[k]);
        }
    }
}

/* What is known of each thing, as labels of brim_SET_info. */
static void add_info(struct str *out, const struct signal_row *rows, size_t n)
{
    const struct signal_set *set = rows->set;

    str_addf(out, "# HELP brim_%s_info what is known of each %s\n# TYPE brim_%s_info gauge\n",
             set->name, set->thing, set->name);
    for (size_t r = 0; r < n; r++) {
        str_addf(out, "brim_%s_info{", set->name);
        add_label(out, set->thing, rows[r].thing);
        add_facts(out, &rows[r]);
        str_add(out, "} 1\n");
    }
}

/* How many rows from row r on are of one set. */
static size_t same_set(const struct tick *t, size_t r)
{
    size_t n = 1;

    while (r + n < t->n_rows && t->rows[r + n].set == t->rows[r].set)
        n++;
    return n;
}

void metrics_render(const struct tick *t, enum metrics_format format, struct str *out)
{
    for (size_t r = 0, n; r < t->n_rows; r += n) {
        const struct signal_set *set = t->rows[r].set;

        n = same_set(t, r);
        if (set->facts && !set->facts_on_samples)
            add_info(out, &t->rows[r], n);
        for (size_t i = 0; i < set->n_defs; i++)
            if (!i || strcmp(set->defs[i].name, set->defs[i - 1].name) != 0)
                add_family(out, &t->rows[r], n, i, format);
    }
    if (format == METRICS_OPENMETRICS)
        str_add(out, "# EOF\n");
}

void metrics_render_json(const struct tick *t, struct str *out)
{
    CLEANUP(str_done) struct str when = STR_INIT(64);
    struct json j = JSON_INIT(out);

    clock_add_iso(&when, t->wall_ns);
    str_fail(out, str_error(&when));
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.sample.v1");
    json_string(&j, "time", str_text(&when));
    json_array(&j, "rows");
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct signal_row *row = &t->rows[r];

        json_object(&j, NULL);
        json_string(&j, "set", row->set->name);
        if (row->set->thing)
            json_string(&j, row->set->thing, row->thing);
        for (size_t i = 0; row->set->facts && i < SIGNAL_FACTS && row->set->facts[i]; i++)
            json_string(&j, row->set->facts[i], row->facts[i]);
        for (size_t i = 0; i < row->set->n_defs; i++) {
            const struct signal_def *d = &row->set->defs[i];
            char key[96];

            snprintf(key, sizeof(key), "%s%s%s", d->name, d->label ? ":" : "",
                     d->label ? d->label : "");
            if (!isnan(row->values[i]))
                json_number(&j, key, row->values[i], 15);
        }
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}
