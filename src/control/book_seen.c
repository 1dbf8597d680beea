/* What was seen of jobs and nodes. */
#include "control/book_private.h"

#include <string.h>

enum { USED = 192 };

static const char seen_text[] = "SELECT start_ms, used, seen_ms, told_ms FROM job WHERE id = $1";
static const char see_text[] = "INSERT INTO job (id, start_ms, used, seen_ms, told_ms)"
                               " VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE SET"
                               " start_ms = $2, used = $3, seen_ms = $4, told_ms = $5";
static const char forget_text[] = "DELETE FROM job WHERE seen_ms < $1";
static const char nodes_text[] = "SELECT name, unfit_ms, fit_ms FROM node";
static const char drains_text[] = "SELECT node, count(*) FROM action WHERE kind = $1 AND t >= $2"
                                  " AND state = $3 GROUP BY node";
static const char see_node_text[] = "INSERT INTO node (name, unfit_ms, fit_ms) VALUES ($1, $2, $3)"
                                    " ON CONFLICT (name) DO UPDATE SET unfit_ms = $2, fit_ms = $3";
static const char forget_node_text[] = "DELETE FROM node WHERE name = $1";

/* ---- jobs ---- */

static int take_seen(void *arg, const struct db_value *c)
{
    struct control_seen *seen = arg;
    int64_t start_ms = seen->bursts.at[0].from_ms;

    if (c[0].number != start_ms)
        return 1;
    bursts_read(&seen->bursts, c[1].text, start_ms);
    seen->bursts.seen_ms = c[2].number;
    seen->told_ms = c[3].number;
    return 1;
}

int control_book_seen(struct control_book *b, const struct site_job *j, struct control_seen *ret,
                      struct err *e)
{
    const struct db_value id = { .number = j->id };

    *ret = (struct control_seen){ .told_ms = 0 };
    bursts_begin(&ret->bursts, j->start_ms);
    return MIN(db_run(b->db, seen_text, &id, 1, take_seen, ret, e), 0);
}

int control_book_see(struct control_book *b, const struct site_job *j,
                     const struct control_seen *seen, struct err *e)
{
    char used[USED];
    const struct db_value values[] = { { .number = j->id },
                                       { .number = j->start_ms },
                                       { .text = used },
                                       { .number = seen->bursts.seen_ms },
                                       { .number = seen->told_ms } };

    bursts_write(&seen->bursts, used, sizeof(used));
    return db_run(b->db, see_text, values, ARRAY_SIZE(values), NULL, NULL, e);
}

int control_book_forget(struct control_book *b, int64_t before_ms, struct err *e)
{
    const struct db_value before = { .number = before_ms };

    return db_run(b->db, forget_text, &before, 1, NULL, NULL, e);
}

/* ---- nodes ---- */

struct nodes {
    const struct site *site;
    struct control_node *nodes;
};

static int take_node(void *arg, const struct db_value *c)
{
    const struct nodes *n = arg;
    int64_t i = site_node_find(n->site, c[0].text);

    if (i >= 0) {
        n->nodes[i].unfit_ms = c[1].number;
        n->nodes[i].fit_ms = c[2].number;
    }
    return 0;
}

static int take_drains(void *arg, const struct db_value *c)
{
    const struct nodes *n = arg;
    int64_t i = site_node_find(n->site, c[0].text);

    if (i >= 0)
        n->nodes[i].drains = (int32_t)c[1].number;
    return 0;
}

int control_book_nodes(struct control_book *b, const struct site *site, int64_t now_ms,
                       struct control_node *nodes, struct err *e)
{
    const struct db_value which[] = { { .number = CONTROL_DRAIN },
                                      { .number = now_ms - CONTROL_WEEK_MS },
                                      { .number = CONTROL_DONE } };
    struct nodes n = { site, nodes };
    int rc;

    memset(nodes, 0, site->n_nodes * sizeof(*nodes));
    rc = db_run(b->db, nodes_text, NULL, 0, take_node, &n, e);
    return rc < 0 ? rc : db_run(b->db, drains_text, which, ARRAY_SIZE(which), take_drains, &n, e);
}

int control_book_see_node(struct control_book *b, const char *name, const struct control_node *n,
                          struct err *e)
{
    const struct db_value values[] = { { .text = name },
                                       { .number = n->unfit_ms },
                                       { .number = n->fit_ms } };

    return n->unfit_ms ? db_run(b->db, see_node_text, values, ARRAY_SIZE(values), NULL, NULL, e)
                       : db_run(b->db, forget_node_text, values, 1, NULL, NULL, e);
}
