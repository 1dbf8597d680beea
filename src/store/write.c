/* The rows and events of a tick, inside a transaction. What the memory remembers of them changes
 * after the commit only: a tick that failed leaves no trace. */
#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/clock.h"
#include "store/store_private.h"

enum { FACTS_MAX = 1024, DAY_MS = 24 * 3600 * 1000 };

/* values NULL: a row of NULLs. */
static int write_row(const struct set *set, const struct thing *thing, int64_t ms,
                     const double *values)
{
    sqlite3_stmt *insert = set->insert[STORE_1S];

    sqlite3_bind_int64(insert, 1, ms);
    sqlite3_bind_int64(insert, 2, thing->id);
    for (size_t i = 0; i < set->set->n_defs; i++)
        sql_bind_double(insert, (int)i + 3, values ? values[i] : (double)NAN);
    return sql_step(insert);
}

int write_skipped(struct set *set, struct thing *thing)
{
    if (thing->skipped_ms == NEVER || !thing->id)
        return SQLITE_OK;
    return write_row(set, thing, thing->skipped_ms, thing->last);
}

/* ---- things ---- */

/* FNV-1a over the texts with their ends; 1 for none, so that 0 is never a hash. */
static uint64_t hash_facts(const struct signal_row *row)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; row->set->facts && i < SIGNAL_FACTS && row->set->facts[i]; i++) {
        const char *text = row->facts[i];

        do
            h = (h ^ (unsigned char)*text) * 1099511628211u;
        while (*text++);
    }
    return h | 1;
}

static void facts_json(struct str *out, const struct signal_row *row)
{
    struct json j = { .out = out, .compact = true };

    json_object(&j, NULL);
    for (size_t i = 0; row->set->facts && i < SIGNAL_FACTS && row->set->facts[i]; i++)
        if (row->facts[i][0])
            json_string(&j, row->set->facts[i], row->facts[i]);
    json_end(&j);
}

/* Look the thing up, or add it. */
static int name_thing(struct store *s, const struct set *set, struct thing *thing, int64_t now_ms)
{
    int64_t id = 0;
    int code;

    sqlite3_bind_text(s->thing_find, 1, set->set->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(s->thing_find, 2, thing->name, -1, SQLITE_STATIC);
    code = sql_number(s->thing_find, 0, &id);
    if (code == SQLITE_OK && !id) {
        sqlite3_bind_text(s->thing_add, 1, set->set->name, -1, SQLITE_STATIC);
        sqlite3_bind_text(s->thing_add, 2, thing->name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(s->thing_add, 3, now_ms);
        code = sql_step(s->thing_add);
        id = sqlite3_last_insert_rowid(s->db);
    }
    if (code != SQLITE_OK)
        return code;
    thing->id = id;
    thing->born = true;
    return SQLITE_OK;
}

static int note_seen(struct store *s, struct thing *thing, int64_t now_ms)
{
    thing->born = true; /* so that a rollback asks again */
    thing->seen_ms = now_ms;
    sqlite3_bind_int64(s->thing_seen, 1, thing->id);
    sqlite3_bind_int64(s->thing_seen, 2, now_ms);
    return sql_step(s->thing_seen);
}

static int note_facts(struct store *s, struct thing *thing, const struct signal_row *row)
{
    uint64_t hash = hash_facts(row);
    CLEANUP(str_done) struct str facts = STR_INIT(FACTS_MAX);

    if (thing->facts == hash)
        return SQLITE_OK;
    facts_json(&facts, row);
    if (str_error(&facts) == -ENOMEM)
        return SQLITE_NOMEM;
    thing->born = true;
    thing->facts = hash;
    sqlite3_bind_int64(s->thing_facts, 1, thing->id);
    sqlite3_bind_text(s->thing_facts, 2, str_error(&facts) ? "{}" : str_text(&facts), -1,
                      SQLITE_STATIC);
    return sql_step(s->thing_facts);
}

static int know_thing(struct store *s, const struct set *set, struct thing *thing,
                      const struct signal_row *row, int64_t now_ms)
{
    int code = thing->id ? SQLITE_OK : name_thing(s, set, thing, now_ms);

    if (code == SQLITE_OK && (thing->seen_ms == NEVER || llabs(now_ms - thing->seen_ms) > DAY_MS))
        code = note_seen(s, thing, now_ms);
    return code == SQLITE_OK ? note_facts(s, thing, row) : code;
}

/* ---- rows ---- */

/* Of the rows of a slot the first is stored. */
static int64_t slot_of(const struct set *set, int64_t now_ms)
{
    return set->set->keep_s ? now_ms / (set->set->keep_s * INT64_C(1000)) : 0;
}

/* Whether the rows of this moment are among those that the set keeps. */
static bool keeps(const struct set *set, int64_t now_ms)
{
    return !set->set->keep_s || slot_of(set, now_ms) != set->slot;
}

static bool repeats(const struct thing *t, const double *values, size_t n, int64_t now_ms)
{
    return t->present && t->stored_ms != NEVER && now_ms > t->stored_ms &&
           now_ms - t->stored_ms < REPEAT_MS && !memcmp(t->last, values, n * sizeof(*values));
}

static int put_row(struct store *s, struct fate *fate, const struct signal_row *row, int64_t now_ms)
{
    struct thing *t = fate->thing;
    int code = know_thing(s, fate->set, t, row, now_ms);

    fate->write = keeps(fate->set, now_ms) && !repeats(t, row->values, row->set->n_defs, now_ms);
    if (code != SQLITE_OK || !fate->write)
        return code;
    code = write_skipped(fate->set, t);
    return code == SQLITE_OK ? write_row(fate->set, t, now_ms, row->values) : code;
}

/* Which thing each row is of. */
static int find_fates(struct store *s, const struct tick *t)
{
    struct set *set = NULL;
    size_t hint = 0;

    if (s->fates_room < t->n_rows) {
        struct fate *more = realloc(s->fates, t->n_rows * sizeof(*more));

        if (!more)
            return SQLITE_NOMEM;
        s->fates = more;
        s->fates_room = t->n_rows;
    }
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct signal_row *row = &t->rows[i];
        int code = SQLITE_OK;

        if (!set || set->set != row->set) {
            hint = 0;
            code = sets_find(s, row->set, &set);
        }
        if (code != SQLITE_OK)
            return code;
        s->fates[i] = (struct fate){ .set = set, .thing = set_thing(set, row->thing, hint++) };
        if (!s->fates[i].thing)
            return SQLITE_NOMEM;
        s->fates[i].thing->mark = s->ticks;
    }
    return SQLITE_OK;
}

/* Things that were there in the last tick and are no more. */
static int end_gone(struct store *s, int64_t now_ms)
{
    int code = SQLITE_OK;

    for (size_t n = 0; n < s->n_sets; n++) {
        struct set *set = s->sets[n];

        for (size_t i = 0; i < set->n_things && code == SQLITE_OK; i++) {
            struct thing *t = set->things[i];

            if (!t->present || t->mark == s->ticks || !t->id)
                continue;
            code = write_skipped(set, t);
            if (code == SQLITE_OK)
                code = write_row(set, t, now_ms, NULL);
        }
    }
    return code;
}

int write_rows(struct store *s, const struct tick *t, int64_t now_ms)
{
    int code = find_fates(s, t);

    if (code == SQLITE_OK)
        code = sql_step(s->begin);
    if (code == SQLITE_OK)
        code = roll_write(s, now_ms);
    for (size_t i = 0; i < t->n_rows && code == SQLITE_OK; i++)
        code = put_row(s, &s->fates[i], &t->rows[i], now_ms);
    return code == SQLITE_OK && t->n_rows ? end_gone(s, now_ms) : code;
}

/* ---- after the transaction ---- */

static void remember_row(struct fate *fate, const struct signal_row *row, int64_t now_ms)
{
    struct thing *t = fate->thing;
    bool looked = keeps(fate->set, now_ms);

    t->present = true;
    if (fate->write) {
        memcpy(t->last, row->values, row->set->n_defs * sizeof(*t->last));
        t->stored_ms = now_ms;
        t->skipped_ms = NEVER;
        fate->set->table->oldest[STORE_1S] = MIN(fate->set->table->oldest[STORE_1S], now_ms);
    } else if (looked) {
        t->skipped_ms = now_ms;
    }
    roll_add(fate->set, t, row->values);
}

void write_remember(struct store *s, const struct tick *t, int64_t now_ms)
{
    for (size_t n = 0; n < s->n_sets; n++) {
        for (size_t i = 0; i < s->sets[n]->n_things; i++) {
            struct thing *thing = s->sets[n]->things[i];

            thing->present = t->n_rows ? thing->mark == s->ticks : thing->present;
            thing->born = false;
        }
    }
    roll_ended(s, now_ms); /* leaves things of this tick where they are */
    for (size_t i = 0; i < t->n_rows; i++)
        remember_row(&s->fates[i], &t->rows[i], now_ms);
    for (size_t i = 0; i < t->n_rows; i++)
        s->fates[i].set->slot = slot_of(s->fates[i].set, now_ms);
    for (size_t n = 0; n < s->n_sets; n++)
        for (size_t i = 0; i < s->sets[n]->n_things; i++)
            if (!s->sets[n]->things[i]->present)
                s->sets[n]->things[i]->skipped_ms = NEVER;
}

void write_forget(struct store *s)
{
    for (size_t n = 0; n < s->n_sets; n++) {
        for (size_t i = 0; i < s->sets[n]->n_things; i++) {
            struct thing *thing = s->sets[n]->things[i];

            if (!thing->born)
                continue;
            thing->id = 0;
            thing->facts = 0;
            thing->seen_ms = NEVER;
            thing->born = false;
        }
    }
}

int write_events(struct store *s, const struct tick *t)
{
    int code = SQLITE_OK;

    for (size_t i = 0; i < t->n_events && code == SQLITE_OK; i++) {
        const struct event *event = &t->events[i];

        sqlite3_bind_int64(s->event_add, 1, event->wall_ns / NS_PER_MS);
        sqlite3_bind_text(s->event_add, 2, event->kind, -1, SQLITE_STATIC);
        sqlite3_bind_int(s->event_add, 3, event->code);
        sqlite3_bind_text(s->event_add, 4, event->thing, -1, SQLITE_STATIC);
        sqlite3_bind_int(s->event_add, 5, event->over);
        sqlite3_bind_int(s->event_add, 6, (int)event->severity);
        sqlite3_bind_text(s->event_add, 7, event->text, -1, SQLITE_STATIC);
        sqlite3_bind_text(s->event_add, 8, event->action, -1, SQLITE_STATIC);
        code = sql_step(s->event_add);
    }
    return code;
}
