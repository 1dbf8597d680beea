#include "cmd/run/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "cmd/common/job_identity.h"
#include "run/job/binding.h"
#include "run/profile/profiles.h"

enum { TEXT_MAX = 64 << 10, SENTENCE = 16 << 10, PATH_BYTES = 4096 };

/* One sentence on what differs, what follows from it, and what to do. */
static int tell_differs(const struct run_profile_about *about, const struct profile *p,
                        const struct job_key *now, unsigned differs)
{
    CLEANUP(str_done) struct str text = STR_INIT(SENTENCE);

    str_addf(&text, "profile %s was found ", p->name);
    job_key_tell(p, now, &text);
    if (about->anyway)
        str_add(&text, ": it is applied anyway");
    else
        str_addf(&text,
                 ": %s; 'brim optimize --profile %s -- COMMAND' tries it here and keeps what holds "
                 "(--profile-anyway applies it untried)",
                 differs & JOB_MACHINE ? "nothing of it is applied"
                                       : "what may change numbers is left",
                 about->which);
    if (str_error(&text))
        return -ENOMEM;
    about->say(about->arg, str_text(&text));
    return 0;
}

static int add_note(struct arena *a, struct run_profile *to, const char *name, struct str *text)
{
    struct run_note *note = &to->notes[to->n_notes];

    if (!text->len)
        return 0;
    note->name = name;
    note->value = str_error(text) ? NULL : arena_strdup(a, str_text(text));
    to->n_notes++;
    str_reset(text);
    return note->value ? 0 : -ENOMEM;
}

static int add_notes(struct arena *a, const struct profile *p, const char *path,
                     const struct profile_settings *io, bool applied, struct run_profile *ret)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    const char *file = strrchr(path, '/');
    int rc;

    str_addf(&text, "%s (%s)%s", p->name, file ? file + 1 : path, applied ? "" : ", not applied");
    rc = add_note(a, ret, "profile", &text);
    profile_settings_join(&text, io->applied, io->n_applied, ", ");
    if (rc == 0)
        rc = add_note(a, ret, "profile.applied", &text);
    profile_settings_join(&text, io->left, io->n_left, "; ");
    return rc == 0 ? add_note(a, ret, "profile.left", &text) : rc;
}

static int tell_applied(const struct run_profile_about *about, const struct profile *p,
                        const struct profile_settings *io)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);

    str_addf(&text, "profile %s: ", p->name);
    profile_settings_join(&text, io->applied, io->n_applied, ", ");
    if (!io->n_applied)
        str_add(&text, "nothing is applied");
    if (str_error(&text))
        return -ENOMEM;
    about->say(about->arg, str_text(&text));
    for (size_t i = 0; i < io->n_left; i++)
        about->say(about->arg, io->left[i]);
    return 0;
}

static int apply(struct arena *a, const struct run_profile_about *about, const struct profile *p,
                 const struct profile_settings_about *how, struct profile_settings *io,
                 struct err *e)
{
    int rc = profile_settings_apply(a, p, how, io, e);

    if (rc == 0 && tell_applied(about, p, io) < 0)
        rc = err_nomem(e);
    return rc;
}

int run_profile(struct arena *a, const struct run_profile_about *about, struct profile_settings *io,
                struct run_profile *ret, struct err *e)
{
    CLEANUP(tree_closep) struct tree *tree = NULL;
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES);
    struct profile_settings_about how = { .shim = about->shim, .cpus = binding_allowed(a) };
    const char *folder = conf_state(a, "profiles");
    struct job_key now = { "", "", "" };
    unsigned differs;
    int rc = how.cpus && folder ? tree_open_dir(&tree, "/", e) : err_nomem(e);

    *ret = (struct run_profile){ .n_notes = 0 };
    if (rc == 0)
        rc = load_knobs(&knobs, about->knobs, e);
    if (rc == 0)
        rc = job_key_here(a, io->argv, io->env, &now, e);
    if (rc == 0)
        rc = profiles_find(folder, about->which, now.key, &path, e);
    if (rc == 0)
        rc = profiles_load(&p, str_text(&path), e);
    if (rc < 0)
        return rc;
    differs = job_key_differs(&p, &now);
    if (differs && tell_differs(about, &p, &now, differs) < 0)
        return err_nomem(e);
    how.tree = tree;
    how.knobs = &knobs;
    how.safe_only = differs && !about->anyway;
    how.alone = about->several && !about->anyway;
    if (about->anyway || !(differs & JOB_MACHINE))
        rc = apply(a, about, &p, &how, io, e);
    if (rc == 0 && add_notes(a, &p, str_text(&path), io, io->n_applied > 0, ret) < 0)
        rc = err_nomem(e);
    return rc;
}
