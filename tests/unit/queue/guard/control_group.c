/* The control groups of jobs: below a folder that looks like the kernel's, and, where this process
 * may make one, in the kernel's own. */
#include "queue/guard/control_group.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "queue/guard/files.h"
#include "tap.h"

enum { JOB = 7, ATTEMPT = 1 };

/* A process in a session of its own that waits until it is killed. */
static pid_t make_process(void)
{
    pid_t pid = fork();

    folder_need(pid, "fork");
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        for (;;)
            pause();
    }
    return pid;
}

static void write_pids(const char *root, const char *group, const char *text)
{
    char path[PATH_MAX + 64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", root, group);
    folder_need(mkdir(path, 0755), "mkdir");
    snprintf(path, sizeof(path), "%s/%s/cgroup.procs", root, group);
    f = fopen(path, "w");
    folder_need(f ? fputs(text, f) : -1, "fputs");
    folder_need(fclose(f), "fclose");
}

static void test_counts(const char *root)
{
    char path[PATH_MAX + 16], text[64];
    pid_t pid = make_process();
    int status;

    snprintf(path, sizeof(path), "%s/none", root);
    is_int((int)control_group_send(path, 0), 0, "a group that is not there has no process");
    snprintf(path, sizeof(path), "%s/one", root);
    write_pids(root, "one", "");
    is_int((int)control_group_send(path, 0), 0, "a group without a number has no process");
    snprintf(text, sizeof(text), "%d\n%d\n0\n1\n", (int)pid, (int)getpid());
    write_pids(root, "one/below", text);
    is_int((int)control_group_send(path, 0), 1,
           "a process of a group below counts, and neither we nor the first of all do");
    is_int((int)control_group_send(path, SIGKILL), 1, "a signal goes to one process");
    is_int(waitpid(pid, &status, 0), pid, "the process of the group below has ended");
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the signal was the one that was sent");
}

static void test_names(void)
{
    ok(control_group_is_of("/sys/fs/cgroup/brim-job-7.12", JOB), "a path names its job");
    ok(!control_group_is_of("/sys/fs/cgroup/brim-job-71.2", JOB), "job 71 is not job 7");
    ok(!control_group_is_of("/sys/fs/cgroup/system.slice", JOB), "a slice is no job's group");
    ok(!control_group_is_of("", JOB), "an empty path is no job's group");
}

/* What tells of the group: the claim before the start is noted, then the start. */
static void test_notes(int dir)
{
    char group[CONTROL_GROUP];
    int claim = queue_claim(dir, JOB, ATTEMPT, "/sys/fs/cgroup/brim-job-7.1");

    folder_need(claim, "queue_claim");
    queue_group_look(dir, JOB, ATTEMPT, group);
    is_str(group, "/sys/fs/cgroup/brim-job-7.1", "a claim tells where the group is to be");
    is_int(queue_start_write(dir, JOB, ATTEMPT, getpid(), ""), 0,
           "a start without a group is noted");
    queue_group_look(dir, JOB, ATTEMPT, group);
    is_str(group, "", "a start that is noted without a group has none");
    is_int(queue_start_write(dir, JOB, ATTEMPT, getpid(), "/sys/fs/cgroup/brim-job-7.2"), 0,
           "a start with a group is noted");
    queue_group_look(dir, JOB, ATTEMPT, group);
    is_str(group, "/sys/fs/cgroup/brim-job-7.2", "the note of a start tells its group");
    is_int(queue_start_write(dir, JOB, ATTEMPT, getpid(), "/sys/fs/cgroup/user.slice"), 0,
           "a start with a damaged group is noted");
    queue_group_look(dir, JOB, ATTEMPT, group);
    is_str(group, "", "a group that is not this job's is not used");
    close(claim);
}

static void test_kernel(void)
{
    char path[CONTROL_GROUP], below[CONTROL_GROUP + 16];
    int status;
    pid_t pid;

    control_group_plan(path, JOB);
    if (!*path || control_group_make(path) < 0) {
        printf("# no control group can be made here\n");
        return;
    }
    is_int((int)control_group_send(path, 0), 0, "a new group has no process");
    pid = make_process();
    is_int(control_group_take(path, pid), 0, "a process is put into its group");
    is_int((int)control_group_send(path, 0), 1, "a group has the process that was put into it");
    control_group_remove(path);
    is_int(access(path, F_OK), 0, "a group with a process in it stays");
    snprintf(below, sizeof(below), "%s/below", path);
    folder_need(mkdir(below, 0755), "mkdir");
    ok(control_group_send(path, SIGKILL) <= 1, "at most one process is left by cgroup.kill");
    is_int(waitpid(pid, &status, 0), pid, "the process of the group has ended");
    control_group_remove(path);
    is_int(access(path, F_OK), -1, "a group goes with the groups below it");
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
    test_names();
    test_counts(root);
    test_notes(dir);
    test_kernel();
    close(dir);
    folder_remove(root);
    return done();
}
