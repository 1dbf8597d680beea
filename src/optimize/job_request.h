/* A request to the job that is under way: who has answered, and what came of it. */
#ifndef BRIM_OPTIMIZE_JOB_REQUEST_H
#define BRIM_OPTIMIZE_JOB_REQUEST_H
#include <stdbool.h>
#include <stdint.h>

#include "optimize/join.h"

enum { ORDER_TEXT = 160 };

enum job_request_state {
    ORDER_NONE,
    ORDER_WAITS,   /* somebody has not answered */
    ORDER_DONE,    /* all did it */
    ORDER_REFUSED, /* all refused: nothing has changed */
    ORDER_BROKEN,  /* some did it, or it broke while it was done */
};

struct job_request {
    bool open;
    bool apply;      /* the candidate; else the value of before */
    uint64_t number; /* of the request */
    size_t done, refused, failed;
    bool answered[JOIN_RANKS];
    char why[ORDER_TEXT]; /* of the first that did not do it */
};

/* Which ranks have done the last setting that was applied. */
struct job_request_marks {
    bool did[JOIN_RANKS];
};

void job_request_begin(struct job_request *o, uint64_t number, bool apply);

/* A rank answers: outcome is enum brim_switch, why its reason or NULL. Answers to other requests,
 * and second ones, are passed over: false. One that refuses to take back what it never did has
 * done so: true, as for one that did what was asked. */
bool job_request_answer(struct job_request *o, struct job_request_marks *m, size_t rank,
                        uint64_t number, unsigned outcome, const char *why);

/* members: how many have to answer. */
enum job_request_state job_request_state(const struct job_request *o, size_t members);

#endif
