/* The same statements on a file of SQLite and on a real PostgreSQL. */
#include "control/db/db.h"

#include <errno.h>

#include "postgres.h"
#include "tap.h"

static const char make[] = "CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT, name TEXT)";
static const char add[] = "INSERT INTO t (id, x, name) VALUES ($1, $3, $2) RETURNING id";
static const char all[] = "SELECT id, x, name FROM t WHERE id >= $1 ORDER BY id";
static const char one[] = "SELECT x FROM t WHERE id = $1";
static const char wrong[] = "SELECT nothing FROM t";

static int add_row(struct db *d, int64_t id, const char *name, int64_t x, struct err *e)
{
    const struct db_value values[] = { { .number = id }, { .text = name }, { .number = x } };

    return db_run(d, add, values, 3, NULL, NULL, e);
}

struct seen {
    char text[200];
    int most; /* rows, then it ends */
};

static int see(void *arg, const struct db_value *c)
{
    struct seen *s = arg;
    size_t len = strlen(s->text);

    snprintf(s->text + len, sizeof(s->text) - len, "%lld,%lld,%s;", (long long)c[0].number,
             (long long)c[1].number, c[2].text);
    return --s->most == 0 ? 7 : 0;
}

static void test_rows(struct db *d, const char *kind)
{
    const struct db_value from = { .number = 2 };
    struct seen s = { .most = 99 };
    struct err e = { "" };
    int64_t x = -1;

    is_int(db_script(d, make, &e), 0, "%s: a table is made: %s", kind, e.text);
    is_int(add_row(d, 1, "a", INT64_MAX, &e), 0, "%s: a row is added: %s", kind, e.text);
    is_int(add_row(d, 2, "quote ' \" $1 ; --", INT64_MIN, &e), 0, "%s: a second one is added",
           kind);
    is_int(add_row(d, 3, "", 0, &e), 0, "%s: a third one is added", kind);
    is_int(db_run(d, all, &from, 1, see, &s, &e), 0, "%s: rows are read", kind);
    is_str(s.text, "2,-9223372036854775808,quote ' \" $1 ; --;3,0,;", "rows come as they went");
    s = (struct seen){ .most = 1 };
    is_int(db_run(d, all, &from, 1, see, &s, &e), 7, "%s: a reader may end", kind);
    is_int(db_number(d, one, &(struct db_value){ .number = 1 }, 1, &x, &e), 1, "%s: a row is there",
           kind);
    ok(x == INT64_MAX, "%s: the number of a row is read", kind);
    is_int(db_number(d, one, &(struct db_value){ .number = 9 }, 1, &x, &e), 0,
           "%s: a row is not there", kind);
    ok(add_row(d, 1, "again", 0, &e) < 0 && *e.text, "%s: a row twice is refused: %s", kind,
       e.text);
    ok(db_run(d, wrong, NULL, 0, NULL, NULL, &e) < 0, "%s: a wrong statement is refused: %s", kind,
       e.text);
    ok(!strchr(e.text, '\n'), "%s: a refusal is one line", kind);
}

static int64_t count(struct db *d)
{
    static const char text[] = "SELECT count(*) FROM t";
    int64_t n = -1;

    return db_number(d, text, NULL, 0, &n, NULL) == 1 ? n : -1;
}

static void test_whole_or_not(struct db *d, const char *kind)
{
    struct err e = { "" };

    is_int(db_begin(d, &e), 0, "%s: a transaction begins", kind);
    is_int(add_row(d, 10, "x", 0, &e), 0, "%s: a row is added in it", kind);
    db_undo(d);
    is_int(count(d), 3, "%s: what is undone is not there", kind);
    is_int(db_begin(d, &e), 0, "%s: another one begins", kind);
    is_int(add_row(d, 10, "x", 0, &e), 0, "%s: a row is added in this one", kind);
    is_int(db_commit(d, &e), 0, "%s: it is stored", kind);
    is_int(count(d), 4, "%s: what was stored is there", kind);
}

static int same_text(void *arg, const struct db_value *columns)
{
    return strcmp(columns->text, arg) == 0;
}

/* The server ends what a client has begun and does not go on with. */
static void test_stopped(struct db *d, const struct postgres *p)
{
    static const char show[] = "SHOW idle_in_transaction_session_timeout";
    static const char taken[] = "SELECT id FROM t WHERE id = 1 FOR UPDATE";
    static const char update[] = "UPDATE t SET x = 5 WHERE id = 1 RETURNING x";
    char address[sizeof(p->address) + 100], want[] = "20s";
    CLEANUP(db_closep) struct db *stopped = NULL;
    struct err e = { "" };
    int64_t x = 0;
    int rc;

    is_int(db_run(d, show, NULL, 0, same_text, want, &e), 1, "the server waits for 20 s");
    snprintf(address, sizeof(address),
             "%s&options=-c%%20idle_in_transaction_session_timeout%%3D200", p->address);
    rc = db_open(&stopped, address, true, &e);
    if (rc == 0)
        rc = db_begin(stopped, &e);
    if (rc == 0)
        rc = db_number(stopped, taken, NULL, 0, &x, &e);
    is_int(rc, 1, "a client holds a row: %s", e.text);
    is_int(db_number(d, update, NULL, 0, &x, &e), 1, "another one has it in the end: %s", e.text);
    ok(stopped && db_commit(stopped, &e) < 0, "the first one cannot end what it began");
}

/* PostgreSQL alone: a part that fails spoils the whole, whatever COMMIT answers; texts that are not
 * UTF-8; a server that goes away and comes back. */
static void test_postgres(struct db *d, struct postgres *p)
{
    struct err e = { "" };
    struct db *gone = NULL;
    struct seen s = { .most = 99 };
    int rc = db_begin(d, &e);

    ok(rc == 0 && add_row(d, 20, "x", 0, &e) == 0 && add_row(d, 1, "x", 0, &e) < 0,
       "a part of a transaction fails");
    is_int(db_commit(d, &e), -EIO, "a transaction of which a part failed is not stored");
    is_int(count(d), 4, "nothing of a transaction that failed is there");
    is_int(add_row(d, 30, "a\xff\x1b", 0, &e), 0, "a text that is no UTF-8 is stored: %s", e.text);
    is_int(db_run(d, all, &(struct db_value){ .number = 30 }, 1, see, &s, &e), 0,
           "a text that was no UTF-8 is read");
    is_str(s.text, "30,0,a?\x1b;", "what is no UTF-8 of a text is replaced");
    postgres_end(p);
    ok(add_row(d, 40, "x", 0, &e) < 0, "a server that went away is an error: %s", e.text);
    is_int(add_row(d, 40, "x", 0, &e), -ENOTCONN, "a server that is gone is said: %s", e.text);
    ok(!strncmp(e.text, "PostgreSQL: ", 12) && !strchr(e.text, '\n'),
       "the sentence is one line and says who has a fault");
    is_int(db_open(&gone, p->address, true, &e), -ENOTCONN, "a server that is not there is said");
    postgres_again(p);
    is_int(add_row(d, 40, "x", 0, &e), 0, "a server that is there again is used: %s", e.text);
    is_int(db_begin(d, &e), 0, "a transaction begins before the server goes away");
    postgres_end(p);
    ok(add_row(d, 41, "x", 0, &e) < 0, "in a transaction a server that went away is an error");
    postgres_again(p);
    ok(add_row(d, 42, "x", 0, &e) < 0, "the rest of such a transaction is not stored elsewhere");
    db_undo(d);
    is_int(add_row(d, 43, "x", 0, &e), 0, "behind the end of that the server is used: %s", e.text);
    is_int(count(d), 7, "what was stored before and behind is there");
}

int main(void)
{
    char folder[PATH_MAX], path[PATH_MAX];
    struct err e = { "" };
    struct postgres p;
    struct db *d = NULL;

    ok(db_is_address("postgres://x") && db_is_address("postgresql://x") && !db_is_address("x.db"),
       "an address is told from a file");
    folder_make(folder);
    folder_path(folder, "a.db", path);
    is_int(db_open(&d, path, false, &e), -ENOENT, "a file that is not there is not made");
    is_int(db_open(&d, path, true, &e), 0, "a file is made");
    ok(!db_shared(d), "a file is of one machine");
    test_rows(d, "SQLite");
    test_whole_or_not(d, "SQLite");
    db_close(d);
    folder_remove(folder);
    if (!postgres_start(&p)) {
        printf("ok %d - a real PostgreSQL # SKIP %s\n", ++tap_count, p.why);
        return done();
    }
    d = NULL;
    is_int(db_open(&d, p.address, true, &e), 0, "PostgreSQL is opened: %s", e.text);
    ok(d && db_shared(d), "PostgreSQL is shared");
    if (d) {
        test_rows(d, "PostgreSQL");
        test_whole_or_not(d, "PostgreSQL");
        test_stopped(d, &p);
        test_postgres(d, &p);
    }
    db_close(d);
    postgres_stop(&p);
    return done();
}
