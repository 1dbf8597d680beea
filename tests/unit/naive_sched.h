/* A scheduler as simple as can be, second by second, for comparison: every queue is a list that is
 * sorted anew, every place a search through all nodes. Whole seconds only. */
#ifndef BRIM_TESTS_NAIVE_SCHED_H
#define BRIM_TESTS_NAIVE_SCHED_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/job/job_spec.h"

enum { NAIVE_JOBS = 128, NAIVE_NODES = 32 };
enum naive_order { NAIVE_FIFO, NAIVE_SJF, NAIVE_SRTF, NAIVE_DEADLINE };

struct naive_job {
    int submit, length, devices;
    int start, end, wait, left, since, list, preempted;
    int fresh; /* of what is left: a start after a preemption */
    int due;   /* the second by which it is to have ended; 0: none */
    bool waits, runs, late;
    int on[NAIVE_NODES];
};

struct naive {
    struct naive_job jobs[NAIVE_JOBS];
    int n, nodes, each, free[NAIVE_NODES], lists;
    enum naive_order order;
    bool greedy, preempts;
    bool adds; /* who stops during a restart pays the rest of it, too */
};

/* Jobs up to a node go on the fullest; larger ones on whole nodes and the rest on the emptiest. */
static bool naive_place(struct naive *m, struct naive_job *j)
{
    int whole = j->devices > m->each ? j->devices / m->each : 0;
    int rest = j->devices - whole * m->each, best = -1;

    memset(j->on, 0, sizeof(j->on));
    for (int i = 0; i < m->nodes && whole > 0; i++)
        if (m->free[i] == m->each) {
            j->on[i] = m->each;
            whole--;
        }
    if (whole > 0)
        return false;
    for (int i = 0; i < m->nodes && rest > 0; i++) {
        if (j->on[i] || m->free[i] < rest)
            continue;
        if (best < 0 ||
            (j->devices > m->each ? m->free[i] > m->free[best] : m->free[i] < m->free[best]))
            best = i;
    }
    if (rest > 0 && best < 0)
        return false;
    if (rest > 0)
        j->on[best] = rest;
    for (int i = 0; i < m->nodes; i++)
        m->free[i] -= j->on[i];
    return true;
}

static void naive_release(struct naive *m, struct naive_job *j)
{
    for (int i = 0; i < m->nodes; i++)
        m->free[i] += j->on[i];
    j->runs = false;
}

static void naive_start(struct naive *m, struct naive_job *j, int now)
{
    if (j->start < 0)
        j->start = now;
    j->wait += now - j->since;
    j->since = now;
    j->waits = false;
    j->runs = true;
    j->list = ++m->lists;
}

static bool naive_is_due(const struct naive_job *j)
{
    return j->due && !j->late;
}

static bool naive_before(const struct naive *m, const struct naive_job *a,
                         const struct naive_job *b)
{
    if (m->order == NAIVE_DEADLINE && naive_is_due(a) != naive_is_due(b))
        return naive_is_due(a);
    if (m->order == NAIVE_DEADLINE && naive_is_due(a) && a->due != b->due)
        return a->due < b->due;
    if (m->order == NAIVE_DEADLINE || m->order == NAIVE_FIFO ||
        (m->order == NAIVE_SJF && a->length == b->length))
        return a->submit != b->submit ? a->submit < b->submit : a < b;
    if (m->order == NAIVE_SJF)
        return a->length < b->length;
    if (a->left != b->left)
        return a->left < b->left;
    return a->runs != b->runs ? b->runs : a->list < b->list;
}

/* All that are there, in order. Returns how many. */
static int naive_sorted(struct naive *m, struct naive_job **ret)
{
    int n = 0;

    for (int i = 0; i < m->n; i++) {
        int at = n;

        if (!m->jobs[i].waits && !(m->preempts && m->jobs[i].runs))
            continue;
        for (; at > 0 && naive_before(m, &m->jobs[i], ret[at - 1]); at--)
            ret[at] = ret[at - 1];
        ret[at] = &m->jobs[i];
        n++;
    }
    return n;
}

static void naive_quota(struct naive *m, struct naive_job **all, int n, int now)
{
    bool granted[NAIVE_JOBS];
    int left = m->nodes * m->each;

    for (int i = 0; i < n; i++) {
        granted[i] = all[i]->devices <= left;
        left -= granted[i] ? all[i]->devices : 0;
    }
    for (int i = 0; i < n; i++)
        if (!granted[i] && all[i]->runs) {
            naive_release(m, all[i]);
            all[i]->waits = true;
            all[i]->since = now;
            all[i]->left += m->adds ? 40 : 40 - all[i]->fresh;
            all[i]->fresh = m->adds ? all[i]->fresh + 40 : 40;
            all[i]->preempted++;
            all[i]->list = ++m->lists;
        }
    for (int i = 0; i < n; i++)
        if (granted[i] && all[i]->waits && naive_place(m, all[i]))
            naive_start(m, all[i], now);
}

static void naive_second(struct naive *m, int now)
{
    struct naive_job *all[NAIVE_JOBS];
    int n;

    for (int i = 0; i < m->n; i++) {
        struct naive_job *j = &m->jobs[i];

        if (j->runs && now > j->since && j->fresh > 0)
            j->fresh--;
        if (j->runs && now > j->since && j->left-- == 0) {
            naive_release(m, j);
            j->end = now;
        }
        if (j->submit == now) {
            j->waits = true;
            j->since = now;
            j->left = j->length;
            j->list = ++m->lists;
        }
        j->late |= j->waits && j->due && now + j->left > j->due;
    }
    n = naive_sorted(m, all);
    if (m->preempts) {
        naive_quota(m, all, n, now);
        return;
    }
    for (int i = 0; i < n; i++)
        if (naive_place(m, all[i])) {
            naive_start(m, all[i], now);
            all[i]->left--; /* these end to the second, those of a quota a second later */
        } else if (!m->greedy) {
            break;
        }
}

/* Run until all have ended. */
static inline void naive_run(struct naive *m)
{
    bool all = false;

    for (int i = 0; i < m->nodes; i++)
        m->free[i] = m->each;
    for (int i = 0; i < m->n; i++)
        m->jobs[i].start = m->jobs[i].end = -1;
    for (int now = 0; !all; now++) {
        naive_second(m, now);
        all = true;
        for (int i = 0; i < m->n; i++)
            all &= m->jobs[i].end >= 0;
    }
}

#endif
