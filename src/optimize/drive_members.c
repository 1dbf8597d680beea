/* Which processes make the job. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive_view.h"

/* Steps until a process counts as one that trains. */
enum { STEPS_LEAST = 5 };

/* Ranks that start later than that after the first do not come any more. */
#define GATHER_NS ((int64_t)20 * 1000 * 1000 * 1000)
/* Members without a step for so long are gone when others make some. */
#define QUIET_NS ((int64_t)2 * 1000 * 1000 * 1000)

/* Those that make steps: either all ranks of one world, or one process. */
void drive_gather(struct drive *d)
{
    bool in[JOIN_RANKS] = { false };
    size_t n = 0, world = 1;

    for (size_t i = 0; i < MIN(rings_count(d->w.rings), (size_t)JOIN_RANKS); i++) {
        const struct lane *l = rings_lane(d->w.rings, i);

        in[i] = d->join.ranks[i].seen >= STEPS_LEAST && !d->join.ranks[i].closed &&
                (!d->retry || d->join.ranks[i].fresh);
        n += in[i];
        if (in[i] && l->world > 1)
            world = MAX(world, (size_t)l->world);
    }
    if (n && !d->first_ns)
        d->first_ns = d->w.now_ns;
    if (!n || (n < world && d->w.now_ns - d->first_ns < GATHER_NS))
        return;
    if (n < world) {
        drive_off(d,
                  "%zu of %zu ranks run here, and those elsewhere can not be asked: the job is "
                  "only observed",
                  n, world);
        return;
    }
    if (n > world) {
        drive_off(d, "%zu processes train on their own: the job is only observed", n);
        return;
    }
    join_members(&d->join, in);
    for (size_t i = 0; i < JOIN_RANKS; i++)
        d->join.ranks[i].fresh = !d->join.ranks[i].seen;
    d->state = DRIVE_RUNS;
    d->lost = false;
    d->step_ns = d->w.now_ns;
    drive_begin_group(d);
}

/* Processes that were started after the members were found, and make steps where those do not. */
static bool are_new(const struct drive *d)
{
    bool quiet = d->gone || d->w.now_ns - d->step_ns > QUIET_NS;

    for (size_t i = 0; i < JOIN_RANKS && quiet; i++) {
        const struct join_rank *r = &d->join.ranks[i];

        if (!r->in && !r->closed && r->fresh && r->seen >= STEPS_LEAST)
            return true;
    }
    return false;
}

/* While nothing was tried the new processes may be those that train; else they have settings of
 * their own, and what the trials showed was of others. */
void drive_look_at_members(struct drive *d)
{
    static const bool none[JOIN_RANKS];

    if (d->join.apart && d->state == DRIVE_RUNS)
        drive_send(d, SESSION_STOP, "ranks do not make their steps together");
    if (!are_new(d))
        return;
    if (d->state == DRIVE_RUNS && !d->session.trials) {
        d->state = DRIVE_WAITS;
        d->gone = d->asking = false;
        d->entries = d->begun_trial = 0;
        d->progress = (struct progress){ .told = 0 };
        d->retry = true;
        d->first_ns = 0;
        join_members(&d->join, none);
        session_init(&d->session, &d->c.plan);
        return;
    }
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_ENDED, "other processes go on with the job");
    d->state = DRIVE_OFF;
}
