#include "sched/core/queue.h"

#include "sched/core/scheduler.h"

static bool before(const struct sched *s, uint32_t a, uint32_t b)
{
    if (s->policy.order->needs_users) {
        double had_a = s->users[s->work->jobs[a].user + 1].had;
        double had_b = s->users[s->work->jobs[b].user + 1].had;
        int32_t rank_a = s->waiting.nodes[a].key.rank, rank_b = s->waiting.nodes[b].key.rank;

        if (rank_a != rank_b)
            return rank_a < rank_b;
        if (had_a < had_b || had_a > had_b)
            return had_a < had_b;
    }
    return order_compare(&s->waiting.nodes[a].key, &s->waiting.nodes[b].key) < 0;
}

uint32_t queue_first_group(const struct sched *s)
{
    uint32_t best = WAITING_NONE;

    for (uint32_t g = 0; g < s->n_groups; g++)
        if (s->cursor[g] != WAITING_NONE &&
            (best == WAITING_NONE || before(s, s->cursor[g], s->cursor[best])))
            best = g;
    return best;
}
