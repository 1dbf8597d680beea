/* The steps of a job's ranks joined by their numbers: of each step the slowest rank's time. Which
 * ranks belong together is decided when they have shown themselves (join_members()); until then
 * the last steps of each are kept. */
#ifndef BRIM_OPTIMIZE_JOIN_H
#define BRIM_OPTIMIZE_JOIN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { JOIN_RANKS = 256, JOIN_ROOM = 4096 /* steps that a rank may be ahead of another */ };

/* A step of one rank. */
struct join_step {
    uint64_t number;
    int64_t begin_ns;
    double seconds, samples, loss; /* of the last two NaN: not told */
    uint64_t request;              /* the last one that was done before it; 0: none */
    bool saves;                    /* a checkpoint was written in it */
};

struct join_rank {
    struct join_step *steps; /* a ring of 'room' */
    size_t room, first, n;
    uint64_t request, seen,
        newest;             /* seen: steps that were pushed; newest: the last one's number */
    int64_t newest_ns;      /* and its end */
    bool in, closed, fresh; /* closed: it has ended in order; fresh: it began after members did */
};

struct join {
    struct join_rank ranks[JOIN_RANKS];
    size_t members;
    bool apart; /* a member was JOIN_ROOM steps ahead: they do not keep step */
};

void join_init(struct join *j);
void join_done(struct join *j);

/* These ranks make the job, and no others. */
void join_members(struct join *j, const bool in[JOIN_RANKS]);

/* A rank did a request, and ended a step. 0 or -ENOMEM; ranks beyond JOIN_RANKS are left out. */
void join_switch(struct join *j, size_t rank, uint64_t request);
int join_push(struct join *j, size_t rank, const struct join_step *s) CHECK_RESULT;

/* The next step that all members have ended: seconds are the slowest one's, begin_ns
 * the last one's, samples those of all,
 * loss their mean, request the oldest one that a member was still at, saves if any did. */
bool join_next(struct join *j, struct join_step *ret);

/* The highest number of a step that a member has ended. */
uint64_t join_newest(const struct join *j);

/* When the members had ended these, the first of them, by the job's own clock, which may be behind
 * brim's; INT64_MAX without any. */
int64_t join_newest_ns(const struct join *j);

#endif
