/* Trials between two values that are the same, on a job that runs: what is accepted is accepted
 * wrongly.
 *
 *     same FOLDER TARGET=VALUE TRIALS BLOCK_MS
 *
 * The folder is that of the job's rings (BRIM_RING). At each change of a trial the job is asked for
 * the value that it has, and steps count when it has answered. Prints how the trials ended. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "run/ring/control.h"
#include "run/ring/rings.h"
#include "tune/trial/trial.h"

enum { SHARING = 5 /* trials of a session */, WARM_UP = 200 /* steps */, LOOK_MS = 5 };

struct same {
    struct control *control;
    const char *request;
    struct trial_plan plan;
    struct trial trial;
    uint64_t number; /* of the request under way */
    bool asking, b, closed, refused;
    uint64_t ended[TRIAL_UNDECIDED + 1], trials, wanted, steps;
};

static void ask(struct same *s)
{
    s->b = trial_want(&s->trial);
    s->asking = true;
    if (control_ask(s->control, s->request, 0, &s->number) < 0)
        s->refused = true;
}

static void take_step(struct same *s, double seconds)
{
    enum trial_verdict v;

    if (++s->steps < WARM_UP || s->asking)
        return;
    v = trial_steps(&s->trial, s->b, seconds, 1);
    if (v != TRIAL_RUNS) {
        s->ended[v]++;
        s->trials++;
        trial_init(&s->trial, &s->plan);
    }
    if (trial_want(&s->trial) != s->b)
        ask(s);
}

static void take_event(void *arg, const struct ring_event *e)
{
    struct same *s = arg;

    if (e->kind == RING_STEP && s->trials < s->wanted)
        take_step(s, step_seconds(e->step));
    else if (e->kind == RING_SWITCH && e->request == s->number)
        s->asking = false;
    s->refused = s->refused || (e->kind == RING_SWITCH && e->outcome != BRIM_SWITCH_DONE);
    s->closed = s->closed || e->kind == RING_CLOSED;
}

static int run(struct same *s, const char *folder, struct err *e)
{
    CLEANUP(rings_closep) struct rings *rings = NULL;
    CLEANUP(control_closep) struct control *control = NULL;
    int rc = control_make(&control, folder, e);

    if (rc == 0)
        rc = rings_open(&rings, folder, e);
    if (rc < 0)
        return rc;
    s->control = control;
    rings_follow(rings, take_event, s);
    puts("ready"); /* a ring that is opened before there is a control file never looks for one */
    fflush(stdout);
    while (rc == 0 && s->trials < s->wanted && !s->closed && !s->refused) {
        const struct timespec rest = { .tv_nsec = LOOK_MS * 1000000L };

        rc = rings_read(rings, e);
        nanosleep(&rest, NULL);
    }
    return rc;
}

int main(int argc, char **argv)
{
    struct same s = { .request = argc == 5 ? argv[2] : "", .plan = trial_plan_usual(SHARING) };
    struct err e = { "" };
    uint64_t block_ms;
    int rc;

    if (argc != 5 || parse_u64(argv[3], &s.wanted) < 0 || parse_u64(argv[4], &block_ms) < 0) {
        fprintf(stderr, "usage: same FOLDER TARGET=VALUE TRIALS BLOCK_MS\n");
        return 2;
    }
    s.plan.block_s = (double)block_ms / 1e3;
    trial_init(&s.trial, &s.plan);
    rc = run(&s, argv[1], &e);
    if (rc < 0 || s.refused) {
        fprintf(stderr, "same: %s\n", rc < 0 ? e.text : "the job refused a request");
        return 1;
    }
    printf("trials %llu accepted %llu rejected %llu undecided %llu steps %llu\n",
           (unsigned long long)s.trials, (unsigned long long)s.ended[TRIAL_ACCEPT],
           (unsigned long long)s.ended[TRIAL_REJECT], (unsigned long long)s.ended[TRIAL_UNDECIDED],
           (unsigned long long)s.steps);
    return 0;
}
