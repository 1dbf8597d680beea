#include "base/opt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/opt_private.h"
#include "base/parse.h"

static const struct opt *find_name(const struct opt *table, const char *name, size_t len)
{
    for (const struct opt *o = table; o->kind != OPT_END; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
    for (const struct opt *o = table; o->kind != OPT_END; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static const char *name_at(const void *ctx, size_t i)
{
    const struct opt *table = ctx;

    return table[i].name;
}

static const char *nearest_name(const struct opt *table, const char *name, size_t len)
{
    char word[64]; /* a longer one is no slip of the finger */
    size_t n = 0;

    if (len >= sizeof(word))
        return NULL;
    memcpy(word, name, len);
    word[len] = '\0';
    while (table[n].kind != OPT_END)
        n++;
    return opt_nearest(word, n, name_at, table);
}

static int unknown_option(const struct opt *table, const char *name, size_t len, struct err *e)
{
    static const char help[] = "help"; /* every command has it, no table */
    const char *nearest = nearest_name(table, name, len);

    if (len == strlen(help) && !memcmp(name, help, len))
        return err_usage(e, "--help takes no value: write --help alone");
    if (nearest)
        return err_usage(e, "unknown option '--%.*s' (did you mean '--%s'?)", (int)len, name,
                         nearest);
    return err_usage(e, "unknown option '--%.*s' (see --help)", (int)len, name);
}

/* -json is most likely --json with a dash missing. */
static int unknown_letter(const struct opt *table, const char *letters, char letter, struct err *e)
{
    if (find_name(table, letters, strlen(letters)))
        return err_usage(e, "unknown option '-%s' (did you mean '--%s'?)", letters, letters);
    return err_usage(e, "unknown option '-%c' (see --help)", letter);
}

/* Whether a number keeps to the limits of its option. */
static bool is_within(const struct opt *o, int64_t value)
{
    return !opt_has_limits(o) || (value >= o->least && (value <= o->most || o->most == 0));
}

static int missing_value(const struct opt *o, struct err *e)
{
    const int64_t usual = o->kind == OPT_DURATION ? 10000000000 : 8;
    const struct opt_limit number = opt_limit(o, is_within(o, usual) ? usual : o->least);
    const char *example = o->arg;

    if (o->kind == OPT_UINT || o->kind == OPT_INT || o->kind == OPT_DURATION)
        example = number.text;
    else if (o->kind == OPT_CHOICE)
        example = o->choices[0];
    return err_usage(e, "--%s needs a value, such as --%s=%s", o->name, o->name, example);
}

static void *value_at(const struct opt *o, void *values)
{
    return (char *)values + o->offset;
}

static int parse_flag(const char *text, bool *ret)
{
    static const struct {
        const char *text;
        bool value;
    } words[] = {
        { "yes", true }, { "true", true },   { "on", true },   { "1", true },
        { "no", false }, { "false", false }, { "off", false }, { "0", false },
    };

    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        if (strcmp(text, words[i].text) == 0) {
            *ret = words[i].value;
            return 0;
        }
    }
    return -EINVAL;
}

static const char to_stdout[] = "-";

/* A file's name; yes and no as for a flag, which brim.conf may say. */
static int parse_output(const char *text, const char **ret)
{
    bool wanted = true;

    if (!*text)
        return -EINVAL;
    *ret = parse_flag(text, &wanted) < 0 ? text : wanted ? to_stdout : NULL;
    return 0;
}

static int parse_choice(const struct opt *o, const char *text, const char **ret)
{
    for (size_t i = 0; o->choices[i]; i++) {
        if (strcmp(text, o->choices[i]) == 0) {
            *ret = o->choices[i];
            return 0;
        }
    }
    return -EINVAL;
}

static int not_a_choice(const struct opt *o, const char *dashes, const char *text, struct err *e)
{
    CLEANUP(str_done) struct str choices = STR_INIT(sizeof(e->text));

    for (size_t i = 0; o->choices[i]; i++)
        str_addf(&choices, "%s%s", i > 0 ? ", " : "", o->choices[i]);
    return err_usage(e, "%s%s: '%s' is not one of %s", dashes, o->name, text,
                     str_error(&choices) ? "its choices (see --help)" : str_text(&choices));
}

static int add_to_list(struct opt_list *list, const char *text)
{
    if (list->n == OPT_LIST_MAX)
        return -E2BIG;
    list->items[list->n++] = text;
    return 0;
}

/* "--size must be from 16 to 64 MiB, not 'x'". */
static int outside(const struct opt *o, const char *text, const char *dashes, struct err *e)
{
    const char *blank = o->unit ? " " : "", *unit = o->unit ? o->unit : "";

    if (o->most == 0)
        return err_usage(e, "%s%s must be at least %s%s%s, not '%s'", dashes, o->name,
                         opt_limit(o, o->least).text, blank, unit, text);
    return err_usage(e, "%s%s must be from %s to %s%s%s, not '%s'", dashes, o->name,
                     opt_limit(o, o->least).text, opt_limit(o, o->most).text, blank, unit, text);
}

/* -ERANGE also where it does not keep to the limits. */
static int parse_uint(const struct opt *o, const char *text, uint64_t *ret)
{
    uint64_t value = 0;
    int rc = parse_u64(text, &value);

    if (rc == 0 && !is_within(o, (int64_t)MIN(value, (uint64_t)INT64_MAX)))
        rc = -ERANGE;
    if (rc == 0)
        *ret = value;
    return rc;
}

/* The same of OPT_INT and OPT_DURATION. */
static int parse_int(const struct opt *o, const char *text, int64_t *ret)
{
    int64_t value = 0;
    int rc = o->kind == OPT_INT ? parse_i64(text, &value) : parse_duration_ns(text, &value);

    if (rc == 0 && !is_within(o, value))
        rc = -ERANGE;
    if (rc == 0)
        *ret = value;
    return rc;
}

static int is_empty(const struct opt *o, const char *dashes, struct err *e)
{
    return err_usage(e, "%s%s needs a value, such as %s%s=%s; an empty one was given", dashes,
                     o->name, dashes, o->name, o->arg);
}

/* Set the value of o; dashes is how a message writes its name. */
static int store(const struct opt *o, void *values, const char *text, const char *dashes,
                 struct err *e)
{
    void *at = value_at(o, values);
    const char *wanted = "";
    int rc = 0;

    if ((o->kind == OPT_STRING || o->kind == OPT_LIST || o->kind == OPT_MAYBE) && !*text)
        return is_empty(o, dashes, e);
    switch (o->kind) {
    case OPT_FLAG:
        wanted = "yes or no";
        rc = parse_flag(text, at);
        break;
    case OPT_STRING:
    case OPT_MAYBE:
        *(const char **)at = text;
        break;
    case OPT_UINT:
        wanted = "a whole number, such as 8";
        rc = parse_uint(o, text, at);
        break;
    case OPT_INT:
        wanted = "a whole number, such as -5";
        rc = parse_int(o, text, at);
        break;
    case OPT_DURATION:
        wanted = "a duration, such as 10s";
        rc = parse_int(o, text, at);
        break;
    case OPT_OUTPUT:
        wanted = "a file's name";
        rc = parse_output(text, at);
        break;
    case OPT_CHOICE:
        if (parse_choice(o, text, at) < 0)
            return not_a_choice(o, dashes, text, e);
        break;
    case OPT_LIST:
        rc = add_to_list(at, text);
        break;
    case OPT_END:
        break;
    }
    if (rc < 0 && opt_has_limits(o))
        return outside(o, text, dashes, e);
    if (rc == -E2BIG)
        return err_usage(e, "%s%s is given more than %d times", dashes, o->name, OPT_LIST_MAX);
    if (rc == -ERANGE)
        return err_usage(e, "%s%s: '%s' is too large", dashes, o->name, text);
    if (rc < 0)
        return err_usage(e, "%s%s: '%s' is not %s", dashes, o->name, text, wanted);
    return 0;
}

/* Whether an option may stand without a value. */
static bool is_flag(const struct opt *o)
{
    return o->kind == OPT_FLAG || opt_may_stand_alone(o);
}

static void set_flag(const struct opt *o, void *values)
{
    if (o->kind == OPT_OUTPUT)
        *(const char **)value_at(o, values) = to_stdout;
    else if (o->kind == OPT_MAYBE)
        *(const char **)value_at(o, values) = "";
    else
        *(bool *)value_at(o, values) = true;
}

/* An option with a value: in its own word, or the next one (NULL when there is none). Returns how
 * many words were used. */
static int store_value(const struct opt *o, void *values, const char *own, const char *next,
                       struct err *e)
{
    int rc;

    if (!own && !next)
        return missing_value(o, e);
    rc = store(o, values, own ? own : next, "--", e);
    if (rc < 0)
        return rc;
    return own ? 1 : 2;
}

/* --name, --name=value, --name value; the three parse functions return how many words they used. */
static int parse_long(const struct opt *table, void *values, const char *word, const char *next,
                      struct err *e)
{
    size_t len = strcspn(word, "=");
    const char *own = word[len] ? word + len + 1 : NULL;
    const struct opt *o = find_name(table, word, len);

    if (!o)
        return unknown_option(table, word, len, e);
    if (!is_flag(o) || (own && opt_may_stand_alone(o)))
        return store_value(o, values, own, next, e);
    if (own)
        return err_usage(e, "--%s takes no value: write --%s alone", o->name, o->name);
    set_flag(o, values);
    return 1;
}

/* -a, -ab (two flags), -nvalue, -n value */
static int parse_letters(const struct opt *table, void *values, const char *letters,
                         const char *next, struct err *e)
{
    for (const char *letter = letters; *letter; letter++) {
        const struct opt *o = find_letter(table, *letter);

        if (!o)
            return unknown_letter(table, letters, *letter, e);
        if (!is_flag(o))
            return store_value(o, values, letter[1] ? letter + 1 : NULL, next, e);
        set_flag(o, values);
    }
    return 1;
}

static int parse_word(const struct opt *table, void *values, char **words, struct err *e)
{
    const char *word = words[0];

    if (word[1] == '-')
        return parse_long(table, values, word + 2, words[1], e);
    return parse_letters(table, values, word + 1, words[1], e);
}

/* Move n words from 'from' down to 'to'; those between move up and stay in order. */
static void move_down(char **argv, int to, int from, int n)
{
    for (int i = 0; i < n; i++) {
        char *word = argv[from + i];

        memmove(&argv[to + i + 1], &argv[to + i], (size_t)(from - to) * sizeof(*argv));
        argv[to + i] = word;
    }
}

int opt_parse_front(int argc, char **argv, const struct opt *table, void *values, struct err *e)
{
    int i = 1;

    while (i < argc && argv[i][0] == '-' && argv[i][1]) {
        int n = 1;

        if (!strcmp(argv[i], "--"))
            return i + 1;
        n = parse_word(table, values, &argv[i], e);
        if (n < 0)
            return n;
        i += n;
    }
    return i;
}

/* "file", "-", and "-5" where no option has a digit for a letter. */
static bool is_operand(const struct opt *table, const char *word)
{
    return word[0] != '-' || !word[1] ||
           (word[1] >= '0' && word[1] <= '9' && !find_letter(table, word[1]));
}

int opt_parse(int argc, char **argv, const struct opt *table, void *values, struct err *e)
{
    int first = 1; /* operand: those met so far are argv[first] to argv[i - 1] */
    int i = 1;

    while (i < argc) {
        bool is_end = strcmp(argv[i], "--") == 0;
        int n = 1;

        if (is_operand(table, argv[i])) {
            i++;
            continue;
        }
        if (!is_end)
            n = parse_word(table, values, &argv[i], e);
        if (n < 0)
            return n;
        move_down(argv, first, i, n);
        first += n;
        i += n;
        if (is_end)
            break;
    }
    return first;
}

/* The option of a word that opt_parse() took; of several letters the first that 'part' lacks.
 * *used: how many words it has with its value. */
static const struct opt *option_at(const struct opt *table, const struct opt *part,
                                   const char *word, int *used)
{
    const struct opt *o = NULL;

    *used = 1;
    if (word[1] == '-') {
        o = find_name(table, word + 2, strcspn(word + 2, "="));
        *used += o && !is_flag(o) && !strchr(word, '=');
        return o;
    }
    for (const char *letter = word + 1; *letter; letter++) {
        o = find_letter(table, *letter);
        *used += o && !is_flag(o) && !letter[1];
        if (!o || !is_flag(o) || !find_name(part, o->name, strlen(o->name)))
            break;
    }
    return o;
}

const struct opt *opt_beyond(const struct opt *table, const struct opt *part, int n, char **argv)
{
    int used;

    for (int i = 1; i < n && strcmp(argv[i], "--") != 0; i += used) {
        const struct opt *o = option_at(table, part, argv[i], &used);

        if (o && !find_name(part, o->name, strlen(o->name)))
            return o;
    }
    return NULL;
}

int opt_set(const struct opt *table, void *values, const char *name, const char *text,
            struct err *e)
{
    size_t len = strlen(name);
    const struct opt *o = find_name(table, name, len);
    const char *nearest;

    if (o)
        return store(o, values, text, "", e);
    nearest = nearest_name(table, name, len);
    if (nearest)
        return err_usage(e, "unknown key '%s' (did you mean '%s'?)", name, nearest);
    return err_usage(e, "unknown key '%s' (keys are the long options of --help)", name);
}
