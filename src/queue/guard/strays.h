/* Processes of an attempt whose guard was killed: nobody reaps for it any more, so they descend
 * from anybody. They are in its control group; where it has none they are known by their
 * environment, which a process may change. */
#ifndef BRIM_QUEUE_GUARD_STRAYS_H
#define BRIM_QUEUE_GUARD_STRAYS_H
#include "queue/guard/control_group.h"

/* A variable that each attempt has, as strays_mark() writes its value: "12.4711". */
#define QUEUE_GUARD_VARIABLE "BRIM_GUARD"
enum { STRAYS_MARK = 40 };
void strays_mark(char ret[STRAYS_MARK], int64_t id, pid_t guard);

struct strays {
    char group[CONTROL_GROUP]; /* "": it has none */
    char mark[STRAYS_MARK];
};

/* Send a signal to all; 0: only look. How many there are. */
size_t strays_send(const struct strays *s, int signal);

#endif
