#include "optimize/race_runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "optimize/members.h"

struct race_runner {
    struct observe_pilot pilot;
    struct race_run heat;
    struct join join;
    bool tries, stopped;
    int64_t first_ns; /* when somebody made steps; 0: nobody yet */
};

static void start(void *arg, struct control *control, const char *elsewhere)
{
    (void)arg;
    (void)control; /* nothing is asked of it */
    (void)elsewhere;
}

static void take_event(void *arg, const struct ring_event *e)
{
    struct race_runner *h = arg;

    if (e->kind == RING_CLOSED) {
        h->join.ranks[e->ring].closed = true;
    } else if (e->kind == RING_STEP) {
        const struct join_step s = { .number = e->step->number,
                                     .begin_ns = e->step->begin_ns,
                                     .seconds = step_seconds(e->step),
                                     .samples = e->step->samples,
                                     .loss = e->step->loss,
                                     .saves = e->step->host_s[BRIM_STAGE_CHECKPOINT] > 0 };

        if (join_push(&h->join, e->ring, &s) < 0)
            race_run_fail(&h->heat, "out of memory");
    }
}

static void gather(struct race_runner *h, const struct run_snapshot *w)
{
    struct members m;

    members_find(&m, w->rings, &h->join, false);
    if (m.n && !h->first_ns)
        h->first_ns = w->now_ns;
    if (m.n == m.world)
        join_members(&h->join, m.in);
    else if (m.n > m.world)
        race_run_fail(&h->heat, "several processes train on their own");
    else if (m.n && w->now_ns - h->first_ns > MEMBERS_GATHER_NS)
        race_run_fail(&h->heat, "some ranks make no steps");
}

/* What the shim was told to set and could not: "knob.ddp.comm_hook.refused". */
static void look_for_refusal(struct race_runner *h, const struct rings *rings)
{
    static const char begin[] = "knob.", end[] = ".refused";
    char why[HEAT_TEXT];

    for (size_t i = 0; h->tries && i < rings_count(rings); i++) {
        const struct rank_steps *l = rings_lane(rings, i);

        for (size_t k = 0; k < l->n_notes; k++) {
            const struct rank_steps_note *n = &l->notes[k];
            size_t len = strlen(n->name);

            if (strncmp(n->name, begin, sizeof(begin) - 1) != 0 || len < sizeof(end) ||
                strcmp(n->name + len - (sizeof(end) - 1), end) != 0)
                continue;
            snprintf(why, sizeof(why), "%.*s", HEAT_TEXT - 1, n->value);
            race_run_fail(&h->heat, why);
        }
    }
}

static void take_steps(struct race_runner *h, const struct run_snapshot *w)
{
    struct join_step s;

    look_for_refusal(h, w->rings);
    while (h->join.members && join_next(&h->join, &s))
        race_run_step(&h->heat, &s);
}

static void turn(void *arg, const struct run_snapshot *w)
{
    struct race_runner *h = arg;

    if (w->asked)
        race_run_fail(&h->heat, "it was interrupted");
    if (!h->join.members)
        gather(h, w);
    take_steps(h, w);
    race_run_tick(&h->heat, clock_seconds(w->now_ns));
}

static void stop(void *arg)
{
    struct race_runner *h = arg;

    h->stopped = true;
    race_run_fail(&h->heat, "it was stopped");
}

static void end(void *arg, const struct run_snapshot *w)
{
    struct race_runner *h = arg;
    const struct run *r = w->run;
    bool killed = r->end == RUN_KILLED;
    char how[HEAT_TEXT];

    if (!h->join.members)
        gather(h, w);
    take_steps(h, w);
    snprintf(how, sizeof(how), "%s %d", killed ? "signal" : "exit status", r->status);
    race_run_end(&h->heat, killed || r->status ? how : NULL);
}

static bool over(void *arg)
{
    const struct race_runner *h = arg;

    return h->heat.state != HEAT_RUNS;
}

int race_runner_new(struct race_runner **ret, const struct race_run_plan *plan, bool tries)
{
    struct race_runner *h = calloc(1, sizeof(*h));

    if (!h)
        return -ENOMEM;
    h->pilot = (struct observe_pilot){ h, start, take_event, turn, stop, end, over, NULL };
    h->tries = tries;
    race_run_init(&h->heat, plan);
    join_init(&h->join);
    *ret = h;
    return 0;
}

void race_runner_free(struct race_runner *h)
{
    if (!h)
        return;
    join_done(&h->join);
    free(h);
}

const struct observe_pilot *race_runner_pilot(const struct race_runner *h)
{
    return &h->pilot;
}

const struct race_run *race_runner_run(const struct race_runner *h)
{
    return &h->heat;
}

bool race_runner_stopped(const struct race_runner *h)
{
    return h->stopped;
}
