/* An observer that follows: tells the leader of its ranks, and carries out what it asks for. */
#ifndef BRIM_RUN_MEET_FOLLOWER_H
#define BRIM_RUN_MEET_FOLLOWER_H
#include "run/meet/meeting_config.h"

struct follower;
struct addrinfo;

/* c and list are borrowed; poll: an epoll descriptor. 0 or -ENOMEM. */
int follower_open(struct follower **ret, const struct meeting_config *c,
                  const struct addrinfo *list, int poll) CHECK_RESULT;
void follower_close(struct follower *f);
DEFINE_CLEANUP(struct follower, follower_close)

/* 0 or -ENOMEM. */
int follower_turn(struct follower *f, int64_t now_ns) CHECK_RESULT;
int follower_event(struct follower *f, const struct ring_event *e) CHECK_RESULT;

/* All that is left is to be told, however much it is; whether the leader has to answer to that. */
void follower_end(struct follower *f);
bool follower_waits(const struct follower *f);

/* Whether the leader has heard all, or went on without us in order. */
bool follower_heard(const struct follower *f);

/* Whether a leader was there and is gone, not in order. */
bool follower_deserted(const struct follower *f);

#endif
