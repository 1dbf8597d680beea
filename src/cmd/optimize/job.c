#include "cmd/optimize/job.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/common/cmd.h"

/* The job has ended, or could not be observed: the command's exit status. */
static int finish(struct optimize_ending *x, struct drive *d, struct observed *seen, int rc,
                  struct err *why, struct err *e)
{
    if (seen->started && rc == 0 && seen->leads)
        rc = optimize_end(x, seen, d, why);
    if (rc < 0 && !seen->started) {
        job_tell(x->talk, *why->text ? why->text : strerror(-rc));
        job_tell(x->talk, "the job is started without being observed");
        return job_step_aside(&x->job, e);
    }
    if (*why->text && seen->started)
        job_tell(x->talk, why->text); /* what is wrong with us does not change how the job ended */
    else if (*why->text)
        err_set(e, rc, "%s", why->text);
    return seen->exit;
}

/* Run the job with a drive of its own: 0 or what observe() says; *d and *seen are the caller's. */
static int run_job(struct optimize_ending *x, const struct optimize_beginning *b, struct drive **d,
                   struct observed *seen, struct err *why)
{
    struct observe_config config = b->job;
    int rc = drive_new(d, &b->drive);

    *seen = (struct observed){ .exit = EXIT_FAILED };
    if (rc < 0)
        return err_nomem(why);
    config.env = x->job.env;
    config.argv = x->job.argv;
    config.cpus = x->job.cpus;
    config.pilot = drive_pilot(*d);
    rc = observe(&config, seen, why);
    x->wall_ns = clock_wall_ns(config.clock);
    return rc;
}

/* The job was ended for a race: run that, and start the job with what has won. */
static int race(struct arena *a, struct optimize_ending *x, struct optimize_beginning *b,
                const struct drive_report *r)
{
    struct optimize_raced *raced = &b->raced;
    const struct optimize_race race = { .job = &b->job,
                                        .first = r,
                                        .about = &b->about,
                                        .restarts = (unsigned)x->o->restarts,
                                        .until_ns = b->until_ns };
    struct err why = { "" };
    int rc = optimize_race(a, &race, raced, &why);
    int64_t left_ns = b->until_ns - clock_monotonic_ns(b->job.clock);

    if (rc < 0) {
        job_tell(x->talk, *why.text ? why.text : strerror(-rc));
        job_tell(x->talk, "the job is started as it was");
        return 0;
    }
    x->job = raced->job;
    b->drive.past = &raced->past;
    b->drive.plan.seconds = fmax(1, clock_seconds(left_ns));
    if (raced->stopped)
        b->drive.plan.trials = 0;
    return raced->interrupted;
}

int optimize_start(struct arena *a, struct optimize_ending *x, struct optimize_beginning *b,
                   struct err *e)
{
    CLEANUP(drive_freep) struct drive *first = NULL;
    CLEANUP(drive_freep) struct drive *then = NULL;
    struct observed seen, again = { .exit = 0 };
    struct drive_report r;
    struct err why = { "" };
    int rc = run_job(x, b, &first, &seen, &why), exit;

    if (first)
        drive_tell(first, &r);
    if (rc < 0 || !first || !r.race || seen.asked) {
        exit = finish(x, first, &seen, rc, &why, e);
    } else if (race(a, x, b, &r)) {
        drive_add_past(first, &b->raced.past);
        seen.exit = b->raced.exit;
        exit = finish(x, first, &seen, 0, &why, e);
    } else {
        why.text[0] = '\0';
        rc = run_job(x, b, &then, &again, &why);
        exit = finish(x, then, &again, rc, &why, e);
    }
    run_done(&seen.run);
    run_done(&again.run);
    return exit;
}
