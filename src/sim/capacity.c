#include "sim/capacity.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/parse.h"
#include "base/thread.h"
#include "model/signal/sorted.h"

enum { THREADS_MAX = 64 };

/* ---- metrics ---- */

static const struct {
    const char *name;
    double quantile; /* -1: the mean */
    bool completion;
} metrics[CAPACITY_METRICS] = {
    [CAPACITY_MEAN_WAIT] = { "mean-wait", -1, false },
    [CAPACITY_P50_WAIT] = { "p50-wait", 0.5, false },
    [CAPACITY_P90_WAIT] = { "p90-wait", 0.9, false },
    [CAPACITY_P99_WAIT] = { "p99-wait", 0.99, false },
    [CAPACITY_MAX_WAIT] = { "max-wait", 1, false },
    [CAPACITY_COMPLETION] = { "completion", -1, true },
    [CAPACITY_P90_COMPLETION] = { "p90-completion", 0.9, true },
    [CAPACITY_P99_COMPLETION] = { "p99-completion", 0.99, true },
};

const char *capacity_metric_name(enum capacity_metric m)
{
    return metrics[m].name;
}

int capacity_target_read(struct capacity_target *ret, const char *text, struct err *e)
{
    const char *equal = strchr(text, '=');
    int64_t ns;

    for (int m = 0; equal && m < CAPACITY_METRICS; m++) {
        if (strlen(metrics[m].name) != (size_t)(equal - text) ||
            strncmp(metrics[m].name, text, (size_t)(equal - text)) != 0)
            continue;
        if (parse_duration_ns(equal + 1, &ns) < 0)
            return err_set(e, -EINVAL, "--target %s: a time is 90s, 10m, 1h or 2d", text);
        *ret = (struct capacity_target){ (enum capacity_metric)m, clock_seconds(ns) };
        return 0;
    }
    return err_set(e, -EINVAL,
                   "--target %s: mean-wait, p50-wait, p90-wait, p99-wait, max-wait, completion, "
                   "p90-completion or p99-completion, as p90-wait=1h",
                   text);
}

int capacity_measure(double *ret, enum capacity_metric m, const struct sim_result *r,
                     const struct workload *work)
{
    size_t n = work->n_jobs;
    CLEANUP(freep) double *values = calloc(n + 1, sizeof(*values));
    double sum = 0;

    if (!values)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct sim_job *j = &r->jobs[i];

        values[i] = j->fate != SIM_ENDED    ? (double)INFINITY
                    : metrics[m].completion ? (double)(j->end_ms - work->jobs[i].submit_ms) / 1e3
                                            : (double)j->wait_ms / 1e3;
        sum += values[i];
    }
    if (metrics[m].quantile < 0) {
        *ret = n ? sum / (double)n : 0;
        return 0;
    }
    sorted_put(values, n);
    *ret = n ? sorted_quantile(values, n, metrics[m].quantile) : 0;
    return 0;
}

/* ---- simulations, several at a time ---- */

struct attempt {
    size_t nodes; /* added */
    double value;
    int rc;
    struct err e;
};

struct crew {
    const struct capacity_ask *ask;
    struct attempt *attempts;
    size_t n;
    _Atomic size_t next;
};

static int extend(struct pool *to, const struct capacity_ask *ask, size_t nodes, struct err *e)
{
    struct pool_node added = { .devices = (uint8_t)ask->shape.devices };
    int rc = 0;

    for (size_t i = 0; i < ask->pool->n_nodes && rc == 0; i++)
        rc = pool_add(to, &ask->pool->nodes[i], ask->pool->kinds[ask->pool->nodes[i].kind], e);
    for (size_t i = 0; i < nodes && rc == 0; i++)
        rc = pool_add(to, &added, ask->shape.kind, e);
    return rc;
}

static int attempt(const struct capacity_ask *ask, struct attempt *a)
{
    const struct sim_options options = { .outages = ask->outages };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r = { .events = 0 };
    int rc = extend(&pool, ask, a->nodes, &a->e);

    if (rc == 0)
        rc = sim_run(&r, ask->policy, &pool, ask->work, &options, &a->e);
    if (rc == 0 && capacity_measure(&a->value, ask->target.metric, &r, ask->work) < 0)
        rc = err_nomem(&a->e);
    sim_result_done(&r);
    pool_done(&pool);
    return rc;
}

static void *work(void *arg)
{
    struct crew *c = arg;

    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
        c->attempts[i].rc = attempt(c->ask, &c->attempts[i]);
    return NULL;
}

/* The calling thread works too, so that no other is enough. */
static int try_all(const struct capacity_ask *ask, struct attempt *attempts, size_t n,
                   struct capacity_answer *answer, struct err *e)
{
    struct crew c = { .ask = ask, .attempts = attempts, .n = n };
    pthread_t threads[THREADS_MAX];
    size_t started = 0;

    while (started + 1 < MIN(n, (size_t)MIN(ask->threads, (unsigned)THREADS_MAX)) &&
           thread_start(&threads[started], work, &c) == 0)
        started++;
    work(&c);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    answer->tries += (unsigned)n;
    for (size_t i = 0; i < n; i++)
        if (attempts[i].rc < 0) {
            if (e)
                *e = attempts[i].e;
            return attempts[i].rc;
        }
    return 0;
}

/* ---- the search ---- */

struct edge {
    int64_t when_ms;
    int64_t devices;
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int order = COMPARE(x->when_ms, y->when_ms);

    return order ? order : COMPARE(x->devices, y->devices);
}

/* The devices in use at most when no job waits. -ENOMEM. */
static int find_peak(const struct workload *w, int64_t *ret)
{
    CLEANUP(freep) struct edge *edges = calloc(2 * w->n_jobs + 1, sizeof(*edges));
    int64_t now = 0, peak = 0;

    if (!edges)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *j = &w->jobs[i];

        edges[2 * i] = (struct edge){ j->submit_ms, j->devices };
        edges[2 * i + 1] = (struct edge){ j->submit_ms + j->length_ms, -j->devices };
    }
    qsort(edges, 2 * w->n_jobs, sizeof(*edges), by_time);
    for (size_t i = 0; i < 2 * w->n_jobs; i++) {
        now += edges[i].devices;
        peak = MAX(peak, now);
    }
    *ret = peak;
    return 0;
}

/* What is known: low nodes do not meet the target, high ones do. */
struct bounds {
    size_t low, high;
    double at_low, at_high;
};

static void learn(struct bounds *b, const struct attempt *attempts, size_t n, double most_s)
{
    for (size_t i = 0; i < n; i++) {
        const struct attempt *a = &attempts[i];

        if (a->value <= most_s && a->nodes < b->high) {
            b->high = a->nodes;
            b->at_high = a->value;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const struct attempt *a = &attempts[i];

        if (!(a->value <= most_s) && a->nodes < b->high && a->nodes >= b->low) {
            b->low = a->nodes;
            b->at_low = a->value;
        }
    }
}

/* Several numbers between the two bounds, or above the lower one while there is no upper one. */
static size_t propose(const struct bounds *b, size_t most, size_t width, struct attempt *ret)
{
    size_t n = 0, last = b->low;

    for (size_t i = 1; i <= width; i++) {
        size_t nodes = b->high == SIZE_MAX ? MIN(MAX(last * 2, 1), most)
                                           : b->low + (b->high - b->low) * i / (width + 1);

        if (nodes <= last || nodes >= b->high)
            continue;
        ret[n++] = (struct attempt){ .nodes = nodes };
        last = nodes;
    }
    if (n == 0) /* the bounds are too near for so many parts */
        for (size_t nodes = b->low + 1; nodes < b->high && n < width; nodes++)
            ret[n++] = (struct attempt){ .nodes = nodes };
    return n;
}

static int search(const struct capacity_ask *ask, struct bounds *b, size_t most,
                  struct capacity_answer *answer, struct err *e)
{
    struct attempt attempts[THREADS_MAX];
    size_t width = MAX(MIN(ask->threads, (unsigned)THREADS_MAX), 1U);

    while (b->high > b->low + 1 && b->low < most) {
        size_t n = propose(b, most, width, attempts);
        int rc = try_all(ask, attempts, n, answer, e);

        if (rc < 0)
            return rc;
        learn(b, attempts, n, ask->target.most_s);
    }
    return 0;
}

int capacity_find(struct capacity_answer *ret, const struct capacity_ask *ask, struct err *e)
{
    struct capacity_answer answer = { .one_less = (double)NAN, .steady = true };
    struct attempt one = { .nodes = 0 };
    struct bounds b = { 0, SIZE_MAX, 0, 0 };
    int64_t peak;
    int rc = try_all(ask, &one, 1, &answer, e);

    if (rc < 0)
        return rc;
    if (find_peak(ask->work, &peak) < 0)
        return err_nomem(e);
    answer.today = answer.value = b.at_low = one.value;
    /* Twice what all jobs need at once leaves room for what does not fit together. */
    answer.most = MIN((size_t)(2 * peak / ask->shape.devices + 2),
                      (size_t)POOL_NODES - ask->pool->n_nodes);
    answer.found = one.value <= ask->target.most_s;
    if (answer.found) {
        *ret = answer;
        return 0;
    }
    rc = search(ask, &b, answer.most, &answer, e);
    if (rc < 0)
        return rc;
    answer.found = b.high != SIZE_MAX;
    answer.at_most = b.at_low;
    if (answer.found) {
        one.nodes = b.high + 1;
        rc = try_all(ask, &one, 1, &answer, e);
        answer.steady = one.value <= ask->target.most_s;
        answer.nodes = b.high;
        answer.value = b.at_high;
        answer.one_less = b.at_low;
    }
    if (rc == 0)
        *ret = answer;
    return rc;
}
