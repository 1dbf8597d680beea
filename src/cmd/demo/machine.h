/* A machine that is not there: its kernel files in a folder, and a script of eight accelerators.
 * For some time, 'good', its disk keeps them busy, then it stalls for DEMO_STALL_S, and so on. */
#ifndef BRIM_CMD_DEMO_MACHINE_H
#define BRIM_CMD_DEMO_MACHINE_H
#include <stdint.h>

#include "base/err.h"

enum { DEMO_PATH = 128, DEMO_STALL_S = 40 };

struct demo_machine {
    char folder[DEMO_PATH]; /* "": there is none */
    int proc;               /* a descriptor of its proc/ */
    int64_t good_ns;
};

/* Make the folder, under $TMPDIR or /tmp, with files as of the first moment, among them gpus.ini
 * (see probe/gpu/fake_script.h). 0 or a negative errno with a sentence. */
int demo_machine_make(struct demo_machine *m, int64_t good_ns, struct err *e) CHECK_RESULT;

/* Write its counters as they are after so long. 0 or a negative errno. */
int demo_machine_write(const struct demo_machine *m, int64_t since_ns) CHECK_RESULT;

/* Call the machine so, for what samples it from now on. 0 or a negative errno. */
int demo_machine_call(const struct demo_machine *m, const char *name) CHECK_RESULT;

/* Remove what demo_machine_make() made, and the database of an agent beside it. */
void demo_machine_remove(struct demo_machine *m);

#endif
