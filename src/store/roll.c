/* Rows of 10 s and 1 min, gathered in memory while rows come. */
#include <string.h>

#include "store/store_private.h"

enum { SQL_MAX = 64 << 10, TICK_MS = 1000, NAP_MS = 1500 };

static int64_t bucket_of(int64_t ms, int64_t length)
{
    int64_t rest = ms % length;

    return ms - (rest < 0 ? rest + length : rest);
}

/* Whether the open bucket ends at this moment. A small step of the clock back does not end it: the
 * rows until the clock is where it was are of the open bucket too. */
static bool ends(int64_t bucket, int64_t now_ms, int64_t length)
{
    return bucket != NEVER && (now_ms >= bucket + length || now_ms < bucket - REPEAT_MS);
}

static double rolled(const struct set *set, const struct thing *t, size_t k, size_t i)
{
    if (!t->counts[k][i])
        return (double)NAN;
    if (set->set->defs[i].kind == SIGNAL_COUNTER)
        return t->sums[k][i];
    return t->sums[k][i] / t->counts[k][i];
}

static bool is_empty(const struct set *set, const struct thing *t, size_t k)
{
    for (size_t i = 0; i < set->set->n_defs; i++)
        if (t->counts[k][i])
            return false;
    return true;
}

static int write_bucket(struct set *set, size_t k)
{
    sqlite3_stmt *insert = set->insert[k + 1];
    int code = SQLITE_OK;

    for (size_t n = 0; n < set->n_things && code == SQLITE_OK; n++) {
        struct thing *t = set->things[n];

        if (!t->id || is_empty(set, t, k))
            continue;
        sqlite3_bind_int64(insert, 1, set->bucket[k]);
        sqlite3_bind_int64(insert, 2, t->id);
        for (size_t i = 0; i < set->set->n_defs; i++)
            sql_bind_double(insert, (int)i + 3, rolled(set, t, k, i));
        code = sql_step(insert);
    }
    return code;
}

int roll_write(struct store *s, int64_t now_ms)
{
    int code = SQLITE_OK;

    for (size_t n = 0; n < s->n_sets; n++) {
        struct set *set = s->sets[n];

        for (size_t k = 0; k < ROLLS && code == SQLITE_OK; k++)
            if (set->insert[k + 1] && ends(set->bucket[k], now_ms, schema_bucket_ms[k + 1]))
                code = write_bucket(set, k);
    }
    return code;
}

static void forget_bucket(struct set *set, size_t k)
{
    for (size_t n = 0; n < set->n_things; n++) {
        struct thing *t = set->things[n];

        memset(t->sums[k], 0, set->set->n_defs * sizeof(*t->sums[k]));
        memset(t->counts[k], 0, set->set->n_defs * sizeof(*t->counts[k]));
    }
    if (schema_has(set->set, STORE_10S) && set->bucket[k] != NEVER && k == 0)
        set->table->oldest[STORE_10S] = MIN(set->table->oldest[STORE_10S], set->bucket[k]);
}

/* Things that have gone leave the memory once their last minute is written. */
static void drop_gone(struct set *set)
{
    for (size_t n = set->n_things; n-- > 0;)
        if (!set->things[n]->present)
            set_drop_thing(set, n);
}

void roll_ended(struct store *s, int64_t now_ms)
{
    for (size_t n = 0; n < s->n_sets; n++) {
        struct set *set = s->sets[n];

        for (size_t k = 0; k < ROLLS; k++) {
            int64_t length = schema_bucket_ms[k + 1];

            if (set->bucket[k] != NEVER && !ends(set->bucket[k], now_ms, length))
                continue;
            if (set->bucket[k] != NEVER)
                forget_bucket(set, k);
            if (k == ROLLS - 1)
                drop_gone(set);
            set->bucket[k] = bucket_of(now_ms, length);
        }
    }
}

static void add_to(const struct set *set, struct thing *thing, const double *values, size_t k)
{
    for (size_t i = 0; i < set->set->n_defs; i++) {
        if (!isfinite(values[i]))
            continue;
        if (set->set->defs[i].kind == SIGNAL_COUNTER)
            thing->sums[k][i] = values[i];
        else
            thing->sums[k][i] += values[i];
        thing->counts[k][i]++;
    }
}

void roll_add(const struct set *set, struct thing *thing, const double *values)
{
    for (size_t k = 0; k < ROLLS; k++)
        add_to(set, thing, values, k);
}

/* ---- after a restart ---- */

/* Take a stored moment into the buckets that are open then. */
static void replay(struct set *set, struct thing *t, int64_t ms)
{
    for (size_t k = 0; k < ROLLS; k++)
        if (ms >= set->bucket[k] && ms < set->bucket[k] + schema_bucket_ms[k + 1])
            add_to(set, t, t->last, k);
}

/* The rows that were left out because nothing changed: one a second. */
static void replay_same(struct set *set, struct thing *t, int64_t until_ms)
{
    int64_t ms = t->stored_ms;

    if (ms == NEVER || until_ms - ms > REPEAT_MS + NAP_MS)
        return;
    while ((ms += TICK_MS) < until_ms)
        replay(set, t, ms);
}

static int replay_row(struct set *set, sqlite3_stmt *row)
{
    const char *name = (const char *)sqlite3_column_text(row, 2);
    int64_t ms = sqlite3_column_int64(row, 0);
    bool same = true;
    struct thing *t = name ? set_thing(set, name, 0) : NULL;

    if (!t)
        return SQLITE_NOMEM;
    t->id = sqlite3_column_int64(row, 1);
    for (size_t i = 0; i < set->set->n_defs && t->stored_ms != NEVER; i++) {
        int at = (int)i + 3;
        bool null = sqlite3_column_type(row, at) == SQLITE_NULL;

        same = same && (null ? isnan(t->last[i]) : sqlite3_column_double(row, at) == t->last[i]);
    }
    if (same)
        replay_same(set, t, ms);
    for (size_t i = 0; i < set->set->n_defs; i++) {
        int at = (int)i + 3;

        t->last[i] = sqlite3_column_type(row, at) == SQLITE_NULL ? (double)NAN
                                                                 : sqlite3_column_double(row, at);
    }
    t->stored_ms = ms;
    replay(set, t, ms);
    return SQLITE_OK;
}

static void select_recent(struct str *sql, const struct signal_set *set)
{
    str_add(sql, "SELECT t, thing, name");
    for (size_t i = 0; i < set->n_defs; i++) {
        str_add(sql, ", \"");
        schema_column(sql, &set->defs[i]);
        str_add_char(sql, '"');
    }
    str_add(sql, " FROM ");
    schema_table(sql, set->name, STORE_1S);
    str_add(sql, " JOIN thing ON thing.id = thing WHERE t >= ? ORDER BY t");
}

static int newest(struct store *s, const struct set *set, int64_t *ret)
{
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_MAX);

    str_add(&sql, "SELECT max(t) FROM ");
    schema_table(&sql, set->set->name, STORE_1S);
    return str_error(&sql) ? SQLITE_NOMEM : sql_ask(s->db, str_text(&sql), NEVER, ret);
}

int roll_restore(struct store *s, struct set *set)
{
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_MAX);
    CLEANUP(sql_finalizep) sqlite3_stmt *rows = NULL;
    int64_t last = NEVER;
    int code = newest(s, set, &last);

    if (code != SQLITE_OK || last == NEVER)
        return code;
    for (size_t k = 0; k < ROLLS; k++)
        set->bucket[k] = bucket_of(last, schema_bucket_ms[k + 1]);
    select_recent(&sql, set->set);
    if (str_error(&sql))
        return SQLITE_NOMEM;
    code = sql_prepare(s->db, str_text(&sql), &rows);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(rows, 1, last - ROWS_OF_THE_PAST);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW)
        if (replay_row(set, rows) != SQLITE_OK)
            return SQLITE_NOMEM;
    for (size_t n = 0; n < set->n_things && code == SQLITE_DONE; n++) {
        replay_same(set, set->things[n], last + 1); /* of NULLs, where it had gone, adds nothing */
        set->things[n]->stored_ms = NEVER;          /* the first row is written in any case */
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}
