#include "queue/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "queue/guard/command.h"
#include "queue/guard/engine_start.h"
#include "queue/guard/files.h"
#include "queue/guard/group.h"
#include "queue/guard/stop_sequence.h"
#include "queue/job/fds.h"
#include "queue/job/wire.h"
#include "run/job/launch.h"

enum { RETRY_MS = 1000, TAKEN_MS = 60000, LOOK_MS = 50, NAME = 64 };

/* What a child that could not become the command says to its parent. */
struct said {
    int error;
    char text[QUEUE_REASON];
};

/* What a guard holds. */
struct hold {
    const struct queue_guard *g;
    int dir, claim, signals;
    char planned[CONTROL_GROUP]; /* where the job's control group is to be */
    struct queue_group group;
    struct stop_sequence course;
    struct queue_end end;
    pid_t pid;
    int told; /* where a child tells that it could not become the command; -1: it was heard */
    struct said said;
    bool refused; /* that is in said */
    bool gone;    /* the first process, whose status is in end */
    enum queue_stop wanted;
};

static int64_t wall_ms(void)
{
    return clock_wall_ns(&clock_system) / NS_PER_MS;
}

static int64_t now_ms(void)
{
    return clock_monotonic_ns(&clock_system) / NS_PER_MS;
}

/* ---- the command ---- */

/* In the child: wait until the start is on the disk, then become the command. */
static void become(const struct hold *h, const struct queue_command *c, int go, int told)
{
    struct said said = { .error = 0 };
    struct err e = { "" };
    char byte;

    close(h->claim); /* a lock that only a guard holds */
    setpgid(0, 0);
    if (read(go, &byte, 1) != 1)
        _exit(1); /* the guard died, or could not write: nothing is to be executed */
    said.error = -queue_command_become(c, h->g, &e);
    snprintf(said.text, sizeof(said.text), "%.*s", (int)sizeof(said.text) - 1, e.text);
    if (write(told, &said, sizeof(said)) < 0)
        _exit(1);
    _exit(LAUNCH_NOT_FOUND);
}

static int open_output(const struct hold *h, struct err *e)
{
    const struct queue_job *j = h->g->job;
    char name[NAME];
    int fd;

    snprintf(name, sizeof(name), "jobs/%lld/output", (long long)j->id);
    fd = openat(h->dir, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(e, -errno, "cannot write its output to %s: %s", name, strerror(errno));
    if (geteuid() == 0 && fchown(fd, j->uid, j->gid) < 0) {
        int rc = err_set(e, -errno, "cannot give %s to its owner: %s", name, strerror(errno));

        close(fd);
        return rc;
    }
    return fd;
}

/* Let the child go once its start is on the disk. */
static int let_go(struct hold *h, int go, struct err *e)
{
    const struct queue_job *j = h->g->job;
    int rc;

    (void)setpgid(h->pid, h->pid);
    queue_group_take(&h->group, h->pid);
    rc = queue_start_write(h->dir, j->id, j->attempt, h->pid, h->group.path);
    if (rc < 0)
        return err_set(e, rc, "cannot write into the queue's folder: %s", strerror(-rc));
    if (write(go, "", 1) != 1)
        return err_set(e, -EAGAIN, "its process was killed before it had become the command");
    return 0;
}

/* Nothing here waits for the child: what it opens may hang, and it is under the job's times. */
static int start(struct hold *h, const struct queue_command *c, struct err *e)
{
    int go[2] = { -1, -1 }, told[2] = { -1, -1 }, rc = 0;

    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC | O_NONBLOCK) < 0)
        rc = -errno;
    h->pid = rc == 0 ? fork() : -1;
    if (h->pid == 0) {
        close(go[1]);
        become(h, c, go[0], told[1]);
    }
    if (h->pid < 0 && rc == 0)
        rc = -errno;
    closep(&go[0]);
    closep(&told[1]);
    rc = rc < 0 ? err_set(e, rc, "cannot start a process: %s", strerror(-rc)) : let_go(h, go[1], e);
    closep(&go[1]);
    if (rc < 0)
        closep(&told[0]);
    else
        h->told = told[0];
    if (rc < 0 && h->pid > 0)
        waitpid(h->pid, NULL, 0);
    return rc;
}

static int launch(struct hold *h, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str order = STR_INIT(WIRE_ORDER);
    struct queue_command c = { .output = -1 };
    int rc = queue_order_read(h->dir, h->g->job->array, &order, e);

    if (rc == 0)
        rc = queue_command_make(&c, &a, h->g, &order, e);
    if (rc == 0)
        rc = c.output = open_output(h, e);
    if (rc >= 0)
        rc = queue_group_open(&h->group, h->planned, e);
    if (rc >= 0)
        rc = start(h, &c, e);
    closep(&c.output);
    return rc;
}

/* ---- while it runs ---- */

/* Whether the child became the command, which closes its end, or tells why not. */
static void hear(struct hold *h)
{
    ssize_t n = h->told < 0 ? -1 : read(h->told, &h->said, sizeof(h->said));

    if (h->told < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    h->refused = n == (ssize_t)sizeof(h->said);
    h->said.text[sizeof(h->said.text) - 1] = 0;
    closep(&h->told);
    h->told = -1;
}

static void reap(struct hold *h)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        if (pid == h->pid) {
            h->gone = true;
            h->end.status = status;
            h->end.end_ms = wall_ms();
        }
}

static void take_signals(struct hold *h)
{
    const struct queue_job *j = h->g->job;
    struct signalfd_siginfo s;

    while (read(h->signals, &s, sizeof(s)) == sizeof(s))
        if (s.ssi_signo == SIGTERM)
            h->wanted = queue_stop_read(h->dir, j->id, j->attempt);
    reap(h);
}

static void send(struct hold *h, struct stop_step step)
{
    if (step.whom == COURSE_ALL)
        (void)queue_group_send(&h->group, step.signal);
    else if (!h->gone)
        kill(step.whom == COURSE_GROUP ? -h->pid : h->pid, step.signal);
}

static void rest(const struct hold *h)
{
    struct pollfd fds[] = { { .fd = h->signals, .events = POLLIN },
                            { .fd = h->told, .events = POLLIN } };
    int64_t due = h->course.due_ms, now = now_ms();
    int64_t wait = due == INT64_MAX ? -1 : MIN(MAX(due - now, 0), INT_MAX);

    if (h->gone) /* others may end without a word to us */
        wait = wait < 0 ? COURSE_AGAIN_MS : MIN(wait, COURSE_AGAIN_MS);
    (void)poll(fds, ARRAY_SIZE(fds), (int)wait);
}

static void keep(struct hold *h)
{
    stop_sequence_begin(&h->course, h->g->job, now_ms());
    for (;;) {
        struct stop_step step;

        take_signals(h);
        hear(h);
        if (h->gone && queue_group_send(&h->group, 0) == 0)
            break;
        while (stop_sequence_next(&h->course, h->wanted, h->gone, now_ms(), &step)) {
            if (!h->gone)
                h->end.stop = h->course.stop;
            send(h, step);
        }
        rest(h);
    }
}

/* ---- begin and end ---- */

static int prepare(struct hold *h)
{
    sigset_t watched, all;

    setsid();
    queue_fds_close(QUEUE_LOW_FDS);
    if (queue_fds_null(QUEUE_LOW_FDS) < 0)
        return -errno;
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    (void)prctl(PR_SET_NAME, "brim-guard", 0, 0, 0);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    h->signals = signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    h->dir = open(h->g->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return h->signals < 0 || h->dir < 0 ? -errno : 0;
}

/* A full disk may become less full: devices stay given until then. */
static void leave_word(struct hold *h)
{
    const struct queue_job *j = h->g->job;

    while (queue_end_write(h->dir, j->id, j->attempt, &h->end) == -ENOSPC)
        (void)poll(NULL, 0, RETRY_MS);
}

/* An engine that died shall take up what comes next; one that was stopped shall not. One that lives
 * may be about to die: the guard stays until its word was taken. */
static void wake_engine(const struct hold *h)
{
    const struct queue_job *j = h->g->job;
    int64_t end_ms = now_ms() + TAKEN_MS;
    struct queue_end word;

    while (queue_end_read(h->dir, j->id, j->attempt, &word) == 0 &&
           faccessat(h->dir, QUEUE_STOPPED, F_OK, 0) < 0 && now_ms() < end_ms) {
        if (!queue_engine_lives(h->dir) && queue_engine_start(h->g->folder) == 0)
            return;
        (void)poll(NULL, 0, LOOK_MS);
    }
}

bool queue_guard_passes(int rc)
{
    return rc == -ENOSPC || rc == -EDQUOT || rc == -ENOMEM || rc == -EAGAIN || rc == -EMFILE ||
           rc == -ENFILE;
}

static void say_unstarted(struct hold *h, int rc, const char *why)
{
    int status = rc == -ENOENT ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;

    h->end.unstarted = true;
    h->end.status = (queue_guard_passes(rc) ? QUEUE_REQUEUED : status) << 8;
    h->end.end_ms = wall_ms();
    snprintf(h->end.text, sizeof(h->end.text), "not started: %.*s", (int)sizeof(h->end.text) - 16,
             why);
    if (queue_guard_passes(rc))
        (void)poll(NULL, 0, RETRY_MS);
}

static void guard(const struct queue_guard *g)
{
    struct hold h = {
        .g = g, .dir = -1, .claim = -1, .signals = -1, .told = -1, .group = { .proc = -1 }
    };
    struct err e = { "" };
    int rc = prepare(&h);

    if (rc < 0)
        _exit(1);
    control_group_plan(h.planned, g->job->id);
    h.claim = queue_claim(h.dir, g->job->id, g->job->attempt, h.planned);
    if (h.claim < 0)
        _exit(h.claim != -EEXIST);
    h.wanted = queue_stop_read(h.dir, g->job->id, g->job->attempt);
    rc = h.wanted == QUEUE_GO ? launch(&h, &e) : err_set(&e, -EAGAIN, "it was to stop before that");
    if (rc < 0)
        say_unstarted(&h, rc, e.text);
    else
        keep(&h);
    if (h.refused)
        say_unstarted(&h, h.said.error ? -h.said.error : -EIO, h.said.text);
    queue_group_close(&h.group);
    leave_word(&h);
    close(h.claim);
    wake_engine(&h);
    _exit(0);
}

pid_t queue_guard_start(const struct queue_guard *g)
{
    pid_t pid = fork();

    if (pid == 0)
        guard(g);
    return pid < 0 ? -errno : pid;
}
