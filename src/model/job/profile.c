#include "model/job/profile.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/ini.h"
#include "base/opt.h"
#include "base/parse.h"

void profile_done(struct profile *p)
{
    arena_done(&p->arena);
    *p = (struct profile){ .count = 0 };
}

/* Texts end up in one line of a file, in shells and environments. */
static bool is_plain(const char *text)
{
    for (; text && *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

/* A copy, of PROFILE_TEXT_MAX letters at most; NULL stays NULL. */
static int copy(struct arena *a, const char **to, const char *text)
{
    *to = text ? arena_strndup(a, text, strnlen(text, PROFILE_TEXT_MAX)) : NULL;
    return text && !*to ? -ENOMEM : 0;
}

int profile_init(struct profile *ret, const char *name, const char *key, const char *machine,
                 const char *versions)
{
    struct profile p = { .count = 0 };

    if (copy(&p.arena, &p.name, name) < 0 || copy(&p.arena, &p.key, key) < 0 ||
        copy(&p.arena, &p.machine, machine) < 0 || copy(&p.arena, &p.versions, versions) < 0) {
        profile_done(&p);
        return -ENOMEM;
    }
    *ret = p;
    return 0;
}

static struct profile_setting *find(const struct profile *p, const char *knob)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->settings[i].knob, knob))
            return &p->settings[i];
    return NULL;
}

static struct profile_setting *find_memo(const struct profile *p, enum profile_kind kind,
                                         const char *knob)
{
    for (size_t i = 0; i < p->n_memos; i++)
        if (p->memos[i].kind == kind && !strcmp(p->memos[i].knob, knob))
            return &p->memos[i];
    return NULL;
}

const struct profile_setting *profile_memo(const struct profile *p, enum profile_kind kind,
                                           const char *knob)
{
    return find_memo(p, kind, knob);
}

static struct profile_setting *new_setting(struct profile *p, enum profile_kind kind)
{
    return kind == PROFILE_KEPT ? ARENA_PUSH(&p->arena, &p->settings, &p->count)
                                : ARENA_PUSH(&p->arena, &p->memos, &p->n_memos);
}

static int add(struct profile *p, const struct profile_setting *s, struct profile_setting *to,
               size_t there, struct err *e)
{
    struct profile_setting new = *s;

    if (!is_plain(s->knob) || !is_plain(s->value) || !is_plain(s->before) || !is_plain(s->date))
        return err_set(e, -EINVAL, "a setting of a profile is printable ASCII");
    if (!*s->value || strlen(s->value) >= KNOB_VALUE_MAX || strlen(s->knob) >= KNOB_NAME_MAX)
        return err_set(e, -EINVAL, "a setting has a value of 1 to %d letters", KNOB_VALUE_MAX - 1);
    if (!to && there == PROFILE_MAX)
        return err_set(e, -EINVAL, "there are more than %d settings", PROFILE_MAX);
    if (copy(&p->arena, &new.knob, s->knob) < 0 || copy(&p->arena, &new.value, s->value) < 0 ||
        copy(&p->arena, &new.before, s->before) < 0 || copy(&p->arena, &new.date, s->date) < 0 ||
        copy(&p->arena, &new.why, is_plain(s->why) ? s->why : NULL) < 0)
        return err_nomem(e);
    to = to ? to : new_setting(p, s->kind);
    if (!to)
        return err_nomem(e);
    *to = new;
    return 0;
}

int profile_set(struct profile *p, const struct profile_setting *s, struct err *e)
{
    struct profile_setting kept = *s;

    kept.kind = PROFILE_KEPT;
    return add(p, &kept, find(p, s->knob), p->count, e);
}

int profile_remember(struct profile *p, const struct profile_setting *s, struct err *e)
{
    return add(p, s, find_memo(p, s->kind, s->knob), p->n_memos, e);
}

/* ---- reading ---- */

struct reader {
    struct profile profile;
    struct profile_setting *now; /* NULL: in [profile], or before it */
    bool begun;
    uint64_t has; /* keys of this section: a bit each */
};

enum kind { TEXT, NUMBER, COUNT };

struct key {
    const char *name;
    size_t offset;
    enum kind kind;
};

static const struct key head_keys[] = {
    { "name", offsetof(struct profile, name), TEXT },
    { "key", offsetof(struct profile, key), TEXT },
    { "machine", offsetof(struct profile, machine), TEXT },
    { "versions", offsetof(struct profile, versions), TEXT },
};

static const struct key setting_keys[] = {
    { "value", offsetof(struct profile_setting, value), TEXT },
    { "before", offsetof(struct profile_setting, before), TEXT },
    { "gain", offsetof(struct profile_setting, gain), NUMBER },
    { "low", offsetof(struct profile_setting, low), NUMBER },
    { "high", offsetof(struct profile_setting, high), NUMBER },
    { "steps", offsetof(struct profile_setting, steps), COUNT },
    { "date", offsetof(struct profile_setting, date), TEXT },
    { "why", offsetof(struct profile_setting, why), TEXT },
};

static const char *key_at(const void *ctx, size_t i)
{
    const struct key *keys = ctx;

    return keys[i].name;
}

static int bad(const struct ini_entry *at, struct err *e, const char *what)
{
    return err_set(e, -EINVAL, "%s:%d: %s", at->file, at->line, what);
}

static int set_text(struct reader *r, const char **to, const struct ini_entry *at, struct err *e)
{
    if (!is_plain(at->value))
        return bad(at, e, "a profile is printable ASCII");
    if (strlen(at->value) > PROFILE_TEXT_MAX)
        return bad(at, e, "a text of a profile has 1000 letters at most");
    if (r->now && to == &r->now->value && (!*at->value || strlen(at->value) >= KNOB_VALUE_MAX))
        return bad(at, e, "a value has 1 to 63 letters");
    return copy(&r->profile.arena, to, at->value) < 0 ? err_nomem(e) : 0;
}

static int set_key(struct reader *r, const struct key *keys, size_t n, void *base,
                   const struct ini_entry *at, struct err *e)
{
    const char *near;
    size_t i = 0;
    char *to;

    while (i < n && strcmp(keys[i].name, at->key) != 0)
        i++;
    if (i == n) {
        near = opt_nearest(at->key, n, key_at, keys);
        return err_set(e, -EINVAL, "%s:%d: unknown key '%s'%s%s%s", at->file, at->line, at->key,
                       near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    }
    if (r->has & (1U << i))
        return err_set(e, -EINVAL, "%s:%d: '%s' stands twice in [%s]", at->file, at->line, at->key,
                       at->section);
    r->has |= 1U << i;
    to = (char *)base + keys[i].offset;
    if (keys[i].kind == TEXT)
        return set_text(r, (const char **)(void *)to, at, e);
    if (keys[i].kind == NUMBER && parse_double(at->value, (double *)(void *)to) < 0)
        return err_set(e, -EINVAL, "%s:%d: '%s' is a number", at->file, at->line, at->key);
    if (keys[i].kind == COUNT && parse_u64(at->value, (uint64_t *)(void *)to) < 0)
        return err_set(e, -EINVAL, "%s:%d: '%s' is a whole number", at->file, at->line, at->key);
    return 0;
}

static int finish(const struct reader *r, const char *file, struct err *e)
{
    if (!r->now || r->now->value)
        return 0;
    return err_set(e, -EINVAL, "%s:%d: [%s] has no 'value'", file, r->now->line, r->now->knob);
}

static const char *const kinds[] = {
    [PROFILE_KEPT] = "",
    [PROFILE_CANDIDATE] = "candidate ",
    [PROFILE_REFUSED] = "refused ",
};

/* The knob that a section is of, and what it says of it. */
static const char *knob_of(const char *section, enum profile_kind *kind)
{
    for (*kind = PROFILE_REFUSED; *kind != PROFILE_KEPT; (*kind)--)
        if (!strncmp(section, kinds[*kind], strlen(kinds[*kind])))
            break;
    return section + strlen(kinds[*kind]);
}

static int start_section(struct reader *r, const struct ini_entry *at, struct err *e)
{
    struct profile *p = &r->profile;
    enum profile_kind kind;
    const char *knob = knob_of(at->section, &kind);
    int rc = finish(r, at->file, e);

    if (rc < 0)
        return rc;
    r->has = 0;
    if (!r->begun && strcmp(at->section, "profile") != 0)
        return bad(at, e, "a profile begins with [profile]");
    if (!r->begun) {
        r->begun = true;
        return 0;
    }
    if (!*knob || strlen(knob) >= KNOB_NAME_MAX || !is_plain(knob) || !strcmp(knob, "profile"))
        return bad(at, e, "a section behind [profile] has the name of a knob");
    if (kind == PROFILE_KEPT ? find(p, knob) : find_memo(p, kind, knob))
        return err_set(e, -EINVAL, "%s:%d: [%s] stands twice", at->file, at->line, at->section);
    if ((kind == PROFILE_KEPT ? p->count : p->n_memos) == PROFILE_MAX)
        return bad(at, e, "there are more than 64 settings");
    r->now = new_setting(p, kind);
    if (!r->now)
        return err_nomem(e);
    *r->now = (struct profile_setting){
        .gain = (double)NAN, .low = (double)NAN, .high = (double)NAN, .line = at->line, .kind = kind
    };
    r->now->knob = arena_strdup(&p->arena, knob);
    return r->now->knob ? 0 : err_nomem(e);
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct reader *r = ctx;

    if (!at->key)
        return start_section(r, at, e);
    if (!r->begun)
        return bad(at, e, "a profile begins with [profile]");
    if (r->now)
        return set_key(r, setting_keys, ARRAY_SIZE(setting_keys), r->now, at, e);
    return set_key(r, head_keys, ARRAY_SIZE(head_keys), &r->profile, at, e);
}

int profile_read(struct profile *ret, const char *file, const char *text, size_t len, struct err *e)
{
    struct reader r = { .now = NULL };
    int rc = ini_parse(file, text, len, read_entry, &r, e);

    if (rc == 0)
        rc = finish(&r, file, e);
    if (rc == 0 && !r.begun)
        rc = err_set(e, -EINVAL, "%s:1: a profile begins with [profile]", file);
    if (rc < 0) {
        profile_done(&r.profile);
        return rc;
    }
    *ret = r.profile;
    ret->name = ret->name ? ret->name : "";
    ret->key = ret->key ? ret->key : "";
    ret->machine = ret->machine ? ret->machine : "";
    ret->versions = ret->versions ? ret->versions : "";
    return 0;
}

/* ---- writing ---- */

static void add_text(struct str *out, const char *key, const char *text)
{
    str_addf(out, "%s = \"", key);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_add_char(out, '\\');
        /* Nothing else can come from profile_read() or profile_set(). */
        str_add_char(out, (char)(*text >= ' ' && *text <= '~' ? *text : '?'));
    }
    str_add(out, "\"\n");
}

static void add_number(struct str *out, const char *key, double value)
{
    if (isfinite(value))
        str_addf(out, "%s = %.6g\n", key, value);
}

static void write_setting(const struct profile_setting *s, struct str *out)
{
    str_addf(out, "\n[%s%s]\n", kinds[s->kind], s->knob);
    add_text(out, "value", s->value);
    if (s->before)
        add_text(out, "before", s->before);
    add_number(out, "gain", s->gain);
    add_number(out, "low", s->low);
    add_number(out, "high", s->high);
    str_addf(out, "steps = %llu\n", (unsigned long long)s->steps);
    if (s->date)
        add_text(out, "date", s->date);
    if (s->why)
        add_text(out, "why", s->why);
}

void profile_write(const struct profile *p, struct str *out)
{
    str_add(out, "[profile]\n");
    add_text(out, "name", p->name);
    add_text(out, "key", p->key);
    add_text(out, "machine", p->machine);
    add_text(out, "versions", p->versions);
    for (size_t i = 0; i < p->count; i++)
        write_setting(&p->settings[i], out);
    for (size_t i = 0; i < p->n_memos; i++)
        write_setting(&p->memos[i], out);
}
