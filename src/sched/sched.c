#include "sched/inside.h"
#include "sched/speed.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- open and close ---- */

/* Number the groups: shapes; of each user where users decide, of each share where there are any. */
static int make_groups(struct sched *s)
{
    const struct workload *w = s->work;
    size_t n_users = s->policy.order->needs_users ? w->users.n + 1 : 1;
    size_t n_slots = MAX(s->quota.n, 1), n = n_users * n_slots * w->n_shapes;
    uint32_t *number = arena_alloc(&s->arena, (n + 1) * sizeof(*number));

    s->group = arena_alloc(&s->arena, (w->n_jobs + 1) * sizeof(*s->group));
    if (!number || !s->group)
        return -ENOMEM;
    for (size_t i = 0; i < w->n_jobs; i++) {
        size_t user = n_users > 1 ? (size_t)(w->jobs[i].user + 1) : 0;
        size_t share = user * n_slots + quota_slot(s, (uint32_t)i);
        uint32_t *slot = &number[share * w->n_shapes + w->jobs[i].shape];

        if (!*slot)
            *slot = (uint32_t)++s->n_groups;
        s->group[i] = *slot - 1;
    }
    return 0;
}

static bool has_shares(const struct workload *w)
{
    for (size_t i = 0; i < w->n_jobs; i++)
        if (w->jobs[i].milli < WORK_WHOLE)
            return true;
    return false;
}

static int make_tables(struct sched *s)
{
    size_t n = s->work->n_jobs + 1, nodes = s->pool->n_nodes + 1;
    struct arena *a = &s->arena;

    s->jobs = arena_alloc(a, n * sizeof(*s->jobs));
    s->cursor = arena_alloc(a, (s->n_groups + 1) * sizeof(*s->cursor));
    s->longest = arena_alloc(a, (s->n_groups + 1) * sizeof(*s->longest));
    s->running = arena_alloc(a, n * sizeof(*s->running));
    s->at = arena_alloc(a, n * sizeof(*s->at));
    s->waits = arena_alloc(a, n * sizeof(*s->waits));
    s->fit.parts = arena_alloc(a, nodes * sizeof(*s->fit.parts));
    s->promise.spare = arena_alloc(a, nodes);
    s->users = arena_alloc(a, (s->work->users.n + 2) * sizeof(*s->users));
    if (!s->jobs || !s->cursor || !s->longest || !s->running || !s->at || !s->waits ||
        !s->fit.parts || !s->promise.spare || !s->users)
        return -ENOMEM;
    if (s->policy.backfill >= BACKFILL_EASY) {
        s->ends = arena_alloc(a, n * sizeof(*s->ends));
        s->back = has_shares(s->work) ? arena_alloc(a, nodes * POOL_DEVICES * sizeof(*s->back))
                                      : NULL;
        if (!s->ends || (!s->back && has_shares(s->work)))
            return -ENOMEM;
    }
    if (s->policy.preempt != PREEMPT_NONE) {
        s->ranked = arena_alloc(a, n * sizeof(*s->ranked));
        s->other = arena_alloc(a, n * sizeof(*s->other));
        s->first = arena_alloc(a, (nodes + 2) * sizeof(*s->first));
        s->holders = arena_alloc(a, ((size_t)s->pool->devices + 1) * sizeof(*s->holders));
        return s->ranked && s->other && s->first && s->holders ? 0 : -ENOMEM;
    }
    return waiting_init(&s->waiting, a, n, s->n_groups);
}

int sched_open(struct sched **ret, const struct policy *policy, const struct pool *pool,
               const struct workload *jobs, struct err *e)
{
    CLEANUP(sched_closep) struct sched *s = calloc(1, sizeof(*s));
    int rc;

    if (jobs->n_speeds > 0 && policy->preempt == PREEMPT_REBUILD)
        return err_set(e, -EINVAL, "%s places all anew in each pass: not with speeds by kind",
                       policy->name);
    if (!s)
        return err_nomem(e);
    s->policy = *policy;
    s->pool = pool;
    s->work = jobs;
    s->promise.job = WAITING_NONE;
    rc = quota_open(s, e);
    if (rc == 0)
        rc = idle_open(s, e);
    if (rc == 0)
        rc = share_open(s, e);
    if (rc < 0)
        return rc;
    if (make_groups(s) < 0 || room_init(&s->room, pool) < 0 || make_tables(s) < 0)
        return err_nomem(e);
    if (policy->place->scores) {
        if (scores_init(&s->scores, &s->arena, pool, jobs) < 0)
            return err_nomem(e);
        s->room.scores = &s->scores;
    }
    if (policy->place->wiring) {
        if (wiring_init(&s->wiring, &s->arena, pool) < 0)
            return err_nomem(e);
        s->room.wiring = &s->wiring;
    }
    *ret = steal(&s);
    return 0;
}

void sched_close(struct sched *s)
{
    if (!s)
        return;
    room_done(&s->room);
    arena_done(&s->arena);
    free(s->actions);
    free(s);
}

/* ---- what there is ---- */

const struct action *sched_actions(const struct sched *s, size_t *n)
{
    *n = s->n_actions;
    return s->actions;
}

const struct sched_job *sched_job(const struct sched *s, uint32_t job)
{
    return &s->jobs[job];
}

const struct room *sched_room(const struct sched *s)
{
    return &s->room;
}

const uint32_t *sched_running(const struct sched *s, size_t *n)
{
    *n = s->n_running;
    return s->running;
}

int64_t sched_restart_ms(const struct sched *s, uint32_t job)
{
    const struct work *w = &s->work->jobs[job];

    if (w->restart_ms >= 0)
        return w->restart_ms;
    return w->devices > s->pool->most ? s->policy.restart_multi_ms : s->policy.restart_ms;
}

bool inside_find(struct sched *s, uint32_t job)
{
    return quota_allows(s, job) && speed_find(s, job);
}

bool sched_possible(struct sched *s, uint32_t job)
{
    assert(s->n_running == 0);
    return inside_find(s, job);
}

/* ---- keys ---- */

static const int32_t aged_rank = INT32_MIN; /* before all ranks by priority and queue */

void inside_key(const struct sched *s, uint32_t job, int64_t now_ms, struct order_key *ret)
{
    const struct work *w = &s->work->jobs[job];
    const struct sched_job *j = &s->jobs[job];
    bool runs = j->state == SCHED_RUNNING;

    *ret = (struct order_key){ .tie = job };
    s->policy.order->key(&s->policy, w, j, now_ms, ret);
    if (j->aged) {
        ret->rank = aged_rank;
        ret->value = w->submit_ms;
        return;
    }
    if (s->policy.priorities)
        ret->rank -= w->priority * (POLICY_QUEUES + 1);
    if (s->policy.ties == TIES_LIST)
        ret->tie = j->list;
    else if (s->policy.ties != TIES_SUBMITTED)
        ret->tie = j->list | (uint32_t)(runs == (s->policy.ties == TIES_WAITING)) << 31;
}

/* ---- changes of state ---- */

void inside_count_users(struct sched *s, int64_t now_ms)
{
    int64_t passed = now_ms - s->users_ms;
    double keep = s->policy.half_life_ms > 0
                      ? exp2(-(double)passed / (double)s->policy.half_life_ms)
                      : 1;

    if (passed <= 0)
        return;
    for (size_t i = 0; i <= s->work->users.n; i++)
        s->users[i].had = s->users[i].had * keep + (double)(s->users[i].running * passed);
    s->users_ms = now_ms;
}

static void count_user(struct sched *s, uint32_t job, int64_t now_ms, int sign)
{
    const struct work *w = &s->work->jobs[job];

    if (!s->policy.order->needs_users)
        return;
    inside_count_users(s, now_ms);
    s->users[w->user + 1].running += (int64_t)sign * w->devices;
}

/* Where a job that ends at a time stands among the expected ends. */
static size_t find_end(const struct sched *s, int64_t end_ms, uint32_t job)
{
    size_t low = 0, high = s->n_ends;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct expected *x = &s->ends[middle];

        if (x->end_ms < end_ms || (x->end_ms == end_ms && x->job < job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int64_t end_of(const struct sched_job *j)
{
    return j->left_ms == WORK_UNKNOWN ? WORK_UNKNOWN : j->since_ms + j->left_ms;
}

static void add_end(struct sched *s, uint32_t job)
{
    int64_t end_ms = end_of(&s->jobs[job]);
    size_t at = find_end(s, end_ms, job);

    memmove(&s->ends[at + 1], &s->ends[at], (s->n_ends++ - at) * sizeof(*s->ends));
    s->ends[at] = (struct expected){ end_ms, job };
}

static void remove_end(struct sched *s, uint32_t job)
{
    size_t at = find_end(s, end_of(&s->jobs[job]), job);

    memmove(&s->ends[at], &s->ends[at + 1], (--s->n_ends - at) * sizeof(*s->ends));
}

static void remove_waiting(struct sched *s, uint32_t job)
{
    uint32_t last = s->waits[--s->n_waiting];

    s->waits[s->at[job]] = last;
    s->at[last] = s->at[job];
    if (s->policy.preempt == PREEMPT_NONE)
        waiting_remove(&s->waiting, s->group[job], job);
}

static void add_waiting(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    struct order_key key;

    j->state = SCHED_WAITING;
    j->since_ms = now_ms;
    j->list = ++s->lists;
    s->at[job] = (uint32_t)s->n_waiting;
    s->waits[s->n_waiting++] = job;
    if (s->policy.preempt != PREEMPT_NONE)
        return;
    inside_key(s, job, now_ms, &key);
    waiting_add(&s->waiting, s->group[job], job, &key, j->left_ms);
}

static void add_running(struct sched *s, uint32_t job, int64_t since_ms)
{
    struct sched_job *j = &s->jobs[job];

    j->state = SCHED_RUNNING;
    j->since_ms = since_ms;
    j->list = ++s->lists;
    s->at[job] = (uint32_t)s->n_running;
    s->running[s->n_running++] = job;
    if (s->ends)
        add_end(s, job);
    if (s->idle.jobs)
        idle_begin(s, job, since_ms);
    if (s->share.jobs)
        share_begin(s, job, since_ms);
}

int64_t inside_age(struct sched *s, int64_t now_ms)
{
    int64_t next_ms = WORK_UNKNOWN;

    for (size_t i = 0; s->policy.ageing_ms > 0 && i < s->n_waiting; i++) {
        uint32_t job = s->waits[i];
        struct sched_job *j = &s->jobs[job];
        int64_t at_ms = j->since_ms + s->policy.ageing_ms;
        struct order_key key;

        if (j->aged)
            continue;
        if (at_ms > now_ms) {
            next_ms = MIN(next_ms, at_ms);
            continue;
        }
        j->aged = 1;
        if (s->policy.preempt != PREEMPT_NONE)
            continue;
        waiting_remove(&s->waiting, s->group[job], job);
        inside_key(s, job, now_ms, &key);
        waiting_add(&s->waiting, s->group[job], job, &key, j->left_ms);
    }
    return next_ms;
}

static void remove_running(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];
    uint32_t last = s->running[--s->n_running];

    s->running[s->at[job]] = last;
    s->at[last] = s->at[job];
    if (s->ends)
        remove_end(s, job);
    count_user(s, job, now_ms, -1);
    if (!share_is_guest(s, job))
        quota_count(s, job, -1);
    if (s->share.jobs)
        share_leave(s, job, now_ms);
    if (s->idle.jobs)
        idle_leave(s, job);
    j->attained_ms = sched_job_attained(j, &s->work->jobs[job], now_ms);
    j->left_ms = sched_job_left(j, now_ms);
    speed_stop(s, job);
    room_give(&s->room, &s->work->jobs[job], j->part);
    s->promise.job = WAITING_NONE;
}

int inside_note(struct sched *s, const struct action *a)
{
    if ((s->n_actions & (s->n_actions - 1)) == 0) {
        size_t n = s->n_actions ? 2 * s->n_actions : 1;
        struct action *grown = reallocarray(s->actions, n, sizeof(*grown));

        if (!grown)
            return -ENOMEM;
        s->actions = grown;
    }
    s->actions[s->n_actions++] = *a;
    return 0;
}

int inside_start(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
{
    struct sched_job *j = &s->jobs[job];
    struct action a = *why;

    if (room_take(&s->room, &s->work->jobs[job], &s->fit, &j->part) < 0)
        return -ENOMEM;
    remove_waiting(s, job);
    speed_start(s, job);
    count_user(s, job, now_ms, 1);
    quota_count(s, job, 1);
    add_running(s, job, now_ms);
    a.job = job;
    a.kind = ACTION_START;
    return inside_note(s, &a);
}

int inside_stop(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why, bool parks)
{
    struct sched_job *j = &s->jobs[job];
    struct action a = *why;

    if (share_partner(s, job) != WAITING_NONE && !share_is_guest(s, job) &&
        inside_stop(s, share_partner(s, job), now_ms, why, false) < 0)
        return -ENOMEM;
    remove_running(s, job, now_ms);
    if (j->left_ms != WORK_UNKNOWN && !s->policy.restart_each_pass)
        j->left_ms += sched_restart_ms(s, job);
    j->was = 1;
    if (parks)
        j->state = SCHED_AWAY;
    else
        add_waiting(s, job, now_ms);
    a.job = job;
    a.kind = parks ? ACTION_PARK : ACTION_PREEMPT;
    return inside_note(s, &a);
}

int inside_preempt(struct sched *s, uint32_t job, int64_t now_ms, const struct action *why)
{
    return inside_stop(s, job, now_ms, why, false);
}

/* ---- what happened ---- */

void sched_submit(struct sched *s, uint32_t job, int64_t now_ms, int64_t length_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_ABSENT);
    j->left_ms = length_ms;
    j->part = NO_PART;
    add_waiting(s, job, now_ms);
    if (s->ranked)
        s->ranked[s->n_ranked++] = (struct ranked){ .job = job };
}

int sched_take_up(struct sched *s, uint32_t job, int64_t now_ms, const struct sched_job *was,
                  const struct fit *where)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_ABSENT);
    *j = *was;
    j->part = NO_PART;
    if (where && room_take(&s->room, &s->work->jobs[job], where, &j->part) < 0)
        return -ENOMEM;
    if (where) {
        count_user(s, job, now_ms, 1);
        quota_count(s, job, 1);
        add_running(s, job, was->since_ms);
    } else {
        add_waiting(s, job, was->since_ms);
    }
    if (s->ranked)
        s->ranked[s->n_ranked++] = (struct ranked){ .job = job };
    return 0;
}

void sched_had(struct sched *s, int user, int64_t now_ms, double had_ms)
{
    inside_count_users(s, now_ms);
    s->users[user + 1].had = had_ms;
}

void sched_end(struct sched *s, uint32_t job, int64_t now_ms)
{
    struct sched_job *j = &s->jobs[job];

    if (j->state == SCHED_RUNNING)
        remove_running(s, job, now_ms);
    else if (j->state == SCHED_WAITING)
        remove_waiting(s, job);
    j->state = SCHED_ABSENT;
}

void sched_return(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_RUNNING);
    remove_running(s, job, now_ms);
    j->left_ms = left_ms;
    j->was = 1;
    add_waiting(s, job, now_ms);
}

void sched_node(struct sched *s, uint32_t node, bool up)
{
    if (up)
        room_regain(&s->room, node);
    else
        room_lose(&s->room, node);
    s->promise.job = WAITING_NONE;
}

int sched_close_node(struct sched *s, uint32_t node, bool closed)
{
    s->promise.job = WAITING_NONE;
    return room_close(&s->room, node, closed);
}

bool sched_is_on(const struct sched *s, uint32_t job, uint32_t node)
{
    uint32_t p = s->jobs[job].part;

    if (s->jobs[job].state != SCHED_RUNNING)
        return false;
    while (p != NO_PART && s->room.parts[p].node != node)
        p = s->room.parts[p].next;
    return p != NO_PART;
}

void sched_progress(struct sched *s, uint32_t job, int64_t now_ms, int64_t left_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_RUNNING);
    if (s->ends)
        remove_end(s, job);
    j->attained_ms = sched_job_attained(j, &s->work->jobs[job], now_ms);
    j->since_ms = now_ms;
    j->left_ms = left_ms;
    if (s->ends)
        add_end(s, job);
}

void sched_use(struct sched *s, uint32_t job, int64_t now_ms, int milli)
{
    if (s->idle.jobs)
        idle_use(s, job, now_ms, milli);
    if (s->share.jobs)
        share_use(s, job, now_ms, milli);
}

void sched_wake(struct sched *s, uint32_t job, int64_t now_ms, int64_t passed_ms)
{
    struct sched_job *j = &s->jobs[job];

    assert(j->state == SCHED_AWAY);
    if (j->left_ms != WORK_UNKNOWN)
        j->left_ms = MAX(j->left_ms - passed_ms, 0);
    add_waiting(s, job, now_ms);
}

static int pass(struct sched *s, int64_t now_ms, int64_t *again_ms)
{
    if (s->policy.preempt != PREEMPT_NONE)
        return pass_ranked(s, now_ms, again_ms);
    if (s->n_waiting == 0)
        return 0;
    if (s->quota.n)
        return pass_quota(s, now_ms);
    return s->policy.backfill == BACKFILL_CONSERVATIVE ? pass_planned(s, now_ms)
                                                       : pass_queue(s, now_ms);
}

int sched_pass(struct sched *s, int64_t now_ms, int64_t *again_ms)
{
    int64_t aged_ms;
    int rc;

    s->n_actions = 0;
    *again_ms = WORK_UNKNOWN;
    if (s->policy.order->needs_users)
        inside_count_users(s, now_ms);
    aged_ms = inside_age(s, now_ms);
    if (s->idle.jobs && idle_pass(s, now_ms) < 0)
        return -ENOMEM;
    rc = pass(s, now_ms, again_ms);
    *again_ms = MIN(*again_ms, aged_ms);
    if (s->idle.jobs)
        *again_ms = MIN(*again_ms, idle_again(s, now_ms));
    return rc;
}
