/* Profiles on disk: which file is meant by a name, what a file may be called, and whose files are
 * used. */
#include "run/profile/profiles.h"

#include <errno.h>

#include "folder.h"
#include "tap.h"

enum { ROOM = 64 << 10, LETTERS = 64 };

/* What profiles_find finds, without the folder; else what it says. */
static const char *found(const char *folder, const char *which, const char *key)
{
    static char text[2 * PATH_MAX];
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
    struct err e = { "" };
    size_t len = strlen(folder);
    int rc = profiles_find(folder, which, key, &path, &e);
    const char *got = rc < 0 ? e.text : str_text(&path);

    snprintf(text, sizeof(text), "%s%s", rc < 0 && rc != -ENOENT ? "wrong: " : "",
             !strncmp(got, folder, len) ? got + len + 1 : got);
    return text;
}

static void put(const char *folder, const char *name, time_t when, long ns)
{
    const struct timespec times[2] = { { when, ns }, { when, ns } };
    char path[PATH_MAX];

    folder_text(folder, name, "[profile]\n");
    folder_path(folder, name, path);
    folder_need(utimensat(AT_FDCWD, path, times, 0), path);
}

static void test_find(const char *folder)
{
    static const struct {
        const char *which, *key, *want;
    } cases[] = {
        { "net", "aa", "net-aa.ini" },
        { "net", "bb", "net-bb.ini" },
        { "net", "", "net-cc.ini" },
        { "net", NULL, "net-cc.ini" },
        { "net", "zz", "net-cc.ini" },
        { "net-aa", "bb", "net-aa.ini" },
        { "res-net", "aa", "res-net-aa.ini" },
        { "bare", NULL, "bare.ini" },
        { "a/net.ini", NULL, "a/net.ini" },
        { "res-nte", NULL, "there is no profile 'res-nte' (did you mean res-net?)" },
        { "net-ab", NULL, "there is no profile 'net-ab' (did you mean net-aa?)" },
        { "baer", NULL, "there is no profile 'baer' (did you mean bare?)" },
        { "net-", NULL, "there is no profile 'net-' (did you mean net?)" },
    };
    char want[PATH_MAX + 128];

    is_str(found(folder, "net", NULL), "no profile is kept yet: brim optimize -- COMMAND keeps one",
           "an empty folder has no profile");
    put(folder, "net-aa.ini", 3000, 5);
    put(folder, "net-bb.ini", 1000, 0);
    put(folder, "net-cc.ini", 3000, 6);
    put(folder, "net-dd.ini", 2999, 999999999);
    put(folder, "res-net-aa.ini", 9000, 0);
    put(folder, "bare.ini", 9000, 0);
    put(folder, ".ini", 9000, 0);
    put(folder, "net-ee.txt", 9000, 0);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_str(found(folder, cases[i].which, cases[i].key), cases[i].want,
               "a profile called '%s' is found with key '%s' or not", cases[i].which,
               cases[i].key ? cases[i].key : "(none)");
    snprintf(want, sizeof(want), "there is no profile 'elephants' in %s ('brim profile list')",
             folder);
    is_str(found(folder, "elephants", NULL), want, "where nothing is near, the list is");
    snprintf(want, sizeof(want), "there is no profile 'bare.ini' in %s ('brim profile list')",
             folder);
    is_str(found(folder, "bare.ini", NULL), want,
           "a file of the folder is no file of the working folder");
    is_str(found(folder, "", NULL),
           "wrong: a profile's name is empty: 'brim profile list' has the names",
           "an empty name is refused");
}

static void test_list(const char *folder)
{
    CLEANUP(str_done) struct str list = STR_INIT(ROOM), tiny = STR_INIT(4);
    static const char want[] = "bare\0net-aa\0net-bb\0net-cc\0net-dd\0res-net-aa";
    char path[PATH_MAX];
    struct err e = { "" };

    is_int(profiles_list(folder, &list, &e), 0, "profiles are listed");
    ok(list.len == sizeof(want) && !memcmp(str_text(&list), want, sizeof(want)),
       "the list has the names without their ending, in order");
    is_int(profiles_list(folder, &tiny, &e), -ENOMEM, "a list without room is a failure");
    is_int(profiles_of(folder, "aa", &list, &e), 0, "the youngest profile of a key is looked for");
    folder_path(folder, "res-net-aa.ini", path);
    is_str(str_text(&list), path, "the youngest profile of a key is found");
    folder_path(folder, "bare.ini", path);
    is_int(profiles_list(path, &list, &e), -ENOTDIR, "a file is no folder of profiles");
    is_int(profiles_of(path, "aa", &list, &e), -ENOTDIR, "no profile of a key is in a file");
    is_int(profiles_find(path, "net", NULL, &list, &e), -ENOTDIR, "no profile is found in a file");
}

/* A profile by a path of its own is taken where it is there. */
static void test_path(const char *folder)
{
    char here[PATH_MAX];

    folder_need(getcwd(here, sizeof(here)) ? 0 : -1, "getcwd");
    folder_need(chdir(folder), folder);
    is_str(found("/nonexistent", "bare.ini", NULL), "bare.ini",
           "a file in the working folder is taken");
    is_str(found("/nonexistent", "bare", NULL),
           "no profile is kept yet: brim optimize -- COMMAND keeps one",
           "a name without an ending is no file of the working folder");
    folder_need(chdir(here), here);
}

static void test_names(const char *folder)
{
    static const struct {
        const char *name, *key, *want;
    } cases[] = {
        { "", "", "profile.ini" },
        { "", "aa", "profile-aa.ini" },
        { "a b/c.D_9-x", "", "a_b_c.D_9-x.ini" },
        { "..x", "", "_.x.ini" },
        { "\xc3\xa4", "", "__.ini" },
        { "n", "a/b", "n-a_b.ini" },
    };
    char text[LETTERS + 8], want[LETTERS + 16];

    for (size_t i = 0; i <= ARRAY_SIZE(cases); i++) {
        CLEANUP(profile_done) struct profile p = { .count = 0 };
        CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
        bool last = i == ARRAY_SIZE(cases);
        struct err e = { "" };

        memset(text, 'n', sizeof(text) - 1);
        text[sizeof(text) - 1] = 0;
        snprintf(want, sizeof(want), "%.*s.ini", LETTERS, text);
        ok(profile_init(&p, last ? text : cases[i].name, last ? "" : cases[i].key, "", "") == 0,
           "profile %zu is made", i);
        is_int(profiles_save(folder, &p, &path, &e), 0, "profile %zu is saved: %s", i, e.text);
        is_str(str_text(&path) + strlen(folder) + 1, last ? want : cases[i].want,
               "the file of profile %zu has its name", i);
    }
}

static void test_owner(const char *folder)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    struct err e = { "" };
    char path[PATH_MAX];

    folder_path(folder, "bare.ini", path);
    is_int(profiles_load(&p, folder, &e), -EISDIR, "a folder is no profile: %s", e.text);
    is_int(profiles_load(&p, "/nonexistent", &e), -ENOENT, "a missing profile is told: %s", e.text);
    if (lchown(path, 65533, 65533) < 0) {
        ok(true, "a file cannot be given away here # SKIP not root");
        return;
    }
    is_int(profiles_load(&p, path, &e), -EPERM, "another user's profile is not used");
    ok(strstr(e.text, " is not used, since it belongs to ") &&
           strstr(e.text, ": a copy of it is yours"),
       "the owner of another user's profile is told: %s", e.text);
}

int main(void)
{
    char folder[PATH_MAX];

    folder_make(folder);
    test_find(folder);
    test_list(folder);
    test_path(folder);
    test_names(folder);
    test_owner(folder);
    folder_remove(folder);
    return done();
}
