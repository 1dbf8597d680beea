/* Which run an observer belongs to. Several of one job (srun brim run ..., mpirun, torchrun) share
 * one, by what their launcher says in the environment. */
#ifndef BRIM_RUN_JOB_IDENTITY_H
#define BRIM_RUN_JOB_IDENTITY_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { IDENTITY_ID = 64, IDENTITY_KEY = 256 };

struct identity {
    char id[IDENTITY_ID];   /* "20261121-034912-a1b2" */
    char key[IDENTITY_KEY]; /* what observers of one job have in common; "": there is one only */
    bool unique; /* no other job ever has this key; else one that starts a minute later has not */
    int rank, local_rank, world; /* -1: not known */
};

/* The key and ranks from the environment; parent: our parent process, which tells jobs with the
 * same launcher's id on one node apart. Pure. */
void identity_read(struct identity *i, char *const *env, int parent);

/* A new id, of the time and 16 bits of chance. Pure. */
void identity_make(struct identity *i, int64_t wall_ns, unsigned chance);

/* Make an id that no other run has: its folder in that of runs, which is there, is made with it.
 * Where another run of the same second had the same chance, the next one is taken. 0, or a negative
 * errno with a sentence; the id is made then, too. */
int identity_claim(struct identity *i, const char *runs, int64_t wall_ns, unsigned chance,
                   struct err *e) CHECK_RESULT;

/* Give the id back: its folder goes, unless somebody has stored something in it. */
void identity_release(const struct identity *i, const char *runs);

/* Set the id: the one that another observer with the same key has set in the folder of runs, or
 * the one in *i, which the others find then; one that is not used is given
 * back. Without a key nothing happens. 0 or a negative
 * errno. */
int identity_share(struct identity *i, const char *runs, int64_t wall_ns, struct err *e)
    CHECK_RESULT;

#endif
