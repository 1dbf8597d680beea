/* Which lines of the job's Python took the time, in the .ini file of a part: a section [lines] with
 * the samples of each stage, and a [line] for each line. */
#ifndef BRIM_RUN_ARCHIVE_LINES_READ_H
#define BRIM_RUN_ARCHIVE_LINES_READ_H
#include "base/ini.h"
#include "model/job/run.h"

struct lines_read {
    struct run *run;
    bool reads; /* 'now' is a [line] that is being read */
    struct lines_entry now;
};

/* Take an entry of such a section; those of others, and what cannot be read, are left out. 0 or
 * -ENOMEM with a sentence. */
int lines_read_take(struct lines_read *l, const struct ini_entry *at, struct err *e) CHECK_RESULT;

/* Behind the last entry. */
void lines_read_end(struct lines_read *l);

#endif
