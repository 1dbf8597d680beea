/* What the file knows of sets, signals and things: their names, and what of them changes. */
#include <errno.h>

#include "stored.h"

enum { DAY = 86400 };

/* One tick with one thing of a set, all of whose values are the same. */
static int tick_of(struct stored *s, const struct signal_set *set, const char *fact, int64_t second)
{
    struct signal_row *row;

    tick_begin(&s->tick, second * S_NS, second * S_NS);
    row = tick_add(&s->tick, set, "a");
    folder_need(row ? 0 : -1, "tick_add");
    for (size_t i = 0; i < set->n_defs; i++)
        row->values[i] = (double)second;
    if (fact)
        tick_fact(row, 0, fact);
    return store_tick(s->store, &s->tick, NULL);
}

/* Names become parts of statements. */
static void test_names(void)
{
    static const struct signal_def defs[] = {
        { "x-y.z\"", "", SIGNAL_GAUGE },
        { "Az09", "", SIGNAL_GAUGE, "mode=\"a b-9\",cpu=\"7\"" },
        { "x", "", SIGNAL_COUNTER, "plain;word" },
    };
    static const struct signal_set set = { "a \"b;c", NULL, defs, ARRAY_SIZE(defs) };
    struct stored s;

    stored_make(&s);
    is_int(tick_of(&s, &set, NULL, 1000), 0, "a set with signs in its name is stored");
    is_str(ask(&s, "SELECT group_concat(name, ' ') FROM (SELECT name FROM sqlite_schema"
                   " WHERE name LIKE 'a%' ORDER BY name)"),
           "a__b_c_10s a__b_c_1m a__b_c_1s", "a table is called by letters and digits of its set");
    is_str(ask(&s, "SELECT group_concat(name, ' ') FROM pragma_table_info('a__b_c_1s')"),
           "t thing x_y_z_ Az09_a_b_9 x_plain_word",
           "a column is called by letters and digits of its signal and its label's first value");
    is_str(ask(&s, "SELECT label FROM sets"), "", "a set of one thing alone has no label");
    stored_remove(&s);
}

/* The same names with another meaning, as of a later brim. */
static void test_changes(void)
{
    static const struct signal_def defs[] = { { "x", "", SIGNAL_GAUGE },
                                              { "y", "", SIGNAL_COUNTER } };
    static const struct signal_def other[] = { { "X", "", SIGNAL_COUNTER },
                                               { "y", "", SIGNAL_GAUGE } };
    static const struct signal_set was = { "s", "old", defs, 2 };
    static const struct signal_set is = { "s", "new", other, 2, NULL, 30 };
    struct stored s;

    stored_make(&s);
    is_int(tick_of(&s, &was, NULL, 1000), 0, "a set is stored");
    stored_reopen(&s);
    is_int(tick_of(&s, &is, NULL, 1030), 0, "a set that changed is stored");
    is_str(ask(&s, "SELECT label || keep_s FROM sets"), "new30",
           "a set has the label and the time to keep of its last tick");
    is_str(ask(&s, "SELECT group_concat(name || kind, ' ') FROM signal"), "X1 x0 y0",
           "a signal has the kind of its last tick");
    is_str(ask(&s, "SELECT group_concat(name, ' ') FROM pragma_table_info('s_1s')"), "t thing x y",
           "a name in other letters is the same column");
    stored_remove(&s);
}

static void test_facts(void)
{
    static const char *const names[] = { "first", "second", NULL };
    static const struct signal_set set = { "s", NULL, slow_defs, 1, names };
    char long_fact[SIGNAL_THING] = "";
    struct stored s;

    stored_make(&s);
    is_int(tick_of(&s, &set, NULL, 1000), 0, "a thing without facts is stored");
    is_str(ask(&s, "SELECT facts FROM thing"), "{}", "a fact that is not known is left out");
    is_int(tick_of(&s, &set, "1", 1001), 0, "a thing with a fact is stored");
    is_str(ask(&s, "SELECT facts FROM thing"), "{\"first\":\"1\"}", "a fact that comes is stored");
    is_int(tick_of(&s, &set, "2", 1002), 0, "a thing with another fact is stored");
    is_str(ask(&s, "SELECT facts FROM thing"), "{\"first\":\"2\"}",
           "a fact that changes is stored");
    memset(long_fact, '"', sizeof(long_fact) - 1);
    is_int(tick_of(&s, &set, long_fact, 1003), 0, "a thing with a long fact is stored");
    ok(strlen(ask(&s, "SELECT facts FROM thing")) > sizeof(long_fact),
       "a fact may be as long as there is room for it");
    stored_reopen(&s);
    is_int(tick_of(&s, &set, "2", 1004), 0, "a thing is stored by the next agent");
    is_str(ask(&s, "SELECT facts FROM thing"), "{\"first\":\"2\"}",
           "the next agent stores the facts it finds");
    is_str(ask(&s, "SELECT count(*) FROM thing"), "1", "the thing is the same all the time");
    stored_remove(&s);
}

/* Four facts of signs that JSON writes with six letters each. */
static void test_long_facts(void)
{
    static const char *const names[] = { "a", "b", "c", "d", NULL };
    static const struct signal_set set = { "s", NULL, slow_defs, 1, names };
    char fact[SIGNAL_THING] = "";
    struct signal_row *row;
    struct stored s;

    stored_make(&s);
    memset(fact, 1, sizeof(fact) - 1);
    tick_begin(&s.tick, 1000 * S_NS, 1000 * S_NS);
    row = tick_add(&s.tick, &set, "x");
    folder_need(row ? 0 : -1, "tick_add");
    row->values[0] = 1;
    for (size_t i = 0; i < SIGNAL_FACTS; i++)
        tick_fact(row, i, fact);
    is_int(store_tick(s.store, &s.tick, NULL), 0, "a thing with long facts is stored");
    is_str(ask(&s, "SELECT facts FROM thing"), "{}", "facts that are too long are left out");
    is_str(ask(&s, "SELECT count(*) FROM s_1s"), "1", "the row of such a thing is stored");
    stored_remove(&s);
}

/* When a thing was there last, to a day. */
static void test_seen(void)
{
    static const struct {
        int64_t second;
        const char *seen;
    } rows[] = {
        { 1000, "1000" },        { 1000 + DAY, "1000" }, /* not for more than a day */
        { 1001 + DAY, "87401" }, { 1001, "87401" },      /* a clock that goes back by a day */
        { 1000, "1000" },
    };
    struct stored s;

    stored_make(&s);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        is_int(tick_of(&s, &slow_set, NULL, rows[i].second), 0, "second %d is stored",
               (int)rows[i].second);
        is_str(ask(&s, "SELECT seen / 1000 FROM thing"), rows[i].seen,
               "a thing that has a row at second %d was seen at second %s", (int)rows[i].second,
               rows[i].seen);
    }
    stored_remove(&s);
}

/* A tick that the file refuses in the middle leaves nothing, and nothing is remembered of it. */
static void test_refused(void)
{
    static const char *const names[] = { "first", NULL };
    static const struct signal_set set = { "s", NULL, slow_defs, 1, names };
    struct stored s;

    stored_make(&s);
    is_int(tick_of(&s, &set, "1", 1000), 0, "a thing is stored");
    ask(&s, "CREATE TRIGGER no BEFORE INSERT ON s_1s BEGIN SELECT RAISE(ABORT, 'no'); END");
    is_int(tick_of(&s, &set, "2", 2000 + DAY), -EIO, "a tick is refused by its row");
    is_str(ask(&s, "SELECT facts || (seen / 1000) FROM thing"), "{\"first\":\"1\"}1000",
           "a tick that is refused changes no thing");
    ask(&s, "DROP TRIGGER no");
    is_int(tick_of(&s, &set, "2", 2002 + DAY), 0, "the next tick is stored");
    is_str(ask(&s, "SELECT facts || (seen / 1000) FROM thing WHERE set_name = 's'"),
           "{\"first\":\"2\"}88402", "the next tick writes what the one before could not");
    stored_remove(&s);
}

/* Of the three times to keep rows each is at least the one before. */
static void test_times_to_keep(void)
{
    struct stored s;

    stored_make(&s);
    s.config = (struct store_config){ .keep_s = { 900, 1, 1 } };
    stored_reopen(&s);
    for (int i = 0; i < 2000; i += 5)
        put(&s, 12000 + i, i, i);
    is_str(ask(&s, "SELECT min(t) / 1000 < 13100 FROM disk_10s"), "1",
           "rows of 10 s are kept as long as those of 1 s");
    is_str(ask(&s, "SELECT min(t) / 1000 < 13100 FROM disk_1m"), "1",
           "rows of a minute are kept as long as those of 10 s");
    stored_remove(&s);
}

static void test_owner(void)
{
    struct stored s;
    struct err e = { "" };

    stored_make(&s);
    stored_close(&s);
    unlink(s.path);
    ask(&s, "PRAGMA application_id = 7");
    is_int(stored_open(&s, &e), -EEXIST, "an empty database of another program is left alone");
    ok(strstr(e.text, "is a database of another program: give the store another path") != NULL,
       "the error says what to do: %s", e.text);
    is_str(ask(&s, "PRAGMA application_id"), "7", "the database belongs to the other program");
    unlink(s.path);
    folder_text(s.folder, "a/b/store.db", "");
    is_int(stored_open(&s, &e), 0, "an empty file is nobody's");
    is_str(store_note(s.store), "", "nothing is told of an empty file");
    stored_remove(&s);
}

static void test_paths(void)
{
    struct stored s;
    struct err e = { "" };
    struct store *store = NULL;
    char path[2 * PATH_MAX];

    stored_make(&s);
    stored_close(&s);
    folder_text(s.folder, "file", "x");
    snprintf(path, sizeof(path), "%s/file/store.db", s.folder);
    is_int(store_open(&store, path, NULL, 0, &e), -ENOTDIR, "a file is no folder: %s", e.text);
    snprintf(path, sizeof(path), "%s-lock", s.path);
    unlink(path);
    folder_folder(s.folder, "a/b/store.db-lock");
    is_int(stored_open(&s, &e), -EISDIR, "a folder is no lock");
    ok(strstr(e.text, "store.db-lock: Is a directory: give the store a path that this user may"
                      " write") != NULL,
       "the error names the lock and says what to do: %s", e.text);
    memset(path, 'x', sizeof(path));
    path[0] = '/';
    path[PATH_MAX - 32] = '\0';
    is_int(store_open(&store, path, NULL, 0, &e), -ENAMETOOLONG, "a name may be too long");
    stored_remove(&s);
}

int main(void)
{
    test_names();
    test_changes();
    test_facts();
    test_long_facts();
    test_seen();
    test_refused();
    test_times_to_keep();
    test_owner();
    test_paths();
    return done();
}
