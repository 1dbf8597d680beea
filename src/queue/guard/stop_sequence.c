#include "queue/guard/stop_sequence.h"

#include <signal.h>

static const struct stop_step nothing = { 0, COURSE_FIRST };

/* When something is to be done about the limit. */
static int64_t limit_due(const struct stop_sequence *c)
{
    if (c->limit_ms <= 0)
        return INT64_MAX;
    return c->begin_ms + c->limit_ms - (c->stage == COURSE_RUNS ? c->warn_ms : 0);
}

void stop_sequence_begin(struct stop_sequence *c, const struct queue_job *j, int64_t now_ms)
{
    *c = (struct stop_sequence){
        .begin_ms = now_ms,
        .limit_ms = j->limit_ms,
        .warn_ms = MIN(j->warn_ms, j->limit_ms),
        .grace_ms = j->grace_ms,
        .signal = j->signal,
    };
    c->due_ms = limit_due(c);
}

static struct stop_step terminate(struct stop_sequence *c, enum queue_stop stop, int64_t now_ms,
                                  int64_t patience_ms)
{
    c->stage = COURSE_TERM;
    c->stop = (uint8_t)stop;
    c->due_ms = now_ms + patience_ms;
    return (struct stop_step){ SIGTERM, COURSE_GROUP };
}

static struct stop_step ask(struct stop_sequence *c, int64_t now_ms)
{
    if (c->grace_ms <= 0)
        return terminate(c, QUEUE_PREEMPT, now_ms, COURSE_KILL_MS);
    c->stage = COURSE_ASKED;
    c->stop = QUEUE_PREEMPT;
    c->due_ms = now_ms + c->grace_ms;
    return (struct stop_step){ c->signal, COURSE_FIRST };
}

/* The first process has gone; others are asked to, within what is left of its time. */
static struct stop_step leave(struct stop_sequence *c, int64_t now_ms)
{
    c->alone = true;
    if (c->stage < COURSE_ASKED)
        (void)terminate(c, QUEUE_GO, now_ms, COURSE_REST_MS);
    else if (c->stage == COURSE_ASKED)
        c->stage = COURSE_TERM;
    return (struct stop_step){ SIGTERM, COURSE_ALL };
}

static struct stop_step while_it_runs(struct stop_sequence *c, enum queue_stop wanted,
                                      int64_t now_ms)
{
    if (wanted == QUEUE_PREEMPT)
        return ask(c, now_ms);
    if (c->limit_ms > 0 && now_ms >= c->begin_ms + c->limit_ms)
        return terminate(c, QUEUE_LIMIT, now_ms, COURSE_KILL_MS);
    if (c->stage == COURSE_RUNS && c->warn_ms > 0 && now_ms >= limit_due(c)) {
        c->stage = COURSE_WARNED;
        c->due_ms = limit_due(c);
        return (struct stop_step){ c->signal, COURSE_FIRST };
    }
    return nothing;
}

static struct stop_step next(struct stop_sequence *c, enum queue_stop wanted, bool gone,
                             int64_t now_ms)
{
    if (gone && !c->alone && c->stage < COURSE_KILL)
        return leave(c, now_ms);
    if (wanted == QUEUE_CANCEL && c->stage < COURSE_TERM)
        return terminate(c, QUEUE_CANCEL, now_ms, COURSE_KILL_MS);
    if (c->stage < COURSE_ASKED)
        return while_it_runs(c, wanted, now_ms);
    if (now_ms < c->due_ms)
        return nothing;
    if (c->stage == COURSE_ASKED)
        return terminate(c, QUEUE_PREEMPT, now_ms, COURSE_KILL_MS);
    c->stage = COURSE_KILL;
    c->due_ms = now_ms + COURSE_AGAIN_MS;
    return (struct stop_step){ SIGKILL, COURSE_ALL };
}

bool stop_sequence_next(struct stop_sequence *c, enum queue_stop wanted, bool gone, int64_t now_ms,
                        struct stop_step *ret)
{
    *ret = next(c, wanted, gone, now_ms);
    return ret->signal != 0;
}
