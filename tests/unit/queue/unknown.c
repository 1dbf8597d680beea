/* What the queue's folder has of jobs that the database does not know: which numbers are passed by,
 * what is removed, and when an engine does not begin. Called with an argument the program is a
 * process of a job. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "folder.h"
#include "marked.h"
#include "queue/guard/files.h"
#include "queue/queue_private.h"
#include "tap.h"

struct scene {
    struct local l;
    struct queue_config config;
    char root[PATH_MAX];
};

/* A folder whose database knows job 1. */
static void begin(struct scene *s)
{
    struct queue_job j = { .task = -1 };
    char path[PATH_MAX + 16];
    struct err e = { "" };

    *s = (struct scene){ .l = { .dir = -1 } };
    folder_make(s->root);
    s->config.folder = s->root;
    s->l.c = &s->config;
    s->l.dir = queue_files_open(s->root, false, &e);
    folder_need(s->l.dir, s->root);
    snprintf(path, sizeof(path), "%s/queue.db", s->root);
    folder_need(queue_store_open(&s->l.store, path, &e), e.text);
    folder_need(queue_store_add(s->l.store, &j, &e), e.text);
}

static void end(struct scene *s)
{
    queue_store_close(s->l.store);
    close(s->l.dir);
    folder_remove(s->root);
}

static bool is_there(const struct scene *s, const char *name)
{
    return faccessat(s->l.dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The number of the next job. */
static long long next(const struct scene *s)
{
    struct queue_job j = { .task = -1 };
    struct err e = { "" };

    folder_need(queue_store_add(s->l.store, &j, &e), e.text);
    return j.id;
}

static void test_numbers(void)
{
    static const struct {
        const char *folder, *file; /* that the queue's folder has */
        long long next;
        bool stays;
    } rows[] = {
        { "jobs/1", "order", 2, true },      { "jobs/1", "output", 2, true },
        { "jobs/5", NULL, 2, false },        { "jobs/5", "order", 2, false },
        { "jobs/5", "stop.1", 2, false },    { "jobs/5", "output.old", 2, false },
        { "jobs/5", "output", 6, true },     { "jobs/5", "claim.1", 6, true },
        { "jobs/5", "claim.none", 6, true }, { "jobs/2", "output", 3, true },
        { "jobs/5x", "output", 2, true },    { "jobs/x5", "output", 2, true },
        { "ends/7.1", NULL, 8, true },       { "ends/7", NULL, 8, true },
        { "ends/1.2", NULL, 2, true },       { "ends/7x", NULL, 2, true },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        char name[96];
        struct err e = { "" };
        struct scene s;

        begin(&s);
        snprintf(name, sizeof(name), "%s/%s", rows[i].folder, rows[i].file ? rows[i].file : "");
        folder_folder(s.root, rows[i].folder);
        if (rows[i].file)
            folder_text(s.root, name, "");
        is_int(queue_unknown_pass(&s.l, &e), 0, "an engine begins beside %s: %s", name, e.text);
        is_int(is_there(&s, rows[i].folder), rows[i].stays, "%s stays or goes", name);
        is_int(next(&s), rows[i].next, "the next job passes by %s or does not", name);
        end(&s);
    }
}

/* The highest of all is passed by, and what is no folder of a job has none. */
static void test_highest(void)
{
    struct err e = { "" };
    struct scene s;

    begin(&s);
    folder_text(s.root, "jobs/3/output", "");
    folder_text(s.root, "jobs/12/output", "");
    folder_text(s.root, "jobs/4/output", "");
    folder_text(s.root, "jobs/90", "");
    folder_text(s.root, "jobs/13/order", "");
    folder_text(s.root, "ends/11.1", "");
    is_int(queue_unknown_pass(&s.l, &e), 0, "an engine begins beside several jobs: %s", e.text);
    is_int(next(&s), 13, "the next job comes behind the highest number that was begun");
    is_int(queue_unknown_pass(&s.l, &e), 0, "an engine begins where all jobs are known");
    is_int(next(&s), 14, "numbers go on where all jobs are known");
    end(&s);
}

static void test_no_folder(void)
{
    struct err e = { "" };
    char want[PATH_MAX + 64];
    struct scene s;

    begin(&s);
    folder_need(unlinkat(s.l.dir, "ends", AT_REMOVEDIR), "ends");
    is_int(queue_unknown_pass(&s.l, &e), -ENOENT, "an engine needs the folder of ends");
    snprintf(want, sizeof(want), "cannot read %s/ends: No such file or directory", s.root);
    is_str(e.text, want, "the error names the folder that lacks");
    end(&s);
}

/* ---- jobs that run ---- */

static void refuses(struct scene *s, pid_t pid, const char *what)
{
    char want[PATH_MAX + 160];
    struct err e = { "" };

    is_int(queue_unknown_pass(&s->l, &e), -EEXIST, "an engine does not begin beside %s", what);
    snprintf(want, sizeof(want),
             "job 5 of %s runs (process %d), and its queue.db does not know it any more: wait for "
             "its end, or end it",
             s->root, (int)pid);
    is_str(e.text, want, "the refusal names the process of %s", what);
}

static pid_t make_process(const char *variable)
{
    const char *const env[] = { variable, NULL };

    return marked_start(env);
}

static void kill_process(pid_t pid)
{
    is_int(sent, 0, "an engine that begins sends no signal");
    kill(pid, SIGKILL);
    is_int(marked_ended_by(pid, true), SIGKILL, "the engine ended no process");
    sent = 0;
}

static void test_running(void)
{
    char variable[64];
    struct err e = { "" };
    struct scene s;
    pid_t first;
    int claim;

    begin(&s);
    folder_need(queue_folder_make(s.l.dir, 5, &e), e.text);
    claim = queue_claim(s.l.dir, 5, 2, "");
    folder_need(claim, "claim");
    refuses(&s, getpid(), "a guard");
    first = make_process("A=1");
    folder_need(queue_start_write(s.l.dir, 5, 2, first, ""), "start");
    refuses(&s, first, "a guard and its command");
    close(claim);
    refuses(&s, first, "a command whose guard was killed");
    kill_process(first);
    snprintf(variable, sizeof(variable), "BRIM_GUARD=5.%d", (int)getpid());
    first = make_process(variable);
    refuses(&s, getpid(), "what a command left behind");
    kill_process(first);
    is_int(queue_unknown_pass(&s.l, &e), 0, "an engine begins when all have gone: %s", e.text);
    is_int(next(&s), 6, "the next job passes by the job that has gone");
    end(&s);
}

int main(int argc, char **argv)
{
    (void)argv;
    marked_wait(argc);
    log_set_level("error");
    test_numbers();
    test_highest();
    test_no_folder();
    test_running();
    is_int(strangers, 0, "no signal goes to a process that is none of the job");
    return done();
}
