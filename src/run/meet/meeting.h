/* The observers of one job on several hosts, and what they do together: the one that leads sees the
 * ranks of all as lanes of its own rings, and what it asks its ranks for the others ask theirs for.
 * All of it is called by the loop that observes, and none of it waits, but for its end. */
#ifndef BRIM_RUN_MEET_MEETING_H
#define BRIM_RUN_MEET_MEETING_H
#include "run/meet/meeting_config.h"

enum meeting_state {
    MEETING_SEEKS,     /* it is not known yet who leads */
    MEETING_LEADING,   /* we do, with whoever comes */
    MEETING_FOLLOWING, /* another one does, whether it is there yet or not */
    MEETING_OFF,       /* there is none */
};

struct meeting;

/* c is copied. Sentences about what goes wrong later come by c->say. 0 or a negative errno with a
 * sentence. */
int meeting_open(struct meeting **ret, const struct meeting_config *c, struct err *e) CHECK_RESULT;
void meeting_close(struct meeting *m);
DEFINE_CLEANUP(struct meeting, meeting_close)

/* A descriptor that can be read when meeting_turn() has something to do at once. */
int meeting_fd(const struct meeting *m);

/* Take what has come and send what is new; some 10 times a second at least. 0 or -ENOMEM. */
int meeting_turn(struct meeting *m) CHECK_RESULT;

/* What rings_read() tells. */
void meeting_event(struct meeting *m, const struct ring_event *e);

enum meeting_state meeting_state(const struct meeting *m);

/* From here to the farthest host that follows, and back; 0: there is none. */
double meeting_far_s(const struct meeting *m);

/* Whether a leader has heard all of us: then it tells the user, and we do not. */
bool meeting_heard(const struct meeting *m);

/* Whether the leader is gone before it had heard all: nobody else tells of this host. */
bool meeting_deserted(const struct meeting *m);

/* The job of this host has ended: what is left is told, and heard, for 2 s at most. -ENOMEM. */
int meeting_end(struct meeting *m) CHECK_RESULT;

#endif
