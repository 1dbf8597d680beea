/* The runs that brim keeps as jobs of a ledger. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/clock.h"
#include "cmd/cost/cost.h"
#include "diagnose/verdict/judge.h"
#include "run/archive/archive.h"
#include "run/archive/figures.h"

enum { PATH_BYTES = 4096, LIST_MAX = 8 << 20 };

/* The energy of the job's devices over its moments; NaN where nobody measured power. */
static double energy_kwh(const struct run *r)
{
    double joules = 0, seconds = 0, all = 0;

    for (size_t i = 0; i < r->n_moments; i++) {
        const struct run_moment *m = &r->moments[i];

        all += m->seconds;
        if (!isfinite(m->values[RUN_GPU_WATTS]))
            continue;
        joules += m->values[RUN_GPU_WATTS] * m->seconds;
        seconds += m->seconds;
    }
    return seconds > 0 ? joules / seconds * all / 3.6e6 : (double)NAN;
}

static enum ledger_end end_of(const struct run *r)
{
    switch (r->end) {
    case RUN_RUNNING:
        return LEDGER_RUNNING;
    case RUN_EXITED:
        return r->status == 0 ? LEDGER_DONE : LEDGER_FAILED;
    case RUN_KILLED:
        return LEDGER_CANCELLED;
    default:
        return LEDGER_UNKNOWN;
    }
}

/* What limits a run is why its devices are idle. */
static const char *idle_cause(const struct verdict *v)
{
    if (!v->count || v->items[0].cause == CAUSE_NONE || v->items[0].cause == CAUSE_UNKNOWN)
        return NULL;
    return cause_name(v->items[0].cause);
}

static const char *last_part(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash && slash[1] ? slash + 1 : path;
}

static int add(struct ledger *l, const struct run *r)
{
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    struct ledger_job j = ledger_empty();
    struct run_figures f;

    if (run_figures(r, &f) < 0 || judge_run(r, NULL, &v) < 0)
        return -ENOMEM;
    l->rows++;
    if (!(f.gpus > 0) || !(f.seconds > 0)) {
        l->skipped++;
        return 0;
    }
    j.name = r->name ? r->name : r->id;
    j.user = r->user;
    j.team = run_environment(r, "env.BRIM_TEAM");
    if (!j.team)
        j.team = run_environment(r, "env.SLURM_JOB_ACCOUNT");
    j.project = run_environment(r, "env.BRIM_PROJECT");
    if (!j.project)
        j.project = last_part(r->folder);
    j.idle_cause = idle_cause(&v);
    j.begin_s = r->begin_ns / NS_PER_S;
    j.seconds = f.seconds;
    j.devices = f.gpus;
    j.busy = f.gpu_busy;
    j.kwh = energy_kwh(r);
    j.end = end_of(r);
    return ledger_add(l, &j);
}

int cost_runs_read(struct ledger *l, char **files, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    const char *folder = conf_state(&a, "runs");
    int rc = folder ? runs_list(folder, &list, e) : err_nomem(e);

    (void)files;
    for (const char *id = str_text(&list); rc == 0 && id < str_text(&list) + list.len;
         id += strlen(id) + 1) {
        CLEANUP(run_done) struct run r = { .id = NULL };
        char path[PATH_BYTES];
        struct err why = { "" };
        int len = snprintf(path, sizeof(path), "%s/%s", folder, id);
        int loaded = len < (int)sizeof(path) ? run_load(path, &r, &why) : -ENAMETOOLONG;

        if (loaded == -ENOMEM || (loaded == 0 && add(l, &r) < 0))
            rc = err_nomem(e);
        else if (loaded < 0 && l->bad++ == 0)
            snprintf(l->note, sizeof(l->note), "%.150s", why.text);
    }
    return rc;
}
