/* The file by which a job that runs is asked to change a setting (brim/control.h): its only
 * writer. It is written by calls, not mapped: a job may cut it off, which would end us with SIGBUS
 * under a mapping. */
#ifndef BRIM_RUN_RING_CONTROL_H
#define BRIM_RUN_RING_CONTROL_H
#include <stdint.h>

#include "base/err.h"

struct control;

/* Make it in the folder of rings, before the job starts. 0 or a negative errno with a sentence. */
int control_make(struct control **ret, const char *folder, struct err *e) CHECK_RESULT;

/* Ends our writing; the file stays for its readers. */
void control_close(struct control *c);
DEFINE_CLEANUP(struct control, control_close)

/* Ask for "target=value", from step at_step on; 0: as soon as it is seen. The request takes the
 * place of the last one. Its number, from 1, in *number; -EINVAL for a text that is too long,
 * -ENODATA where the job has cut the file off, or another negative errno: then nobody reads the
 * request. */
int control_ask(struct control *c, const char *text, uint64_t at_step, uint64_t *number)
    CHECK_RESULT;

#endif
