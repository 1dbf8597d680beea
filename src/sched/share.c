#include "sched/share.h"

#include <stdlib.h>

#include "sched/inside.h"

int share_open(struct sched *s, struct err *e)
{
    size_t n = s->work->n_jobs + 1;

    if (s->policy.share.below == 0)
        return 0;
    s->share.stops = arena_alloc(&s->arena, n * sizeof(*s->share.stops));
    s->share.host = arena_alloc(&s->arena, n * sizeof(*s->share.host));
    s->share.jobs = arena_alloc(&s->arena, n * sizeof(*s->share.jobs));
    if (!s->share.stops || !s->share.host || !s->share.jobs)
        return err_nomem(e);
    for (size_t i = 0; i < n; i++)
        s->share.jobs[i].partner = WAITING_NONE;
    return 0;
}

bool share_is_guest(const struct sched *s, uint32_t job)
{
    return s->share.jobs && s->share.jobs[job].guest;
}

uint32_t share_partner(const struct sched *s, uint32_t job)
{
    return s->share.jobs ? s->share.jobs[job].partner : WAITING_NONE;
}

/* ---- what is seen ---- */

static void see(struct share_job *j, int64_t now_ms)
{
    if (j->milli > WORK_IDLE) {
        j->seen_ms += now_ms - j->since_ms;
        j->sum += (double)(now_ms - j->since_ms) * j->milli;
    }
    j->since_ms = now_ms;
}

void share_begin(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct share_job *j = &s->share.jobs[job];

    j->since_ms = now_ms;
    j->milli = 0; /* until it is told */
}

void share_use(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    struct share_job *j = &s->share.jobs[job];

    if (s->jobs[job].state != SCHED_RUNNING)
        return;
    see(j, now_ms);
    j->milli = (int16_t)milli;
}

/* How busy a job keeps its devices while it works, in thousandths; 0: that was not seen for long
 * enough. */
static int usual(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct share_job *j = &s->share.jobs[job];

    see(j, now_ms);
    return j->seen_ms < s->policy.share.after_ms ? 0 : (int)(j->sum / (double)j->seen_ms);
}

/* ---- pairs ---- */

void share_leave(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct share_job *j = &s->share.jobs[job];
    uint32_t partner = j->partner;

    see(j, now_ms);
    j->milli = 0;
    if (partner == WAITING_NONE)
        return;
    if (!j->guest) { /* its devices stay its guest's */
        s->jobs[partner].part = s->jobs[job].part;
        s->jobs[job].part = NO_PART;
        quota_count(s, partner, 1);
    }
    j->partner = s->share.jobs[partner].partner = WAITING_NONE;
    j->guest = s->share.jobs[partner].guest = false;
}

static int by_shape(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;

    if (x->list != y->list)
        return x->list < y->list ? -1 : 1;
    if (x->since_ms != y->since_ms)
        return x->since_ms < y->since_ms ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

/* The jobs that could share, by shape, those of the least use first. */
static size_t candidates(struct sched *s, int64_t now_ms)
{
    struct stop *stops = s->share.stops;
    size_t n = 0;

    for (size_t i = 0; i < s->n_running; i++) {
        uint32_t job = s->running[i];
        const struct work *w = &s->work->jobs[job];
        int use;

        if (s->share.jobs[job].partner != WAITING_NONE || w->fixed || w->devices == 0 ||
            w->milli < WORK_WHOLE)
            continue;
        use = usual(s, job, now_ms);
        if (use > 0 && use <= s->policy.share.below)
            stops[n++] = (struct stop){ use, w->shape, job };
    }
    qsort(stops, n, sizeof(*stops), by_shape);
    return n;
}

/* Pair the least with the most that goes with it; the guests of the pairs, in front. */
static size_t pair(struct sched *s, size_t n)
{
    struct stop *stops = s->share.stops;
    size_t guests = 0;

    for (size_t from = 0, end; from < n; from = end) {
        size_t low = from, high;

        for (end = from; end < n && stops[end].list == stops[from].list;)
            end++;
        for (high = end - 1; low < high; high--)
            if (stops[low].since_ms + stops[high].since_ms <= s->policy.share.together) {
                s->share.host[stops[low].job] = stops[high].job;
                stops[guests++] = stops[low++];
            }
    }
    return guests;
}

static int join(struct sched *s, uint32_t guest, uint32_t other)
{
    uint32_t host = s->share.host[guest];
    const struct action why = {
        .job = guest, .kind = ACTION_JOIN, .why = WHY_LITTLE, .other = other, .with = host
    };

    room_give(&s->room, &s->work->jobs[guest], s->jobs[guest].part);
    s->jobs[guest].part = NO_PART;
    quota_count(s, guest, -1);
    s->share.jobs[guest].partner = host;
    s->share.jobs[guest].guest = true;
    s->share.jobs[host].partner = guest;
    return inside_note(s, &why);
}

int share_find(struct sched *s, uint32_t job, int64_t now_ms)
{
    size_t n;

    if (!s->share.jobs)
        return 0;
    n = stops_find(s, job, s->share.stops, pair(s, candidates(s, now_ms)), NULL);
    for (size_t i = 0; i < n; i++)
        if (join(s, s->share.stops[i].job, job) < 0)
            return -1;
    return n > 0 && inside_find(s, job);
}
