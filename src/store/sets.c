/* The sets that the store has in memory. */
#include <string.h>

#include "store/store_private.h"

enum { SQL_MAX = 64 << 10 };

static void set_free(struct set *set)
{
    while (set->n_things > 0)
        set_drop_thing(set, set->n_things - 1);
    for (size_t k = 0; k < STORE_TIERS; k++)
        sqlite3_finalize(set->insert[k]);
    free(set->things);
    free(set);
}
DEFINE_CLEANUP(struct set, set_free)

void sets_drop(struct store *s)
{
    for (size_t i = 0; i < s->n_sets; i++)
        set_free(s->sets[i]);
    for (size_t i = 0; i < s->n_tables; i++)
        free(s->tables[i]);
    free(s->sets);
    free(s->tables);
    s->sets = NULL;
    s->tables = NULL;
    s->n_sets = s->n_tables = 0;
}

/* ---- tables ---- */

static int oldest_row(sqlite3 *db, struct table *table)
{
    int code = SQLITE_OK;

    for (int k = 0; k < 2 && code == SQLITE_OK; k++) {
        CLEANUP(str_done) struct str sql = STR_INIT(512);

        table->oldest[k] = NO_ROWS;
        str_add(&sql, "SELECT min(t) FROM ");
        schema_table(&sql, table->name, k);
        if (str_error(&sql))
            return SQLITE_NOMEM;
        code = sql_ask(db, str_text(&sql), NO_ROWS, &table->oldest[k]);
        if (code == SQLITE_ERROR && k == STORE_10S)
            code = SQLITE_OK; /* the set has no such tier */
    }
    return code;
}

static int add_table(struct store *s, const char *name, struct table **ret)
{
    struct table **more;
    struct table *table;
    int code;

    for (size_t i = 0; i < s->n_tables; i++) {
        if (!strcmp(s->tables[i]->name, name)) {
            *ret = s->tables[i];
            return SQLITE_OK;
        }
    }
    more = realloc(s->tables, (s->n_tables + 1) * sizeof(struct table *));
    if (!more)
        return SQLITE_NOMEM;
    s->tables = more;
    table = calloc(1, sizeof(*table));
    if (!table)
        return SQLITE_NOMEM;
    snprintf(table->name, sizeof(table->name), "%s", name);
    code = oldest_row(s->db, table);
    if (code != SQLITE_OK) {
        free(table);
        return code;
    }
    s->tables[s->n_tables++] = *ret = table;
    return SQLITE_OK;
}

int sets_tables(struct store *s)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *all = NULL;
    int code = sql_prepare(s->db, "SELECT name FROM sets", &all);

    while (code == SQLITE_OK && (code = sqlite3_step(all)) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(all, 0);
        struct table *table;

        code = name ? add_table(s, name, &table) : SQLITE_NOMEM;
    }
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

/* ---- sets ---- */

static int prepare_insert(sqlite3 *db, struct set *set, enum store_tier tier)
{
    CLEANUP(str_done) struct str sql = STR_INIT(SQL_MAX);

    str_add(&sql, "REPLACE INTO ");
    schema_table(&sql, set->set->name, tier);
    str_add(&sql, "(t, thing");
    for (size_t i = 0; i < set->set->n_defs; i++) {
        str_add(&sql, ", \"");
        schema_column(&sql, &set->set->defs[i]);
        str_add_char(&sql, '"');
    }
    str_add(&sql, ") VALUES(?, ?");
    for (size_t i = 0; i < set->set->n_defs; i++)
        str_add(&sql, ", ?");
    str_add_char(&sql, ')');
    return str_error(&sql) ? SQLITE_NOMEM : sql_prepare(db, str_text(&sql), &set->insert[tier]);
}

static int make_tables(struct store *s, const struct signal_set *set)
{
    int code = sql_step(s->begin);

    if (code != SQLITE_OK)
        return code;
    code = schema_set(s->db, set);
    if (code == SQLITE_OK)
        code = sql_step(s->commit);
    if (code != SQLITE_OK && !sqlite3_get_autocommit(s->db))
        (void)sql_step(s->rollback);
    return code;
}

static int open_set(struct store *s, const struct signal_set *def, struct set **ret)
{
    CLEANUP(set_freep) struct set *set = calloc(1, sizeof(*set));
    int code = set ? make_tables(s, def) : SQLITE_NOMEM;

    if (code != SQLITE_OK)
        return code;
    set->set = def;
    set->slot = NEVER;
    for (size_t k = 0; k < ROLLS; k++)
        set->bucket[k] = NEVER;
    for (int k = 0; k < STORE_TIERS && code == SQLITE_OK; k++)
        if (schema_has(def, k))
            code = prepare_insert(s->db, set, k);
    if (code == SQLITE_OK)
        code = add_table(s, def->name, &set->table);
    if (code == SQLITE_OK)
        code = roll_restore(s, set);
    if (code == SQLITE_OK)
        *ret = steal(&set);
    return code;
}

int sets_find(struct store *s, const struct signal_set *def, struct set **ret)
{
    struct set **more;
    int code;

    for (size_t i = 0; i < s->n_sets; i++) {
        if (s->sets[i]->set == def) {
            *ret = s->sets[i];
            return SQLITE_OK;
        }
    }
    more = realloc(s->sets, (s->n_sets + 1) * sizeof(struct set *));
    if (!more)
        return SQLITE_NOMEM;
    s->sets = more;
    code = open_set(s, def, ret);
    if (code == SQLITE_OK)
        s->sets[s->n_sets++] = *ret;
    return code;
}
