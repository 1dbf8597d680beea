/* What leaves a file that is too large, tick by tick: which rows go first, how many of them, which
 * are spared. The rows are put there by SQL, since days of ticks would take too long.
 *
 *     t_store_slices FILE */
#include "golden.h"
#include "stored.h"

enum { ROOM = 1 << 20, HOUR = 3600, DAY = 24 * HOUR };

/* Rows of a tier from so many seconds before a moment up to it, for the thing of that number. */
static void add_rows(struct stored *s, const char *tier, int thing, int64_t now, int64_t before,
                     int64_t step)
{
    char sql[512];

    snprintf(sql, sizeof(sql),
             "WITH RECURSIVE n(t) AS (SELECT %lld UNION ALL SELECT t + %lld FROM n"
             " WHERE t + %lld < %lld) INSERT INTO disk_%s SELECT t * 1000, %d, 1, 2, 3 FROM n",
             (long long)(now - before), (long long)step, (long long)step, (long long)now, tier,
             thing);
    is_str(ask(s, sql), "nothing", "rows of %s are put there for thing %d", tier, thing);
}

static void add_counts(struct stored *s, int64_t now, struct str *out)
{
    static const char *const tables[] = { "disk_1s", "disk_10s", "disk_1m", "event" };
    char sql[256];

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) || ' from ' || ifnull(min(t) / 1000 - %lld, '-') FROM %s",
                 (long long)now, tables[i]);
        str_addf(out, "%s%s %s", i ? ", " : "", tables[i], ask(s, sql));
    }
    str_addf(out, ", thing %s\n", ask(s, "SELECT count(*) FROM thing"));
}

/* A line for each tick that changed what there is. */
static void add_ticks(struct stored *s, int64_t now, int n, struct str *out)
{
    CLEANUP(str_done) struct str line = STR_INIT(1024), before = STR_INIT(1024);

    for (int i = 0; i < n; i++) {
        put_slow(s, now, i); /* the same second, so that nothing gets older */
        str_reset(&line);
        add_counts(s, now, &line);
        if (strcmp(str_text(&line), str_text(&before)) != 0)
            str_addf(out, "tick %d: %s", i, str_text(&line));
        str_reset(&before);
        str_add(&before, str_text(&line));
    }
}

static void make_rows(struct stored *s, int64_t now)
{
    stored_make(s);
    put(s, now - 70 * DAY, 1, 1);
    stored_close(s);
    ask(s, "DELETE FROM disk_1s");
    ask(s, "INSERT INTO thing SELECT 2, set_name, 'vdb', facts, seen FROM thing WHERE id = 1");
}

/* All are there, and none is too old. */
static void add_too_large(struct str *out)
{
    const int64_t now = 100 * DAY;
    struct stored s;

    make_rows(&s, now);
    add_rows(&s, "1s", 1, now, 2 * HOUR, 4);
    add_rows(&s, "10s", 1, now, 2 * DAY, 120);
    add_rows(&s, "1m", 1, now, 31 * DAY, HOUR / 2);
    add_rows(&s, "1m", 2, now, 32 * DAY, HOUR / 2);
    s.config = (struct store_config){ .max_bytes = 1 };
    stored_must_open(&s);
    str_add(out, "a file that is too large\n");
    add_counts(&s, now, out);
    add_ticks(&s, now, 200, out);
    stored_remove(&s);
}

/* Rows, things and events that are older than what is kept, in a file with room. Rows of each tier
 * begin so long before now. */
static void add_too_old(const struct store_config *config, const int64_t before[STORE_TIERS],
                        struct str *out)
{
    const int64_t now = 1000 * DAY;
    struct stored s;

    make_rows(&s, now);
    add_rows(&s, "1s", 1, now, before[STORE_1S], MAX(before[STORE_1S] / 1900, 1));
    add_rows(&s, "10s", 1, now, before[STORE_10S], before[STORE_10S] / 800);
    add_rows(&s, "1m", 1, now, before[STORE_1M], before[STORE_1M] / 1440);
    /* below zero: a round asks only for minutes of things with numbers above it */
    ask(&s, "WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1210)"
            " INSERT INTO thing SELECT -i, 'disk', 'old' || i, '{}', 86400000 * 595 FROM n");
    ask(&s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1210)"
            " INSERT INTO event SELECT 86400000 * 595 + i, 'xid', 1, 't', 0, 1, '', '' FROM n");
    s.config = *config;
    stored_must_open(&s);
    str_addf(out, "rows are kept for %lld, %lld and %lld s; 0: as is usual\n",
             (long long)config->keep_s[0], (long long)config->keep_s[1],
             (long long)config->keep_s[2]);
    add_counts(&s, now, out);
    add_ticks(&s, now, 120, out);
    stored_remove(&s);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    add_too_large(&out);
    add_too_old(&(struct store_config){ .keep_s = { 600, 5000, DAY } },
                (int64_t[]){ 1900, 8000, 3 * DAY }, &out);
    add_too_old(&(struct store_config){ .keep_s = { 1200, 60, 60 } },
                (int64_t[]){ 1900, 8000, 3 * DAY }, &out);
    add_too_old(&(struct store_config){ .max_bytes = 0 },
                (int64_t[]){ 2 * DAY, 20 * DAY, 400 * DAY }, &out);
    is_int(str_error(&out), 0, "the text of all ticks has room");
    golden(argv[1], str_text(&out));
    return done();
}
