/* What the agent itself costs and does, as signals like those of everything else. */
#ifndef BRIM_DAEMON_SELF_H
#define BRIM_DAEMON_SELF_H
#include "model/signal/signal.h"

enum self_value {
    SELF_CPU,      /* seconds, of all its threads */
    SELF_RESIDENT, /* bytes */
    SELF_TICKS,
    SELF_MISSED,       /* ticks that were due and not taken */
    SELF_TICK_SECONDS, /* how long the last one took */
    SELF_CONNECTIONS,
    SELF_STREAMS,
    SELF_REQUESTS,
    SELF_REFUSED,
    SELF_STORED, /* ticks; absent without a store */
    SELF_UNSTORED,
    SELF_ALERTS_DROPPED, /* of the tick before */
    SELF_VALUES
};

/* Add its row, with time and memory filled in; the rest is the caller's to fill. NULL when out of
 * memory. */
struct signal_row *self_add(struct tick *t) CHECK_RESULT;

#endif
