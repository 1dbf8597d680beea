/* The end of a queue that all users of a machine share. */
#ifndef BRIM_QUEUE_RETIRE_H
#define BRIM_QUEUE_RETIRE_H
#include "base/err.h"

/* From now on each user has a queue of their own. Nothing else takes that back from a queue that
 * was shared, since two queues would give the same devices. 0, -ENOENT when it is not shared,
 * -EBUSY while an engine runs it or a job has not ended; with a sentence. */
int queue_retire(const char *folder, struct err *e) CHECK_RESULT;

#endif
