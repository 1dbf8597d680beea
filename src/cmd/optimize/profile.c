#include "cmd/optimize/profile.h"

#include <errno.h>

#include "base/conf.h"
#include "base/file.h"
#include "run/profile/profiles.h"

enum { PROFILE_BYTES = 64 << 10, DAY = 10 /* letters of a date */ };

/* Whether the profile of before is the one to be replaced. */
static bool replaces(const struct optimize_profile_about *about)
{
    return about->known->path && !(about->known->differs & JOB_COMMAND);
}

static int fill(const struct optimize_profile_about *about, struct profile *p, struct err *e)
{
    CLEANUP(str_done) struct str date = STR_INIT(64);
    const struct job_key *k = about->key;
    const char *name = replaces(about) ? about->known->profile.name : about->run->name;
    int rc = profile_init(p, name, k->key, k->machine, k->versions);

    clock_add_iso(&date, about->wall_ns);
    if (rc < 0 || str_error(&date) || date.len < DAY)
        return err_nomem(e);
    date.data[DAY] = 0;
    return session_profile(about->session, str_text(&date), p, e);
}

static int save(const struct profile *p, const char *file, struct str *path, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str text = STR_INIT(PROFILE_BYTES);
    const char *folder = file ? NULL : conf_state(&a, "profiles");

    if (!file)
        return folder ? profiles_save(folder, p, path, e) : err_nomem(e);
    profile_write(p, &text);
    str_add(path, file);
    return str_error(&text) || str_error(path) ? err_nomem(e)
                                               : file_write(file, str_text(&text), text.len, e);
}

int optimize_profile(const struct optimize_profile_about *about, struct str *path, struct err *e)
{
    struct profile p = { .count = 0 };
    const char *file = about->file;
    bool write = false;
    int rc = fill(about, &p, e);

    if (!file && replaces(about))
        file = about->known->path;
    str_reset(path);
    if (rc == 0)
        rc = optimize_known_settle(about->known, about->session, about->talk, &p, &write, e);
    if (rc == 0 && write)
        rc = save(&p, file, path, e);
    if ((rc == -EACCES || rc == -EPERM) && !about->file && file) {
        str_reset(path); /* what is known belongs to somebody else */
        rc = save(&p, NULL, path, e);
    }
    if (!p.count)
        str_reset(path); /* with nothing in it it is nothing to run the job with */
    profile_done(&p);
    return rc;
}
