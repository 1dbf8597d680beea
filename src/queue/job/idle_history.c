#include "queue/job/idle_history.h"

void idle_history_read(const struct queue_job *j, struct bursts *ret)
{
    bursts_read(ret, j->used, j->since_ms);
    ret->seen_ms = j->seen_ms;
}

void idle_history_begin(struct queue_job *j)
{
    struct bursts b;

    bursts_begin(&b, j->since_ms);
    bursts_write(&b, j->used, sizeof(j->used));
    j->milli = -1;
    j->seen_ms = j->kept_ms = j->since_ms;
    j->told_ms = 0;
    j->ticks = 0;
}

bool idle_history_note(struct queue_job *j, int64_t now_ms, int milli)
{
    struct bursts b;
    bool changed;

    j->milli = milli;
    if (milli < 0)
        return false;
    idle_history_read(j, &b);
    changed = bursts_note(&b, now_ms, milli);
    j->seen_ms = now_ms;
    bursts_write(&b, j->used, sizeof(j->used));
    if (changed)
        j->kept_ms = 0;
    return changed;
}

bool idle_history_due(const struct queue_job *j)
{
    struct bursts b;

    if (!j->kept_ms)
        return true;
    idle_history_read(j, &b);
    return !b.busy && (j->seen_ms - j->kept_ms >= QUEUE_KEEP_MS || j->seen_ms < j->kept_ms);
}

int64_t idle_history_idle_ms(const struct queue_job *j, int64_t now_ms)
{
    struct bursts b;

    idle_history_read(j, &b);
    return bursts_idle_ms(&b, now_ms);
}
