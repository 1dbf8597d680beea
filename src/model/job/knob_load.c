/* Knobs from INI files. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"
#include "model/job/knob.h"

enum { LIST_MAX = 32 };
static const double number_max = 1e9; /* ends of ranges; exact as doubles and as "%.0f" */
static const char declares[] = "knob.";

enum key {
    WHAT,
    VALUES,
    APPLY,
    TARGET,
    EFFECT,
    RISK,
    NEEDS,
    UNDO,
    FLAG,
    ROUNDS,
    RANKS,
    RATE,
    KEYS
};
static const char *const keys[KEYS] = {
    [WHAT] = "what",     [VALUES] = "values", [APPLY] = "apply", [TARGET] = "target",
    [EFFECT] = "effect", [RISK] = "risk",     [NEEDS] = "needs", [UNDO] = "undo",
    [FLAG] = "flag",     [ROUNDS] = "rounds", [RANKS] = "ranks", [RATE] = "rate",
};

struct loader {
    struct knobs *knobs;
    struct knob *now; /* that is being read; NULL: a section for others */
    bool declared;    /* a job's file */
    bool has[KEYS];
    int lines[KEYS];
};

static int bad(const struct ini_entry *at, struct err *e, const char *what)
{
    return err_set(e, -EINVAL, "%s:%d: %s", at->file, at->line, what);
}

/* One of the words that name an enum's values. */
struct choice {
    const char *what;
    const char *(*name)(unsigned);
    unsigned count;
};

static const char *apply_at(unsigned i)
{
    return knob_apply_name((enum knob_apply)i);
}

static const char *effect_at(unsigned i)
{
    return knob_effect_name((enum knob_effect)i);
}

static const char *risk_at(unsigned i)
{
    return knob_risk_name((enum knob_risk)i);
}

static const struct choice applies = { "env, shim, flag, launcher, binding, device or script",
                                       apply_at, KNOB_SCRIPT + 1 };
static const struct choice effects = { "live, epoch or restart", effect_at, KNOB_RESTART + 1 };
static const struct choice risks = { "safe, numeric or privileged", risk_at, KNOB_PRIVILEGED + 1 };

/* The value's number; -EINVAL. */
static int choose(const struct choice *c, const struct ini_entry *at, struct err *e)
{
    for (unsigned i = 0; i < c->count; i++)
        if (!strcmp(c->name(i), at->value))
            return (int)i;
    return err_set(e, -EINVAL, "%s:%d: '%s' is %s", at->file, at->line, at->key, c->what);
}

/* ---- values ---- */

/* "0..64" or "1..64 x2". */
static int set_range(struct knob *k, const char *text, const struct ini_entry *at, struct err *e)
{
    const char *dots = strstr(text, "..");
    char low[24], high[24];
    int64_t first, last;
    size_t len;

    if (!dots || (size_t)(dots - text) >= sizeof(low))
        return bad(at, e, "a range is two whole numbers: 1..64, or 1..64 x2");
    memcpy(low, text, (size_t)(dots - text));
    low[dots - text] = '\0';
    len = strcspn(dots + 2, " \t");
    if (len >= sizeof(high))
        return bad(at, e, "a range is two whole numbers: 1..64, or 1..64 x2");
    memcpy(high, dots + 2, len);
    high[len] = '\0';
    text = dots + 2 + len;
    text += strspn(text, " \t");
    k->doubles = !strcmp(text, "x2") && k->kind == KNOB_RANGE;
    if ((*text && !k->doubles) || parse_i64(low, &first) < 0 || parse_i64(high, &last) < 0)
        return bad(at, e, "a range is two whole numbers: 1..64, or 1..64 x2");
    k->low = (double)first;
    k->high = (double)last;
    if (k->low < 0 || k->high < k->low || k->high > number_max || (k->doubles && first == 0))
        return bad(at, e, "a range goes up, from 0 at least (1 with x2), to 1000000000 at most");
    return 0;
}

/* Values end up in commands, files and environments. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~' || text[i] == ';')
            return false;
    return len > 0 && len < KNOB_VALUE_MAX;
}

static int set_list(struct loader *l, const char *text, const struct ini_entry *at, struct err *e)
{
    struct knob *k = l->now;

    for (; *text; text += *text == ',') {
        size_t len;
        const char **to;

        text += strspn(text, " \t");
        len = strcspn(text, ",");
        while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
            len--;
        if (!is_plain(text, len))
            return bad(at, e,
                       "a value is 1 to 63 printable letters but ';'; values are parted by commas");
        if (k->n_list == LIST_MAX)
            return bad(at, e, "there are more than 32 values");
        to = ARENA_PUSH(&l->knobs->arena, &k->list, &k->n_list);
        if (!to)
            return err_nomem(e);
        *to = arena_strndup(&l->knobs->arena, text, len);
        if (!*to)
            return err_nomem(e);
        text += strcspn(text, ",");
    }
    return k->n_list ? 0 : bad(at, e, "a list of values is empty");
}

static int set_values(struct loader *l, const struct ini_entry *at, struct err *e)
{
    static const char model[] = "model ";

    if (!strncmp(at->value, model, strlen(model))) {
        l->now->kind = KNOB_MODEL;
        return set_range(l->now, at->value + strlen(model), at, e);
    }
    l->now->kind = strstr(at->value, "..") ? KNOB_RANGE : KNOB_LIST;
    return l->now->kind == KNOB_RANGE ? set_range(l->now, at->value, at, e)
                                      : set_list(l, at->value, at, e);
}

/* ---- keys ---- */

static int set_text(struct loader *l, const char **to, const struct ini_entry *at, struct err *e)
{
    *to = arena_strdup(&l->knobs->arena, at->value);
    return *to ? 0 : err_nomem(e);
}

static int set_needs(struct loader *l, const struct ini_entry *at, struct err *e)
{
    int rc = set_text(l, &l->now->needs_text, at, e);

    if (rc < 0)
        return rc;
    rc = condition_parse(&l->now->needs, &l->knobs->arena, at->value, e);
    return rc == -EINVAL ? err_context(e, rc, "%s:%d: ", at->file, at->line) : rc;
}

static int set_ranks(struct knob *k, const struct ini_entry *at, struct err *e)
{
    k->common = !strcmp(at->value, "all");
    return k->common || !strcmp(at->value, "each") ? 0 : bad(at, e, "'ranks' is all or each");
}

static int set_rounds(struct knob *k, const struct ini_entry *at, struct err *e)
{
    k->rounds = !strcmp(at->value, "yes");
    return k->rounds || !strcmp(at->value, "no") ? 0 : bad(at, e, "'rounds' is yes or no");
}

/* The next word of a text; NULL behind the last. */
static const char *take_word(struct loader *l, const char **text)
{
    size_t blanks = strspn(*text, " \t"), len = strcspn(*text + blanks, " \t");
    const char *at = *text + blanks;

    *text = at + len;
    return len ? arena_strndup(&l->knobs->arena, at, len) : "";
}

/* "--lr 0.1 at 32", "--lr 0.1 at 32 root". */
static int set_rate(struct loader *l, const struct ini_entry *at, struct err *e)
{
    enum { FLAG_WORD, RATE_WORD, AT_WORD, NUMBER_WORD, ROOT_WORD, WORDS };
    const char *text = at->value, *words[WORDS] = { NULL };
    struct knob *k = l->now;

    for (size_t i = 0; i < WORDS; i++) {
        words[i] = take_word(l, &text);
        if (!words[i])
            return err_nomem(e);
    }
    k->rate_flag = words[FLAG_WORD];
    k->rate_root = !strcmp(words[ROOT_WORD], "root");
    if (parse_double(words[RATE_WORD], &k->rate) < 0 || !(k->rate > 0) ||
        parse_double(words[NUMBER_WORD], &k->rate_at) < 0 || !(k->rate_at > 0) ||
        strcmp(words[AT_WORD], "at") != 0 || (!k->rate_root && *words[ROOT_WORD]) ||
        text[strspn(text, " \t")] || *words[FLAG_WORD] != '-')
        return bad(at, e,
                   "a rate is a flag, its value, and for which value of the knob: --lr 0.1 "
                   "at 32, with 'root' behind it if it grows as the square root");
    return 0;
}

static int set_enum(struct knob *k, enum key key, const struct ini_entry *at, struct err *e)
{
    int i = choose(key == APPLY ? &applies : key == EFFECT ? &effects : &risks, at, e);

    if (i < 0)
        return i;
    if (key == APPLY)
        k->apply = (enum knob_apply)i;
    else if (key == EFFECT)
        k->effect = (enum knob_effect)i;
    else
        k->risk = (enum knob_risk)i;
    return 0;
}

static const char *key_at(const void *ctx, size_t i)
{
    (void)ctx;
    return keys[i];
}

static int unknown_key(const struct ini_entry *at, struct err *e)
{
    const char *near = opt_nearest(at->key, KEYS, key_at, NULL);

    return err_set(e, -EINVAL, "%s:%d: unknown key '%s'%s%s%s", at->file, at->line, at->key,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static int set_key(struct loader *l, const struct ini_entry *at, struct err *e)
{
    struct knob *k = l->now;
    unsigned key = 0;

    while (key < KEYS && strcmp(keys[key], at->key) != 0)
        key++;
    if (key == KEYS)
        return unknown_key(at, e);
    if (l->has[key])
        return err_set(e, -EINVAL, "%s:%d: '%s' stands twice in [%s]", at->file, at->line, at->key,
                       k->name);
    if (!*at->value)
        return err_set(e, -EINVAL, "%s:%d: '%s' is empty", at->file, at->line, at->key);
    l->has[key] = true;
    l->lines[key] = at->line;
    switch ((enum key)key) {
    case WHAT:
        return set_text(l, &k->what, at, e);
    case UNDO:
        return set_text(l, &k->undo, at, e);
    case FLAG:
        k->apply = KNOB_FLAG;
        return set_text(l, &k->target, at, e);
    case TARGET:
        return set_text(l, &k->target, at, e);
    case VALUES:
        return set_values(l, at, e);
    case RANKS:
        return set_ranks(k, at, e);
    case ROUNDS:
        return set_rounds(k, at, e);
    case NEEDS:
        return set_needs(l, at, e);
    case RATE:
        return set_rate(l, at, e);
    default:
        return set_enum(k, (enum key)key, at, e);
    }
}

/* ---- sections ---- */

/* Names of variables and flags end up in shells. */
static bool is_target(const struct knob *k)
{
    const char *more = k->apply == KNOB_ENV ? "_" : "_-.";

    for (const char *c = k->target; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(more, *c))
            return false;
    return *k->target && !(k->apply == KNOB_ENV && isdigit((unsigned char)*k->target));
}

static const char *check_whole(const struct loader *l)
{
    const struct knob *k = l->now;

    if (l->has[FLAG] && (l->has[APPLY] || l->has[TARGET]))
        return "'flag' stands for 'apply = flag' and its 'target'";
    if (!l->has[VALUES] || !k->target)
        return "a knob needs 'values', and 'flag' or 'apply' and 'target'";
    if (!l->declared &&
        (!k->what || !l->has[APPLY] || !l->has[EFFECT] || !l->has[RISK] || !k->undo))
        return "a knob needs 'what', 'values', 'apply', 'target', 'effect', 'risk' and 'undo'";
    if (!l->has[APPLY] && !l->has[FLAG])
        return "'target' needs 'apply'";
    if (k->rate_flag && (k->apply != KNOB_FLAG || k->risk != KNOB_NUMERIC))
        return "'rate' goes with 'flag', and with 'risk = numeric'";
    if (!is_target(k))
        return "a target has letters, digits, '_', '-' and '.'; that of env only letters, digits"
               " and '_'";
    return NULL;
}

/* Look at the knob that was read last as a whole. */
static int finish(struct loader *l, const char *file, struct err *e)
{
    struct knob *k = l->now;
    const char *wrong = k ? check_whole(l) : NULL;

    if (wrong)
        return err_set(e, -EINVAL, "%s:%d: [%s%s]: %s", file, k->line, l->declared ? declares : "",
                       k->name, wrong);
    if (!k)
        return 0;
    k->what = k->what ? k->what : k->name;
    k->undo = k->undo ? k->undo : "start the job without it";
    k->needs_text = k->needs_text ? k->needs_text : "";
    l->now = NULL;
    return 0;
}

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
            !strchr("-._", name[i]))
            return false;
    return len < KNOB_NAME_MAX && islower((unsigned char)name[0]);
}

static int start_knob(struct loader *l, const struct ini_entry *at, struct err *e)
{
    const char *name = at->section;
    const struct knob *there;
    int rc = finish(l, at->file, e);

    if (rc < 0)
        return rc;
    if (l->declared && strncmp(name, declares, strlen(declares)) != 0)
        return 0;
    name += l->declared ? strlen(declares) : 0;
    if (!is_name(name))
        return bad(at, e, "the name of a knob has small letters, digits, '.', '-' and '_'");
    there = knobs_find(l->knobs, name);
    if (there && there->declared == l->declared)
        return err_set(e, -EINVAL, "%s:%d: there is a knob '%s' in line %d", at->file, at->line,
                       name, there->line);
    if (there)
        return err_set(e, -EINVAL, "%s:%d: brim has a knob '%s': give yours another name", at->file,
                       at->line, name);
    if (l->knobs->count == KNOBS_MAX)
        return bad(at, e, "there are more than 128 knobs");
    l->now = ARENA_PUSH(&l->knobs->arena, &l->knobs->list, &l->knobs->count);
    if (!l->now)
        return err_nomem(e);
    memset(l->has, 0, sizeof(l->has));
    *l->now = (struct knob){ .line = at->line, .effect = KNOB_RESTART, .declared = l->declared };
    l->now->name = arena_strdup(&l->knobs->arena, name);
    return l->now->name ? 0 : err_nomem(e);
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct loader *l = ctx;

    if (!at->key)
        return start_knob(l, at, e);
    if (l->now)
        return set_key(l, at, e);
    return l->declared ? 0 : bad(at, e, "a key stands before the first [knob]");
}

int knobs_load(struct knobs *ret, const char *file, const char *text, size_t len, struct err *e)
{
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    struct loader l = { .knobs = &knobs };
    int rc = ini_parse(file, text, len, read_entry, &l, e);

    if (rc == 0)
        rc = finish(&l, file, e);
    if (rc < 0)
        return rc;
    *ret = knobs;
    knobs = (struct knobs){ .count = 0 };
    return 0;
}

int knobs_declare(struct knobs *k, const char *file, const char *text, size_t len, struct err *e)
{
    struct loader l = { .knobs = k, .declared = true };
    size_t before = k->count;
    int rc = ini_parse(file, text, len, read_entry, &l, e);

    if (rc == 0)
        rc = finish(&l, file, e);
    if (rc < 0)
        k->count = before;
    return rc;
}
