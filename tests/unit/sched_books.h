/* What a scheduler has counted, against the jobs that run: after each pass, whatever moved devices
 * between jobs in it. */
#ifndef BRIM_TESTS_SCHED_BOOKS_H
#define BRIM_TESTS_SCHED_BOOKS_H
#include "sched/feature/quota_private.h"
#include "sched/core/scheduler.h"

/* Of each share, and of each user where users decide: the devices of those that run. A guest has
 * none of its own, but its user does have the use of them. */
static inline const char *wrong_counts(const struct sched *s)
{
    int64_t used[POLICY_SHARES + 1] = { 0 };

    for (size_t i = 0; i < s->n_running; i++) {
        const struct work *w = &s->work->jobs[s->running[i]];

        if (!s->jobs[s->running[i]].guest)
            used[quota_slot(s, s->running[i])] += (int64_t)w->devices * w->milli;
    }
    for (size_t i = 0; s->quota && i <= POLICY_SHARES; i++)
        if (used[i] != s->quota->used[i])
            return "a share is said to use other devices than its jobs have";
    for (size_t u = 0; u <= s->work->users.n && s->policy.order->needs_users; u++) {
        int64_t running = 0;

        for (size_t i = 0; i < s->n_running; i++) {
            const struct work *w = &s->work->jobs[s->running[i]];

            running += w->user + 1 == (int)u ? w->devices : 0;
        }
        if (running != s->users[u].running)
            return "a user is said to use other devices than the user's jobs have";
    }
    return NULL;
}

/* The first thing that is wrong; NULL. The expected ends are those of the jobs that run. */
static inline const char *wrong_books(const struct sched *s)
{
    if (s->ends && s->n_ends != s->n_running)
        return "other jobs are expected to end than run";
    for (size_t i = 0; s->ends && i < s->n_ends; i++) {
        const struct expected_end *x = &s->ends[i];
        const struct sched_job *j = &s->jobs[x->job];
        int64_t end_ms = j->left_ms == WORK_UNKNOWN ? WORK_UNKNOWN : j->since_ms + j->left_ms;

        if (j->state != SCHED_RUNNING || x->end_ms != end_ms)
            return "a job is expected to end at another time";
        if (i > 0 && x->end_ms < s->ends[i - 1].end_ms)
            return "expected ends are out of order";
    }
    return wrong_counts(s);
}

#endif
