/* What a scheduler is told of the jobs of a queue, and which slots its places are: on a machine
 * whose accelerators are two parts of it. */
#include <stdlib.h>
#include <string.h>

#include "queue/plan.h"
#include "queue/resize.h"
#include "tap.h"

enum { GPUS = 20, NOW = 1000100, LAST = INT16_MIN / 32 };

struct scene {
    struct node *node;
    struct queue_pool pool;
    struct policy policy;
    struct queue_job jobs[2];
    struct queue_item items[2];
    struct queue_plan plan;
};

static void make_node(struct scene *s)
{
    s->node = node_new();
    for (int i = 0; i < GPUS && s->node; i++) {
        struct pci *f = node_add_pci(s->node, (struct pci_address){ .bus = (uint8_t)(i + 1) });
        struct device *d = node_add_device(s->node, DEVICE_ACCELERATOR);

        f->vendor = 0x10de;
        d->pci = (int)s->node->n_pcis - 1;
        d->numa = ABSENT;
        d->product = "H100";
    }
    if (!s->node || node_settle(s->node) < 0)
        exit(1);
}

/* Job 1 runs on three devices of which one is of the first part; job 2 waits for two. */
static void begin(struct scene *s, const char *policy)
{
    struct err e = { "" };
    char text[256];

    *s = (struct scene){ .node = NULL };
    make_node(s);
    snprintf(text, sizeof(text), "[policy]\n%s", policy);
    if (queue_pool_make(&s->pool, s->node, "0-39", &e) != 0 ||
        policy_read(&s->policy, "test", text, strlen(text), &e) != 0) {
        printf("Bail out! %s\n", e.text);
        exit(1);
    }
    for (int i = 0; i < 2; i++) {
        struct queue_job *j = &s->jobs[i];

        *j = (struct queue_job){ .id = i + 1, .array = i + 1, .task = -1, .user = "u", .cpus = 4 };
        j->devices = 2;
        j->submit_ms = j->since_ms = 1000000;
        s->items[i] = (struct queue_item){ j, true };
    }
    s->jobs[0].devices = 3;
    s->jobs[0].cpus = 6;
    s->jobs[0].state = QUEUE_RUNNING;
    s->jobs[0].attempt = 1;
    s->jobs[0].requeue = true;
    snprintf(s->jobs[0].slots, sizeof(s->jobs[0].slots), "15,16,17");
}

static void plan(struct scene *s)
{
    struct err e = { "" };
    const struct queue_scene scene = { &s->pool, &s->policy, s->items, 2 };

    is_int(queue_plan_make(&s->plan, &scene, NOW, &e), 0, "the plan is made: %s", e.text);
}

static void pass(struct scene *s)
{
    int64_t again_ms;

    plan(s);
    is_int(queue_plan_pass(&s->plan, NOW, &again_ms), 0, "the plan is decided");
}

static void end(struct scene *s)
{
    queue_pool_done(&s->pool);
    node_free(s->node);
}

static void test_parts(void)
{
    char slots[QUEUE_SLOTS];
    struct scene s;

    begin(&s, "backfill = greedy\n");
    is_int((long long)s.pool.pool.n_nodes, 2, "20 accelerators are two parts of a machine");
    pass(&s);
    queue_plan_slots(&s.plan, 0, slots);
    is_str(slots, "15,16,17", "a job keeps its devices of both parts");
    queue_plan_slots(&s.plan, 1, slots);
    is_str(slots, "18,19", "a job gets what is left of the second part");
    is_int(queue_plan_left(&s.plan, "14,15,16,18,25", slots), 34,
           "as many CPUs are left as in the part of a slot that nobody has");
    is_str(slots, "14", "a slot that nobody has is left");
    queue_plan_done(&s.plan);
    s.jobs[1].devices = 3;
    pass(&s);
    queue_plan_slots(&s.plan, 1, slots);
    is_str(slots, "0,1,2", "a job that does not fit the second part goes to the first");
    queue_plan_done(&s.plan);
    end(&s);
}

static void test_leaves(void)
{
    struct scene s;

    begin(&s, "backfill = greedy\n");
    s.jobs[0].priority = 7;
    s.jobs[0].requeue = false;
    plan(&s);
    ok(s.plan.work.jobs[0].priority == 7 && s.plan.work.jobs[0].fixed,
       "a job that may not be stopped is told so, with its priority");
    queue_plan_done(&s.plan);
    s.jobs[0].stop = QUEUE_PREEMPT;
    plan(&s);
    ok(s.plan.work.jobs[0].priority == LAST && !s.plan.work.jobs[0].fixed,
       "a job that is being stopped goes last, and may be");
    ok(sched_job(s.plan.sched, 0)->leaves, "a job that is being stopped leaves");
    queue_plan_done(&s.plan);
    snprintf(s.jobs[0].next, sizeof(s.jobs[0].next), "3,4,5");
    plan(&s);
    ok(s.plan.work.jobs[0].priority == 7 && !sched_job(s.plan.sched, 0)->leaves,
       "a job that is stopped and goes on at once does not leave");
    queue_plan_done(&s.plan);
    end(&s);
}

static void test_deadlines(void)
{
    struct scene s;

    begin(&s, "order = deadline\n");
    s.jobs[1].deadline_ms = 1000500;
    plan(&s);
    is_int(s.plan.work.jobs[0].wish->due_ms, 0, "a job without a deadline is due at any time");
    is_int(s.plan.work.jobs[1].wish->due_ms, 500, "a deadline counts from the submission");
    queue_plan_done(&s.plan);
    s.jobs[1].deadline_ms = 999000;
    plan(&s);
    is_int(s.plan.work.jobs[1].wish->due_ms, 1, "a deadline before the submission was missed");
    queue_plan_done(&s.plan);
    end(&s);
}

static void test_stretches(void)
{
    const struct work *w;
    struct scene s;

    begin(&s, "backfill = greedy\n");
    s.jobs[0].least = 1;
    snprintf(s.jobs[0].slots, sizeof(s.jobs[0].slots), "15,16");
    plan(&s);
    w = &s.plan.work.jobs[0];
    ok(s.plan.policy.elastic.on && s.plan.policy.elastic.grow && !s.plan.policy.elastic.give,
       "jobs that were left with fewer devices may grow under any policy");
    ok(w->least == 1 && w->most == 3 && w->devices == 3, "a job that stretches has its range");
    ok(w->scaling > 0.79F && w->scaling < 0.81F, "a job loses a little less than its devices");
    is_str(w->name, "1", "a job is called by its number");
    is_int(sched_devices(s.plan.sched, 0), 2, "a job that stretches has the devices that it has");
    queue_plan_done(&s.plan);
    s.jobs[0].stop = QUEUE_PREEMPT;
    plan(&s);
    w = &s.plan.work.jobs[0];
    ok(w->most == 0 && w->devices == 2 && w->cpus_milli == 4000,
       "a job that leaves is as large as its place");
    queue_plan_done(&s.plan);
    end(&s);
    begin(&s, "order = las\nqueues = 1h\npreempt = quota\n");
    s.jobs[0].least = 1;
    snprintf(s.jobs[0].slots, sizeof(s.jobs[0].slots), "15");
    plan(&s);
    w = &s.plan.work.jobs[0];
    ok(!s.plan.policy.elastic.on && w->most == 0 && w->devices == 1 && w->cpus_milli == 2000,
       "where nobody is resized a job is as large as its place");
    queue_plan_done(&s.plan);
    s.jobs[0].state = QUEUE_WAITING;
    plan(&s);
    w = &s.plan.work.jobs[0];
    ok(w->devices == 3 && w->cpus_milli == 6000, "a job that waits is as large as it asked");
    queue_plan_done(&s.plan);
    end(&s);
}

/* What it had, as it goes by: device time, attempts, its limit. */
static void test_past(void)
{
    const struct sched_job *was;
    struct scene s;

    begin(&s, "backfill = easy\nlength = limit\n");
    s.jobs[0].device_ms = 70000;
    s.jobs[0].limit_ms = 9000;
    s.jobs[0].attempt = 2;
    s.jobs[0].since_ms = 1000060;
    plan(&s);
    was = sched_job(s.plan.sched, 0);
    ok(was->attained_ms == 70000 && was->was && was->left_ms == 9000 && was->since_ms == 60,
       "a job that was stopped before has its device time, and its limit anew");
    ok(sched_job(s.plan.sched, 1)->left_ms == WORK_UNKNOWN && !sched_job(s.plan.sched, 1)->was,
       "of a job without a limit nothing is known");
    queue_plan_done(&s.plan);
    s.policy.length = LENGTH_NONE;
    s.policy.backfill = BACKFILL_GREEDY;
    s.jobs[0].attempt = 1;
    plan(&s);
    was = sched_job(s.plan.sched, 0);
    ok(was->left_ms == WORK_UNKNOWN && !was->was,
       "a policy that knows no lengths is told none, and a first attempt was not stopped");
    queue_plan_done(&s.plan);
    end(&s);
}

/* With what a job goes on that gave its devices up. */
static void test_goes_on(void)
{
    struct action idle = { .job = 1, .why = WHY_IDLE }, behind = { .job = 1, .why = WHY_BEHIND };
    const struct action runs = { .job = 0, .why = WHY_FREE };
    struct queue_job j;
    char next[QUEUE_SLOTS];
    struct scene s;
    int cpus = 0;

    begin(&s, "backfill = greedy\n[idle]\nreclaim = 1h\naction = requeue\n");
    s.jobs[0].least = 1;
    plan(&s);
    queue_resize_next(&s.plan, &runs, &s.jobs[0], &cpus, next);
    is_str(next, "15,16,17", "a job that runs after a pass goes on with its place");
    is_int(cpus, 0, "the CPUs of a place are counted by the scheduler");
    j = s.jobs[0];
    snprintf(j.slots, sizeof(j.slots), "2,3,4");
    queue_resize_next(&s.plan, &idle, &j, &cpus, next);
    is_str(next, "", "a job that was idle waits in its turn where the policy says so");
    queue_resize_next(&s.plan, &behind, &j, &cpus, next);
    is_str(next, "2,3,4", "a job that was not idle goes on with what nobody has");
    is_int(cpus, 6, "the CPUs that it goes on with are counted");
    queue_plan_done(&s.plan);
    s.policy.idle.action = IDLE_SHRINK;
    cpus = 0;
    plan(&s);
    queue_resize_next(&s.plan, &idle, &j, &cpus, next);
    is_str(next, "2,3,4", "a job that was idle goes on where the policy lets it shrink");
    queue_plan_done(&s.plan);
    end(&s);
}

int main(void)
{
    test_parts();
    test_leaves();
    test_deadlines();
    test_stretches();
    test_past();
    test_goes_on();
    return done();
}
