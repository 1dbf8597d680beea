/* Folders of rings: where they are made, and what is removed of observers that died. */
#include "run/ring/ring_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "folder.h"
#include "tap.h"

static bool is_there(const char *root, const char *name)
{
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    return access(path, F_OK) == 0;
}

static void make_older(const char *root, const char *name, int seconds)
{
    const struct timespec then[2] = { { .tv_nsec = UTIME_OMIT },
                                      { .tv_sec = time(NULL) - seconds } };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/%s", root, name);
    folder_need(utimensat(AT_FDCWD, path, then, 0), path);
}

static void test_make(const char *root)
{
    const char *bases[] = { "/nonexistent/brim", root, NULL }, *nowhere[] = { bases[0], NULL };
    struct ring_folder f = RING_FOLDER_INIT, again = RING_FOLDER_INIT, none = RING_FOLDER_INIT;
    struct err e = { "" };
    struct stat st;

    is_int(ring_folder_make(bases, &f, &e), 0, "a folder is made where there can be one");
    ok(stat(str_text(&f.path), &st) == 0 && (st.st_mode & 0777) == 0700,
       "the folder %s is for its owner alone", str_text(&f.path));
    ok(is_there(str_text(&f.path), "lock"), "the folder has its lock");
    is_int(ring_folder_make(bases, &again, &e), 0, "this process makes a second folder");
    ok(access(str_text(&f.path), F_OK) == 0 && strcmp(str_text(&f.path), str_text(&again.path)),
       "the first folder stays beside the second one");
    ring_folder_done(&again);
    ok(!again.path.len && again.lock < 0, "a folder that is done is forgotten");
    ok(access(str_text(&f.path), F_OK) == 0, "only the second folder is removed");
    ring_folder_done(&f);
    ok(ring_folder_make(nowhere, &none, &e) != 0 && strstr(e.text, "/nonexistent"),
       "a place that is missing is named: %s", e.text);
    ring_folder_done(&none);
}

/* One that was made by a process whose number says nothing here: only its lock does. */
static void test_left(const char *root)
{
    const char *bases[] = { root, NULL };
    struct ring_folder mine = RING_FOLDER_INIT, f = RING_FOLDER_INIT;
    char path[PATH_MAX];
    int ends[2], status;
    pid_t child;
    char c;

    folder_need(pipe(ends), "pipe");
    child = fork();
    folder_need(child, "fork");
    if (child == 0) {
        if (ring_folder_make(bases, &mine, NULL) != 0 ||
            snprintf(path, sizeof(path), "%s/brim-run-999999999-5", root) < 0 ||
            rename(str_text(&mine.path), path) < 0 || write(ends[1], "x", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ends[1]);
    is_int(read(ends[0], &c, 1), 1, "another process makes a folder of rings");
    close(ends[0]);
    folder_text(root, "brim-run-999999999-5/rank-0-1.ring", "x");
    is_int(ring_folder_make(bases, &f, NULL), 0, "a folder is made beside that of another process");
    ok(is_there(root, "brim-run-999999999-5/rank-0-1.ring"),
       "a folder whose lock is held stays, whatever its number says");
    ring_folder_done(&f);
    kill(child, SIGKILL);
    is_int(waitpid(child, &status, 0), child, "the other process is killed");
    f = (struct ring_folder)RING_FOLDER_INIT;
    is_int(ring_folder_make(bases, &f, NULL), 0, "a folder is made after the other process died");
    ok(!is_there(root, "brim-run-999999999-5"), "the folder of a dead process goes with its rings");
    ring_folder_done(&f);
}

static void test_others(const char *root)
{
    const char *bases[] = { root, NULL };
    struct ring_folder f = RING_FOLDER_INIT;

    folder_folder(root, "brim-run-1-1");
    folder_folder(root, "brim-run-1-2");
    make_older(root, "brim-run-1-2", 3600);
    folder_text(root, "brim-run-1-3/rank-0-1.ring", "x");
    make_older(root, "brim-run-1-3", 3600);
    folder_text(root, "brim-run-1-4/lock.new", "");
    make_older(root, "brim-run-1-4", 3600);
    folder_text(root, "other/lock", "");
    folder_text(root, "brim-run-file", "");
    is_int(ring_folder_make(bases, &f, NULL), 0, "a folder is made among others");
    ok(is_there(root, "brim-run-1-1"), "a folder that is being made stays");
    ok(!is_there(root, "brim-run-1-2"), "an old folder without a lock and without rings goes");
    ok(is_there(root, "brim-run-1-3"), "rings without a lock stay");
    ok(!is_there(root, "brim-run-1-4"), "an old folder goes whose lock was never finished");
    ok(is_there(root, "other") && is_there(root, "brim-run-file"), "what is no such folder stays");
    ring_folder_done(&f);
}

/* A folder of this process that is there already, and names that have no room. */
static void test_names(const char *root)
{
    const char *bases[] = { root, NULL };
    struct ring_folder f = RING_FOLDER_INIT;
    char name[64], path[PATH_MAX], small[8];

    is_int(ring_folder_of(getpid(), name, sizeof(name)), 0,
           "the folder of this process has a name");
    ok(ring_folder_is(name) && !ring_folder_is("brim-ru") && !ring_folder_is("a-brim-run-1"),
       "the name is one of a folder of rings");
    is_int(ring_folder_of(999999999, name, sizeof(name)), -ESRCH,
           "the folder of a process that is not there has no name");
    is_int(ring_folder_of(getpid(), small, sizeof(small)), -ENAMETOOLONG,
           "a name that has no room is refused");
    is_int(ring_folder_of(getpid(), name, sizeof(name)), 0, "the name has room");
    is_int(ring_folder_of(getpid(), path, strlen(name)), -ENAMETOOLONG,
           "a name without room for its end is refused");
    is_int(ring_folder_of(getpid(), path, strlen(name) + 1), 0,
           "a name with room for its end fits");
    folder_folder(root, name);
    is_int(ring_folder_make(bases, &f, NULL), 0, "a folder is made beside one of its name");
    snprintf(path, sizeof(path), "%s/%s-1", root, name);
    is_str(str_text(&f.path), path, "a folder beside one of its name has a number");
    ring_folder_done(&f);
    ok(is_there(root, name), "the folder that was there stays");
}

/* A process that may write no large files cannot make its ring. */
static void test_room(const char *root)
{
    const char *bases[] = { root, NULL };
    struct ring_folder f = RING_FOLDER_INIT, none = RING_FOLDER_INIT;
    struct err e = { "" }, small = { "" };
    struct rlimit was, l;
    bool lacks[2];

    is_int(ring_folder_make(bases, &f, NULL), 0, "a folder is made that has room");
    folder_need(getrlimit(RLIMIT_FSIZE, &was), "getrlimit");
    l = was;
    l.rlim_cur = 2 << 20;
    folder_need(setrlimit(RLIMIT_FSIZE, &l), "setrlimit");
    lacks[0] = ring_folder_lacks_room(&f, &e);
    l.rlim_cur = (2 << 20) - 1;
    folder_need(setrlimit(RLIMIT_FSIZE, &l), "setrlimit");
    lacks[1] = ring_folder_lacks_room(&f, &small);
    folder_need(setrlimit(RLIMIT_FSIZE, &was), "setrlimit");
    ok(!lacks[0], "files of 2 MiB are room for a ring: %s", e.text);
    ok(lacks[1], "smaller files are no room for a ring");
    is_str(small.text,
           "files may have 2097151 bytes (ulimit -f), marks of a process need 2 MiB: steps are not "
           "told, but inferred",
           "the sentence says how large files may be");
    str_add(&none.path, "/nonexistent");
    ok(ring_folder_lacks_room(&none, &e), "a folder that is not there has no room");
    is_str(e.text,
           "/nonexistent has 0 bytes free, marks of a process need 2 MiB: steps are not told, but "
           "inferred",
           "the sentence says how much room there is");
    ring_folder_done(&f);
    ring_folder_done(&none);
}

int main(void)
{
    void (*const tests[])(const char *) = { test_make, test_left, test_others, test_names,
                                            test_room };
    char root[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
        folder_make(root);
        tests[i](root);
        folder_remove(root);
    }
    return done();
}
