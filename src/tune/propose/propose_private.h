/* What the models behind propose() share. */
#ifndef BRIM_TUNE_PROPOSE_PROPOSE_PRIVATE_H
#define BRIM_TUNE_PROPOSE_PROPOSE_PRIVATE_H
#include "tune/propose/facts.h"
#include "tune/propose/propose.h"

struct proposer {
    const struct propose_about *about;
    struct proposals out;
    struct facts facts;
    struct arena scratch;
    bool no_memory;
    double step_s, wait_s, compute_s; /* of a step; compute_s is all but waiting for data */
    double exposed;                   /* share of communication that is waited for */
    double cpus;                      /* that a rank may use; NaN */
    const struct knob *also;          /* of the next one; NULL */
    bool naming;                      /* the user names them: nothing is refused */
};

/* A setting worth a trial if the knob is there, its condition holds, the value is another than the
 * one of now, and the gain is large enough. before NULL: not known. */
void propose_add(struct proposer *p, const char *knob, const char *value, const char *before,
                 double gain, const char *fmt, ...) PRINTF(6, 7);

/* The same with whole numbers; before NaN: not known. */
void propose_number(struct proposer *p, const char *knob, double value, double before, double gain,
                    const char *fmt, ...) PRINTF(6, 7);

/* What the verdict says of a cause; NULL. */
const struct verdict_item *propose_item(const struct proposer *p, enum cause c);

/* The speed-up if so many seconds of a step were gone (Amdahl). */
double propose_without(const struct proposer *p, double seconds);

void propose_won(struct proposer *p);
void propose_loader(struct proposer *p);
void propose_communication(struct proposer *p);
void propose_compute(struct proposer *p);
void propose_memory(struct proposer *p);
void propose_machine(struct proposer *p);
void propose_declared(struct proposer *p);

#endif
