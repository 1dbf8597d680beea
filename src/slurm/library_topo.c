#include <string.h>

#include "slurm/hosts.h"
#include "slurm/library.h"

enum { LEVELS_MOST = 8 };

struct naming {
    struct slurm_library *l;
    struct site by_name; /* names of nodes, to find their places */
    const char **paths;
    const char *path;
};

static const void *switch_at(const struct slurm_library *l, const void *topo, size_t i)
{
    return (const char *)slurm_pointer(l->layout, topo, TOPO_RECORDS) + i * l->layout->switch_size;
}

static int is_it(const char *name, void *arg)
{
    return strcmp(name, arg) == 0;
}

/* The switch right above one; NULL. */
static const char *above(const struct slurm_library *l, const void *topo, size_t n, char *name)
{
    for (size_t i = 0; i < n; i++) {
        const void *one = switch_at(l, topo, i);
        const char *below = slurm_pointer(l->layout, one, SWITCH_SWITCHES);

        if (below && slurm_hosts_each(below, is_it, name) == 1)
            return slurm_pointer(l->layout, one, SWITCH_NAME);
    }
    return NULL;
}

static const char *path_of(struct slurm_library *l, const void *topo, size_t n, const char *leaf)
{
    const char *path = leaf, *at = leaf;

    for (int level = 0; path && level < LEVELS_MOST; level++) {
        char *name = arena_strdup(&l->topo, at);

        at = name ? above(l, topo, n, name) : NULL;
        if (!at)
            break;
        path = arena_printf(&l->topo, "%s.%s", at, path);
    }
    return path ? arena_strdup(&l->topo, path) : NULL;
}

static int name_node(const char *name, void *arg)
{
    struct naming *n = arg;
    int64_t at = site_node_find(&n->by_name, name);

    if (at >= 0)
        n->paths[at] = n->path;
    return 0;
}

/* All nodes by name, at their places; those without a name, too. */
static int list_nodes(struct naming *n)
{
    const struct slurm_layout *l = n->l->layout;
    const char *records = slurm_pointer(l, n->l->nodes, NODES_RECORDS);
    size_t count = (size_t)slurm_number(l, n->l->nodes, NODES_COUNT);

    for (size_t i = 0; i < count; i++) {
        struct site_node *one = ARENA_PUSH(&n->by_name.arena, &n->by_name.nodes,
                                           &n->by_name.n_nodes);
        const char *name = slurm_pointer(l, records + i * l->node_size, NODE_NAME);

        if (!one)
            return -1;
        one->name = name ? name : "";
    }
    n->paths = arena_alloc(&n->l->topo, count * sizeof(*n->paths));
    return n->paths && site_index(&n->by_name) == 0 ? 0 : -1;
}

static void name_all(struct naming *n, const void *topo)
{
    struct slurm_library *l = n->l;
    size_t count = (size_t)slurm_number(l->layout, topo, TOPO_COUNT);

    for (size_t i = 0; i < count; i++) {
        const void *one = switch_at(l, topo, i);
        const char *nodes = slurm_pointer(l->layout, one, SWITCH_NODES);
        const char *below = slurm_pointer(l->layout, one, SWITCH_SWITCHES);
        const char *name = slurm_pointer(l->layout, one, SWITCH_NAME);

        if (!nodes || !nodes[0] || !name || (below && below[0]))
            continue;
        n->path = path_of(l, topo, count, name);
        if (slurm_hosts_each(nodes, name_node, n) < 0)
            continue; /* nodes of a list that is none stay without a path */
    }
    l->paths = n->paths;
    l->n_paths = n->by_name.n_nodes;
}

void slurm_library_topo(struct slurm_library *l)
{
    struct naming n = { .l = l };
    void *topo = NULL;

    l->paths = NULL;
    l->n_paths = 0;
    arena_done(&l->topo);
    l->topo = (struct arena)ARENA_INIT;
    if (!l->layout->fields[TOPO_COUNT].size || !l->api.load_topo || !l->api.free_topo ||
        l->api.load_topo(&topo) != 0 || !topo)
        return;
    if (list_nodes(&n) == 0 && slurm_pointer(l->layout, topo, TOPO_RECORDS))
        name_all(&n, topo);
    site_done(&n.by_name);
    l->api.free_topo(topo);
}
