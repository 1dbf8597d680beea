/* The sentences of rules: templates with {thing} and {value:FORMAT}. */
#include <errno.h>
#include <string.h>

#include "diagnose/alerts/rules.h"
#include "model/signal/quantity.h"

static void add_number(struct str *out, double value)
{
    str_add(out, quantity_number(value, 4).text);
}

static void add_seconds(struct str *out, double value)
{
    if (value < 1e-3)
        str_addf(out, "%.3g us", value * 1e6);
    else if (value < 1)
        str_addf(out, "%.3g ms", value * 1e3);
    else
        str_addf(out, "%s s", quantity_number(value, 4).text);
}

static void add_percent(struct str *out, double value)
{
    str_addf(out, "%s %%", quantity_number(value * 100, 3).text);
}

/* A value in steps of a base, with the prefix that fits. */
static void add_scaled(struct str *out, double value, double base, const char *const *units)
{
    size_t i = 0;

    while (value >= base && units[i + 1]) {
        value /= base;
        i++;
    }
    str_addf(out, "%s %s", quantity_number(value, 4).text, units[i]);
}

static void add_bytes(struct str *out, double value)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", NULL };

    add_scaled(out, value, 1024, units);
}

static void add_hertz(struct str *out, double value)
{
    static const char *const units[] = { "Hz", "kHz", "MHz", "GHz", NULL };

    add_scaled(out, value, 1000, units);
}

static const struct rule_format formats[] = {
    { "number", "{{ $value | printf \"%.4g\" }}", add_number },
    { "seconds", "{{ $value | humanizeDuration }}", add_seconds },
    { "percent", "{{ $value | humanizePercentage }}", add_percent },
    { "bytes", "{{ $value | humanize1024 }}B", add_bytes },
    { "hertz", "{{ $value | humanize }}Hz", add_hertz },
};

static int read_placeholder(const char **at, struct rule_piece *ret)
{
    static const char thing[] = "{thing}", value[] = "{value:";
    const char *p = *at;

    ret->text = NULL;
    ret->len = 0;
    ret->format = NULL;
    if (!strncmp(p, thing, strlen(thing))) {
        *at = p + strlen(thing);
        return 1;
    }
    if (strncmp(p, value, strlen(value)) != 0)
        return -EINVAL;
    p += strlen(value);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        size_t len = strlen(formats[i].name);

        if (strncmp(p, formats[i].name, len) != 0 || p[len] != '}')
            continue;
        ret->format = &formats[i];
        *at = p + len + 1;
        return 1;
    }
    return -EINVAL;
}

int rule_next_piece(const char **at, struct rule_piece *ret)
{
    size_t len = strcspn(*at, "{}");

    if (!**at)
        return 0;
    if (len == 0)
        return read_placeholder(at, ret);
    *ret = (struct rule_piece){ .text = *at, .len = len };
    *at += len;
    return 1;
}

void rule_say(const char *template, const char *thing, double value, struct str *out)
{
    struct rule_piece piece;

    while (rule_next_piece(&template, &piece) > 0) {
        if (piece.text)
            str_add_n(out, piece.text, piece.len);
        else if (piece.format)
            piece.format->add(out, value);
        else
            str_add(out, thing);
    }
}
