/* One node in a drawing, and the links between its accelerators at the right of it. */
#ifndef BRIM_RENDER_MACHINE_SVG_NODE_H
#define BRIM_RENDER_MACHINE_SVG_NODE_H
#include "render/machine/outline.h"
#include "render/machine/render.h"
#include "render/machine/svg_shapes.h"

/* Where the columns stand. */
enum {
    SVG_MARGIN = 24,
    SVG_SOCKET_X = 56,
    SVG_SOCKET_W = 170,
    SVG_DEVICE_X = 784,
    SVG_DEVICE_W = 286,
    SVG_FABRIC_X = 1130,
};

struct svg_node {
    const struct machine_view *view;
    const struct node *node;
    struct outline outline;
    struct svg_box *boxes;   /* by outline item */
    struct svg_box *numas;   /* by domain, then that which is not known; h 0: not drawn */
    struct svg_box *sockets; /* h 0: not drawn */
    double switch_w, gap;    /* of the columns of switches */
    double y;                /* where the next part begins */
};

/* Draw a node from *y on under a heading, and move *y behind it. 0 or -ENOMEM. */
int svg_node_draw(struct str *out, const struct machine_view *v, const struct node *n,
                  const char *heading, double *y) CHECK_RESULT;

/* The box of an accelerator; NULL when it is not drawn. */
static inline const struct svg_box *svg_device_box(const struct svg_node *s, int device)
{
    for (size_t i = 0; i < s->outline.count; i++)
        if (s->outline.items[i].device == device)
            return &s->boxes[i];
    return NULL;
}

/* Links between accelerators: a band where all pairs are joined alike, else arcs. (svg_fabric.c) */
void svg_fabric_draw(struct str *out, const struct svg_node *s);

#endif
