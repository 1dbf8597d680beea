/* Jobs of Slurm as JSON, with the keys that those of brim's queue have (queue/show.c). Pure. */
#ifndef BRIM_SLURM_USER_SHOW_H
#define BRIM_SLURM_USER_SHOW_H
#include "base/str.h"
#include "model/site/site.h"

/* Which ones. */
struct slurm_jobs_shown {
    int64_t id;       /* 0: any; else one job, or a whole array */
    int64_t task;     /* of that array; -1: all */
    int64_t since_ms; /* with those that ended since then */
    int64_t from;     /* those from that id on */
    uint64_t most;    /* so many at most */
    const char *user; /* NULL: of all */
};

/* Add the document; how many jobs are in it. *next: the id of the first that was left out for most;
 * 0: none was. */
size_t slurm_show_jobs(const struct site *s, const struct slurm_jobs_shown *what, int64_t now_ms,
                       struct str *out, int64_t *next);

#endif
