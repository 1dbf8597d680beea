/* The report of a run with any values and texts: the page is well-formed and no longer than it may
 * be. */
#include <math.h>

#include "fuzz.h"
#include "html_check.h"
#include "render/report/report.h"

struct bytes {
    const uint8_t *at, *end;
};

static uint8_t next(struct bytes *b)
{
    return b->at < b->end ? *b->at++ : 0;
}

static uint64_t next_bits(struct bytes *b)
{
    uint64_t bits = 0;

    for (size_t i = 0; i < sizeof(bits); i++)
        bits = bits << 8 | next(b);
    return bits;
}

/* Values of all kinds: absent, small, shares, large, not finite, any bits. */
static double value(struct bytes *b)
{
    uint8_t kind = next(b);
    uint64_t bits;
    double any;

    switch (kind % 8) {
    case 0:
        return (double)NAN;
    case 1:
        return kind / 8;
    case 2:
        return kind / 256.0;
    case 3:
        return kind * 1e8;
    case 4:
        return kind & 128 ? (double)INFINITY : -kind;
    case 5:
        bits = next_bits(b);
        memcpy(&any, &bits, sizeof(any));
        return any;
    default:
        return 0.5;
    }
}

/* Times go on by up to 16 s, and now and then anywhere. */
static int64_t after(struct bytes *b, int64_t before)
{
    uint8_t kind = next(b);
    uint64_t bits;
    int64_t any;

    if (kind < 250)
        return before < INT64_MAX / 2 && before > 0 ? before + (int64_t)kind * 62500000 : kind;
    bits = next_bits(b);
    memcpy(&any, &bits, sizeof(any));
    return any;
}

static const char *text(struct bytes *b, struct arena *a)
{
    size_t len = next(b), left = (size_t)(b->end - b->at);
    char *copy;

    if (len == 0)
        return NULL;
    len = MIN(len > 200 ? len * 50 : len / 4, left);
    copy = arena_strndup(a, (const char *)b->at, len);
    check(copy);
    b->at += len > 50 ? 50 : len; /* long texts are used again */
    return copy;
}

static const char *some_text(struct bytes *b, struct arena *a)
{
    const char *t = text(b, a);

    return t ? t : "";
}

static void fill_steps(struct run_rank *k, struct bytes *b, struct arena *a)
{
    int64_t at_ns = after(b, 0);

    k->n_steps = next(b) % 32;
    k->steps = arena_alloc(a, (k->n_steps + 1) * sizeof(*k->steps));
    check(k->steps);
    for (size_t i = 0; i < k->n_steps; i++) {
        struct step *s = &k->steps[i];

        s->begin_ns = at_ns;
        at_ns = s->end_ns = after(b, at_ns);
        for (unsigned stage = 0; stage < BRIM_STAGES; stage++) {
            s->host_s[stage] = value(b);
            k->total.host_s[stage] = value(b);
        }
    }
    k->total.number = next(b);
    k->total.samples = value(b);
    k->dropped = next(b) ? 0 : next_bits(b);
}

static void fill_notes(struct run_note **list, size_t *n, struct bytes *b, struct arena *a)
{
    for (int left = next(b) % 8; left > 0; left--) {
        struct run_note *note = ARENA_PUSH(a, list, n);

        check(note);
        note->name = some_text(b, a);
        note->value = text(b, a);
    }
}

static void fill_run(struct run *r, struct bytes *b)
{
    struct arena *a = &r->arena;
    const char **texts[] = { &r->id,   &r->name, &r->command, &r->folder,
                             &r->user, &r->host, &r->inferred };
    size_t n_ranks = next(b) < 250 ? next(b) % 4 : next(b), n_moments = next(b) % 16;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        *texts[i] = text(b, a);
    r->begin_ns = after(b, 0);
    r->end_ns = after(b, r->begin_ns);
    r->end = (enum run_end)(next(b) % (RUN_LOST + 1));
    r->status = (int)next_bits(b);
    r->inferred_confidence = value(b);
    for (size_t i = 0; i < n_ranks; i++) {
        struct run_rank *k = ARENA_PUSH(a, &r->ranks, &r->n_ranks);

        check(k);
        k->rank = next(b) - 2;
        k->host = text(b, a);
        k->framework = text(b, a);
        fill_steps(k, b, a);
        fill_notes(&k->notes, &k->n_notes, b, a);
    }
    for (size_t i = 0; i < n_moments; i++) {
        struct run_moment *m = ARENA_PUSH(a, &r->moments, &r->n_moments);

        check(m);
        m->wall_ns = after(b, i ? m[-1].wall_ns : 0);
        m->monotonic_ns = after(b, i ? m[-1].monotonic_ns : 0);
        m->seconds = value(b);
        for (size_t s = 0; s < RUN_SIGNALS; s++)
            m->values[s] = value(b);
    }
    fill_notes(&r->environment, &r->n_environment, b, a);
}

static void fill_verdict(struct verdict *v, struct bytes *b)
{
    v->sentence = text(b, &v->arena);
    v->steps_per_s = value(b);
    v->samples_per_s = value(b);
    v->step_s = value(b);
    v->step_p90_s = value(b);
    v->step_best_s = value(b);
    for (unsigned stage = 0; stage < BRIM_STAGES; stage++)
        v->share[stage] = value(b);
    for (int left = next(b) % 32; left > 0; left--) {
        struct verdict_item *item = ARENA_PUSH(&v->arena, &v->items, &v->count);

        check(item);
        item->cause = (enum cause)(next(b) % CAUSES);
        item->severity = (enum severity)(next(b) % (SEVERITY_CRITICAL + 1));
        item->share = value(b);
        item->gain = value(b);
        item->confidence = value(b);
        item->rank = next(b) - 1;
        item->sentence = text(b, &v->arena);
        item->evidence = text(b, &v->arena);
        item->action = text(b, &v->arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = { data, data + size };
    struct run r = { .id = NULL }, last = { .id = NULL };
    struct verdict v = { .count = 0 };
    struct str out = STR_INIT(4 << 20);

    fill_run(&r, &b);
    fill_verdict(&v, &b);
    fill_run(&last, &b);
    report_html(&r, &v, next(&b) & 1 ? &last : NULL, &out);
    check(str_error(&out) == 0);
    check(out.len <= REPORT_MAX);
    check(html_check(str_text(&out)) == NULL);
    str_done(&out);
    verdict_done(&v);
    run_done(&r);
    run_done(&last);
    return 0;
}
