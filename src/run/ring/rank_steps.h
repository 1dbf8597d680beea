/* The steps of one rank as they are kept: the first and the last ones whole, all of them
 * summed. */
#ifndef BRIM_RUN_RING_RANK_STEPS_H
#define BRIM_RUN_RING_RANK_STEPS_H
#include "model/job/run.h"

/* 22,000 steps are 5 MB of memory and 2.6 MB of file for each rank. */
enum { LANE_FIRST = 2000, LANE_LAST = 20000, LANE_NOTES = 512 };

struct lane_note {
    char name[64], value[BRIM_RING_TEXT_MAX + 1];
};

struct lane {
    int rank, local_rank, world, pid; /* -1: not known */
    char host[64], framework[64];
    struct step *steps; /* the first ones, then a ring of the last ones; see lane_slot() */
    size_t room;
    uint64_t count; /* steps taken so far */
    struct step total;
    struct lane_note *notes;
    size_t n_notes, notes_room;
};

void lane_init(struct lane *l);
void lane_done(struct lane *l);

/* Where step n is kept. */
size_t lane_slot(uint64_t n);

/* Take the next step. 0 or -ENOMEM: it is in the total then, and not kept. */
int lane_step(struct lane *l, const struct step *s) CHECK_RESULT;

/* Set a note; one of the name is replaced. 0 or -ENOMEM; too many are dropped. */
int lane_note(struct lane *l, const char *name, const char *value) CHECK_RESULT;

/* How many steps are kept, and the i-th of them in their order. */
size_t lane_kept(const struct lane *l);
const struct step *lane_at(const struct lane *l, size_t i);

/* Add to a total; number counts. */
void lane_sum(struct step *total, const struct step *s);

/* Add a rank made of the lane to a run. 0 or -ENOMEM. */
int lane_to_run(const struct lane *l, struct run *r) CHECK_RESULT;

/* The same with those steps alone that began at since_ns or later, the last 'most' of them at
 * most; without any there is no rank. */
int lane_part_to_run(const struct lane *l, struct run *r, int64_t since_ns, size_t most)
    CHECK_RESULT;

#endif
