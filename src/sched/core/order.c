#include "sched/core/order.h"

#include <string.h>

static void key_fifo(const struct policy *p, const struct work *w, const struct sched_job *j,
                     int64_t now_ms, struct order_key *ret)
{
    (void)p, (void)j, (void)now_ms;
    ret->value = w->submit_ms;
}

/* The whole of its work, whatever of it is done. */
static void key_sjf(const struct policy *p, const struct work *w, const struct sched_job *j,
                    int64_t now_ms, struct order_key *ret)
{
    (void)w, (void)now_ms;
    (void)p;
    ret->value = j->left_ms;
}

static void key_srtf(const struct policy *p, const struct work *w, const struct sched_job *j,
                     int64_t now_ms, struct order_key *ret)
{
    (void)p, (void)w;
    ret->value = sched_job_left(j, now_ms);
}

static void key_srsf(const struct policy *p, const struct work *w, const struct sched_job *j,
                     int64_t now_ms, struct order_key *ret)
{
    int64_t left = sched_job_left(j, now_ms), most = INT64_MAX / (w->devices + 1);

    (void)p;
    ret->value = left < most ? left * w->devices : INT64_MAX - 1;
}

static void key_smallest(const struct policy *p, const struct work *w, const struct sched_job *j,
                         int64_t now_ms, struct order_key *ret)
{
    (void)p, (void)j, (void)now_ms;
    ret->value = w->devices;
}

static int32_t queue_of(const struct policy *p, int64_t attained_ms)
{
    int32_t queue = 0;

    while (queue < p->n_queues && attained_ms >= p->queue_ms[queue])
        queue++;
    return queue;
}

/* Queues by the device time that a job has had; in a queue, as they were submitted. */
static void key_las(const struct policy *p, const struct work *w, const struct sched_job *j,
                    int64_t now_ms, struct order_key *ret)
{
    ret->rank = queue_of(p, sched_job_attained(j, w, now_ms));
    ret->value = p->ties == TIES_LIST ? 0 : w->submit_ms;
}

static int64_t keeps_las(const struct policy *p, const struct work *w, const struct sched_job *j,
                         int64_t now_ms)
{
    int64_t attained = sched_job_attained(j, w, now_ms);
    int32_t queue = queue_of(p, attained);

    if (queue == p->n_queues || w->devices == 0)
        return WORK_UNKNOWN;
    return (p->queue_ms[queue] - attained + w->devices - 1) / w->devices;
}

/* Those that can meet their deadlines by these; then all others, as they were submitted. */
static void key_deadline(const struct policy *p, const struct work *w, const struct sched_job *j,
                         int64_t now_ms, struct order_key *ret)
{
    bool due = sched_job_due(j, w);

    (void)p, (void)now_ms;
    ret->rank = !due;
    ret->value = due ? work_deadline(w) : w->submit_ms;
}

static int64_t falls_by_one(const struct work *w)
{
    (void)w;
    return 1;
}

static int64_t falls_by_devices(const struct work *w)
{
    return MAX(w->devices, 1);
}

static const struct order_ops orders[] = {
    { "fifo", "was submitted first", false, false, false, key_fifo, NULL, NULL },
    { "sjf", "is the shortest", true, false, false, key_sjf, NULL, NULL },
    { "srtf", "has the least time left", true, false, false, key_srtf, NULL, falls_by_one },
    { "srsf", "has the least device time left", true, false, false, key_srsf, NULL,
      falls_by_devices },
    { "smallest", "needs the fewest devices", false, false, false, key_smallest, NULL, NULL },
    { "las", "has had the least device time", false, false, false, key_las, keeps_las, NULL },
    { "fair", "is of the user who has had the least", false, true, false, key_fifo, NULL, NULL },
    { "deadline", "has the earliest deadline", false, false, true, key_deadline, NULL, NULL },
};

const struct order_ops *order_named(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
        if (!strcmp(orders[i].name, name))
            return &orders[i];
    return NULL;
}

const char *order_name_at(size_t i)
{
    return i < ARRAY_SIZE(orders) ? orders[i].name : NULL;
}
