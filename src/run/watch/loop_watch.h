/* The steps of a Python program that marks none, counted from outside: each round of the loop that
 * makes them (rounds.h), by the iterator that the loop asks (probe/python/loop.h). Nothing in the
 * program is stopped or changed. */
#ifndef BRIM_RUN_WATCH_LOOP_WATCH_H
#define BRIM_RUN_WATCH_LOOP_WATCH_H
#include <sys/types.h>

#include "base/clock.h"
#include "run/ring/rank_steps.h"

struct loop_watch;

/* 0 or -ENOMEM. The clock stays borrowed. */
int loop_watch_open(struct loop_watch **ret, const struct clock *clock) CHECK_RESULT;
void loop_watch_close(struct loop_watch *w);

/* Look at the first thread of a process, about ten times a second; steps since the last look are
 * added to the lane, all of their time in BRIM_STAGE_OTHER. since_ns: none is told of before. 0 or
 * -ENOMEM. */
int loop_watch_look(struct loop_watch *w, pid_t pid, int64_t since_ns, struct rank_steps *l)
    CHECK_RESULT;

/* Whether steps were counted. */
bool loop_watch_counts(const struct loop_watch *w);

/* The same; text: by which loop, a sentence. */
bool loop_watch_say(const struct loop_watch *w, char *text, size_t size);

#endif
