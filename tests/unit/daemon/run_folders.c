/* The folders of finished runs: what is a key, which runs are listed in which order, what is too
 * much to be served, and which run is the one before. */
#include "daemon/run_folders.h"

#include "folder.h"
#include "oom.h"
#include "run/archive/archive.h"
#include "tap.h"

enum { SERVED = RUN_SERVED_MIB << 20, FILES = 4094, LOOKED = 256, LONGEST = 64 };

static void add_run(const char *root, const char *id, const char *command)
{
    char path[PATH_MAX], text[512];

    snprintf(text, sizeof(text), "[run]\nversion = 1\nid = %s\nhost = n\ncommand = %s\n", id,
             command);
    snprintf(path, sizeof(path), "%s/part-n-1.ini", id);
    folder_text(root, path, text);
}

static struct run_folders two(const char *const paths[2])
{
    return (struct run_folders){ .paths = paths, .n = 2 };
}

/* The keys of both folders with a blank behind each, or what is wrong. */
static const char *listed(const char *const paths[2], size_t *unread)
{
    static char text[1024];
    CLEANUP(str_done) struct str out = STR_INIT(8 << 20);
    const struct run_folders f = two(paths);
    int rc = run_folders_list(&f, &out, unread);

    if (rc < 0 || out.len >= sizeof(text))
        return "(no list)";
    memcpy(text, str_text(&out), out.len + 1);
    for (size_t i = 0; i < out.len; i++)
        text[i] = text[i] ? text[i] : ' ';
    return text;
}

static void test_list(const char *a, const char *b)
{
    const char *const paths[2] = { a, b };
    char id[LONGEST + 2], file[PATH_MAX];
    const char *broken[2] = { a, file };
    size_t unread = 9;

    is_str(listed(paths, &unread), "", "two empty folders have no runs");
    is_int((long long)unread, 0, "two empty folders are read");
    add_run(a, "20260101-000000-0001", "x");
    add_run(b, "20260102-000000-0001", "x");
    add_run(b, "20260101-000000-0001", "x");
    add_run(a, "20260103-000000-0001", "x");
    add_run(a, ".hidden", "x");
    is_str(listed(paths, &unread),
           "0.20260103-000000-0001 1.20260102-000000-0001 0.20260101-000000-0001 "
           "1.20260101-000000-0001 ",
           "runs of two folders are one list, the youngest first, hidden ones left out");
    snprintf(file, sizeof(file), "%s/none", b);
    is_str(listed(broken, &unread), "0.20260103-000000-0001 0.20260101-000000-0001 ",
           "a folder that is not there adds no run");
    is_int((long long)unread, 0, "a folder that is not there is no trouble");
    folder_text(b, "file", "x");
    folder_path(b, "file", file);
    listed(broken, &unread);
    is_int((long long)unread, 1, "a file in a folder's place is counted as unread");
    folder_need(unlink(file), file);
    memset(id, '9', sizeof(id) - 1);
    id[LONGEST + 1] = 0;
    folder_folder(a, id);
    ok(!strstr(listed(paths, &unread), id), "a name that is too long for a key is left out");
    id[LONGEST] = 0;
    folder_folder(a, id);
    ok(strstr(listed(paths, &unread), id), "the longest name that a key may have is listed");
}

static void test_order(void)
{
    static const struct {
        const char *a, *b;
        int want;
    } cases[] = {
        { "0.2", "0.1", -1 }, { "0.1", "0.2", 1 }, { "1.2", "0.1", -1 },
        { "0.1", "1.1", -1 }, { "1.1", "0.1", 1 }, { "0.1", "0.1", 0 },
        { "a", "b", -1 },     { "0.9", "b", -1 },  { "b", "0.9", 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int got = run_folders_compare(cases[i].a, cases[i].b);

        is_int((got > 0) - (got < 0), cases[i].want, "key %s is listed before key %s or behind it",
               cases[i].a, cases[i].b);
    }
}

static int load(const char *const paths[2], const char *key, char said[512])
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    const struct run_folders f = two(paths);
    uid_t owner = (uid_t)-2;
    struct err e = { "" };
    int rc = run_folders_load(&f, key, false, &r, &owner, &e);

    if (rc == 0)
        is_int((long long)owner, (long long)geteuid(), "the owner of %s is who made it", key);
    snprintf(said, 512, "%s", rc == 0 ? r.id : e.text);
    return rc;
}

static void test_keys(const char *a, const char *b)
{
    static const char id[] = "20260101-000000-0001";
    const char *const paths[2] = { a, b };
    char longest[LONGEST + 3] = "0.", said[512], want[512];
    const struct {
        const char *key;
        int rc;
    } cases[] = {
        { "0.20260101-000000-0001", 0 },
        { "1.20260101-000000-0001", 0 },
        { "00.20260101-000000-0001", 0 },
        { "000.20260101-000000-0001", -EINVAL },
        { "2.20260101-000000-0001", -EINVAL },
        { ".20260101-000000-0001", -EINVAL },
        { "020260101-000000-0001", -EINVAL },
        { "0:20260101-000000-0001", -EINVAL },
        { "0..hidden", -EINVAL },
        { "0.", -EINVAL },
        { "0.a/b", -EINVAL },
        { "0.none", -ENOENT },
        { "0.file", -EINVAL },
        { "0.empty", -ENODATA },
        { "0.broken", -EINVAL },
    };

    add_run(a, id, "x");
    add_run(b, id, "x");
    folder_text(a, "file", "x");
    folder_folder(a, "empty");
    folder_text(a, "broken/part-n-1.ini", "x");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_int(load(paths, cases[i].key, said), cases[i].rc, "key '%s' is loaded or refused",
               cases[i].key);
        if (cases[i].rc == 0)
            is_str(said, id, "key '%s' leads to its run", cases[i].key);
    }
    load(paths, "0.none", said);
    is_str(said, "there is no run 'none'", "a run that is not there is named");
    load(paths, "0.empty", said);
    is_str(said, "'empty' holds no run", "a folder without a run is named");
    load(paths, "0.file", said);
    is_str(said, "'file' is no run: Not a directory", "a file is named");
    load(paths, "7.x", said);
    is_str(said, "'7.x' is no run's key: /api/v1/runs lists them", "a key that is none is named");
    memset(longest + 2, '9', LONGEST);
    is_int(load(paths, longest, said), -ENOENT, "the longest key is one");
    snprintf(want, sizeof(want), "%s9", longest);
    is_int(load(paths, want, said), -EINVAL, "a longer key is none");
}

static void test_size(const char *a, const char *b)
{
    const char *const paths[2] = { a, b };
    char path[PATH_MAX], said[512], name[PATH_MAX + 32];
    struct stat st;

    add_run(a, "large", "x");
    folder_path(a, "large/part-n-1.ini", path);
    folder_need(stat(path, &st), path);
    folder_text(a, "large/other", "");
    folder_path(a, "large/other", path);
    folder_need(truncate(path, SERVED - st.st_size), path);
    is_int(load(paths, "0.large", said), 0, "a run of just as much as is served is loaded");
    folder_need(truncate(path, SERVED - st.st_size + 1), path);
    is_int(load(paths, "0.large", said), -EFBIG, "a run of a byte more is refused");
    is_str(said, "run 'large' has more than 32 MiB of files: 'brim report' makes its page",
           "what makes the page of a large run is told");
    folder_need(truncate(path, INT64_C(1) << 36), path);
    is_int(load(paths, "0.large", said), -EFBIG, "a file of 64 GiB is refused");
    add_run(a, "many", "x");
    folder_path(a, "many/part-n-1.ini", path);
    for (int i = 1; i < FILES; i++) {
        snprintf(name, sizeof(name), "%s/many/%d", a, i);
        folder_need(link(path, name), name); /* quicker than files of their own */
    }
    is_int(load(paths, "0.many", said), 0, "a run of just as many files as are served is loaded");
    folder_text(a, "many/more", "");
    is_int(load(paths, "0.many", said), -EFBIG, "a run of a file more is refused");
}

/* The id of the run before that of a key; "" for none. */
static const char *earlier(const char *const paths[2], const char *key)
{
    static char text[128];
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(run_done) struct run before = { .id = NULL };
    const struct run_folders f = two(paths);
    struct err e = { "" };
    uid_t owner;

    if (run_folders_load(&f, key, true, &r, &owner, &e) < 0 ||
        run_folders_load_earlier(&f, key, &r, &before, &e) < 0)
        return "(wrong)";
    snprintf(text, sizeof(text), "%s", before.id ? before.id : "");
    return text;
}

static void test_earlier(const char *a, const char *b)
{
    const char *const paths[2] = { a, b };
    const struct run_folders f = two(paths);
    const struct run any = { .id = "3", .command = "x" };
    CLEANUP(run_done) struct run none = { .id = NULL };
    char id[32];

    add_run(a, "1", "x");
    add_run(a, "2", "x");
    add_run(a, "3", "other");
    add_run(a, "4", "x");
    add_run(a, "5", "x");
    add_run(b, "3", "x");
    add_run(b, "6", "x");
    is_str(earlier(paths, "0.5"), "4", "the youngest run before is the one before");
    is_str(earlier(paths, "0.4"), "2", "a run of another job is passed over");
    is_str(earlier(paths, "0.1"), "", "the first run has none before");
    is_str(earlier(paths, "1.6"), "3", "the run before is looked for in the key's own folder");
    is_str(earlier(paths, "1.3"), "", "other folders' runs are none before");
    is_int(run_folders_load_earlier(&f, "no key", &any, &none, NULL), 0,
           "a key that is none is no failure");
    ok(!none.id, "a key that is none has no run before");
    for (int i = 0; i < LOOKED - 1; i++) {
        snprintf(id, sizeof(id), "40-%04d", i);
        folder_folder(a, id);
    }
    is_str(earlier(paths, "0.5"), "4", "the run before is found behind many others");
    folder_folder(a, "40-9999");
    is_str(earlier(paths, "0.5"), "", "the run before is not looked for behind more");
}

static void test_oom(const char *a, const char *b)
{
    const char *const paths[2] = { a, b };
    const struct run_folders f = two(paths);
    bool failed;

    add_run(a, "1", "x");
    add_run(a, "2", "x");
    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(8 << 20);
        CLEANUP(run_done) struct run r = { .id = NULL }, before = { .id = NULL };
        size_t unread;
        uid_t owner;
        int rc;

        oom_next();
        rc = run_folders_list(&f, &out, &unread);
        if (rc == 0)
            rc = run_folders_load(&f, "0.2", true, &r, &owner, NULL);
        if (rc == 0)
            rc = run_folders_load_earlier(&f, "0.2", &r, &before, NULL);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM || (rc == 0 && !before.id) : rc == 0 && before.id,
           "runs with allocation %d failing return %d", oom_at, rc);
    } while (failed);
}

int main(void)
{
    void (*const tests[])(const char *, const char *) = { test_list, test_keys, test_size,
                                                          test_earlier, test_oom };
    char a[PATH_MAX], b[PATH_MAX];

    test_order();
    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(a);
        folder_make(b);
        tests[i](a, b);
        folder_remove(a);
        folder_remove(b);
    }
    return done();
}
