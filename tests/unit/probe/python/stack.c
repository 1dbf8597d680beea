/* Calls of Python processes that run here. */
#include "probe/python/stack.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>

#include "base/parse.h"
#include "job.h"
#include "tap.h"

enum { MOST = 256 };

/* The calls of a thread of a job; how many. */
static int calls_of(pid_t pid, pid_t tid, struct python_frame frames[MOST])
{
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct err e = { "" };
    int rc = python_process_open(&p, pid, &e);

    is_int(rc, 0, "the Python of process %d is found: %s", pid, e.text);
    return rc < 0 ? rc : python_process_stack(p, tid, frames, MOST);
}

/* "function:line" of the innermost calls, the first of which is innermost. */
static void is_stack(const struct python_frame *frames, int n, const char *want, const char *what)
{
    char told[1024] = "";
    size_t len = 0;

    for (int i = 0; i < n && len < sizeof(told); i++)
        len += (size_t)snprintf(told + len, sizeof(told) - len, "%s%s:%d", i ? " " : "",
                                frames[i].function, frames[i].line);
    is_str(told, want, "%s", what);
}

/* A process that sits still, and all of its calls. */
static void test_still(const char *python, const char *script, const char *want, const char *what)
{
    struct python_frame frames[MOST];
    struct job job = start(python, script);
    char path[PATH_MAX];
    int n = calls_of(job.pid, 0, frames);

    is_stack(frames, n, want, what);
    folder_path(root, "job.py", path);
    ok(n > 0 && !strcmp(frames[n - 1].file, path), "the file of a call is that of its code");
    stop(&job);
}

/* The number is written as the last thing before the call that the test is about: what the job then
 * still does is within the same line. */
#define READY \
    "import sys, time\ndef sit():\n    sys.stdout.write('1\\n'), sys.stdout.flush(), " \
    "time.sleep(99)\n"

static void test_calls(const char *python)
{
    test_still(python, READY "def inner():\n    sit()\ndef outer():\n    inner()\nouter()\n",
               "sit:3 inner:5 outer:7 <module>:8", "calls are told from the innermost one on");
    test_still(python,
               READY "class Loader:\n"
                     "    def __init__(self):\n"
                     "        list(map(self.decode, [1]))\n"
                     "    def decode(self, _):\n"
                     "        (lambda: sit())()\n"
                     "Loader()\n",
               "sit:3 Loader.decode.<locals>.<lambda>:8 Loader.decode:8 Loader.__init__:6 "
               "<module>:9",
               "calls through C code are told without it");
    test_still(python,
               READY "def items():\n"
                     "    yield 1\n"
                     "    sit()\n"
                     "def batches():\n"
                     "    yield from items()\n"
                     "for _ in batches():\n"
                     "    pass\n",
               "sit:3 items:6 batches:8 <module>:9",
               "generators are told with those they wait for");
    test_still(python,
               READY "async def inner():\n"
                     "    sit()\n"
                     "async def outer():\n"
                     "    await inner()\n"
                     "outer().send(None)\n",
               "sit:3 inner:5 outer:7 <module>:8", "coroutines are told with those they wait for");
    test_still(python,
               READY "def work():\n"
                     "    (sit\n"
                     "        )(\n"
                     "    )\n"
                     "\n\n\n"
                     "work(\n"
                     ")\n",
               "sit:3 work:5 <module>:11", "a call over several lines is told by its first one");
}

/* A call that comes back is told by its line then; one that loops, by a line of its loop. */
static void test_loop(const char *python)
{
    struct job job = start(python, "def spin(n):\n"
                                   "    print(1, flush=True)\n"
                                   "    while True:\n"
                                   "        n += 1\n"
                                   "        n -= 1\n"
                                   "spin(0)\n");
    struct python_frame frames[MOST];
    int n = calls_of(job.pid, 0, frames), looping = n - 2;

    /* it may still be within print() */
    ok(n >= 2 && !strcmp(frames[looping].function, "spin"), "a loop is told by its function");
    ok(n >= 2 && frames[looping].line >= 2 && frames[looping].line <= 5,
       "a loop is told by one of its lines, not by line %d", n < 2 ? n : frames[looping].line);
    stop(&job);
}

static void test_thread(const char *python)
{
    struct job job = start(python, "import threading, time\n"
                                   "def work():\n"
                                   "    started.release(), time.sleep(99)\n"
                                   "started = threading.Lock()\n"
                                   "started.acquire()\n"
                                   "thread = threading.Thread(target=work, daemon=True)\n"
                                   "thread.start()\n"
                                   "started.acquire()\n"
                                   "print(thread.native_id, flush=True), time.sleep(99)\n");
    struct python_frame frames[MOST];
    int n = calls_of(job.pid, (pid_t)job.number, frames);

    ok(n == 4 && !strcmp(frames[0].function, "work") && frames[0].line == 3,
       "a thread's own function is its innermost call, of %d", n);
    ok(n == 4 && !strcmp(frames[3].function, "Thread._bootstrap"),
       "a thread begins in its library");
    n = calls_of(job.pid, 0, frames);
    is_stack(frames, n, "<module>:9", "the main thread has calls of its own");
    is_int(calls_of(job.pid, 1, frames), 0, "a number that no thread has has no calls");
    stop(&job);
}

/* A child that was forked has the number of its thread anew. */
static void test_fork(const char *python)
{
    struct job job = start(python, "import os, time, ctypes\n"
                                   "pid = os.fork()\n"
                                   "if pid:\n"
                                   "    os.waitpid(pid, 0)\n"
                                   "else:\n"
                                   "    ctypes.CDLL(None).prctl(1, 9)\n"
                                   "    print(os.getpid(), flush=True), time.sleep(99)\n");
    struct python_frame frames[MOST];
    int n = calls_of((pid_t)job.number, 0, frames);

    is_stack(frames, n, "<module>:7", "a child that was forked has calls");
    stop(&job);
}

static void test_deep(const char *python)
{
    struct job job = start(python, READY "def down(n):\n"
                                         "    a = b = c = d = e = f = g = h = i = j = n\n"
                                         "    return down(n - 1) if n else sit()\n"
                                         "down(200)\n");
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_frame frames[MOST];
    int n = calls_of(job.pid, 0, frames), wrong = 0;

    is_int(n, 203, "a deep stack is told whole");
    for (int i = 1; i < n - 1; i++)
        wrong += strcmp(frames[i].function, "down") != 0 || frames[i].line != 6;
    is_int(wrong, 0, "all calls of a deep stack are right");
    is_int(python_process_open(&p, job.pid, NULL), 0, "a process is opened twice");
    is_int(python_process_stack(p, 0, frames, 5), 5, "no more calls are told than wanted");
    ok(!strcmp(frames[0].function, "sit") && frames[4].line == 6, "the innermost calls are told");
    stop(&job);
    is_int(python_process_stack(p, 0, frames, 5), 0, "a process that has ended has no calls");
}

/* Functions that call each other all the time: what is told did call what stands before it. Of
 * 110,000 stacks one was seen of which that is not so. */
static void test_busy(const char *python)
{
    static const char *const callers[][2] = { { "leaf", "left" },   { "leaf", "right" },
                                              { "left", "go" },     { "right", "go" },
                                              { "go", "<module>" }, { "many", "go" },
                                              { "leaf", "many" },   { "leaf", "go" } };
    struct job job = start(python, "def leaf(a): return a + 1\n"
                                   "def left(a): return leaf(leaf(a))\n"
                                   "def right(a, b=1, c=2): return leaf(a) + b + c\n"
                                   "def many():\n"
                                   "    yield leaf(1)\n"
                                   "    yield leaf(2)\n"
                                   "def go():\n"
                                   "    while True: left(1), right(2), sum(many())\n"
                                   "print(1, flush=True), go()\n");
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_frame frames[MOST];
    int told = 0, wrong = 0;

    is_int(python_process_open(&p, job.pid, NULL), 0, "a busy process is opened");
    for (int i = 0; i < 2000; i++) {
        int n = python_process_stack(p, 0, frames, MOST);

        told += n > 0;
        for (int k = 0; k + 1 < n; k++) {
            size_t c = 0;

            while (c < ARRAY_SIZE(callers) && (strcmp(callers[c][0], frames[k].function) != 0 ||
                                               strcmp(callers[c][1], frames[k + 1].function) != 0))
                c++;
            wrong += c == ARRAY_SIZE(callers);
        }
        wrong += n > 0 && strcmp(frames[n - 1].function, "<module>") != 0;
    }
    ok(told > 0, "a busy process tells %d stacks of 2000", told);
    ok(wrong < 4, "a busy process tells calls by what called them: not so %d of 2000", wrong);
    is_int(waitpid(job.pid, NULL, WNOHANG), 0, "a busy process still runs");
    stop(&job);
}

/* In a process of its own, whose children have numbers of their own: whether calls are told. */
static int in_namespace(const char *python)
{
    CLEANUP(python_process_closep) struct python_process *p = NULL;
    struct python_frame frames[MOST];
    struct job job;
    int n = 0;

    if (unshare(CLONE_NEWPID) < 0)
        return 77;
    job = start(python, READY "sit()\n");
    if (python_process_open(&p, job.pid, NULL) == 0)
        n = python_process_stack(p, 0, frames, MOST);
    stop(&job);
    return n != 2 || strcmp(frames[0].function, "sit") != 0;
}

/* As root: others may not make such a namespace. */
static void test_namespace(const char *python)
{
    int status = 0;
    pid_t child;

    fflush(stdout);
    child = fork();
    folder_need(child, "fork");
    if (child == 0)
        _exit(in_namespace(python));
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        printf("ok %d - a namespace of numbers # SKIP needs root\n", ++tap_count);
    else
        is_int(status, 0, "a process in a container has calls");
}

static void test_refused(const char *python)
{
    struct python_process *p = NULL;
    struct job job = start(python, READY "sit()\n");
    struct err e = { "" };
    char want[300];
    int status = 0;
    pid_t child;

    is_int(python_process_open(&p, getpid(), &e), -ENOENT, "this test runs no Python");
    snprintf(want, sizeof(want), "process %d runs no Python that can be found", getpid());
    is_str(e.text, want, "a process without Python is named");
    is_int(python_process_open(&p, INT32_MAX, &e), -ESRCH, "a process that is not there has none");
    is_str(e.text, "there is no process 2147483647", "a process that is not there is named");
    fflush(stdout);
    child = geteuid() == 0 ? fork() : -1;
    if (child == 0)
        _exit(setresuid(65534, 65534, 65534) < 0 || python_process_open(&p, job.pid, &e) != -EPERM);
    if (child > 0) {
        waitpid(child, &status, 0);
        is_int(status, 0, "another user's process is refused");
    }
    stop(&job);
}

static void test_all(const char *python)
{
    printf("# %s\n", python);
    test_calls(python);
    test_loop(python);
    test_thread(python);
    test_fork(python);
    test_deep(python);
    test_busy(python);
    test_refused(python);
}

int main(void)
{
    folder_make(root);
    each_python(test_all);
    test_namespace("/usr/bin/python3");
    folder_remove(root);
    return done();
}
