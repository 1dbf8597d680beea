/* How a job that runs is brought to its end: what to send, to whom, and when. Pure. */
#ifndef BRIM_QUEUE_GUARD_STOP_SEQUENCE_H
#define BRIM_QUEUE_GUARD_STOP_SEQUENCE_H
#include "queue/job/job.h"

enum {
    COURSE_KILL_MS = 10000, /* from SIGTERM to SIGKILL */
    COURSE_REST_MS = 5000,  /* the same for what a job leaves behind */
    COURSE_AGAIN_MS = 500,  /* SIGKILL is sent again */
};

enum stop_stage { COURSE_RUNS, COURSE_WARNED, COURSE_ASKED, COURSE_TERM, COURSE_KILL };

struct stop_sequence {
    int64_t begin_ms, limit_ms, warn_ms, grace_ms;
    int signal;
    uint8_t stage; /* enum stop_stage */
    uint8_t stop;  /* enum queue_stop: why it is being ended */
    bool alone;    /* the first process has gone */
    int64_t due_ms;
};

enum stop_whom { COURSE_FIRST, COURSE_GROUP, COURSE_ALL };

struct stop_step {
    int signal; /* 0: nothing */
    enum stop_whom whom;
};

/* A job starts. */
void stop_sequence_begin(struct stop_sequence *c, const struct queue_job *j, int64_t now_ms);

/* Whether something is to be sent now, and what: wanted is what the engine asks for, gone whether
 * the first process has ended. Sets c->due_ms to when to ask again; INT64_MAX: when something
 * happens. Ask until nothing is to be sent. */
bool stop_sequence_next(struct stop_sequence *c, enum queue_stop wanted, bool gone, int64_t now_ms,
                        struct stop_step *ret);

#endif
