/* How brim plan train says what it found. */
#ifndef BRIM_CMD_PLAN_TRAIN_H
#define BRIM_CMD_PLAN_TRAIN_H
#include "cmd/plan/search.h"

struct plan_train {
    const struct app *app;
    const struct plan_opts *opts;
    const struct plan_ask *ask;
    const struct plan_found *found; /* of which one fits at least */
    bool forced;                    /* no layout has all GPUs: those that leave some idle */
};

/* The answer in a sentence, the table of the best, and what was asked for besides. */
void plan_train_text(const struct plan_train *t, struct str *out);
void plan_train_json(const struct plan_train *t, struct str *out);

/* A table with a line for each; the first is the measure of the others. */
void plan_table(const struct plan_train *t, const struct found_layout *list, size_t n,
                struct str *out);

/* What a budget of tokens takes with such a step: days, and the cost; NaN where it is not known. */
double plan_days(const struct plan_ask *a, double time_s);
double plan_cost(const struct plan_ask *a, double time_s, int gpus);

/* "4.93 s", "612 ms"; "1,234,567" */
struct plan_figure {
    char text[32];
};
struct plan_figure plan_seconds(double seconds);
struct plan_figure plan_thousands(double count);

/* The parts of struct memory that sum up to its total: name, what it is, bytes. false: no more. */
struct plan_memory_part {
    const char *name, *why;
    double bytes;
};
bool plan_memory_part(const struct memory *m, const struct plan_job *job, size_t i,
                      struct plan_memory_part *ret);

/* --compare: layouts beside each other, part by part; --why: one against the fastest. The words are
 * parts of layouts, of which the fastest that has them is taken. 0 or a negative errno with a
 * sentence. (layouts.c) */
int plan_compare(const struct plan_train *t, char *const *more, struct str *out, struct err *e)
    CHECK_RESULT;
int plan_why(const struct plan_train *t, struct str *out, struct err *e) CHECK_RESULT;

/* --emit: the fastest layout that a program can be told, as brim plan emit writes it. 0, or -EINVAL
 * with a sentence when it can do none of those that were kept. (emit.c) */
int plan_emit_best(const struct plan_train *t, struct str *out, struct err *e) CHECK_RESULT;

/* --svg: memory of every stage, the step by parts, and the pipeline. (svg.c) */
void plan_svg(const struct plan_train *t, struct str *out);

#endif
