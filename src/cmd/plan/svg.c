/* The drawing of a plan: memory by stage, the step by parts, the pipeline's schedule. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "cmd/plan/train.h"
#include "render/machine/svg_shapes.h"

enum {
    MARGIN = 24,
    LABEL = 150,
    WIDTH = SVG_WIDTH - 2 * MARGIN - LABEL - 90,
    ROW = 22,
    STAGES_SHOWN = 32,
    CLASSES = 7
};

/* Fills of the style sheet, one for each part of memory; and those that it lacks. All stand out
 * from the ground, in the light and in the dark. */
static const char *const fills[CLASSES] = {
    "acc", "nic", "nvme", "amber", "teal", "pink", "slate"
};
static const char more_fills[] =
    "<style>\n"
    ".brim .teal{fill:#0f8080}.brim .pink{fill:#b0508f}\n"
    "@media (prefers-color-scheme:dark){.brim .teal{fill:#3cc4c4}.brim .pink{fill:#e58cc5}}\n"
    "</style>\n";

/* Kinds of parts of a step, whose colours its legend says. */
static const char *const kinds[] = { "compute", "between GPUs", "waiting" };

static size_t kind_of(enum step_part p)
{
    if (p == PART_BUBBLE || p == PART_STRAGGLERS || p == PART_LAUNCH)
        return 2;
    return p >= PART_TP && p != PART_OPTIMIZER ? 1 : 0;
}

struct drawing {
    const struct plan_train *t;
    const struct plan_one *best;
    struct str *out;
    double y;
};

static void heading(struct drawing *d, const char *text)
{
    d->y += 34;
    svg_text(d->out, "t2", (struct svg_box){ MARGIN, d->y, SVG_WIDTH - 2 * MARGIN }, text);
    d->y += 10;
}

static void legend(struct drawing *d, const char *const *names, const bool *shown, size_t n)
{
    double x = MARGIN;

    for (size_t i = 0; i < n; i++) {
        if (shown && !shown[i])
            continue;
        svg_rect(d->out, fills[i % CLASSES], (struct svg_box){ x, d->y + 6, 10, 10 });
        svg_text(d->out, "dim", (struct svg_box){ x + 14, d->y + 15, 150 }, names[i]);
        x += 34 + 6.4 * (double)strlen(names[i]);
        if (x > SVG_WIDTH - 200) {
            x = MARGIN;
            d->y += 16;
        }
    }
    d->y += 24;
}

/* ---- memory ---- */

static void draw_stage(struct drawing *d, int stage, double top)
{
    double room = d->t->ask->cluster.gpu.memory_b, x = MARGIN + LABEL;
    struct plan_memory_part part;
    struct memory m;
    char text[64];

    memory_stage(&d->t->ask->job, &d->best->layout, &d->best->tables.bytes, stage, &m);
    snprintf(text, sizeof(text), "stage %d, %d layers", stage,
             layout_layers(&d->best->layout, d->t->ask->job.shape.layers, stage));
    svg_text(d->out, "dim", (struct svg_box){ MARGIN, d->y + 14, LABEL - 4 }, text);
    for (size_t i = 0; plan_memory_part(&m, &d->t->ask->job, i, &part); i++) {
        double w = part.bytes / top * WIDTH;

        if (w > 0)
            svg_rect(d->out, fills[i % CLASSES], (struct svg_box){ x, d->y + 2, w, ROW - 6 });
        x += w;
    }
    snprintf(text, sizeof(text), "%.1f GB", m.total / 1e9);
    svg_text(d->out, "dim", (struct svg_box){ x + 6, d->y + 14, 80 }, text);
    x = MARGIN + LABEL + room / top * WIDTH;
    svg_line(d->out, "bad", (struct svg_box){ x, d->y, 0, ROW }, 1);
    d->y += ROW;
}

static void draw_memory(struct drawing *d)
{
    const char *names[16];
    bool shown[16];
    struct plan_memory_part part;
    int pp = d->best->layout.pp;
    size_t n = 0;
    char text[96];

    snprintf(text, sizeof(text), "Memory of a GPU by stage; the line is its %.0f GB",
             d->t->ask->cluster.gpu.memory_b / 1e9);
    heading(d, text);
    for (; n < ARRAY_SIZE(names) && plan_memory_part(&d->best->memory, &d->t->ask->job, n, &part);
         n++) {
        names[n] = part.name;
        shown[n] = part.bytes > 0;
    }
    legend(d, names, shown, n);
    for (int i = 0; i < MIN(pp, STAGES_SHOWN); i++)
        draw_stage(d, i, fmax(d->t->ask->cluster.gpu.memory_b, d->best->memory.total));
    if (pp > STAGES_SHOWN) {
        snprintf(text, sizeof(text), "and %d more stages", pp - STAGES_SHOWN);
        svg_text(d->out, "dim", (struct svg_box){ MARGIN, d->y + 14, 300 }, text);
        d->y += ROW;
    }
}

/* ---- the step ---- */

static void draw_step(struct drawing *d)
{
    const struct plan_step *s = &d->best->step;
    double top = 0;
    char text[96];

    snprintf(text, sizeof(text), "The %s of a step by parts", plan_seconds(s->time_s).text);
    heading(d, text);
    legend(d, kinds, NULL, ARRAY_SIZE(kinds));
    for (int p = 0; p < PARTS; p++)
        top = fmax(top, s->part[p]);
    for (int p = 0; p < PARTS; p++) {
        double w = s->part[p] / top * WIDTH;

        if (!(s->part[p] > 0))
            continue;
        svg_text(d->out, "dim", (struct svg_box){ MARGIN, d->y + 14, LABEL - 4 },
                 step_part_name((enum step_part)p));
        svg_rect(d->out, fills[kind_of((enum step_part)p)],
                 (struct svg_box){ MARGIN + LABEL, d->y + 2, fmax(w, 1), ROW - 6 });
        snprintf(text, sizeof(text), "%s", plan_seconds(s->part[p]).text);
        svg_text(d->out, "dim", (struct svg_box){ MARGIN + LABEL + w + 6, d->y + 14, 80 }, text);
        d->y += ROW;
    }
}

/* ---- the pipeline ---- */

enum { MICRO_SHOWN = 16, PIPE_STAGES = 16 };

/* Forward and backward of a stage's layers, and embedding and head where they are. */
static void stage_times(const struct drawing *d, int stage, double time[2])
{
    const struct layer_costs *c = &d->best->tables.costs;
    double dense, experts;

    memory_stage_layers(&d->t->ask->job, &d->best->layout, stage, &dense, &experts);
    time[0] = dense * c->dense.forward + experts * c->expert.forward;
    time[1] = dense * c->dense.backward + experts * c->expert.backward;
    if (stage == 0) {
        time[0] += c->embedding.forward;
        time[1] += c->embedding.backward;
    }
    if (stage == d->best->layout.pp - 1) {
        time[0] += c->head.forward;
        time[1] += c->head.backward;
    }
}

/* When each stage has done forward (0) and backward (1) of each micro-batch, with one forward and
 * one backward by turns once its pipeline is full; plain 1F1B, whatever the chunks. */
struct pipe {
    int stages, micro;
    double time[PIPE_STAGES][2];
    double end[PIPE_STAGES][MICRO_SHOWN][2];
    double free_at[PIPE_STAGES];
    int done[PIPE_STAGES][2];
};

/* Which of both a stage does next: as many forward as there are stages behind it, then by turns. */
static int next_kind(const struct pipe *p, int i)
{
    int warm = MIN(p->stages - i, p->micro);

    return p->done[i][0] < p->micro && p->done[i][0] - p->done[i][1] < warm ? 0 : 1;
}

/* Let a stage do one thing when its input is there. */
static bool advance(struct pipe *p, int i)
{
    int kind = next_kind(p, i), k = p->done[i][kind];
    bool last = i == p->stages - 1;
    double ready = 0;

    if (k >= p->micro)
        return false;
    if (kind == 0 && i > 0) {
        if (p->done[i - 1][0] <= k)
            return false;
        ready = p->end[i - 1][k][0];
    } else if (kind == 1 && !last) {
        if (p->done[i + 1][1] <= k)
            return false;
        ready = p->end[i + 1][k][1];
    }
    p->free_at[i] = fmax(p->free_at[i], ready) + p->time[i][kind];
    p->end[i][k][kind] = p->free_at[i];
    p->done[i][kind]++;
    return true;
}

static void run_pipe(struct pipe *p)
{
    bool moved = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < p->stages; i++)
            while (advance(p, i))
                moved = true;
    }
}

static void draw_pipe(struct drawing *d, const struct pipe *p, const int *stage, double length)
{
    char text[32];

    for (int i = 0; i < p->stages; i++) {
        snprintf(text, sizeof(text), "stage %d", stage[i]);
        svg_text(d->out, "dim", (struct svg_box){ MARGIN, d->y + 14, LABEL - 4 }, text);
        for (int k = 0; k < p->micro; k++)
            for (int kind = 0; kind < 2; kind++) {
                double w = p->time[i][kind] / length * WIDTH;
                double x = MARGIN + LABEL + p->end[i][k][kind] / length * WIDTH - w;

                svg_rect(d->out, kind ? "nic" : "acc",
                         (struct svg_box){ x, d->y + 2, fmax(w - 1, .5), ROW - 6 });
            }
        d->y += ROW;
    }
}

static void draw_schedule(struct drawing *d)
{
    static const char *const names[] = { "forward", "backward" };
    int pp = d->best->layout.pp, stage[PIPE_STAGES];
    struct pipe p = { .stages = MIN(pp, PIPE_STAGES) };
    double length = 0;
    char text[160];

    if (pp < 2)
        return;
    p.micro = MIN(d->best->step.micro_batches, MICRO_SHOWN);
    for (int i = 0; i < p.stages; i++) {
        stage[i] = i < p.stages - 1 ? i : pp - 1;
        stage_times(d, stage[i], p.time[i]);
    }
    run_pipe(&p);
    for (int i = 0; i < p.stages; i++)
        length = fmax(length, p.free_at[i]);
    snprintf(text, sizeof(text), "The pipeline: the first %d of %d micro-batches%s%s", p.micro,
             d->best->step.micro_batches, p.stages < pp ? ", the first stages and the last" : "",
             d->best->layout.vpp > 1 ? ", as if in one chunk" : "");
    heading(d, text);
    legend(d, names, NULL, ARRAY_SIZE(names));
    draw_pipe(d, &p, stage, length);
}

void plan_svg(const struct plan_train *t, struct str *out)
{
    CLEANUP(str_done) struct str body = STR_INIT(8 << 20), title = STR_INIT(1024);
    struct plan_one best;
    struct drawing d = { t, &best, &body, 40 };

    plan_one_make(t->ask, &t->found->search.best[0].layout, &best);
    str_addf(&title, "%s on %d %s: ", t->ask->job.shape.name, layout_gpus(&best.layout),
             t->ask->cluster.gpu.name);
    layout_words(&best.layout, &title);
    svg_text(&body, "name", (struct svg_box){ MARGIN, d.y, SVG_WIDTH - 2 * MARGIN },
             str_text(&title));
    draw_memory(&d);
    draw_step(&d);
    draw_schedule(&d);
    svg_begin(out, d.y + MARGIN, str_text(&title));
    str_add(out, more_fills);
    str_fail(out, str_error(&title));
    str_fail(out, str_error(&body));
    str_add(out, str_text(&body));
    svg_end(out);
}
