/* Looking at how busy jobs keep their devices, for policies with [idle] or [share]: others do
 * without. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "queue/guard/cpu_time.h"
#include "queue/guard/files.h"
#include "queue/job/idle_history.h"
#include "queue/queue_private.h"

enum { AGAIN_MS = 60000 /* until a sensor that ended is started again */, SECOND_MS = 1000 };

static bool counts(const struct local *l, const struct queue_job *j)
{
    return queue_job_has(j) && j->stop == QUEUE_GO && (l->pool.cpus || j->devices > 0);
}

static bool is_wanted(const struct local *l)
{
    const struct policy *p = l->c->policy;

    for (size_t i = 0; (p->idle.reclaim_ms > 0 || p->share.below > 0) && i < l->n; i++)
        if (counts(l, l->jobs[i]) || l->jobs[i]->parked_ms)
            return true;
    return false;
}

/* ---- what was seen ---- */

/* The first looks at a job may be at what was there before it. */
static bool is_young(const struct local *l, const struct queue_job *j)
{
    int64_t age_ms = queue_wall_ms(l) - j->since_ms;

    return age_ms >= 0 && age_ms < 2 * l->c->look_ms;
}

static void note(struct local *l, struct queue_job *j, int milli)
{
    bool changed;

    if (is_young(l, j))
        return;
    changed = idle_history_note(j, queue_wall_ms(l), milli);
    l->changed |= changed;
}

static bool is_due(const struct local *l, const struct queue_job *j)
{
    return counts(l, j) && j->seen_ms && idle_history_due(j);
}

/* Store what would be missed by the next engine; where that fails, with the next look. */
static void store(struct local *l)
{
    struct err e = { "" };
    bool any = false;
    int rc = 0;

    for (size_t i = 0; i < l->n && rc == 0; i++) {
        struct queue_job *j = l->jobs[i];

        if (!is_due(l, j))
            continue;
        if (!any)
            rc = queue_store_begin(l->store, &e);
        if (rc == 0)
            rc = queue_store_put(l->store, j, &e);
        any = true;
    }
    if (any)
        rc = rc < 0 ? (queue_store_rollback(l->store), rc) : queue_store_commit(l->store, &e);
    if (rc < 0 && !l->look.unstored)
        log_error("%s", e.text);
    l->look.unstored = rc < 0;
    for (size_t i = 0; i < l->n && rc >= 0; i++)
        if (is_due(l, l->jobs[i]))
            l->jobs[i]->kept_ms = l->jobs[i]->seen_ms;
}

/* ---- accelerators ---- */

/* The mean of its devices. Of some that are not known only that the others are busy is told. */
static int mean(const struct queue_job *j, const struct queue_sensed *s)
{
    const char *at = j->slots;
    int sum = 0, n = 0, unknown = 0, slot;

    while ((slot = queue_slots_next(&at)) >= 0) {
        int milli = slot < QUEUE_SENSED ? s->milli[slot] : -1;

        n++;
        sum += MAX(milli, 0);
        unknown += milli < 0;
    }
    if (n == 0 || (unknown && sum / n <= WORK_IDLE))
        return -1;
    return sum / n;
}

/* The most that is in use of the memory of one of its devices; -1. */
static int memory(const struct queue_job *j, const struct queue_sensed *s)
{
    const char *at = j->slots;
    int most = -1, slot;

    while ((slot = queue_slots_next(&at)) >= 0)
        if (slot < QUEUE_SENSED)
            most = MAX(most, s->memory[slot]);
    return most;
}

static void note_devices(struct local *l, struct queue_job *j, const struct queue_sensed *s)
{
    if (!is_young(l, j))
        note(l, j, queue_share_use(l, j, mean(j, s), memory(j, s)));
}

static void end_sensor(struct local *l)
{
    closep(&l->look.sensor);
    l->look.sensor = -1;
    l->look.due_ms = queue_now_ms(l) + AGAIN_MS;
}

void queue_look_take(struct local *l)
{
    struct queue_sensed s;
    int rc = queue_sensor_read(l->look.sensor, &s);

    if (rc < 0) {
        if (!l->look.said)
            log_warning("nobody tells how busy devices are: no job counts as idle until somebody "
                        "does");
        l->look.said = true;
        end_sensor(l);
    }
    if (rc <= 0)
        return;
    queue_share_look(l);
    for (size_t i = 0; i < l->n; i++)
        if (counts(l, l->jobs[i]))
            note_devices(l, l->jobs[i], &s);
    store(l);
}

static void start_sensor(struct local *l)
{
    int fd = queue_sensor_start(&l->pool, l->c->fake, l->c->look_ms);

    l->look.due_ms = queue_now_ms(l) + AGAIN_MS;
    if (fd < 0)
        log_error("cannot look at devices now: %s", strerror(-fd));
    else
        l->look.sensor = fd;
}

/* ---- CPUs ---- */

/* The CPU time that a job has used since the last look, against that of its CPUs. A sum that fell
 * is of processes that nobody waited for. */
static int growth(struct queue_job *j, const struct cpu_time *c, int64_t now_ms)
{
    double passed_s = (double)(now_ms - j->ticks_ms) / SECOND_MS, used_s;
    uint64_t before = j->ticks;

    if (!c->there)
        return -1;
    j->ticks = c->ticks + 1; /* 0 is that nobody looked */
    j->ticks_ms = now_ms;
    if (!before || c->ticks + 1 < before || passed_s <= 0)
        return -1;
    used_s = (double)(c->ticks + 1 - before) / (double)sysconf(_SC_CLK_TCK);
    return (int)MIN(used_s / (passed_s * MAX(j->cpus, 1)) * WORK_WHOLE, (double)WORK_WHOLE);
}

static void look_at_cpus(struct local *l)
{
    CLEANUP(freep) struct cpu_time *of = calloc(l->n + 1, sizeof(*of));
    CLEANUP(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t now_ms = queue_now_ms(l);
    size_t n = 0;

    if (!of || proc < 0)
        return;
    for (size_t i = 0; i < l->n; i++) {
        const struct queue_job *j = l->jobs[i];
        pid_t pid;

        if (counts(l, j) && queue_claim_look(l->dir, j->id, j->attempt, &pid) == CLAIM_HELD &&
            pid > 1)
            of[n++].guard = pid;
        else if (counts(l, j))
            of[n++].guard = -1;
    }
    if (cpu_time_read(proc, of, n) < 0)
        return;
    n = 0;
    for (size_t i = 0; i < l->n; i++)
        if (counts(l, l->jobs[i]))
            note(l, l->jobs[i], growth(l->jobs[i], &of[n++], now_ms));
    store(l);
}

/* ---- when ---- */

int64_t queue_look_due(const struct local *l)
{
    return l->look.sensor < 0 && is_wanted(l) ? l->look.due_ms : INT64_MAX;
}

void queue_look(struct local *l)
{
    bool wanted = is_wanted(l);

    if (!wanted && l->look.sensor >= 0) {
        end_sensor(l);
        l->look.due_ms = 0; /* it is to be there as soon as a job runs */
    }
    if (!wanted || l->look.sensor >= 0 || queue_now_ms(l) < l->look.due_ms)
        return;
    if (l->pool.cpus) {
        l->look.due_ms = queue_now_ms(l) + l->c->look_ms;
        look_at_cpus(l);
    } else {
        start_sensor(l);
    }
}

void queue_look_done(struct local *l)
{
    closep(&l->look.sensor);
    l->look.sensor = -1;
}
