/* What is in the frames between the observers of one job: messages behind each other, each a kind
 * and its fields, little-endian. Nothing in them is trusted: what is read can be a message, or is
 * refused. Pure. */
#ifndef BRIM_RUN_MEET_MEETING_MESSAGE_H
#define BRIM_RUN_MEET_MEETING_MESSAGE_H
#include "brim/control.h"
#include "model/job/step.h"

enum meeting_kind {
    /* both ways */
    MEETING_HOST = 1, /* text: the sender's host; the first message of each */
    /* to the leader, about a process of the sender's node that marks steps: its lane */
    MEETING_LANE,   /* rank, local_rank, world, pid, name (its host), text (its framework) */
    MEETING_STEP,   /* step */
    MEETING_NOTE,   /* name, text */
    MEETING_SWITCH, /* number (the request), outcome */
    MEETING_LOST,   /* number: marks that were lost */
    MEETING_CLOSED, /* it ended in order */
    MEETING_PONG,   /* t_ns: as it was asked; at_ns: the sender's clock */
    MEETING_END,    /* the job of the sender's node has ended, and all was told */
    /* to the follower */
    MEETING_ASK,  /* number, at_step, text: a request of brim/control.h; back: what it is to ask
                     for when it hears no more of the leader; "" for nothing */
    MEETING_KEEP, /* what was asked last is kept: there is nothing to go back to */
    MEETING_PING, /* t_ns: the leader's clock */
    MEETING_OVER, /* the leader has all that it wants */
    MEETING_KINDS
};

enum {
    MEETING_LANES = 256,
    MEETING_NAME = 64, /* letters of a name, with the end */
    MEETING_TEXT = BRIM_CONTROL_TEXT,
    MEETING_LONGEST = 4096 /* bytes of a message, at most */
};

struct meeting_message {
    enum meeting_kind kind;
    unsigned lane; /* below MEETING_LANES */
    int rank, local_rank, world, pid;
    struct step step;
    uint64_t number, at_step;
    unsigned outcome;
    int64_t t_ns, at_ns;
    char name[MEETING_NAME], text[MEETING_TEXT], back[MEETING_TEXT];
};

/* Write it to the end of what 'used' bytes are of: false when it has no room there. */
bool meeting_message_put(const struct meeting_message *m, unsigned char *to, size_t size,
                         size_t *used);

/* Read the message at *at, which goes behind it: 1, 0 at the end, -EBADMSG for what can be none. */
int meeting_message_get(struct meeting_message *m, const unsigned char *from, size_t size,
                        size_t *at) CHECK_RESULT;

/* Whether a request may be carried out for another host: "name=value", or several by ";". */
bool meeting_message_is_request(const char *text);

#endif
