#include <ctype.h>
#include <string.h>

#include "store/store_private.h"

enum { SQL_MAX = 256 << 10 };

const int64_t schema_bucket_ms[STORE_TIERS] = { 1000, 10000, 60000 };
static const char *const suffixes[STORE_TIERS] = { "1s", "10s", "1m" };

/* In order; user_version is the last that a file has had. Never change one: add another. */
static const struct {
    int version;
    const char *sql;
} migrations[] = {
    { 1, "CREATE TABLE sets(name TEXT PRIMARY KEY, label TEXT NOT NULL, keep_s INTEGER NOT NULL)"
         " STRICT, WITHOUT ROWID;"
         "CREATE TABLE signal(set_name TEXT NOT NULL, name TEXT NOT NULL, label TEXT NOT NULL,"
         " kind INTEGER NOT NULL, col TEXT NOT NULL, PRIMARY KEY(set_name, name, label))"
         " STRICT, WITHOUT ROWID;"
         "CREATE TABLE thing(id INTEGER PRIMARY KEY, set_name TEXT NOT NULL, name TEXT NOT NULL,"
         " facts TEXT NOT NULL, seen INTEGER NOT NULL, UNIQUE(set_name, name)) STRICT;"
         "CREATE TABLE event(t INTEGER NOT NULL, kind TEXT NOT NULL, code INTEGER NOT NULL,"
         " thing TEXT NOT NULL, over INTEGER NOT NULL, severity INTEGER NOT NULL,"
         " text TEXT NOT NULL, action TEXT NOT NULL, PRIMARY KEY(t, kind, code, thing, over))"
         " STRICT, WITHOUT ROWID;" },
};

int schema_migrate(sqlite3 *db)
{
    int64_t version = 0;
    int code = sql_ask(db, "PRAGMA user_version", 0, &version);

    for (size_t i = 0; i < ARRAY_SIZE(migrations) && code == SQLITE_OK; i++) {
        char pragma[48];

        if (migrations[i].version <= version)
            continue;
        snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", migrations[i].version);
        code = sql_run(db, "BEGIN IMMEDIATE");
        if (code == SQLITE_OK)
            code = sql_run(db, migrations[i].sql);
        if (code == SQLITE_OK)
            code = sql_run(db, pragma);
        if (code == SQLITE_OK)
            code = sql_run(db, "COMMIT");
        if (code != SQLITE_OK && !sqlite3_get_autocommit(db))
            (void)sql_run(db, "ROLLBACK");
    }
    if (code == SQLITE_OK && version > migrations[ARRAY_SIZE(migrations) - 1].version)
        return SQLITE_SCHEMA;
    return code;
}

/* Names are part of statements: letters, digits and '_'. */
static void add_word(struct str *out, const char *word)
{
    for (; *word; word++)
        str_add_char(out, isalnum((unsigned char)*word) ? *word : '_');
}

/* The value of a label: idle of mode="idle". */
static void add_label(struct str *out, const char *label)
{
    const char *value = strchr(label, '"');
    size_t len;

    value = value ? value + 1 : label;
    len = strcspn(value, "\"");
    for (size_t i = 0; i < len; i++)
        str_add_char(out, isalnum((unsigned char)value[i]) ? value[i] : '_');
}

void schema_column(struct str *out, const struct signal_def *def)
{
    add_word(out, def->name);
    if (def->label) {
        str_add_char(out, '_');
        add_label(out, def->label);
    }
}

void schema_table(struct str *out, const char *set, enum store_tier tier)
{
    str_add_char(out, '"');
    add_word(out, set);
    str_addf(out, "_%s\"", suffixes[tier]);
}

bool schema_has(const struct signal_set *set, enum store_tier tier)
{
    return tier != STORE_10S || set->keep_s < 10;
}

/* By time where rows come each second, so that those of a tick go to one place of the file; by
 * thing where they come each minute, so that a year of one thing is read in one go. */
static int create(sqlite3 *db, const struct signal_set *set, enum store_tier tier)
{
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_MAX);

    str_add(&sql, "CREATE TABLE IF NOT EXISTS ");
    schema_table(&sql, set->name, tier);
    str_add(&sql, "(t INTEGER NOT NULL, thing INTEGER NOT NULL");
    for (size_t i = 0; i < set->n_defs; i++) {
        str_add(&sql, ", \"");
        schema_column(&sql, &set->defs[i]);
        str_add(&sql, "\" REAL");
    }
    str_addf(&sql, ", PRIMARY KEY(%s)) STRICT, WITHOUT ROWID",
             tier == STORE_1M ? "thing, t" : "t, thing");
    return str_error(&sql) ? SQLITE_NOMEM : sql_run(db, str_text(&sql));
}

/* The columns that a table of an earlier brim lacks. */
static int widen(sqlite3 *db, const struct signal_set *set, enum store_tier tier)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *has = NULL;
    CLEANUP(str_done) struct str table = STR_INIT(256);
    int code = sql_prepare(db, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE",
                           &has);

    schema_table(&table, set->name, tier);
    if (str_error(&table))
        return SQLITE_NOMEM;
    for (size_t i = 0; i < set->n_defs && code == SQLITE_OK; i++) {
        CLEANUP(str_done) struct str column = STR_INIT(256), sql = STR_INIT(1024);
        int64_t there = 0;

        schema_column(&column, &set->defs[i]);
        if (str_error(&column))
            return SQLITE_NOMEM;
        sqlite3_bind_text(has, 1, str_text(&table) + 1, (int)table.len - 2, SQLITE_STATIC);
        sqlite3_bind_text(has, 2, str_text(&column), -1, SQLITE_STATIC);
        code = sql_number(has, 0, &there);
        if (code != SQLITE_OK || there)
            continue;
        str_addf(&sql, "ALTER TABLE %s ADD COLUMN \"%s\" REAL", str_text(&table),
                 str_text(&column));
        code = str_error(&sql) ? SQLITE_NOMEM : sql_run(db, str_text(&sql));
    }
    return code;
}

static int describe_signals(sqlite3 *db, const struct signal_set *set)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *add = NULL;
    int code = sql_prepare(
        db,
        "INSERT INTO signal(set_name, name, label, kind, col) VALUES(?1, ?2, ?3, ?4, ?5)"
        " ON CONFLICT DO UPDATE SET kind = excluded.kind WHERE kind IS NOT excluded.kind",
        &add);

    for (size_t i = 0; i < set->n_defs && code == SQLITE_OK; i++) {
        const struct signal_def *def = &set->defs[i];
        CLEANUP(str_done) struct str column = STR_INIT(256);

        schema_column(&column, def);
        if (str_error(&column))
            return SQLITE_NOMEM;
        sqlite3_bind_text(add, 1, set->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(add, 2, def->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(add, 3, def->label ? def->label : "", -1, SQLITE_STATIC);
        sqlite3_bind_int(add, 4, def->kind == SIGNAL_COUNTER);
        sqlite3_bind_text(add, 5, str_text(&column), -1, SQLITE_STATIC);
        code = sql_step(add);
    }
    return code;
}

static int describe(sqlite3 *db, const struct signal_set *set)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *add = NULL;
    int code = sql_prepare(
        db,
        "INSERT INTO sets(name, label, keep_s) VALUES(?1, ?2, ?3) ON CONFLICT DO "
        "UPDATE SET label = excluded.label, keep_s = excluded.keep_s",
        &add);

    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_text(add, 1, set->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 2, set->thing ? set->thing : "", -1, SQLITE_STATIC);
    sqlite3_bind_int64(add, 3, set->keep_s);
    code = sql_step(add);
    return code == SQLITE_OK ? describe_signals(db, set) : code;
}

int schema_set(sqlite3 *db, const struct signal_set *set)
{
    int code = describe(db, set);

    for (int tier = 0; tier < STORE_TIERS && code == SQLITE_OK; tier++) {
        if (!schema_has(set, tier))
            continue;
        code = create(db, set, tier);
        if (code == SQLITE_OK)
            code = widen(db, set, tier);
    }
    return code;
}
