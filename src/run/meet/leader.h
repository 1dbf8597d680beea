/* The observer that leads: takes what others tell of their ranks, and hands them requests. */
#ifndef BRIM_RUN_MEET_LEADER_H
#define BRIM_RUN_MEET_LEADER_H
#include "run/meet/meeting_config.h"

struct leader;
struct addrinfo;

/* Listen at the first of these addresses that is one of this host: 0; -EADDRNOTAVAIL: none is;
 * -EADDRINUSE: somebody else does; or another negative errno. any: whatever address comes to this
 * port of this host. c is borrowed; poll: an epoll descriptor. */
int leader_open(struct leader **ret, const struct meeting_config *c, const struct addrinfo *list,
                bool any, int poll) CHECK_RESULT;
void leader_close(struct leader *l);
DEFINE_CLEANUP(struct leader, leader_close)

/* 0 or -ENOMEM. */
int leader_turn(struct leader *l, int64_t now_ns) CHECK_RESULT;

/* Hand a request on; NULL: the last one is kept. */
void leader_ask(struct leader *l, const struct control_request *r);

double leader_far_s(const struct leader *l);

/* Whether somebody has not told the end of its job. */
bool leader_waits(const struct leader *l);

#endif
