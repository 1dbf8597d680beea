/* What a leader was told of one ring: the rest is read from its lane, which keeps so many steps
 * that nothing has to be kept for a wire that is slow. */
#ifndef BRIM_RUN_MEET_FOLLOWER_LANE_H
#define BRIM_RUN_MEET_FOLLOWER_LANE_H
#include "run/meet/meeting_wire.h"
#include "run/ring/rings.h"

enum { FOLLOWER_ANSWERS = 16 };

struct follower_lane {
    struct meeting_message about; /* as it was told: MEETING_LANE */
    bool told, notes_changed, closed, closed_told;
    uint64_t sent; /* steps */
    uint64_t lost; /* times that marks were lost, not told yet */
    struct {
        uint64_t after, request; /* after so many steps */
        enum brim_switch outcome;
    } answers[FOLLOWER_ANSWERS];
    size_t n_answers;
    uint64_t notes[LANE_NOTES]; /* a hash of each as it was told; 0: it was not */
};

/* NULL when out of memory. */
struct follower_lane *follower_lane_new(unsigned number) CHECK_RESULT;

/* What rings_read() tells of it. */
void follower_lane_event(struct follower_lane *l, const struct rank_steps *lane,
                         const struct ring_event *e);

/* Tell what is new. False when there is no room, or *budget, which bytes of steps are taken from,
 * is used up: the rest is for the next turn. budget NULL: all. */
bool follower_lane_tell(struct follower_lane *l, const struct rank_steps *lane,
                        struct meeting_wire *p, double *budget);

#endif
