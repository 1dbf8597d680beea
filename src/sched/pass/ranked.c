/* A stable sort of what is mostly sorted: few are moved, or the runs that there are are merged. */
#include <string.h>

#include "sched/core/labels.h"
#include "sched/pass/pass.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

/* Where the run that starts at 'from' ends. */
static size_t run_end(const struct ranked *r, size_t from, size_t n)
{
    size_t at = from + 1;

    while (at < n && order_compare(&r[at - 1].key, &r[at].key) <= 0)
        at++;
    return MIN(at, n);
}

static void merge(struct ranked *to, const struct ranked *r, size_t from, size_t middle, size_t end)
{
    size_t a = from, b = middle;

    while (a < middle || b < end)
        if (b == end || (a < middle && order_compare(&r[a].key, &r[b].key) <= 0))
            *to++ = r[a++];
        else
            *to++ = r[b++];
}

/* Put those that stand behind later ones where they belong, if that moves few; whether it did. */
static bool sort_few(struct ranked *r, size_t n)
{
    size_t moves = 2 * n;

    for (size_t i = 1; i < n; i++) {
        struct ranked x;
        size_t at = i;

        if (order_compare(&r[i - 1].key, &r[i].key) <= 0)
            continue;
        x = r[i];
        for (; at > 0 && order_compare(&r[at - 1].key, &x.key) > 0; at--)
            r[at] = r[at - 1];
        r[at] = x;
        if (moves < i - at)
            return false;
        moves -= i - at;
    }
    return true;
}

void ranked_sort(struct sched *s)
{
    size_t n = s->n_ranked;

    if (sort_few(s->ranked, n))
        return;
    while (n > 0 && run_end(s->ranked, 0, n) < n) {
        struct ranked *swap = s->ranked;
        size_t from = 0;

        while (from < n) {
            size_t middle = run_end(s->ranked, from, n);
            size_t end = middle < n ? run_end(s->ranked, middle, n) : n;

            merge(s->other + from, s->ranked, from, middle, end);
            from = end;
        }
        s->ranked = s->other;
        s->other = swap;
    }
}

/* One that waits may have fallen before it came back. */
static void fall_waiting(struct sched *s, uint32_t job)
{
    struct order_key key = s->waiting.nodes[job].key;

    if (s->jobs[job].state != SCHED_WAITING || !labels_fall(s, job, &key))
        return;
    waiting_remove(&s->waiting, s->group[job], job);
    waiting_add(&s->waiting, s->group[job], job, &key, s->jobs[job].left_ms);
}

void rank_running(struct sched *s, int64_t now_ms)
{
    bool labels = labels_are_kept(s);
    size_t n = 0;

    for (size_t i = 0; i < s->n_ranked; i++) {
        uint32_t job = s->ranked[i].job;

        s->listed[job] = s->jobs[job].state == SCHED_RUNNING;
        if (labels && !s->listed[job])
            fall_waiting(s, job);
        if (!s->listed[job])
            continue;
        s->ranked[n] = (struct ranked){ .job = job };
        state_key(s, job, now_ms, &s->ranked[n].key);
        if (labels)
            labels_fall(s, job, &s->ranked[n].key);
        n++;
    }
    s->n_ranked = n;
    ranked_sort(s);
}
