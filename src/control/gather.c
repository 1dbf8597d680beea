#include "control/gather.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 256, DESCRIPTORS = 64 /* for other things than nodes */ };

/* One round. */
struct round {
    struct gather *g;
    const struct gather_config *config;
    struct node_list list;
    uint32_t *at; /* by number of the node: in the list */
    uv_loop_t loop;
};

/* One that Slurm names in a way that no list has is not asked. */
static int add_node(struct round *r, const struct site_node *n, uint32_t *at)
{
    size_t had = r->list.n;
    char text[NODE_LIST_NAME + 16];
    const char *name = n->address ? n->address : n->name;
    bool v6 = strchr(name, ':') != NULL;
    int len = snprintf(text, sizeof(text), "%s%s%s:%u", v6 ? "[" : "", name, v6 ? "]" : "",
                       r->config->port);
    int rc = len < (int)sizeof(text) ? node_list_add(&r->list, &r->g->arena, text, NULL) : -EINVAL;

    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    *at = (uint32_t)(r->list.n - 1);
    if (r->list.n == had) { /* another node has the same address */
        for (*at = 0; strcmp(r->list.nodes[*at].text, text) != 0; (*at)++)
            if (*at + 1 == r->list.n)
                return 0;
    }
    return 0;
}

static int add_nodes(struct round *r, const struct site *site, const bool *which)
{
    int rc = 0;

    r->at = arena_alloc(&r->g->arena, site->n_nodes * sizeof(*r->at));
    if (!r->at)
        return -ENOMEM;
    for (size_t i = 0; i < site->n_nodes && rc == 0; i++) {
        r->at[i] = UINT32_MAX;
        if (which[i])
            rc = add_node(r, &site->nodes[i], &r->at[i]);
    }
    return rc;
}

static void round_over(void *ctx)
{
    uv_stop(ctx);
}

static int copy(const struct round *r, const struct ask *k, const struct site *site,
                const struct node_answer **of)
{
    size_t size = r->list.n * sizeof(struct node_answer);
    struct node_answer *answers = arena_alloc(&r->g->arena, size);

    if (!answers)
        return -ENOMEM;
    memcpy(answers, ask_answers(k), size);
    for (size_t i = 0; i < site->n_nodes; i++)
        of[i] = r->at[i] < r->list.n ? &answers[r->at[i]] : NULL;
    return 0;
}

static int run(struct round *r, const struct site *site, const struct node_answer **of,
               struct err *e)
{
    const struct ask_config config = {
        .nodes = &r->list,
        .token = r->config->token,
        .at_once = ask_at_once(DESCRIPTORS, AT_ONCE),
        .patience_ns = r->config->patience_ns,
        .done = round_over,
        .ctx = &r->loop,
    };
    CLEANUP(ask_closep) struct ask *k = NULL;
    int rc = ask_open(&k, &r->loop, &config, e);

    if (rc < 0)
        return rc;
    ask_begin(k);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    if (copy(r, k, site, of) < 0)
        rc = err_nomem(e);
    ask_end(k);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    return rc;
}

int gather_ask(struct gather *g, const struct gather_config *config, const struct site *site,
               const bool *which, const struct node_answer **of, struct err *e)
{
    struct round r = { .g = g, .config = config };
    int rc;

    gather_done(g);
    rc = add_nodes(&r, site, which);
    if (rc < 0)
        return err_nomem(e);
    if (r.list.n == 0)
        return 0;
    rc = uv_loop_init(&r.loop);
    if (rc < 0)
        return err_set(e, rc, "cannot ask agents: %s", uv_strerror(rc));
    rc = run(&r, site, of, e);
    (void)uv_loop_close(&r.loop);
    return rc;
}

void gather_done(struct gather *g)
{
    arena_done(&g->arena);
    *g = (struct gather){ ARENA_INIT };
}
