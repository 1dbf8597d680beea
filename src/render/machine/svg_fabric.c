#include <stdio.h>

#include "base/str.h"
#include "model/machine/way.h"
#include "render/machine/describe.h"
#include "render/machine/svg_node.h"

enum { BAND_W = 40, ARCS_LABELLED = 8 };

struct joined {
    int pairs, all, switches;
    bool alike;
    struct way way; /* of the first pair */
};

static bool is_link(const struct way *w)
{
    return w->class == WAY_NV || w->class == WAY_C2C;
}

static struct joined look(const struct node *n)
{
    struct joined j = { .alike = true };

    for (size_t i = 0; i < n->n_devices; i++)
        j.switches += n->devices[i].kind == DEVICE_SWITCH;
    for (int a = 0; a < (int)n->n_acc; a++)
        for (int b = a + 1; b < (int)n->n_acc; b++) {
            struct way w = way_between(n, a, b);

            j.all++;
            if (!is_link(&w))
                continue;
            if (!j.pairs++)
                j.way = w;
            j.alike = j.alike && w.link == j.way.link && w.count == j.way.count;
        }
    return j;
}

/* Whether the accelerators hang off switches, seen or not, instead of off each other. */
static bool through_switches(const struct node *n)
{
    for (size_t i = 0; i < n->n_links; i++)
        if (n->links[i].b < 0 ? n->links[i].numa < 0
                              : n->devices[n->links[i].b].kind == DEVICE_SWITCH)
            return true;
    return false;
}

/* Two lines that run up the band: what joins any two accelerators, and through what. */
static void draw_band_text(struct str *out, const struct node *n, const struct joined *j,
                           struct svg_box band)
{
    struct svg_box at = { band.x + BAND_W / 2.0 - 4, band.y + band.h / 2, 0, band.h };
    CLEANUP(str_done) struct str text = STR_INIT(256);
    char way[WAY_TEXT];

    str_addf(&text, "%s: %s, ", describe_link_kind(j->way.link), way_text(&j->way, way));
    describe_gbs(&text, j->way.gbs);
    str_add(&text, j->way.gbs > 0 ? " between any two" : "between any two");
    svg_text_up(out, "fab", at, str_text(&text));
    str_fail(out, str_error(&text));
    str_reset(&text);
    at.x += 15;
    if (j->switches)
        str_addf(&text, "through %d NVSwitches", j->switches);
    else
        str_add(&text, through_switches(n) ? "through switches" : "each pair directly");
    svg_text_up(out, "fab", at, str_text(&text));
    str_fail(out, str_error(&text));
}

static void draw_band(struct str *out, const struct svg_node *s, const struct joined *j)
{
    struct svg_box band = { SVG_FABRIC_X, 0, BAND_W, 0 };
    double low = 0, right = SVG_DEVICE_X + SVG_DEVICE_W;
    char way[WAY_TEXT];

    for (int a = 0; a < (int)s->node->n_acc; a++) {
        const struct svg_box *b = svg_device_box(s, a);
        double y = b ? b->y + b->h / 2 : 0;

        if (!b)
            continue;
        band.y = low > 0 ? MIN(band.y, b->y) : b->y;
        low = MAX(low, b->y + b->h);
        svg_line(out, "nv", (struct svg_box){ right, y, SVG_FABRIC_X - right, 0 },
                 svg_stroke(j->way.gbs));
        svg_text(out, "label", (struct svg_box){ right + 6, y - 7, 60 }, way_text(&j->way, way));
    }
    if (low <= 0)
        return;
    band.h = low - band.y;
    svg_rect(out, "fabric", band);
    draw_band_text(out, s->node, j, band);
}

static void draw_arc(struct str *out, const struct svg_node *s, int a, int b, bool label)
{
    const struct svg_box *from = svg_device_box(s, a), *to = svg_device_box(s, b);
    struct way w = way_between(s->node, a, b);
    CLEANUP(str_done) struct str text = STR_INIT(128);
    double x = SVG_DEVICE_X + SVG_DEVICE_W, y1, y2, reach;
    char way[WAY_TEXT];

    if (!from || !to)
        return;
    y1 = from->y + from->h / 2;
    y2 = to->y + to->h / 2;
    reach = MIN(36 + (y2 - y1) / 10, 90.0);
    str_addf(out,
             "<path class=\"nv\" d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\""
             " stroke-width=\"%.1f\"/>\n",
             x, y1, x + reach, y1, x + reach, y2, x, y2, svg_stroke(w.gbs));
    if (!label)
        return;
    svg_text(out, "fab", (struct svg_box){ x + reach * 0.75 + 8, (y1 + y2) / 2 - 2, 90 },
             way_text(&w, way));
    describe_gbs(&text, w.gbs);
    str_fail(out, str_error(&text));
    svg_text(out, "label", (struct svg_box){ x + reach * 0.75 + 8, (y1 + y2) / 2 + 11, 90 },
             str_text(&text));
}

void svg_fabric_draw(struct str *out, const struct svg_node *s)
{
    struct joined j = look(s->node);

    if (!j.pairs)
        return;
    if (j.alike && j.pairs == j.all && s->node->n_acc > 2) {
        draw_band(out, s, &j);
        return;
    }
    for (int a = 0; a < (int)s->node->n_acc; a++)
        for (int b = a + 1; b < (int)s->node->n_acc; b++) {
            struct way w = way_between(s->node, a, b);

            if (is_link(&w))
                draw_arc(out, s, a, b, j.pairs <= ARCS_LABELLED);
        }
}
