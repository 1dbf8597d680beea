/* A step: one training iteration and where its time went. Made of the marks of one process, in the
 * order of its ring. */
#ifndef BRIM_MODEL_JOB_STEP_H
#define BRIM_MODEL_JOB_STEP_H
#include "model/job/step_ring.h"

struct step {
    uint64_t number; /* from 0, by process */
    int64_t begin_ns, end_ns;
    /* Seconds of the thread that ends the steps, by enum brim_stage; they add up to the step. The
     * innermost stage counts; what none covers, and waiting for data that no step is fed from (a
     * validation's), is BRIM_STAGE_OTHER. */
    double host_s[BRIM_STAGES];
    /* Seconds of the device, where the job tells them; they run beside the host's. NaN: not told.
     * */
    double device_s[BRIM_STAGES];
    double samples;      /* NaN: not told */
    double loss;         /* the last one told; NaN: none, or the job's own NaN */
    double backwards;    /* how often: several when gradients are accumulated */
    double collective_s; /* seconds that calls of collectives took, on any thread */
    double collective_b;
    unsigned collectives;
};

enum { STEP_DEPTH = 16, STEP_SOURCES = 16 };

/* A source of data within the step that runs. */
struct step_source {
    unsigned id;
    double wait_s, samples;
    bool feeds;
};

/* The assembly of steps; all of it is inside. */
struct step_track {
    struct step now;
    bool begun;      /* now.begin_ns is known */
    uint32_t thread; /* the one that ends steps; 0: not known yet */
    int64_t last_ns; /* host_s is accounted up to here */
    unsigned depth;
    struct {
        unsigned stage, source;
    } open[STEP_DEPTH]; /* stages, the innermost last */
    unsigned n_sources;
    struct step_source sources[STEP_SOURCES];
};

void step_track_init(struct step_track *t);

/* Take a mark: 1 when it ended a step, which is then in *out; else 0. Marks of time that runs
 * backwards count as of no length. */
int step_track_mark(struct step_track *t, const struct step_mark *m, struct step *out);

/* Marks were lost (-EPIPE of step_ring_next()): the step that runs is dropped, and the next one
 * begins with the next end. */
void step_track_lost(struct step_track *t);

/* The stage that the loop's thread is in behind the marks that were taken: enum brim_stage, as
 * host_s counts it; -1 before the first step. */
int step_track_stage(const struct step_track *t);

double step_seconds(const struct step *s);

/* "wait", "copy" ...; NULL for what is no stage. */
const char *step_stage_name(unsigned stage);

#endif
