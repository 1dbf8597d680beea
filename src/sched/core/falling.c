#include "sched/core/falling.h"

#include <errno.h>

#include "sched/core/scheduler.h"

int falling_open(struct sched *s)
{
    struct falling *f = &s->falling;
    size_t n = s->work->n_jobs + 1;

    f->on = s->queues && s->policy.preempt != PREEMPT_NONE && s->policy.order->keeps_ms &&
            !s->policy.priorities;
    if (!f->on)
        return 0;
    f->n_queues = (uint32_t)s->policy.n_queues + 1;
    f->heap = arena_alloc(&s->arena, n * sizeof(*f->heap));
    f->at = arena_alloc(&s->arena, n * sizeof(*f->at));
    f->fall_ms = arena_alloc(&s->arena, n * sizeof(*f->fall_ms));
    f->queue = arena_alloc(&s->arena, n);
    f->devices = arena_alloc(&s->arena, s->pool->n_nodes * f->n_queues * sizeof(*f->devices));
    return f->heap && f->at && f->fall_ms && f->queue && f->devices ? 0 : -ENOMEM;
}

/* ---- the heap ---- */

static void put(struct falling *f, uint32_t place, uint32_t job)
{
    f->heap[place] = job;
    f->at[job] = place + 1;
}

static void rise(struct falling *f, uint32_t place, uint32_t job)
{
    while (place > 0 && f->fall_ms[f->heap[(place - 1) / 2]] > f->fall_ms[job]) {
        put(f, place, f->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(f, place, job);
}

static void sink(struct falling *f, uint32_t place, uint32_t job)
{
    uint32_t child;

    while ((child = 2 * place + 1) < f->n) {
        if (child + 1 < f->n && f->fall_ms[f->heap[child + 1]] < f->fall_ms[f->heap[child]])
            child++;
        if (f->fall_ms[f->heap[child]] >= f->fall_ms[job])
            break;
        put(f, place, f->heap[child]);
        place = child;
    }
    put(f, place, job);
}

static void drop(struct falling *f, uint32_t job)
{
    uint32_t place = f->at[job] - 1, last = f->heap[--f->n];

    f->at[job] = 0;
    if (last == job)
        return;
    if (place > 0 && f->fall_ms[f->heap[(place - 1) / 2]] > f->fall_ms[last])
        rise(f, place, last);
    else
        sink(f, place, last);
}

/* ---- jobs ---- */

/* Those that have a part of a device are never stopped for others. */
static void count(struct sched *s, uint32_t job, bool up)
{
    const struct free_capacity *r = &s->capacity;
    struct falling *f = &s->falling;

    if (s->work->jobs[job].milli < WORK_WHOLE)
        return;
    for (uint32_t p = s->jobs[job].part; p != NO_PART; p = r->parts[p].next) {
        uint32_t *devices = &f->devices[r->parts[p].node * f->n_queues + f->queue[job]];
        uint32_t n = (uint32_t)__builtin_popcount(r->parts[p].devices);

        *devices = up ? *devices + n : *devices - n;
    }
}

static void enter(struct sched *s, uint32_t job, int64_t now_ms)
{
    const struct work *w = &s->work->jobs[job];
    const struct sched_job *j = &s->jobs[job];
    struct falling *f = &s->falling;
    int64_t keeps = s->policy.order->keeps_ms(&s->policy, w, j, now_ms);
    struct order_key key = { .rank = 0 };

    s->policy.order->key(&s->policy, w, j, now_ms, &key);
    f->queue[job] = (uint8_t)key.rank;
    count(s, job, true);
    if (keeps == WORK_UNKNOWN)
        return;
    f->fall_ms[job] = now_ms + MAX(keeps, 1);
    rise(f, f->n++, job);
}

void falling_add(struct sched *s, uint32_t job, int64_t since_ms)
{
    if (s->falling.on)
        enter(s, job, since_ms);
}

void falling_remove(struct sched *s, uint32_t job)
{
    if (!s->falling.on)
        return;
    count(s, job, false);
    if (s->falling.at[job])
        drop(&s->falling, job);
}

void falling_pass(struct sched *s, int64_t now_ms)
{
    struct falling *f = &s->falling;

    while (f->n > 0 && f->fall_ms[f->heap[0]] <= now_ms) {
        uint32_t job = f->heap[0];

        falling_remove(s, job);
        enter(s, job, now_ms);
    }
}

int64_t falling_next_ms(const struct sched *s)
{
    return s->falling.n ? s->falling.fall_ms[s->falling.heap[0]] : WORK_UNKNOWN;
}

bool falling_may_free(const struct sched *s, int32_t queue, int32_t each, int32_t n)
{
    const struct falling *f = &s->falling;

    if (!f->on)
        return true;
    for (uint32_t node = 0; node < s->pool->n_nodes && n > 0; node++) {
        int32_t have = s->capacity.nodes[node].n_whole;

        for (uint32_t q = (uint32_t)MAX(queue + 1, 0); q < f->n_queues && have < each; q++)
            have += (int32_t)f->devices[node * f->n_queues + q];
        n -= have >= each;
    }
    return n <= 0;
}
