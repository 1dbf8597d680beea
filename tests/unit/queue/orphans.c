/* Attempts whose guards were killed: what their processes are sent, and when all have gone. Called
 * with an argument the program is such a process. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "folder.h"
#include "marked.h"
#include "queue/guard/files.h"
#include "queue/guard/stop_sequence.h"
#include "queue/queue_private.h"
#include "tap.h"

enum { JOB = 999999, ATTEMPT = 3, BEGIN_MS = 5000000 };

struct scene {
    struct local l;
    struct queue_config config;
    struct clock clock;
    int64_t wall_ms, now_ms;
    struct queue_job job;
    char root[PATH_MAX];
};

static int64_t wall_ns(void *arg)
{
    return ((const struct scene *)arg)->wall_ms * NS_PER_MS;
}

static int64_t now_ns(void *arg)
{
    return ((const struct scene *)arg)->now_ms * NS_PER_MS;
}

/* An attempt that began 40 s ago and whose guard, which would be this process, has gone. */
static void begin(struct scene *s, const char *group)
{
    struct err e = { "" };
    int claim;

    *s = (struct scene){ .wall_ms = BEGIN_MS + 40000, .now_ms = 90000 };
    folder_make(s->root);
    s->clock = (struct clock){ now_ns, wall_ns, s };
    s->config = (struct queue_config){ .clock = &s->clock, .folder = s->root };
    s->l.c = &s->config;
    s->l.dir = queue_files_open(s->root, false, &e);
    folder_need(s->l.dir, s->root);
    s->job = (struct queue_job){ .id = JOB, .attempt = ATTEMPT, .state = QUEUE_RUNNING };
    s->job.since_ms = BEGIN_MS;
    s->job.signal = SIGUSR1;
    folder_need(queue_folder_make(s->l.dir, JOB, &e), e.text);
    claim = queue_claim(s->l.dir, JOB, ATTEMPT, group);
    folder_need(claim, "claim");
    close(claim);
}

static void end(struct scene *s)
{
    orphans_free(&s->l);
    close(s->l.dir);
    folder_remove(s->root);
}

static pid_t make_process(void)
{
    const char *env[2] = { NULL };
    char variable[64];

    snprintf(variable, sizeof(variable), "BRIM_GUARD=%d.%d", JOB, (int)getpid());
    env[0] = variable;
    return marked_start(env);
}

static pid_t start(struct scene *s)
{
    pid_t pid = make_process();

    folder_need(queue_start_write(s->l.dir, JOB, ATTEMPT, pid, ""), "start");
    return pid;
}

/* Whether the attempt has processes; why it was being ended. */
static bool keep(struct scene *s, int *why)
{
    uint8_t stop = 77;
    bool any = orphans_keep(&s->l, &s->job, &stop);

    *why = stop;
    return any;
}

/* Nobody asked for its end, and it has no limit. */
static void test_goes_on(void)
{
    struct scene s;
    pid_t pid;
    int why;

    begin(&s, "");
    pid = start(&s);
    ok(keep(&s, &why), "an attempt goes on whose command lives");
    is_int(why, QUEUE_GO, "nobody ends an attempt that goes on");
    s.now_ms += 86400000;
    ok(keep(&s, &why), "an attempt without a limit goes on for long");
    is_int((long long)s.l.orphans.n, 1, "an attempt is looked after once");
    is_int(sent, 0, "an attempt that goes on is sent nothing");
    kill(pid, SIGKILL);
    is_int(marked_ended_by(pid, true), SIGKILL, "the command is ended by somebody else");
    ok(!keep(&s, &why), "an attempt has ended when its command has");
    is_int(why, QUEUE_GO, "nobody has ended an attempt that was killed by somebody else");
    end(&s);
}

/* The limit counts from when the attempt began, by a clock that may step. */
static void test_limit(void)
{
    struct scene s;
    pid_t pid;
    int why;

    begin(&s, "");
    s.job.limit_ms = 60000;
    sent = 0;
    pid = start(&s);
    ok(keep(&s, &why), "an attempt goes on before its limit");
    s.now_ms += 19999;
    s.wall_ms += 500000;
    ok(keep(&s, &why), "an attempt goes on until its limit");
    is_int(sent, 0, "an attempt is sent nothing before its limit");
    s.now_ms++;
    ok(keep(&s, &why), "an attempt that has just been asked to end may live");
    is_int(marked_ended_by(pid, true), SIGTERM, "an attempt is asked to end at its limit");
    ok(!keep(&s, &why), "an attempt has ended after its limit");
    is_int(why, QUEUE_LIMIT, "the limit is why the attempt was ended");
    orphans_forget(&s.l, &s.job);
    is_int((long long)s.l.orphans.n, 0, "an attempt that is forgotten is not looked after");
    ok(!keep(&s, &why) && why == QUEUE_GO, "of an attempt that is forgotten nothing is known");
    end(&s);
}

/* A clock that was set back does not give an attempt time. */
static void test_clock(void)
{
    struct scene s;
    pid_t pid;
    int why;

    begin(&s, "");
    s.job.limit_ms = 60000;
    s.wall_ms = BEGIN_MS - 1000000;
    pid = start(&s);
    ok(keep(&s, &why), "an attempt that is to begin later goes on");
    s.now_ms += 59999;
    sent = 0;
    ok(keep(&s, &why), "an attempt that was to begin later goes on until its limit");
    is_int(sent, 0, "an attempt that was to begin later is sent nothing before its limit");
    s.now_ms++;
    ok(keep(&s, &why), "an attempt that was to begin later is ended");
    is_int(marked_ended_by(pid, true), SIGTERM, "an attempt has its limit from the first look on");
    end(&s);
}

/* The first process is asked by the signal of its choice, then all of its group are. */
static void test_stop(void)
{
    struct scene s;
    pid_t pid, beside;
    int why;

    begin(&s, "");
    s.job.grace_ms = 30000;
    pid = start(&s);
    beside = make_process();
    ok(keep(&s, &why), "an attempt goes on that nobody stops");
    s.job.stop = QUEUE_PREEMPT;
    ok(keep(&s, &why), "an attempt that is asked for a checkpoint lives");
    is_int(marked_ended_by(pid, true), SIGUSR1,
           "a job is asked for a checkpoint by its own signal");
    is_int(marked_ended_by(beside, false), 0, "the first process alone is asked for a checkpoint");
    ok(keep(&s, &why), "an attempt lives as long as any of its processes does");
    is_int(why, QUEUE_PREEMPT, "the attempt was stopped for others");
    is_int(marked_ended_by(beside, true), SIGTERM, "what the first process leaves is asked to end");
    ok(!keep(&s, &why), "an attempt has ended whose last process has");
    end(&s);
}

/* What does not end when it is asked to is killed, wherever it stands. */
static void test_kill(void)
{
    struct scene s;
    pid_t pid, beside;
    int why;

    begin(&s, "");
    pid = start(&s);
    beside = make_process();
    s.job.stop = QUEUE_CANCEL;
    marked_stop(pid);
    marked_stop(beside);
    ok(keep(&s, &why), "an attempt that is to be cancelled lives");
    is_int(why, QUEUE_GO, "why an attempt is ended is known at the next look");
    s.now_ms += COURSE_KILL_MS - 1;
    ok(keep(&s, &why), "an attempt has its time to end");
    is_int(why, QUEUE_CANCEL, "the attempt is ended by its owner");
    is_int(marked_ended_by(beside, false), 0, "an attempt is not killed before its time");
    s.now_ms++;
    ok(keep(&s, &why), "an attempt is killed after its time");
    is_int(marked_ended_by(pid, true), SIGKILL, "a first process that does not end is killed");
    is_int(marked_ended_by(beside, true), SIGKILL, "all that do not end are killed");
    ok(!keep(&s, &why), "an attempt that was killed has ended");
    end(&s);
}

/* One whose start was not noted was never executed. */
static void test_unstarted(void)
{
    struct scene s;
    pid_t pid;
    int why;

    begin(&s, "");
    pid = make_process();
    ok(keep(&s, &why), "a process that waits for its guard is there");
    is_int(marked_ended_by(pid, true), SIGKILL, "a process that waits for its guard is killed");
    ok(!keep(&s, &why), "an attempt that was never executed has ended");
    is_int(why, QUEUE_GO, "nobody ended what was never executed");
    end(&s);
}

/* The control group goes with the last of its processes. */
static void test_group(void)
{
    char root[PATH_MAX], group[PATH_MAX + 32], procs[64];
    struct scene s;
    pid_t pid;
    int why;

    folder_make(root);
    snprintf(group, sizeof(group), "%s/brim-job-%d.1", root, JOB);
    pid = make_process();
    snprintf(procs, sizeof(procs), "%d\n", (int)pid);
    begin(&s, group);
    folder_text(root, "brim-job-999999.1/cgroup.procs", procs);
    ok(keep(&s, &why), "an attempt is there whose group has a process");
    is_int(marked_ended_by(pid, true), SIGKILL, "a process of the group is killed");
    snprintf(procs, sizeof(procs), "brim-job-%d.1/cgroup.procs", JOB);
    snprintf(group, sizeof(group), "%s/%s", root, procs);
    folder_need(unlink(group), group);
    ok(!keep(&s, &why), "an attempt has ended whose group is empty");
    snprintf(group, sizeof(group), "%s/brim-job-%d.1", root, JOB);
    is_int(access(group, F_OK), -1, "a group that is empty is removed");
    folder_remove(root);
    end(&s);
}

/* Several at once, each with its own course. */
static void test_several(void)
{
    struct queue_job jobs[3];
    struct scene s;
    uint8_t stop;
    pid_t pid;

    begin(&s, "");
    pid = make_process();
    for (int i = 0; i < 3; i++) {
        struct err e = { "" };

        jobs[i] = s.job;
        jobs[i].id = JOB + 10 + i / 2; /* the last two: attempts of one job */
        jobs[i].attempt = i;
        jobs[i].limit_ms = 41000 + 1000 * i;
        folder_need(queue_folder_make(s.l.dir, jobs[i].id, &e), e.text);
        folder_need(queue_start_write(s.l.dir, jobs[i].id, i, pid, ""), "start");
        ok(orphans_keep(&s.l, &jobs[i], &stop), "attempt %d is looked after", i);
    }
    marked_stop(pid);
    s.now_ms += 2000;
    for (int i = 0; i < 3; i++)
        ok(orphans_keep(&s.l, &jobs[i], &stop), "attempt %d is looked after again", i);
    for (int i = 0; i < 3; i++) {
        ok(orphans_keep(&s.l, &jobs[i], &stop), "attempt %d is there", i);
        is_int(stop, i < 2 ? QUEUE_LIMIT : QUEUE_GO, "attempt %d is ended or not yet", i);
    }
    orphans_forget(&s.l, &jobs[0]);
    is_int((long long)s.l.orphans.n, 2, "one of three attempts is forgotten");
    (void)orphans_keep(&s.l, &jobs[1], &stop);
    is_int(stop, QUEUE_LIMIT, "the second of three attempts is as it was");
    (void)orphans_keep(&s.l, &jobs[2], &stop);
    is_int(stop, QUEUE_GO, "the third of three attempts is as it was");
    kill(pid, SIGKILL);
    is_int(marked_ended_by(pid, true), SIGKILL, "the process of three attempts has ended");
    end(&s);
}

int main(int argc, char **argv)
{
    (void)argv;
    marked_wait(argc);
    test_goes_on();
    test_limit();
    test_clock();
    test_stop();
    test_kill();
    test_unstarted();
    test_group();
    test_several();
    is_int(strangers, 0, "no signal goes to a process that is none of the job");
    return done();
}
