/* Settings of this machine in brim optimize: a restorer changes them, and puts them back. */
#ifndef BRIM_CMD_OPTIMIZE_MACHINE_H
#define BRIM_CMD_OPTIMIZE_MACHINE_H
#include "cmd/run/start_job.h"
#include "optimize/drive/drive.h"
#include "run/setting/setting_restorer.h"

struct optimize_machine {
    struct setting_restorer *restorer; /* NULL: nothing of the machine is changed */
    struct drive_machine drive;
    bool changed;
    struct job_talk *talk;
};

/* Put back what a killed brim has left, which is told; then, if the user allows it, begin. *m stays
 * where it is. 0 or a negative errno with a sentence. */
int optimize_machine_begin(struct arena *a, struct optimize_machine *m, bool allowed,
                           struct job_talk *talk, struct err *e) CHECK_RESULT;

/* Put all back; what could not be is told. */
void optimize_machine_end(struct optimize_machine *m);

/* The same for commands that change nothing themselves: only what a killed brim has left. */
void machine_recover(struct arena *a, struct job_talk *talk);

/* brim optimize --undo: an exit status, or a negative errno with a sentence. */
int machine_undo(struct arena *a, struct err *e) CHECK_RESULT;

#endif
