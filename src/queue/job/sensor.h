/* How busy the accelerators of a queue are: a process of its own asks their drivers, which may hang
 * or crash or take memory, and tells through a pipe. It ends when nobody listens any more. */
#ifndef BRIM_QUEUE_JOB_SENSOR_H
#define BRIM_QUEUE_JOB_SENSOR_H
#include "model/signal/signal.h"
#include "queue/job/pool.h"

enum { QUEUE_SENSED = 512 /* slots that are told of */ };

/* What is read of all slots, in thousandths, -1 where that is not known: how busy they are, and
 * how much of their memory is in use. */
struct queue_sensed {
    int16_t milli[QUEUE_SENSED], memory[QUEUE_SENSED];
};

/* Start it. fake: a file that scripts accelerators that are not there; NULL. Returns the descriptor
 * to read from, which does not block, or a negative errno. */
int queue_sensor_start(const struct queue_pool *p, const char *fake, int64_t interval_ms)
    CHECK_RESULT;

/* The newest of what has come: 1 with *ret filled; 0: nothing yet; -EPIPE: it has ended. */
int queue_sensor_read(int fd, struct queue_sensed *ret) CHECK_RESULT;

/* What the rows of accelerators in a tick say of the slots: the share of time with something
 * running, or of units at work, whichever is more. By PCI address, else by number. Pure. */
void queue_sensor_map(const struct queue_pool *p, const struct tick *t, struct queue_sensed *ret);

#endif
