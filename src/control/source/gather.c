#include "control/source/gather.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { DESCRIPTORS = 64 /* for other things than nodes */ };

static const uint32_t nobody = UINT32_MAX;

struct gather {
    struct gather_config config;
    uv_loop_t loop;
    struct ask *ask; /* NULL: of no site yet */

    /* of the site that is asked */
    struct arena arena;
    size_t n_nodes;
    const char **names; /* what each node is reached by */
    uint32_t *at;       /* by number of the node: in the list, or nobody */
    struct node_list list;
    bool *which; /* by number in the list: to be asked now */
};

static const char *name_of(const struct site_node *n)
{
    return n->address ? n->address : n->name;
}

/* ---- the nodes of a site ---- */

/* One that Slurm names in a way that no list has is not asked. */
static int add_node(struct gather *g, size_t i)
{
    struct node_list *l = &g->list;
    char text[NODE_LIST_NAME + 16];
    const char *name = g->names[i];
    bool v6 = strchr(name, ':') != NULL;
    size_t had = l->n;
    int len = snprintf(text, sizeof(text), "%s%s%s:%u", v6 ? "[" : "", name, v6 ? "]" : "",
                       g->config.port);
    bool one = len < (int)sizeof(text) && !strpbrk(name, " \t\r\n,[]#");
    int rc = one ? node_list_add(l, &g->arena, text, NULL) : -EINVAL;

    g->at[i] = nobody;
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    if (l->n > had)
        g->at[i] = (uint32_t)had;
    for (size_t k = 0; k < i && g->at[i] == nobody; k++) /* another node has the same address */
        if (!strcmp(g->names[k], name))
            g->at[i] = g->at[k];
    return 0;
}

static int add_nodes(struct gather *g, const struct site *site)
{
    int rc = 0;

    g->names = arena_alloc(&g->arena, site->n_nodes * sizeof(*g->names));
    g->at = arena_alloc(&g->arena, site->n_nodes * sizeof(*g->at));
    if (!g->names || !g->at)
        return -ENOMEM;
    for (size_t i = 0; i < site->n_nodes && rc == 0; i++) {
        g->names[i] = arena_strdup(&g->arena, name_of(&site->nodes[i]));
        rc = g->names[i] ? add_node(g, i) : -ENOMEM;
    }
    g->which = rc == 0 ? arena_alloc(&g->arena, g->list.n) : NULL;
    g->n_nodes = site->n_nodes;
    return g->which ? 0 : -ENOMEM;
}

static bool is_same(const struct gather *g, const struct site *site)
{
    if (!g->ask || site->n_nodes != g->n_nodes)
        return false;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (strcmp(g->names[i], name_of(&site->nodes[i])) != 0)
            return false;
    return true;
}

static void on_done(void *ctx)
{
    uv_stop(&((struct gather *)ctx)->loop);
}

static void forget(struct gather *g)
{
    if (g->ask) {
        ask_end(g->ask);
        uv_run(&g->loop, UV_RUN_DEFAULT);
        ask_close(g->ask);
    }
    g->ask = NULL;
    arena_done(&g->arena);
    g->arena = (struct arena)ARENA_INIT;
    g->list = (struct node_list){ .n = 0 };
    g->n_nodes = 0;
}

/* Be ready to ask that site's nodes. */
static int take_site(struct gather *g, const struct site *site, struct err *e)
{
    struct ask_config config = { .nodes = &g->list,
                                 .token = g->config.token,
                                 .at_once = ask_at_once(DESCRIPTORS, ASK_AT_ONCE),
                                 .patience_ns = g->config.patience_ns,
                                 .late_ns = g->config.patience_ns / GATHER_LATE,
                                 .whole_ns = g->config.patience_ns * GATHER_WHOLE,
                                 .done = on_done,
                                 .ctx = g };

    if (is_same(g, site))
        return 0;
    forget(g);
    if (add_nodes(g, site) < 0)
        return err_nomem(e);
    config.which = g->which;
    return g->list.n ? ask_open(&g->ask, &g->loop, &config, e) : 0;
}

/* ---- from outside ---- */

int gather_open(struct gather **ret, const struct gather_config *config, struct err *e)
{
    struct gather *g = calloc(1, sizeof(*g));
    int rc;

    if (!g)
        return err_nomem(e);
    g->config = *config;
    rc = uv_loop_init(&g->loop);
    if (rc < 0) {
        free(g);
        return err_set(e, rc, "cannot ask agents: %s", uv_strerror(rc));
    }
    *ret = g;
    return 0;
}

int gather_ask(struct gather *g, const struct site *site, const bool *which,
               const struct node_answer **of, struct err *e)
{
    int rc = take_site(g, site, e);
    bool any = false;

    if (rc < 0 || !g->which) {
        forget(g);
        return rc;
    }
    memset(g->which, 0, g->list.n);
    for (size_t i = 0; i < site->n_nodes; i++)
        if (which[i] && g->at[i] != nobody)
            any = g->which[g->at[i]] = true;
    if (any) {
        ask_begin(g->ask);
        uv_run(&g->loop, UV_RUN_DEFAULT);
    }
    for (size_t i = 0; i < site->n_nodes; i++)
        of[i] = which[i] && g->at[i] != nobody ? &ask_answers(g->ask)[g->at[i]] : NULL;
    return 0;
}

void gather_close(struct gather *g)
{
    if (!g)
        return;
    forget(g);
    (void)uv_loop_close(&g->loop);
    free(g);
}
