#include "sched/core/expected_ends.h"
#include "sched/core/scheduler.h"
#include "sched/core/state.h"

#include <string.h>

/* Where a job that ends at a time stands among the expected ends. */
static size_t find_end(const struct sched *s, int64_t end_ms, uint32_t job)
{
    size_t low = 0, high = s->n_ends;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct expected_end *x = &s->ends[middle];

        if (x->end_ms < end_ms || (x->end_ms == end_ms && x->job < job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t end_of(const struct sched *s, uint32_t job)
{
    int64_t left_ms = s->jobs[job].left_ms;

    return left_ms == WORK_UNKNOWN ? WORK_UNKNOWN : state_from_ms(s, job) + left_ms;
}

/* Jobs end at the front of the list and most begin near it: the shorter side is moved. It comes to
 * an edge of its room after as many steps as there are jobs, at least. */
void expected_ends_add(struct sched *s, uint32_t job)
{
    int64_t end_ms = end_of(s, job);
    size_t at = find_end(s, end_ms, job);

    if (s->ends + s->n_ends == s->ends_room + s->ends_most) {
        memmove(s->ends_room, s->ends, s->n_ends * sizeof(*s->ends));
        s->ends = s->ends_room;
    }
    if (at < s->n_ends / 2 && s->ends > s->ends_room) {
        s->ends--;
        memmove(s->ends, s->ends + 1, at * sizeof(*s->ends));
    } else {
        memmove(&s->ends[at + 1], &s->ends[at], (s->n_ends - at) * sizeof(*s->ends));
    }
    s->n_ends++;
    s->ends[at] = (struct expected_end){ end_ms, job };
}

void expected_ends_remove(struct sched *s, uint32_t job)
{
    size_t at = find_end(s, end_of(s, job), job);

    s->n_ends--;
    if (at < s->n_ends / 2) {
        memmove(s->ends + 1, s->ends, at * sizeof(*s->ends));
        s->ends++;
    } else {
        memmove(&s->ends[at], &s->ends[at + 1], (s->n_ends - at) * sizeof(*s->ends));
    }
}
