/* By libpq, which is opened when an address asks for it: who keeps a file does not need it. */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/str.h"
#include "base/utf8.h"
#include "control/db/db_private.h"

#define LIBRARY "libpq.so.5"
#define PACKAGE "libpq5"

/* Of libpq-fe.h: these numbers have been the same since version 7. */
enum { CONNECTION_OK = 0, COMMAND_OK = 1, TUPLES_OK = 2 };

enum { TEXT_MAX = 64 << 10, WORDS = 200, NUMBER = 24 };

typedef struct pg_conn pg_conn;
typedef struct pg_result pg_result;

/* What is called of it. */
struct library {
    void *handle;
    pg_conn *(*connect)(const char *const *keys, const char *const *values, int expand);
    int (*status)(const pg_conn *c);
    void *(*set_notices)(pg_conn *c, void (*take)(void *arg, const char *words), void *arg);
    void (*reset)(pg_conn *c);
    void (*finish)(pg_conn *c);
    char *(*why)(const pg_conn *c);
    pg_result *(*exec)(pg_conn *c, const char *text);
    pg_result *(*prepare)(pg_conn *c, const char *name, const char *text, int n,
                          const unsigned *types);
    pg_result *(*run)(pg_conn *c, const char *name, int n, const char *const *values,
                      const int *lengths, const int *formats, int format);
    int (*outcome)(const pg_result *r);
    void (*clear)(pg_result *r);
    int (*rows)(const pg_result *r);
    int (*columns)(const pg_result *r);
    char *(*value)(const pg_result *r, int row, int column);
};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    { "PQconnectdbParams", offsetof(struct library, connect) },
    { "PQstatus", offsetof(struct library, status) },
    { "PQsetNoticeProcessor", offsetof(struct library, set_notices) },
    { "PQreset", offsetof(struct library, reset) },
    { "PQfinish", offsetof(struct library, finish) },
    { "PQerrorMessage", offsetof(struct library, why) },
    { "PQexec", offsetof(struct library, exec) },
    { "PQprepare", offsetof(struct library, prepare) },
    { "PQexecPrepared", offsetof(struct library, run) },
    { "PQresultStatus", offsetof(struct library, outcome) },
    { "PQclear", offsetof(struct library, clear) },
    { "PQntuples", offsetof(struct library, rows) },
    { "PQnfields", offsetof(struct library, columns) },
    { "PQgetvalue", offsetof(struct library, value) },
};

struct db_postgres {
    struct library pq;
    pg_conn *connection;
    const char *kept[DB_STATEMENTS]; /* texts that are prepared, by number */
    size_t n_kept;
    bool open;    /* a transaction */
    bool spoiled; /* a part of it failed: a COMMIT would be answered well, and undo it */
};

static int load(struct library *l, struct err *e)
{
    l->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle)
        return err_set(e, -ENOENT,
                       "PostgreSQL is reached by " LIBRARY ": %s: install it (Debian: " PACKAGE ")",
                       dlerror());
    for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
        void *found = dlsym(l->handle, functions[i].name);

        if (!found)
            return err_set(e, -ENOENT, LIBRARY " lacks %s: install a newer one", functions[i].name);
        memcpy((char *)l + functions[i].offset, &found, sizeof(found));
    }
    return 0;
}

/* Its words in one line, which a terminal does not act upon. */
static int trouble(struct db_postgres *p, struct err *e)
{
    const char *from = p->pq.why(p->connection);
    char words[WORDS];
    size_t n = 0;

    while (*from == ' ' || *from == '\n')
        from++;
    for (; *from && n + 1 < sizeof(words); from++)
        if (!isspace((unsigned char)*from))
            words[n++] = *from;
        else if (n > 0 && words[n - 1] != ' ')
            words[n++] = ' ';
    while (n > 0 && words[n - 1] == ' ')
        n--;
    words[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)words[i] < ' ' || (unsigned char)words[i] >= 0x7f)
            words[i] = '?';
    return err_set(e, p->pq.status(p->connection) == CONNECTION_OK ? -EIO : -ENOTCONN,
                   "PostgreSQL: %s", n ? words : "it does not say what is wrong");
}

/* What is no error is no news: that a table is there already. */
static void ignore_notice(void *arg, const char *words)
{
    (void)arg;
    (void)words;
}

/* How long the server waits for a statement's end, and for a client that has begun something: one
 * that was stopped, or whose machine is gone, holds up no other one. */
static const char limits[] = "-c statement_timeout=10s -c idle_in_transaction_session_timeout=20s";

int db_postgres_open(struct db_postgres **ret, const char *address, struct err *e)
{
    /* what is in the address counts: it comes behind these */
    const char *const keys[] = { "connect_timeout", "tcp_user_timeout", "application_name",
                                 "options",         "dbname",           NULL };
    const char *const values[] = { "10", "10000", "brim control", limits, address, NULL };
    struct db_postgres *p = calloc(1, sizeof(*p));
    int rc;

    if (!p)
        return err_nomem(e);
    rc = load(&p->pq, e);
    if (rc < 0 || !p->pq.connect || !p->pq.status) { /* the latter are there: for analyzers */
        free(p);
        return rc;
    }
    p->connection = p->pq.connect(keys, values, 1);
    if (!p->connection)
        rc = err_nomem(e);
    else if (p->pq.status(p->connection) != CONNECTION_OK)
        rc = trouble(p, e);
    if (rc < 0) {
        db_postgres_close(p);
        return rc;
    }
    p->pq.set_notices(p->connection, ignore_notice, NULL);
    *ret = p;
    return 0;
}

void db_postgres_close(struct db_postgres *p)
{
    if (!p)
        return;
    if (p->connection)
        p->pq.finish(p->connection);
    free(p); /* the library stays: it may have been opened by others, too */
}

/* A connection that was lost is made anew; what was prepared there is gone with it. */
static int connected(struct db_postgres *p, struct err *e)
{
    if (p->pq.status(p->connection) == CONNECTION_OK)
        return 0;
    if (p->open) {
        p->open = false;
        return trouble(p, e);
    }
    p->n_kept = 0;
    p->pq.reset(p->connection);
    return p->pq.status(p->connection) == CONNECTION_OK ? 0 : trouble(p, e);
}

static bool is_good(const struct db_postgres *p, const pg_result *r)
{
    int outcome = r ? p->pq.outcome(r) : -1;

    return outcome == COMMAND_OK || outcome == TUPLES_OK;
}

int db_postgres_script(struct db_postgres *p, const char *text, struct err *e)
{
    int rc = connected(p, e);
    pg_result *r;

    if (rc < 0)
        return rc;
    if (p->spoiled && !strcmp(text, "COMMIT"))
        return err_set(e, -EIO, "PostgreSQL: what was to be stored is not: a part of it failed");
    r = p->pq.exec(p->connection, text);
    rc = is_good(p, r) ? 0 : trouble(p, e);
    p->pq.clear(r); /* NULL is skipped */
    if (!strcmp(text, "BEGIN"))
        p->open = rc == 0;
    else if (!strcmp(text, "COMMIT") || !strcmp(text, "ROLLBACK"))
        p->open = false;
    p->spoiled = p->open && (p->spoiled || rc < 0);
    return rc;
}

/* The number of a text that is prepared. */
static int prepared(struct db_postgres *p, const char *text, struct err *e)
{
    char name[NUMBER];
    pg_result *r;
    size_t i = 0;
    bool good;

    while (i < p->n_kept && p->kept[i] != text)
        i++;
    if (i < p->n_kept)
        return (int)i;
    if (i == DB_STATEMENTS)
        return err_set(e, -ENOSPC, "more statements than %d", DB_STATEMENTS);
    snprintf(name, sizeof(name), "s%zu", i);
    r = p->pq.prepare(p->connection, name, text, 0, NULL);
    good = is_good(p, r);
    p->pq.clear(r);
    if (!good)
        return trouble(p, e);
    p->kept[p->n_kept++] = text;
    return (int)i;
}

/* It takes UTF-8 alone. */
static void add_text(struct str *out, const char *text)
{
    while (*text) {
        uint32_t code;
        size_t len = utf8_decode(text, &code);

        if (code)
            str_add_n(out, text, len);
        else
            str_add_char(out, '?');
        text += len;
    }
}

/* Parameters as texts, which follow each other in 'room'. */
static int write_values(const struct db_value *values, size_t n, struct str *room,
                        const char **texts, struct err *e)
{
    size_t at[DB_COLUMNS];

    for (size_t i = 0; i < n; i++) {
        at[i] = room->len;
        if (values[i].text)
            add_text(room, values[i].text);
        else
            str_addf(room, "%lld", (long long)values[i].number);
        str_add_n(room, "", 1);
    }
    if (str_error(room))
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        texts[i] = str_text(room) + at[i];
    return 0;
}

static int hand_rows(const struct db_postgres *p, const pg_result *r, db_row_fn *fn, void *arg)
{
    struct db_value columns[DB_COLUMNS];
    int rc = 0, n = MIN(p->pq.columns(r), DB_COLUMNS);

    for (int row = 0; row < p->pq.rows(r) && rc == 0; row++) {
        for (int i = 0; i < n; i++) {
            columns[i].text = p->pq.value(r, row, i); /* "" where it is NULL */
            columns[i].number = 0;
            if (parse_i64(columns[i].text, &columns[i].number) < 0)
                columns[i].number = 0;
        }
        rc = fn(arg, columns);
    }
    return rc;
}

int db_postgres_run(struct db_postgres *p, const struct db_call *c, struct err *e)
{
    CLEANUP(str_done) struct str room = STR_INIT(TEXT_MAX);
    const char *texts[DB_COLUMNS];
    char name[NUMBER];
    pg_result *r;
    int rc = connected(p, e), which;

    if (rc < 0)
        return rc;
    which = prepared(p, c->text, e);
    rc = which < 0 ? which : write_values(c->values, c->n, &room, texts, e);
    p->spoiled = p->spoiled || (p->open && rc < 0);
    if (rc < 0)
        return rc;
    snprintf(name, sizeof(name), "s%d", which);
    r = p->pq.run(p->connection, name, (int)c->n, texts, NULL, NULL, 0);
    if (!is_good(p, r)) {
        rc = trouble(p, e);
        p->spoiled = p->open;
    } else if (c->fn) {
        rc = hand_rows(p, r, c->fn, c->arg);
    }
    p->pq.clear(r);
    return rc;
}
