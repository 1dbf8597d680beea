/* What the queue remembers: its database and the files beside it, with allocations failing. */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "folder.h"
#include "oom.h"
#include "queue/guard/files.h"
#include "queue/job/store.h"
#include "queue/job/wire.h"
#include "store/sql.h"
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
    one.device_ms = 10000;
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

/* Of each column another value than of all others, of an array in two jobs. */
static struct queue_job full_job(int64_t x)
{
    struct queue_job j = {
        .array = 2 + x,
        .task = 3,
        .width = 4,
        .uid = UINT32_MAX - 5,
        .gid = UINT32_MAX - 6,
        .devices = 7,
        .cpus = 8,
        .priority = -9,
        .limit_ms = (INT64_C(10) << 40) + x,
        .warn_ms = (INT64_C(11) << 40) + x,
        .grace_ms = (INT64_C(12) << 40) + x,
        .deadline_ms = (INT64_C(13) << 40) + x,
        .signal = 14,
        .held = x == 0,
        .requeue = x != 0,
        .watch = -1,
        .state = QUEUE_RUNNING,
        .outcome = 200,
        .stop = QUEUE_CANCEL,
        .attempt = 15,
        .status = INT32_MIN + 16,
        .submit_ms = (INT64_C(17) << 40) + x,
        .start_ms = (INT64_C(18) << 40) + x,
        .end_ms = (INT64_C(19) << 40) + x,
        .since_ms = (INT64_C(20) << 40) + x,
        .ran_ms = (INT64_C(21) << 40) + x,
        .device_ms = (INT64_C(26) << 40) + x,
        .yields = (INT64_C(22) << 40) + x,
        .share = x == 0,
        .memory_b = (INT64_C(27) << 40) + x,
        .host = (INT64_C(28) << 40) + x,
        .apart = x != 0,
        .memory_milli = 29,
        .worked_ms = (INT64_C(30) << 40) + x,
        .worked = (INT64_C(31) << 40) + x,
        .alone_ms = (INT64_C(32) << 40) + x,
        .alone = (INT64_C(33) << 40) + x,
        .parked_ms = (INT64_C(34) << 40) + x,
        .steps = -1,
        .milli = -1,
        .seen_ms = (INT64_C(23) << 40) + x,
        .told_ms = (INT64_C(24) << 40) + x,
        .user = "u",
        .name = "n",
        .team = "tm",
        .class = "c",
        .least = 25,
        .next = "nx",
        .token = "t",
        .after = "a",
        .slots = "s",
        .place = "p",
        .bound = "b",
        .reason = "r",
        .stopped = "st",
        .used = "us",
    };

    return j;
}

static void is_same(const struct queue_job *got, const struct queue_job *want, const char *what)
{
#define SAME(member) \
    ok(!memcmp(&got->member, &want->member, sizeof(got->member)), \
       "the member %s of a job is what %s", #member, what)
    SAME(id), SAME(array), SAME(task), SAME(width), SAME(uid), SAME(gid);
    SAME(user), SAME(name), SAME(team), SAME(class), SAME(token), SAME(after);
    SAME(devices), SAME(cpus), SAME(least), SAME(next), SAME(priority), SAME(limit_ms),
        SAME(warn_ms), SAME(grace_ms);
    SAME(deadline_ms), SAME(signal), SAME(held), SAME(requeue), SAME(watch);
    SAME(state), SAME(outcome), SAME(stop), SAME(attempt), SAME(status);
    SAME(submit_ms), SAME(start_ms), SAME(end_ms), SAME(since_ms), SAME(ran_ms), SAME(device_ms);
    SAME(slots), SAME(place), SAME(bound), SAME(reason), SAME(stopped), SAME(yields);
    SAME(used), SAME(milli), SAME(seen_ms), SAME(told_ms);
    SAME(share), SAME(memory_b), SAME(host), SAME(apart), SAME(memory_milli), SAME(steps);
    SAME(worked_ms), SAME(worked), SAME(alone_ms), SAME(alone), SAME(parked_ms);
}

/* Each member of a job comes back from the file. */
static void test_columns(const char *root)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    struct queue_job one = full_job(0), two = full_job(1);
    struct found f = { .n = 0 };
    char path[PATH_MAX];
    struct err e = { "" };

    snprintf(path, sizeof(path), "%.4000s/columns.db", root);
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open makes another file: %s", e.text);
    is_int(queue_store_add(s, &one, &e), 0, "queue_store_add adds a job with all members");
    queue_store_close(steal(&s));
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open opens that file again");
    is_int(queue_store_list(s, QUEUE_LIVE, 0, find, &f, &e), 0, "the job is listed");
    is_same(&f.job, &one, "was added");
    two.id = one.id;
    is_int(queue_store_put(s, &two, &e), 0, "queue_store_put changes all members of a job");
    is_int(queue_store_list(s, QUEUE_LIVE, 0, find, &f, &e), 0, "the changed job is listed");
    is_same(&f.job, &two, "was put");
}

/* Which jobs a list has, on both sides of what it asks for. */
static void test_lists(const char *root)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    char path[PATH_MAX];
    struct err e = { "" };
    struct queue_met met;
    static const struct {
        enum queue_which which;
        int64_t argument, from;
        size_t n;
    } lists[] = {
        { QUEUE_LIVE, 0, 0, 2 },      { QUEUE_OLD, 1000, 0, 0 },    { QUEUE_OLD, 1001, 0, 1 },
        { QUEUE_OLD, 2001, 0, 2 },    { QUEUE_RECENT, 1000, 1, 4 }, { QUEUE_RECENT, 1001, 1, 3 },
        { QUEUE_RECENT, 2001, 1, 2 }, { QUEUE_RECENT, 0, 2, 3 },    { QUEUE_RECENT, 0, 4, 1 },
        { QUEUE_OF_ARRAY, 1, 0, 4 },  { QUEUE_OF_ARRAY, 3, 0, 1 },  { QUEUE_OF_ARRAY, 5, 0, 0 },
    };
    double had = 0;

    snprintf(path, sizeof(path), "%.4000s/lists.db", root);
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open makes a file for lists");
    for (int i = 0; i < 4; i++) {
        struct queue_job j = some_job("of a list");

        j.array = 1;
        j.state = i < 2 ? QUEUE_ENDED : i == 2 ? QUEUE_RUNNING : QUEUE_WAITING;
        j.outcome = i == 0 ? QUEUE_DONE : i == 1 ? QUEUE_FAILED : QUEUE_NONE;
        j.attempt = i < 3;
        j.end_ms = i < 2 ? 1000 * (i + 1) : 0;
        j.ran_ms = 500 * i;
        j.devices = 3;
        j.device_ms = j.ran_ms * 3;
        is_int(queue_store_add(s, &j, &e), 0, "queue_store_add adds job %d of a list", i + 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        struct found f = { .n = 0 };
        int rc = lists[i].from
                     ? queue_store_recent(s, lists[i].argument, lists[i].from, find, &f, &e)
                     : queue_store_list(s, lists[i].which, lists[i].argument, find, &f, &e);

        is_int(rc, 0, "list %zu is read", i);
        is_int((long long)f.n, (long long)lists[i].n, "list %zu has its jobs", i);
    }
    is_int(queue_store_met(s, 1, &met, &e), 0, "a dependency on all four is read");
    ok(met.all == 4 && met.started == 1 && met.ended == 2 && met.done == 1,
       "a dependency tells those that started, ended and did their work apart");
    /* Of those that ended only the second has run: 500 ms on three devices, two half-lives ago. */
    is_int(queue_store_had(s, 4000, 1000, add_had, &had, &e), 0, "what users had is read");
    ok(had > 374 && had < 376, "what a user had is of its jobs that ended and ran: %g", had);
    had = 0;
    is_int(queue_store_had(s, 4000, 0, add_had, &had, &e), 0, "what users had for ever is read");
    ok(had > 1499 && had < 1501, "without a half-life nothing is forgotten: %g", had);
    had = 0;
    is_int(queue_store_had(s, 22000, 1000, add_had, &had, &e), 0, "what users had long ago");
    ok(had == 0, "after 20 half-lives it is forgotten: %g", had);
}

/* What came after the first version of the file, and with which. */
#define SINCE(version, member) \
    { \
#member, version, offsetof(struct queue_job, member), \
            sizeof(((struct queue_job *)NULL)->member) \
    }
static const struct since {
    const char *name;
    int version;
    size_t offset, size;
} since[] = {
    SINCE(2, bound),        SINCE(2, stopped),   SINCE(2, used),        SINCE(2, seen_ms),
    SINCE(2, told_ms),      SINCE(2, yields),    SINCE(3, deadline_ms), SINCE(4, team),
    SINCE(4, class),        SINCE(5, least),     SINCE(5, next),        SINCE(6, device_ms),
    SINCE(7, share),        SINCE(7, memory_b),  SINCE(7, host),        SINCE(7, apart),
    SINCE(7, memory_milli), SINCE(7, worked_ms), SINCE(7, worked),      SINCE(7, alone_ms),
    SINCE(7, alone),        SINCE(8, parked_ms),
};

/* Make the file what an earlier brim would have written of that job. */
static void make_earlier(const char *path, int version, struct queue_job *j)
{
    CLEANUP(str_done) struct str sql = STR_INIT(4096);
    sqlite3 *db = NULL;

    for (size_t i = 0; i < ARRAY_SIZE(since); i++)
        if (since[i].version > version) {
            str_addf(&sql, "ALTER TABLE job DROP COLUMN %s;", since[i].name);
            memset((char *)j + since[i].offset, 0, since[i].size);
        }
    if (version < 6)
        j->device_ms = j->ran_ms * j->devices;
    str_addf(&sql, "PRAGMA user_version = %d;", version);
    is_int(sqlite3_open(path, &db), SQLITE_OK, "the file is a database");
    is_int(sqlite3_exec(db, str_text(&sql), NULL, NULL, NULL), SQLITE_OK,
           "the file is made one of version %d", version);
    sqlite3_close(db);
}

/* A file of an earlier version has each job, and what came later is empty; one of the next is left
 * as it is. */
static void test_versions(const char *root)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    struct queue_job one = full_job(0);
    char path[PATH_MAX], what[64];
    struct err e = { "" };

    for (int version = 1; version <= 8; version++) {
        struct found f = { .n = 0 };

        one = full_job(0);
        snprintf(path, sizeof(path), "%.4000s/version%d.db", root, version);
        is_int(queue_store_open(&s, path, &e), 0, "queue_store_open makes a file of this version");
        is_int(queue_store_add(s, &one, &e), 0, "a job of this version is added");
        queue_store_close(steal(&s));
        make_earlier(path, version, &one);
        is_int(queue_store_open(&s, path, &e), 0, "a file of version %d is opened: %s", version,
               e.text);
        if (!s)
            continue;
        is_int(queue_store_list(s, QUEUE_LIVE, 0, find, &f, &e), 0,
               "the job of version %d is listed", version);
        snprintf(what, sizeof(what), "a file of version %d had", version);
        is_same(&f.job, &one, what);
        queue_store_close(steal(&s));
    }
    make_earlier(path, 9, &one);
    is_int(queue_store_open(&s, path, &e), -EUCLEAN, "a file of the next version is refused");
    ok(strstr(e.text, "was written by a later brim") != NULL,
       "the error tells that a later brim wrote the file: %s", e.text);
}

/* A write is a short file's end, and the reader of a job's state does not wait for it. */
static void test_journal(const char *root)
{
    CLEANUP(queue_store_closep) struct queue_store *s = NULL;
    struct queue_job one = full_job(0);
    char path[PATH_MAX], journal[PATH_MAX + 8];
    sqlite3_stmt *ask = NULL;
    struct err e = { "" };
    sqlite3 *db = NULL;

    snprintf(path, sizeof(path), "%.4000s/journal.db", root);
    snprintf(journal, sizeof(journal), "%s-wal", path);
    is_int(queue_store_open(&s, path, &e), 0, "queue_store_open makes one more file");
    is_int(queue_store_add(s, &one, &e), 0, "a job is added to that file");
    is_int(access(journal, F_OK), 0, "what is written stands in a journal beside the file");
    is_int(sqlite3_open(path, &db), SQLITE_OK, "another program opens the file");
    is_int(sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &ask, NULL), SQLITE_OK,
           "another program asks for the file's journal");
    ok(sqlite3_step(ask) == SQLITE_ROW && !strcmp((const char *)sqlite3_column_text(ask, 0), "wal"),
       "the file has a journal that is written ahead");
    sqlite3_finalize(ask);
    sqlite3_close(db);
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
    test_columns(root);
    test_lists(root);
    test_versions(root);
    test_journal(root);
    test_damaged(root);
    test_oom(root);
    folder_remove(root);
    return done();
}
