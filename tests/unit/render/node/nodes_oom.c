/* Many nodes as lines and as JSON, with every allocation failing once. */
#include <errno.h>

#include "model/nodes/node_order.h"
#include "oom_arena.h"
#include "render/node/nodes_json.h"
#include "render/node/nodes_text.h"
#include "tap.h"

enum { TEXT_MAX = 1 << 20, NODES = 12 };

struct made {
    struct arena arena;
    struct node_list list;
    struct node_answer answers[NODES];
    struct node_order order;
};

/* Nodes in three states, of which most say the same. */
static void make(struct made *m)
{
    static const struct node_order_asked asked = { .waited_s = 1 };

    is_int(node_list_add(&m->list, &m->arena, "n[01-12]", NULL), 0, "twelve nodes are listed");
    for (size_t i = 0; i < NODES; i++) {
        m->answers[i].fault = i % 4 ? NODE_ANSWERED : NODE_REFUSED;
        m->answers[i].report = (struct node_report){
            .gpus = 8, .verdict = { i % 2 ? LIVE_OK : LIVE_LIMIT, SEVERITY_NOTE, LIVE_CPU }
        };
    }
    is_int(node_order_make(&m->order, &m->arena, &m->list, m->answers, &asked), 0,
           "the answers of twelve nodes are put in order");
}

/* As lines of a terminal with room for so many, 0: as JSON. What was written is out. */
static void write_nodes(const struct made *m, unsigned rows, struct str *out)
{
    const struct nodes_text_page which = { .first = 0 };
    const struct live_look look = { .columns = 80, .rows = rows };

    if (rows)
        nodes_text(&m->order, &which, &look, out);
    else
        nodes_json(&m->order, 0, out);
}

static void walk(const struct made *m, unsigned rows, const char *what)
{
    CLEANUP(str_done) struct str full = STR_INIT(TEXT_MAX);
    int wrong = 0;
    bool failed;

    write_nodes(m, rows, &full);
    is_int(str_error(&full), 0, "%s are written", what);
    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(TEXT_MAX);

        oom_next();
        write_nodes(m, rows, &out);
        failed = oom_end();
        wrong += str_error(&out) != (failed ? -ENOMEM : 0);
        wrong += !failed && strcmp(str_text(&out), str_text(&full)) != 0;
    } while (failed);
    is_int(wrong, 0, "%s fail with each of %d allocations", what, oom_at - 1);
    ok(oom_at > 4, "%s need allocations", what);
}

int main(void)
{
    static struct made m;

    make(&m);
    walk(&m, 8, "lines for several nodes");
    walk(&m, 40, "lines for one node each");
    walk(&m, 0, "nodes as JSON");
    arena_done(&m.arena);
    return done();
}
