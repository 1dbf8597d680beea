/* What was seen of jobs and nodes. */
#include "control/book_private.h"

#include <stdio.h>
#include <string.h>

enum { USED = 192 };

/* ---- jobs ---- */

int control_book_seen(struct control_book *b, const struct site_job *j, struct control_seen *ret,
                      struct err *e)
{
    sqlite3_stmt *s = book_bind(b, BOOK_SEEN, (const int64_t[]){ j->id }, 1);
    int code = sqlite3_step(s);

    *ret = (struct control_seen){ .told_ms = 0 };
    bursts_begin(&ret->bursts, j->start_ms);
    if (code == SQLITE_ROW && sqlite3_column_int64(s, 0) == j->start_ms) {
        bursts_read(&ret->bursts, book_text(s, 1), j->start_ms);
        ret->bursts.seen_ms = sqlite3_column_int64(s, 2);
        ret->told_ms = sqlite3_column_int64(s, 3);
    }
    sqlite3_reset(s);
    return code == SQLITE_ROW || code == SQLITE_DONE ? 0 : book_trouble(b, code, e);
}

int control_book_see(struct control_book *b, const struct site_job *j,
                     const struct control_seen *seen, struct err *e)
{
    const int64_t values[] = { j->id, j->start_ms, 0, seen->bursts.seen_ms, seen->told_ms };
    sqlite3_stmt *s = book_bind(b, BOOK_SEE, values, ARRAY_SIZE(values));
    char used[USED];

    bursts_write(&seen->bursts, used, sizeof(used));
    book_bind_text(s, 3, used);
    return book_step(b, s, e);
}

int control_book_forget(struct control_book *b, int64_t before_ms, struct err *e)
{
    return book_step(b, book_bind(b, BOOK_FORGET, &before_ms, 1), e);
}

/* ---- nodes ---- */

/* Rows of a name and numbers, each given to the node of that name. */
static int nodes_of(struct control_book *b, sqlite3_stmt *s, bool drains, const struct site *site,
                    struct control_node *nodes, struct err *e)
{
    int code;

    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t i = site_node_find(site, book_text(s, 0));

        if (i >= 0 && drains) {
            nodes[i].drains = sqlite3_column_int(s, 1);
        } else if (i >= 0) {
            nodes[i].unfit_ms = sqlite3_column_int64(s, 1);
            nodes[i].fit_ms = sqlite3_column_int64(s, 2);
        }
    }
    sqlite3_reset(s);
    return code == SQLITE_DONE ? 0 : book_trouble(b, code, e);
}

int control_book_nodes(struct control_book *b, const struct site *site, int64_t now_ms,
                       struct control_node *nodes, struct err *e)
{
    const int64_t which[] = { CONTROL_DRAIN, now_ms - CONTROL_WEEK_MS, CONTROL_DONE };
    int rc;

    memset(nodes, 0, site->n_nodes * sizeof(*nodes));
    rc = nodes_of(b, b->of[BOOK_NODES], false, site, nodes, e);

    return rc < 0 ? rc : nodes_of(b, book_bind(b, BOOK_DRAINS, which, 3), true, site, nodes, e);
}

int control_book_see_node(struct control_book *b, const char *name, const struct control_node *n,
                          struct err *e)
{
    const int64_t values[] = { n->unfit_ms, n->fit_ms };
    bool known = n->unfit_ms != 0;
    sqlite3_stmt *s = book_bind(b, known ? BOOK_SEE_NODE : BOOK_FORGET_NODE, values, known ? 2 : 0);

    book_bind_text(s, known ? 3 : 1, name);
    return book_step(b, s, e);
}
