#include "control/book.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sql.h"
#include "tap.h"

static char above[] = "/tmp/brim-t-control-XXXXXX", folder[64];

static struct control_book *open_book(bool act, int want)
{
    struct control_book *b = NULL;
    struct err e = { "" };

    is_int(control_book_open(&b, folder, act, &e), want, "a book is opened: %s", e.text);
    return b;
}

static void test_jobs(void)
{
    struct site_job j = { .id = 7, .start_ms = 1000 };
    struct control_book *b = open_book(true, 0);
    struct control_seen seen;

    is_int(control_book_seen(b, &j, &seen, NULL), 0, "a job that nobody knows is asked for");
    ok(seen.bursts.busy && seen.bursts.at[0].from_ms == 1000 && seen.told_ms == 0,
       "a job that nobody knows is busy since it started");
    bursts_note(&seen.bursts, 2000, 0);
    seen.told_ms = 2500;
    is_int(control_book_see(b, &j, &seen, NULL), 0, "what was seen of it is stored");
    control_book_close(b);
    b = open_book(true, 0);
    is_int(control_book_seen(b, &j, &seen, NULL), 0, "a job is asked for in the next control");
    ok(!seen.bursts.busy && seen.bursts.at[0].to_ms == 2000 && seen.bursts.seen_ms == 2000 &&
           seen.told_ms == 2500,
       "what was seen of it is there");
    j.start_ms = 1001;
    is_int(control_book_seen(b, &j, &seen, NULL), 0, "another attempt of it is asked for");
    ok(seen.bursts.busy && seen.told_ms == 0, "of another attempt nothing is known");
    j.start_ms = 1000;
    is_int(control_book_forget(b, 2000, NULL), 0, "jobs seen since then stay");
    is_int(control_book_seen(b, &j, &seen, NULL), 0, "a job is asked for again");
    ok(!seen.bursts.busy, "a job seen at that very moment is known");
    is_int(control_book_forget(b, 2001, NULL), 0, "jobs seen before are forgotten");
    is_int(control_book_seen(b, &j, &seen, NULL), 0, "a job is asked for once more");
    ok(seen.bursts.busy, "a job seen before is forgotten");
    control_book_close(b);
}

static int count(void *arg, const struct control_row *row)
{
    int *n = arg;

    (void)row;
    return ++*n == 3 ? 33 : 0;
}

static int last(struct control_book *b, uint32_t job, int64_t start_ms, uint8_t kind,
                struct control_row *ret)
{
    const struct control_row like = { .job = job, .start_ms = start_ms, .kind = kind };

    return control_book_last(b, &like, ret, NULL);
}

static void test_rows(void)
{
    struct control_row r = { .time_ms = 5000,
                             .job = 9,
                             .start_ms = 100,
                             .restarts = 2,
                             .other = 11,
                             .devices = 8,
                             .kind = CONTROL_REQUEUE,
                             .state = CONTROL_DUE,
                             .user = "a'; DROP TABLE action; --",
                             .account = "b'\"",
                             .reason = "why" },
                       got;
    struct control_book *b = open_book(true, 0);
    int64_t n = 0;
    int rows = 0;

    is_int(last(b, 9, 100, CONTROL_REQUEUE, &got), 0, "nothing was decided");
    is_int(control_book_add(b, &r, NULL), 0, "a decision is stored");
    is_int(last(b, 9, 100, CONTROL_REQUEUE, &got), 1, "a decision is found");
    ok(got.id == r.id && got.time_ms == 5000 && got.restarts == 2 && got.other == 11 &&
           got.devices == 8 && got.state == CONTROL_DUE && got.kind == CONTROL_REQUEUE,
       "a decision is as it was stored");
    is_str(got.user, r.user, "a user's name is a text");
    is_str(got.account, r.account, "an account's name is a text");
    is_str(got.reason, "why", "the reason is stored");
    is_int(last(b, 9, 101, CONTROL_REQUEUE, &got), 0, "nothing was decided about another attempt");
    is_int(last(b, 9, 100, CONTROL_WARN, &got), 0, "nothing was decided of another kind");
    is_int(control_book_count(b, CONTROL_REQUEUE, 5000, &n, NULL), 0, "decisions are counted");
    is_int(n, 1, "one that is due counts");
    is_int(control_book_count(b, CONTROL_REQUEUE, 5001, &n, NULL), 0,
           "decisions are counted again");
    is_int(n, 0, "one of before does not count");
    is_int(control_book_became(b, r.id, CONTROL_FAILED, "Slurm's words", NULL), 0,
           "a decision failed");
    is_int(control_book_count(b, CONTROL_REQUEUE, 0, &n, NULL), 0,
           "decisions are counted once more");
    is_int(n, 0, "one that failed does not count");
    is_int(last(b, 9, 100, CONTROL_REQUEUE, &got), 1, "a decision is found again");
    is_str(got.outcome, "Slurm's words", "what became of it is stored");
    for (int i = 0; i < 3; i++) {
        r.state = CONTROL_PROPOSED;
        is_int(control_book_add(b, &r, NULL), 0, "another decision is stored");
    }
    is_int(control_book_rows(b, 1U << CONTROL_PROPOSED, 2, count, &rows, NULL), 0,
           "rows are listed");
    is_int(rows, 2, "at most so many");
    rows = 0;
    is_int(control_book_rows(b, ~0U, 10, count, &rows, NULL), 33,
           "a listing of rows may be stopped");
    control_book_close(b);
}

static void test_nodes(void)
{
    enum { WEEK_MS = CONTROL_WEEK_MS };
    struct site_node nodes[] = { { .name = "n'0" }, { .name = "n1" } };
    struct site site = { .nodes = nodes, .n_nodes = 2 };
    struct control_row r = { .time_ms = 1000,
                             .start_ms = 900,
                             .kind = CONTROL_DRAIN,
                             .state = CONTROL_DONE,
                             .node = "n'0" },
                       got;
    struct control_node seen[2] = { { .unfit_ms = 7 }, { .unfit_ms = 7 } };
    struct control_book *b = open_book(true, 0);

    is_int(site_index(&site), 0, "nodes are found by name");
    is_int(control_book_nodes(b, &site, 2000, seen, NULL), 0, "nodes nobody noted are asked for");
    ok(!seen[0].unfit_ms && !seen[1].unfit_ms, "of nodes that nobody noted nothing is known");
    seen[0] = (struct control_node){ .unfit_ms = 900, .fit_ms = 950 };
    is_int(control_book_see_node(b, "n'0", &seen[0], NULL), 0, "a node is noted");
    is_int(control_book_see_node(b, "gone", &seen[0], NULL), 0, "a node that goes is noted");
    is_int(control_book_add(b, &r, NULL), 0, "a drain is stored");
    r.state = CONTROL_FAILED;
    is_int(control_book_add(b, &r, NULL), 0, "a drain that failed is stored");
    is_int(control_book_nodes(b, &site, 2000, seen, NULL), 0, "nodes are asked for");
    ok(seen[0].unfit_ms == 900 && seen[0].fit_ms == 950 && !seen[1].unfit_ms,
       "what was noted of a node is its own");
    is_int(seen[0].drains, 1, "drains that were done count");
    is_int(control_book_nodes(b, &site, 1000 + WEEK_MS, seen, NULL), 0, "a week goes by");
    is_int(seen[0].drains, 1, "a drain of a week ago counts");
    is_int(control_book_nodes(b, &site, 1001 + WEEK_MS, seen, NULL), 0, "a moment more goes by");
    is_int(seen[0].drains, 0, "a drain of before does not count");
    r.kind = CONTROL_DRAIN;
    is_int(control_book_last(b, &r, &got, NULL), 1, "a drain is found by its node");
    is_str(got.node, "n'0", "the row has the node");
    snprintf(r.node, sizeof(r.node), "n1");
    is_int(control_book_last(b, &r, &got, NULL), 0, "another node has no drain");
    seen[0].unfit_ms = 0;
    is_int(control_book_see_node(b, "n'0", &seen[0], NULL), 0, "a node is forgotten");
    is_int(control_book_nodes(b, &site, 2000, seen, NULL), 0, "nodes are asked for again");
    ok(!seen[0].unfit_ms && !seen[0].fit_ms, "a node that was forgotten is not known");
    control_book_close(b);
    site_done(&site);
}

/* A book as brim 0.2 had it. */
static void test_older_book(void)
{
    static const char before[] =
        "DROP TABLE IF EXISTS action; DROP TABLE IF EXISTS node;"
        "CREATE TABLE action (id INTEGER PRIMARY KEY AUTOINCREMENT, t INTEGER, kind INTEGER,"
        " job INTEGER, start_ms INTEGER, restarts INTEGER, other INTEGER, devices INTEGER,"
        " state INTEGER, user TEXT, reason TEXT, outcome TEXT);"
        "INSERT INTO action VALUES (5, 1, 1, 9, 100, 0, 0, 8, 4, 'ana', 'why', '');"
        "PRAGMA user_version = 1";
    struct control_book *b;
    struct control_row got;
    char path[100];
    sqlite3 *db;

    snprintf(path, sizeof(path), "%s/control.db", folder);
    ok(sqlite3_open(path, &db) == SQLITE_OK && sql_run(db, before) == SQLITE_OK,
       "a book of version 1 is made");
    sqlite3_close(db);
    b = open_book(true, 0);
    is_int(last(b, 9, 100, CONTROL_REQUEUE, &got), 1, "a decision of version 1 is there");
    ok(got.id == 5 && got.state == CONTROL_DONE && !*got.node,
       "a decision of version 1 has no node");
    control_book_close(b);
    b = open_book(true, 0);
    is_int(last(b, 9, 100, CONTROL_REQUEUE, &got), 1, "a book that was upgraded opens");
    control_book_close(b);
}

static void test_two(void)
{
    struct control_book *b = open_book(true, 0), *other = open_book(true, -EBUSY);
    struct control_book *looks = open_book(false, 0);
    bool stopped = true;

    ok(!other, "a second control does not get the book");
    is_int(control_book_stopped(b, &stopped, NULL), 0, "the switch is asked for");
    ok(!stopped, "nobody has stopped anything");
    is_int(control_book_stop(looks, true, NULL), 0, "an operator stops all");
    is_int(control_book_stopped(b, &stopped, NULL), 0, "the switch is asked for again");
    ok(stopped, "the control sees it");
    is_int(control_book_stop(looks, false, NULL), 0, "an operator lets it go on");
    is_int(control_book_stopped(b, &stopped, NULL), 0, "the switch is asked for once more");
    ok(!stopped, "the control sees that, too");
    control_book_close(looks);
    control_book_close(b);
}

static void test_transaction(void)
{
    struct control_row r = { .job = 77, .kind = CONTROL_WARN };
    struct control_book *b = open_book(true, 0);
    struct control_row got;

    is_int(control_book_begin(b, NULL), 0, "a transaction begins");
    is_int(control_book_add(b, &r, NULL), 0, "a row is added in it");
    control_book_close(b);
    b = open_book(true, 0);
    is_int(last(b, 77, 0, CONTROL_WARN, &got), 0, "what was not committed is not there");
    is_int(control_book_begin(b, NULL), 0, "another one begins");
    is_int(control_book_add(b, &r, NULL), 0, "a row is added in that");
    is_int(control_book_commit(b, NULL), 0, "a transaction is committed");
    control_book_close(b);
    b = open_book(true, 0);
    is_int(last(b, 77, 0, CONTROL_WARN, &got), 1, "what was committed is there");
    control_book_close(b);
}

static void test_folder_of_others(void)
{
    struct control_book *b;

    chmod(folder, 0770);
    b = open_book(true, -EPERM);
    ok(!b, "a folder in which a group may write is refused");
    chmod(folder, 0702);
    b = open_book(true, -EPERM);
    ok(!b, "a folder in which all may write is refused");
    chmod(folder, 0755);
    b = open_book(true, 0);
    ok(b != NULL, "a folder in which all may read is taken");
    control_book_close(b);
    chmod(folder, 0700);
}

static void remove_all(void)
{
    static const char *const names[] = { "control.db", "control.db-wal", "control.db-shm", "lock" };
    char path[100];

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
    *strrchr(folder, '/') = 0;
    rmdir(folder);
    rmdir(above);
}

int main(void)
{
    struct control_book *b;
    struct stat st;

    if (!mkdtemp(above))
        return 1;
    snprintf(folder, sizeof(folder), "%s/a/b", above);
    b = open_book(false, -ENOENT);
    ok(!b, "nobody looks into what is not there");
    test_jobs();
    ok(stat(folder, &st) == 0 && (st.st_mode & 0777) == 0700, "the folder is its owner's alone");
    test_rows();
    test_nodes();
    test_older_book();
    test_two();
    test_transaction();
    test_folder_of_others();
    remove_all();
    return done();
}
