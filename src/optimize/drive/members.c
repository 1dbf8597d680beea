/* Which processes make the job. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "optimize/drive/drive_private.h"
#include "base/clock.h"
#include "optimize/members.h"

/* Members without a step for so long are gone when others make some. */
#define QUIET_NS (2 * NS_PER_S)

void drive_gather(struct drive *d)
{
    struct members m;

    members_find(&m, d->w.rings, &d->join, d->retry);
    if (!m.n)
        d->first_ns = 0; /* who has ended before others came is no part of the job */
    else if (!d->first_ns)
        d->first_ns = d->w.now_ns;
    if (!m.n || d->w.now_ns - d->first_ns < MEMBERS_SETTLE_NS ||
        (m.n < m.world && d->w.now_ns - d->first_ns < MEMBERS_GATHER_NS))
        return;
    if (m.n < m.world) {
        drive_off(d,
                  "%zu of %zu ranks run here, and those elsewhere can not be asked: the job is "
                  "only observed",
                  m.n, m.world);
        return;
    }
    if (m.n > m.world) {
        drive_off(d, "%zu processes train on their own: the job is only observed", m.n);
        return;
    }
    join_members(&d->join, m.in);
    for (size_t i = 0; i < JOIN_RANKS; i++)
        d->join.ranks[i].fresh = !d->join.ranks[i].seen;
    d->state = DRIVE_RUNS;
    d->lost = false;
    d->step_ns = d->w.now_ns;
    /* What was measured before tells of its start: of imports. */
    d->since_ns = MIN(d->first_ns, join_newest_ns(&d->join));
    drive_begin_group(d);
}

/* Processes that were started after the members were found, and make steps where those do not. */
static bool are_new(const struct drive *d)
{
    bool quiet = d->gone || d->w.now_ns - d->step_ns > QUIET_NS;

    for (size_t i = 0; i < JOIN_RANKS && quiet; i++) {
        const struct join_rank *r = &d->join.ranks[i];

        if (!r->in && !r->closed && r->fresh && r->seen >= MEMBERS_STEPS)
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
        d->begun_trial = 0;
        d->retry = true;
        d->first_ns = 0;
        join_members(&d->join, none);
        drive_session(d);
        return;
    }
    if (d->state == DRIVE_RUNS)
        drive_send(d, SESSION_ENDED, "other processes go on with the job");
    d->state = DRIVE_OFF;
}
