/* The files of a queue: who may look at them, whether the command of an attempt lives by what was
 * noted when it started, what guards and engines tell each other, and what goes when. */
#include "queue/guard/files.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "folder.h"
#include "tap.h"

enum { JOB = 7, ATTEMPT = 1 };

/* A process that waits until it is killed. */
static pid_t make_command(void)
{
    pid_t pid = fork();

    if (pid < 0)
        abort();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    return pid;
}

static void test_command(int dir)
{
    pid_t pid = make_command(), noted;
    siginfo_t end;

    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_NONE,
           "an attempt without a note has not started");
    is_int(queue_start_write(dir, JOB, ATTEMPT, pid, ""), 0, "the start of a command is noted");
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_LIVES, "a command that waits lives");
    is_int(noted, pid, "the note names the command's process");
    kill(pid, SIGKILL);
    if (waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) < 0)
        abort();
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a command that has ended and was not waited for does not live");
    is_int(noted, pid, "the note still names the process of a command that has ended");
    if (waitpid(pid, NULL, 0) != pid)
        abort();
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a command without a process does not live");
}

/* The number of a process is used again: the time at which it started tells. */
static void test_another_process(int dir)
{
    char text[256], *at;
    ssize_t n;
    pid_t noted;
    int fd;

    is_int(queue_start_write(dir, JOB, ATTEMPT, getpid(), ""), 0,
           "the start of this process is noted");
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_LIVES, "this process lives");
    fd = openat(dir, "jobs/7/start.1", O_RDWR);
    n = fd < 0 ? -1 : read(fd, text, sizeof(text));
    at = n < 0 ? NULL : memmem(text, (size_t)n, "started=", 8);
    if (!at || pwrite(fd, at[8] == '9' ? "8" : "9", 1, at + 8 - text) != 1)
        abort();
    close(fd);
    is_int(queue_start_look(dir, JOB, ATTEMPT, &noted), START_GONE,
           "a process that started at another time is not the command");
}

static int mode_of(int dir, const char *name)
{
    struct stat st;

    folder_need(fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW), name);
    return (int)(st.st_mode & 0777);
}

static bool is_there(int dir, const char *name)
{
    return faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The queue's folder is made with those above it; who may look into it. */
static void test_folders(const char *root)
{
    char path[PATH_MAX + 32], want[PATH_MAX + 128];
    struct err e = { "" };
    int dir;

    umask(0);
    snprintf(path, sizeof(path), "%s/a/b/own", root);
    dir = queue_files_open(path, false, &e);
    ok(dir >= 0, "a folder is made with those above it: %s", e.text);
    is_int(mode_of(dir, "."), 0700, "nobody else may look into the folder of one user");
    is_int(mode_of(dir, "jobs"), 0700, "nobody else may look at the jobs of one user");
    is_int(mode_of(dir, "ends"), 0700, "nobody else may look at the ends of one user's jobs");
    is_int(mode_of(dir, ".."), 0755, "folders above that of the queue are open to all");
    close(dir);
    dir = queue_files_open(path, true, &e);
    ok(dir >= 0, "a folder that is there is used: %s", e.text);
    is_int(mode_of(dir, "."), 0700, "a folder that is there keeps who may look into it");
    close(dir);
    snprintf(path, sizeof(path), "%s/a/b/shared", root);
    dir = queue_files_open(path, true, &e);
    ok(dir >= 0, "a folder of all users is made: %s", e.text);
    is_int(mode_of(dir, "."), 0755, "all users may look into the folder that they share");
    is_int(mode_of(dir, "jobs"), 0755, "all users may look at the jobs of the folder they share");
    is_int(mode_of(dir, "ends"), 0700, "ends of jobs are the engine's alone");
    is_int(queue_folder_make(dir, 3, &e), 0, "the folder of a job is made");
    is_int(mode_of(dir, "jobs/3"), 0755, "the owner of a job may look into its folder");
    is_int(queue_folder_make(dir, 3, &e), 0, "the folder of a job may be there");
    close(dir);
    folder_text(root, "file", "");
    snprintf(path, sizeof(path), "%s/file/queue", root);
    is_int(queue_files_open(path, false, &e), -ENOTDIR, "below a file there is no folder");
    snprintf(want, sizeof(want), "cannot make %s: Not a directory", path);
    is_str(e.text, want, "the error names the folder that cannot be made");
    snprintf(path, sizeof(path), "%s/file/above/queue", root);
    is_int(queue_files_open(path, false, &e), -ENOTDIR, "below a file no folder is made");
    snprintf(want, sizeof(want), "cannot make %s/file/above: Not a directory", root);
    is_str(e.text, want, "the error names the first folder that cannot be made");
    snprintf(path, sizeof(path), "%s/file", root);
    is_int(queue_files_open(path, false, &e), -ENOTDIR, "a file is no folder");
    folder_text(root, "taken/jobs", "");
    snprintf(path, sizeof(path), "%s/taken", root);
    dir = queue_files_open(path, false, &e);
    ok(dir >= 0, "what stands in the place of jobs is found when a job is made: %s", e.text);
    is_int(queue_folder_make(dir, 3, &e), -ENOTDIR, "below a file no folder of a job is made");
    is_str(e.text, "cannot make jobs/3/ in the queue's folder: Not a directory",
           "the error names the folder of the job");
    close(dir);
    umask(022);
}

/* What tells of an attempt goes, but the claim, and of a job all. */
static void test_removing(int dir)
{
    static const struct queue_end end = { .status = 1 };
    struct err e = { "" };
    int claim;

    is_int(queue_folder_make(dir, 8, &e), 0, "the folder of another job is made");
    for (int32_t attempt = 1; attempt <= 2; attempt++) {
        claim = queue_claim(dir, 8, attempt, "");
        folder_need(claim, "claim");
        close(claim);
        folder_need(queue_start_write(dir, 8, attempt, getpid(), ""), "start");
        folder_need(queue_stop_write(dir, 8, attempt, QUEUE_CANCEL), "stop");
        folder_need(queue_end_write(dir, 8, attempt, &end), "end");
    }
    is_int(mode_of(dir, "jobs/8/claim.1"), 0600, "a claim is the engine's alone");
    is_int(mode_of(dir, "jobs/8/stop.1"), 0600, "a record is the engine's alone");
    queue_attempt_forget(dir, 8, 1);
    ok(!is_there(dir, "jobs/8/start.1") && !is_there(dir, "jobs/8/stop.1") &&
           !is_there(dir, "ends/8.1"),
       "nothing tells of an attempt that is forgotten");
    ok(is_there(dir, "jobs/8/claim.1"), "the claim of an attempt stays");
    ok(is_there(dir, "jobs/8/start.2") && is_there(dir, "jobs/8/stop.2") &&
           is_there(dir, "ends/8.2"),
       "another attempt is not forgotten");
    queue_folder_remove(dir, 8);
    ok(!is_there(dir, "jobs/8"), "the folder of a job goes with all that is in it");
    ok(is_there(dir, "jobs/7") && is_there(dir, "ends/8.2"), "nothing else goes with it");
    queue_folder_remove(dir, 8);
    ok(is_there(dir, "jobs"), "the folder of a job that is not there is removed already");
}

/* What a guard is told, and what it tells: each value as it was written. */
static void test_words(int dir)
{
    static const enum queue_stop stops[] = { QUEUE_GO, QUEUE_PREEMPT, QUEUE_CANCEL };
    static const struct queue_end ends[] = {
        { .status = -1, .stop = QUEUE_LIMIT, .end_ms = INT64_MAX, .text = "" },
        { .status = 256, .lost = true, .end_ms = -1, .text = "one\ntwo" },
        { .status = 2, .unstarted = true, .text = "not started" },
    };
    CLEANUP(str_done) struct str text = STR_INIT(64);
    struct err e = { "" };
    struct queue_end got;

    is_int(queue_stop_read(dir, JOB, 9), QUEUE_GO, "an attempt of which nothing is said goes on");
    for (size_t i = 0; i < ARRAY_SIZE(stops); i++) {
        is_int(queue_stop_write(dir, JOB, 9, stops[i]), 0, "word %zu for a guard is written", i);
        is_int(queue_stop_read(dir, JOB, 9), stops[i], "word %zu for a guard is read", i);
    }
    is_int(queue_stop_write(dir, JOB, 9, QUEUE_LIMIT), 0, "a word of nobody is written");
    is_int(queue_stop_read(dir, JOB, 9), QUEUE_GO, "nobody but the guard ends a job at its limit");
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        is_int(queue_end_write(dir, JOB, 9, &ends[i]), 0, "end %zu is written", i);
        memset(&got, 0x55, sizeof(got));
        is_int(queue_end_read(dir, JOB, 9, &got), 0, "end %zu is read", i);
        ok(got.status == ends[i].status && got.stop == ends[i].stop && got.lost == ends[i].lost &&
               got.unstarted == ends[i].unstarted && got.end_ms == ends[i].end_ms,
           "end %zu has its numbers", i);
        is_str(got.text, ends[i].text, "end %zu has its text", i);
    }
    is_int(queue_order_read(dir, 12, &text, &e), -ENOENT, "a job may have no order");
    is_str(e.text, "cannot read jobs/12/order in the queue's folder: No such file or directory",
           "the error names the order that lacks");
    is_int(queue_order_write(dir, 12, &text, &e), -ENOENT, "an order needs the folder of its job");
    is_str(e.text, "cannot write jobs/12/order in the queue's folder: No such file or directory",
           "the error names the order that cannot be written");
}

/* Start records that are damaged tell of no process. */
static void test_damaged(int dir)
{
    static const char *const cut[] = { "boot=", "pid=", "started=" };
    char good[512] = "", text[512];
    ssize_t len;
    pid_t noted;
    int fd;

    is_int(queue_start_write(dir, JOB, 4, getpid(), ""), 0, "the start of one more is noted");
    fd = openat(dir, "jobs/7/start.4", O_RDWR | O_CLOEXEC);
    folder_need(fd, "start.4");
    len = read(fd, good, sizeof(good));
    for (size_t i = 0; i < ARRAY_SIZE(cut); i++) {
        char *at;

        memcpy(text, good, sizeof(text));
        at = memmem(text, (size_t)len, cut[i], strlen(cut[i]));
        folder_need(at ? 0 : -1, cut[i]);
        *at = 'X';
        folder_need((int)pwrite(fd, text, (size_t)len, 0), "pwrite");
        is_int(queue_start_look(dir, JOB, 4, &noted), START_GONE,
               "a note without %s tells of no process that lives", cut[i]);
    }
    folder_need((int)pwrite(fd, good, (size_t)len, 0), "pwrite");
    is_int(queue_start_look(dir, JOB, 4, &noted), START_LIVES, "the whole note tells of it");
    close(fd);
}

/* A claim tells its guard while that holds it and after. */
static void test_claim(int dir)
{
    pid_t guard = -7;
    int claim;

    is_int(queue_claim_look(dir, JOB, 5, &guard), CLAIM_NONE, "an attempt is not claimed yet");
    is_int(guard, 0, "an attempt that is not claimed has no guard");
    claim = queue_claim(dir, JOB, 5, "");
    ok(claim >= 0, "an attempt is claimed");
    is_int(queue_claim_look(dir, JOB, 5, &guard), CLAIM_HELD, "a claim is held");
    is_int(guard, getpid(), "a claim names its guard");
    close(claim);
    is_int(queue_claim_look(dir, JOB, 5, &guard), CLAIM_LEFT, "a claim is left");
    is_int(guard, getpid(), "a claim that is left names its guard");
    is_int(queue_claim(dir, JOB, 5, ""), -EEXIST, "a claim is made once");
    folder_need(symlinkat("claim.5", dir, "jobs/7/claim.6"), "link");
    is_int(queue_claim_look(dir, JOB, 6, &guard), CLAIM_HELD,
           "of a claim that cannot be opened nobody knows that it is left");
}

/* The group that a claim of an earlier boot names is no group of this one. */
static void test_groups(int dir)
{
    static const char group[] = "/sys/fs/cgroup/brim-job-7.1";
    char text[1024] = "", got[CONTROL_GROUP], *boot;
    int claim = queue_claim(dir, JOB, 10, group), fd;
    ssize_t len;

    folder_need(claim, "claim");
    close(claim);
    queue_group_look(dir, JOB, 10, got);
    is_str(got, group, "a claim names the group of this boot");
    fd = openat(dir, "jobs/7/claim.10", O_RDWR | O_CLOEXEC);
    folder_need(fd, "claim.10");
    len = read(fd, text, sizeof(text) - 1);
    boot = strchr(text, '\n') + 1;
    *boot = *boot == '0' ? '1' : '0';
    folder_need((int)pwrite(fd, text, (size_t)len, 0), "pwrite");
    queue_group_look(dir, JOB, 10, got);
    is_str(got, "", "a claim of an earlier boot names no group");
    folder_need(ftruncate(fd, 0), "ftruncate");
    queue_group_look(dir, JOB, 10, got);
    is_str(got, "", "an empty claim names no group");
    close(fd);
    queue_group_look(dir, JOB, 11, got);
    is_str(got, "", "an attempt without a claim has no group");
    folder_need(queue_start_write(dir, JOB, 10, getpid(), group), "start");
    queue_group_look(dir, JOB, 10, got);
    is_str(got, group, "a start names the group of this boot");
    fd = openat(dir, "jobs/7/start.10", O_RDWR | O_CLOEXEC);
    folder_need(fd, "start.10");
    len = read(fd, text, sizeof(text));
    boot = memmem(text, (size_t)len, "boot=", 5);
    folder_need(boot ? 0 : -1, "boot");
    boot[5] = boot[5] == '0' ? '1' : '0';
    folder_need((int)pwrite(fd, text, (size_t)len, 0), "pwrite");
    close(fd);
    queue_group_look(dir, JOB, 10, got);
    is_str(got, "", "a start of an earlier boot names no group");
}

/* What cannot be written is told with its cause, and what was there stays. */
static void test_without_descriptors(int dir)
{
    CLEANUP(str_done) struct str order = STR_INIT(64), read = STR_INIT(64);
    struct rlimit before, few;
    struct err e;

    str_add(&order, "first");
    is_int(queue_order_write(dir, JOB, &order, &e), 0, "an order is written");
    if (getrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    few = (struct rlimit){ (rlim_t)dir + 1, before.rlim_max };
    str_add(&order, " and second");
    if (setrlimit(RLIMIT_NOFILE, &few) < 0)
        abort();
    is_int(queue_order_write(dir, JOB, &order, &e), -EMFILE,
           "an order without a descriptor for it tells so");
    if (setrlimit(RLIMIT_NOFILE, &before) < 0)
        abort();
    is_int(queue_order_read(dir, JOB, &read, &e), 0, "the order of before is there");
    is_str(str_text(&read), "first", "the order of before is whole");
}

/* An order that does not fit the disk leaves nothing but what was there. */
static void test_full(int dir)
{
    CLEANUP(str_done) struct str order = STR_INIT(64), read = STR_INIT(64);
    struct rlimit before, few;
    struct err e = { "" };
    const char *name;
    size_t n = 0;
    DIR *list;
    int rc;

    is_int(queue_folder_make(dir, 20, &e), 0, "the folder of a job for a full disk is made");
    str_add(&order, "first");
    is_int(queue_order_write(dir, 20, &order, &e), 0, "an order that fits is written");
    is_str(e.text, "", "an order that is written is no error");
    if (getrlimit(RLIMIT_FSIZE, &before) < 0)
        abort();
    few = (struct rlimit){ 7, before.rlim_max };
    str_add(&order, " and second");
    signal(SIGXFSZ, SIG_IGN);
    fflush(stdout);
    if (setrlimit(RLIMIT_FSIZE, &few) < 0)
        abort();
    rc = queue_order_write(dir, 20, &order, &e);
    if (setrlimit(RLIMIT_FSIZE, &before) < 0)
        abort();
    is_int(rc, -EFBIG, "an order that does not fit is told");
    is_str(e.text, "cannot write jobs/20/order in the queue's folder: File too large",
           "the error names the order that does not fit");
    is_int(queue_order_read(dir, 20, &read, &e), 0, "the order of before is read");
    is_str(str_text(&read), "first", "the order of before is as it was");
    rc = openat(dir, "jobs/20", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    list = rc < 0 ? NULL : fdopendir(rc);
    folder_need(list ? 0 : -1, "jobs/20");
    while (folder_next(list, &name) > 0)
        n += strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    closedir(list);
    is_int((long long)n, 1, "a draft that does not fit is removed");
}

int main(void)
{
    char root[PATH_MAX];
    struct err e = { "" };
    int dir;

    folder_make(root);
    dir = queue_files_open(root, false, &e);
    if (dir < 0 || queue_folder_make(dir, JOB, &e) != 0)
        abort();
    test_folders(root);
    test_command(dir);
    test_claim(dir);
    test_groups(dir);
    test_words(dir);
    test_damaged(dir);
    test_removing(dir);
    test_another_process(dir);
    test_full(dir);
    test_without_descriptors(dir);
    close(dir);
    folder_remove(root);
    return done();
}
