#include "cmd/run/live_status.h"

#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "diagnose/verdict/judge.h"
#include "run/archive/archive_format.h"
#include "run/ring/live_file.h"

/* The part of the run that is judged: its last half minute, of each rank a thousand steps. */
#define LAST_NS (30 * NS_PER_S)
/* Between two verdicts; and as many times what the last one took, so that a job never pays more
 * than one part in fifty of a CPU for being told of. */
#define PAUSE_NS (2 * NS_PER_S)
enum { LAST_STEPS = 1000, COST_SHARE = 50 };

/* ---- what is known of it ---- */

static void count(struct live_run *to, const struct run_snapshot *w)
{
    size_t n = rings_count(w->rings);
    uint64_t steps = 0;

    for (size_t i = 0; i < n; i++)
        steps = MAX(steps, rings_lane(w->rings, i)->count);
    if (!n && w->inferred && w->inferred->count) {
        n = 1;
        steps = w->inferred->count;
    }
    to->ranks = n ? (double)n : (double)NAN;
    to->steps = n ? (double)steps : (double)NAN;
}

static void take_verdict(struct live_run *to, const struct verdict *v)
{
    const struct verdict_item *first = &v->items[0];

    to->steps_per_s = v->steps_per_s;
    to->samples_per_s = v->samples_per_s;
    memcpy(to->split, v->share, sizeof(to->split));
    to->severity = first->severity;
    to->share = first->share;
    to->limited = first->cause != CAUSE_NONE && first->share > 0 &&
                  first->severity >= SEVERITY_WARNING;
    live_run_text(to->cause, sizeof(to->cause), cause_name(first->cause));
    live_run_text(to->sentence, sizeof(to->sentence), v->sentence);
    live_run_text(to->action, sizeof(to->action), first->action ? first->action : "");
}

/* What could not be judged stays as it was told. */
static void judge(struct live_status *s, const struct run_snapshot *w)
{
    CLEANUP(run_done) struct run part = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .sentence = NULL };
    const int64_t begin_ns = clock_monotonic_ns(s->clock);
    int64_t took_ns;

    if (run_snapshot(&part, w, w->now_ns - LAST_NS, LAST_STEPS) == 0 &&
        judge_run(&part, NULL, &v) == 0 && v.count)
        take_verdict(&s->told, &v);
    took_ns = clock_monotonic_ns(s->clock) - begin_ns;
    s->judge_ns = begin_ns + MAX(PAUSE_NS, took_ns * COST_SHARE);
}

static void take_pids(struct live_run *to, const struct family *f)
{
    struct family_kin kin[LIVE_RUN_PIDS];

    to->pid_space = archive_pid_space();
    to->n_pids = f ? MIN(family_kin(f, kin, ARRAY_SIZE(kin)), ARRAY_SIZE(kin)) : 0;
    for (size_t i = 0; i < to->n_pids; i++)
        to->pids[i] = (uint32_t)kin[i].pid;
}

/* Which job of Slurm's it is, by what the job itself was told. */
static uint32_t slurm_job(const struct run *r)
{
    const char *text = run_environment(r, "env.SLURM_JOB_ID");
    uint64_t id = 0;

    return text && parse_u64(text, &id) == 0 && id <= UINT32_MAX ? (uint32_t)id : 0;
}

/* ---- telling it ---- */

static void look(void *arg, const struct run_snapshot *w, const char *rings, const char *trying)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIVE_RUN_FILE);
    struct live_status *s = arg;
    struct live_run *to = &s->told;
    const struct run *r = w->run;

    live_run_text(to->id, sizeof(to->id), r->id);
    live_run_text(to->name, sizeof(to->name), r->name);
    live_run_text(to->user, sizeof(to->user), r->user);
    live_run_text(to->trying, sizeof(to->trying), trying);
    to->slurm_job = slurm_job(r);
    to->since_ms = r->begin_ns / NS_PER_MS;
    count(to, w);
    take_pids(to, w->family);
    if (w->now_ns >= s->judge_ns)
        judge(s, w);
    live_run_write(to, &text);
    /* a full file system costs the row, not the job; the next second tries again */
    if (str_error(&text) == 0)
        (void)!live_file_write(rings, str_text(&text), text.len, &s->fd);
}

void live_status_init(struct live_status *s, const struct clock *clock)
{
    *s = (struct live_status){ .clock = clock, .told = live_run_none, .fd = -1 };
    s->teller = (struct observe_teller){ s, look };
}

void live_status_done(struct live_status *s)
{
    closep(&s->fd);
    s->fd = -1;
}
