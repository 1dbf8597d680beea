#include <errno.h>
#include <math.h>
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "diagnose/verdict/limits.h"
#include "fuzz.h"

enum { RANKS = 3, STEPS = 12, MOMENTS = 6 };

/* The bytes as numbers, again and again: any bits are a double. */
struct source {
    const uint8_t *data;
    size_t size, at;
};

static uint64_t take(struct source *s)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < 8 && s->size; i++)
        bits = bits << 8 | s->data[s->at++ % s->size];
    return bits;
}

static double take_number(struct source *s)
{
    uint64_t bits = take(s);
    double x;

    if (bits & 1) /* one that means something */
        return (double)(bits >> 40) / 8388608.0;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static void fill_rank(struct source *s, struct run_rank *r, struct step *steps)
{
    r->rank = (int)(take(s) & 7);
    r->world = (int)(take(s) & 7);
    r->steps = steps;
    r->n_steps = take(s) % (STEPS + 1);
    for (size_t i = 0; i < r->n_steps; i++) {
        steps[i].number = i + take(s) % 2;
        steps[i].begin_ns = (int64_t)(take(s) >> 16);
        steps[i].end_ns = (int64_t)(take(s) >> 16);
        steps[i].samples = take_number(s);
        steps[i].collective_b = take_number(s);
        steps[i].collective_s = take_number(s);
        for (int k = 0; k < BRIM_STAGES; k++)
            steps[i].host_s[k] = take_number(s);
    }
}

static void check_items(const struct verdict *v)
{
    check(v->count > 0 && v->sentence && *v->sentence);
    for (size_t i = 0; i < v->count; i++) {
        check(v->items[i].cause < CAUSES && v->items[i].sentence && v->items[i].evidence);
        check(v->items[i].confidence >= 0 && v->items[i].confidence <= 1);
        check(!(v->items[i].share > 1));
    }
}

/* Any numbers make a verdict. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const notes[] = { "loader 1: workers 4, pin no", "workers",
                                         "loader 1: workers ",
                                         "process: torch 1, threads 9, blas generic" };
    struct source s = { data, size, 0 };
    struct step steps[RANKS][STEPS] = { 0 };
    struct run_moment moments[MOMENTS] = { 0 };
    struct run_rank ranks[RANKS] = { 0 };
    struct run_note note[RANKS];
    struct run r = { .ranks = ranks, .moments = moments };
    struct verdict v = { .count = 0 };
    struct judge_limits l;
    struct err e;
    int rc = judge_limits_load(&l, "f", (const char *)data, size, &e);

    check(rc == 0 || rc == -EINVAL);
    r.n_ranks = take(&s) % (RANKS + 1);
    r.n_moments = take(&s) % (MOMENTS + 1);
    for (size_t i = 0; i < r.n_ranks; i++) {
        fill_rank(&s, &ranks[i], steps[i]);
        note[i] = (struct run_note){ "note.0", notes[take(&s) % ARRAY_SIZE(notes)] };
        ranks[i].notes = &note[i];
        ranks[i].n_notes = 1;
    }
    for (size_t i = 0; i < r.n_moments; i++) {
        moments[i].seconds = take_number(&s);
        moments[i].monotonic_ns = (int64_t)(take(&s) >> 16);
        for (int k = 0; k < RUN_SIGNALS; k++)
            moments[i].values[k] = take_number(&s);
    }
    check(judge_run(&r, take(&s) & 1 ? &r : NULL, &v) == 0);
    check_items(&v);
    verdict_done(&v);
    return 0;
}
