#include "probe/thread/watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/thread.h"

/* Shared by two threads, freed by the one that is done with it last. */
struct job {
    struct watch_work work;
    struct watch_where where;
    void *result;
    struct err err;
    int rc;
    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t ended;
    bool finished;
    bool abandoned;
};

static void job_free(struct job *j)
{
    pthread_cond_destroy(&j->ended);
    pthread_mutex_destroy(&j->lock);
    free(j->result);
    free(j);
}
DEFINE_CLEANUP(struct job, job_free)

static int job_new(const struct watch_work *work, struct job **ret)
{
    struct job *j = calloc(1, sizeof(*j));

    if (!j)
        return -ENOMEM;
    j->work = *work;
    j->result = calloc(1, work->size);
    if (!j->result) {
        free(j);
        return -ENOMEM;
    }
    pthread_mutex_init(&j->lock, NULL);
    thread_cond_init(&j->ended);
    watch_at(&j->where, "the first call", -1);
    *ret = j;
    return 0;
}

static void *job_run(void *arg)
{
    struct job *j = arg;
    bool abandoned;

    j->rc = j->work.run(j->result, &j->where, &j->err);
    pthread_mutex_lock(&j->lock);
    j->finished = true;
    abandoned = j->abandoned;
    pthread_cond_signal(&j->ended);
    pthread_mutex_unlock(&j->lock);
    if (abandoned)
        job_free(j);
    return NULL;
}

/* Say where the work is stuck; -ETIMEDOUT. */
static int stuck(const struct job *j, int64_t patience_ns, struct err *e)
{
    const char *call = atomic_load(&j->where.call);
    int device = atomic_load(&j->where.device);
    double s = (double)patience_ns / NS_PER_S;

    if (device < 0)
        return err_set(e, -ETIMEDOUT, "%s has not answered for %.3g s: %s", call, s,
                       j->work.way_out);
    return err_set(e, -ETIMEDOUT, "%s of %s %d has not answered for %.3g s: %s", call,
                   j->work.device, device, s, j->work.way_out);
}

/* 0 when the job has finished, -ETIMEDOUT when it was given up: then it is the thread's alone. */
static int job_wait(struct job *j, int64_t patience_ns, struct err *e)
{
    int rc = 0;

    pthread_mutex_lock(&j->lock);
    while (!j->finished && rc == 0) {
        int64_t since = atomic_load(&j->where.since_ns);

        if (patience_ns <= 0)
            pthread_cond_wait(&j->ended, &j->lock);
        else if (!thread_wait_until(&j->ended, &j->lock, since + patience_ns) && !j->finished &&
                 atomic_load(&j->where.since_ns) == since)
            rc = stuck(j, patience_ns, e);
    }
    j->abandoned = rc < 0;
    pthread_mutex_unlock(&j->lock);
    return rc;
}

void watch_at(struct watch_where *where, const char *call, int device)
{
    if (!where)
        return;
    atomic_store(&where->call, call);
    atomic_store(&where->device, device);
    atomic_store(&where->since_ns, clock_monotonic_ns(&clock_system));
}

int watch_run(const struct watch_work *work, int64_t patience_ns, void **ret, struct err *e)
{
    CLEANUP(job_freep) struct job *j = NULL;
    pthread_t thread;
    int rc = job_new(work, &j);

    if (rc < 0)
        return err_nomem(e);
    rc = thread_start(&thread, job_run, j);
    if (rc < 0)
        return err_set(e, rc, "cannot start a thread to watch a driver: %s", strerror(-rc));
    rc = job_wait(j, patience_ns, e);
    if (rc < 0) {
        pthread_detach(thread);
        (void)steal(&j); /* the thread frees it, should it ever come back */
        return rc;
    }
    pthread_join(thread, NULL);
    if (j->rc < 0)
        return err_set(e, j->rc, "%s", j->err.text);
    *ret = steal(&j->result);
    return j->rc;
}
