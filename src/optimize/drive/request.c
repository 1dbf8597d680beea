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

bool drive_request(struct drive *d, const struct drive_wish *w, bool apply, const char **why)
{
    const struct knob *k = knobs_find(d->c.knobs, w->knob);
    const struct knob *also = w->also ? knobs_find(d->c.knobs, w->also) : NULL;
    char text[2 * (KNOB_NAME_MAX + KNOB_VALUE_MAX + 2)];
    uint64_t number, at_step = 0;
    int rc;

    *why = "only jobs with brim's shim can change it while they run";
    if (!k || k->apply != KNOB_SHIM || !d->control)
        return false;
    *why = "marks of a rank were lost, so that ranks can not be told to change at the same step";
    if (d->lost && d->join.members > 1 && !drive_is_loader(w->knob))
        return false;
    /* What goes with it first: workers that stay are worth starting where others are not. */
    if (also)
        snprintf(text, sizeof(text), "%s=%s;%s=%s", also->target, w->also_value, k->target,
                 w->value);
    else
        snprintf(text, sizeof(text), "%s=%s", k->target, w->value);
    if (d->join.members > 1 && !drive_is_loader(w->knob))
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
