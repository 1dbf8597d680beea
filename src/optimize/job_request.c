#include "optimize/job_request.h"

#include <stdio.h>

#include "brim/control.h"

void job_request_begin(struct job_request *o, uint64_t number, bool apply)
{
    *o = (struct job_request){ .open = true, .apply = apply, .number = number };
}

bool job_request_answer(struct job_request *o, struct job_request_marks *m, size_t rank,
                        uint64_t number, unsigned outcome, const char *why)
{
    bool done = outcome == BRIM_SWITCH_DONE;

    if (!o->open || number != o->number || rank >= JOIN_RANKS || o->answered[rank])
        return false;
    done = done || (outcome == BRIM_SWITCH_REFUSED && !o->apply && !m->did[rank]);
    o->answered[rank] = true;
    o->done += done;
    o->refused += !done && outcome == BRIM_SWITCH_REFUSED;
    o->failed += outcome == BRIM_SWITCH_FAILED;
    /* What broke while it was done may be in force. */
    if (done || outcome == BRIM_SWITCH_FAILED)
        m->did[rank] = o->apply || !done;
    if (!done && !o->why[0])
        snprintf(o->why, sizeof(o->why), "%s", why ? why : "the job refused, and did not say why");
    return done;
}

enum job_request_state job_request_state(const struct job_request *o, size_t members)
{
    if (!o->open)
        return ORDER_NONE;
    if (o->done + o->refused + o->failed < members)
        return ORDER_WAITS;
    if (o->done == members)
        return ORDER_DONE;
    return o->refused == members ? ORDER_REFUSED : ORDER_BROKEN;
}
