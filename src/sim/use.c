#include "sim/use.h"

#include <errno.h>
#include <math.h>
#include <string.h>

int use_open(struct use *u, struct arena *a, const struct workload *w)
{
    *u = (struct use){ .work = w };
    if (w->n_stretches == 0)
        return 0;
    u->submitted_ms = w->jobs[w->n_jobs - 1].submit_ms;
    u->jobs = arena_alloc(a, w->n_jobs * sizeof(*u->jobs));
    if (!u->jobs)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *job = &w->jobs[i];
        struct use_job *j = &u->jobs[i];

        j->at = job->stretch;
        j->left_ms = job->n_stretches ? w->stretches[j->at].ms : job->length_ms;
        j->rest_ms = job->length_ms;
        j->rate = 1;
        j->more = job->n_stretches ? job->n_stretches - 1 : 0;
    }
    return 0;
}

/* ---- what it does ---- */

/* How busy its stretch says that they are, or WORK_HANGS. */
static int says(const struct use *u, uint32_t job)
{
    return u->work->jobs[job].n_stretches ? u->work->stretches[u->jobs[job].at].milli : WORK_WHOLE;
}

int use_milli(const struct use *u, uint32_t job)
{
    return MAX(says(u, job), 0);
}

static bool is_idle(const struct use *u, uint32_t job)
{
    return use_milli(u, job) <= WORK_IDLE;
}

bool use_over(const struct use *u, uint32_t job)
{
    const struct use_job *j = &u->jobs[job];

    return j->more == 0 && j->left_ms == 0 && j->again_ms == 0;
}

/* An idle stretch passes by the clock. */
static double rate_of(const struct use *u, uint32_t job)
{
    return is_idle(u, job) ? 1 : u->jobs[job].rate;
}

/* The work between its checkpoints; 0: it writes none. */
static int64_t every_ms(const struct use *u, uint32_t job)
{
    return u->saves ? u->work->jobs[job].checkpoint_ms : 0;
}

/* What it does without anything else in between: the rest of a stretch, or up to a checkpoint. */
static int64_t next_ms(const struct use *u, uint32_t job)
{
    const struct use_job *j = &u->jobs[job];
    int64_t every = every_ms(u, job);

    return every > 0 && !is_idle(u, job) ? MIN(j->left_ms, every - j->round_ms) : j->left_ms;
}

static int64_t takes_ms(const struct use *u, uint32_t job)
{
    return (int64_t)ceil((double)next_ms(u, job) / rate_of(u, job));
}

int64_t use_left(const struct use *u, uint32_t job)
{
    return u->jobs[job].start_ms + u->jobs[job].rest_ms;
}

void use_devices(struct use *u, uint32_t job, int64_t now_ms, int32_t devices, double rate)
{
    use_rate(u, job, now_ms, rate);
    u->jobs[job].devices = devices;
}

int64_t use_until_ms(const struct use *u, uint32_t job)
{
    const struct use_job *j = &u->jobs[job];

    if (j->holds)
        return j->since_ms + j->start_ms + j->save_ms + takes_ms(u, job);
    return is_idle(u, job) ? j->since_ms + j->left_ms : WORK_UNKNOWN;
}

/* ---- counting ---- */

/* For a part of the time, it had its devices for something, as a share of that time. */
static void spend(struct use *u, uint32_t job, enum use_what what, const int64_t part[2],
                  double share)
{
    const struct work *w = &u->work->jobs[job];
    int32_t has = u->jobs[job].devices ? u->jobs[job].devices : w->devices;
    double devices = (double)has * w->milli / WORK_WHOLE * share;
    int64_t from = MAX(part[0], u->from_ms), to = MIN(part[1], u->submitted_ms);
    double counted = devices * (double)MAX(to - from, 0);
    double all = devices * (double)(part[1] - part[0]);

    u->spent[USE_COUNTED][what] += counted;
    u->spent[USE_ALL][what] += all;
    if (what <= USE_PARTLY) {
        u->jobs[job].round[USE_COUNTED][what] += counted;
        u->jobs[job].round[USE_ALL][what] += all;
    }
}

/* What it did is saved. */
static void save(struct use_job *j)
{
    j->save_ms = j->round_ms = 0;
    memset(j->round, 0, sizeof(j->round));
}

/* A start, or a checkpoint: how much of a time it takes. */
static int64_t stand(struct use *u, uint32_t job, int64_t at_ms, int64_t passed)
{
    struct use_job *j = &u->jobs[job];
    bool starts = j->start_ms > 0;
    int64_t *left = starts ? &j->start_ms : &j->save_ms, ms = MIN(*left, passed);
    const int64_t part[2] = { at_ms, at_ms + ms };

    spend(u, job, starts ? USE_START : USE_SAVING, part, 1);
    *left -= ms;
    if (!starts && *left == 0)
        save(j);
    return ms;
}

/* The next stretch; behind the last one, what was lost in it is done as in the last that worked. */
static void next_stretch(struct use *u, uint32_t job)
{
    struct use_job *j = &u->jobs[job];

    if (j->more > 0) {
        j->more--;
        j->left_ms = u->work->stretches[++j->at].ms;
    } else {
        while (j->again_ms > 0 && is_idle(u, job))
            j->at--;
    }
    if (is_idle(u, job))
        return;
    j->left_ms += j->again_ms;
    j->again_ms = 0;
}

/* A stretch, or a part of one. */
static void hold_on(struct use *u, uint32_t job, int64_t at_ms, int64_t ms, int64_t did)
{
    const int64_t part[2] = { at_ms, at_ms + ms };
    /* of an elastic job, which goes by the rate of its devices, all of them are as busy */
    double rate = u->jobs[job].devices ? rate_of(u, job) : 1;
    double share = ms > 0 ? (double)did / (double)ms / rate * use_milli(u, job) / WORK_WHOLE : 0;

    if (is_idle(u, job)) {
        spend(u, job, USE_IDLE, part, 1);
        return;
    }
    spend(u, job, USE_BUSY, part, share);
    spend(u, job, USE_PARTLY, part, 1 - share);
}

/* Do what comes next, for a time at most; how long it took. */
static int64_t go_on(struct use *u, uint32_t job, int64_t at_ms, int64_t passed, int64_t *did)
{
    struct use_job *j = &u->jobs[job];
    int64_t next = next_ms(u, job), all = takes_ms(u, job), ms = MIN(passed, all);

    *did = ms == all ? next : (int64_t)((double)ms * rate_of(u, job));
    if (j->holds)
        hold_on(u, job, at_ms, ms, *did);
    j->left_ms -= *did;
    j->rest_ms -= *did;
    if (!is_idle(u, job))
        j->round_ms += *did;
    if (j->left_ms == 0)
        next_stretch(u, job);
    if (every_ms(u, job) > 0 && j->round_ms >= every_ms(u, job) && j->rest_ms > 0) {
        j->save_ms = u->cost_ms;
        if (j->save_ms == 0)
            save(j);
    }
    return ms;
}

int64_t use_count(struct use *u, uint32_t job, int64_t now_ms)
{
    struct use_job *j = &u->jobs[job];
    const int64_t part[2] = { j->since_ms, now_ms };
    int64_t at_ms = j->since_ms, without = j->cured_ms, did = 0;

    j->since_ms = now_ms;
    j->cured_ms = 0;
    if (!j->begun)
        return 0;
    if (j->holds && j->guest)
        spend(u, job, USE_SHARED, part, 1);
    while (at_ms < now_ms) {
        if (j->holds && j->start_ms + j->save_ms > 0) {
            at_ms += stand(u, job, at_ms, now_ms - at_ms);
            continue;
        }
        if (use_over(u, job) || (!j->holds && !is_idle(u, job)))
            break;
        at_ms += go_on(u, job, at_ms, now_ms - at_ms, &did);
        without += j->holds ? 0 : did;
    }
    if (j->holds && at_ms < now_ms) /* beyond its length */
        spend(u, job, USE_IDLE, (const int64_t[2]){ at_ms, now_ms }, 1);
    return without;
}

/* ---- changes ---- */

int64_t use_hold(struct use *u, uint32_t job, int64_t now_ms, bool holds, int64_t cost_ms)
{
    int64_t without = use_count(u, job, now_ms);

    save(&u->jobs[job]);
    if (u->jobs[job].holds)
        u->jobs[job].start_ms = 0;
    u->jobs[job].holds = holds;
    u->jobs[job].begun = true;
    u->jobs[job].start_ms += cost_ms;
    return without;
}

void use_stopped(struct use *u, uint32_t job)
{
    struct use_job *j = &u->jobs[job];

    if (says(u, job) != WORK_HANGS)
        return;
    j->cured_ms += j->left_ms;
    j->rest_ms -= j->left_ms;
    j->left_ms = 0;
    next_stretch(u, job);
}

int64_t use_lose(struct use *u, uint32_t job, int64_t now_ms, int64_t cost_ms)
{
    struct use_job *j = &u->jobs[job];
    int64_t back;

    use_count(u, job, now_ms);
    back = j->round_ms;
    for (int t = 0; t < USE_TIMES; t++)
        for (int what = USE_BUSY; what <= USE_PARTLY; what++) {
            u->spent[t][what] -= j->round[t][what];
            u->spent[t][USE_REDONE] += j->round[t][what];
        }
    save(j);
    *(is_idle(u, job) ? &j->again_ms : &j->left_ms) += back;
    j->rest_ms += back;
    j->start_ms = cost_ms;
    j->holds = false;
    return back;
}

void use_guest(struct use *u, uint32_t job, int64_t now_ms, bool guest)
{
    use_count(u, job, now_ms);
    u->jobs[job].guest = guest;
}

void use_rate(struct use *u, uint32_t job, int64_t now_ms, double rate)
{
    use_count(u, job, now_ms);
    u->jobs[job].rate = rate;
}
