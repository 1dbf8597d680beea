/* What brim optimize tried, in the .ini file of a part: sections [tuning], [tuning.before],
 * [tuning.after], and one [trial] for each. */
#ifndef BRIM_RUN_ARCHIVE_TRIALS_READ_H
#define BRIM_RUN_ARCHIVE_TRIALS_READ_H
#include "base/ini.h"
#include "model/job/run.h"

struct trials_read {
    struct run *run;
    struct run_tuning *tuning; /* in the run's arena; NULL until there is some */
};

/* Take an entry of such a section; those of others, and what cannot be read, are left out. 0 or
 * -ENOMEM with a sentence. */
int trials_read_take(struct trials_read *t, const struct ini_entry *at, struct err *e) CHECK_RESULT;

/* Trials without a knob or a value are none. */
void trials_read_end(struct trials_read *t);

#endif
