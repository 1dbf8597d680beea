#include "cmd/why/live.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/common/load_run.h"
#include "cmd/why/card.h"
#include "diagnose/verdict/judge.h"
#include "run/archive/archive.h"
#include "run/archive/run_tail.h"
#include "run/job/attach.h"
#include "run/watch/outside.h"

enum { OUTPUT_MAX = 4 << 20, PATH_BYTES = 4096, HOST_BYTES = 65 };

/* What is judged of a run that brim watches. */
static const double last_seconds = 60;

static bool is_here(const struct run *r)
{
    char host[HOST_BYTES] = "";

    return gethostname(host, sizeof(host) - 1) == 0 && r->host && !strcmp(host, r->host);
}

/* What brim run keeps of it, cut to its end. 1: there is none, or it has no steps yet that tell
 * anything. */
static int from_run(const struct app *app, const struct why_live_opts *o, int proc, struct run *r,
                    struct why_live *live)
{
    CLEANUP(str_done) struct str folder = STR_INIT(PATH_BYTES);
    struct run_tail w;
    int rc = attach_folder(proc, o->pid, &folder);

    if (rc < 0)
        return rc;
    rc = folder.len ? run_load(str_text(&folder), r, NULL) : 1;
    if (rc == -ENOMEM || rc == 1)
        return rc;
    if (rc < 0 || !r->n_ranks) {
        run_done(r);
        *r = (struct run){ .id = NULL };
        return 1;
    }
    run_tail_cut(r, last_seconds, is_here(r) ? clock_monotonic_ns(app->clock) : INT64_MIN, &w);
    live->seconds = w.seconds;
    live->still_s = w.still_s;
    live->longest_s = w.longest_s;
    return 0;
}

static int from_outside(const struct app *app, const struct why_live_opts *o, struct run *r,
                        struct why_live *live, struct err *e)
{
    const struct outside c = { .clock = app->clock, .pid = o->pid, .for_ns = o->for_ns };
    int rc;

    fprintf(stderr, "brim why: watching process %d from outside for %.0f s\n", o->pid,
            clock_seconds(o->for_ns));
    rc = outside_watch(&c, r, e);
    live->outside = true;
    live->seconds = clock_seconds(r->end_ns - r->begin_ns);
    return rc;
}

int why_live(const struct app *app, const struct why_live_opts *o, struct err *e)
{
    CLEANUP(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(run_done) struct run r = { .id = NULL }, earlier = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct why_live live = { .pid = o->pid, .still_s = (double)NAN, .longest_s = (double)NAN };
    int rc;

    if (proc < 0)
        return err_set(e, -errno, "/proc: %s", strerror(errno));
    rc = attach_check(proc, o->pid, e);
    if (rc < 0)
        return rc;
    rc = from_run(app, o, proc, &r, &live);
    if (rc == 1)
        rc = from_outside(app, o, &r, &live, e);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc == 0 && (o->with || r.id))
        rc = o->with ? load_run(o->with, &earlier, e) : load_run_earlier(&r, &earlier, e);
    if (rc < 0)
        return rc;
    if (judge_run(&r, earlier.id ? &earlier : NULL, &v) < 0)
        return err_nomem(e);
    if (o->json)
        why_json(&r, &v, &live, &out);
    else
        why_card(&r, &v, &live, app->colour, app->columns, &out);
    return cmd_print(&out, o->json, e);
}
