/* Which lines of the job's Python take the time, and which of them a cause is about. */
#include <stdio.h>
#include <string.h>

#include "diagnose/verdict/judge_private.h"

enum { TEXT_MAX = 512 };

/* As a user knows it: below the folder in which the job was started, else its name alone. */
static const char *shown(const struct judge *j, const char *file)
{
    const char *folder = j->r->folder, *slash = strrchr(file, '/');
    size_t len = folder ? strlen(folder) : 0;

    if (len > 1 && !strncmp(file, folder, len) && file[len] == '/')
        return file + len + 1;
    return slash && slash[1] ? slash + 1 : file;
}

static const char *keep(struct judge *j, const char *text)
{
    const char *kept = arena_strdup(&j->v->arena, text);

    if (!kept)
        j->v->no_memory = true;
    return kept ? kept : "";
}

/* "train.py:142", "train.py:140-147". */
static void say_place(struct judge *j, const struct lines_found *f, char text[TEXT_MAX])
{
    int n = snprintf(text, TEXT_MAX, "%s", shown(j, f->at->file));

    if (f->last > f->first)
        snprintf(text + n, TEXT_MAX - (size_t)n, ":%d-%d", f->first, f->last);
    else if (f->first > 0)
        snprintf(text + n, TEXT_MAX - (size_t)n, ":%d", f->first);
}

static void add_line(struct judge *j, unsigned stage, double share, const struct lines_found *f)
{
    const char *function = f->at->function;
    bool in = *function && strcmp(function, "<module>") != 0, calls = *f->callee;
    struct verdict_line *to = ARENA_PUSH(&j->v->arena, &j->v->lines, &j->v->n_lines);
    char text[TEXT_MAX];

    if (!to) {
        j->v->no_memory = true;
        return;
    }
    *to = (struct verdict_line){ .stage = stage,
                                 .first = f->first,
                                 .last = f->last,
                                 .share = share,
                                 .of_stage = f->share,
                                 .least = f->least,
                                 .samples = f->samples };
    say_place(j, f, text);
    to->place = keep(j, text);
    snprintf(text, sizeof(text), "%s%s%s%s%s%s", to->place, in ? " in " : "", in ? function : "",
             calls ? " (" : "", f->callee, calls ? ")" : "");
    to->text = keep(j, text);
    to->file = keep(j, f->at->file);
    to->function = keep(j, function);
    to->callee = keep(j, f->callee);
}

/* A call of the loader alone does not tell what the loader does. */
static bool is_loader(const struct lines_found *f)
{
    static const char loader[] = "torch.utils.data.dataloader.";

    return !strncmp(f->callee, loader, sizeof(loader) - 1);
}

/* Of all time, the share that a stage of the table takes: as marks tell, else by samples of ranks.
 * What workers do takes what is waited for them. */
static double share_of(const struct judge *j, unsigned stage)
{
    unsigned of = stage == LINES_WORKER ? BRIM_STAGE_WAIT : stage;
    double all = 0;

    if (stage == LINES_THREAD)
        return (double)NAN;
    if (j->marked)
        return j->v->share[of];
    for (unsigned s = 0; s < BRIM_STAGES; s++)
        all += j->r->lines->total[s];
    return all > 0 ? j->r->lines->total[of] / all : 0;
}

void judge_find_lines(struct judge *j)
{
    const struct lines *l = j->r->lines;
    struct verdict *v = j->v;
    struct lines_found f;
    bool workers;

    if (!l)
        return;
    v->lines_off = l->off[0] ? keep(j, l->off) : NULL;
    workers = lines_find(l, LINES_WORKER, &f);
    for (unsigned s = 0; s < LINES_STAGES; s++)
        if (!(workers && s == BRIM_STAGE_WAIT) && lines_find(l, s, &f) && !is_loader(&f))
            add_line(j, s, share_of(j, s) * f.share, &f);
    for (size_t i = 1; i < v->n_lines; i++)
        for (size_t k = i; k > 0 && v->lines[k].share > v->lines[k - 1].share; k--) {
            struct verdict_line swap = v->lines[k];

            v->lines[k] = v->lines[k - 1];
            v->lines[k - 1] = swap;
        }
}

/* Without marks a stage is what the calls say, and what waits is in none that computes. */
static bool is_of(const struct judge *j, const struct verdict_line *l, unsigned stage)
{
    bool computes = l->stage == BRIM_STAGE_FORWARD || l->stage == BRIM_STAGE_BACKWARD ||
                    l->stage == BRIM_STAGE_OPTIMIZER || l->stage == LINES_THREAD;

    if (!j->marked)
        return !computes;
    return l->stage == stage || (stage == BRIM_STAGE_WAIT && l->stage == LINES_WORKER);
}

const struct verdict_line *judge_line(const struct judge *j, unsigned stage)
{
    for (size_t i = 0; i < j->v->n_lines; i++)
        if (is_of(j, &j->v->lines[i], stage))
            return &j->v->lines[i];
    return NULL;
}

void judge_at(struct judge *j, struct verdict_item *to, unsigned stage)
{
    const struct verdict_line *l = judge_line(j, stage);
    const char *was = to->sentence;

    if (!l || to->line)
        return;
    to->line = l;
    if (j->marked)
        judge_says(j, to, "%s, %s of it at %s", was, quantity_share(l->of_stage).text, l->text);
    else
        judge_says(j, to, "%s; %s of the time at %s", was, quantity_share(l->share).text, l->text);
}

void judge_tells_line(struct judge *j, struct verdict_item *to, unsigned stage)
{
    const struct verdict_line *l = judge_line(j, stage);

    if (!l)
        return;
    to->line = l;
    judge_tells(j, to, "%s of '%s' is at %s", quantity_share(l->of_stage).text,
                step_stage_name(stage), l->text);
}

void judge_locate(struct judge *j)
{
    for (size_t i = 0; i < j->v->count; i++) {
        struct verdict_item *k = &j->v->items[i];

        switch (k->cause) {
        case CAUSE_STORAGE_BANDWIDTH:
        case CAUSE_STORAGE_LATENCY:
        case CAUSE_SMALL_FILES:
        case CAUSE_LOADER_CPU:
        case CAUSE_LOADER_WAITS:
            judge_at(j, k, BRIM_STAGE_WAIT);
            break;
        case CAUSE_PAGEABLE_COPY:
            judge_at(j, k, BRIM_STAGE_COPY);
            break;
        case CAUSE_CHECKPOINT:
            judge_at(j, k, BRIM_STAGE_CHECKPOINT);
            break;
        default:
            break;
        }
    }
}
