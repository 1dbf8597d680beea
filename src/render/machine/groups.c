#include "render/machine/groups.h"

#include <errno.h>
#include <string.h>

#include "model/machine/way.h"
#include "render/machine/describe.h"

enum { CELL_MAX = 4096, WAYS_MAX = 1 << 20 };

/* The classes of all ways, as text to compare. */
static void add_ways(struct str *out, const struct node *n)
{
    for (int a = 0; a < (int)n->n_devices; a++)
        for (int b = a + 1; b < (int)n->n_devices; b++) {
            char text[WAY_TEXT];
            struct way w;

            if (n->devices[a].kind > DEVICE_NIC || n->devices[b].kind > DEVICE_NIC)
                continue;
            w = way_between(n, a, b);
            str_addf(out, "%s ", way_text(&w, text));
        }
}

static void add_cell(struct str *out, const struct machine_view *v, const struct node *n,
                     enum group_cell cell)
{
    switch (cell) {
    case GROUP_ACCELERATORS:
        describe_products(out, v, n, DEVICE_ACCELERATOR);
        break;
    case GROUP_FABRIC:
        describe_fabric_short(out, n);
        break;
    case GROUP_CPUS:
        describe_cpus_short(out, n);
        break;
    case GROUP_MEMORY:
        describe_ram(out, n->memory_b);
        break;
    case GROUP_NICS:
        describe_products(out, v, n, DEVICE_NIC);
        break;
    case GROUP_CELLS:
        break;
    }
}

/* What a node looks like: a group without names, its texts in the arena. */
static int look_at(struct groups *g, const struct machine_view *v, const struct node *n,
                   struct group *ret)
{
    CLEANUP(str_done) struct str ways = STR_INIT(WAYS_MAX);

    *ret = (struct group){ .first = n };
    for (int cell = 0; cell < GROUP_CELLS; cell++) {
        CLEANUP(str_done) struct str text = STR_INIT(CELL_MAX);

        add_cell(&text, v, n, (enum group_cell)cell);
        if (str_error(&text) == -ENOMEM)
            return -ENOMEM;
        ret->cells[cell] = arena_strdup(&g->arena, str_text(&text));
        if (!ret->cells[cell])
            return -ENOMEM;
    }
    add_ways(&ways, n);
    if (str_error(&ways) == -ENOMEM)
        return -ENOMEM;
    ret->ways = arena_strdup(&g->arena, str_text(&ways));
    return ret->ways ? 0 : -ENOMEM;
}

static bool same_cells(const struct group *a, const struct group *b)
{
    for (int cell = 0; cell < GROUP_CELLS; cell++)
        if (strcmp(a->cells[cell], b->cells[cell]) != 0)
            return false;
    return true;
}

static int add_name(struct groups *g, struct group *to, const char *name)
{
    const char **slot = ARENA_PUSH(&g->arena, &to->names, &to->n_names);

    if (!slot)
        return -ENOMEM;
    *slot = name ? name : "?";
    return 0;
}

static int add_node(struct groups *g, const struct machine_view *v, const struct node *n)
{
    struct group like, *one;
    int wiring = 0;

    if (look_at(g, v, n, &like) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < g->count; i++) {
        one = &g->list[i];
        if (!same_cells(one, &like))
            continue;
        if (!strcmp(one->ways, like.ways))
            return add_name(g, one, n->name);
        wiring++;
    }
    one = ARENA_PUSH(&g->arena, &g->list, &g->count);
    if (!one)
        return -ENOMEM;
    *one = like;
    one->wiring = wiring;
    return add_name(g, one, n->name);
}

int groups_build(struct groups *ret, const struct machine_view *v)
{
    struct groups g = { .count = 0 };

    for (size_t i = 0; i < v->machine->n_nodes; i++)
        if (add_node(&g, v, v->machine->nodes[i]) < 0) {
            groups_done(&g);
            return -ENOMEM;
        }
    *ret = g;
    return 0;
}

void groups_done(struct groups *g)
{
    arena_done(&g->arena);
    *g = (struct groups){ .count = 0 };
}
