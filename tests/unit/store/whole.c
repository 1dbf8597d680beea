/* The store over some minutes in which all happens: rows that repeat, gaps, things that come and
 * go, a clock that is set, restarts, a kill, counters that begin anew, old rows that leave. All
 * that the file holds then, and series of it.
 *
 *     t_store_whole FILE */
#include <math.h>

#include "golden.h"
#include "stored.h"

enum { ROOM = 4 << 20 };

static void add_query(struct stored *s, const char *sql, struct str *out)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    int code = sqlite3_open(s->path, &db);

    str_addf(out, "%s\n", sql);
    if (code == SQLITE_OK)
        code = sqlite3_prepare_v2(db, sql, -1, &rows, NULL);
    while (code == SQLITE_OK && sqlite3_step(rows) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(rows); i++) {
            if (sqlite3_column_type(rows, i) == SQLITE_FLOAT)
                str_addf(out, " %.10g", sqlite3_column_double(rows, i));
            else
                str_addf(out, " %s",
                         sqlite3_column_text(rows, i) ? (const char *)sqlite3_column_text(rows, i)
                                                      : "-");
        }
        str_add_char(out, '\n');
    }
    if (code != SQLITE_OK)
        str_addf(out, "%s\n", sqlite3_errmsg(db));
    sqlite3_finalize(rows);
    sqlite3_close(db);
}

static void add_series(struct stored *s, const struct store_query *q, struct str *out)
{
    static double values[512];
    struct err e = { "" };

    str_addf(out, "%s %s %s %lld to %lld by %lld%s:", q->set, q->thing, q->signal,
             (long long)q->from_ms, (long long)q->to_ms, (long long)q->step_ms,
             q->rate ? ", its rate" : "");
    if (store_series(s->reader, q, values, &e) < 0)
        str_addf(out, " %s", e.text);
    else
        for (size_t i = 0; i < store_points(q); i++)
            str_addf(out, isnan(values[i]) ? " -" : " %.6g", values[i]);
    str_add_char(out, '\n');
}

static void add_all_series(struct stored *s, struct str *out)
{
    static const int64_t steps[] = { 1000, 3000, 10000, 25000, 60000, 90000 };
    static const int64_t spans[][2] = {
        { 990, 1080 }, { 1060, 1200 }, { 1140, 1290 }, { 900, 1300 }
    };
    static const struct store_query what[] = {
        { "disk", "vda", "busy", NULL, 0, 0, 0, false },
        { "disk", "vda", "read_bytes_total", NULL, 0, 0, 0, true },
        { "disk", "vda", "read_bytes_total", NULL, 0, 0, 0, false },
        { "disk", "vdb", "busy", NULL, 0, 0, 0, false },
        { "disk", "vda", "seconds_total", "mode=\"idle\"", 0, 0, 0, true },
        { "slow", "", "x", NULL, 0, 0, 0, false },
        { "disk", "vdc", "busy", NULL, 0, 0, 0, false },
        { "disk", "vda", "seconds_total", NULL, 0, 0, 0, false },
    };

    for (size_t w = 0; w < ARRAY_SIZE(what); w++)
        for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
            for (size_t k = 0; k < ARRAY_SIZE(steps); k++) {
                struct store_query q = what[w];

                q.from_ms = spans[i][0] * 1000;
                q.to_ms = spans[i][1] * 1000;
                q.step_ms = steps[k];
                add_series(s, &q, out);
            }
}

static void add_event(struct stored *s, int64_t second)
{
    struct event *e = tick_event(&s->tick, second % 2 ? "xid" : "oom", (enum severity)(second % 4),
                                 second % 3 ? (int)second : -1);

    folder_need(e ? 0 : -1, "tick_event");
    e->wall_ns = second * S_NS;
    e->over = second % 5 == 0;
    snprintf(e->thing, sizeof(e->thing), "t%d", (int)(second % 7));
    snprintf(e->text, sizeof(e->text), "text %d", (int)second);
    snprintf(e->action, sizeof(e->action), "%s", second % 2 ? "act" : "");
}

/* What there is at a second: vda always, the same for a while; vdb from 1100 to 1125. */
static void tick_at(struct stored *s, int64_t second)
{
    struct err e = { "" };
    double bytes = second < 1240 ? 10.0 * (double)(second - 1000) : 5.0 * (double)(second - 1240);
    bool still = second >= 1100 && second < 1190;
    struct signal_row *row;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    stored_row(s, "vda", still ? 0.5 : (double)(second / 7 % 5) / 4, still ? 1000 : bytes);
    s->tick.rows[0].values[2] = second % 9 ? (double)second / 2 : (double)NAN;
    if (second >= 1100 && second <= 1125)
        stored_row(s, "vdb", second % 2, (double)second);
    if (second % 30 == 0) {
        row = tick_add(&s->tick, &slow_set, "");
        folder_need(row ? 0 : -1, "tick_add");
        row->values[0] = (double)second / 10;
    }
    if (second % 41 == 0)
        add_event(s, second);
    if (store_tick(s->store, &s->tick, &e) < 0)
        ok(false, "store_tick stores second %d: %s", (int)second, e.text);
}

static void run(struct stored *s, int64_t from, int64_t to)
{
    for (int64_t second = from; second <= to; second++)
        tick_at(s, second);
}

static int tell_thing(void *arg, const char *thing, const char *facts)
{
    str_addf(arg, "thing %s %s\n", thing, facts);
    return 0;
}

static int tell_event(void *arg, const struct event *e)
{
    str_addf(arg, "event %lld %s %d %u %d %s %s %s\n", (long long)(e->wall_ns / S_NS), e->kind,
             e->code, (unsigned)e->severity, e->over, e->thing, e->text, e->action);
    return 0;
}

static void add_tables(struct stored *s, struct str *out)
{
    add_query(s, "SELECT * FROM sets ORDER BY name", out);
    add_query(s, "SELECT * FROM signal ORDER BY set_name, name, label", out);
    add_query(s, "SELECT * FROM thing ORDER BY id", out);
    add_query(s, "SELECT * FROM event ORDER BY t", out);
    add_query(s, "SELECT * FROM disk_1s ORDER BY t, thing", out);
    add_query(s, "SELECT * FROM disk_10s ORDER BY t, thing", out);
    add_query(s, "SELECT * FROM disk_1m ORDER BY t, thing", out);
    add_query(s, "SELECT * FROM slow_1s ORDER BY t, thing", out);
    add_query(s, "SELECT * FROM slow_1m ORDER BY t, thing", out);
}

static void add_minutes(struct str *out)
{
    struct err e = { "" };
    struct stored s;

    stored_make(&s);
    run(&s, 1000, 1070);
    run(&s, 1100, 1150);
    run(&s, 1148, 1194); /* the clock was set back by two seconds */
    stored_reopen(&s);
    run(&s, 1196, 1230);
    stored_kill(&s);
    run(&s, 1232, 1262);
    run(&s, 1100, 1101); /* and by minutes */
    run(&s, 1263, 1265);
    stored_reader(&s);
    add_tables(&s, out);
    add_all_series(&s, out);
    is_int(store_things(s.reader, "disk", tell_thing, out, &e), 0, "the disks are listed");
    is_int(store_events(s.reader, 0, 100, tell_event, out, &e), 0, "all events are listed");
    is_int(store_events(s.reader, 1107000, 2, tell_event, out, &e), 0, "two events are listed");
    stored_close(&s);
    add_tables(&s, out);
    stored_remove(&s);
}

/* What is kept of each tier, some times on the way. */
static void add_ages(struct str *out)
{
    struct stored s;

    stored_make(&s);
    s.config = (struct store_config){ .keep_s = { 100, 200, 600 } };
    stored_reopen(&s);
    for (int64_t second = 1000; second < 3000; second += 5) {
        tick_at(&s, second);
        if (second % 250)
            continue;
        str_addf(out, "at %d\n", (int)second);
        add_query(&s, "SELECT count(*), min(t), max(t) FROM disk_1s", out);
        add_query(&s, "SELECT count(*), min(t), max(t) FROM disk_10s", out);
        add_query(&s, "SELECT count(*), min(t), max(t) FROM disk_1m", out);
        add_query(&s, "SELECT count(*), min(t), max(t) FROM slow_1s", out);
        add_query(&s, "SELECT count(*), min(t), max(t) FROM event", out);
    }
    stored_remove(&s);
}

int main(int argc, char **argv)
{
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc < 2)
        return 1;
    add_minutes(&out);
    add_ages(&out);
    is_int(str_error(&out), 0, "the text of all rows has room");
    golden(argv[1], str_text(&out));
    return done();
}
