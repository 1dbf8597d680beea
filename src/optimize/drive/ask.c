/* What limits the job now, and what is worth a trial against it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/verdict/judge.h"
#include "optimize/drive/drive_private.h"
#include "tune/propose/facts.h"

/* Steps that are looked at: shares and rates of a thousand are as good as those of more. */
enum { LOOK_STEPS = 1000 };

static const double least_gain = 0.02;

static int judge(struct drive *d, struct run *r)
{
    struct verdict v = { .sentence = NULL };
    int rc = run_snapshot(r, &d->w, d->since_ns, LOOK_STEPS);

    r->tuning = drive_record(d); /* a rank tells its settings when it starts */
    if (rc == 0)
        rc = drive_add_machine(d, r);
    if (rc == 0)
        rc = judge_run(r, NULL, &v);
    if (rc < 0) {
        verdict_done(&v);
        return rc;
    }
    verdict_done(&d->verdict);
    d->verdict = v;
    d->judged = true;
    return 0;
}

void drive_judge(struct drive *d, bool same)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    struct verdict before = d->verdict;
    bool judged = d->judged;

    d->verdict = (struct verdict){ .sentence = NULL };
    d->judged = false;
    if (judge(d, &r) < 0)
        d->error = -ENOMEM;
    if (d->judged && d->verdict.too_few) {
        verdict_done(&d->verdict);
        d->verdict = (struct verdict){ .sentence = NULL };
        d->judged = false;
    }
    if (d->judged || !same) {
        verdict_done(&before);
        return;
    }
    d->verdict = before;
    d->judged = judged;
}

/* What the models need to know of the loader, and the session of the step. */
static int learn(struct drive *d, const struct run *r)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    bool no_memory = false;
    const struct facts f = { r, &scratch, &no_memory };

    d->workers = facts_number(&f, "loader.workers");
    d->prefetch = facts_number(&f, "loader.prefetch");
    d->epoch = facts_number(&f, "loader.epoch");
    /* Batches of several workers come in bursts: the median of steps is not what they take. */
    if (d->verdict.steps_per_s > 0)
        d->verdict.step_s = 1 / d->verdict.steps_per_s;
    if (d->verdict.step_s > 0) {
        d->step_s = d->verdict.step_s;
        if (!goal_needs_power(&d->c.goal))
            d->session.observed_s = d->verdict.step_s;
    }
    return no_memory ? -ENOMEM : 0;
}

static const char only_script[] = "the script alone can do that; where it has an option for it, a "
                                  "file of --knobs can name that";

static const char *why_barred(const struct candidate *c)
{
    if (c->knob->apply == KNOB_SCRIPT)
        return only_script;
    if (c->knob->risk == KNOB_PRIVILEGED)
        return "it needs an operator: --allow privileged";
    if (c->knob->effect == KNOB_RESTART)
        return "it changes numbers and needs a restart: --allow numeric --restarts 12 would try it";
    return "it changes numbers: --allow numeric";
}

/* Candidates that the session may try; those that it may not are written down. */
static size_t sift(struct drive *d, struct proposals *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->n_barred; i++)
        session_leave(&d->session, &p->barred[i], why_barred(&p->barred[i]));
    for (size_t i = 0; i < p->count; i++) {
        if (p->list[i].knob->apply == KNOB_SCRIPT)
            session_leave(&d->session, &p->list[i], only_script);
        else if (p->list[i].knob->risk == KNOB_NUMERIC && !loss_check_ready(&d->losses))
            session_leave(&d->session, &p->list[i], "the job tells no loss that could be compared");
        else
            p->list[n++] = p->list[i];
    }
    return n;
}

static int offer(struct drive *d, const struct run *r, struct session_command *ret)
{
    const struct propose_about about = { .run = r,
                                         .verdict = &d->verdict,
                                         .knobs = d->c.knobs,
                                         .named = d->c.named,
                                         .won = d->c.won,
                                         .numeric = d->c.plan.numeric,
                                         .privileged = d->c.plan.privileged,
                                         .energy = goal_needs_power(&d->c.goal),
                                         .least_gain = least_gain,
                                         .shm_free_b = d->c.shm_free_b,
                                         .mtbf_s = (double)NAN };
    struct proposals p;
    int rc = learn(d, r);

    if (rc == 0)
        rc = propose(&p, &about);
    if (rc < 0)
        return rc;
    snprintf(d->nothing, sizeof(d->nothing), "%s", p.count ? "" : p.sentence);
    if (drive_race(d, &p))
        return 0;
    *ret = session_offer(&d->session, p.list, sift(d, &p));
    proposals_done(&p);
    return 0;
}

void drive_look(struct drive *d)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    struct session_command c = { .what = SESSION_GO_ON };
    int rc = judge(d, &r);

    d->asking = false;
    if (rc == 0)
        rc = offer(d, &r, &c);
    if (rc < 0) {
        d->error = rc;
        c = session_event(&d->session, &(const struct session_event){ .kind = SESSION_STOP,
                                                                      .why = "out of memory" });
        if (c.what != SESSION_FINISH)
            c = session_offer(&d->session, NULL, 0);
    }
    drive_obey(d, c);
}
