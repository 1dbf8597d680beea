/* A profile that is put to use when a job starts: what is told, what is left, and what the run
 * notes. Without this machine: what it is, and what fits it, are words here. */
#include "cmd/run/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/common/job_identity.h"
#include "run/job/binding.h"
#include "run/profile/profiles.h"
#include "tap.h"

enum { LOG = 4096 };

static struct {
    const char *key, *machine, *versions; /* of here */
    const char *applied[3], *left[3];
    bool several;
    int knobs_rc, key_rc, find_rc, load_rc, apply_rc;
} made;

static char did[LOG];

static void PRINTF(1, 2) add(const char *fmt, ...)
{
    size_t len = strlen(did);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(did + len, sizeof(did) - len, fmt, ap);
    va_end(ap);
}

const char *binding_allowed(struct arena *a)
{
    (void)a;
    return "0-7";
}

int tree_open_dir(struct tree **ret, const char *path, struct err *e)
{
    (void)e;
    *ret = (struct tree *)did;
    return *path == '/' && !path[1] ? 0 : -EINVAL;
}

void tree_close(struct tree *t)
{
    (void)t;
}

int load_knobs(struct knobs *ret, const char *file, struct err *e)
{
    ret->count = 0;
    if (file)
        add("knobs(%s) ", file);
    return made.knobs_rc < 0 ? err_set(e, made.knobs_rc, "no knobs") : 0;
}

int job_key_here(struct arena *a, char *const *argv, char *const *env, struct job_key *ret,
                 struct err *e)
{
    (void)a;
    *ret = (struct job_key){ made.key, made.machine, made.versions };
    if (strcmp(argv[0], "train") != 0 || strcmp(env[0], "A=1") != 0)
        add("another job ");
    return made.key_rc < 0 ? err_set(e, made.key_rc, "no key") : 0;
}

int profiles_find(const char *folder, const char *which, const char *key, struct str *path,
                  struct err *e)
{
    add("find(%s, %s, %s) ", folder, which, key);
    str_addf(path, "/p/%s-00ff.ini", which);
    return made.find_rc < 0 ? err_set(e, made.find_rc, "no profile") : 0;
}

int profiles_load(struct profile *ret, const char *path, struct err *e)
{
    if (strcmp(path, "/p/fast-00ff.ini") != 0)
        add("another file ");
    if (made.load_rc < 0)
        return err_set(e, made.load_rc, "damaged");
    return profile_init(ret, "fast", "00ff", "8 x T4", "torch 2.4");
}

int profile_settings_apply(struct arena *a, const struct profile *p,
                           const struct profile_settings_about *about, struct profile_settings *io,
                           struct err *e)
{
    (void)a;
    add("apply(%s on %s%s%s%s%s) ", p->name, about->cpus, about->shim ? ", shim" : "",
        about->safe_only ? ", safe" : "", about->alone ? ", alone" : "",
        about->tree && about->knobs ? "" : ", nothing known");
    io->applied = made.applied;
    io->left = made.left;
    for (io->n_applied = 0; made.applied[io->n_applied];)
        io->n_applied++;
    for (io->n_left = 0; made.left[io->n_left];)
        io->n_left++;
    return made.apply_rc < 0 ? err_set(e, made.apply_rc, "not applied") : 0;
}

void profile_settings_join(struct str *out, const char *const *texts, size_t n, const char *between)
{
    for (size_t i = 0; i < n; i++)
        str_addf(out, "%s%s", i ? between : "", texts[i]);
}

static bool differ(const char *a, const char *b)
{
    return strcmp(a, b) != 0;
}

unsigned job_key_differs(const struct profile *p, const struct job_key *now)
{
    return (differ(p->key, now->key) ? (unsigned)JOB_COMMAND : 0) |
           (differ(p->machine, now->machine) ? (unsigned)JOB_MACHINE : 0) |
           (differ(p->versions, now->versions) ? (unsigned)JOB_VERSIONS : 0);
}

void job_key_tell(const struct profile *p, const struct job_key *now, struct str *out)
{
    str_addf(out, "elsewhere (%u)", job_key_differs(p, now));
}

static void say(void *arg, const char *sentence)
{
    add("'%s' ", sentence + (arg ? 0 : 1));
}

/* What is done and told, and the notes; or the error. */
static const char *use(bool shim, bool anyway, const char *knobs)
{
    static char job[] = "train", var[] = "A=1";
    static char *argv[] = { job, NULL }, *env[] = { var, NULL };
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct run_profile_about about = { "fast", knobs, shim, anyway, made.several, say, did };
    struct profile_settings io = { .env = env, .argv = argv };
    struct run_profile ret = { .n_notes = 9 };
    struct err e = { "" };

    did[0] = '\0';
    if (run_profile(&a, &about, &io, &ret, &e) < 0) {
        add("! %s", e.text);
        return did;
    }
    for (size_t i = 0; i < ret.n_notes; i++)
        add("%s%s=%s", i ? "; " : "", ret.notes[i].name, ret.notes[i].value);
    return did;
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
    made.key = "00ff";
    made.machine = "8 x T4";
    made.versions = "torch 2.4";
    made.applied[0] = "a=1";
    made.applied[1] = "b=2";
}

#define FIND "find(/state/profiles, fast, 00ff) "
#define TRY \
    "'brim optimize --profile fast -- COMMAND' tries it here and keeps what holds " \
    "(--profile-anyway applies it untried)' "
#define NOTES "profile=fast (fast-00ff.ini); profile.applied=a=1, b=2"

static void test_here(void)
{
    usual();
    is_str(use(true, false, NULL), FIND "apply(fast on 0-7, shim) 'profile fast: a=1, b=2' " NOTES,
           "a profile is applied where it was found");
    made.applied[1] = NULL;
    is_str(use(false, false, NULL),
           FIND "apply(fast on 0-7) 'profile fast: a=1' profile=fast (fast-00ff.ini); "
                "profile.applied=a=1",
           "a profile of which one setting is applied is applied");
    usual();
    made.left[0] = "c=3 is left: x";
    made.left[1] = "d=4 is left: y";
    is_str(use(false, false, "k.ini"),
           "knobs(k.ini) " FIND "apply(fast on 0-7) 'profile fast: a=1, b=2' 'c=3 is left: x' "
           "'d=4 is left: y' " NOTES "; profile.left=c=3 is left: x; d=4 is left: y",
           "what is left is told, and noted");
    made.applied[0] = NULL;
    is_str(use(false, false, NULL),
           FIND "apply(fast on 0-7) 'profile fast: nothing is applied' 'c=3 is left: x' 'd=4 is "
                "left: y' profile=fast (fast-00ff.ini), not applied; profile.left=c=3 is left: x; "
                "d=4 is left: y",
           "a profile of which nothing is applied is told, and noted");
}

static void test_several_nodes(void)
{
    usual();
    made.several = true;
    is_str(use(true, false, NULL),
           FIND "apply(fast on 0-7, shim, alone) 'profile fast: a=1, b=2' " NOTES,
           "on several nodes a brim is alone with its profile");
    is_str(use(true, true, NULL), FIND "apply(fast on 0-7, shim) 'profile fast: a=1, b=2' " NOTES,
           "on several nodes all is applied where the user says so");
}

static void test_elsewhere(void)
{
    usual();
    made.machine = "8 x A100";
    is_str(use(true, false, NULL),
           FIND "'profile fast was found elsewhere (2): nothing of it is applied; " TRY
                "profile=fast (fast-00ff.ini), not applied",
           "nothing is applied on another machine");
    is_str(use(true, true, NULL),
           FIND "'profile fast was found elsewhere (2): it is applied anyway' apply(fast on 0-7, "
                "shim) 'profile fast: a=1, b=2' " NOTES,
           "a profile is applied on another machine where the user says so");
    usual();
    made.versions = "torch 2.5";
    is_str(use(true, false, NULL),
           FIND "'profile fast was found elsewhere (4): what may change numbers is left; " TRY
                "apply(fast on 0-7, shim, safe) 'profile fast: a=1, b=2' " NOTES,
           "what may change numbers is left with other versions");
    is_str(use(true, true, NULL),
           FIND "'profile fast was found elsewhere (4): it is applied anyway' apply(fast on 0-7, "
                "shim) 'profile fast: a=1, b=2' " NOTES,
           "what may change numbers is applied where the user says so");
}

static void test_failures(void)
{
    usual();
    made.knobs_rc = -ENOENT;
    is_str(use(true, false, "k"), "knobs(k) ! no knobs", "a file of knobs has to be there");
    usual();
    made.key_rc = -EIO;
    is_str(use(true, false, NULL), "! no key", "a job needs a key");
    usual();
    made.find_rc = -ENOENT;
    is_str(use(true, false, NULL), FIND "! no profile", "a profile has to be there");
    usual();
    made.load_rc = -EINVAL;
    is_str(use(true, false, NULL), FIND "! damaged", "a profile must not be damaged");
    usual();
    made.apply_rc = -ENOMEM;
    is_str(use(true, false, NULL), FIND "apply(fast on 0-7, shim) ! not applied",
           "a profile that cannot be applied is an error");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    test_here();
    test_several_nodes();
    test_elsewhere();
    test_failures();
    return done();
}
