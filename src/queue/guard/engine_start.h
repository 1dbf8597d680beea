/* The engine of a queue's folder: whether there is one, and how one is started on demand. */
#ifndef BRIM_QUEUE_GUARD_ENGINE_START_H
#define BRIM_QUEUE_GUARD_ENGINE_START_H
#include <stdbool.h>

#include "base/compiler.h"

/* Start the engine of a queue's folder on demand, as a process of its own; whether it comes up
 * shows at the socket. 0 or a negative errno. */
int queue_engine_start(const char *folder) CHECK_RESULT;

/* Whether an engine holds the folder's lock. */
bool queue_engine_lives(int dir);

/* There while no engine is to be started by itself: its operator ended it, or runs one as a
 * service. And while one is there for all users. */
#define QUEUE_STOPPED "stopped"
#define QUEUE_SHARED "shared"
#define QUEUE_LOCK "lock"
#define QUEUE_LOG "engine.log"

#endif
