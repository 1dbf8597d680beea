#include "render/machine/svg_shapes.h"

#include <string.h>

#include "render/text.h"

/* Each colour stands twice: as it is in the light theme, for readers that know no custom
 * properties, and as a property. */
static const char style[] =
    "<style>\n"
    ".brim{--bg:#ffffff;--ink:#1c2430;--dim:#5c6a7a;--line:#7b8a9c;--bad:#c8202c;--note:#9a6200;\n"
    " --socket:#eef2f7;--numa:#ffffff;--edge:#b9c4d0;--switch:#dde5ee;--acc:#2f7d4f;--nic:#2563a8;"
    "\n"
    " --nvme:#7a5ba8;--box:#ffffff;--fabric:#d9efe1;--fabricink:#1f5c39}\n"
    "@media (prefers-color-scheme:dark){.brim{--bg:#14181e;--ink:#e6ebf1;--dim:#98a5b4;\n"
    " --line:#76869a;--bad:#ff6b70;--note:#e0a84a;--socket:#1d232c;--numa:#232b36;--edge:#3f4c5b;\n"
    " --switch:#303b49;--acc:#58b981;--nic:#5c9ce0;--nvme:#a98cd6;--box:#232b36;--fabric:#1e3d2c;\n"
    " --fabricink:#a5e0bf}}\n"
    ".brim text{font-family:system-ui,'Segoe UI','DejaVu Sans',sans-serif;font-size:11px;\n"
    " fill:#1c2430;fill:var(--ink)}\n"
    ".brim .t1{font-size:22px;font-weight:600}.brim .t2{font-size:13px}\n"
    ".brim .name{font-size:12px;font-weight:600}\n"
    ".brim .dim{fill:#5c6a7a;fill:var(--dim)}\n"
    ".brim .label{font-size:10px;fill:#5c6a7a;fill:var(--dim)}\n"
    ".brim .warn{font-size:10px;fill:#c8202c;fill:var(--bad);font-weight:600}\n"
    ".brim .hint{font-size:10px;fill:#9a6200;fill:var(--note)}\n"
    ".brim .fab{font-size:11px;fill:#1f5c39;fill:var(--fabricink);font-weight:600}\n"
    ".brim .mid{text-anchor:middle}.brim .end{text-anchor:end}\n"
    ".brim .bg{fill:#ffffff;fill:var(--bg)}\n"
    ".brim .socket{fill:#eef2f7;fill:var(--socket);stroke:#b9c4d0;stroke:var(--edge)}\n"
    ".brim .numa{fill:#ffffff;fill:var(--numa);stroke:#b9c4d0;stroke:var(--edge)}\n"
    ".brim .loose{fill:none;stroke:#b9c4d0;stroke:var(--edge);stroke-dasharray:5 4}\n"
    ".brim .switch{fill:#dde5ee;fill:var(--switch);stroke:#b9c4d0;stroke:var(--edge)}\n"
    ".brim .box{fill:#ffffff;fill:var(--box);stroke:#b9c4d0;stroke:var(--edge)}\n"
    ".brim .acc{fill:#2f7d4f;fill:var(--acc)}.brim .nic{fill:#2563a8;fill:var(--nic)}\n"
    ".brim .nvme{fill:#7a5ba8;fill:var(--nvme)}.brim .amber{fill:#9a6200;fill:var(--note)}\n"
    ".brim .slate{fill:#7b8a9c;fill:var(--line)}\n"
    ".brim .fabric{fill:#d9efe1;fill:var(--fabric);stroke:#2f7d4f;stroke:var(--acc)}\n"
    ".brim .link{stroke:#7b8a9c;stroke:var(--line);fill:none}\n"
    ".brim .bad{stroke:#c8202c;stroke:var(--bad);fill:none}\n"
    ".brim .nv{stroke:#2f7d4f;stroke:var(--acc);fill:none}\n"
    "</style>\n";

void svg_begin(struct str *out, double height, const char *title)
{
    str_addf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"brim\" role=\"img\" width=\"%d\""
             " height=\"%.0f\" viewBox=\"0 0 %d %.0f\">\n<title>",
             SVG_WIDTH, height, SVG_WIDTH, height);
    text_add_xml(out, title);
    str_add(out, "</title>\n");
    str_add(out, style);
    svg_rect(out, "bg", (struct svg_box){ 0, 0, SVG_WIDTH, height });
}

void svg_end(struct str *out)
{
    str_add(out, "</svg>\n");
}

void svg_rect(struct str *out, const char *class, struct svg_box b)
{
    str_addf(
        out,
        "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\"/>\n",
        class, b.x, b.y, b.w, b.h, b.w > 12 && b.w < SVG_WIDTH ? 4 : 0);
}

void svg_line(struct str *out, const char *class, struct svg_box b, double stroke)
{
    str_addf(out,
             "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\""
             " stroke-width=\"%.1f\"/>\n",
             class, b.x, b.y, b.x + b.w, b.y + b.h, stroke);
}

/* A glyph's mean width in pixels, by class: font sizes as in the style sheet, times what was
 * measured of DejaVu Sans, the widest of the fonts named there (0.56 em, bold 0.64 em). */
static double glyph_width(const char *class)
{
    static const struct {
        const char *class;
        double px;
    } widths[] = {
        { "t1", 22 * 0.64 },    { "t2", 13 * 0.56 },   { "name", 12 * 0.64 }, { "dim", 11 * 0.56 },
        { "label", 10 * 0.56 }, { "warn", 10 * 0.64 }, { "hint", 10 * 0.56 }, { "fab", 11 * 0.64 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
        if (!strncmp(class, widths[i].class, strlen(widths[i].class)))
            return widths[i].px;
    return 11 * 0.64;
}

static void add_text(struct str *out, const char *class, const char *text, double room)
{
    CLEANUP(str_done) struct str clipped = STR_INIT(4096);

    text_add_clipped(&clipped, text, room > 0 ? (size_t)(room / glyph_width(class)) : 0);
    str_fail(out, str_error(&clipped));
    text_add_xml(out, str_text(&clipped));
    str_add(out, "</text>\n");
}

void svg_text(struct str *out, const char *class, struct svg_box b, const char *text)
{
    str_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, b.x, b.y);
    add_text(out, class, text, b.w);
}

void svg_text_up(struct str *out, const char *class, struct svg_box b, const char *text)
{
    str_addf(out,
             "<text class=\"%s mid\" x=\"%.1f\" y=\"%.1f\" transform=\"rotate(-90 %.1f %.1f)\">",
             class, b.x, b.y, b.x, b.y);
    add_text(out, class, text, b.h);
}

double svg_stroke(double gbs)
{
    double stroke = gbs > 0 ? gbs * 7 / 63 : 1;

    return MIN(MAX(stroke, 1.0), 9.0);
}
