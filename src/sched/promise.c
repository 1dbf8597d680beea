/* When a job that waits will have its place (EASY backfill). */
#include <string.h>

#include "sched/inside.h"

/* Nodes that suit a job and will have enough free devices. */
struct enough {
    uint32_t rest, one; /* what is left over; all that it takes of one node */
};

static bool suits_kind(const struct sched *s, uint32_t node, const struct work *w)
{
    if (s->room.closed && s->room.closed[node])
        return false;
    return !w->kinds || (w->kinds >> s->pool->nodes[node].kind & 1);
}

/* How many devices the job takes of one node, of the last one, and how many such nodes. */
struct want {
    int each, rest;
    uint32_t n;
};

static struct want want_of(const struct sched *s, const struct work *w)
{
    int most = s->pool->most;

    if (w->milli < WORK_WHOLE || w->devices == 0)
        return (struct want){ 1, 0, 1 };
    if (w->per_node)
        return (struct want){ w->per_node, 0, (uint32_t)(w->devices / w->per_node) };
    if (w->devices <= most)
        return (struct want){ w->devices, 0, 1 };
    return (struct want){ most, w->devices % most, (uint32_t)(w->devices / most) };
}

/* Count a node whose free devices grow from one number to another. */
static void count(struct enough *have, const struct want *want, int from, int to)
{
    if (from < want->each && to >= want->each)
        have->one++;
    if (want->rest && from < want->rest && to >= want->rest)
        have->rest++;
}

static bool fits(const struct enough *have, const struct want *want)
{
    return have->one >= want->n && (!want->rest || have->rest > want->n);
}

/* Take what the job will have out of what is free then: the fullest nodes that are enough. */
static void take(struct sched *s, const struct work *w, int need, uint32_t n)
{
    for (int level = need; level <= s->pool->most && n > 0; level++)
        for (uint32_t i = 0; i < s->pool->n_nodes && n > 0; i++)
            if (s->promise.spare[i] == level && suits_kind(s, i, w)) {
                s->promise.spare[i] = (uint8_t)(level - need);
                n--;
            }
}

/* How many devices of its node a part gives back whole. A shared one is when its last share is. */
static int given_back(struct sched *s, const struct part *p)
{
    int16_t *back;
    int d;

    if (p->milli == WORK_WHOLE || p->devices == 0 || !s->back)
        return __builtin_popcount(p->devices);
    d = __builtin_ctz(p->devices);
    back = &s->back[(size_t)p->node * POOL_DEVICES + (size_t)d];
    *back = (int16_t)(*back + p->milli);
    return s->room.nodes[p->node].left[d] + *back == WORK_WHOLE;
}

void promise_make(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    struct want want = want_of(s, w);
    struct enough have = { .one = 0 };
    size_t i = 0;

    s->promise.job = job;
    s->promise.start_ms = now_ms;
    if (s->back)
        memset(s->back, 0, s->pool->n_nodes * POOL_DEVICES * sizeof(*s->back));
    for (uint32_t n = 0; n < s->pool->n_nodes; n++) {
        s->promise.spare[n] = s->room.nodes[n].n_whole;
        if (suits_kind(s, n, w))
            count(&have, &want, -1, s->promise.spare[n]);
    }
    while (i < s->n_ends && !fits(&have, &want)) {
        const struct expected *x = &s->ends[i++];

        s->promise.start_ms = MAX(x->end_ms, now_ms + 1);
        for (uint32_t p = s->jobs[x->job].part; p != NO_PART; p = s->room.parts[p].next) {
            const struct part *part = &s->room.parts[p];
            int from = s->promise.spare[part->node];
            int to = from + given_back(s, part);

            s->promise.spare[part->node] = (uint8_t)to;
            if (suits_kind(s, part->node, w))
                count(&have, &want, from, to);
        }
    }
    if (!fits(&have, &want) || s->promise.start_ms == now_ms)
        s->promise.start_ms = WORK_UNKNOWN;
    take(s, w, want.each, want.n);
    if (want.rest)
        take(s, w, want.rest, 1);
}

void promise_use(struct sched *s, uint32_t job)
{
    (void)job;
    for (uint32_t i = 0; i < s->fit.n; i++) {
        const struct part *p = &s->fit.parts[i];
        int n = __builtin_popcount(p->devices);

        s->promise.spare[p->node] = (uint8_t)(s->promise.spare[p->node] - n);
    }
}
