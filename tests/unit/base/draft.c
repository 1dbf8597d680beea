/* Drafts of processes that were killed, and of those that live. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "folder.h"
#include "tap.h"

static bool is_there(const char *root, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    snprintf(path, sizeof(path), "%s/%s", root, name);
    return lstat(path, &st) == 0;
}

/* A process that makes a draft of root/name and waits for its end; the draft's path. */
static pid_t make_writer(const char *root, const char *name, char draft[PATH_MAX])
{
    char path[PATH_MAX];
    int ends[2];
    pid_t child;

    folder_path(root, name, path);
    folder_need(pipe(ends), "pipe");
    child = fork();
    folder_need(child, "fork");
    if (child == 0) {
        if (file_draft(AT_FDCWD, path, 0600, draft, PATH_MAX) < 0 ||
            write(ends[1], draft, PATH_MAX) != PATH_MAX)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ends[1]);
    is_int(read(ends[0], draft, PATH_MAX), PATH_MAX, "another process makes a draft of %s", name);
    close(ends[0]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    is_int(waitpid(child, NULL, 0), child, "the other process is killed");
}

static void test_writers(const char *root)
{
    char draft[2][PATH_MAX], path[PATH_MAX];
    pid_t dead = make_writer(root, "w/own", draft[0]), alive = make_writer(root, "w/own", draft[1]);

    end(dead);
    ok(access(draft[0], F_OK) == 0, "a process that is killed leaves its draft");
    folder_path(root, "w/own", path);
    is_int(file_write(path, "x", 1, NULL), 0, "a file is written beside drafts");
    ok(access(draft[0], F_OK) < 0, "the next writer removes the draft of a killed process");
    ok(access(draft[1], F_OK) == 0, "the next writer leaves the draft of a process that lives");
    end(alive);
    is_int(file_write(path, "x", 1, NULL), 0, "a file is written once more");
    ok(access(draft[1], F_OK) < 0, "a draft goes when its writer does not live any more");
    folder_path(root, "w", path);
    is_int(rmdir(path), -1, "the file that was written is there");
}

static void test_names(const char *root)
{
    static const char *const others[] = {
        "n/own.0123456.new",     "n/own.0123456z.new", "n/own.new",
        "n/own.012345678.new",   "n/own.01234567",     "n/own2.01234567.new",
        "n/an.own.01234567.new", "n/.01234567.new",
    };
    char path[PATH_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        folder_text(root, others[i], "x");
    folder_text(root, "n/own.01234567.new", "x");
    folder_folder(root, "n/own.00000000.new");
    folder_link(root, "n/own.11111111.new", "/etc/passwd");
    folder_path(root, "n/own", path);
    is_int(file_write(path, "x", 1, NULL), 0, "a file is written among others");
    ok(!is_there(root, "n/own.01234567.new"), "a draft that is left over goes");
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        ok(is_there(root, others[i]), "file %s is no draft of 'own', and stays", others[i]);
    ok(is_there(root, "n/own.00000000.new"), "a folder is no draft, and stays");
    ok(is_there(root, "n/own.11111111.new"), "a link is no draft, and stays");
    folder_path(root, "n", path);
    file_sweep(path);
    ok(!is_there(root, "n/own2.01234567.new"),
       "a folder of our own is swept of drafts of any name");
    ok(is_there(root, "n/own.new"), "a sweep leaves what no draft is called like");
    ok(is_there(root, "n/.01234567.new"), "a sweep leaves a draft of no name");
    ok(is_there(root, "n/own"), "a sweep leaves what was written");
}

static void test_relative(const char *root)
{
    char draft[64], path[PATH_MAX];
    int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;

    folder_need(dir, root);
    folder_text(root, "own.01234567.new", "x");
    folder_text(root, "r/own.01234567.new", "x");
    fd = file_draft(dir, "r/own", 0600, draft, sizeof(draft));
    ok(fd >= 0 && is_there(root, draft), "a draft '%s' is made below a folder", draft);
    ok(!is_there(root, "r/own.01234567.new"), "the draft beside it goes");
    ok(is_there(root, "own.01234567.new"), "the draft of a file in another folder stays");
    close(fd);
    fd = file_draft(dir, "own", 0600, draft, sizeof(draft));
    ok(fd >= 0 && !is_there(root, "own.01234567.new"), "a draft in the folder itself goes");
    close(fd);
    folder_path(root, draft, path);
    folder_need(unlink(path), path);
    is_int(file_draft(dir, "own", 0600, draft, sizeof("own.01234567.new") - 1), -ENAMETOOLONG,
           "a draft whose name has no room is refused");
    fd = file_draft(dir, "own", 0600, draft, sizeof("own.01234567.new"));
    ok(fd >= 0 && strlen(draft) == strlen("own.01234567.new"),
       "a draft whose name has just room is made: '%s'", draft);
    close(fd);
    is_int(file_draft(dir, "none/own", 0600, draft, sizeof(draft)), -ENOENT,
           "a draft in a folder that is not there is refused");
    close(dir);
}

/* Many writers of one name, who each find the drafts of the others. */
static void test_many(const char *root)
{
    enum { WRITERS = 6, ROUNDS = 200 };
    char path[PATH_MAX];
    int status, bad = 0;

    folder_path(root, "m/own", path);
    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();

        folder_need(child, "fork");
        for (int k = 0; child == 0 && k < ROUNDS; k++)
            if (file_write(path, "x", 1, NULL) < 0)
                _exit(1);
        if (child == 0)
            _exit(0);
    }
    for (int i = 0; i < WRITERS; i++)
        bad += wait(&status) < 0 || status != 0;
    is_int(bad, 0, "writers of one file do not take each other's drafts for left over");
    unlink(path);
    folder_path(root, "m", path);
    is_int(rmdir(path), 0, "writers of one file leave nothing");
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_writers(root);
    test_names(root);
    test_relative(root);
    test_many(root);
    folder_remove(root);
    return done();
}
