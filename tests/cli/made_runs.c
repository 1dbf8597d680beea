/* Write made runs into a folder, for the commands that look at runs which are kept: of each cause
 * one, without noise, and an earlier one of the same name for every second of them; and three that
 * were optimized.
 *
 *     made_runs FOLDER */
#include <stdio.h>
#include <string.h>

#include "../unit/run_made.h"
#include "run/archive/archive.h"

#define DAY ((int64_t)86400 * 1000 * 1000 * 1000)
#define BEGIN ((int64_t)1793491200 * 1000 * 1000 * 1000) /* 2026-11-01 00:00 UTC */

static int write_rank(struct archive *a, size_t i, const struct run_rank *k, struct err *e)
{
    struct rank_steps lane;
    int rc = 0;

    rank_steps_init(&lane);
    lane.rank = k->rank;
    lane.local_rank = k->local_rank;
    lane.world = k->world;
    lane.pid = 4000 + k->rank;
    snprintf(lane.host, sizeof(lane.host), "%s", k->host);
    snprintf(lane.framework, sizeof(lane.framework), "torch 2.5.0");
    for (size_t n = 0; n < k->n_notes && rc == 0; n++)
        rc = rank_steps_note(&lane, k->notes[n].name, k->notes[n].value);
    for (size_t n = 0; n < k->n_steps && rc == 0; n++)
        rc = rank_steps_step(&lane, &k->steps[n]);
    if (rc == 0)
        rc = archive_lane(a, i, &lane, e);
    rank_steps_done(&lane);
    return rc;
}

static int write_run(const char *folder, struct run *r, struct err *e)
{
    CLEANUP(archive_closep) struct archive *a = NULL;
    int rc = archive_create(&a, folder, r, 0, e);

    for (size_t i = 0; i < r->n_ranks && rc == 0; i++)
        rc = write_rank(a, i, &r->ranks[i], e);
    for (size_t i = 0; i < r->n_moments && rc == 0; i++) {
        r->moments[i].wall_ns += r->begin_ns;
        rc = archive_moment(a, &r->moments[i], e);
        r->end_ns = r->moments[i].wall_ns;
    }
    return rc < 0 ? rc : archive_about(a, r, e);
}

/* Samples of a loop that logs, and of a loader that decodes. */
static struct lines *lines_of(enum cause cause, struct lines *l)
{
    const struct lines_entry entries[] = {
        { .stage = BRIM_STAGE_OTHER,
          .at = { "log_images", "/home/ana/train.py", 142 },
          .callee = "json.dumps" },
        { .stage = BRIM_STAGE_OTHER, .at = { "main", "/home/ana/train.py", 88 } },
        { .stage = LINES_WORKER,
          .at = { "Images.__getitem__", "/home/ana/lib/images.py", 33 },
          .callee = "PIL.Image.open" },
        { .stage = BRIM_STAGE_BACKWARD,
          .at = { "main", "/home/ana/train.py", 81 },
          .callee = "torch._tensor.backward" },
    };
    static const int samples[] = { 182, 18, 300, 120 };

    if (cause != CAUSE_LOOP && cause != CAUSE_LOADER_CPU)
        return NULL;
    *l = (struct lines){ .n = 0 };
    for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
        for (int k = 0; k < samples[i]; k++)
            lines_count(l, &entries[i]);
    return l;
}

/* A run of a cause; an earlier one is faster, and of another version. */
static int write_cause(const char *folder, enum cause cause, bool earlier, struct err *e)
{
    static struct run_note notes[] = { { "torch", NULL },
                                       { "kernel", "6.1.0-18-amd64" },
                                       { "env.OMP_NUM_THREADS", "8" } };
    struct made m = made_like(cause, 3);
    CLEANUP(run_done) struct run r = { .id = NULL };
    static struct lines lines;
    char id[64];

    m.noise = 0;
    m.steps = m.steps > 60 && !m.pause_every ? 60 : m.steps;
    m.slow_from = m.slow_from ? m.steps / 2 : 0;
    m.step_s /= earlier ? 1.3 : 1;
    for (int s = 0; s < RUN_SIGNALS; s++)
        m.wild[s] = 0;
    made_build(&m, &r);
    r.begin_ns = BEGIN + (int64_t)cause * DAY / 4 - (earlier ? DAY / 8 : 0);
    snprintf(id, sizeof(id), "202611%02d-%02d0000-%04x", 1 + (int)cause / 4,
             6 * ((int)cause % 4) + (earlier ? 0 : 3), (unsigned)cause);
    r.id = id;
    r.name = cause_name(cause);
    r.command = "python train.py --data /data";
    r.folder = "/home/ana";
    r.user = "ana";
    notes[0].value = earlier ? "1.13.1" : "2.5.0";
    r.environment = notes;
    r.n_environment = ARRAY_SIZE(notes);
    r.lines = earlier ? NULL : lines_of(cause, &lines);
    r.end = cause % 5 == 4 ? RUN_KILLED : RUN_EXITED;
    r.status = cause % 5 == 4 ? 9 : cause % 7 == 6;
    return write_run(folder, &r, e);
}

/* ---- runs that were optimized ---- */

enum { KEPT_FROM = 80 /* steps */ };

/* From a step on data is not waited for, as after a setting that pays. */
static void stop_waiting(struct run *r, size_t from)
{
    int64_t now = 0;

    for (size_t i = 0; i < r->ranks[0].n_steps; i++) {
        int64_t longest = 0;

        for (size_t n = 0; n < r->n_ranks; n++) {
            struct step *s = &r->ranks[n].steps[i];
            double wait = s->host_s[BRIM_STAGE_WAIT] * (i < from ? 1 : 0.02);
            int64_t ns = s->end_ns - s->begin_ns -
                         (int64_t)((s->host_s[BRIM_STAGE_WAIT] - wait) * 1e9);

            s->host_s[BRIM_STAGE_WAIT] = wait;
            s->begin_ns = now;
            s->end_ns = now + ns;
            longest = ns > longest ? ns : longest;
        }
        now += longest;
    }
}

/* A setting that was kept and one that was not; one that was not alone; one in which it died. */
static int write_optimized(const char *folder, int how, struct err *e)
{
    struct run_trial trials[] = {
        { "loader.workers", "13", "2", NULL, NULL, RUN_TRIAL_ADOPTED, 1.62, 1.48, 1.77, (double)NAN,
          20, 0, 0, 0 },
        { "loader.prefetch", "4", "2", NULL, NULL, RUN_TRIAL_REJECTED, -0.031, -0.04, -0.02,
          (double)NAN, 10, 0, 0, 0 },
        { "loader.workers", "31", "2", NULL, "the job died (signal 9) while it was tried",
          RUN_TRIAL_FAILED, (double)NAN, (double)NAN, (double)NAN, (double)NAN, 6, 0, 0, 0 },
    };
    static const size_t begins[] = { 60, 110, 160 }, ends[] = { KEPT_FROM, 120, 166 };
    static const char *const names[] = { "optimized", "in-vain", "died-in-a-trial" };
    struct run_tuning t = { .before = { 3.8, 121.6, (double)NAN },
                            .after = { (double)NAN, (double)NAN, (double)NAN } };
    struct made m = made_like(CAUSE_LOADER_WAITS, 3);
    CLEANUP(run_done) struct run r = { .id = NULL };
    const struct step *s;
    char id[64];

    m.noise = 0;
    m.steps = 200;
    for (int i = 0; i < RUN_SIGNALS; i++)
        m.wild[i] = 0;
    made_build(&m, &r);
    if (how == 0)
        stop_waiting(&r, KEPT_FROM);
    s = r.ranks[0].steps;
    for (int i = 0; i < 3; i++) {
        trials[i].begin_ns = s[begins[i]].begin_ns;
        trials[i].end_ns = s[ends[i]].begin_ns;
    }
    t.trials = trials + how;
    t.n_trials = how == 0 ? 2 : 1;
    if (how == 0)
        t.after = (struct run_rates){ 9.9, 316.8, (double)NAN };
    r.tuning = &t;
    r.begin_ns = BEGIN - (8 - how) * DAY / 4;
    snprintf(id, sizeof(id), "20261030-%02d0000-0%d00", 6 * how, how);
    r.id = id;
    r.name = names[how];
    r.command = "python train.py --epochs 1";
    r.folder = "/home/ana";
    r.user = "ana";
    r.end = how == 2 ? RUN_KILLED : RUN_EXITED;
    r.status = how == 2 ? 9 : 0;
    return write_run(folder, &r, e);
}

int main(int argc, char **argv)
{
    struct err e = { "" };
    int rc = argc == 2 ? runs_make(argv[1], &e) : -1;

    for (enum cause c = CAUSE_NONE; c < CAUSE_UNKNOWN && rc == 0; c++) {
        if (c % 2)
            rc = write_cause(argv[1], c, true, &e);
        if (rc == 0)
            rc = write_cause(argv[1], c, false, &e);
    }
    for (int how = 0; how < 3 && rc == 0; how++)
        rc = write_optimized(argv[1], how, &e);
    if (rc < 0)
        fprintf(stderr, "made_runs: %s\n", e.text);
    return rc < 0;
}
