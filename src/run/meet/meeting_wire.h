/* One wire between two observers: a TCP connection that never waits, with what came and what is to
 * go. */
#ifndef BRIM_RUN_MEET_MEETING_WIRE_H
#define BRIM_RUN_MEET_MEETING_WIRE_H
#include <stdbool.h>
#include <sys/socket.h>

#include "run/meet/meeting_message.h"
#include "run/meet/sealed_frame.h"

/* What waits to be sent; more is not taken. */
enum { MEETING_WIRE_ROOM = 512 << 10 };

struct meeting_wire {
    int fd; /* -1: there is none */
    unsigned char *in, *out;
    size_t n_in, n_out;
    struct sealed_way to, from;
    unsigned char body[SEALED_BODY]; /* of the next frame */
    size_t n_body;
    size_t taken;          /* bytes of 'in' that were looked at */
    size_t frame, len, at; /* in 'in': a frame's body, and where its next message is */
};

/* fd is the peer's from now on. 0 or -ENOMEM. meeting_wire_done() in any case. */
int meeting_wire_init(struct meeting_wire *p, int fd) CHECK_RESULT;
void meeting_wire_done(struct meeting_wire *p);

/* Begin to connect to an address: a descriptor or a negative errno. Whether that has come about: 1;
 * 0: not yet; or a negative errno. */
int meeting_wire_connect(const struct sockaddr *to, socklen_t len) CHECK_RESULT;
int meeting_wire_connected(int fd) CHECK_RESULT;

/* Read what has come; send what is to go. 0, or a negative errno when the other end is gone. */
int meeting_wire_read(struct meeting_wire *p) CHECK_RESULT;
int meeting_wire_send(struct meeting_wire *p);

/* Bytes of the greeting: to be sent; that have come, taken off: false when not all have. */
void meeting_wire_put(struct meeting_wire *p, const void *bytes, size_t len);
bool meeting_wire_take(struct meeting_wire *p, void *bytes, size_t len);

/* The next message that came: 1; 0: none yet; -EBADMSG. */
int meeting_wire_next(struct meeting_wire *p, struct meeting_message *m) CHECK_RESULT;

/* Add a message to what goes when a turn ends, or by meeting_wire_flush(): false when there is no
 * room. */
bool meeting_wire_say(struct meeting_wire *p, const struct meeting_message *m);
void meeting_wire_flush(struct meeting_wire *p);

#endif
