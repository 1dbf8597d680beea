/* Primitives of a drawing in SVG. Classes are those of the style sheet in svg.c, which knows a
 * light and a dark theme; text is escaped, and cut to the room it has. */
#ifndef BRIM_RENDER_MACHINE_SVG_SHAPES_H
#define BRIM_RENDER_MACHINE_SVG_SHAPES_H
#include "base/str.h"

enum { SVG_WIDTH = 1200 };

struct svg_box {
    double x, y, w, h;
};

/* The opening tag, title and style sheet of a drawing SVG_WIDTH wide, and its end. */
void svg_begin(struct str *out, double height, const char *title);
void svg_end(struct str *out);

void svg_rect(struct str *out, const char *class, struct svg_box b);

/* A line from (b.x, b.y) by b.w and b.h, of that stroke width. */
void svg_line(struct str *out, const char *class, struct svg_box b, double stroke);

/* Text from (b.x, b.y), its baseline, in at most b.w pixels. */
void svg_text(struct str *out, const char *class, struct svg_box b, const char *text);

/* Text that runs upwards, centred on (b.x, b.y), in at most b.h pixels. */
void svg_text_up(struct str *out, const char *class, struct svg_box b, const char *text);

/* The stroke of a link: in proportion to its bandwidth, 63 GB/s (PCIe Gen5 x16) are 7 pixels. */
double svg_stroke(double gbs);

#endif
