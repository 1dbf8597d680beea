/* Which processes make the job: how long they are waited for, and what becomes of a drive when
 * others go on with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/drive/drive_private.h"
#include "optimize/members.h"
#include "tap.h"

#define S NS_PER_S

static char said[400];

static void say(void *arg, const char *sentence)
{
    (void)arg;
    snprintf(said, sizeof(said), "%s", sentence);
}

static struct drive *new_drive(void)
{
    static const struct knobs none;
    const struct goal goal = { .kind = GOAL_THROUGHPUT };
    const struct drive_config c = {
        .knobs = &none, .plan = drive_plan(60, &goal), .goal = goal, .say = say
    };
    struct drive *d;

    if (drive_new(&d, &c) < 0)
        abort();
    said[0] = '\0';
    return d;
}

/* So many ranks of a world have made their first steps, and so long ago. */
static void test_gather(void)
{
    static const char alone[] = "2 processes train on their own: the job is only observed";
    static const char elsewhere[] = "1 of 2 ranks run here, and those elsewhere can not be asked: "
                                    "the job is only observed";
    static const struct {
        int ranks, world;
        int64_t waited_ns;
        enum drive_state state;
        const char *why;
    } cases[] = {
        { 0, 1, 30 * S, DRIVE_WAITS, "" },
        { 1, 1, MEMBERS_SETTLE_NS - 1, DRIVE_WAITS, "" },
        { 1, 1, MEMBERS_SETTLE_NS, DRIVE_RUNS, "" },
        { 1, 2, MEMBERS_SETTLE_NS, DRIVE_WAITS, "" },
        { 1, 2, 20 * S - 1, DRIVE_WAITS, "" },
        { 1, 2, 20 * S, DRIVE_OFF, elsewhere },
        { 2, 2, MEMBERS_SETTLE_NS, DRIVE_RUNS, "" },
        { 2, 1, MEMBERS_SETTLE_NS, DRIVE_OFF, alone },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct drive *d = new_drive();
        struct rings *rings = NULL;
        size_t ring;

        if (rings_open(&rings, "/", NULL) < 0)
            abort();
        for (int r = 0; r < 3; r++) {
            const struct rank_steps about = { .rank = r, .world = cases[i].world, .host = "n" };

            if (rings_far_add(rings, &about, &ring) < 0)
                abort();
            d->join.ranks[r].seen = r < cases[i].ranks ? MEMBERS_STEPS : MEMBERS_STEPS - 1;
            d->join.ranks[r].newest_ns = 7 * S;
        }
        d->w.rings = rings;
        d->w.now_ns = 9 * S;
        d->lost = true;
        drive_gather(d);
        is_int(d->state, DRIVE_WAITS, "case %zu: ranks that have just come are waited for", i);
        is_int(d->first_ns / S, cases[i].ranks ? 9 : 0, "case %zu: the first steps have a time", i);
        d->w.now_ns += cases[i].waited_ns;
        drive_gather(d);
        is_int(d->state, cases[i].state, "case %zu: the job is found or is not", i);
        is_str(said, cases[i].why, "case %zu: the user is told why not", i);
        if (d->state == DRIVE_RUNS) {
            is_int((long long)d->join.members, cases[i].ranks, "case %zu: all are members", i);
            ok(!d->lost && d->step_ns == d->w.now_ns && d->since_ns == 7 * S,
               "case %zu: members begin with what is in force", i);
            ok(!d->join.ranks[2].in && !d->join.ranks[2].fresh && d->join.ranks[3].fresh,
               "case %zu: who comes later is new", i);
        }
        rings_close(rings);
        drive_free(d);
    }
}

/* A process that is no member: whether it is taken for one that goes on with the job. */
static void test_others(void)
{
    static const struct {
        const char *what;
        enum drive_state state;
        bool gone;
        int64_t quiet_ns;
        bool in, closed, fresh;
        unsigned seen, trials;
        enum drive_state then;
    } cases[] = {
        { "behind one that ended", DRIVE_RUNS, true, 0, false, false, true, 5, 0, DRIVE_WAITS },
        { "while members make steps", DRIVE_RUNS, false, 2 * S, false, false, true, 5, 0,
          DRIVE_RUNS },
        { "while members make none", DRIVE_RUNS, false, 2 * S + 1, false, false, true, 5, 0,
          DRIVE_WAITS },
        { "that is a member", DRIVE_RUNS, true, 0, true, false, true, 5, 0, DRIVE_RUNS },
        { "that has ended", DRIVE_RUNS, true, 0, false, true, true, 5, 0, DRIVE_RUNS },
        { "that was there before", DRIVE_RUNS, true, 0, false, false, false, 5, 0, DRIVE_RUNS },
        { "of four steps", DRIVE_RUNS, true, 0, false, false, true, 4, 0, DRIVE_RUNS },
        { "after a trial", DRIVE_RUNS, true, 0, false, false, true, 5, 1, DRIVE_OFF },
        { "after the session", DRIVE_AFTER, true, 0, false, false, true, 5, 0, DRIVE_OFF },
    };
    static const size_t ranks[] = { 0, JOIN_RANKS - 1 };

    for (size_t i = 0; i < ARRAY_SIZE(cases) * ARRAY_SIZE(ranks); i++) {
        const size_t n = i / ARRAY_SIZE(ranks);
        struct drive *d = new_drive();
        struct join_rank *r = &d->join.ranks[ranks[i % ARRAY_SIZE(ranks)]];

        *r = (struct join_rank){ .in = cases[n].in,
                                 .closed = cases[n].closed,
                                 .fresh = cases[n].fresh,
                                 .seen = cases[n].seen };
        d->state = cases[n].state;
        d->join.members = 1;
        d->gone = cases[n].gone;
        d->asking = true;
        d->first_ns = 3 * S;
        d->begun_trial = 1;
        d->w.now_ns = 9 * S;
        d->step_ns = d->w.now_ns - cases[n].quiet_ns;
        d->session.trials = cases[n].trials;
        drive_look_at_members(d);
        is_int(d->state, cases[n].then, "a process %s goes on with the job or does not",
               cases[n].what);
        ok(d->state != DRIVE_WAITS || (!d->gone && !d->asking && d->retry && !d->first_ns &&
                                       !d->join.members && !d->begun_trial),
           "a process %s is waited for anew", cases[n].what);
        if (cases[n].trials)
            is_str(d->session.reason, "other processes go on with the job",
                   "a session says why it ended");
        drive_free(d);
    }
}

static void test_apart(void)
{
    for (int after = 0; after < 2; after++) {
        struct drive *d = new_drive();

        d->state = after ? DRIVE_AFTER : DRIVE_RUNS;
        d->join.apart = true;
        drive_look_at_members(d);
        is_str(d->session.reason ? d->session.reason : "",
               after ? "" : "ranks do not make their steps together",
               "ranks that run ahead end a session that goes on");
        is_int(d->state, DRIVE_AFTER, "what was kept is watched then");
        drive_free(d);
    }
}

int main(void)
{
    test_gather();
    test_others();
    test_apart();
    return done();
}
