/* All policies in one picture, as text. */
#include <math.h>

#include "cmd/sim/beside.h"

enum { NAME_WIDTH = 19, VALUE_WIDTH = 10, CELLS = 20 };

/* What stands in the column, of all its width but in the last one. */
static void add_column(const char *value, double share, bool last, struct str *out)
{
    int filled = isnan(share) ? 0 : (int)lround(fmin(fmax(share, 0), 1) * CELLS);

    str_addf(out, " %*s", VALUE_WIDTH, value);
    if (filled || !last)
        str_add_char(out, ' ');
    str_fill(out, '#', filled);
    if (!last)
        str_fill(out, ' ', CELLS - filled);
}

static void add_row(const struct sim_report *r, const struct sim_beside *b, struct str *out)
{
    size_t n = sim_beside_columns(r);

    if (b->then)
        str_addf(out, "  %s", r->what_if);
    else
        str_addf(out, "%s%s", b->run->policy.name, sim_show_is_oracle(b->run) ? " *" : "");
    str_pad(out, NAME_WIDTH);
    for (size_t i = 0; i < n; i++)
        add_column(b->values[i].text, b->shares[i], i + 1 == n, out);
    str_add_char(out, '\n');
}

void sim_show_beside(const struct sim_report *r, struct str *out)
{
    size_t rows = sim_beside_rows(r), n = sim_beside_columns(r);
    bool oracles = false;

    if (rows == 0)
        return;
    str_add(out, "\npolicy");
    str_pad(out, NAME_WIDTH);
    for (size_t i = 0; i < n; i++)
        add_column(sim_beside_head(i), (double)NAN, i + 1 == n, out);
    str_add_char(out, '\n');
    for (size_t i = 0; i < rows; i++) {
        struct sim_beside b;

        sim_beside_row(r, i, &b);
        add_row(r, &b, out);
        oracles |= sim_show_is_oracle(b.run);
    }
    if (oracles)
        str_add(out, "* is told true lengths, which nobody has\n");
}
