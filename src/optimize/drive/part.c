/* Ranks of another host are out of reach. */
#include "optimize/drive/drive_private.h"

void drive_part(struct drive *d)
{
    static const char out_of_reach[] = "ranks on another host are out of reach";
    uint64_t number;

    if (d->back[0] && control_ask(d->control, d->back, 0, &number) == 0)
        drive_say(d, "what was on trial is taken back: %s", d->back);
    d->back[0] = '\0';
    d->order.open = false;
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_ENDED, out_of_reach);
    else
        drive_say(d, "settings stay as they are: %s", out_of_reach);
    d->state = DRIVE_OFF;
}
