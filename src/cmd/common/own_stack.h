/* A program's stack where its user allows it next to none (ulimit -s). */
#ifndef BRIM_CMD_COMMON_OWN_STACK_H
#define BRIM_CMD_COMMON_OWN_STACK_H

typedef int own_stack_fn(int argc, char **argv);

/* Call fn and return what it does, with 2 MiB of stack at least, for threads that it starts as
 * well: where the limit is lower on memory of our own. The limit stays, for those who are started.
 * Without memory fn is called on the stack that there is. */
int own_stack_call(own_stack_fn *fn, int argc, char **argv);

#endif
