#include "queue/job/idle_history.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/job/job_spec.h"

/* "100-170" or "300-" at *at, which moves behind it. */
static bool read_burst(const char **at, struct queue_burst *ret, bool *open)
{
    uint64_t from = 0, to = 0;
    int n = parse_digits(*at, 10, 18, &from);

    if (n == 0 || (*at)[n] != '-')
        return false;
    *at += n + 1;
    n = parse_digits(*at, 10, 18, &to);
    *at += n;
    *open = n == 0;
    *ret = (struct queue_burst){ (int64_t)from, (int64_t)(*open ? from : to) };
    return *open || to >= from;
}

void idle_history_read(const struct queue_job *j, struct idle_history *ret)
{
    struct idle_history u = { .n = 0 };
    const char *at = j->used;

    while (u.n < QUEUE_BURSTS && !u.busy && read_burst(&at, &u.bursts[u.n], &u.busy)) {
        u.n++;
        at += *at == ' ';
    }
    if (*at || u.n == 0)
        u = (struct idle_history){ { { j->since_ms, j->since_ms } }, 1, true };
    *ret = u;
}

static void write_use(struct queue_job *j, const struct idle_history *u)
{
    size_t len = 0;

    for (int i = 0; i < u->n; i++) {
        const struct queue_burst *b = &u->bursts[i];
        bool open = i == u->n - 1 && u->busy;

        len += (size_t)snprintf(j->used + len, sizeof(j->used) - len, "%s%lld-", i ? " " : "",
                                (long long)b->from_ms);
        if (!open)
            len += (size_t)snprintf(j->used + len, sizeof(j->used) - len, "%lld",
                                    (long long)b->to_ms);
    }
}

/* As the scheduler does: of too many, it worked between the first two as well. */
static void add_burst(struct idle_history *u, int64_t from_ms, int64_t to_ms)
{
    if (u->n == QUEUE_BURSTS) {
        u->bursts[1].from_ms = u->bursts[0].from_ms;
        memmove(&u->bursts[0], &u->bursts[1], (QUEUE_BURSTS - 1) * sizeof(*u->bursts));
        u->n--;
    }
    u->bursts[u->n++] = (struct queue_burst){ from_ms, to_ms };
}

void idle_history_begin(struct queue_job *j)
{
    struct idle_history u = { { { j->since_ms, j->since_ms } }, 1, true };

    write_use(j, &u);
    j->milli = -1;
    j->seen_ms = j->kept_ms = j->since_ms;
    j->told_ms = 0;
    j->ticks = 0;
}

/* Time that nobody saw. */
static void add_gap(struct idle_history *u, int64_t seen_ms, int64_t now_ms)
{
    if (now_ms < seen_ms) /* no time of before means anything */
        *u = (struct idle_history){ { { now_ms, now_ms } }, 1, u->busy };
    else if (now_ms - seen_ms > QUEUE_GAP_MS && !u->busy)
        add_burst(u, seen_ms, now_ms);
}

bool idle_history_note(struct queue_job *j, int64_t now_ms, int milli)
{
    bool idle = milli <= WORK_IDLE, changed;
    struct idle_history u;

    j->milli = milli;
    if (milli < 0)
        return false;
    idle_history_read(j, &u);
    add_gap(&u, j->seen_ms, now_ms);
    changed = idle == u.busy;
    if (changed && idle)
        u.bursts[u.n - 1].to_ms = MAX(now_ms, u.bursts[u.n - 1].from_ms);
    else if (changed)
        add_burst(&u, now_ms, now_ms);
    u.busy = !idle;
    j->seen_ms = now_ms;
    write_use(j, &u);
    if (changed)
        j->kept_ms = 0;
    return changed;
}

bool idle_history_due(const struct queue_job *j)
{
    struct idle_history u;

    if (!j->kept_ms)
        return true;
    idle_history_read(j, &u);
    return !u.busy && (j->seen_ms - j->kept_ms >= QUEUE_KEEP_MS || j->seen_ms < j->kept_ms);
}

int64_t idle_history_idle_ms(const struct queue_job *j, int64_t now_ms)
{
    struct idle_history u;

    idle_history_read(j, &u);
    if (u.busy || now_ms - j->seen_ms > QUEUE_GAP_MS)
        return 0;
    return u.bursts[u.n - 1].to_ms;
}
