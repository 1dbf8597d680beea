#include "cmd/optimize/known.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/conf.h"
#include "cmd/common/cmd.h"
#include "optimize/progress.h"
#include "run/profile/profiles.h"

enum { SENTENCE = 16 << 10, PATH_BYTES = 4096 };

void optimize_known_done(struct optimize_known *k)
{
    profile_done(&k->profile);
    *k = (struct optimize_known){ .path = NULL };
}

/* ---- which one ---- */

static int tell_found(const struct optimize_known *k, const struct job_key *key,
                      struct job_talk *talk)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE);
    const struct profile *p = &k->profile;

    str_addf(&text, "profile %s ", p->name);
    if (k->differs) {
        str_add(&text, "was found ");
        job_key_tell(p, key, &text);
    } else {
        str_addf(&text, "is of this job%s", p->machine && *p->machine ? " on this machine" : "");
    }
    if (p->count)
        str_addf(&text, ": %s tried again first, and what does not hold here goes",
                 p->count == 1 ? "its setting is" : "its settings are");
    else
        str_add(&text, ": what looked well then is tried first, and what is refused is left");
    if (str_error(&text))
        return -ENOMEM;
    job_tell(talk, str_text(&text));
    return 0;
}

static int find(const char *which, const char *key, struct str *path, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *folder = conf_state(&a, "profiles");

    if (!folder)
        return err_nomem(e);
    return which ? profiles_find(folder, which, key, path, e) : profiles_of(folder, key, path, e);
}

int optimize_known(struct arena *a, const char *which, const struct job_key *key,
                   struct job_talk *talk, struct optimize_known *ret, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES);
    struct optimize_known k = { .path = NULL };
    struct err why = { "" };
    int rc = find(which, key->key, &path, &why);

    if (rc == 0 && path.len)
        rc = profiles_load(&k.profile, str_text(&path), &why);
    if (rc < 0 && rc != -ENOMEM && !which) {
        CLEANUP(str_done) struct str text = STR_INIT(SENTENCE);

        str_addf(&text, "%s: the job is optimized without its profile", why.text);
        job_tell(talk, str_text(&text));
        return 0;
    }
    if (rc < 0)
        return err_set(e, rc, "%s", why.text);
    if (!path.len)
        return 0;
    k.path = arena_strdup(a, str_text(&path));
    k.differs = job_key_differs(&k.profile, key);
    *ret = k;
    return k.path && (k.profile.count + k.profile.n_memos == 0 || tell_found(&k, key, talk) == 0)
               ? 0
               : err_nomem(e);
}

/* ---- what came of it ---- */

enum fate {
    HELD,
    FELL, /* it was tried, and did not hold */
    OPEN, /* nobody knows */
};

static const struct session_entry *entry_of(const struct session *s, const char *knob,
                                            const char *value)
{
    for (unsigned i = s->n_entries; i-- > 0;)
        if ((!strcmp(s->entries[i].knob, knob) && !strcmp(s->entries[i].value, value)) ||
            (!strcmp(s->entries[i].also, knob) && !strcmp(value, "yes")))
            return &s->entries[i];
    return NULL;
}

static enum fate fate_of(const struct session_entry *entry)
{
    if (!entry || entry->outcome == SESSION_LEFT)
        return OPEN;
    /* A note says what ended the trial early; without one it has run to its end. */
    if (entry->outcome == SESSION_UNDECIDED && *entry->note)
        return OPEN;
    return entry->outcome == SESSION_ADOPTED ? HELD : FELL;
}

static bool has(const struct profile *p, const char *knob)
{
    for (size_t i = 0; i < p->count; i++)
        if (!strcmp(p->settings[i].knob, knob))
            return true;
    return false;
}

static void tell_fallen(const struct session *s, const struct session_entry *entry, bool goes,
                        struct job_talk *talk)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE);

    str_addf(&text, "%s=%s of the profile does not hold here%s: ", entry->knob, entry->value,
             goes ? " and is taken out" : "");
    if (isnan(entry->effect.gain))
        str_add(&text, *entry->note ? entry->note : "it could not be measured");
    else
        progress_effect(entry, s->plan.goal, &text);
    job_tell(talk, str_text(&text));
}

static void tell_open(const struct profile_setting *old, const struct session_entry *entry,
                      struct job_talk *talk)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE);

    str_addf(&text, "%s=%s of the profile was not tried here and is left out: ", old->knob,
             old->value);
    str_add(&text, entry && *entry->note ? entry->note
                                         : "it does not fit this job, or its turn did not come");
    job_tell(talk, str_text(&text));
}

static bool any_fell(const struct optimize_known *k, const struct session *s)
{
    for (size_t i = 0; i < k->profile.count; i++)
        if (fate_of(entry_of(s, k->profile.settings[i].knob, k->profile.settings[i].value)) == FELL)
            return true;
    return false;
}

/* What is remembered and nobody has looked at since stays. */
static int settle_memos(const struct optimize_known *k, const struct session *s, struct profile *to,
                        struct err *e)
{
    for (size_t i = 0; i < k->profile.n_memos; i++) {
        const struct profile_setting *m = &k->profile.memos[i];
        bool open = fate_of(entry_of(s, m->knob, m->value)) == OPEN;
        int rc = 0;

        if (profile_memo(to, m->kind, m->knob) || k->differs)
            continue;
        if (m->kind == PROFILE_REFUSED || (open && !has(to, m->knob)))
            rc = profile_remember(to, m, e);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int optimize_known_settle(const struct optimize_known *k, const struct session *s,
                          struct job_talk *talk, struct profile *to, bool *write, struct err *e)
{
    bool fell = any_fell(k, s);

    if (settle_memos(k, s, to, e) < 0)
        return -ENOMEM;
    /* Where nothing holds on another machine the profile is still that one's. */
    *write = to->count > 0 || (to->n_memos > 0 && !(k->differs & JOB_MACHINE)) ||
             (fell && !(k->differs & (JOB_MACHINE | JOB_COMMAND)));
    for (size_t i = 0; i < k->profile.count; i++) {
        const struct profile_setting *old = &k->profile.settings[i];
        const struct session_entry *entry = entry_of(s, old->knob, old->value);
        enum fate fate = fate_of(entry);
        int rc;

        if (fate == FELL)
            tell_fallen(s, entry, *write && !(k->differs & JOB_COMMAND), talk);
        if (fate != OPEN || has(to, old->knob))
            continue;
        if (k->differs && *write)
            tell_open(old, entry, talk);
        rc = k->differs ? 0 : profile_set(to, old, e);
        if (rc < 0)
            return rc;
    }
    if (k->path && k->profile.count && !*write)
        job_tell(talk, fell ? "nothing of the profile holds here: it stays as it is, for where it "
                              "was found"
                            : "the profile stays as it is: none of its settings was tried to the "
                              "end");
    return 0;
}
