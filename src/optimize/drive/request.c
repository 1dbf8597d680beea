/* Asking the job for a setting. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"

/* Two more observers look at what is told, and one at what is asked, as often as we do. */
#define FAR_S 0.1

bool drive_is_loader(const char *knob)
{
    return !strncmp(knob, "loader.", strlen("loader."));
}

/* A step that no rank has ended when it learns of the request: steps that end while we look at them
 * every 25 ms, and some more; where ranks are far, the steps of what is told take as long to come,
 * and so does the request. */
static uint64_t common_step(const struct drive *d)
{
    double ahead = d->step_s > 0 ? (0.1 + (d->w.far_s > 0 ? FAR_S + 2 * d->w.far_s : 0)) / d->step_s
                                 : 0;

    return join_newest(&d->join) + 3 + (uint64_t)fmin(ahead, 1000);
}

/* Settings of each rank's own go back where a rank is cut off; those that all share would not go
 * back at one step. */
static void set_back(struct drive *d, const struct drive_wish *w, const struct knob *k)
{
    d->back[0] = '\0';
    if (w->back && *w->back && drive_is_loader(w->knob))
        snprintf(d->back, sizeof(d->back), "%s=%s", k->target, w->back);
}

bool drive_request(struct drive *d, const struct drive_wish *w, bool apply, const char **why)
{
    const struct knob *k = knobs_find(d->c.knobs, w->knob);
    const struct knob *also = w->also ? knobs_find(d->c.knobs, w->also) : NULL;
    char text[2 * (KNOB_NAME_MAX + KNOB_VALUE_MAX + 2)];
    struct control_request r = { .text = text, .back = d->back };
    bool far = d->w.far_s > 0;
    uint64_t number;
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
    if (d->join.members > 1 && (!drive_is_loader(w->knob) || (far && !d->lost)))
        r.at_step = common_step(d);
    set_back(d, w, k);
    rc = control_try(d->control, &r, &number);
    *why = rc == -EINVAL ? "its request is too long"
                         : "the file by which the job is asked was cut off or can not be written";
    if (rc < 0)
        return false;
    job_request_begin(&d->order, number, apply);
    d->asked = true;
    d->marks_ns = d->asked_ns = d->w.now_ns;
    return true;
}
