/* The table of ranks. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/str.h"
#include "model/signal/quantity.h"
#include "render/report/report_private.h"
#include "render/report/stats.h"

/* More ranks than that nobody reads one by one. */
enum { ROWS = 64 };

static void add_cell(struct report *p, bool known, const char *text)
{
    str_addf(p->out, "<td class=\"n\">%s</td>", known ? text : "-");
}

/* Shares by stage of the rank's own total. */
static void add_shares(struct report *p, const struct run_rank *k)
{
    double sum = 0;

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        if (k->total.host_s[i] > 0 && isfinite(k->total.host_s[i]))
            sum += k->total.host_s[i];
    for (unsigned i = 0; i < BRIM_STAGES; i++) {
        double share = k->total.host_s[report_stage_at(i)] / sum;

        add_cell(p, sum > 0 && isfinite(share), quantity_share(share).text);
    }
}

static void add_rank(struct report *p, const struct run_rank *k, const struct step_stats *s)
{
    if (k->rank >= 0)
        str_addf(p->out, "<tr><th scope=\"row\" class=\"n\">%d</th><td class=\"host\">", k->rank);
    else
        str_add(p->out, "<tr><th scope=\"row\" class=\"n\">?</th><td class=\"host\">");
    report_text(p, k->host, 40);
    str_add(p->out, "</td>");
    add_cell(p, s->steps > 0, quantity_count(s->steps).text);
    add_cell(p, isfinite(s->median_s), quantity_seconds(s->median_s).text);
    add_cell(p, isfinite(s->p90_s), quantity_seconds(s->p90_s).text);
    add_shares(p, k);
    add_cell(p, isfinite(s->samples_per_s), quantity_count(s->samples_per_s).text);
    str_add(p->out, "</tr>\n");
}

static void add_rows(struct report *p)
{
    CLEANUP(freep) const struct run_rank **ranks = stats_ranks(p->run);
    int rc = ranks ? 0 : -ENOMEM;

    for (size_t i = 0; i < p->run->n_ranks && rc == 0; i++) {
        struct step_stats s;

        rc = step_stats_rank(ranks[i], &s);
        if (rc == 0)
            add_rank(p, ranks[i], &s);
    }
    str_fail(p->out, rc);
}

void report_rank_table(struct report *p)
{
    if (p->run->n_ranks < 2)
        return;
    report_section(p, "Ranks");
    if (p->run->n_ranks > ROWS) {
        str_addf(p->out,
                 "<p class=\"absent\">The table is left out for %zu ranks: it is for %d.</p>\n",
                 p->run->n_ranks, ROWS);
        report_section_end(p);
        return;
    }
    str_add(p->out,
            "<div class=\"scroll\" tabindex=\"0\"><table>\n<caption>Step times, and the share of "
            "each stage "
            "in a rank&apos;s own time; - is not known</caption>\n<thead><tr><th scope=\"col\""
            " class=\"n\">rank</th><th scope=\"col\">host</th><th scope=\"col\" class=\"n\">"
            "steps</th><th scope=\"col\" class=\"n\">median</th>"
            "<th scope=\"col\" class=\"n\">90 %</th>");
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        str_addf(p->out, "<th scope=\"col\" class=\"n\">%s</th>",
                 step_stage_name(report_stage_at(i)));
    str_add(p->out, "<th scope=\"col\" class=\"n\">samples/s</th></tr></thead>\n<tbody>\n");
    add_rows(p);
    str_add(p->out, "</tbody></table></div>\n");
    report_section_end(p);
}
