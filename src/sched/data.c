#include "sched/data.h"

#include <errno.h>

#include "model/machine/node_names.h"
#include "model/signal/quantity.h"
#include "sched/sched_private.h"

static int read_lists(struct sched *s)
{
    const struct work_names *names = &s->work->data;
    struct node_names l;

    s->data.lists = arena_alloc(&s->arena, names->n * sizeof(*s->data.lists));
    if (!s->data.lists || node_names_init(&l, &s->arena, s->pool) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < names->n; i++) {
        struct node_names_found there = { .n = 0 };

        if (node_names_find(&l, names->names[i], &s->arena, &there) == -ENOMEM)
            return -ENOMEM;
        s->data.lists[i] = (struct nearby){ there.nodes, (uint32_t)there.n };
    }
    return 0;
}

int data_open(struct sched *s, struct err *e)
{
    const struct policy *p = &s->policy;

    if (s->work->data.n == 0)
        return 0;
    if (read_lists(s) < 0)
        return err_nomem(e);
    if (!work_data_costs(s->work))
        return 0;
    if (p->preempt == PREEMPT_REBUILD || p->restart_each_pass || p->share.below > 0 ||
        p->elastic.on)
        return err_set(
            e, -EINVAL,
            "%s: data that cost time to bring (data_s) do not go with preempt = rebuild, "
            "restart-each-pass, [share] or [elastic]",
            p->name);
    s->data.until_ms = arena_alloc(&s->arena, s->work->n_jobs * sizeof(*s->data.until_ms));
    return s->data.until_ms ? 0 : err_nomem(e);
}

const struct nearby *data_of(const struct sched *s, uint32_t job)
{
    const struct work_wish *wish = s->work->jobs[job].wish;

    return s->data.lists && wish && wish->data ? &s->data.lists[wish->data - 1] : NULL;
}

int64_t data_most_ms(const struct sched *s, uint32_t job)
{
    return s->data.until_ms && data_of(s, job) ? s->work->jobs[job].wish->data_ms : 0;
}

bool sched_is_away(const struct sched *s, uint32_t job)
{
    const struct nearby *near = data_of(s, job);
    uint32_t p = s->jobs[job].part;

    while (near && p != NO_PART && nearby_has(near, s->capacity.parts[p].node))
        p = s->capacity.parts[p].next;
    return near && p != NO_PART;
}

void data_start(struct sched *s, uint32_t job, int64_t from_ms)
{
    struct sched_job *j = &s->jobs[job];
    int64_t cost_ms = sched_is_away(s, job) ? s->work->jobs[job].wish->data_ms : 0;

    s->data.until_ms[job] = cost_ms > 0 ? from_ms + cost_ms : 0;
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms += cost_ms;
}

void data_stop(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    int64_t unpaid_ms = MIN(MAX(s->data.until_ms[job] - now_ms, 0), data_most_ms(s, job));

    s->data.until_ms[job] = 0;
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = MAX(j->left_ms - unpaid_ms, 0);
}

void reason_data(const struct sched *s, const struct action *a, struct str *out)
{
    int64_t cost_ms = data_most_ms(s, a->job);

    if (!sched_is_away(s, a->job))
        return;
    str_add(out, "; its data are elsewhere");
    if (cost_ms > 0)
        str_addf(out, ", and take %s to bring", quantity_seconds((double)cost_ms / 1e3).text);
}
