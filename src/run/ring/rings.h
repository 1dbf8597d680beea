/* The rings of marks in the folder that BRIM_RING names: each is opened when it appears, read, and
 * made into a lane of steps. */
#ifndef BRIM_RUN_RING_RINGS_H
#define BRIM_RUN_RING_RINGS_H
#include <stdbool.h>
#include <sys/types.h>

#include "run/ring/rank_steps.h"

enum { RINGS_MAX = 256 };

struct rings;

/* The folder is borrowed. */
int rings_open(struct rings **ret, const char *folder, struct err *e) CHECK_RESULT;
void rings_close(struct rings *s);
DEFINE_CLEANUP(struct rings, rings_close)

/* Read what was marked since the last time. 0 or -ENOMEM. A file that is no ring is passed over;
 * the first such one, or one that was cut off while it was read, is told in e, once. */
int rings_read(struct rings *s, struct err *e) CHECK_RESULT;

size_t rings_count(const struct rings *s);
const struct rank_steps *rings_lane(const struct rings *s, size_t i);

/* Marks that came too fast to be read. */
uint64_t rings_lost(const struct rings *s);

/* Marks that were written when rings were read last: a heartbeat of all loops. */
uint64_t rings_marks(const struct rings *s);

/* What happens in rings, in each in its order. */
enum ring_event_kind {
    RING_STEP,
    RING_SWITCH, /* the answer to a request (brim/control.h) */
    RING_LOST,   /* marks were lost: steps are missing, and numbers of steps are others from here */
    RING_CLOSED, /* the writer ended in order */
    RING_NOTE,   /* it said something, which is in its lane */
    RING_GONE,   /* nobody tells of a ring of another host any more */
};

struct ring_event {
    enum ring_event_kind kind;
    size_t ring;             /* as for rings_lane() */
    const struct step *step; /* RING_STEP */
    uint64_t request;        /* these three: RING_SWITCH */
    enum brim_switch outcome;
    const char *why; /* what the note "switch.REQUEST" says; NULL: there is none */
};

typedef void rings_fn(void *arg, const struct ring_event *e);

/* Have rings_read() tell what it reads; fn may not call functions of the rings but for lanes. */
void rings_follow(struct rings *s, rings_fn *fn, void *arg);

/* In which stage was the loop of ring i at at_ns, by the clock of marks? Asked before rings_read(),
 * which finds the answer: enum brim_stage; -1: no step had begun. */
void rings_ask(struct rings *s, size_t i, int64_t at_ns);
int rings_answer(const struct rings *s, size_t i);

/* The processes of the rings on this host, for family_ranks(). */
const pid_t *rings_pids(const struct rings *s, size_t *n);

/* The ring of a process on this host; rings_count(): it has none. */
size_t rings_of_pid(const struct rings *s, pid_t pid);

/* ---- rings of other hosts, of which somebody else tells ---- */

/* A lane like the others, whose steps come by the calls below; about: its ranks, pid, host and
 * framework. 0 with *ring, -ENOMEM, or -ENOSPC where there are RINGS_MAX. */
int rings_far_add(struct rings *s, const struct rank_steps *about, size_t *ring) CHECK_RESULT;

/* Its ranks have become known. */
void rings_far_rank(struct rings *s, size_t ring, const struct rank_steps *about);

/* A step, a note: 0 or -ENOMEM. */
int rings_far_step(struct rings *s, size_t ring, const struct step *step) CHECK_RESULT;
int rings_far_note(struct rings *s, size_t ring, const char *name, const char *value) CHECK_RESULT;

/* An answer; marks that were lost; its end in order; the end of what is told of it. */
void rings_far_switch(struct rings *s, size_t ring, uint64_t request, enum brim_switch outcome);
void rings_far_lost(struct rings *s, size_t ring, uint64_t marks);
void rings_far_closed(struct rings *s, size_t ring);
void rings_far_gone(struct rings *s, size_t ring);

#endif
