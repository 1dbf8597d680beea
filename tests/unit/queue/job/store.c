/* What the queue remembers: its database and the files beside it, with allocations failing. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "folder.h"
#include "oom.h"
#include "queue/guard/files.h"
#include "queue/job/store.h"
#include "queue/job/wire.h"
#include "tap.h"

static struct queue_job some_job(const char *name)
{
    struct queue_job j = { .task = -1, .uid = 7, .priority = -3, .requeue = true, .watch = -1 };

    snprintf(j.name, sizeof(j.name), "%s", name);
    snprintf(j.token, sizeof(j.token), "token of %s", name);
    snprintf(j.user, sizeof(j.user), "%s", "u");
    return j;
}

struct found {
    struct queue_job job;
    size_t n;
};

static int find(void *arg, const struct queue_job *j)
{
    struct found *f = arg;

    f->job = *j;
    f->n++;
    return 0;
}

static int add_had(void *arg, const char *user, double had_ms)
{
    if (!strcmp(user, "u"))
        *(double *)arg += had_ms;
    return 0;
}

/* Open, store, change, read; what failed first. */
static int use(const char *path, struct err *e)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    struct queue_job j = some_job("oom");
    struct found f = { .n = 0 };
    int rc = queue_store_open(&s, path, e);

    if (rc == 0)
        rc = queue_store_begin(s, e);
    if (rc == 0)
        rc = queue_store_add(s, &j, e);
    if (rc == 0)
        rc = queue_store_commit(s, e);
    if (rc == 0)
        rc = queue_store_put(s, &j, e);
    return rc == 0 ? queue_store_list(s, QUEUE_LIVE, 0, find, &f, e) : rc;
}

static void test_oom(const char *root)
{
    char path[PATH_MAX];
    bool failed;

    oom_restart();
    do {
        struct err e = { "" };
        int rc;

        snprintf(path, sizeof(path), "%.4000s/oom%d.db", root, oom_at);
        oom_next();
        rc = use(path, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM && *e.text : rc == 0,
           "the store with allocation %d failing returns %d: '%s'", oom_at, rc, e.text);
    } while (failed);
}

static void test_rows(const char *root)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    struct queue_job one = some_job("one"), two = some_job("two");
    struct found f = { .n = 0 };
    struct queue_met met;
    char path[PATH_MAX];
    struct err e = { "" };
    int64_t id;
    double had = 0;

    snprintf(path, sizeof(path), "%.4000s/queue.db", root);
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open makes a new file: %s", e.text);
    is_int(queue_store_add(s, &one, &e), 0, "queue_store_add adds a job: %s", e.text);
    two.array = one.id;
    two.task = 4;
    is_int(queue_store_add(s, &two, &e), 0, "queue_store_add adds a task of an array");
    ok(one.id > 0 && two.id > one.id, "numbers of jobs grow");
    one.state = QUEUE_ENDED;
    one.outcome = QUEUE_DONE;
    one.end_ms = one.ran_ms = 5000;
    one.devices = 2;
    snprintf(one.slots, sizeof(one.slots), "0,1");
    is_int(queue_store_put(s, &one, &e), 0, "queue_store_put stores a job that ended");
    queue_store_close(steal(&s));
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open opens the file again: %s", e.text);
    is_int(queue_store_list(s, QUEUE_LIVE, 0, find, &f, &e), 0,
           "queue_store_list lists the jobs that have not ended");
    ok(f.n == 1 && f.job.id == two.id && f.job.task == 4 && f.job.requeue && f.job.watch == -1 &&
           f.job.priority == -3 && f.job.uid == 7,
       "all of it is there");
    is_str(f.job.name, "two", "the name of the job is stored");
    is_int(queue_store_list(s, QUEUE_OF_ARRAY, one.id, find, &f, &e), 0,
           "queue_store_list lists the jobs of the array");
    is_int((long long)f.n, 3, "the list has both jobs of the array");
    is_int(queue_store_met(s, one.id, &met, &e), 0,
           "queue_store_met reads a dependency on the array");
    ok(met.all == 2 && met.ended == 1 && met.done == 1 && met.started == 0,
       "a dependency on an array counts each of its jobs");
    is_int(queue_store_met(s, 99, &met, &e), 0, "queue_store_met reads a dependency on no job");
    is_int(met.all, 0, "a dependency on no job counts no job");
    is_int(queue_store_token(s, "token of two", 7, &id, &e), 0,
           "queue_store_token looks for a token");
    is_int(id, two.id, "the job of a token is found");
    is_int(queue_store_token(s, "token of two", 8, &id, &e), 0,
           "queue_store_token looks for a token of another user");
    is_int(id, 0, "the token of another user has no job");
    is_int(queue_store_had(s, 6000, 1000, add_had, &had, &e), 0, "what a user had");
    ok(had > 4999 && had < 5001, "what a user had is halved in a second: %g", had);
    is_int(queue_store_begin(s, &e), 0, "queue_store_begin begins a change");
    is_int(queue_store_remove(s, one.id, &e), 0,
           "queue_store_remove removes a job within the change");
    queue_store_rollback(s);
    f.n = 0;
    is_int(queue_store_list(s, QUEUE_OLD, 6000, find, &f, &e), 0,
           "queue_store_list lists the old jobs");
    ok(f.n == 1 && f.job.id == one.id, "a job whose removal was rolled back is still there");
}

static void test_damaged(const char *root)
{
    struct queue_store *s = NULL;
    char path[PATH_MAX];
    struct err e = { "" };
    FILE *file;

    snprintf(path, sizeof(path), "%.4000s/damaged.db", root);
    file = fopen(path, "w");
    for (int i = 0; file && i < 500; i++)
        fputs("this is no database ", file);
    if (file)
        fclose(file);
    is_int(queue_store_open(&s, path, &e), -EUCLEAN, "a file that is none: %s", e.text);
    ok(strstr(e.text, "move that file away") != NULL, "the way out is told");
}

/* A claim is there once, and known to be held until its process has gone. */
static void test_claims(int dir)
{
    struct err e = { "" };
    int claimed[2], status;
    pid_t pid, told;
    char byte;

    is_int(queue_folder_make(dir, 5, &e), 0, "queue_folder_make makes the folder of a job: %s",
           e.text);
    is_int(queue_claim_look(dir, 5, 1, &told), CLAIM_NONE, "nobody has claimed it");
    folder_need(pipe(claimed), "pipe");
    pid = fork();
    if (pid == 0) {
        int fd = queue_claim(dir, 5, 1, "");

        if (fd < 0 || write(claimed[1], "", 1) != 1)
            _exit(1);
        pause();
    }
    is_int(read(claimed[0], &byte, 1), 1, "another process claims it");
    is_int(queue_claim_look(dir, 5, 1, &told), CLAIM_HELD, "the other process holds the claim");
    is_int(told, pid, "the claim has the number of the other process");
    is_int(queue_claim(dir, 5, 1, ""), -EEXIST,
           "a claim that another process holds cannot be taken");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    is_int(queue_claim_look(dir, 5, 1, &told), CLAIM_LEFT,
           "a claim whose process was killed is left");
    is_int(queue_claim(dir, 5, 1, ""), -EEXIST, "a claim whose process was killed cannot be taken");
    queue_attempt_forget(dir, 5, 1);
    is_int(queue_claim(dir, 5, 1, ""), -EEXIST,
           "a claim cannot be taken after the attempt is forgotten");
    close(claimed[0]);
    close(claimed[1]);
}

/* A process that is there, but was told of before the machine went down. */
static void another_boot(int dir)
{
    static const char text[] = "boot=0a1b2c3d\0pid=1\0started=1";
    int fd = openat(dir, "jobs/5/start.2", O_WRONLY | O_CREAT, 0600);
    pid_t told;

    folder_need((int)write(fd, text, sizeof(text)), "write");
    close(fd);
    is_int(queue_start_look(dir, 5, 2, &told), START_GONE, "what ran before a reboot has gone");
}

/* A record of this boot whose number was given to another process since: to this one. */
static void another_process(int dir)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    char boot[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY);
    pid_t told;

    folder_need((int)read(fd, boot, sizeof(boot) - 1), "read");
    close(fd);
    boot[strcspn(boot, "\n")] = 0;
    wire_add(&text, "boot", boot);
    wire_add_int(&text, "pid", getpid());
    wire_add_int(&text, "started", 1);
    fd = openat(dir, "jobs/5/start.3", O_WRONLY | O_CREAT, 0600);
    folder_need((int)write(fd, str_text(&text), text.len), "write");
    close(fd);
    is_int(queue_start_look(dir, 5, 3, &told), START_GONE,
           "a process that began at another time is not the one that was started");
    is_int(told, getpid(), "the number of the process is read all the same");
}

static void test_records(int dir)
{
    const struct queue_end end = {
        .status = 3 << 8, .stop = QUEUE_PREEMPT, .lost = true, .end_ms = 77, .text = "it = so"
    };
    struct queue_end got;
    siginfo_t info;
    int status;
    pid_t pid = fork(), told;

    if (pid == 0) {
        pause();
        _exit(0);
    }
    is_int(queue_start_look(dir, 5, 1, &told), START_NONE, "nothing was started");
    is_int(queue_start_write(dir, 5, 1, pid, ""), 0, "queue_start_write writes down the process");
    is_int(queue_start_look(dir, 5, 1, &told), START_LIVES, "a process that was started lives");
    is_int(told, pid, "the process that lives is the one that was started");
    kill(pid, SIGKILL);
    folder_need(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), "waitid");
    is_int(queue_start_look(dir, 5, 1, &told), START_GONE, "a zombie has gone");
    waitpid(pid, &status, 0);
    is_int(queue_start_look(dir, 5, 1, &told), START_GONE,
           "a process that was waited for has gone");
    another_boot(dir);
    another_process(dir);
    is_int(queue_end_read(dir, 5, 1, &got), -ENOENT,
           "an attempt without a guard's word has no end");
    is_int(queue_end_write(dir, 5, 1, &end), 0, "a guard leaves one");
    is_int(queue_end_read(dir, 5, 1, &got), 0, "queue_end_read reads the end that the guard wrote");
    ok(got.status == end.status && got.stop == end.stop && got.lost && !got.unstarted &&
           got.end_ms == 77 && !strcmp(got.text, end.text),
       "the end is read as it was written");
    is_int(queue_stop_read(dir, 5, 1), QUEUE_GO, "nobody asks it to stop");
    is_int(queue_stop_write(dir, 5, 1, QUEUE_CANCEL), 0, "queue_stop_write asks the job to stop");
    is_int(queue_stop_read(dir, 5, 1), QUEUE_CANCEL, "queue_stop_read reads the wish to cancel");
    queue_attempt_forget(dir, 5, 1);
    is_int(queue_end_read(dir, 5, 1, &got), -ENOENT, "an attempt that is forgotten has no end");
    queue_folder_remove(dir, 5);
    is_int(queue_claim(dir, 5, 1, ""), -ENOENT,
           "of a job that is removed there is nothing to claim");
}

int main(void)
{
    char root[PATH_MAX], path[PATH_MAX];
    struct err e = { "" };
    int dir;

    folder_make(root);
    snprintf(path, sizeof(path), "%.4000s/a/b/queue", root);
    dir = queue_files_open(path, false, &e);
    ok(dir >= 0, "the folder is made %s", e.text);
    test_claims(dir);
    test_records(dir);
    close(dir);
    test_rows(root);
    test_damaged(root);
    test_oom(root);
    folder_remove(root);
    return done();
}
