/* Asking the job for a setting. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

bool drive_is_loader(const char *knob)
{
    return !strncmp(knob, "loader.", strlen("loader."));
}

/* A step that no rank has ended when it learns of the request: steps that end while we look at them
 * every 25 ms, and some more. */
static uint64_t common_step(const struct drive *d)
{
    double ahead = d->step_s > 0 ? 0.1 / d->step_s : 0;

    return join_newest(&d->join) + 3 + (uint64_t)fmin(ahead, 1000);
}

bool drive_request(struct drive *d, const char *knob, const char *value, bool apply,
                   const char **why)
{
    const struct knob *k = knobs_find(d->c.knobs, knob);
    char text[KNOB_NAME_MAX + KNOB_VALUE_MAX + 2];
    uint64_t number, at_step = 0;
    int rc;

    *why = "only jobs with brim's shim can change it while they run";
    if (!k || k->apply != KNOB_SHIM || !d->control)
        return false;
    *why = "marks of a rank were lost, so that ranks can not be told to change at the same step";
    if (d->lost && d->join.members > 1 && !drive_is_loader(knob))
        return false;
    snprintf(text, sizeof(text), "%s=%s", k->target, value);
    if (d->join.members > 1 && !drive_is_loader(knob))
        at_step = common_step(d);
    rc = control_ask(d->control, text, at_step, &number);
    *why = rc == -EINVAL ? "its request is too long"
                         : "the file by which the job is asked was cut off or can not be written";
    if (rc < 0)
        return false;
    job_request_begin(&d->order, number, apply);
    d->asked = true;
    d->marks_ns = d->asked_ns = d->w.now_ns;
    return true;
}
