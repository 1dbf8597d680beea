/* Settings of this machine: no process of the job is asked for them, and they are in force at
 * once. */
#include <errno.h>
#include <stdio.h>

#include "optimize/drive/drive_private.h"
#include "run/setting/machine_setting.h"

bool drive_is_machine(const struct drive *d, const char *knob)
{
    const struct knob *k = knobs_find(d->c.knobs, knob);

    return k && k->apply == KNOB_DEVICE;
}

bool drive_set_machine(struct drive *d, const char *knob, const char *value, char *why)
{
    const struct drive_machine *m = d->c.machine;
    const struct knob *k = knobs_find(d->c.knobs, knob);

    snprintf(why, SESSION_TEXT, "it needs an operator: --allow privileged");
    if (!m || !k || !m->set(m->arg, k->target, value, why))
        return false;
    d->asked = true;
    drive_switched_now(d);
    return true;
}

static int add_note(struct run *r, struct run_rank *rank, const char *name, const char *value)
{
    struct run_note *note = ARENA_PUSH(&r->arena, &rank->notes, &rank->n_notes);

    if (!note)
        return -ENOMEM;
    *note = (struct run_note){ name, arena_strdup(&r->arena, value) };
    return note->value ? 0 : -ENOMEM;
}

int drive_add_machine(struct drive *d, struct run *r)
{
    const struct drive_machine *m = d->c.machine;
    int rc = 0;

    for (size_t i = 0; m && i < d->c.knobs->count && rc == 0; i++) {
        const struct knob *k = &d->c.knobs->list[i];
        char value[LEVER_WORD];

        if (k->apply != KNOB_DEVICE || !m->now(m->arg, k->target, value))
            continue;
        for (size_t n = 0; n < r->n_ranks && rc == 0; n++)
            rc = add_note(r, &r->ranks[n], k->name, value);
    }
    return rc;
}
