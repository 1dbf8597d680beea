#include "render/node/live_text.h"

#include <string.h>

#include "base/str.h"
#include "base/utf8.h"
#include "model/job/step.h"
#include "model/signal/quantity.h"
#include "render/node/page_private.h"

/* ---- the verdict ---- */

/* Write a text in as many lines as it takes, broken at blanks. */
static void add_paragraph(struct page *p, const char *label, const char *text, int ink)
{
    CLEANUP(str_done) struct str wrapped = STR_INIT(PAGE_LINE_MAX);
    size_t indent = strlen(label);
    const char *at;

    text_add_wrapped(&wrapped, text, indent, p->look->columns);
    str_fail(p->out, str_error(&wrapped));
    str_add(&p->line, label);
    for (at = str_text(&wrapped); *at;) {
        size_t len = strcspn(at, "\n");
        CLEANUP(str_done) struct str line = STR_INIT(PAGE_LINE_MAX);

        str_add_n(&line, at, len);
        str_fail(p->out, str_error(&line));
        page_add(p, str_text(&line), PAGE_LINE_MAX);
        page_end(p, ink);
        at += len + (at[len] == '\n');
    }
    if (p->line.len)
        page_end(p, ink);
}

static int ink_of(const struct live_verdict *v)
{
    if (v->severity == SEVERITY_CRITICAL)
        return INK_RED;
    return v->severity == SEVERITY_WARNING ? INK_YELLOW : INK_BOLD;
}

static void add_verdict(struct page *p, const struct live *l)
{
    const struct live_verdict *v = &l->verdict;

    add_paragraph(p, "", v->sentence, ink_of(v));
    if (v->waste[0])
        add_paragraph(p, "waste: ", v->waste, INK_PLAIN);
    if (v->action[0])
        add_paragraph(p, "do: ", v->action, INK_PLAIN);
}

/* ---- the pipeline ---- */

/* A bar of so many cells for a share, in eighths of a cell. */
static void add_bar(struct str *out, double share, unsigned cells, bool unicode)
{
    static const char *const eighths[] = { " ", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    unsigned filled = (unsigned)(MIN(share, 1.0) * 8 * cells + 0.5);

    for (unsigned i = 0; i < cells; i++, filled -= MIN(filled, 8U)) {
        if (!unicode)
            str_add_char(out, filled >= 4 ? '#' : '.');
        else
            str_add(out, filled >= 8 ? "█" : eighths[filled]);
    }
}

/* The boxes without colour take this many columns, bars not counted. */
enum { PIPELINE_WORDS = 64, BAR_MAX = 12 };

static void add_stage(struct page *p, const struct live *l, enum live_stage_id id, unsigned cells)
{
    const struct live_look *look = p->look;
    const struct live_stage *s = &l->stages[id];
    bool marked = l->verdict.bottleneck == id && l->verdict.state == LIVE_LIMIT;
    CLEANUP(str_done) struct str box = STR_INIT(PAGE_LINE_MAX);

    if (marked && !look->colour)
        str_add(&box, look->unicode ? "▶" : "*");
    str_add(&box, live_stage_name(id));
    str_add_char(&box, ' ');
    if (cells && !isnan(s->load)) {
        add_bar(&box, s->load, cells, look->unicode);
        str_add_char(&box, ' ');
    }
    if (isnan(s->load))
        str_add_char(&box, '-');
    else
        str_addf(&box, "%.0f%%", s->load * 100);
    str_fail(p->out, str_error(&box));
    if (marked)
        text_ink(p->out, look->colour, INK_RED, str_text(&box));
    else
        text_ink(p->out, look->colour && isnan(s->load), INK_DIM, str_text(&box));
}

/* Colours of single boxes leave no room for cutting the line: on a narrow terminal there are no
 * bars, and each stage has a line of its own where even that is too wide. */
static void add_pipeline(struct page *p, const struct live *l)
{
    unsigned columns = p->look->columns, cells = 0;
    bool narrow = columns < PIPELINE_WORDS;

    if (columns > PIPELINE_WORDS + 2 * LIVE_STAGES)
        cells = MIN((columns - PIPELINE_WORDS) / LIVE_STAGES - 1, (unsigned)BAR_MAX);
    for (int id = 0; id < LIVE_STAGES && p->left; id++) {
        add_stage(p, l, (enum live_stage_id)id, cells);
        if (id + 1 < LIVE_STAGES && !narrow) {
            str_add(p->out, p->look->unicode ? " → " : " > ");
        } else {
            str_add_char(p->out, '\n');
            p->left--;
        }
    }
}

/* "n1, 16 CPUs, load 3.2, memory 12 GB of 64 GB free, 12:33:05" */
static void add_host(struct page *p, const struct live *l, const struct live_extra *x)
{
    page_add(p, x->host ? x->host : "this node", 64);
    str_addf(&p->line, ": %s CPU%s %s busy", quantity_count(l->cpu.cores).text,
             str_plural(l->cpu.cores), quantity_share(l->cpu_mean).text);
    if (!isnan(l->cpu.load1))
        str_addf(&p->line, ", load %.1f", l->cpu.load1);
    if (!isnan(l->memory.total))
        str_addf(&p->line, ", memory %s of %s free", quantity_bytes(l->memory.available).text,
                 quantity_bytes(l->memory.total).text);
    if (l->memory.swap_used > 0)
        str_addf(&p->line, ", swap %s used", quantity_bytes(l->memory.swap_used).text);
    page_end(p, INK_DIM);
}

/* ---- tables ---- */

struct column {
    const char *head;
    size_t width; /* of words at the left; numbers have a blank before */
    bool word;
};

static void add_head(struct page *p, const struct column *columns, size_t n)
{
    page_end(p, INK_PLAIN);
    for (size_t i = 0; i < n; i++) {
        if (columns[i].word)
            page_word(p, columns[i].head, columns[i].width);
        else
            page_number(p, columns[i].head, columns[i].width);
    }
    page_end(p, INK_BOLD);
}

/* An absent value is a dash. */
static void add_cell(struct page *p, double value, struct quantity text, size_t width)
{
    page_number(p, isnan(value) ? "-" : text.text, width);
}

static void add_share(struct page *p, double value, size_t width)
{
    add_cell(p, value, quantity_share(value), width);
}

static void add_bytes(struct page *p, double value, size_t width)
{
    add_cell(p, value, quantity_bytes(value), width);
}

static void add_rate(struct page *p, double value, size_t width)
{
    add_cell(p, value, quantity_rate(value), width);
}

/* How wide the names of GPUs are, with a blank: "0" as "intel15". With the model they have 24. */
static size_t gpu_name_width(const struct live *l, size_t n)
{
    size_t widest = 4;

    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(l->gpus[i].gpu) + 1;

        widest = len > widest ? len : widest;
    }
    return widest < 9 ? widest : 9;
}

static void add_gpus(struct page *p, const struct live *l, size_t n)
{
    const size_t name = gpu_name_width(l, n), model = 24 - name;
    const struct column heads[] = {
        { "gpu", name, true },     { "model", model, true }, { "busy", 6, false },
        { "sm", 6, false },        { "memory", 9, false },   { "power", 6, false },
        { "temp", 5, false },      { "pcie in", 9, false },  { "pcie out", 9, false },
        { "slowed by", 9, false },
    };

    if (!n)
        return;
    add_head(p, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; i < n; i++) {
        const struct live_gpu *g = &l->gpus[i];
        const char *slowed = "";

        page_word(p, g->gpu, name);
        page_word(p, g->model, model);
        add_share(p, g->busy, 6);
        add_share(p, g->sm_active, 6);
        add_bytes(p, g->memory_used, 9);
        str_addf(&p->line, isnan(g->power) ? "      -" : " %4.0f W", g->power);
        str_addf(&p->line, isnan(g->temperature) ? "     -" : " %3.0f C", g->temperature);
        add_rate(p, g->pcie_rx, 9);
        add_rate(p, g->pcie_tx, 9);
        for (unsigned bit = 1; bit <= LIVE_THROTTLE_OTHER && !*slowed; bit *= 2)
            if (g->throttle & bit)
                slowed = live_throttle_name((enum live_throttle)bit);
        page_number(p, g->lost > 0 ? "LOST" : slowed, 9);
        page_end(p, g->lost > 0 ? INK_RED : INK_PLAIN);
    }
}

/* The order of n keys, the largest first; those that are absent last. */
static void order_by(const double *keys, size_t n, size_t *order)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = i;

        for (; k > 0 && keys[i] > (isnan(keys[order[k - 1]]) ? -1 : keys[order[k - 1]]); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void add_disks(struct page *p, const struct live *l, size_t n)
{
    static const struct column heads[] = {
        { "disk or mount", 24, true }, { "busy", 6, false },     { "read", 9, false },
        { "write", 9, false },         { "requests", 9, false }, { "each takes", 10, false },
    };

    double keys[LIVE_DISKS_MAX];
    size_t order[LIVE_DISKS_MAX], mounts;

    if (!n)
        return;
    mounts = MIN(l->n_nfs, MAX(n / 2, n - MIN(n, l->n_disks)));
    for (size_t i = 0; i < l->n_disks; i++)
        keys[i] = l->disks[i].busy;
    order_by(keys, l->n_disks, order);
    add_head(p, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; i < l->n_disks && i < n - mounts; i++) {
        const struct live_disk *d = &l->disks[order[i]];

        page_word(p, d->device, 24);
        add_share(p, d->busy, 6);
        add_rate(p, d->read, 9);
        add_rate(p, d->write, 9);
        add_cell(p, d->iops, quantity_count(d->iops), 9);
        add_cell(p, d->await, quantity_seconds(d->await), 10);
        page_end(p, INK_PLAIN);
    }
    for (size_t i = 0; i < mounts; i++) {
        const struct live_nfs *m = &l->nfs[i];

        page_word(p, m->mount, 24);
        page_number(p, "nfs", 6);
        add_rate(p, m->read, 9);
        add_rate(p, m->write, 9);
        add_cell(p, m->ops, quantity_count(m->ops), 9);
        add_cell(p, m->execute, quantity_seconds(m->execute), 10);
        page_end(p, INK_PLAIN);
    }
}

static void add_nets(struct page *p, const struct live *l, size_t n)
{
    static const struct column heads[] = {
        { "network", 24, true }, { "in", 9, false },   { "out", 9, false },
        { "link", 9, false },    { "lost", 6, false },
    };

    double keys[LIVE_NETS_MAX];
    size_t order[LIVE_NETS_MAX];

    if (!n)
        return;
    for (size_t i = 0; i < l->n_nets; i++)
        keys[i] = l->nets[i].rx + l->nets[i].tx;
    order_by(keys, l->n_nets, order);
    add_head(p, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; i < n; i++) {
        const struct live_net *e = &l->nets[order[i]];

        page_word(p, e->device, 24);
        add_rate(p, e->rx, 9);
        add_rate(p, e->tx, 9);
        add_rate(p, e->speed, 9);
        add_cell(p, e->errors + e->drops, quantity_count(e->errors + e->drops), 6);
        page_end(p, INK_PLAIN);
    }
}

static void add_processes(struct page *p, const struct live *l, size_t n)
{
    static const struct column heads[] = {
        { "pid", 9, true },     { "command", 18, true }, { "cpus", 6, false },
        { "read", 9, false },   { "write", 9, false },   { "io wait", 8, false },
        { "memory", 9, false }, { "threads", 8, false },
    };

    if (!n)
        return;
    add_head(p, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; i < n; i++) {
        const struct live_process *o = &l->processes[i];

        page_word(p, o->pid, 9);
        page_word(p, o->comm, 18);
        add_cell(p, o->cpu, quantity_count(o->cpu), 6);
        add_rate(p, o->read, 9);
        add_rate(p, o->write, 9);
        add_share(p, o->io_wait, 8);
        add_bytes(p, o->resident, 9);
        add_cell(p, o->threads, quantity_count(o->threads), 8);
        page_end(p, INK_PLAIN);
    }
}

/* "train.py of alice: 31.3 steps/s, wait 93 %": the stage that takes most beside it. */
static void add_run(struct page *p, const struct live_run *r)
{
    unsigned most = 0;

    for (unsigned i = 0; i < BRIM_STAGES; i++)
        if (isnan(r->split[most]) || r->split[i] > r->split[most])
            most = i;
    page_word(p, r->name, 24);
    page_word(p, r->user, 12);
    add_cell(p, r->steps_per_s, quantity_count(r->steps_per_s), 8);
    add_share(p, r->split[BRIM_STAGE_WAIT], 6);
    page_number(p, isnan(r->split[most]) ? "-" : step_stage_name(most), 14);
    page_end(p, INK_PLAIN);
}

/* A row for each run, and below it what limits it and what is on trial. */
static void add_runs(struct page *p, const struct live_extra *x, size_t n)
{
    static const struct column heads[] = {
        { "run", 24, true },   { "user", 12, true },       { "steps/s", 8, false },
        { "waits", 6, false }, { "most time", 14, false },
    };

    if (!n)
        return;
    add_head(p, heads, ARRAY_SIZE(heads));
    for (size_t i = 0; i < n; i++) {
        const struct live_run *r = &x->runs[i];
        const char *sentence = r->sentence[0] ? r->sentence : "nothing is known yet";

        add_run(p, r);
        str_add(&p->line, "  ");
        if (r->trying[0]) {
            str_add(&p->line, "tries ");
            page_add(p, r->trying, PAGE_LINE_MAX);
            str_add(&p->line, "; ");
        }
        page_add(p, sentence, PAGE_LINE_MAX);
        page_end(p, r->limited ? INK_YELLOW : INK_DIM);
    }
}

static void add_alerts(struct page *p, const struct live_extra *x, size_t n)
{
    if (n)
        page_end(p, INK_PLAIN);
    for (size_t i = 0; i < n; i++) {
        const struct live_alert *a = &x->alerts[i];

        page_add(p, a->severity, 10);
        str_add(&p->line, ": ");
        page_add(p, a->text, PAGE_LINE_MAX);
        page_end(p, !strcmp(a->severity, "critical") ? INK_RED : INK_YELLOW);
    }
}

/* ---- the page ---- */

/* Lines that each table gets. */
struct share_of_page {
    size_t gpus, disks, nets, processes, alerts, runs;
};

/* Take lines for a table of n rows, which has two lines above them: 'most' rows at most, and as
 * many as there is room for. */
static size_t take(size_t *left, size_t n, size_t most)
{
    size_t rows = MIN(n, most);

    if (!rows || *left < 3)
        return 0;
    rows = MIN(rows, *left - 2);
    *left -= rows + 2;
    return rows;
}

/* Alerts, runs and a few processes come first, then devices; processes get what is left. */
static struct share_of_page share_page(const struct live *l, const struct live_extra *x,
                                       size_t left)
{
    enum { PROCESSES_LEAST = 3, ALERTS_MOST = 4, DEVICES_MOST = 6, RUN_LINES_MOST = 8 };
    struct share_of_page s;

    s.alerts = take(&left, x->n_alerts, ALERTS_MOST);
    s.runs = take(&left, 2 * x->n_runs, RUN_LINES_MOST) / 2;
    s.gpus = take(&left, l->n_gpus, l->n_gpus);
    s.processes = take(&left, l->n_processes, PROCESSES_LEAST);
    s.disks = take(&left, l->n_disks + l->n_nfs, DEVICES_MOST);
    s.nets = take(&left, l->n_nets, DEVICES_MOST);
    if (s.processes)
        s.processes = MIN(l->n_processes, s.processes + left);
    return s;
}

void live_text(const struct live *l, const struct live_extra *x, const struct live_look *look,
               struct str *out)
{
    struct page p = { look, out, STR_INIT(PAGE_LINE_MAX), look->rows ? look->rows : 1000 };
    struct share_of_page s;

    if (look->footer && p.left)
        p.left--;
    add_verdict(&p, l);
    page_end(&p, INK_PLAIN);
    add_pipeline(&p, l);
    add_host(&p, l, x);
    s = share_page(l, x, p.left);
    add_runs(&p, x, s.runs);
    add_gpus(&p, l, s.gpus);
    add_disks(&p, l, s.disks);
    add_nets(&p, l, s.nets);
    add_processes(&p, l, s.processes);
    add_alerts(&p, x, s.alerts);
    if (look->footer) {
        p.left = 1;
        str_add(&p.line, look->footer);
        page_end(&p, INK_DIM);
    }
    str_done(&p.line);
}
