#include "daemon/nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ask/ask.h"
#include "render/node/nodes_json.h"

/* The agent has 64 descriptors at least and 50 that it needs; where it may have 1,024, clients have
 * 512 of them. */
enum { AT_ONCE = 64, DESCRIPTORS = 600, WAITING_MAX = 32, TEXT_MAX = 32 << 20 };

/* A page asks each 5 s; two pages that are open do not make twice as many questions. */
#define FRESH_NS (4 * NS_PER_S)
#define PATIENCE_NS (1500 * NS_PER_MS)

struct nodes {
    struct nodes_config config;
    struct ask *ask;  /* NULL: there is no list */
    struct str text;  /* of the last round */
    int64_t since_ns; /* when it ended */
    bool known;
    struct http_call *waiting[WAITING_MAX];
    size_t n_waiting;
};

static void refuse(struct http_call *call, unsigned status, const char *sentence)
{
    http_reply(call, status, "text/plain; charset=utf-8", sentence, strlen(sentence));
}

static void reply_all(struct nodes *n)
{
    while (n->n_waiting) {
        struct http_call *call = n->waiting[--n->n_waiting];

        if (n->known)
            http_reply(call, 200, NULL, str_text(&n->text), n->text.len);
        else
            refuse(call, 503, "the nodes cannot be told: out of memory\n");
    }
}

static void on_done(void *ctx)
{
    static const double patience_s = (double)PATIENCE_NS / (double)NS_PER_S;
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct nodes *n = ctx;
    const struct node_order_asked asked = { n->config.token != NULL, patience_s };
    struct node_order order;
    int rc = node_order_make(&order, &a, n->config.list, ask_answers(n->ask), &asked);

    str_reset(&n->text);
    if (rc == 0)
        nodes_json(&order, clock_wall_ns(n->config.clock), &n->text);
    n->known = rc == 0 && str_error(&n->text) == 0;
    n->since_ns = clock_monotonic_ns(n->config.clock);
    reply_all(n);
}

int nodes_open(struct nodes **ret, struct uv_loop_s *loop, const struct nodes_config *config,
               struct err *e)
{
    struct nodes *n = calloc(1, sizeof(*n));
    const struct ask_config ask = { .nodes = config->list,
                                    .token = config->token,
                                    .at_once = ask_at_once(DESCRIPTORS, AT_ONCE),
                                    .patience_ns = PATIENCE_NS,
                                    .done = on_done,
                                    .ctx = n };
    int rc;

    if (!n)
        return err_nomem(e);
    n->config = *config;
    n->text = (struct str)STR_INIT(TEXT_MAX);
    rc = config->list->n ? ask_open(&n->ask, loop, &ask, e) : 0;
    if (rc < 0) {
        free(n);
        return rc;
    }
    *ret = n;
    return 0;
}

void nodes_close(struct nodes *n)
{
    if (!n)
        return;
    if (n->ask)
        ask_close(n->ask);
    str_done(&n->text);
    free(n);
}

void nodes_end(struct nodes *n)
{
    if (!n || !n->ask)
        return;
    while (n->n_waiting)
        refuse(n->waiting[--n->n_waiting], 503, "the agent ends\n");
    ask_end(n->ask);
}

void nodes_answer(struct nodes *n, struct http_call *call)
{
    if (!n->ask) {
        refuse(call, 404, "this agent has no list of nodes: start it with --nodes LIST\n");
    } else if (n->n_waiting == WAITING_MAX) {
        refuse(call, 503, "too many ask for the nodes at once: try again\n");
    } else {
        n->waiting[n->n_waiting++] = call;
        if (!ask_busy(n->ask) && n->known &&
            clock_monotonic_ns(n->config.clock) - n->since_ns < FRESH_NS)
            reply_all(n);
        else
            ask_begin(n->ask);
    }
}
