#include <errno.h>
#include <string.h>

#include "render/machine/describe.h"
#include "render/machine/outline.h"
#include "render/machine/pcie_link_text.h"
#include "render/machine/table.h"
#include "render/text.h"

enum { NAME, PRODUCT, MATTER, ADDRESS, LINK, CELLS };
enum { PRODUCT_MIN = 8, MATTER_MIN = 10, GAP = 2, DEPTH_MAX = 32 };

/* One line of the tree, by its outline item. */
struct line {
    const char *cells[CELLS];
    bool marked;
};

struct tree {
    const struct machine_view *view;
    const struct node *node;
    struct outline outline;
    struct arena arena;
    struct line *lines;
    size_t width[CELLS];
    struct str *out;
};

/* The box lines left of an item, and its name. */
static void add_name(struct str *out, const struct tree *t, int at)
{
    const struct outline_item *items = t->outline.items;
    int above[DEPTH_MAX], depth = 0;

    for (int i = items[at].parent; i >= 0 && depth < DEPTH_MAX; i = items[i].parent)
        above[depth++] = i;
    while (depth > 0)
        str_add(out, items[above[--depth]].last ? "   " : "│  ");
    str_add(out, items[at].last ? "└─ " : "├─ ");
    if (items[at].device >= 0)
        text_add(out, t->node->devices[items[at].device].name);
    else
        str_add(out, t->node->pcis[items[at].pci].pch ? "chipset" : "switch");
}

static void add_link(struct str *out, const struct tree *t, const struct outline_item *item,
                     bool *marked)
{
    const struct device *d = item->device >= 0 ? &t->node->devices[item->device] : NULL;
    struct pcie_link_text l;

    if (item->pci < 0)
        return;
    l = d ? pcie_link_text_of(t->node, d) : pcie_link_text_at(t->node, item->pci);
    pcie_link_add_text(out, &l);
    *marked = l.state == LINK_DEGRADED || (d && d->acc.lost);
    if (d && t->node->pcis[item->pci].pch)
        str_add(out, out->len ? ", behind the chipset" : "behind the chipset");
}

static void add_cell(struct str *out, const struct tree *t, int at, int cell, bool *marked)
{
    const struct outline_item *item = &t->outline.items[at];
    const struct device *d = item->device >= 0 ? &t->node->devices[item->device] : NULL;

    if (cell == NAME)
        add_name(out, t, at);
    else if (cell == PRODUCT)
        text_add(out, d ? describe_product(t->view, d)
                        : describe_switch_vendor(t->node->pcis[item->pci].vendor));
    else if (cell == MATTER && d)
        describe_device(out, t->view, d);
    else if (cell == ADDRESS)
        describe_address(out, t->node, d ? d->pci : item->pci);
    else if (cell == LINK)
        add_link(out, t, item, marked);
}

static int build_lines(struct tree *t)
{
    t->lines = arena_alloc(&t->arena, t->outline.count * sizeof(*t->lines));
    if (!t->lines)
        return -ENOMEM;
    for (int i = 0; i < (int)t->outline.count; i++)
        for (int c = 0; c < CELLS; c++) {
            CLEANUP(str_done) struct str text = STR_INIT(4096);

            add_cell(&text, t, i, c, &t->lines[i].marked);
            if (str_error(&text) == -ENOMEM)
                return -ENOMEM;
            t->lines[i].cells[c] = arena_strdup(&t->arena, str_text(&text));
            if (!t->lines[i].cells[c])
                return -ENOMEM;
            t->width[c] = MAX(t->width[c], text_columns(t->lines[i].cells[c]));
        }
    return 0;
}

/* Cut products, then what matters, until the lines fit: names, addresses and links stay whole. */
static void fit(struct tree *t)
{
    size_t limit = machine_text_width(t->view), sum = (size_t)GAP * (CELLS - 1);

    for (int c = 0; c < CELLS; c++)
        sum += t->width[c];
    while (sum > limit && t->width[PRODUCT] > PRODUCT_MIN) {
        t->width[PRODUCT]--;
        sum--;
    }
    while (sum > limit && t->width[MATTER] > MATTER_MIN) {
        t->width[MATTER]--;
        sum--;
    }
}

static void add_line(const struct tree *t, const struct line *line)
{
    size_t column = 0, written = 0;

    for (int c = 0; c < CELLS; c++) {
        size_t columns = MIN(text_columns(line->cells[c]), t->width[c]);
        CLEANUP(str_done) struct str cell = STR_INIT(4096);

        if (columns) {
            str_fill(t->out, ' ', (int)(column - written));
            text_add_clipped(&cell, line->cells[c], columns);
            str_fail(t->out, str_error(&cell));
            if (c == LINK && line->marked)
                text_ink(t->out, t->view->colour, INK_RED, str_text(&cell));
            else
                str_add(t->out, str_text(&cell));
            written = column + columns;
        }
        column += t->width[c] + GAP;
    }
    str_add_char(t->out, '\n');
}

static void add_memory_domain(const struct tree *t, int numa)
{
    const struct numa *d = &t->node->numas[numa];
    int owner = describe_memory_owner(t->node, numa);

    str_add(t->out, d->memory_b > 0 ? "no CPUs, " : "no CPUs");
    if (d->memory_b > 0)
        describe_ram(t->out, d->memory_b);
    if (owner >= 0) {
        str_add(t->out, ": memory of ");
        text_add(t->out, t->node->devices[owner].name);
    }
}

/* Domains with neither CPUs, memory nor devices, which firmware keeps for partitions of
 * accelerators, share one line. Returns the first domain behind them. */
static int empty_domains(const struct tree *t, int numa)
{
    const struct node *n = t->node;
    int last = numa;

    while (last < (int)n->n_numas && n->numas[last].socket < 0 && n->numas[last].memory_b <= 0)
        last++;
    for (size_t i = 0; i < t->outline.count && last > numa; i++)
        if (t->outline.items[i].numa >= numa && t->outline.items[i].numa < last)
            last = numa;
    return last;
}

static void add_domain_heading(const struct tree *t, int numa)
{
    const struct numa *d = numa >= 0 ? &t->node->numas[numa] : NULL;
    CLEANUP(str_done) struct str name = STR_INIT(64);

    if (!d)
        str_add(&name, "NUMA not known");
    else
        str_addf(&name, "NUMA %d", d->id);
    str_fail(t->out, str_error(&name));
    text_ink(t->out, t->view->colour, INK_BOLD, str_text(&name));
    if (d)
        str_add(t->out, "  ");
    if (d && d->socket < 0 && !*d->cpus) {
        add_memory_domain(t, numa);
    } else if (d) {
        if (d->socket >= 0)
            str_addf(t->out, "socket %d, ", t->node->sockets[d->socket].id);
        str_add(t->out, "CPUs ");
        text_add(t->out, d->cpus);
        str_add(t->out, d->memory_b > 0 ? ", " : "");
        if (d->memory_b > 0)
            describe_ram(t->out, d->memory_b);
    }
    str_add_char(t->out, '\n');
}

static void add_domain(const struct tree *t, int numa)
{
    bool any = numa >= 0;

    for (size_t i = 0; i < t->outline.count; i++)
        any |= t->outline.items[i].numa == numa;
    if (!any)
        return;
    str_add_char(t->out, '\n');
    add_domain_heading(t, numa);
    for (size_t i = 0; i < t->outline.count; i++)
        if (t->outline.items[i].numa == numa)
            add_line(t, &t->lines[i]);
}

static void add_accelerators(const struct tree *t)
{
    const struct node *n = t->node;
    struct str *out = t->out;

    if (!n->n_acc) {
        str_add(out, "no accelerators\n");
        return;
    }
    if (describe_only_cores(n)) {
        str_add(out, "no accelerators but the CPU's own cores\n");
        return;
    }
    describe_products(out, t->view, n, DEVICE_ACCELERATOR);
    if (n->set.gpu_driver) {
        str_add(out, ", driver ");
        text_add(out, n->set.gpu_driver);
    }
    str_add(out, n->n_acc > 1 ? ", " : "");
    describe_fabric(out, n);
    str_add_char(out, '\n');
}

static void add_head(const struct tree *t)
{
    const struct node *n = t->node;
    CLEANUP(str_done) struct str name = STR_INIT(4096), host = STR_INIT(4096);

    text_add(&name, n->name ? n->name : "?");
    describe_host(&host, n);
    str_fail(t->out, str_error(&name) ? str_error(&name) : str_error(&host));
    text_ink(t->out, t->view->colour, INK_BOLD, str_text(&name));
    str_addf(t->out, "%s%s\n", host.len ? "  " : "", str_text(&host));
    describe_cpus(t->out, n);
    str_add_char(t->out, '\n');
    add_accelerators(t);
    for (size_t i = 0; i < n->n_devices; i++)
        if (n->devices[i].kind == DEVICE_SWITCH) {
            describe_products(t->out, t->view, n, DEVICE_SWITCH);
            str_add_char(t->out, '\n');
            break;
        }
}

static int add_node(struct tree *t)
{
    if (build_lines(t) < 0)
        return -ENOMEM;
    fit(t);
    add_head(t);
    for (int i = 0; i < (int)t->node->n_numas;) {
        int behind = empty_domains(t, i);

        if (behind == i) {
            add_domain(t, i++);
            continue;
        }
        str_addf(t->out, "\nNUMA %d", t->node->numas[i].id);
        if (behind - i > 1)
            str_addf(t->out, " to %d", t->node->numas[behind - 1].id);
        str_add(t->out, "  no CPUs, no memory\n");
        i = behind;
    }
    add_domain(t, ABSENT);
    return str_error(t->out);
}

static int render(const struct machine_view *v, struct str *out)
{
    struct tree t = { .view = v, .out = out };
    int rc;

    if (v->machine->n_nodes != 1)
        return machine_table(v, out);
    t.node = v->machine->nodes[0];
    rc = outline_build(&t.outline, t.node);
    if (rc == 0)
        rc = add_node(&t);
    arena_done(&t.arena);
    outline_done(&t.outline);
    str_fail(out, rc);
    return rc;
}

const struct machine_renderer machine_tree = {
    "tree",
    "the machine as a tree, for people; many nodes as a table",
    render,
};
