/* Where what an optimisation kept is written, and under what name. Without files: those that are
 * written are texts here. */
#include "cmd/optimize/profile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/profile/profiles.h"
#include "tap.h"

enum { TEXT = 4096 };

int __wrap_file_write(const char *path, const char *data, size_t len, struct err *e);

static struct {
    bool nothing, empty; /* nothing is to be written; nothing is left in the profile */
    int settle_rc, file_rc, save_rc, session_rc;
} made;

static char did[TEXT], text[TEXT];

int session_profile(const struct session *s, const char *date, struct profile *to, struct err *e)
{
    const struct profile_setting kept = { .knob = "loader.workers", .value = "4", .date = date };

    (void)s;
    return made.session_rc < 0 ? err_set(e, made.session_rc, "no session")
                               : profile_set(to, &kept, e);
}

int optimize_known_settle(const struct optimize_known *k, const struct session *s,
                          struct job_talk *talk, struct profile *to, bool *write, struct err *e)
{
    (void)k;
    (void)s;
    (void)talk;
    if (made.settle_rc < 0)
        return err_set(e, made.settle_rc, "not settled");
    *write = !made.nothing;
    if (made.empty)
        to->count = 0;
    return 0;
}

static void add(const char *what, const char *where)
{
    size_t len = strlen(did);

    snprintf(did + len, sizeof(did) - len, "%s(%s) ", what, where);
}

int __wrap_file_write(const char *path, const char *data, size_t len, struct err *e)
{
    add("file", path);
    snprintf(text, sizeof(text), "%.*s", (int)len, data);
    return made.file_rc < 0 ? err_set(e, made.file_rc, "%s: not written", path) : 0;
}

int profiles_save(const char *folder, const struct profile *p, struct str *path, struct err *e)
{
    CLEANUP(str_done) struct str whole = STR_INIT(TEXT);

    profile_write(p, &whole);
    snprintf(text, sizeof(text), "%s", str_text(&whole));
    add("save", folder);
    str_addf(path, "%s/%s.ini", folder, p->name);
    return made.save_rc < 0 ? err_set(e, made.save_rc, "%s: not saved", folder) : 0;
}

/* What was written where, and the path that is told; or the error. */
static const char *keep(const char *file, const char *known_path, unsigned differs)
{
    static char name[] = "train";
    static const struct run r = { .name = name };
    static const struct job_key key = { "00ff", "this machine", "python 3.11" };
    const struct optimize_known known = { .profile = { .name = "before" },
                                          .path = known_path,
                                          .differs = differs };
    const struct optimize_profile_about about = {
        .run = &r, .key = &key, .wall_ns = 1795000000 * NS_PER_S, .file = file, .known = &known
    };
    CLEANUP(str_done) struct str path = STR_INIT(TEXT);
    struct err e = { "" };
    int rc;

    did[0] = text[0] = '\0';
    str_add(&path, "old");
    rc = optimize_profile(&about, &path, &e);
    if (rc < 0)
        add("!", e.text);
    else
        add("=", str_text(&path));
    return did;
}

static void usual(void)
{
    memset(&made, 0, sizeof(made));
}

#define SAVED "save(/state/profiles) "

static void test_places(void)
{
    usual();
    is_str(keep("my.ini", NULL, 0), "file(my.ini) =(my.ini) ", "the file that is named is written");
    ok(strstr(text, "name = \"train\"\n") && strstr(text, "key = \"00ff\"\n") &&
           strstr(text, "machine = \"this machine\"\n") &&
           strstr(text, "versions = \"python 3.11\"\n") && strstr(text, "loader.workers") &&
           strstr(text, "date = \"2026-11-18\"\n"),
       "a profile tells the job, the machine and the day: %s", text);
    is_str(keep(NULL, NULL, 0), SAVED "=(/state/profiles/train.ini) ",
           "a profile is kept in the state folder");
    is_str(keep(NULL, "p.ini", JOB_MACHINE), "file(p.ini) =(p.ini) ",
           "the job's profile of before is replaced");
    ok(strstr(text, "name = \"before\"\n"), "a profile keeps its name: %s", text);
    is_str(keep("my.ini", "p.ini", 0), "file(my.ini) =(my.ini) ",
           "the file that is named comes before the profile of before");
    is_str(keep(NULL, "p.ini", JOB_COMMAND | JOB_MACHINE), SAVED "=(/state/profiles/train.ini) ",
           "another job's profile is not replaced");
    ok(strstr(text, "name = \"train\"\n"), "another job's name is not taken: %s", text);
}

static void test_nothing(void)
{
    usual();
    made.nothing = true;
    is_str(keep("my.ini", NULL, 0), "=() ", "nothing is written where nothing was decided");
    usual();
    made.empty = true;
    is_str(keep("my.ini", NULL, 0), "file(my.ini) =() ",
           "a profile that has lost all is nothing to run a job with");
}

static void test_failures(void)
{
    usual();
    made.file_rc = -EACCES;
    is_str(keep(NULL, "p.ini", 0), "file(p.ini) " SAVED "=(/state/profiles/before.ini) ",
           "a profile of somebody else stays, and a copy is kept");
    made.file_rc = -EPERM;
    is_str(keep(NULL, "p.ini", 0), "file(p.ini) " SAVED "=(/state/profiles/before.ini) ",
           "a profile that may not be replaced stays, and a copy is kept");
    is_str(keep("my.ini", "p.ini", 0), "file(my.ini) !(my.ini: not written) ",
           "a file that is named and cannot be written is an error");
    made.file_rc = -ENOSPC;
    is_str(keep(NULL, "p.ini", 0), "file(p.ini) !(p.ini: not written) ", "a full disk is an error");
    usual();
    made.save_rc = -EACCES;
    is_str(keep(NULL, NULL, 0), SAVED "!(/state/profiles: not saved) ",
           "a state folder that cannot be written is an error");
    usual();
    made.settle_rc = -EINVAL;
    is_str(keep("my.ini", NULL, 0), "!(not settled) ", "nothing is written after an error");
    usual();
    made.session_rc = -EINVAL;
    is_str(keep("my.ini", NULL, 0), "!(no session) ", "a session without a profile is an error");
}

int main(void)
{
    setenv("STATE_DIRECTORY", "/state", 1);
    test_places();
    test_nothing();
    test_failures();
    return done();
}
