/* What the plugin tells brim-task, by variables that the command does not see. */
#ifndef BRIM_TASK_WORDS_H
#define BRIM_TASK_WORDS_H

#define TASK_BRIM "BRIM_TASK_BRIM"       /* the path of brim */
#define TASK_PROFILE "BRIM_TASK_PROFILE" /* for --profile; not set: none */
#define TASK_OPTIMIZE "optimize"         /* in the place of a profile: find one, or take it */
#define TASK_COMMAND \
    "BRIM_TASK_COMMAND" /* the command, whose arguments begin at argv[1]; not set:
                                            it is argv[1] */

#endif
