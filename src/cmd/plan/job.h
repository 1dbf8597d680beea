/* What is to be planned, as the command line says it: the model, the cluster, the batch, and what
 * of the layout is settled. Shared by all of brim plan but eval. */
#ifndef BRIM_CMD_PLAN_JOB_H
#define BRIM_CMD_PLAN_JOB_H
#include "cmd/plan/known.h"
#include "plan/layout/pins.h"

enum { PLAN_NOTES = 1000 };

struct plan_ask {
    bool count_only; /* set before it is read: parameters are all that counts, not memory or time */
    struct plan_known known;
    struct plan_job job;
    struct cluster cluster; /* with the price of --price */
    struct pins pins;       /* of --pin; what they say of the job is in 'job' already */
    double parameters;
    double tokens;          /* to train on; NaN: not said */
    char notes[PLAN_NOTES]; /* what was assumed because nobody said it, parted by "; " */
};

/* Read what is to be planned. model is a name of data/models.csv, a config.json, or a directory
 * with one; NULL is an error. 0; with a sentence ERR_USAGE when an option is missing or no value
 * of its, or a negative errno. Call plan_ask_done(ret) in any case; start with zeros. */
int plan_ask_read(const struct plan_opts *o, const char *model, struct plan_ask *ret, struct err *e)
    CHECK_RESULT;
void plan_ask_done(struct plan_ask *a);

#endif
