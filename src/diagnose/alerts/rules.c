#include "diagnose/alerts/rules.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"

enum { NAME_MAX_BYTES = 40 };

/* Where the texts go; the last four are read by set_key() itself. */
static const struct key {
    const char *name;
    size_t offset;
} keys[] = {
    { "set", offsetof(struct rule, set) },
    { "by", offsetof(struct rule, by) },
    { "when", offsetof(struct rule, text) },
    { "event", offsetof(struct rule, event) },
    { "say", offsetof(struct rule, say) },
    { "why", offsetof(struct rule, why) },
    { "action", offsetof(struct rule, action) },
    { "source", offsetof(struct rule, source) },
    { "for", 0 },
    { "keep", 0 },
    { "severity", 0 },
    { "drain", 0 },
};

struct loader {
    struct rules rules;
    int when_line; /* of the rule that is being read */
    bool has_severity, has_for;
};

static const char *key_at(const void *ctx, size_t i)
{
    (void)ctx;
    return keys[i].name;
}

static int bad(const struct ini_entry *at, struct err *e, const char *what)
{
    return err_set(e, -EINVAL, "%s:%d: %s", at->file, at->line, what);
}

static int set_severity(struct rule *r, const struct ini_entry *at, struct err *e)
{
    for (enum severity s = SEVERITY_NOTE; s <= SEVERITY_CRITICAL; s++)
        if (!strcmp(severity_text(s), at->value)) {
            r->severity = s;
            return 0;
        }
    return bad(at, e, "a severity is note, warning or critical");
}

static int set_drain(struct rule *r, const struct ini_entry *at, struct err *e)
{
    if (strcmp(at->value, "yes") != 0 && strcmp(at->value, "no") != 0)
        return bad(at, e, "drain is yes or no");
    r->drain = *at->value == 'y';
    return 0;
}

static int set_time(int64_t *ret, const struct ini_entry *at, struct err *e)
{
    int64_t ns;

    if (parse_duration_ns(at->value, &ns) < 0 || ns < 0 || ns > 86400 * NS_PER_S)
        return bad(at, e, "this is no time of a day at most, like 30s or 10m");
    *ret = ns;
    return 0;
}

static int set_key(struct loader *l, struct rule *r, const struct ini_entry *at, struct err *e)
{
    const char *near;

    if (!strcmp(at->key, "severity")) {
        l->has_severity = true;
        return set_severity(r, at, e);
    }
    if (!strcmp(at->key, "drain"))
        return set_drain(r, at, e);
    if (!strcmp(at->key, "for") || !strcmp(at->key, "keep")) {
        l->has_for = l->has_for || *at->key == 'f';
        return set_time(*at->key == 'f' ? &r->for_ns : &r->keep_ns, at, e);
    }
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        const char **to = (const char **)(void *)((char *)r + keys[i].offset);

        if (strcmp(keys[i].name, at->key) != 0)
            continue;
        if (*to)
            return err_set(e, -EINVAL, "%s:%d: '%s' stands twice in [%s]", at->file, at->line,
                           at->key, r->name);
        if (!*at->value)
            return err_set(e, -EINVAL, "%s:%d: '%s' is empty", at->file, at->line, at->key);
        if (!strcmp(at->key, "when"))
            l->when_line = at->line;
        *to = arena_strdup(&l->rules.arena, at->value);
        return *to ? 0 : err_nomem(e);
    }
    near = opt_nearest(at->key, ARRAY_SIZE(keys), key_at, NULL);
    return err_set(e, -EINVAL, "%s:%d: unknown key '%s'%s%s%s", at->file, at->line, at->key,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

/* The end of a section that is for events. */
static const char *check_event(const struct loader *l, const struct rule *r)
{
    if (r->set || r->by || r->text || r->say || l->has_for || l->has_severity || r->action)
        return "a rule with 'event' takes only 'keep', 'drain', 'why' and 'source'";
    return r->keep_ns > 0 ? NULL : "a rule with 'event' needs 'keep'";
}

static const char *check_condition(const struct loader *l, const struct rule *r)
{
    const char *at = r->say;
    struct rule_piece piece;
    int rc;

    if (!r->set || !r->text || !r->say || !l->has_severity)
        return "a rule needs 'set', 'when', 'say' and 'severity', or 'event'";
    if (r->keep_ns)
        return "'keep' is for rules with 'event'";
    while ((rc = rule_next_piece(&at, &piece)) > 0)
        if (!piece.text && !piece.format && !r->by)
            return "'say' has {thing}, but the rule is not 'by' one";
    return rc < 0 ? "'say' may have {thing}, {value:number}, {value:seconds}, {value:percent},"
                    " {value:bytes} and {value:hertz} in braces"
                  : NULL;
}

/* Look at the rule that was read last as a whole. */
static int finish(struct loader *l, const char *file, struct err *e)
{
    struct rule *r = l->rules.count ? &l->rules.list[l->rules.count - 1] : NULL;
    const char *wrong;
    int rc;

    if (!r)
        return 0;
    wrong = r->event ? check_event(l, r) : check_condition(l, r);
    if (wrong)
        return err_set(e, -EINVAL, "%s:%d: [%s]: %s", file, r->line, r->name, wrong);
    r->say = r->say ? r->say : "";
    r->why = r->why ? r->why : "";
    r->action = r->action ? r->action : "";
    r->source = r->source ? r->source : "";
    if (r->event)
        return 0;
    rc = expr_parse(&r->when, &l->rules.arena, r->text, r->set, r->by != NULL, e);
    return rc == -EINVAL ? err_context(e, rc, "%s:%d: ", file, l->when_line) : rc;
}

/* Names become labels of metrics and names of Prometheus rules. */
static bool is_name(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) && name[i] != '-')
            return false;
    return len < NAME_MAX_BYTES && islower((unsigned char)name[0]);
}

static int start_rule(struct loader *l, const struct ini_entry *at, struct err *e)
{
    struct rule *r;
    int rc = finish(l, at->file, e);

    if (rc < 0)
        return rc;
    if (!is_name(at->section))
        return bad(at, e, "the name of a rule has small letters, digits and '-'");
    for (size_t i = 0; i < l->rules.count; i++)
        if (!strcmp(l->rules.list[i].name, at->section))
            return err_set(e, -EINVAL, "%s:%d: there is a rule '%s' in line %d", at->file, at->line,
                           at->section, l->rules.list[i].line);
    if (l->rules.count == RULES_MAX)
        return bad(at, e, "there are more than 256 rules");
    r = ARENA_PUSH(&l->rules.arena, &l->rules.list, &l->rules.count);
    if (!r)
        return err_nomem(e);
    r->line = at->line;
    l->has_severity = l->has_for = false;
    r->name = arena_strdup(&l->rules.arena, at->section);
    return r->name ? 0 : err_nomem(e);
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct loader *l = ctx;

    if (!at->key)
        return start_rule(l, at, e);
    if (l->rules.count == 0)
        return bad(at, e, "a key stands before the first [rule]");
    return set_key(l, &l->rules.list[l->rules.count - 1], at, e);
}

int rules_load(struct rules *ret, const char *file, const char *text, size_t len, struct err *e)
{
    struct loader l = { .when_line = 0 };
    int rc = ini_parse(file, text, len, read_entry, &l, e);

    if (rc == 0)
        rc = finish(&l, file, e);
    if (rc < 0) {
        rules_done(&l.rules);
        return rc;
    }
    *ret = l.rules;
    return 0;
}

void rules_done(struct rules *r)
{
    arena_done(&r->arena);
    *r = (struct rules){ .count = 0 };
}

bool rule_takes(const struct rule *r, const char *kind)
{
    const char *at = r->event;
    size_t len = strlen(kind);

    while (at && *at) {
        size_t word = strcspn(at, " \t");

        if ((word == 1 && *at == '*') || (word == len && !strncmp(at, kind, len)))
            return true;
        at += word;
        at += strspn(at, " \t");
    }
    return false;
}
