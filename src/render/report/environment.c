/* Where and how the run ran: tables of facts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "model/job/slurm_job.h"
#include "model/signal/quantity.h"
#include "render/report/report_private.h"
#include "render/report/stats.h"

enum { ROWS = 120 };

static void begin_table(struct report *p, const char *caption)
{
    str_addf(
        p->out,
        "<div class=\"scroll facts\" tabindex=\"0\"><table>\n<caption>%s</caption>\n<thead><tr>"
        "<th scope=\"col\">name</th><th scope=\"col\">value</th></tr></thead>\n<tbody>\n",
        caption);
}

static void end_table(struct report *p, size_t left_out)
{
    if (left_out)
        str_addf(p->out, "<tr><td colspan=\"2\" class=\"dim\">%zu more are not shown</td></tr>\n",
                 left_out);
    str_add(p->out, "</tbody></table></div>\n");
}

static void add_begin(struct report *p)
{
    CLEANUP(str_done) struct str text = STR_INIT(64);

    if (p->run->begin_ns > 0)
        clock_add_iso(&text, p->run->begin_ns);
    str_fail(p->out, str_error(&text));
    report_row(p, "began", str_text(&text));
}

/* A fact that moments tell; those that were not measured are left out. */
static void add_measured(struct report *p, const char *name, enum run_signal s,
                         struct quantity (*say)(double))
{
    double value = stats_signal(p->run, s);

    if (isfinite(value))
        report_row(p, name, say(value).text);
}

static void add_run(struct report *p)
{
    const struct run *r = p->run;
    struct slurm_job slurm;

    begin_table(p, "The run");
    report_row(p, "command", r->command);
    report_row(p, "folder", r->folder);
    report_row(p, "user", r->user);
    report_row(p, "host", r->host);
    if (slurm_job_of(r, &slurm))
        report_row(p, "job of Slurm", slurm_job_say(&slurm).text);
    add_begin(p);
    if (r->n_ranks)
        report_row(p, "framework", r->ranks[0].framework);
    add_measured(p, "CPUs", RUN_CPUS, quantity_count);
    add_measured(p, "memory", RUN_MEMORY_TOTAL, quantity_bytes);
    add_measured(p, "the job's accelerators", RUN_GPUS, quantity_count);
    add_measured(p, "limit of its cgroup, CPUs", RUN_JOB_CPU_LIMIT, quantity_count);
    add_measured(p, "limit of its cgroup, memory", RUN_JOB_MEMORY_LIMIT, quantity_bytes);
    end_table(p, 0);
}

static void add_environment(struct report *p)
{
    const struct run *r = p->run;
    size_t shown = MIN(r->n_environment, (size_t)ROWS);

    if (!r->n_environment) {
        report_absent(p, "Versions and settings were not recorded.");
        return;
    }
    begin_table(p, "Versions, settings and machine");
    for (size_t i = 0; i < shown; i++)
        report_row(p, r->environment[i].name, r->environment[i].value);
    end_table(p, r->n_environment - shown);
}

/* Whether a note is the last one of its name: the others do not count. */
static bool counts(const struct run_rank *k, size_t i)
{
    return k->notes[i].name && run_note(k, k->notes[i].name) == k->notes[i].value;
}

static void add_notes(struct report *p)
{
    const struct run_rank *k = p->run->n_ranks ? &p->run->ranks[0] : NULL;
    size_t shown = 0, left_out = 0;

    if (!k || !k->n_notes)
        return;
    begin_table(p, "What the first rank told of itself");
    for (size_t i = 0; i < k->n_notes; i++) {
        if (!counts(k, i))
            continue;
        if (shown == ROWS) {
            left_out++;
            continue;
        }
        report_row(p, k->notes[i].name, k->notes[i].value);
        shown++;
    }
    end_table(p, left_out);
}

void report_environment(struct report *p)
{
    report_section(p, "Machine and environment");
    add_run(p);
    add_environment(p);
    add_notes(p);
    report_section_end(p);
}
