#include "model/job/step.h"

#include <math.h>
#include <string.h>

static void add_told(double *sum, double value)
{
    *sum = isnan(*sum) ? value : *sum + value;
}

static void clear_step(struct step_track *t)
{
    uint64_t number = t->now.number;

    t->now = (struct step){ .number = number, .samples = (double)NAN, .loss = (double)NAN };
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        t->now.device_s[i] = (double)NAN;
    for (unsigned i = 0; i < t->n_sources; i++) {
        t->sources[i].wait_s = 0;
        t->sources[i].samples = (double)NAN;
    }
}

static void begin_step(struct step_track *t, int64_t at_ns)
{
    clear_step(t);
    t->now.begin_ns = at_ns;
    t->begun = true;
    t->last_ns = at_ns;
}

void step_track_init(struct step_track *t)
{
    memset(t, 0, sizeof(*t));
    clear_step(t);
}

void step_track_lost(struct step_track *t)
{
    t->begun = false;
    t->depth = 0;
    clear_step(t);
}

/* Source 0 is the only one and feeds; beyond STEP_SOURCES there is no telling apart: NULL, which
 * counts as feeding too. */
static struct step_source *find_source(struct step_track *t, unsigned id)
{
    struct step_source *s;

    if (id == 0)
        return NULL;
    for (unsigned i = 0; i < t->n_sources; i++)
        if (t->sources[i].id == id)
            return &t->sources[i];
    if (t->n_sources == STEP_SOURCES)
        return NULL;
    s = &t->sources[t->n_sources++];
    *s = (struct step_source){ .id = id, .samples = (double)NAN };
    return s;
}

/* Give the time since the last mark of the thread to the innermost stage. */
static void account(struct step_track *t, int64_t at_ns)
{
    double seconds = (double)(at_ns - t->last_ns) * 1e-9;
    struct step_source *source = NULL;
    unsigned stage = BRIM_STAGE_OTHER;

    if (at_ns <= t->last_ns)
        return;
    t->last_ns = at_ns;
    if (t->depth) {
        stage = t->open[t->depth - 1].stage;
        if (stage == BRIM_STAGE_WAIT)
            source = find_source(t, t->open[t->depth - 1].source);
    }
    if (source)
        source->wait_s += seconds;
    else
        t->now.host_s[stage] += seconds;
}

static void open_stage(struct step_track *t, const struct step_mark *m)
{
    t->now.backwards += m->stage == BRIM_STAGE_BACKWARD;
    if (t->depth == STEP_DEPTH)
        return;
    t->open[t->depth].stage = m->stage;
    t->open[t->depth++].source = m->source;
}

/* An end closes what was left open inside (an exception passed there); one without a begin,
 * nothing. */
static void close_stage(struct step_track *t, unsigned stage)
{
    for (unsigned i = t->depth; i > 0; i--) {
        if (t->open[i - 1].stage == stage) {
            t->depth = i - 1;
            return;
        }
    }
}

static void settle_sources(struct step_track *t)
{
    for (unsigned i = 0; i < t->n_sources; i++) {
        const struct step_source *s = &t->sources[i];

        t->now.host_s[s->feeds ? BRIM_STAGE_WAIT : BRIM_STAGE_OTHER] += s->wait_s;
        if (s->feeds && !isnan(s->samples))
            add_told(&t->now.samples, s->samples);
    }
}

static int end_step(struct step_track *t, const struct step_mark *m, struct step *out)
{
    bool whole = t->begun && m->t_ns > t->now.begin_ns;

    if (whole) {
        settle_sources(t);
        t->now.end_ns = t->last_ns;
        *out = t->now;
        t->now.number++;
    }
    begin_step(t, m->t_ns);
    return whole;
}

static void take_data(struct step_track *t, const struct step_mark *m)
{
    struct step_source *s = find_source(t, m->source);

    if (m->kind == BRIM_RING_FEEDS) {
        if (s)
            s->feeds = true;
    } else {
        add_told(s ? &s->samples : &t->now.samples, (double)m->count);
    }
}

/* What stands on its own, of any thread. */
static void take_fact(struct step_track *t, const struct step_mark *m)
{
    switch (m->kind) {
    case BRIM_RING_SAMPLES:
    case BRIM_RING_FEEDS:
        take_data(t, m);
        break;
    case BRIM_RING_LOSS:
        t->now.loss = m->number;
        break;
    case BRIM_RING_COLLECTIVE:
        t->now.collectives++;
        t->now.collective_s += m->seconds;
        t->now.collective_b += (double)m->count;
        break;
    case BRIM_RING_DEVICE:
        add_told(&t->now.device_s[m->stage], m->seconds);
        break;
    default:
        break;
    }
}

int step_track_mark(struct step_track *t, const struct step_mark *m, struct step *out)
{
    bool stage = m->kind == BRIM_RING_STAGE_BEGIN || m->kind == BRIM_RING_STAGE_END;

    if (m->kind == BRIM_RING_STEP_BEGIN || m->kind == BRIM_RING_STEP_END) {
        account(t, m->t_ns);
        if (t->thread && t->thread != m->thread)
            t->depth = 0; /* another thread took over the loop: the stack was the old one's */
        t->thread = m->thread;
        if (m->kind == BRIM_RING_STEP_END)
            return end_step(t, m, out);
        begin_step(t, m->t_ns);
        return 0;
    }
    if (!stage) {
        take_fact(t, m);
        return 0;
    }
    if (t->thread && t->thread != m->thread)
        return 0; /* runs beside the loop */
    account(t, m->t_ns);
    if (m->kind == BRIM_RING_STAGE_BEGIN)
        open_stage(t, m);
    else
        close_stage(t, m->stage);
    return 0;
}

int step_track_stage(const struct step_track *t)
{
    unsigned stage = t->depth ? t->open[t->depth - 1].stage : BRIM_STAGE_OTHER;

    if (!t->begun)
        return -1;
    for (unsigned i = 0; stage == BRIM_STAGE_WAIT && i < t->n_sources; i++)
        if (t->sources[i].id == t->open[t->depth - 1].source && !t->sources[i].feeds)
            return BRIM_STAGE_OTHER;
    return (int)stage;
}

double step_seconds(const struct step *s)
{
    return (double)(s->end_ns - s->begin_ns) * 1e-9;
}

const char *step_stage_name(unsigned stage)
{
    static const char *const names[] = {
        [BRIM_STAGE_OTHER] = "other",         [BRIM_STAGE_WAIT] = "wait",
        [BRIM_STAGE_COPY] = "copy",           [BRIM_STAGE_FORWARD] = "forward",
        [BRIM_STAGE_BACKWARD] = "backward",   [BRIM_STAGE_COMMUNICATION] = "communication",
        [BRIM_STAGE_OPTIMIZER] = "optimizer", [BRIM_STAGE_CHECKPOINT] = "checkpoint",
    };

    return stage < ARRAY_SIZE(names) ? names[stage] : NULL;
}
