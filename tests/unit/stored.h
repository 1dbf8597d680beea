/* A store in a folder of the test's own, and SQL to look into it. */
#ifndef BRIM_TESTS_STORED_H
#define BRIM_TESTS_STORED_H
#include <sqlite3.h>
#include <stdbool.h>

#include "base/str.h"
#include "folder.h"
#include "store/store.h"
#include "tap.h"

#define S_NS INT64_C(1000000000)

struct stored {
    char folder[PATH_MAX], path[PATH_MAX + 16], answer[4096];
    struct store *store;
    struct store_reader *reader;
    struct store_config config;
    struct tick tick;
};

static const struct signal_def disk_defs[] = {
    { "busy", "", SIGNAL_GAUGE },
    { "read_bytes_total", "", SIGNAL_COUNTER },
    { "seconds_total", "", SIGNAL_COUNTER, "mode=\"idle\"" },
};
static const char *const disk_facts[] = { "serial", NULL };
static const struct signal_set disk_set = { "disk", "device", disk_defs, 3, disk_facts };

static const struct signal_def slow_defs[] = { { "x", "", SIGNAL_GAUGE } };
static const struct signal_set slow_set = { "slow", NULL, slow_defs, 1, NULL, 30 };

static inline int stored_open(struct stored *s, struct err *e)
{
    return store_open(&s->store, s->path, &s->config, 1000 * S_NS, e);
}

static inline void stored_must_open(struct stored *s)
{
    struct err e = { "" };

    if (stored_open(s, &e) < 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
}

static inline void stored_make(struct stored *s)
{
    *s = (struct stored){ .store = NULL };
    folder_make(s->folder);
    snprintf(s->path, sizeof(s->path), "%s/a/b/store.db", s->folder);
    stored_must_open(s);
}

static inline void stored_close(struct stored *s)
{
    store_reader_close(s->reader);
    store_close(s->store);
    s->reader = NULL;
    s->store = NULL;
}

static inline void stored_reopen(struct stored *s)
{
    stored_close(s);
    stored_must_open(s);
}

static inline void stored_remove(struct stored *s)
{
    stored_close(s);
    tick_done(&s->tick);
    folder_remove(s->folder);
}

/* What a kill leaves: the files as they are now. */
static inline void stored_kill(struct stored *s)
{
    char command[3 * PATH_MAX];

    snprintf(command, sizeof(command), "cd %s/a && cp -a b killed", s->folder);
    folder_need(system(command) == 0 ? 0 : -1, "cp");
    stored_close(s);
    snprintf(command, sizeof(command), "cd %s/a && rm -r b && mv killed b", s->folder);
    folder_need(system(command) == 0 ? 0 : -1, "mv");
    stored_must_open(s);
}

static inline void stored_reader(struct stored *s)
{
    struct err e = { "" };

    ok(store_reader_open(&s->reader, s->path, &e) == 0, "store_reader_open opens a reader: %s",
       e.text);
}

/* The first value that a statement says, with a connection of its own. */
static inline const char *stored_query(struct stored *s, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;

    snprintf(s->answer, sizeof(s->answer), "nothing");
    if (sqlite3_open(s->path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
        sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_text(stmt, 0))
        snprintf(s->answer, sizeof(s->answer), "%s", (const char *)sqlite3_column_text(stmt, 0));
    else if (sqlite3_errcode(db) != SQLITE_DONE && sqlite3_errcode(db) != SQLITE_ROW)
        snprintf(s->answer, sizeof(s->answer), "error: %s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return s->answer;
}
#define ask(s, sql) stored_query((s), (sql))

static inline void stored_row(struct stored *s, const char *thing, double busy, double bytes)
{
    struct signal_row *row = tick_add(&s->tick, &disk_set, thing);

    folder_need(row ? 0 : -1, "tick_add");
    row->values[0] = busy;
    row->values[1] = bytes;
    tick_fact(row, 0, "S");
}

static inline int stored_tick(struct stored *s, int64_t second, double busy, double bytes,
                              struct err *e)
{
    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", busy, bytes);
    return store_tick(s->store, &s->tick, e);
}

/* One tick, with one disk. */
static inline void put(struct stored *s, int64_t second, double busy, double bytes)
{
    struct err e = { "" };
    int rc = stored_tick(s, second, busy, bytes, &e);

    if (rc < 0)
        ok(false, "store_tick stores second %d: %s", (int)second, e.text);
}

/* One tick with something else only. */
static inline int put_slow(struct stored *s, int64_t second, double x)
{
    struct signal_row *row;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    row = tick_add(&s->tick, &slow_set, "");
    folder_need(row ? 0 : -1, "tick_add");
    row->values[0] = x;
    return store_tick(s->store, &s->tick, NULL);
}

static inline void put_other(struct stored *s, int64_t second)
{
    ok(put_slow(s, second, 0) == 0, "store_tick stores a tick without the disk");
}

#endif
