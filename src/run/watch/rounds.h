/* Which of the loops that a process is seen in is the one that makes its steps, and how many rounds
 * that has made: for jobs that mark nothing. Pure. */
#ifndef BRIM_RUN_WATCH_ROUNDS_H
#define BRIM_RUN_WATCH_ROUNDS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROUNDS_LOOPS = 64 };

/* A loop as it is seen in one look. */
struct rounds_seen {
    uint64_t slot;     /* which loop it is */
    uint32_t order;    /* of two loops the inner one has the larger one */
    bool entered;      /* inner loops begin anew with each of its rounds */
    uint64_t iterator; /* another one, or an 'at' that goes back: it has begun anew */
    int64_t at, left;  /* grows by one with each round; rounds to come, -1: not known */
};

struct rounds_loop {
    struct rounds_seen last;
    int64_t whole;    /* the most that was to come */
    uint64_t made;    /* rounds since it was first seen */
    unsigned anew;    /* how often it has begun anew */
    unsigned brief;   /* after how many of these it had lasted for a few looks alone */
    unsigned lasts;   /* looks since it has begun */
    unsigned looks;   /* in which it was seen */
    unsigned moving;  /* since its first round */
    uint64_t at_look; /* the last one */
    int64_t first_ns; /* when it was seen first */
};

struct rounds {
    struct rounds_loop loops[ROUNDS_LOOPS];
    size_t n;
    uint64_t looks;
    uint64_t slot;   /* of the one that makes the steps; 0: none is known yet */
    int64_t from_ns; /* its rounds are told up to here */
};

/* Rounds that were made between two moments. */
struct rounds_made {
    int64_t from_ns, to_ns;
    uint64_t n;
};

/* One look at all loops of the process, an inner one behind those that it is in. What was made is
 * told from when the loop was first seen, once it is known which one it is: whether there is any.
 */
bool rounds_look(struct rounds *r, const struct rounds_seen *seen, size_t n, int64_t now_ns,
                 struct rounds_made *ret);

#endif
