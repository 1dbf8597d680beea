/* Decisions, and what became of them. */
#include "control/book_private.h"

#include <errno.h>
#include <stdio.h>

#define COLUMNS \
    "id, t, kind, job, start_ms, restarts, other, devices, state, \"user\", reason, outcome, " \
    "node, account"

static const char add_text[] =
    "INSERT INTO action (t, kind, job, start_ms, restarts, other, devices, state, \"user\","
    " reason, outcome, node, account) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
    "$13)"
    " RETURNING id";
static const char became_text[] = "UPDATE action SET state = $1, outcome = $2 WHERE id = $3";
static const char last_text[] = "SELECT " COLUMNS " FROM action WHERE job = $1 AND start_ms = $2"
                                " AND kind = $3 AND node = $4 ORDER BY id DESC LIMIT 1";
static const char count_text[] =
    "SELECT count(*) FROM action WHERE kind = $1 AND t >= $2 AND state IN (3, 4)";
static const char rows_text[] =
    "SELECT " COLUMNS " FROM action WHERE"
    " ((CAST(1 AS BIGINT) << CAST(state AS INTEGER)) & CAST($1 AS BIGINT)) <> 0"
    " ORDER BY id DESC LIMIT $2";

const char *const control_state_names[] = { "said", "proposed", "approved", "due",
                                            "done", "failed",   "stale",    NULL };

const char *control_kind_name(uint8_t kind)
{
    static const char *const names[] = { "warn",   "requeue", "signal", "drain",
                                         "return", "place",   "shrink" };

    return kind < ARRAY_SIZE(names) ? names[kind] : "of a later brim";
}

int control_book_add(struct control_book *b, struct control_row *row, struct err *e)
{
    const struct db_value values[] = {
        { .number = row->time_ms },  { .number = row->kind },     { .number = row->job },
        { .number = row->start_ms }, { .number = row->restarts }, { .number = row->other },
        { .number = row->devices },  { .number = row->state },    { .text = row->user },
        { .text = row->reason },     { .text = row->outcome },    { .text = row->node },
        { .text = row->account },
    };
    bool alone;
    int rc = book_begin_alone(b, &alone, e);

    if (rc == 0)
        rc = db_number(b->db, add_text, values, ARRAY_SIZE(values), &row->id, e);
    return book_end_alone(b, alone, rc, e);
}

int control_book_became(struct control_book *b, int64_t id, enum control_state state,
                        const char *outcome, struct err *e)
{
    const struct db_value values[] = { { .number = state }, { .text = outcome }, { .number = id } };
    bool alone;
    int rc = book_begin_alone(b, &alone, e);

    if (rc == 0)
        rc = db_run(b->db, became_text, values, ARRAY_SIZE(values), NULL, NULL, e);
    return book_end_alone(b, alone, rc, e);
}

static void row_of(const struct db_value *c, struct control_row *row)
{
    *row = (struct control_row){
        .id = c[0].number,
        .time_ms = c[1].number,
        .kind = (uint8_t)c[2].number,
        .job = (uint32_t)c[3].number,
        .start_ms = c[4].number,
        .restarts = (uint32_t)c[5].number,
        .other = (uint32_t)c[6].number,
        .devices = (int32_t)c[7].number,
        .state = (uint8_t)MIN((uint64_t)c[8].number, CONTROL_STATES - 1U),
    };
    snprintf(row->user, sizeof(row->user), "%s", c[9].text);
    snprintf(row->reason, sizeof(row->reason), "%s", c[10].text);
    snprintf(row->outcome, sizeof(row->outcome), "%s", c[11].text);
    snprintf(row->node, sizeof(row->node), "%s", c[12].text);
    snprintf(row->account, sizeof(row->account), "%s", c[13].text);
}

static int take_row(void *arg, const struct db_value *columns)
{
    row_of(columns, arg);
    return 1;
}

int control_book_last(struct control_book *b, const struct control_row *like,
                      struct control_row *ret, struct err *e)
{
    const struct db_value values[] = { { .number = like->job },
                                       { .number = like->start_ms },
                                       { .number = like->kind },
                                       { .text = like->node } };

    return db_run(b->db, last_text, values, ARRAY_SIZE(values), take_row, ret, e);
}

int control_book_count(struct control_book *b, uint8_t kind, int64_t since_ms, int64_t *ret,
                       struct err *e)
{
    const struct db_value values[] = { { .number = kind }, { .number = since_ms } };

    return MIN(db_number(b->db, count_text, values, ARRAY_SIZE(values), ret, e), 0);
}

/* Rows are handed on when all of them are read: who gets them may change the book. */
struct rows {
    struct arena arena;
    struct control_row *rows;
    size_t n;
};

static int keep_row(void *arg, const struct db_value *columns)
{
    struct rows *r = arg;
    struct control_row *row = ARENA_PUSH(&r->arena, &r->rows, &r->n);

    if (!row)
        return -ENOMEM;
    row_of(columns, row);
    return 0;
}

int control_book_rows(struct control_book *b, unsigned states, int most, control_row_fn *fn,
                      void *arg, struct err *e)
{
    const struct db_value values[] = { { .number = states }, { .number = most } };
    struct rows r = { .n = 0 };
    int rc = db_run(b->db, rows_text, values, ARRAY_SIZE(values), keep_row, &r, e);

    if (rc == -ENOMEM)
        err_nomem(e);
    for (size_t i = 0; i < r.n && rc == 0; i++)
        rc = fn(arg, &r.rows[i]);
    arena_done(&r.arena);
    return rc;
}
