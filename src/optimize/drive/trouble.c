/* Losses that get worse, and jobs that hang. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#include "optimize/drive/drive_private.h"

/* So long nothing at all is marked after a request, and it counts as failed; 100 steps if that is
 * longer. */
#define HANG_NS (60 * NS_PER_S)

static void forget_numeric(struct drive *d)
{
    const struct session *s = &d->session;

    if (!d->numeric || d->numeric_entry >= s->n_entries ||
        s->entries[d->numeric_entry].outcome == SESSION_ADOPTED || d->order.open)
        return;
    loss_check_settle(&d->losses, false);
    d->numeric = false;
}

static bool is_tried(const struct drive *d, unsigned entry)
{
    const struct session *s = &d->session;

    if (entry == s->n_entries)
        return s->phase == PHASE_CANARY || s->phase == PHASE_TRIAL;
    return entry + 1 == s->n_entries && (s->phase == PHASE_ADOPT || s->phase == PHASE_GUARD);
}

/* A setting that makes the loss worse goes, whether it is on trial or was kept. */
static void look_at_losses(struct drive *d)
{
    char why[LOSSES_TEXT];

    forget_numeric(d);
    if (!d->numeric || d->order.open || !loss_check_worse(&d->losses, why))
        return;
    d->numeric = false;
    loss_check_settle(&d->losses, false);
    if (d->state == DRIVE_RUNS && is_tried(d, d->numeric_entry)) {
        drive_send(d, SESSION_FAILED, why);
        return;
    }
    /* It was kept, and another one may be on trial. */
    snprintf(d->undo, sizeof(d->undo), "%s", why);
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_STOP, "a setting that was kept made the loss worse");
}

static void undo_late(struct drive *d)
{
    if (!d->undo[0] || d->state != DRIVE_AFTER || d->order.open)
        return;
    drive_watch_undo(d, d->numeric_entry, d->undo);
    d->undo[0] = '\0';
}

static void look_for_hang(struct drive *d)
{
    uint64_t marks = rings_marks(d->w.rings);
    int64_t limit = HANG_NS;
    char why[ORDER_TEXT];

    if (d->step_s > 0)
        limit = MAX(limit, clock_ns(100 * d->step_s));
    if (marks != d->marks)
        d->marks_ns = d->w.now_ns;
    d->marks = marks;
    if (!d->order.open || d->w.now_ns - d->marks_ns < limit)
        return;
    d->order.open = false;
    snprintf(why, sizeof(why), "the job has made no mark for %.0f s", (double)limit / 1e9);
    if (d->state == DRIVE_AFTER)
        drive_watch_done(d, false, why);
    else
        drive_send(d, SESSION_FAILED, why);
}

void drive_look_for_trouble(struct drive *d)
{
    if (d->error && d->state == DRIVE_RUNS)
        drive_send(d, SESSION_STOP, "out of memory");
    look_at_losses(d);
    undo_late(d);
    look_for_hang(d);
}
