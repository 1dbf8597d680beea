#include "render/machine/table.h"

#include "render/names.h"
#include "render/text.h"

enum { WIDTH_MIN = 60, WIDTH_MAX = 100, GAP = 2 };

/* The columns, and how many characters each keeps when room is short. */
static const struct {
    const char *title;
    size_t least;
} columns[GROUP_CELLS] = {
    [GROUP_ACCELERATORS] = { "accelerators", 17 },
    [GROUP_FABRIC] = { "between them", 12 },
    [GROUP_CPUS] = { "CPUs", 12 },
    [GROUP_MEMORY] = { "memory", 7 },
    [GROUP_NICS] = { "NICs", 13 },
};

unsigned machine_text_width(const struct machine_view *v)
{
    unsigned width = v->columns ? v->columns : (unsigned)WIDTH_MAX;

    return MIN(MAX(width, (unsigned)WIDTH_MIN), (unsigned)WIDTH_MAX);
}

/* Columns as wide as their widest cell, the widest ones cut until all fit into 'room'. */
static void fit(const struct groups *g, size_t room, size_t width[GROUP_CELLS])
{
    for (int c = 0; c < GROUP_CELLS; c++) {
        width[c] = text_columns(columns[c].title);
        for (size_t i = 0; i < g->count; i++)
            width[c] = MAX(width[c], text_columns(g->list[i].cells[c]));
    }
    for (;;) {
        size_t sum = 0;
        int widest = -1;

        for (int c = 0; c < GROUP_CELLS; c++) {
            sum += width[c] + GAP;
            if (width[c] > columns[c].least && (widest < 0 || width[c] > width[widest]))
                widest = c;
        }
        if (sum <= room || widest < 0)
            return;
        width[widest]--;
    }
}

static void add_row(struct str *out, const char *const cells[GROUP_CELLS],
                    const size_t width[GROUP_CELLS], size_t column)
{
    for (int c = 0; c < GROUP_CELLS; c++) {
        column += GAP;
        str_pad(out, column);
        text_add_clipped(out, cells[c], width[c]);
        column += width[c];
    }
    str_add_char(out, '\n');
}

/* The names below a line: lists of nodes are longer than a column is wide. */
static int add_names(struct str *out, const struct group *g)
{
    int rc;

    str_fill(out, ' ', 5 + GAP);
    if (g->wiring)
        str_addf(out, "wired otherwise (%d): ", g->wiring + 1);
    rc = names_compress(out, g->names, g->n_names);
    str_add_char(out, '\n');
    return rc;
}

int machine_table(const struct machine_view *v, struct str *out)
{
    const char *titles[GROUP_CELLS];
    size_t width[GROUP_CELLS], left = 5;
    struct groups g;
    int rc;

    if (!v->machine->n_nodes) {
        str_add(out, "no nodes\n");
        return str_error(out);
    }
    rc = groups_build(&g, v);

    if (rc < 0) {
        str_fail(out, rc);
        return rc;
    }
    fit(&g, machine_text_width(v) - left, width);
    text_count(out, v->machine->n_nodes, "node");
    str_add(out, " of ");
    text_count(out, g.count, "kind");
    str_add(out, "\n\nnodes");
    for (int c = 0; c < GROUP_CELLS; c++)
        titles[c] = columns[c].title;
    add_row(out, titles, width, left);
    for (size_t i = 0; i < g.count && rc == 0; i++) {
        str_addf(out, "%5zu", g.list[i].n_names);
        add_row(out, g.list[i].cells, width, left);
        rc = add_names(out, &g.list[i]);
    }
    groups_done(&g);
    str_fail(out, rc);
    return str_error(out);
}
