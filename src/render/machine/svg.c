#include <errno.h>
#include <stdio.h>

#include "base/str.h"
#include "render/machine/groups.h"
#include "render/names.h"
#include "render/machine/svg_node.h"

enum { TITLE_MAX = 4096 };

/* "dgx-01", or "n[001-016] (16 nodes)". */
static int add_heading(struct str *out, const struct group *g)
{
    int rc = names_compress(out, g->names, g->n_names);

    if (g->n_names > 1)
        str_addf(out, " (%zu nodes)", g->n_names);
    return rc;
}

static void draw_legend(struct str *out, double y)
{
    static const struct {
        const char *class, *text;
    } boxes[] = {
        { "acc", "accelerator" },
        { "nic", "network" },
        { "nvme", "NVMe" },
        { "switch", "PCIe switch" },
    };
    double x = SVG_SOCKET_X;

    for (size_t i = 0; i < ARRAY_SIZE(boxes); i++) {
        svg_rect(out, boxes[i].class, (struct svg_box){ x, y - 9, 12, 12 });
        svg_text(out, "dim", (struct svg_box){ x + 18, y + 1, 100 }, boxes[i].text);
        x += 108;
    }
    svg_line(out, "link", (struct svg_box){ x, y - 3, 40, 0 }, svg_stroke(63));
    svg_text(out, "dim", (struct svg_box){ x + 48, y + 1, 300 },
             "PCIe: the wider, the faster (one direction)");
    x += 350;
    svg_line(out, "bad", (struct svg_box){ x, y - 3, 40, 0 }, 3);
    svg_text(out, "dim", (struct svg_box){ x + 48, y + 1, 260 }, "less than both ends can");
}

static int draw_all(struct str *out, const struct groups *g, const struct machine_view *v,
                    double *y)
{
    int rc = 0;

    for (size_t i = 0; i < g->count && rc == 0; i++) {
        CLEANUP(str_done) struct str heading = STR_INIT(TITLE_MAX);

        rc = add_heading(&heading, &g->list[i]);
        if (rc == 0 && str_error(&heading) == -ENOMEM)
            rc = -ENOMEM;
        if (rc == 0)
            rc = svg_node_draw(out, v, g->list[i].first, str_text(&heading), y);
    }
    return rc;
}

static int draw_body(struct str *body, const struct machine_view *v, double *y)
{
    struct groups g;
    int rc = groups_build(&g, v);

    if (rc < 0)
        return rc;
    rc = draw_all(body, &g, v, y);
    groups_done(&g);
    draw_legend(body, *y + 16);
    return rc < 0 ? rc : str_error(body);
}

/* The body comes first, since the opening tag holds the height. */
static int render(const struct machine_view *v, struct str *out)
{
    CLEANUP(str_done) struct str body = STR_INIT(out->max);
    double y = 0;
    int rc = draw_body(&body, v, &y);

    str_fail(out, rc);
    svg_begin(out, y + 44, v->machine->n_nodes == 1 ? v->machine->nodes[0]->name : "machine");
    str_add_n(out, str_text(&body), body.len);
    svg_end(out);
    return str_error(out);
}

const struct machine_renderer machine_svg = {
    "svg",
    "a drawing of the machine, for reports",
    render,
};
