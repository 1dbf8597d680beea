/* What a run tells of itself, for conditions of knobs and for models. */
#ifndef BRIM_TUNE_PROPOSE_FACTS_H
#define BRIM_TUNE_PROPOSE_FACTS_H
#include <stdbool.h>

#include "base/arena.h"
#include "model/job/run.h"

struct facts {
    const struct run *run;
    struct arena *scratch; /* texts that are found; the caller's */
    bool *no_memory;       /* set when one could not be kept */
};

/* What is known under a name, as conditions of knobs say it (condition_look; ctx is a struct
 * facts): "loader.workers" is the note of that name, else the word behind "workers" in a note like
 * "loader 1: workers 4, batch 32"; then "ranks", and signals of the run ("gpus": their mean). NULL:
 * nothing, or the word "none". */
const char *facts_look(const void *ctx, const char *name);

/* The same as a number; NaN. */
double facts_number(const struct facts *f, const char *name);

/* Mean of a signal over the moments; NaN. */
double facts_signal(const struct facts *f, enum run_signal s);

/* Ranks on the host that the signals are of; 1 at least. */
double facts_ranks_here(const struct facts *f);

#endif
