/* Decisions, and what became of them. */
#include "control/book_private.h"

#include <stdio.h>

const char *const control_state_names[] = { "said", "proposed", "approved", "due",
                                            "done", "failed",   "stale",    NULL };

const char *control_kind_name(uint8_t kind)
{
    static const char *const names[] = { "warn", "requeue", "signal", "drain", "return", "place" };

    return kind < ARRAY_SIZE(names) ? names[kind] : "of a later brim";
}

int control_book_add(struct control_book *b, struct control_row *row, struct err *e)
{
    const int64_t values[] = { row->time_ms,  row->kind,  row->job,     row->start_ms,
                               row->restarts, row->other, row->devices, row->state };
    sqlite3_stmt *s = book_bind(b, BOOK_ADD, values, ARRAY_SIZE(values));
    int at = ARRAY_SIZE(values), rc;

    book_bind_text(s, at + 1, row->user);
    book_bind_text(s, at + 2, row->reason);
    book_bind_text(s, at + 3, row->outcome);
    book_bind_text(s, at + 4, row->node);
    rc = book_step(b, s, e);
    if (rc == 0)
        row->id = sqlite3_last_insert_rowid(b->db);
    return rc;
}

int control_book_became(struct control_book *b, int64_t id, enum control_state state,
                        const char *outcome, struct err *e)
{
    sqlite3_stmt *s = book_bind(b, BOOK_BECAME, (const int64_t[]){ (int64_t)state, 0, id }, 3);

    book_bind_text(s, 2, outcome);
    return book_step(b, s, e);
}

static void row_of(sqlite3_stmt *s, struct control_row *row)
{
    *row = (struct control_row){
        .id = sqlite3_column_int64(s, 0),
        .time_ms = sqlite3_column_int64(s, 1),
        .kind = (uint8_t)sqlite3_column_int(s, 2),
        .job = (uint32_t)sqlite3_column_int64(s, 3),
        .start_ms = sqlite3_column_int64(s, 4),
        .restarts = (uint32_t)sqlite3_column_int64(s, 5),
        .other = (uint32_t)sqlite3_column_int64(s, 6),
        .devices = sqlite3_column_int(s, 7),
        .state = (uint8_t)MIN((unsigned)sqlite3_column_int(s, 8), CONTROL_STATES - 1U),
    };
    snprintf(row->user, sizeof(row->user), "%s", book_text(s, 9));
    snprintf(row->reason, sizeof(row->reason), "%s", book_text(s, 10));
    snprintf(row->outcome, sizeof(row->outcome), "%s", book_text(s, 11));
    snprintf(row->node, sizeof(row->node), "%s", book_text(s, 12));
}

int control_book_last(struct control_book *b, const struct control_row *like,
                      struct control_row *ret, struct err *e)
{
    sqlite3_stmt *s = book_bind(b, BOOK_LAST,
                                (const int64_t[]){ like->job, like->start_ms, like->kind }, 3);
    int code;

    book_bind_text(s, 4, like->node);
    code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        row_of(s, ret);
    sqlite3_reset(s);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return book_trouble(b, code, e);
    return code == SQLITE_ROW;
}

int control_book_count(struct control_book *b, uint8_t kind, int64_t since_ms, int64_t *ret,
                       struct err *e)
{
    return book_number(b, book_bind(b, BOOK_COUNT, (const int64_t[]){ kind, since_ms }, 2), ret, e);
}

int control_book_rows(struct control_book *b, unsigned states, int most, control_row_fn *fn,
                      void *arg, struct err *e)
{
    CLEANUP(sql_finalizep) sqlite3_stmt *s = NULL;
    int code = sql_prepare(b->db,
                           "SELECT " BOOK_COLUMNS " FROM action WHERE (1 << state) & ?"
                           " ORDER BY id DESC LIMIT ?",
                           &s);
    struct control_row row;
    int rc = 0;

    if (code != SQLITE_OK)
        return book_trouble(b, code, e);
    sqlite3_bind_int64(s, 1, states);
    sqlite3_bind_int(s, 2, most);
    while (rc == 0 && (code = sqlite3_step(s)) == SQLITE_ROW) {
        row_of(s, &row);
        rc = fn(arg, &row);
    }
    return rc != 0 || code == SQLITE_DONE ? rc : book_trouble(b, code, e);
}
