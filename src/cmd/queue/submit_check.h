/* What of a submission can be found wrong before the job is in the queue. */
#ifndef BRIM_CMD_QUEUE_SUBMIT_CHECK_H
#define BRIM_CMD_QUEUE_SUBMIT_CHECK_H
#include "base/err.h"

/* Whether the folder can be entered by this user. 0, or a negative errno with a sentence. */
int submit_check_folder(const char *folder, struct err *e) CHECK_RESULT;

/* Whether there is such a command: a path, from the folder on, or a name in PATH (NULL: it is not
 * set). 0, or a negative errno with a sentence. */
int submit_check_command(const char *command, const char *folder, const char *path, struct err *e)
    CHECK_RESULT;

/* Whether the job could write that file (NULL: it is not asked to): this user may, it or its folder
 * is there, and it is no folder. One with a '%' is not looked for: the job has no number yet. 0, or
 * a negative errno with a sentence that names the option. */
int submit_check_output(const char *option, const char *file, const char *folder, struct err *e)
    CHECK_RESULT;

#endif
