#include "control/board/waste_book.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sql.h"

enum { BUSY_MS = 5000, HOUR_MS = 3600000, GAP_MS = 300000 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS waste (t INTEGER, kind TEXT, use TEXT, gpu_ms INTEGER,"
    " PRIMARY KEY (t, kind, use)) WITHOUT ROWID";

struct waste_book {
    sqlite3 *db;
    sqlite3_stmt *add, *sum;
    struct waste_sums all;
    int64_t last_ms; /* 0: this is the first look */
    char path[PATH_MAX];
};

static int trouble(struct waste_book *w, int code, struct err *e)
{
    return sql_error(w->db, code, w->path, e);
}

/* ---- sums ---- */

static struct waste_sum *sum_of(struct waste_sums *s, const char *kind)
{
    size_t i = 0;

    while (i < s->n && strcmp(s->kinds[i].kind, kind) != 0)
        i++;
    if (i == BOARD_KINDS)
        return &s->kinds[BOARD_KINDS - 1];
    if (i == s->n) {
        snprintf(s->kinds[i].kind, sizeof(s->kinds[i].kind), "%s", kind);
        s->n++;
    }
    return &s->kinds[i];
}

/* A use that this brim does not know is left out. */
static void add_hours(struct waste_sums *s, const char *kind, const char *use, int64_t gpu_ms)
{
    for (enum board_use u = 0; u < BOARD_USES; u++)
        if (!strcmp(use, board_use_name(u)))
            sum_of(s, kind)->hours[u] += (double)gpu_ms / HOUR_MS;
}

static const char *text_at(sqlite3_stmt *s, int at)
{
    const unsigned char *text = sqlite3_column_text(s, at);

    return text ? (const char *)text : "";
}

int waste_book_since(struct waste_book *w, int64_t since_ms, struct waste_sums *ret, struct err *e)
{
    struct waste_sums sums = { .n = 0 };
    int code;

    sqlite3_bind_int64(w->sum, 1, since_ms - since_ms % HOUR_MS);
    while ((code = sqlite3_step(w->sum)) == SQLITE_ROW) {
        int64_t first = sqlite3_column_int64(w->sum, 3);

        add_hours(&sums, text_at(w->sum, 0), text_at(w->sum, 1), sqlite3_column_int64(w->sum, 2));
        sums.since_ms = sums.since_ms ? MIN(sums.since_ms, first) : first;
    }
    sqlite3_reset(w->sum);
    if (code != SQLITE_DONE)
        return trouble(w, code, e);
    *ret = sums;
    return 0;
}

const struct waste_sums *waste_book_all(const struct waste_book *w)
{
    return &w->all;
}

/* ---- opening ---- */

int waste_book_open(struct waste_book **ret, const char *folder, struct err *e)
{
    CLEANUP(waste_book_closep) struct waste_book *w = calloc(1, sizeof(*w));
    int code, rc;

    if (!w)
        return err_nomem(e);
    if (snprintf(w->path, sizeof(w->path), "%s/control.db", folder) >= (int)sizeof(w->path))
        return err_set(e, -ENAMETOOLONG, "the name of %s is too long", folder);
    code = sqlite3_open_v2(w->path, &w->db,
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_busy_timeout(w->db, BUSY_MS);
    if (code == SQLITE_OK)
        code = sql_run(w->db, "PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF");
    if (code == SQLITE_OK)
        code = sql_run(w->db, schema);
    if (code == SQLITE_OK)
        code = sql_prepare(w->db,
                           "INSERT INTO waste VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE"
                           " SET gpu_ms = gpu_ms + ?4",
                           &w->add);
    if (code == SQLITE_OK)
        code = sql_prepare(w->db,
                           "SELECT kind, use, sum(gpu_ms), min(t) FROM waste WHERE t >= ?"
                           " GROUP BY kind, use",
                           &w->sum);
    rc = code == SQLITE_OK ? waste_book_since(w, 0, &w->all, e) : trouble(w, code, e);
    if (rc == 0)
        *ret = steal(&w);
    return rc;
}

void waste_book_close(struct waste_book *w)
{
    if (!w)
        return;
    sqlite3_finalize(w->add);
    sqlite3_finalize(w->sum);
    sqlite3_close(w->db);
    free(w);
}

/* ---- adding ---- */

/* What is longer than a row of sums has room for is cut in both. */
struct kind_name {
    char text[WASTE_KIND];
};

static struct kind_name name_of(const struct board *b, size_t kind)
{
    struct kind_name name;

    snprintf(name.text, sizeof(name.text), "%s", b->kinds[kind]);
    return name;
}

static int add_row(struct waste_book *w, const struct board *b, size_t kind, enum board_use use,
                   int64_t ms)
{
    int64_t gpu_ms = b->used[kind][use] * ms;
    const struct kind_name name = name_of(b, kind);

    if (gpu_ms <= 0)
        return SQLITE_OK;
    sqlite3_bind_int64(w->add, 1, b->now_ms - b->now_ms % HOUR_MS);
    sqlite3_bind_text(w->add, 2, name.text, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(w->add, 3, board_use_name(use), -1, SQLITE_STATIC);
    sqlite3_bind_int64(w->add, 4, gpu_ms);
    return sql_step(w->add);
}

static int add_rows(struct waste_book *w, const struct board *b, int64_t ms)
{
    int code = sql_run(w->db, "BEGIN IMMEDIATE");

    if (code != SQLITE_OK)
        return code;
    for (size_t k = 0; k < b->n_kinds && code == SQLITE_OK; k++)
        for (enum board_use u = 0; u < BOARD_USES && code == SQLITE_OK; u++)
            code = add_row(w, b, k, u, ms);
    if (code == SQLITE_OK)
        code = sql_run(w->db, "COMMIT");
    if (code != SQLITE_OK)
        (void)sql_run(w->db, "ROLLBACK");
    return code;
}

int waste_book_add(struct waste_book *w, const struct board *b, struct err *e)
{
    int64_t ms = w->last_ms ? b->now_ms - w->last_ms : 0;
    int code;

    w->last_ms = b->now_ms;
    if (ms <= 0 || ms > GAP_MS)
        return 0;
    code = add_rows(w, b, ms);
    if (code != SQLITE_OK)
        return trouble(w, code, e);
    if (w->all.since_ms == 0)
        w->all.since_ms = b->now_ms - b->now_ms % HOUR_MS;
    for (size_t k = 0; k < b->n_kinds; k++)
        for (enum board_use u = 0; u < BOARD_USES; u++)
            if (b->used[k][u] > 0)
                add_hours(&w->all, name_of(b, k).text, board_use_name(u), b->used[k][u] * ms);
    return 0;
}
