/* The steps of one rank as they are kept: the first and the last ones whole, all of them
 * summed. */
#ifndef BRIM_RUN_RING_RANK_STEPS_H
#define BRIM_RUN_RING_RANK_STEPS_H
#include "model/job/run.h"

/* 22,000 steps are 5 MB of memory and 2.6 MB of file for each rank. */
enum { LANE_FIRST = 2000, LANE_LAST = 20000, LANE_NOTES = 512 };

struct rank_steps_note {
    char name[64], value[BRIM_RING_TEXT_MAX + 1];
};

struct rank_steps {
    int rank, local_rank, world, pid; /* -1: not known */
    char host[64], framework[64];
    struct step *steps; /* the first ones, then a ring of the last ones; see rank_steps_slot() */
    size_t room;
    uint64_t count; /* steps taken so far */
    struct step total;
    struct rank_steps_note *notes;
    size_t n_notes, notes_room;
};

void rank_steps_init(struct rank_steps *l);
void rank_steps_done(struct rank_steps *l);

/* Where step n is kept. */
size_t rank_steps_slot(uint64_t n);

/* Take the next step. 0 or -ENOMEM: it is in the total then, and not kept. */
int rank_steps_step(struct rank_steps *l, const struct step *s) CHECK_RESULT;

/* Set a note; one of the name is replaced. 0 or -ENOMEM; too many are dropped. */
int rank_steps_note(struct rank_steps *l, const char *name, const char *value) CHECK_RESULT;

/* How many steps are kept, and the i-th of them in their order. */
size_t rank_steps_kept(const struct rank_steps *l);
const struct step *rank_steps_at(const struct rank_steps *l, size_t i);

/* Add to a total; number counts. */
void rank_steps_sum(struct step *total, const struct step *s);

/* Add a rank made of the lane to a run. 0 or -ENOMEM. */
int rank_steps_to_run(const struct rank_steps *l, struct run *r) CHECK_RESULT;

/* The same with those steps alone that began at since_ns or later, the last 'most' of them at
 * most; without any there is no rank. */
int rank_steps_part_to_run(const struct rank_steps *l, struct run *r, int64_t since_ns, size_t most)
    CHECK_RESULT;

#endif
