#include "cmd/optimize/once.h"

#include <errno.h>

#include "base/conf.h"
#include "cmd/common/job_identity.h"
#include "run/profile/profiles.h"

enum { PATH_BYTES = 4096 };

/* Whether a rank may have all of it while others do not. */
static bool is_each_for_itself(const struct profile *p, const struct knobs *knobs)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct knob *k = knobs_find(knobs, p->settings[i].knob);

        if (k && k->common)
            return false;
    }
    return true;
}

int optimize_once(struct arena *a, const struct optimize_opts *o, char *const *argv, bool several,
                  const char **ret, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_BYTES);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    CLEANUP(knobs_done) struct knobs knobs = { .count = 0 };
    const char *folder = conf_state(a, "profiles");
    struct job_key now = { "", "", "" };
    int rc = folder ? job_key_here(a, argv, conf_environment(), &now, e) : err_nomem(e);

    *ret = NULL;
    if (rc == 0)
        rc = load_knobs(&knobs, o->knobs, e);
    if (rc < 0)
        return rc;
    rc = o->profile ? profiles_find(folder, o->profile, now.key, &path, NULL)
                    : profiles_of(folder, now.key, &path, NULL);
    if (rc == 0 && path.len)
        rc = profiles_load(&p, str_text(&path), NULL);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0 || !p.count || job_key_differs(&p, &now) ||
        (several && !is_each_for_itself(&p, &knobs)))
        return 0;
    *ret = arena_strdup(a, str_text(&path));
    return *ret ? 0 : err_nomem(e);
}
