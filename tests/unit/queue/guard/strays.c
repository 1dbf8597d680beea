/* Processes of a job whose guard was killed, known by their environment or by their group. Called
 * with an argument the program is such a process. */
#include "queue/guard/strays.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "folder.h"
#include "marked.h"
#include "tap.h"

/* Numbers that no job of this machine has. */
#define MARK "888888888888.777777777"

static size_t count(const char *mark)
{
    struct strays s = { .group = "" };

    snprintf(s.mark, sizeof(s.mark), "%s", mark);
    return strays_send(&s, 0);
}

static void test_marks(void)
{
    char mark[STRAYS_MARK];

    strays_mark(mark, INT64_C(888888888888), 777777777);
    is_str(mark, MARK, "a mark is the number of a job and of its guard");
    strays_mark(mark, INT64_MAX, INT32_MAX);
    is_str(mark, "9223372036854775807.2147483647", "the longest mark is whole");
}

static void test_marked(void)
{
    static const char *const alone[] = { "BRIM_GUARD=" MARK, NULL };
    static const char *const among[] = { "A=1", "BRIM_GUARD=" MARK, "B=2", NULL };
    static const char *const others[] = { "BRIM_GUARD=" MARK "1", "XBRIM_GUARD=" MARK,
                                          "C=BRIM_GUARD=" MARK, "BRIM_GUARD=888888888888.7", NULL };
    struct strays s = { .group = "", .mark = MARK };
    pid_t one, two, other;

    is_int((long long)count(MARK), 0, "a job without processes has none");
    other = marked_start(others);
    is_int((long long)count(MARK), 0, "a process with other variables is not the job's");
    is_int((long long)count("888888888888.7"), 1, "a process is of the job whose mark it has");
    one = marked_start(alone);
    two = marked_start(among);
    is_int((long long)count(MARK), 2, "the mark may be any of a process's variables");
    is_int((long long)strays_send(&s, SIGTERM), 2, "a signal goes to both processes");
    is_int(marked_ended_by(one, true), SIGTERM, "the first process has had the signal");
    is_int(marked_ended_by(two, true), SIGTERM, "the second process has had the signal");
    is_int((long long)count(MARK), 0, "processes that were waited for are gone");
    kill(other, SIGKILL);
    is_int(marked_ended_by(other, true), SIGKILL,
           "a process with other variables has had no signal");
}

/* Where the job has a group its mark is not looked for. */
static void test_group(const char *root)
{
    static const char *const env[] = { "BRIM_GUARD=" MARK, NULL };
    struct strays s = { .mark = MARK };
    pid_t pid = marked_start(env);

    folder_text(root, "group/cgroup.procs", "");
    snprintf(s.group, sizeof(s.group), "%.400s/group", root);
    is_int((long long)strays_send(&s, SIGKILL), 0, "a group that is empty has no processes");
    kill(pid, SIGUSR1);
    is_int(marked_ended_by(pid, true), SIGUSR1,
           "a process that has left its group has had no signal");
}

int main(int argc, char **argv)
{
    char root[PATH_MAX];

    (void)argv;
    marked_wait(argc);
    folder_make(root);
    test_marks();
    test_marked();
    test_group(root);
    is_int(strangers, 0, "no signal goes to a process that is none of the job");
    folder_remove(root);
    return done();
}
