/* One signal of one thing over time, on a grid. */
#include <errno.h>
#include <string.h>

#include "store/read.h"

enum {
    HOLD_MS = REPEAT_MS + 5000, /* a repeated row is at most so late */
    NEAR_MS = 10000             /* rows so near follow each other, whatever the interval */
};

/* What a query is about, in the file. */
struct column {
    char set[SIGNAL_THING];
    char name[128];
    int64_t thing;
    int64_t keep_ms;
};

struct grid {
    const struct store_query *query;
    size_t n;
    double *sums, *ms; /* of each step: value times milliseconds, and those */
    int64_t last_ms;   /* the row before; NEVER */
    double last;
    int64_t bucket_ms, near_ms; /* of the tier that is read */
};

size_t store_points(const struct store_query *q)
{
    int64_t span, steps;

    if (q->step_ms <= 0 || q->to_ms <= q->from_ms || q->from_ms < 0)
        return 0;
    span = q->to_ms - q->from_ms;
    steps = span / q->step_ms + (span % q->step_ms != 0);
    return steps <= STORE_POINTS_MAX ? (size_t)steps : 0;
}

/* ---- rows to steps ---- */

/* An amount that was spread evenly from begin to end. */
static void spread(struct grid *g, int64_t begin, int64_t end, double amount)
{
    int64_t from = g->query->from_ms, step = g->query->step_ms;
    int64_t first = MAX(begin, from), last = MIN(end, g->query->to_ms);
    double per_ms = amount / (double)(end - begin);

    for (int64_t at = first; at < last;) {
        size_t i = (size_t)((at - from) / step);
        int64_t until = MIN(last, from + ((int64_t)i + 1) * step);

        g->sums[i] += per_ms * (double)(until - at);
        g->ms[i] += (double)(until - at);
        at = until;
    }
}

/* For how long before its moment a gauge had its value. */
static int64_t covered(const struct grid *g, int64_t ms, double value)
{
    int64_t gap = g->last_ms == NEVER ? INT64_MAX : ms - g->last_ms;
    bool same = g->last_ms != NEVER && value == g->last;

    if (gap <= g->near_ms || (same && gap <= HOLD_MS + g->near_ms))
        return gap;
    return g->bucket_ms;
}

/* The next row: its value at that moment. */
static void feed(struct grid *g, int64_t ms, double value)
{
    int64_t gap = g->last_ms == NEVER ? 0 : ms - g->last_ms;

    if (g->query->rate && gap > 0 && gap <= HOLD_MS + g->near_ms && value >= g->last)
        spread(g, g->last_ms, ms, value - g->last);
    if (!g->query->rate && !isnan(value) && (gap > 0 || g->last_ms == NEVER)) {
        int64_t begin = ms - covered(g, ms, value);

        spread(g, begin, ms, value * (double)(ms - begin));
    }
    g->last_ms = ms;
    g->last = value;
}

static void finish(const struct grid *g, double *out)
{
    for (size_t i = 0; i < g->n; i++)
        out[i] = g->ms[i] > 0 ? g->sums[i] / g->ms[i] * (g->query->rate ? 1000 : 1) : (double)NAN;
}

/* ---- from the file ---- */

/* Where the signal is; -ENOENT. */
static int find_column(struct store_reader *r, const struct store_query *q, struct column *c,
                       struct err *e)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *find = NULL;
    int code = sql_prepare(r->db,
                           "SELECT col, keep_s, thing.id FROM signal"
                           " JOIN sets ON sets.name = signal.set_name"
                           " JOIN thing ON thing.set_name = signal.set_name"
                           " WHERE signal.set_name = ?1 AND signal.name = ?2 AND"
                           " signal.label = ?3 AND thing.name = ?4",
                           &find);

    if (code == SQLITE_OK) {
        sqlite3_bind_text(find, 1, q->set, -1, SQLITE_STATIC);
        sqlite3_bind_text(find, 2, q->signal, -1, SQLITE_STATIC);
        sqlite3_bind_text(find, 3, q->label ? q->label : "", -1, SQLITE_STATIC);
        sqlite3_bind_text(find, 4, q->thing, -1, SQLITE_STATIC);
        code = sqlite3_step(find);
    }
    if (code == SQLITE_DONE)
        return err_set(e, -ENOENT, "nothing is stored of signal %s of %s '%s'", q->signal, q->set,
                       q->thing);
    if (code != SQLITE_ROW)
        return sql_error(r->db, code, r->path, e);
    snprintf(c->set, sizeof(c->set), "%s", q->set);
    if (!sqlite3_column_text(find, 0))
        return err_nomem(e);
    snprintf(c->name, sizeof(c->name), "%s", (const char *)sqlite3_column_text(find, 0));
    c->keep_ms = sqlite3_column_int64(find, 1) * 1000;
    c->thing = sqlite3_column_int64(find, 2);
    return 0;
}

static bool column_has(const struct column *c, enum store_tier tier)
{
    const struct signal_set set = { .keep_s = (unsigned)(c->keep_ms / 1000) };

    return schema_has(&set, tier);
}

/* The first row of a tier that is by time. */
static int oldest(struct store_reader *r, const struct column *c, enum store_tier tier,
                  int64_t *ret)
{
    CLEANUP(str_done) struct str sql = STR_INIT(512);

    str_add(&sql, "SELECT min(t) FROM ");
    schema_table(&sql, c->set, tier);
    return str_error(&sql) ? SQLITE_NOMEM : sql_ask(r->db, str_text(&sql), NO_ROWS, ret);
}

/* A row of a tier whose values are of its bucket's end. The bucket may reach over the limit, where
 * finer rows begin: then what a counter had there is not known. */
static void feed_bucket(struct grid *g, int64_t begin_ms, int64_t limit_ms, double value)
{
    int64_t end = begin_ms + g->bucket_ms, bucket = g->bucket_ms;

    if (end <= limit_ms) {
        feed(g, end, value);
    } else if (!g->query->rate) {
        g->bucket_ms = limit_ms - begin_ms;
        feed(g, limit_ms, value);
        g->bucket_ms = bucket;
    }
}

/* Feed the rows of a tier that begin in [from, to). */
static int read_tier(struct store_reader *r, const struct column *c, enum store_tier tier,
                     const int64_t span[2], struct grid *g)
{
    CLEANUP(str_done) struct str sql = STR_INIT(1024);
    CLEANUP(sql_finalizep) sqlite3_stmt *rows = NULL;
    int code;

    str_addf(&sql, "SELECT t, \"%s\" FROM ", c->name);
    schema_table(&sql, c->set, tier);
    str_addf(&sql, " WHERE t >= %lld AND t < %lld AND thing = %lld ORDER BY t", (long long)span[0],
             (long long)span[1], (long long)c->thing);
    if (str_error(&sql))
        return SQLITE_NOMEM;
    code = sql_prepare(r->db, str_text(&sql), &rows);
    g->bucket_ms = schema_bucket_ms[tier];
    g->near_ms = MAX(MAX((int64_t)NEAR_MS, g->bucket_ms * 3 / 2), c->keep_ms * 5 / 2);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        bool null = sqlite3_column_type(rows, 1) == SQLITE_NULL;
        double value = null ? (double)NAN : sqlite3_column_double(rows, 1);

        if (tier == STORE_1S)
            feed(g, sqlite3_column_int64(rows, 0), value);
        else
            feed_bucket(g, sqlite3_column_int64(rows, 0), span[1], value);
        code = SQLITE_OK;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The newest row of all sets: until then somebody looked. */
static int newest(struct store_reader *r, int64_t *ret)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *sets = NULL;
    int code = sql_prepare(r->db, "SELECT name FROM sets", &sets);

    *ret = NEVER;
    while (code == SQLITE_OK && (code = sqlite3_step(sets)) == SQLITE_ROW) {
        CLEANUP(str_done) struct str sql = STR_INIT(512);
        const char *name = (const char *)sqlite3_column_text(sets, 0);
        int64_t t = NEVER;

        str_add(&sql, "SELECT max(t) FROM ");
        schema_table(&sql, name ? name : "", STORE_1S);
        if (!name || str_error(&sql))
            return SQLITE_NOMEM;
        code = sql_ask(r->db, str_text(&sql), NEVER, &t);
        *ret = MAX(*ret, t);
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* The coarsest tier first, for as long as finer rows are gone; then the one that suits the step,
 * then finer ones for what it has not yet. */
static int read_all(struct store_reader *r, const struct column *c, struct grid *g)
{
    const struct store_query *q = g->query;
    int64_t hold = HOLD_MS + 2 * c->keep_ms, at = q->from_ms - hold, last = NEVER;
    int suits = STORE_1M, code = SQLITE_OK;

    while (suits > STORE_1S && (!column_has(c, suits) || schema_bucket_ms[suits] > q->step_ms))
        suits--;
    for (int tier = STORE_1M; tier >= STORE_1S && code == SQLITE_OK; tier--) {
        int64_t begin = at - (tier == STORE_1S || g->last_ms != NEVER ? 0 : schema_bucket_ms[tier]);
        int64_t end = q->to_ms + hold, finer = NEVER;

        if (!column_has(c, tier))
            continue;
        for (int k = tier - 1; k >= STORE_1S && tier > suits && code == SQLITE_OK; k--) {
            finer = NO_ROWS;
            if (column_has(c, k))
                code = oldest(r, c, k, &finer);
            if (finer != NO_ROWS)
                break;
        }
        if (tier > suits)
            end = MIN(end, finer);
        if (code == SQLITE_OK && begin < end)
            code = read_tier(r, c, tier, (int64_t[]){ begin, end }, g);
        at = MAX(at, g->last_ms);
    }
    if (code == SQLITE_OK)
        code = newest(r, &last);
    if (code == SQLITE_OK && g->last_ms != NEVER && last > g->last_ms &&
        last - g->last_ms <= HOLD_MS)
        feed(g, last, g->last);
    return code;
}

/* All from one moment of the file. */
static int read_grid(struct store_reader *r, const struct column *c, struct grid *g)
{
    int code = sql_run(r->db, "BEGIN");

    if (code == SQLITE_OK)
        code = read_all(r, c, g);
    if (!sqlite3_get_autocommit(r->db))
        (void)sql_run(r->db, "COMMIT");
    return code;
}

int store_series(struct store_reader *r, const struct store_query *q, double *out, struct err *e)
{
    size_t n = store_points(q);
    CLEANUP(freep) double *steps = NULL;
    struct grid g = { .query = q, .n = n, .last_ms = NEVER };
    struct column column = { .thing = 0 };
    int rc, code;

    if (!n)
        return err_set(e, -EINVAL, "a series has 1 to %d steps", STORE_POINTS_MAX);
    rc = reader_ready(r, e);
    if (rc == 0)
        rc = find_column(r, q, &column, e);
    if (rc < 0)
        return rc;
    steps = calloc(2 * n, sizeof(*steps));
    if (!steps)
        return err_nomem(e);
    g.sums = steps;
    g.ms = steps + n;
    code = read_grid(r, &column, &g);
    if (code != SQLITE_OK)
        return sql_error(r->db, code, r->path, e);
    finish(&g, out);
    return 0;
}
