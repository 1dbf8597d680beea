/* What is stored, and how it is read again. */
#include "stored.h"

static void test_layout(void)
{
    struct stored s;
    struct stat st;

    stored_make(&s);
    put(&s, 1000, 1, 100);
    is_str(ask(&s, "SELECT group_concat(name) FROM pragma_table_info('disk_1s')"),
           "t,thing,busy,read_bytes_total,seconds_total_idle", "columns are called as signals");
    is_str(ask(&s, "SELECT t || ',' || busy || ',' || ifnull(seconds_total_idle, 'null')"
                   " FROM disk_1s"),
           "1000000,1.0,null", "a row, absent is NULL");
    is_str(ask(&s, "SELECT set_name || name || facts FROM thing"), "diskvda{\"serial\":\"S\"}",
           "a thing is stored with its facts");
    is_str(ask(&s, "SELECT group_concat(name || label || kind || col) FROM signal"),
           "busy0busy,read_bytes_total1read_bytes_total,"
           "seconds_totalmode=\"idle\"1seconds_total_idle",
           "the table of signals has name, label, kind and column");
    is_str(ask(&s, "SELECT name || label || keep_s FROM sets"), "diskdevice0",
           "the table of sets has the set's label and time to keep");
    is_str(ask(&s, "PRAGMA user_version"), "1", "the file has schema version 1");
    is_str(ask(&s, "PRAGMA auto_vacuum"), "2", "the file has incremental vacuum");
    is_str(ask(&s, "PRAGMA application_id"), "1651665261", "the file has brim's application id");
    ok(stat(s.path, &st) == 0 && (st.st_mode & 0777) == 0640, "nobody else reads the file");
    stored_remove(&s);
}

static const struct signal_def fewer[] = { { "busy", "", SIGNAL_GAUGE } };
static const struct signal_set small_set = { "disk", "device", fewer, 1 };

static void test_migration(void)
{
    struct stored s;
    struct err e = { "" };

    stored_make(&s);
    tick_begin(&s.tick, 500 * S_NS, 0);
    tick_add(&s.tick, &small_set, "vda")->values[0] = 7;
    ok(store_tick(s.store, &s.tick, &e) == 0, "a set with one signal %s", e.text);
    stored_reopen(&s);
    put(&s, 1000, 1, 100);
    is_str(ask(&s, "SELECT group_concat(busy || ifnull(read_bytes_total, '-')) FROM disk_1s"),
           "7.0-,1.0100.0", "signals that a later version adds become columns");
    is_str(ask(&s, "SELECT count(*) FROM pragma_table_info('disk_1m')"), "5",
           "a new signal becomes a column in each tier");
    stored_query(&s, "PRAGMA user_version = 99");
    stored_close(&s);
    ok(stored_open(&s, &e) == 0, "a file of a later version does not stop the store");
    ok(strstr(store_note(s.store), "later version") != NULL, "the note names the later version");
    is_str(store_note(s.store), "", "the note about a later version is given once");
    is_str(ask(&s, "SELECT count(*) FROM sets"), "0", "a new one is begun");
    stored_remove(&s);
}

static void test_unchanged(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i < 50; i++)
        put(&s, 1000 + i, 1, 100);
    is_str(ask(&s, "SELECT count(*) FROM disk_1s"), "1", "what repeats is left out");
    put(&s, 1050, 1, 200);
    is_str(ask(&s, "SELECT group_concat(t / 1000) FROM disk_1s"), "1000,1049,1050",
           "a change brings the last one that was left out");
    for (int i = 51; i < 111; i++)
        put(&s, 1000 + i, 1, 200);
    is_str(ask(&s, "SELECT max(t) / 1000 FROM disk_1s"), "1110", "at least each 60 s there is one");
    put(&s, 1111, 1, 200);
    put_other(&s, 1112);
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ifnull(busy, 'null')) FROM disk_1s"
                   " WHERE t > 1110000"),
           "11111.0,1112null", "a thing that goes ends in NULLs");
    put(&s, 1113, 1, 200);
    put(&s, 1114, 1, 200);
    stored_reopen(&s);
    is_str(ask(&s, "SELECT max(t) / 1000 FROM disk_1s"), "1114",
           "closing writes what was left out");
    stored_remove(&s);
}

static void test_keep(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i < 120; i++)
        put_slow(&s, 1200 + i, i);
    is_str(ask(&s, "SELECT group_concat(t / 1000) FROM slow_1s"), "1200,1230,1260,1290",
           "a set is stored as seldom as it says");
    is_str(ask(&s, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'slow_10s'"), "0",
           "a set that is stored seldom has no 10 s tier");
    put_slow(&s, 1320, 0);
    is_str(ask(&s, "SELECT group_concat(x) FROM slow_1m"), "29.5,89.5",
           "minutes of a set that is stored seldom are of all ticks");
    stored_remove(&s);
}

static void test_roll(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i < 25; i++)
        put(&s, 1200 + i, i, i * 100);
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ':' || busy || ':' || read_bytes_total, ' ')"
                   " FROM disk_10s"),
           "1200:4.5:900.0 1210:14.5:1900.0", "gauges have their mean, counters their last value");
    is_str(ask(&s, "SELECT count(*) FROM disk_1m"), "0", "the minute is open");
    stored_kill(&s); /* in the middle of a bucket */
    for (int i = 25; i < 61; i++)
        put(&s, 1200 + i, i, i * 100);
    is_str(ask(&s, "SELECT busy || ':' || read_bytes_total FROM disk_10s WHERE t = 1220000"),
           "24.5:2900.0", "a bucket that a restart broke is made of all its rows");
    is_str(ask(&s, "SELECT t || ':' || busy || ':' || read_bytes_total FROM disk_1m"),
           "1200000:29.5:5900.0", "a minute that a restart broke is made of all its rows");
    stored_remove(&s);

    stored_make(&s);
    for (int i = 0; i < 15; i++)
        put(&s, 1200 + i, 1, 100);
    put(&s, 1215, 7, 200);
    stored_kill(&s);
    put(&s, 1300, 1, 300);
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ':' || busy, ' ') FROM disk_10s"),
           "1200:1.0 1210:2.0",
           "rows that were left out count; a bucket that had ended is written");
    stored_remove(&s);
}

/* A disk that was there for ten seconds. */
static void test_roll_of_what_is_gone(void)
{
    struct stored s;

    stored_make(&s);
    for (int i = 0; i < 31; i++) {
        tick_begin(&s.tick, (1200 + i) * S_NS, (1200 + i) * S_NS);
        stored_row(&s, "vda", i, i);
        if (i < 10)
            stored_row(&s, "vdb", i, i);
        if (store_tick(s.store, &s.tick, NULL) < 0)
            ok(false, "second %d is stored", i);
    }
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ':' || busy, ' ') FROM disk_10s"
                   " JOIN thing ON thing.id = thing WHERE name = 'vdb'"),
           "1200:4.5", "a bucket without a row of a thing has none of it");
    is_str(ask(&s, "SELECT count(*) FROM disk_10s JOIN thing ON thing.id = thing"
                   " WHERE name = 'vda'"),
           "3", "the thing that stays has all three");
    is_str(ask(&s, "SELECT count(*) FROM disk_10s WHERE busy IS NULL"), "0", "none is empty");
    stored_remove(&s);
}

static void test_clock(void)
{
    struct stored s;

    stored_make(&s);
    put(&s, 1209, 1, 1);
    put(&s, 1210, 3, 2);
    put(&s, 1209, 5, 3); /* a step back of a second */
    put(&s, 1211, 5, 4);
    put(&s, 1220, 1, 5);
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ':' || busy, ' ') FROM disk_10s"),
           "1200:1.0 1210:4.33333333333333", "a small step back does not break a bucket");
    put(&s, 600, 1, 6);
    put(&s, 600, 9, 7);
    put(&s, 1230, 1, 8);
    is_str(ask(&s, "SELECT group_concat((t / 1000) || ':' || busy, ' ') FROM disk_1s"),
           "600:9.0 1209:5.0 1210:3.0 1211:5.0 1220:1.0 1230:1.0", "a moment has one row");
    stored_remove(&s);
}

static void add_event(struct stored *s, int64_t second, const char *thing)
{
    struct event *event;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    event = tick_event(&s->tick, "xid", SEVERITY_CRITICAL, 79);
    snprintf(event->thing, sizeof(event->thing), "%s", thing);
    snprintf(event->text, sizeof(event->text), "it fell off at %d", (int)second);
    ok(store_tick(s->store, &s->tick, NULL) == 0, "store_tick stores an event");
}

static int see_event(void *arg, const struct event *event)
{
    struct str *out = arg;

    str_addf(out, "%lld %s %d %s %s %d;", (long long)(event->wall_ns / S_NS), event->kind,
             event->code, event->thing, event->text, (int)event->severity);
    return 0;
}

static void test_events(void)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct stored s;

    stored_make(&s);
    put(&s, 999, 1, 1);
    for (int i = 0; i < 3; i++)
        add_event(&s, 1000 + i, "vda");
    add_event(&s, 1002, "vda");
    add_event(&s, 1002, "vdb");
    put(&s, 1003, 1, 1);
    is_str(ask(&s, "SELECT count(*) FROM event"), "4", "an event is there once");
    is_str(ask(&s, "SELECT count(*) FROM disk_1s"), "1", "a tick without rows ends no thing");
    stored_reader(&s);
    is_int(store_events(s.reader, 1001000, 2, see_event, &out, NULL), 0,
           "store_events reads two events back");
    ok(strstr(str_text(&out), "1002 xid 79 vdb it fell off at 1002 3;") != NULL &&
           strstr(str_text(&out), "1001") == NULL,
       "store_events gives the newest event first: %s", str_text(&out));
    stored_remove(&s);
}

/* As another program may have written them. */
static void test_severities(void)
{
    static const struct {
        int stored, read;
    } rows[] = { { -1, SEVERITY_UNKNOWN },
                 { SEVERITY_UNKNOWN, SEVERITY_UNKNOWN },
                 { SEVERITY_CRITICAL, SEVERITY_CRITICAL },
                 { SEVERITY_CRITICAL + 1, SEVERITY_UNKNOWN } };
    struct stored s;

    stored_make(&s);
    stored_reader(&s);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        char sql[128], want[64];

        snprintf(sql, sizeof(sql), "INSERT INTO event VALUES(%zu000, 'x', 0, 't', 0, %d, '', '')",
                 i, rows[i].stored);
        ask(&s, sql);
        snprintf(want, sizeof(want), "%zu x 0 t  %d;", i, rows[i].read);
        is_int(store_events(s.reader, 0, 1, see_event, &out, NULL), 0, "one event is read");
        is_str(str_text(&out), want, "severity %d is read as %d", rows[i].stored, rows[i].read);
    }
    stored_remove(&s);
}

int main(void)
{
    test_layout();
    test_migration();
    test_unchanged();
    test_keep();
    test_roll();
    test_roll_of_what_is_gone();
    test_clock();
    test_events();
    test_severities();
    return done();
}
