#include "sched/feature/data.h"

#include <errno.h>

#include "model/machine/node_names.h"
#include "sched/core/action.h"
#include "sched/core/reason_text.h"
#include "sched/core/scheduler.h"

struct data {
    struct nearby *lists; /* by number of the workload's places */
    int64_t *until_ms;    /* by job: its data are there, in this start; NULL: that costs nothing */
};

static int read_lists(struct sched *s)
{
    const struct work_names *names = &s->work->data;
    struct node_names l;

    s->data->lists = arena_alloc(&s->arena, names->n * sizeof(*s->data->lists));
    if (!s->data->lists || node_names_init(&l, &s->arena, s->pool) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < names->n; i++) {
        struct node_names_found there = { .n = 0 };

        if (node_names_find(&l, names->names[i], &s->arena, &there) == -ENOMEM)
            return -ENOMEM;
        s->data->lists[i] = (struct nearby){ there.nodes, (uint32_t)there.n };
    }
    return 0;
}

static int open_data(struct sched *s, struct err *e)
{
    const struct policy *p = &s->policy;

    if (s->work->data.n == 0)
        return 0;
    s->data = arena_alloc(&s->arena, sizeof(*s->data));
    if (!s->data || read_lists(s) < 0)
        return err_nomem(e);
    if (!work_data_costs(s->work))
        return 1;
    if (p->preempt == PREEMPT_REBUILD || p->restart_each_pass || p->share.below > 0 ||
        p->elastic.on)
        return err_set(
            e, -EINVAL,
            "%s: data that cost time to bring (data_s) do not go with preempt = rebuild, "
            "restart-each-pass, [share] or [elastic]",
            p->name);
    s->data->until_ms = arena_alloc(&s->arena, s->work->n_jobs * sizeof(*s->data->until_ms));
    return s->data->until_ms ? 1 : err_nomem(e);
}

const struct nearby *data_of(const struct sched *s, uint32_t job)
{
    const struct work_wish *wish = s->work->jobs[job].wish;

    return s->data && wish && wish->data ? &s->data->lists[wish->data - 1] : NULL;
}

int64_t data_most_ms(const struct sched *s, uint32_t job)
{
    return s->data && s->data->until_ms && data_of(s, job) ? s->work->jobs[job].wish->data_ms : 0;
}

bool data_is_away(const struct sched *s, uint32_t job)
{
    const struct nearby *near = data_of(s, job);
    uint32_t p = s->jobs[job].part;

    while (near && p != NO_PART && nearby_has(near, s->capacity.parts[p].node))
        p = s->capacity.parts[p].next;
    return near && p != NO_PART;
}

static void starts(struct sched *s, uint32_t job, int64_t now_ms, struct action *a)
{
    struct sched_job *j = &s->jobs[job];
    int64_t cost_ms = data_is_away(s, job) ? s->work->jobs[job].wish->data_ms : 0;

    if (!s->data->until_ms)
        return;
    s->data->until_ms[job] = cost_ms > 0 ? MAX(a->ready_ms, now_ms) + cost_ms : 0;
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms += cost_ms;
    j->owed_ms += cost_ms;
}

static void stops(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    int64_t unpaid_ms;

    if (!s->data->until_ms)
        return;
    unpaid_ms = MIN(MAX(s->data->until_ms[job] - now_ms, 0), data_most_ms(s, job));
    s->data->until_ms[job] = 0;
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = MAX(j->left_ms - unpaid_ms, 0);
    j->owed_ms = MAX(j->owed_ms - unpaid_ms, 0);
}

static void narrows(struct sched *s, uint32_t job)
{
    s->capacity.near = data_of(s, job);
}

static void remark(const struct sched *s, const struct action *a, int64_t now_ms, struct str *out)
{
    int64_t cost_ms = data_most_ms(s, a->job);

    (void)now_ms;
    if (a->kind != ACTION_START || !data_is_away(s, a->job))
        return;
    str_add(out, "; its data are elsewhere");
    if (cost_ms <= 0)
        return;
    str_add(out, ", and take ");
    reason_time(out, cost_ms);
    str_add(out, " to bring");
}

const struct feature feature_data = {
    .open = open_data,
    .starts = starts,
    .stops = stops,
    .narrows = narrows,
    .remark = remark,
};
