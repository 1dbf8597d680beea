/* Attempts whose guards were killed: the engine sees to their processes as the guards would. */
#include <signal.h>
#include <string.h>

#include "queue/guard/files.h"
#include "queue/guard/stop_sequence.h"
#include "queue/guard/strays.h"
#include "queue/queue_private.h"

struct queue_orphan {
    int64_t id;
    int32_t attempt;
    struct stop_sequence course;
};

static struct queue_orphan *find(const struct orphans *o, const struct queue_job *j)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->all[i].id == j->id && o->all[i].attempt == j->attempt)
            return &o->all[i];
    return NULL;
}

/* Its course began when the attempt did. NULL when out of memory. */
static struct queue_orphan *add(struct local *l, const struct queue_job *j)
{
    struct orphans *o = &l->orphans;
    struct queue_orphan *grown = reallocarray(o->all, o->n + 1, sizeof(*grown));
    int64_t ran_ms = MAX(queue_wall_ms(l) - j->since_ms, 0);

    if (!grown)
        return NULL;
    o->all = grown;
    grown += o->n++;
    *grown = (struct queue_orphan){ .id = j->id, .attempt = j->attempt };
    stop_sequence_begin(&grown->course, j, queue_now_ms(l) - ran_ms);
    return grown;
}

void orphans_forget(struct local *l, const struct queue_job *j)
{
    struct queue_orphan *orphan = find(&l->orphans, j);

    if (orphan)
        *orphan = l->orphans.all[--l->orphans.n];
}

void orphans_free(struct local *l)
{
    free(l->orphans.all);
    l->orphans = (struct orphans){ .n = 0 };
}

/* Send what is due now. first: its first process; 0: that has gone. */
static void keep(struct local *l, struct queue_orphan *orphan, const struct queue_job *j,
                 const struct strays *s, pid_t first)
{
    struct stop_step step;

    while (stop_sequence_next(&orphan->course, (enum queue_stop)j->stop, first == 0,
                              queue_now_ms(l), &step)) {
        if (step.whom == COURSE_ALL)
            (void)strays_send(s, step.signal);
        if (first)
            kill(step.whom == COURSE_FIRST ? first : -first, step.signal);
    }
}

bool orphans_keep(struct local *l, const struct queue_job *j, uint8_t *stop)
{
    struct queue_orphan *orphan = find(&l->orphans, j);
    struct strays s;
    pid_t guard, first;
    enum queue_started started = queue_start_look(l->dir, j->id, j->attempt, &first);

    (void)queue_claim_look(l->dir, j->id, j->attempt, &guard);
    queue_group_look(l->dir, j->id, j->attempt, s.group);
    strays_mark(s.mark, j->id, guard);
    *stop = orphan ? orphan->course.stop : QUEUE_GO;
    /* One that was not executed yet waits for a word of its guard, and ends without it. */
    if (strays_send(&s, started == START_NONE ? SIGKILL : 0) == 0 && started != START_LIVES) {
        if (*s.group)
            control_group_remove(s.group);
        return false;
    }
    if (!orphan)
        orphan = add(l, j);
    if (orphan && started != START_NONE)
        keep(l, orphan, j, &s, started == START_LIVES ? first : 0);
    return true;
}
