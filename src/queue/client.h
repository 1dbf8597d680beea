/* The other side of the engine's socket: what a command asks. */
#ifndef BRIM_QUEUE_CLIENT_H
#define BRIM_QUEUE_CLIENT_H
#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

#define QUEUE_SOCKET "socket"

/* What an answer without a word, and one that makes no sense, means for who asked. */
#define QUEUE_NO_ANSWER \
    "the queue's engine ended before it answered: brim jobs asks another one, and tells what " \
    "became of this"
#define QUEUE_BAD_ANSWER \
    "the answer of the queue's engine is damaged: brim jobs asks again, and tells what became of " \
    "this"

/* Ask the engine of a folder, starting one when none is there: a request into an answer, both as
 * queue/job/wire.h has them. 0; the engine's own error (-ENOENT: no such job ...) or another
 * negative errno, with a sentence. */
int queue_ask(const char *folder, const struct str *request, struct str *answer, struct err *e)
    CHECK_RESULT;

/* The same for a request "wait", whose answer comes when the jobs of "job" have ended, however long
 * that takes: an engine that goes meanwhile is started again, and asked again. Meanwhile a disk
 * without room is told. */
int queue_wait(const char *folder, const struct str *request, struct str *answer, struct err *e)
    CHECK_RESULT;

/* Warn when the disk of a queue has no room: then no job starts, and none that runs is seen to end.
 * Whether it did. */
bool queue_warn_full(const char *folder);

/* Whether a folder has a queue; whether it has one for all users of the machine. */
bool queue_is_there(const char *folder);
bool queue_is_shared(const char *folder);

#endif
