/* What is too old, or too much, goes in small slices, so that no tick is late. */
#include <string.h>

#include "store/store_private.h"

enum {
    SLICE = 500,
    SLACK_MS = 60 * 1000, /* so that a slice is worth its work */
    HOUR_MS = 3600 * 1000,
    DAY_MS = 24 * HOUR_MS,
    WAL_BYTES = 4 << 20,
    VACUUM_PAGES = 64, /* freed pages that are kept for the next rows */
    ROUNDS = 4,
    THINGS = 8
};

struct cut {
    struct table *table;
    enum store_tier tier;
    int64_t before_ms;
};

/* The table whose rows of that tier begin first. */
static struct table *first_table(struct store *s, enum store_tier tier)
{
    struct table *first = NULL;

    for (size_t i = 0; i < s->n_tables; i++) {
        struct table *t = s->tables[i];

        if (t->oldest[tier] != NO_ROWS && (!first || t->oldest[tier] < first->oldest[tier]))
            first = t;
    }
    return first;
}

static bool too_old(struct store *s, int64_t now_ms, struct cut *cut)
{
    for (int tier = STORE_1S; tier <= STORE_10S; tier++) {
        int64_t before = now_ms - s->config.keep_s[tier] * 1000;
        struct table *table = first_table(s, tier);

        if (table && table->oldest[tier] < before - SLACK_MS) {
            *cut = (struct cut){ table, tier, before };
            return true;
        }
    }
    return false;
}

/* The order in which rows go when the file is too large; the 1 min tier is thing by thing. */
static bool too_much(struct store *s, int64_t now_ms, struct cut *cut)
{
    static const struct {
        enum store_tier tier;
        int64_t spared_ms;
    } order[] = {
        { STORE_1S, HOUR_MS },
        { STORE_10S, DAY_MS },
        { STORE_1M, 30 * (int64_t)DAY_MS },
        { STORE_1S, INT64_C(2) * SLACK_MS },
        { STORE_10S, INT64_C(2) * SLACK_MS },
    };

    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        int64_t spared = now_ms - order[i].spared_ms;
        struct table *table = order[i].tier == STORE_1M ? NULL : first_table(s, order[i].tier);

        if (order[i].tier == STORE_1M && s->minute_oldest < spared) {
            s->minute_cut = MAX(s->minute_cut, MIN(s->minute_oldest + HOUR_MS, spared));
            return false;
        }
        if (table && table->oldest[order[i].tier] < spared) {
            *cut = (struct cut){ table, order[i].tier, spared };
            return true;
        }
    }
    return false;
}

static int is_full(struct store *s, bool *ret)
{
    int64_t limit = MAX(s->config.max_bytes - WAL_BYTES, s->config.max_bytes / 2) / s->page_bytes;
    int64_t pages = 0, unused = 0;
    int code = sql_number(s->pages, 0, &pages);

    if (code == SQLITE_OK)
        code = sql_number(s->free_pages, 0, &unused);
    *ret = pages - unused > limit;
    if (code == SQLITE_OK && unused > VACUUM_PAGES && (pages > limit || unused > pages / 8))
        code = sql_run(s->db, "PRAGMA incremental_vacuum(16)");
    return code;
}

/* Delete at most so many rows, and those of the same moment. */
static int delete_slice(struct store *s, const struct cut *cut, size_t slice)
{
    CLEANUP(str_done) struct str name = STR_INIT(256), sql = STR_INIT(1024);
    int64_t end = 0;
    int code;

    schema_table(&name, cut->table->name, cut->tier);
    str_addf(&sql, "SELECT t FROM %s ORDER BY t LIMIT 1 OFFSET %zu", str_text(&name), slice);
    if (str_error(&name) || str_error(&sql))
        return SQLITE_NOMEM;
    code = sql_ask(s->db, str_text(&sql), cut->before_ms, &end);
    end = MIN(end, cut->before_ms);
    str_reset(&sql);
    str_addf(&sql, "DELETE FROM %s WHERE t < %lld", str_text(&name), (long long)end);
    if (str_error(&sql))
        return SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = sql_run(s->db, str_text(&sql));
    str_reset(&sql);
    str_addf(&sql, "SELECT min(t) FROM %s", str_text(&name));
    if (code == SQLITE_OK)
        code = sql_ask(s->db, str_text(&sql), NO_ROWS, &cut->table->oldest[cut->tier]);
    return code;
}

/* ---- the 1 min tier, events and things ---- */

static int trim_minutes(struct store *s, const char *set, int64_t id, int64_t before_ms)
{
    CLEANUP(str_done) struct str name = STR_INIT(256), sql = STR_INIT(1024);
    int64_t oldest = NO_ROWS;
    int code;

    schema_table(&name, set, STORE_1M);
    str_addf(&sql,
             "DELETE FROM %s WHERE thing = %lld AND t < %lld AND t <= (SELECT t FROM %s"
             " WHERE thing = %lld ORDER BY t LIMIT 1) + %lld",
             str_text(&name), (long long)id, (long long)before_ms, str_text(&name), (long long)id,
             (long long)SLICE / THINGS * 60000);
    if (str_error(&name) || str_error(&sql))
        return SQLITE_NOMEM;
    code = sql_run(s->db, str_text(&sql));
    str_reset(&sql);
    str_addf(&sql, "SELECT min(t) FROM %s WHERE thing = %lld", str_text(&name), (long long)id);
    if (code == SQLITE_OK)
        code = sql_ask(s->db, str_text(&sql), NO_ROWS, &oldest);
    s->minute_seen_min = MIN(s->minute_seen_min, oldest);
    return code;
}

/* Once around: what is known of the oldest minute, and things and events that have no rows left. */
static int end_round(struct store *s, int64_t before_ms)
{
    char sql[256];
    int code;

    s->minute_oldest = s->minute_seen_min;
    s->minute_seen_min = NO_ROWS;
    s->minute_thing = 0;
    snprintf(sql, sizeof(sql),
             "DELETE FROM thing WHERE id IN (SELECT id FROM thing WHERE seen < %lld LIMIT %d)",
             (long long)(before_ms - 2 * (int64_t)DAY_MS), SLICE);
    code = sql_run(s->db, sql);
    snprintf(sql, sizeof(sql),
             "DELETE FROM event WHERE t < min(%lld, ifnull((SELECT t FROM event ORDER BY t LIMIT 1"
             " OFFSET %d), %lld))",
             (long long)before_ms, SLICE, (long long)before_ms);
    return code == SQLITE_OK ? sql_run(s->db, sql) : code;
}

static int next_minutes(struct store *s, int64_t now_ms)
{
    int64_t before = MAX(now_ms - s->config.keep_s[STORE_1M] * 1000, s->minute_cut);
    char set[SIGNAL_THING] = "";
    int64_t id = 0;
    int code;

    sqlite3_bind_int64(s->next_thing, 1, s->minute_thing);
    code = sqlite3_step(s->next_thing);
    if (code == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(s->next_thing, 1);

        id = sqlite3_column_int64(s->next_thing, 0);
        snprintf(set, sizeof(set), "%s", name ? name : "");
    }
    sqlite3_reset(s->next_thing);
    if (code == SQLITE_DONE)
        return end_round(s, before);
    if (code != SQLITE_ROW || !set[0])
        return code == SQLITE_ROW ? SQLITE_NOMEM : code;
    s->minute_thing = id;
    return trim_minutes(s, set, id, before);
}

int retain(struct store *s, int64_t now_ms, size_t rows)
{
    size_t slice = MAX((size_t)SLICE, 4 * rows) / ROUNDS;
    bool full = false;
    int code = is_full(s, &full);

    for (int i = 0; i < ROUNDS && code == SQLITE_OK; i++) {
        struct cut cut;

        if (!too_old(s, now_ms, &cut) && !(full && too_much(s, now_ms, &cut)))
            break;
        code = delete_slice(s, &cut, slice);
    }
    if (code == SQLITE_OK && s->ticks % THINGS == 0)
        code = next_minutes(s, now_ms);
    return code;
}
