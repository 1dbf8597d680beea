#include "run/archive/run_snapshot.h"

#include <errno.h>
#include <math.h>
#include "base/clock.h"

int64_t run_snapshot_begin_ns(const struct run_moment *m)
{
    return m->monotonic_ns - clock_ns(m->seconds);
}

int run_snapshot(struct run *ret, const struct run_snapshot *w, int64_t since_ns, size_t most)
{
    size_t first = w->run->n_moments;
    int rc = 0;

    *ret = (struct run){ .id = w->run->id,
                         .name = w->run->name,
                         .command = w->run->command,
                         .folder = w->run->folder,
                         .user = w->run->user,
                         .host = w->run->host,
                         .begin_ns = w->run->begin_ns,
                         .end = RUN_RUNNING,
                         .environment = w->run->environment,
                         .n_environment = w->run->n_environment,
                         .inferred_confidence = (double)NAN,
                         .tuning = w->run->tuning,
                         .lines = w->run->lines };
    while (first > 0 && run_snapshot_begin_ns(&w->run->moments[first - 1]) >= since_ns)
        first--;
    for (size_t i = first; rc == 0 && i < w->run->n_moments; i++) {
        struct run_moment *to = ARENA_PUSH(&ret->arena, &ret->moments, &ret->n_moments);

        rc = to ? 0 : -ENOMEM;
        if (to)
            *to = w->run->moments[i];
    }
    for (size_t i = 0; rc == 0 && i < rings_count(w->rings); i++)
        rc = rank_steps_part_to_run(rings_lane(w->rings, i), ret, since_ns, most);
    if (rc < 0 || rings_count(w->rings) || !w->inferred || !w->inferred->count)
        return rc;
    ret->inferred = "no steps were marked: they are found from outside";
    ret->inferred_confidence = 1;
    return rank_steps_part_to_run(w->inferred, ret, since_ns, most);
}
