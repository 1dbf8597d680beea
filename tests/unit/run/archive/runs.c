/* The folder of all runs: made, listed, searched, and runs removed from it. */
#include <errno.h>
#include <fcntl.h>

#include "base/str.h"
#include "folder.h"
#include "run/archive/archive.h"
#include "tap.h"

static void add_run(const char *root, const char *id, const char *name)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    char path[PATH_MAX];

    str_addf(&text, "[run]\nversion = 1\nid = %s\nhost = n\n%s%s\n", id, name ? "name = " : "",
             name ? name : "");
    snprintf(path, sizeof(path), "%s/part-n-1.ini", id);
    folder_text(root, path, str_text(&text));
}

/* What runs_find finds, without the folder of runs; else what it says. */
static const char *found(const char *root, const char *which)
{
    static char text[PATH_MAX];
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
    struct err e = { "" };
    size_t len = strlen(root);
    const char *got;
    int rc = runs_find(root, which, &path, &e);

    got = rc < 0 ? e.text : str_text(&path);
    snprintf(text, sizeof(text), "%s%s", rc < 0 && rc != -ENOENT ? "wrong: " : "",
             !strncmp(got, root, len) && got[len] == '/' ? got + len + 1 : got);
    return text;
}

static void test_find(const char *root)
{
    static const char none[] = "no run is kept yet: brim run -- COMMAND keeps one";

    is_str(found("/nonexistent/runs", "x"), none, "no run is found in no folder");
    is_str(found(root, "x"), none, "no run is found in an empty folder");
    folder_folder(root, "20260101-000000-0001");
    is_str(found(root, ""), none, "a folder without a part is not the youngest run");
    is_str(found(root, "last"), none, "a folder without a part is not the last run");
    add_run(root, "20260101-000000-0002", "train.py");
    add_run(root, "20260102-000000-0003", "train.py");
    add_run(root, "20260103-000000-0004", "other.py");
    add_run(root, "20260103-000000-00045", NULL);
    folder_folder(root, "20260104-000000-0005");
    folder_text(root, "20260104-000000-0006", "a file");
    folder_text(root, "20260104-000000-0007/part-.ini", "a part without a name");
    folder_text(root, "20260104-000000-0008/part-n-1.txt", "no part");
    add_run(root, ".hidden", "hidden");
    is_str(found(root, ""), "20260103-000000-00045", "the youngest run is found");
    is_str(found(root, "last"), "20260103-000000-00045", "the last run is found");
    is_str(found(root, "20260102"), "20260102-000000-0003", "a run is found by how its id starts");
    is_str(found(root, "20260103-000000-0004"), "20260103-000000-0004",
           "a run is found by its id, though another one starts with it");
    is_str(found(root, "20260103"), "2 runs start with '20260103' ('brim runs' lists them)",
           "runs that start alike are counted");
    is_str(found(root, "train.py"), "20260102-000000-0003",
           "the youngest run of a name is found by it");
    is_str(found(root, "other.py"), "20260103-000000-0004", "a run is found by its name");
    is_str(found(root, "trian.py"), "there is no run 'trian.py' (did you mean 'train.py'?)",
           "the nearest name is proposed");
    is_str(found(root, "20270103-000000-0004"),
           "there is no run '20270103-000000-0004' (did you mean '20260103-000000-0004'?)",
           "the nearest id is proposed");
    is_str(found(root, "elephants"), "there is no run 'elephants' ('brim runs' lists them)",
           "where nothing is near, the list is");
    is_str(found(root, "hidden"), "there is no run 'hidden' ('brim runs' lists them)",
           "a hidden folder is no run");
    folder_text(root, "20260102-000000-0009/part-n-1.ini",
                "[run]\nversion = 1\nid = 20260102-000000-0009\nhost = n\nname = train.py\n"
                "[note]\nnote = env.SLURM_JOB_ID=17\n[note]\nnote = env.SLURM_STEP_ID=2\n");
    is_str(found(root, "job:17"), "20260102-000000-0009", "a run is found by its job of Slurm");
    is_str(found(root, "job:17.2"), "20260102-000000-0009", "a run is found by the job's step");
    is_str(found(root, "job:17.1"),
           "no run of Slurm's job 17.1 is kept here ('brim runs' lists what is)",
           "a run of another step is not found");
    is_str(found(root, "17"), "there is no run '17' ('brim runs' lists them)",
           "a job's number alone is no run");
    is_str(found(root, "a/b"), "a/b", "a path is taken as it is");
}

static void test_list(const char *root)
{
    CLEANUP(str_done) struct str list = STR_INIT(4096), tiny = STR_INIT(4);
    struct err e = { "" };
    char path[PATH_MAX];

    folder_folder(root, "b");
    folder_folder(root, "c");
    folder_folder(root, "a");
    folder_folder(root, ".d");
    is_int(runs_list(root, &list, &e), 0, "a folder of runs is listed");
    ok(list.len == 6 && !memcmp(str_text(&list), "a\0b\0c", 6), "names are in their order");
    is_int(runs_list(root, &tiny, &e), -ENOMEM, "a list that has no room is an error");
    is_int(runs_list("/nonexistent", &list, &e), 0, "no folder is listed");
    is_int((long long)list.len, 0, "a folder that does not exist has no runs");
    folder_text(root, "file", "x");
    folder_path(root, "file", path);
    is_int(runs_list(path, &list, &e), -ENOTDIR, "a file is no folder of runs");
    ok(strstr(e.text, "/file: Not a directory"), "the error names the file: %s", e.text);
}

static void test_make(const char *root)
{
    char path[PATH_MAX], longest[PATH_MAX + 8], want[PATH_MAX + 64];
    struct err e = { "" };
    struct stat st;

    snprintf(path, sizeof(path), "%s/x/y", root);
    is_int(runs_make(path, &e), 0, "a folder is made below one that is not there");
    ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700, "a folder is its owner's alone");
    snprintf(path, sizeof(path), "%s/x", root);
    ok(stat(path, &st) == 0 && (st.st_mode & 0777) == 0700, "the folder above is its owner's, too");
    is_int(runs_make(path, &e), 0, "a folder that is there is made");
    folder_text(root, "file", "x");
    snprintf(path, sizeof(path), "%s/file/runs", root);
    is_int(runs_make(path, &e), -ENOTDIR, "no folder is made below a file");
    snprintf(want, sizeof(want), "%s: Not a directory", path);
    is_str(e.text, want, "the error names the folder");
    memset(longest, 'x', sizeof(longest) - 1);
    longest[PATH_MAX] = 0;
    is_int(runs_make(longest, &e), -ENAMETOOLONG, "a path that is too long is refused");
}

static void test_remove(const char *root)
{
    char run[PATH_MAX], path[PATH_MAX], want[PATH_MAX + 64];
    struct err e = { "" };

    add_run(root, "r", NULL);
    snprintf(run, sizeof(run), "%s/r", root);
    folder_text(root, "r/notes.txt", "a user's");
    is_int(run_remove(run, &e), -ENOTEMPTY, "a folder with a user's file stays");
    snprintf(want, sizeof(want), "%s: Directory not empty", run);
    is_str(e.text, want, "the error says that the folder is not empty");
    folder_path(root, "r/notes.txt", path);
    ok(access(path, F_OK) == 0, "a user's file stays");
    folder_path(root, "r/part-n-1.ini", path);
    ok(access(path, F_OK) < 0, "the run's files are removed");
    folder_folder(root, "r/part-x");
    is_int(run_remove(run, &e), -EISDIR, "a folder of a part's name cannot be removed");
    snprintf(want, sizeof(want), "%s/part-x: Is a directory", run);
    is_str(e.text, want, "the error names what cannot be removed");
    is_int(run_remove("/nonexistent", &e), -ENOENT, "a run that is not there cannot be removed");
    is_str(e.text, "/nonexistent: No such file or directory", "the error names the missing run");
}

/* Which runs are compared with a run. */
static void test_earlier(void)
{
    static const struct {
        const char *id, *command, *name;
        bool earlier;
        const char *what;
    } cases[] = {
        { "1", "c", "n", true, "an earlier run of the same command and name" },
        { "1", "c", NULL, true, "an earlier run without a name" },
        { "1", "c", "m", false, "an earlier run of another name" },
        { "1", "d", "n", false, "an earlier run of another command" },
        { "2", "c", "n", false, "the run itself" },
        { "3", "c", "n", false, "a later run" },
        { NULL, "c", "n", false, "a run without an id" },
        { "1", NULL, "n", false, "a run without a command" },
    };
    const struct run r = { .id = "2", .command = "c", .name = "n" };
    const struct run bare = { .id = "2", .command = "c" }, nothing = { .id = NULL };
    const struct run first = { .id = "1", .command = "c", .name = "n" };
    const struct run unnumbered = { .command = "c" }, idle = { .id = "2" };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct run o = { .id = cases[i].id,
                               .command = cases[i].command,
                               .name = cases[i].name };

        ok(run_is_earlier(&r, &o) == cases[i].earlier, "%s is compared or not", cases[i].what);
    }
    ok(run_is_earlier(&bare, &first), "a run without a name is compared with any name");
    ok(!run_is_earlier(&nothing, &first) && !run_is_earlier(&unnumbered, &first) &&
           !run_is_earlier(&idle, &first),
       "a run without an id or a command is compared with none");
}

int main(void)
{
    void (*const tests[])(const char *) = { test_find, test_list, test_make, test_remove };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    test_earlier();
    return done();
}
