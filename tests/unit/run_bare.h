/* Made runs: steps and moments with noise, out of what a job is like (run_made.h has causes). */
#ifndef BRIM_TESTS_RUN_BARE_H
#define BRIM_TESTS_RUN_BARE_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "model/job/run.h"
#include "model/verdict/verdict.h"

enum { MADE_RANKS = 8 };

/* What a run is like; made_like() fills it for a cause, tests may change it before made_build(). */
struct made {
    uint64_t seed;
    size_t ranks, steps;
    double step_s, noise; /* of a rank's step; noise in logarithms */
    double share[BRIM_STAGES];
    double s[RUN_SIGNALS];      /* NaN: not measured */
    double wild[RUN_SIGNALS];   /* deviation to mean from moment to moment */
    double slow[MADE_RANKS];    /* factor of a rank's own work */
    double samples[MADE_RANKS]; /* per step */
    size_t slow_from;           /* the step from which 'slow' and 'level' hold */
    double level;               /* of the whole job */
    bool alternates;            /* another rank is slow each step */
    size_t pause_every;         /* steps; 0: none */
    double pause_s;
    int pause_stage;
    double collective_b, collective_s;
    const char *notes[6][2]; /* ended by NULL */
    int earlier_step_ms;     /* of the run before; 0: none */
};

static inline uint64_t made_bits(uint64_t *seed)
{
    uint64_t z = (*seed += 0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static inline double made_uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * ((double)(made_bits(seed) >> 11) / 9007199254740992.0);
}

static inline double made_normal(uint64_t *seed)
{
    double u = made_uniform(seed, 1e-12, 1), v = made_uniform(seed, 0, 1);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A wait for data of that share; the rest of the stages shrink with it. */
static inline void made_stage(struct made *m, int stage, double share)
{
    double rest = 1 - m->share[stage];

    for (int s = 0; s < BRIM_STAGES; s++)
        if (s != stage)
            m->share[s] *= (1 - share) / rest;
    m->share[stage] = share;
}

/* ---- the run of it ---- */

static inline double made_own(struct made *m, size_t rank, size_t step)
{
    double x = m->step_s * exp(m->noise * made_normal(&m->seed));

    if (step == 0)
        x *= 4; /* warming up */
    if (m->alternates)
        return x * (step % m->ranks == rank ? m->slow[0] : 1);
    return step >= m->slow_from ? x * m->slow[rank] * m->level : x;
}

/* One step of all ranks, which end together. */
static inline void made_row(struct made *m, struct run *r, size_t step, int64_t *now)
{
    double own[MADE_RANKS], longest = 0, comm = m->share[BRIM_STAGE_COMMUNICATION];
    bool pause = m->pause_every && step && step % m->pause_every == 0;

    for (size_t i = 0; i < m->ranks; i++) {
        own[i] = made_own(m, i, step);
        longest = fmax(longest, own[i] * (1 - comm));
    }
    for (size_t i = 0; i < m->ranks; i++) {
        struct step *s = &r->ranks[i].steps[step];
        double total = longest + m->step_s * comm + (pause ? m->pause_s : 0);

        s->number = step;
        s->begin_ns = *now;
        s->end_ns = *now + (int64_t)(total * 1e9);
        for (int k = 0; k < BRIM_STAGES; k++) {
            s->host_s[k] = own[i] * m->share[k];
            s->device_s[k] = (double)NAN;
        }
        s->host_s[BRIM_STAGE_COMMUNICATION] = total - own[i] * (1 - comm);
        if (pause) {
            s->host_s[BRIM_STAGE_COMMUNICATION] -= m->pause_s;
            s->host_s[m->pause_stage] += m->pause_s;
        }
        s->samples = m->samples[i];
        s->loss = (double)NAN;
        s->collectives = m->collective_b > 0;
        s->collective_b = m->collective_b;
        s->collective_s = m->collective_s;
    }
    *now += (int64_t)((longest + m->step_s * comm + (pause ? m->pause_s : 0)) * 1e9);
}

static inline void made_moments(struct made *m, struct run *r, int64_t end)
{
    double seconds = fmin(1, (double)end / 1e9 / 30);

    r->n_moments = (size_t)((double)end / 1e9 / seconds);
    r->moments = arena_alloc(&r->arena, (r->n_moments + 1) * sizeof(*r->moments));
    for (size_t i = 0; r->moments && i < r->n_moments; i++) {
        r->moments[i].seconds = seconds;
        r->moments[i].monotonic_ns = (int64_t)((double)(i + 1) * seconds * 1e9);
        r->moments[i].wall_ns = r->moments[i].monotonic_ns;
        for (int s = 0; s < RUN_SIGNALS; s++)
            r->moments[i].values[s] = s == RUN_CPUS || s == RUN_GPU_PCIE_WIDTH ||
                                              s == RUN_JOB_CPU_LIMIT
                                          ? m->s[s]
                                          : m->s[s] *
                                                fmax(0, 1 + m->wild[s] * made_normal(&m->seed));
    }
}

/* Make it: *r is emptied first; run_done() ends it. Out of memory: it has no steps. */
static inline void made_build(struct made *m, struct run *r)
{
    int64_t now = 0;

    *r = (struct run){ .id = "20261121-034912-a1b2", .host = "n1" };
    r->ranks = arena_alloc(&r->arena, MADE_RANKS * sizeof(*r->ranks));
    for (size_t i = 0; r->ranks && i < m->ranks; i++) {
        struct run_rank *k = &r->ranks[i];

        k->rank = k->local_rank = (int)i;
        k->world = (int)m->ranks;
        k->host = "n1";
        k->steps = arena_alloc(&r->arena, m->steps * sizeof(*k->steps));
        k->notes = arena_alloc(&r->arena, ARRAY_SIZE(m->notes) * sizeof(*k->notes));
        if (!k->steps || !k->notes)
            return;
        for (; m->notes[k->n_notes][0]; k->n_notes++)
            k->notes[k->n_notes] = (struct run_note){ m->notes[k->n_notes][0],
                                                      m->notes[k->n_notes][1] };
        k->n_steps = m->steps;
        r->n_ranks = i + 1;
    }
    for (size_t step = 0; r->n_ranks && step < m->steps; step++)
        made_row(m, r, step, &now);
    made_moments(m, r, now);
}

#endif
