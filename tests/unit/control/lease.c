/* Who leads, by a lease in a file of SQLite and in a real PostgreSQL: of several controls one at a
 * time, and one that comes late stores nothing. */
#include "control/lease.h"

#include <errno.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "postgres.h"
#include "tap.h"

enum { CONTROLS = 4, DEEDS = 40 };

static const char over[] = "UPDATE lease SET until_ms = 1";
static const char deeds[] = "CREATE TABLE deed (id BIGINT PRIMARY KEY, fence BIGINT, holder TEXT)";
static const char do_one[] = "INSERT INTO deed (id, fence, holder)"
                             " SELECT count(*) + 1, $1, $2 FROM deed";

/* ---- pure ---- */

static void test_trust(void)
{
    struct lease l, other;
    const int64_t at = 1000 * NS_PER_S;

    lease_name(&l, "host", 12, 0xabc);
    is_str(l.holder, "host:12:0000000000000abc", "a holder has its host, process and number");
    lease_name(&other, "host", 12, 0xabd);
    ok(strcmp(l.holder, other.holder) != 0, "the next process of that number is another holder");
    ok(!lease_leads(&l, at) && lease_due(&l, at), "at first nobody leads, and it is time to ask");
    ok(lease_answered(&l, at, 0, "x"), "another leader is news");
    ok(!lease_answered(&l, at, 0, "x"), "the same one is none");
    ok(!lease_leads(&l, at) && lease_due(&l, at),
       "a control without the lease does not lead, and asks again");
    ok(lease_answered(&l, at, 3, l.holder), "a lease that was given is news");
    ok(lease_leads(&l, at) && !lease_due(&l, at), "a control with the lease leads");
    ok(!lease_due(&l, at + LEASE_RENEW_MS * NS_PER_MS - 1), "a new lease is not asked for again");
    ok(lease_due(&l, at + LEASE_RENEW_MS * NS_PER_MS), "an older one is");
    ok(lease_leads(&l, at + LEASE_TRUST_MS * NS_PER_MS - 1), "an older one still counts");
    ok(!lease_leads(&l, at + LEASE_TRUST_MS * NS_PER_MS), "one that is too old does not");
    ok(LEASE_TRUST_MS < LEASE_MS, "a leader trusts for a shorter time than it has");
    ok(!lease_answered(&l, at + NS_PER_S, 3, l.holder), "a lease that is kept is no news");
    ok(lease_leads(&l, at + LEASE_TRUST_MS * NS_PER_MS), "a lease that is kept counts anew");
    ok(lease_answered(&l, at, 0, "y") && !lease_leads(&l, at), "a lease that was lost is news");
}

/* ---- in a database ---- */

static struct db *reopen(const char *name)
{
    struct db *d = NULL;
    struct err e = { "" };

    if (db_open(&d, name, true, &e) < 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    return d;
}

/* Store a deed as a leader does: whether it could. */
static int deed(struct lease *l, struct db *d)
{
    const struct db_value values[] = { { .number = l->fence }, { .text = l->holder } };
    int rc = db_begin(d, NULL);

    if (rc == 0)
        rc = lease_hold(l, d, NULL);
    if (rc == 0)
        rc = db_run(d, do_one, values, 2, NULL, NULL, NULL);
    if (rc < 0) {
        db_undo(d);
        return rc;
    }
    return db_commit(d, NULL);
}

static int64_t number(struct db *d, const char *text)
{
    int64_t n = -1;

    return db_number(d, text, NULL, 0, &n, NULL) == 1 ? n : -1;
}

static void test_two(const char *name, const char *kind)
{
    CLEANUP(db_closep) struct db *a = reopen(name);
    CLEANUP(db_closep) struct db *b = reopen(name);
    struct lease one, two;
    struct err e = { "" };
    int64_t at = 0;

    lease_name(&one, "a", 1, 1);
    lease_name(&two, "b", 1, 2);
    is_int(lease_prepare(a, &e), 0, "%s: the lease is made: %s", kind, e.text);
    is_int(lease_prepare(b, &e), 0, "%s: it is made once", kind);
    is_int(db_script(a, deeds, &e), 0, "%s: deeds have a table: %s", kind, e.text);
    is_int(lease_ask(&one, a, at, &e), 1, "%s: the first one that asks has it: %s", kind, e.text);
    is_int(one.fence, 1, "%s: it has the first number", kind);
    is_int(lease_ask(&two, b, at, &e), 1, "%s: the second one learns who leads", kind);
    ok(two.fence == 0 && !strcmp(two.leader, one.holder), "%s: it is the first one", kind);
    is_int(lease_ask(&one, a, at, &e), 0, "%s: the first one keeps it", kind);
    is_int(one.fence, 1, "%s: a lease that is kept has the same number", kind);
    is_int(deed(&one, a), 0, "%s: the leader stores", kind);
    is_int(deed(&two, b), -EPERM, "%s: another one does not", kind);
    is_int(db_script(b, over, &e), 0, "%s: the time of the first one is over", kind);
    is_int(deed(&one, a), 0, "%s: it stores until another one leads", kind);
    is_int(lease_ask(&two, b, at, &e), 1, "%s: the second one takes it", kind);
    is_int(two.fence, 2, "%s: the second one has the next number", kind);
    is_int(deed(&one, a), -EPERM, "%s: the first one, late, stores nothing", kind);
    ok(!lease_leads(&one, at), "%s: the first one, late, knows that it does not lead", kind);
    is_int(deed(&two, b), 0, "%s: the second one stores", kind);
    lease_give(&one, a);
    is_int(lease_ask(&one, a, at, &e), 1, "%s: who does not lead gives nothing back", kind);
    is_int(one.fence, 0, "%s: the second one leads on", kind);
    lease_give(&two, b);
    is_int(lease_ask(&one, a, at, &e), 1, "%s: what is given back is free", kind);
    is_int(one.fence, 3, "%s: it has the next number then", kind);
    is_int(number(a, "SELECT count(*) FROM deed"), 3, "%s: leaders' deeds are there alone", kind);
    lease_give(&one, a);
    is_int(db_script(a, "DELETE FROM deed", &e), 0, "%s: deeds are removed", kind);
}

/* ---- several processes ---- */

/* Lead again and again, for a few deeds each time: half of them give the lease back then, the
 * others are late, as one that was stopped: their time is over while they go on. */
static _Noreturn void be_control(const char *name, int which)
{
    struct db *d = reopen(name);
    struct lease l;

    lease_name(&l, "c", getpid(), (uint64_t)which);
    while (number(d, "SELECT count(*) FROM deed") < DEEDS) {
        if (lease_ask(&l, d, 0, NULL) < 0 || !lease_leads(&l, 0))
            continue;
        for (int i = 0; i < 3 && l.fence; i++)
            (void)!deed(&l, d);
        if (which % 2)
            lease_give(&l, d);
        else if (l.fence && db_script(d, over, NULL) == 0)
            (void)!deed(&l, d);
    }
    db_close(d);
    _exit(0);
}

static void test_many(const char *name, const char *kind)
{
    pid_t pids[CONTROLS];
    CLEANUP(db_closep) struct db *d = NULL;
    int status, wrong = 0;

    for (int i = 0; i < CONTROLS; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            be_control(name, i);
    }
    for (int i = 0; i < CONTROLS; i++)
        wrong += waitpid(pids[i], &status, 0) != pids[i] || status != 0;
    is_int(wrong, 0, "%s: controls end", kind);
    d = reopen(name);
    ok(number(d, "SELECT count(*) FROM deed") >= DEEDS, "%s: deeds are done", kind);
    is_int(number(d, "SELECT count(*) FROM (SELECT fence FROM deed GROUP BY fence"
                     " HAVING count(DISTINCT holder) > 1) AS x"),
           0, "%s: a number has one holder", kind);
    is_int(number(d, "SELECT count(*) FROM deed AS x JOIN deed AS y ON x.id < y.id"
                     " WHERE x.fence > y.fence"),
           0, "%s: no deed of an earlier leader is behind one of a later one", kind);
}

/* ---- one that takes it while the leader stores ---- */

static _Noreturn void take(const char *name)
{
    struct db *d = reopen(name);
    struct lease l;

    lease_name(&l, "late", 1, 9);
    (void)!lease_ask(&l, d, 0, NULL);
    _exit(l.fence == 0 || deed(&l, d) < 0);
}

/* The lease is over, and its leader is in the middle of a deed: who takes it waits for the end of
 * that. */
static void test_meanwhile(const char *name)
{
    static const char waiting[] = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    CLEANUP(db_closep) struct db *d = reopen(name);
    CLEANUP(db_closep) struct db *look = reopen(name);
    struct lease l;
    const struct db_value values[] = { { .number = 1000 }, { .text = "leader" } };
    int status = -1, rc;
    pid_t pid;

    lease_name(&l, "leader", 1, 8);
    rc = db_script(d, over, NULL);
    if (rc == 0)
        rc = lease_ask(&l, d, 0, NULL) < 0 ? -1 : db_script(d, "DELETE FROM deed", NULL);
    if (rc == 0)
        rc = db_script(d, over, NULL);
    if (rc == 0)
        rc = db_begin(d, NULL);
    is_int(rc == 0 ? lease_hold(&l, d, NULL) : rc, 0, "a leader is in the middle of a deed");
    pid = fork();
    if (pid == 0)
        take(name);
    while (number(look, waiting) == 0 && waitpid(pid, &status, WNOHANG) == 0)
        usleep(1000);
    is_int(status, -1, "a control that takes the lease waits");
    is_int(db_run(d, do_one, values, 2, NULL, NULL, NULL), 0, "the leader goes on");
    is_int(db_commit(d, NULL), 0, "the leader's deed is stored");
    if (status < 0)
        waitpid(pid, &status, 0);
    is_int(status, 0, "the lease is taken behind that");
    is_int(number(look, "SELECT id FROM deed WHERE holder = 'leader'"), 1,
           "the earlier leader's deed is first");
    is_int(deed(&l, d), -EPERM, "the earlier leader's next deed is not stored");
}

int main(void)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct postgres p;

    test_trust();
    folder_make(folder);
    folder_path(folder, "a.db", path);
    test_two(path, "SQLite");
    test_many(path, "SQLite");
    folder_remove(folder);
    if (!postgres_start(&p)) {
        printf("ok %d - a real PostgreSQL # SKIP %s\n", ++tap_count, p.why);
        return done();
    }
    test_two(p.address, "PostgreSQL");
    test_many(p.address, "PostgreSQL");
    test_meanwhile(p.address);
    postgres_stop(&p);
    return done();
}
