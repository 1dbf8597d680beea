#include "render/machine/svg_node.h"

#include <errno.h>
#include <string.h>

#include "render/machine/describe.h"
#include "render/machine/pcie_link_text.h"
#include "render/text.h"

enum {
    ROW_H = 36,
    ROW_GAP = 7,
    NUMA_H = 62, /* at least: three lines of text */
    NUMA_PAD = 8,
    NUMA_GAP = 10,
    SOCKET_TITLE = 26,
    SOCKET_GAP = 26,
    SWITCH_W = 66,
    SWITCH_NARROW = 40,
    LABEL_GLYPH = 7, /* width of a character in labels */
    LABEL_MIN = 84,  /* shorter lines carry no label */
};

/* Lines begin at the domain's edge and are seen from the socket's on. */
static const double numa_right = SVG_SOCKET_X + SVG_SOCKET_W - NUMA_PAD;
static const double socket_right = SVG_SOCKET_X + SVG_SOCKET_W;

/* Begin another text in part; the failure of the last one is the drawing's. */
static void restart(struct str *out, struct str *part)
{
    str_fail(out, str_error(part));
    str_reset(part);
}

/* ---- layout: all boxes, from the top down ---- */

static void place_columns(struct svg_node *s)
{
    int levels = 0;
    double room = SVG_DEVICE_X - socket_right;

    for (size_t i = 0; i < s->outline.count; i++)
        if (s->outline.items[i].device < 0)
            levels = MAX(levels, s->outline.items[i].depth + 1);
    s->switch_w = levels > 2 ? SWITCH_NARROW : SWITCH_W;
    if (levels * s->switch_w > room / 2)
        s->switch_w = room / 2 / levels;
    s->gap = (room - levels * s->switch_w) / (levels + 1);
}

/* The rows of a domain's devices; switches span theirs. */
static void place_items(struct svg_node *s, int numa, double top)
{
    const struct outline_item *items = s->outline.items;
    double y = top;

    for (size_t i = 0; i < s->outline.count; i++) {
        struct svg_box *b = &s->boxes[i];

        if (items[i].numa != numa)
            continue;
        b->y = y;
        b->h = items[i].n_leaves * (ROW_H + ROW_GAP) - ROW_GAP;
        if (items[i].device >= 0) {
            b->x = SVG_DEVICE_X;
            b->w = SVG_DEVICE_W;
            y += ROW_H + ROW_GAP;
        } else {
            b->x = socket_right + s->gap + items[i].depth * (s->gap + s->switch_w);
            b->w = s->switch_w;
        }
    }
}

static int leaves_of(const struct svg_node *s, int numa)
{
    int leaves = 0;

    for (size_t i = 0; i < s->outline.count; i++)
        leaves += s->outline.items[i].numa == numa && s->outline.items[i].device >= 0;
    return leaves;
}

/* A domain from s->y on, and s->y behind it. */
static void place_domain(struct svg_node *s, int numa)
{
    struct svg_box *b = &s->numas[numa >= 0 ? (size_t)numa : s->node->n_numas];
    double rows = leaves_of(s, numa) * (ROW_H + ROW_GAP) - ROW_GAP + 2 * NUMA_PAD;

    *b = (struct svg_box){ SVG_SOCKET_X + NUMA_PAD, s->y, SVG_SOCKET_W - 2 * NUMA_PAD,
                           MAX(rows, NUMA_H) };
    place_items(s, numa, s->y + NUMA_PAD);
    s->y += b->h + NUMA_GAP;
}

static void place(struct svg_node *s)
{
    const struct node *n = s->node;

    place_columns(s);
    for (int socket = 0; socket < (int)n->n_sockets; socket++) {
        double top = s->y;

        s->y += SOCKET_TITLE;
        for (int numa = 0; numa < (int)n->n_numas; numa++)
            if (n->numas[numa].socket == socket)
                place_domain(s, numa);
        s->sockets[socket] = (struct svg_box){ SVG_SOCKET_X, top, SVG_SOCKET_W, s->y - top };
        s->y += SOCKET_GAP;
    }
    for (int numa = 0; numa < (int)n->n_numas; numa++)
        if (n->numas[numa].socket < 0 && (n->numas[numa].memory_b > 0 || leaves_of(s, numa)))
            place_domain(s, numa);
    if (leaves_of(s, ABSENT))
        place_domain(s, ABSENT);
}

/* ---- drawing ---- */

static void draw_domain(struct str *out, const struct svg_node *s, int numa)
{
    const struct numa *d = numa >= 0 ? &s->node->numas[numa] : NULL;
    const struct svg_box *b = &s->numas[numa >= 0 ? (size_t)numa : s->node->n_numas];
    struct svg_box text = { b->x + 8, b->y + 18, b->w - 12, 0 };
    CLEANUP(str_done) struct str line = STR_INIT(4096);

    if (b->h <= 0)
        return;
    svg_rect(out, d ? "numa" : "loose", *b);
    if (!d) {
        svg_text(out, "name", text, "NUMA not known");
        return;
    }
    str_addf(&line, "NUMA %d", d->id);
    svg_text(out, "name", text, str_text(&line));
    restart(out, &line);
    text.y += 16;
    str_add(&line, *d->cpus ? "CPUs " : "no CPUs");
    str_add(&line, d->cpus);
    svg_text(out, "dim", text, str_text(&line));
    restart(out, &line);
    text.y += 16;
    describe_ram(&line, d->memory_b);
    if (d->socket < 0 && describe_memory_owner(s->node, numa) >= 0)
        str_addf(&line, " of %s", s->node->devices[describe_memory_owner(s->node, numa)].name);
    svg_text(out, "dim", text, str_text(&line));
    str_fail(out, str_error(&line));
}

static void draw_socket(struct str *out, const struct svg_node *s, int socket)
{
    const struct socket *k = &s->node->sockets[socket];
    const struct svg_box *b = &s->sockets[socket];
    CLEANUP(str_done) struct str line = STR_INIT(256);

    svg_rect(out, "socket", *b);
    str_addf(&line, "Socket %d", k->id);
    if (k->cores > 0) {
        str_add(&line, ", ");
        text_count(&line, (size_t)k->cores, "core");
    }
    svg_text(out, "name", (struct svg_box){ b->x + 10, b->y + 18, b->w - 14 }, str_text(&line));
    str_fail(out, str_error(&line));
}

/* What joins the sockets, by who makes them. */
static const char *socket_link(const struct node *n)
{
    if (n->cpu_vendor && !strcmp(n->cpu_vendor, "GenuineIntel"))
        return "UPI";
    if (n->cpu_vendor && !strcmp(n->cpu_vendor, "AuthenticAMD"))
        return "Infinity Fabric";
    return "link between sockets";
}

static void draw_socket_links(struct str *out, const struct svg_node *s)
{
    const struct svg_box *first = s->sockets, *last = first + s->node->n_sockets - 1;
    double x = SVG_MARGIN + 16, top, low;

    if (s->node->n_sockets < 2)
        return;
    top = first->y + first->h / 2;
    low = last->y + last->h / 2;
    svg_line(out, "link", (struct svg_box){ x, top, 0, low - top }, 4);
    for (const struct svg_box *b = first; b <= last; b++)
        svg_line(out, "link", (struct svg_box){ x - 2, b->y + b->h / 2, SVG_SOCKET_X - x + 2, 0 },
                 4);
    svg_text_up(out, "dim", (struct svg_box){ x - 8, (top + low) / 2, 0, low - top },
                socket_link(s->node));
}

/* The left end of an item's line: the right edge of what is above it. */
static double line_start(const struct svg_node *s, const struct outline_item *item)
{
    const struct svg_box *above = item->parent >= 0 ? &s->boxes[item->parent] : NULL;

    return above ? above->x + above->w : numa_right;
}

/* What is wrong with a link, or worth knowing: below its line. */
static void draw_remark(struct str *out, const struct svg_node *s, const struct outline_item *item,
                        const struct pcie_link_text *l, struct svg_box at)
{
    CLEANUP(str_done) struct str text = STR_INIT(256);
    const char *class = "hint";

    if (l->state == LINK_DEGRADED) {
        str_add(&text, "could be ");
        pcie_link_add_rate(&text, l->able_gts, l->able_width);
        class = "warn";
    } else if (l->state == LINK_IDLE) {
        str_addf(&text, "idle; Gen%d able", pcie_gen(l->able_gts));
    }
    if (item->device >= 0 && s->node->pcis[item->pci].pch)
        str_add(&text, text.len ? ", chipset" : "behind the chipset");
    if (text.len)
        svg_text(out, class, at, str_text(&text));
    str_fail(out, str_error(&text));
}

static void draw_item_link(struct str *out, const struct svg_node *s, int at)
{
    const struct outline_item *item = &s->outline.items[at];
    const struct device *d = item->device >= 0 ? &s->node->devices[item->device] : NULL;
    double x = line_start(s, item), y = s->boxes[at].y + s->boxes[at].h / 2;
    struct svg_box line = { x, y, s->boxes[at].x - x, 0 };
    CLEANUP(str_done) struct str text = STR_INIT(256);
    struct pcie_link_text l = d ? pcie_link_text_of(s->node, d)
                                : pcie_link_text_at(s->node, item->pci);
    double stroke = svg_stroke(l.gbs);

    svg_line(out, l.state == LINK_DEGRADED ? "bad" : "link", line, stroke);
    x = MAX(x, socket_right) + 5;
    if (s->boxes[at].x - x < LABEL_MIN || l.state == LINK_UNKNOWN)
        return;
    pcie_link_add_rate(&text, l.gts, l.width);
    str_add_char(&text, ' ');
    describe_gbs(&text, l.gbs);
    svg_text(out, l.state == LINK_DEGRADED ? "warn" : "label",
             (struct svg_box){ x, y - stroke / 2 - 4, s->boxes[at].x - x, 0 }, str_text(&text));
    draw_remark(out, s, item, &l,
                (struct svg_box){ x, y + stroke / 2 + 11, s->boxes[at].x - x, 0 });
    str_fail(out, str_error(&text));
}

static void draw_switch(struct str *out, const struct svg_node *s, int at)
{
    const struct svg_box *b = &s->boxes[at];
    const struct pci *p = &s->node->pcis[s->outline.items[at].pci];
    const char *vendor = describe_switch_vendor(p->vendor);
    struct svg_box text = { b->x + b->w / 2, b->y + b->h / 2 + 4, b->w, 0 };

    svg_rect(out, "switch", *b);
    if (vendor && b->w >= SWITCH_W) {
        text.y -= 7;
        svg_text(out, "label mid", text, vendor);
        text.y += 13;
    }
    svg_text(out, "label mid", text, p->pch ? "chipset" : "switch");
}

/* NVLink-C2C and the like: the device's way to the CPU beside PCIe. */
static void add_cpu_link(struct str *out, const struct node *n, int device)
{
    for (size_t i = 0; i < n->n_links; i++) {
        const struct link *l = &n->links[i];

        if (l->a != device || l->b >= 0 || l->numa < 0)
            continue;
        str_addf(out, "%s%s to the CPU", out->len ? " · " : "", describe_link_kind(l->kind));
        if (l->gbs > 0) {
            str_add_char(out, ' ');
            describe_gbs(out, l->gbs * l->count);
        }
    }
}

static bool is_down(const struct device *d)
{
    bool down = d->kind == DEVICE_ACCELERATOR && d->acc.lost;

    for (size_t i = 0; i < d->nic.n_ports; i++)
        down |= d->nic.ports[i].up == 0;
    return down;
}

static void draw_device(struct str *out, const struct svg_node *s, int at)
{
    static const char *const classes[] = {
        [DEVICE_ACCELERATOR] = "acc",
        [DEVICE_NIC] = "nic",
        [DEVICE_NVME] = "nvme",
        [DEVICE_SWITCH] = "acc",
    };
    const struct svg_box *b = &s->boxes[at];
    int device = s->outline.items[at].device;
    const struct device *d = &s->node->devices[device];
    const char *product = describe_product(s->view, d);
    struct svg_box text = { b->x + b->w - 7, b->y + 15, b->w, 0 };
    CLEANUP(str_done) struct str line = STR_INIT(4096);
    double room;

    svg_rect(out, "box", *b);
    svg_rect(out, classes[d->kind], (struct svg_box){ b->x, b->y, 6, b->h });
    describe_address(&line, s->node, d->pci);
    svg_text(out, "label end", text, str_text(&line));
    text = (struct svg_box){ b->x + 14, b->y + 15, b->w - 20, 0 };
    room = (double)(line.len + 3) * LABEL_GLYPH;
    restart(out, &line);
    str_addf(&line, "%s%s%s", d->name, product ? "  " : "", product ? product : "");
    text.w -= room;
    svg_text(out, "name", text, str_text(&line));
    restart(out, &line);
    describe_device(&line, s->view, d);
    add_cpu_link(&line, s->node, device);
    text.w += room;
    text.y += 15;
    svg_text(out, is_down(d) ? "warn" : "label", text, str_text(&line));
    str_fail(out, str_error(&line));
}

static void draw(struct str *out, const struct svg_node *s)
{
    int items = (int)s->outline.count;

    draw_socket_links(out, s);
    for (int i = 0; i < (int)s->node->n_sockets; i++)
        draw_socket(out, s, i);
    for (int i = 0; i < (int)s->node->n_numas; i++)
        draw_domain(out, s, i);
    draw_domain(out, s, ABSENT);
    for (int i = 0; i < items; i++)
        draw_item_link(out, s, i);
    svg_fabric_draw(out, s);
    for (int i = 0; i < items; i++)
        if (s->outline.items[i].device >= 0)
            draw_device(out, s, i);
        else
            draw_switch(out, s, i);
}

static void draw_heading(struct str *out, struct svg_node *s, const char *heading)
{
    CLEANUP(str_done) struct str line = STR_INIT(4096);
    struct svg_box text = { SVG_MARGIN, s->y + 40, SVG_WIDTH - 2 * SVG_MARGIN, 0 };

    svg_text(out, "t1", text, heading);
    text.y += 24;
    describe_host(&line, s->node);
    svg_text(out, "t2 dim", text, str_text(&line));
    restart(out, &line);
    text.y += 19;
    describe_cpus(&line, s->node);
    svg_text(out, "t2 dim", text, str_text(&line));
    restart(out, &line);
    text.y += 19;
    if (s->node->n_acc && !describe_only_cores(s->node)) {
        describe_products(&line, s->view, s->node, DEVICE_ACCELERATOR);
        str_add(&line, s->node->n_acc > 1 ? ", " : "");
        describe_fabric(&line, s->node);
        svg_text(out, "t2 dim", text, str_text(&line));
        str_fail(out, str_error(&line));
    }
    s->y = text.y + 22;
}

int svg_node_draw(struct str *out, const struct machine_view *v, const struct node *n,
                  const char *heading, double *y)
{
    struct svg_node s = { .view = v, .node = n, .y = *y };
    struct arena a = ARENA_INIT;
    int rc = outline_build(&s.outline, n);

    if (rc < 0)
        return rc;
    s.boxes = arena_alloc(&a, s.outline.count * sizeof(*s.boxes));
    s.numas = arena_alloc(&a, (n->n_numas + 1) * sizeof(*s.numas));
    s.sockets = arena_alloc(&a, n->n_sockets * sizeof(*s.sockets));
    if (s.boxes && s.numas && s.sockets) {
        draw_heading(out, &s, heading);
        place(&s);
        draw(out, &s);
        *y = s.y;
    } else {
        rc = -ENOMEM;
    }
    arena_done(&a);
    outline_done(&s.outline);
    return rc;
}
