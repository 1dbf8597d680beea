#include "render/report/sim_bars.h"

#include <math.h>

#include "render/text.h"

static void add_cell(double share, const char *value, struct str *out)
{
    str_add(out, "<td><div><span class=\"bar\">");
    if (!isnan(share))
        str_addf(out, "<i style=\"width:%.1f%%\"></i>", fmin(fmax(share, 0), 1) * 100);
    str_add(out, "</span><span>");
    text_add_xml(out, value);
    str_add(out, "</span></div></td>");
}

static void add_row(const struct sim_page_bars *b, const struct sim_page_bar_row *row,
                    struct str *out)
{
    str_addf(out, "<tr class=\"%s%s\"><th scope=\"row\">", row->oracle ? "oracle " : "",
             row->then ? "then" : "now");
    text_add_xml(out, row->name);
    str_add(out, "</th>");
    for (size_t i = 0; i < b->n_columns; i++)
        add_cell(row->shares[i], row->values[i], out);
    str_add(out, "</tr>\n");
}

/* Of the marks that there are. */
static void add_legend(const struct sim_page_bars *b, struct str *out)
{
    bool oracles = false;

    for (size_t i = 0; i < b->n_rows; i++)
        oracles |= b->rows[i].oracle;
    if (!oracles && !b->then)
        return;
    str_add(out, "<ul class=\"legend\">\n");
    if (oracles)
        str_add(out, "<li class=\"oracle\"><i></i>is told true lengths, which nobody has</li>\n");
    if (b->then) {
        str_add(out, "<li class=\"then\"><i></i>");
        text_add_xml(out, b->then);
        str_add(out, "</li>\n");
    }
    str_add(out, "</ul>\n");
}

void sim_page_bars(const struct sim_page_bars *b, struct str *out)
{
    if (b->n_rows == 0)
        return;
    str_add(out, "<figure class=\"bars\"><figcaption><b>All in one picture</b> <span>the mean time "
                 "from submission to end, and shares of all devices up to the last submission"
                 "</span></figcaption>\n<table><thead><tr><th scope=\"col\">policy</th>");
    for (size_t i = 0; i < b->n_columns; i++) {
        str_add(out, "<th scope=\"col\">");
        text_add_xml(out, b->head[i]);
        str_add(out, "</th>");
    }
    str_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < b->n_rows; i++)
        add_row(b, &b->rows[i], out);
    str_add(out, "</tbody></table>\n");
    add_legend(b, out);
    str_add(out, "</figure>\n");
}
