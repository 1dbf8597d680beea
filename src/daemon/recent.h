/* The last minutes of the charts' lines, in memory: their beginning where nothing is stored. */
#ifndef BRIM_DAEMON_RECENT_H
#define BRIM_DAEMON_RECENT_H
#include <stddef.h>
#include <stdint.h>

#include "model/verdict/live.h"

/* A point a second at most, so that there are ten minutes and some whatever the interval is. */
enum { RECENT_POINTS = 660 };

/* In the order of the charts in history.c; the stages first, as enum live_stage_id. */
enum recent_line {
    RECENT_GPU_BUSY = LIVE_STAGES,
    RECENT_DISK_READ,
    RECENT_DISK_WRITE,
    RECENT_NET_RX,
    RECENT_NET_TX,
    RECENT_LINES
};

struct recent_point {
    int64_t wall_ms;
    float values[RECENT_LINES]; /* NaN: not known */
};

/* {0}: nothing yet. */
struct recent {
    struct recent_point points[RECENT_POINTS]; /* a ring */
    size_t first, n;
};

void recent_add(struct recent *r, const struct live *l);

/* When its oldest point is of; INT64_MAX where there is none. */
int64_t recent_begin_ms(const struct recent *r);

/* Means over n steps of time from then on, which is asked for and filled. */
struct recent_means {
    int64_t from_ms, step_ms;
    size_t n;
    double *means;    /* n; NaN where there is nothing */
    unsigned *counts; /* n, to work with */
};

void recent_series(const struct recent *r, enum recent_line line, struct recent_means *ret);

#endif
