#include "render/node/nodes_groups.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "render/names.h"

enum { NAMES_MAX = NODE_LIST_MAX * (NODE_LIST_NAME + 16) };

static bool is_of_number(char c)
{
    return (c >= '0' && c <= '9') || c == '.';
}

/* FNV-1a of a sentence, where each number counts as one sign: groups are found by it. */
static uint64_t shape_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325U;
    bool number = false;

    for (; *text; text++) {
        if (is_of_number(*text) && number)
            continue;
        number = is_of_number(*text);
        h = (h ^ (number ? '#' : (uint8_t)*text)) * 0x100000001b3U;
    }
    return h;
}

/* A row with the group that it is in. */
struct member {
    const struct node_order_row *row;
    uint64_t shape;
    size_t place;
};

static int by_shape(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    if (x->row->state != y->row->state)
        return COMPARE(x->row->state, y->row->state);
    if (x->shape != y->shape)
        return COMPARE(x->shape, y->shape);
    return COMPARE(x->place, y->place);
}

static int by_place(const void *a, const void *b)
{
    const struct nodes_groups_group *x = a, *y = b;

    return COMPARE(x->worst, y->worst);
}

static double known(double value)
{
    return isnan(value) ? 0 : value;
}

/* A group of members that lie beside each other, the worst first. */
static int make_group(struct nodes_groups_group *g, struct arena *a, const struct member *members,
                      size_t n)
{
    CLEANUP(freep) const char **texts = calloc(n, sizeof(*texts));
    CLEANUP(str_done) struct str names = STR_INIT(NAMES_MAX);

    if (!texts)
        return -ENOMEM;
    *g = (struct nodes_groups_group){ .worst = members[0].row, .n = n };
    for (size_t i = 0; i < n; i++) {
        const struct node_report *r = &members[i].row->answer->report;

        texts[i] = members[i].row->node->text;
        if (members[i].row->state == NODE_ORDER_SILENT)
            continue;
        g->gpus += known(r->gpus) + known(r->lost);
        g->idle += known(r->idle);
        g->cost += members[i].row->cost;
    }
    if (n == 1) {
        g->names = texts[0];
        return 0;
    }
    if (names_compress(&names, texts, n) < 0)
        return -ENOMEM;
    g->names = arena_strdup(a, str_text(&names));
    return str_error(&names) || !g->names ? -ENOMEM : 0;
}

int nodes_groups_make(struct nodes_groups *ret, struct arena *a, const struct node_order *o,
                      size_t most)
{
    CLEANUP(freep) struct member *members = calloc(MAX(o->n, 1), sizeof(*members));
    struct nodes_groups all = { .n = 0 };
    bool fold = most && o->n > most;

    all.groups = arena_alloc(a, MAX(o->n, 1) * sizeof(*all.groups));
    if (!members || !all.groups)
        return -ENOMEM;
    for (size_t i = 0; i < o->n; i++)
        members[i] = (struct member){ &o->rows[i], shape_of(o->rows[i].sentence), i };
    if (fold)
        qsort(members, o->n, sizeof(*members), by_shape);
    for (size_t i = 0, n; i < o->n; i += n) {
        for (n = 1; fold && i + n < o->n && members[i + n].shape == members[i].shape &&
                    members[i + n].row->state == members[i].row->state;)
            n++;
        if (make_group(&all.groups[all.n++], a, &members[i], n) < 0)
            return -ENOMEM;
    }
    if (fold)
        qsort(all.groups, all.n, sizeof(*all.groups), by_place);
    *ret = all;
    return 0;
}
