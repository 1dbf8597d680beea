/* Jobs of one machine as the scheduler sees them: what it has, what they are given, when they would
 * start; with allocations failing. */
#include <errno.h>

#include "base/json.h"
#include "oom.h"
#include "queue/plan.h"
#include "queue/resize.h"
#include "queue/queue_private.h"
#include "tap.h"

/* Two NUMA domains with two CPUs and two accelerators each; gpus 0: none. */
static struct node *make_node(int gpus, uint16_t vendor)
{
    struct node *n = node_new();

    for (int i = 0; i < 2; i++) {
        struct numa *numa = node_add_numa(n, i);

        numa->cpus = i ? "2-3" : "0-1";
    }
    for (int i = 0; i < gpus; i++) {
        struct pci *f = node_add_pci(n, (struct pci_address){ .bus = (uint8_t)(i + 1) });
        struct device *d = node_add_device(n, DEVICE_ACCELERATOR);

        f->vendor = vendor;
        d->pci = (int)n->n_pcis - 1;
        d->numa = i / 2;
        d->product = "H100";
    }
    if (node_settle(n) < 0) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    return n;
}

static struct queue_job wants(int64_t id, int devices, int cpus)
{
    struct queue_job j = { .id = id, .array = id, .task = -1, .devices = devices, .cpus = cpus };

    snprintf(j.user, sizeof(j.user), "u");
    j.submit_ms = 1000000 + id;
    j.since_ms = j.submit_ms;
    return j;
}

/* A job that there was no memory to name has no blank name. */
static void test_shown_without_memory(void)
{
    struct queue_job j = wants(12, 1, 1);
    bool failed = true;

    for (oom_restart(); failed;) {
        CLEANUP(str_done) struct str out = STR_INIT(4096);
        struct json json = JSON_INIT(&out);

        oom_next();
        queue_show_job(&json, &j, "", 0);
        failed = oom_end();
        is_int(str_error(&out), failed ? -ENOMEM : 0,
               "a job with allocation %d failing says that memory lacks", oom_at);
        ok(failed || strstr(str_text(&out), "\"job\": \"12\""), "a job has its name");
    }
}

static void test_cpus(void)
{
    CLEANUP(node_freep) struct node *n = make_node(0, 0);
    struct queue_job j = wants(1, 0, 0), many = wants(2, 0, 5), gpu = wants(3, 1, 0);
    struct queue_pool p;
    struct err e = { "" };
    char place[QUEUE_SLOTS];

    is_int(queue_pool_make(&p, n, "0-2", &e), 0,
           "queue_pool_make takes a machine without accelerators: %s", e.text);
    ok(p.cpus && p.n_slots == 3 && p.pool.n_nodes == 2,
       "the CPUs of a machine without accelerators are given, by NUMA domain");
    is_str(pool_word(&p.pool, 1), "CPU", "what is given is called a CPU");
    is_str(pool_word(&p.pool, 3), "CPUs", "what is given is called CPUs");
    is_int(queue_pool_ask(&p, &j, &e), 0, "a job that asks for nothing");
    is_int(j.cpus, 1, "a job that asks for nothing gets one CPU");
    is_int(queue_pool_ask(&p, &many, &e), -EINVAL,
           "a job for more CPUs than there are is refused: %s", e.text);
    is_int(queue_pool_ask(&p, &gpu, &e), -EINVAL,
           "a job for an accelerator is refused where there is none: %s", e.text);
    queue_pool_place(&p, "0,2", place);
    is_str(place, "CPU0,CPU2", "CPUs are placed by their numbers");
    queue_pool_done(&p);
}

static void test_devices(void)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    CLEANUP(freep) struct queue_taken *taken = calloc(1, sizeof(*taken));
    struct queue_job j = wants(1, 1, 0), other = wants(2, 1, 1);
    const char *give[2 * (QUEUE_GIVEN + 1) + 1];
    char cpus[QUEUE_SLOTS];
    struct queue_pool p;
    struct err e = { "" };

    is_int(queue_pool_make(&p, n, "0-3", &e), 0,
           "queue_pool_make takes a machine with four accelerators: %s", e.text);
    ok(!p.cpus && p.n_slots == 4 && p.pool.n_nodes == 1, "the accelerators of a machine are given");
    is_int(queue_pool_ask(&p, &j, &e), 0, "a job for one accelerator is taken");
    is_int(j.cpus, 1, "a job with one accelerator has its share of the CPUs");
    snprintf(j.slots, sizeof(j.slots), "3");
    queue_pool_give(&p, &j, taken, cpus);
    is_str(cpus, "2", "a job gets a CPU near its device");
    snprintf(other.slots, sizeof(other.slots), "2");
    queue_pool_give(&p, &other, taken, cpus);
    is_str(cpus, "3", "a job gets a CPU that no other job has");
    other.cpus = 2;
    queue_pool_give(&p, &other, taken, cpus);
    is_str(cpus, "0-1", "elsewhere when there are none left");
    is_int(queue_pool_variables(&p, "1,3", &a, give), 0,
           "queue_pool_variables makes the variables of two devices");
    is_str(give[0], "CUDA_VISIBLE_DEVICES", "the first variable is CUDA_VISIBLE_DEVICES");
    is_str(give[1], "1,3", "the first variable has the devices' numbers");
    is_str(give[2], "CUDA_DEVICE_ORDER", "the second variable is CUDA_DEVICE_ORDER");
    ok(!give[4], "there are two variables and no more");
    is_int(queue_pool_variables(&p, "", &a, give), 0,
           "queue_pool_variables makes the variables of a job without devices");
    is_str(give[1], "", "the variables of a job without devices hide all devices");
    queue_pool_done(&p);
}

static void test_makers(void)
{
    static const struct {
        uint16_t vendor;
        const char *variable;
    } makers[] = {
        { 0x1002, "ROCR_VISIBLE_DEVICES" },
        { 0x19e5, "ASCEND_RT_VISIBLE_DEVICES" },
        { 0x8086, "ZE_AFFINITY_MASK" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(makers); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(node_freep) struct node *n = make_node(2, makers[i].vendor);
        const char *give[2 * (QUEUE_GIVEN + 1) + 1];
        struct queue_pool p;

        is_int(queue_pool_make(&p, n, "0-3", NULL), 0,
               "queue_pool_make makes a pool of maker 0x%04x", makers[i].vendor);
        is_int(queue_pool_variables(&p, "1", &a, give), 0,
               "queue_pool_variables makes the variable of maker 0x%04x", makers[i].vendor);
        is_str(give[0], makers[i].variable, "the variable of maker 0x%04x is its own",
               makers[i].vendor);
        ok(!strcmp(give[1], "1") && !give[2], "maker 0x%04x has one variable", makers[i].vendor);
        queue_pool_done(&p);
    }
}

/* A job of low priority runs on all devices; one of high priority comes. */
struct scene {
    struct queue_pool pool;
    struct policy policy;
    struct queue_job low, high, later;
    struct queue_item items[3];
};

static void set_scene(struct scene *s, const struct node *n, const char *policy)
{
    struct err e = { "" };

    if (queue_pool_make(&s->pool, n, "0-3", &e) != 0 || policy_named(&s->policy, policy, &e) != 0)
        printf("Bail out! %s\n", e.text);
    s->low = wants(1, 4, 1);
    s->low.state = QUEUE_RUNNING;
    s->low.limit_ms = 60000;
    s->low.requeue = true;
    snprintf(s->low.slots, sizeof(s->low.slots), "0,1,2,3");
    s->high = wants(2, 2, 1);
    s->high.priority = 5;
    s->later = wants(3, 2, 1);
    s->items[0] = (struct queue_item){ &s->low, true };
    s->items[1] = (struct queue_item){ &s->high, true };
    s->items[2] = (struct queue_item){ &s->later, true };
}

static int make_at(struct queue_plan *p, const struct scene *s, size_t n, int64_t now_ms,
                   struct err *e)
{
    const struct queue_scene scene = { &s->pool, &s->policy, s->items, n };

    return queue_plan_make(p, &scene, now_ms, e);
}

static int make(struct queue_plan *p, const struct scene *s, size_t n, struct err *e)
{
    return make_at(p, s, n, 1000100, e);
}

static void test_preempt(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct queue_plan p;
    struct err e = { "" };
    const struct action *actions;
    char slots[QUEUE_SLOTS];
    int64_t again;
    size_t count;

    set_scene(&s, n, "priority");
    is_int(make(&p, &s, 2, &e), 0, "the plan by priority is made: %s", e.text);
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan by priority is decided");
    actions = sched_actions(p.sched, &count);
    ok(count == 2 && actions[0].kind == ACTION_PREEMPT && actions[1].kind == ACTION_START,
       "the low one gives way to the high one");
    is_int((long long)queue_plan_item(&p, actions[1].job), 1, "the high job starts");
    queue_plan_slots(&p, actions[1].job, slots);
    is_str(slots, "0,1", "the high job starts on two of the low one's devices");
    queue_plan_done(&p);
    s.low.requeue = false;
    is_int(make(&p, &s, 2, &e), 0, "one that may not");
    is_int(queue_plan_pass(&p, 1000100, &again), 0,
           "the plan with a job that may not be requeued is decided");
    (void)sched_actions(p.sched, &count);
    is_int((long long)count, 0, "a job that may not be requeued is not stopped");
    queue_plan_done(&p);
    queue_pool_done(&s.pool);
}

/* A policy with shares: 2 of 4 devices each for two teams; what one does not need the other has. */
static void set_shares(struct scene *s, const struct node *n)
{
    static const char text[] = "[policy]\norder = fifo\nbackfill = greedy\n[quota]\nby = team\n"
                               "borrow = yes\nshare = vision 2\nshare = nlp 50%\n";
    struct err e = { "" };

    set_scene(s, n, "fifo");
    if (policy_read(&s->policy, "shares.ini", text, strlen(text), &e) != 0)
        printf("Bail out! %s\n", e.text);
    snprintf(s->low.team, sizeof(s->low.team), "vision");
    snprintf(s->low.slots, sizeof(s->low.slots), "0,1");
    s->low.devices = 2;
    s->high = s->low;
    s->high.id = 2;
    s->high.since_ms += 10;
    snprintf(s->high.slots, sizeof(s->high.slots), "2,3");
    snprintf(s->later.team, sizeof(s->later.team), "nlp");
}

/* What a pass decides about the three jobs: "stop 2, start 3". */
static void decided(struct scene *s, struct str *out)
{
    struct queue_plan p;
    struct err e = { "" };
    const struct action *actions;
    int64_t again;
    size_t count;

    str_reset(out);
    is_int(make(&p, s, 3, &e), 0, "the plan by shares is made: %s", e.text);
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan by shares is decided");
    actions = sched_actions(p.sched, &count);
    for (size_t i = 0; i < count; i++) {
        str_addf(out, "%s%s %lld", out->len ? ", " : "",
                 actions[i].kind == ACTION_PREEMPT ? "stop"
                 : actions[i].kind == ACTION_START ? "start"
                                                   : "?",
                 (long long)s->items[queue_plan_item(&p, actions[i].job)].job->id);
        if (actions[i].kind == ACTION_START)
            queue_plan_slots(&p, actions[i].job, s->later.place);
    }
    queue_plan_done(&p);
}

static void test_shares(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    CLEANUP(str_done) struct str out = STR_INIT(256);
    struct err e = { "" };
    struct scene s;

    set_shares(&s, n);
    decided(&s, &out);
    is_str(str_text(&out), "stop 2, start 3", "the youngest job above its team's share is stopped");
    s.high.requeue = false;
    decided(&s, &out);
    is_str(str_text(&out), "stop 1, start 3", "an older one is, where the youngest may not be");
    s.low.requeue = false;
    decided(&s, &out);
    is_str(str_text(&out), "", "no job is stopped that may not be requeued");
    s.low.requeue = s.high.requeue = true;
    s.low.stop = QUEUE_PREEMPT;
    decided(&s, &out);
    is_str(str_text(&out), "stop 1, start 3", "a job that is being stopped is none the less first");
    is_str(s.later.place, "0,1", "the job of the other team waits for the devices of that one");
    snprintf(s.high.team, sizeof(s.high.team), "%s", s.later.team);
    decided(&s, &out);
    is_str(str_text(&out), "", "a job above its own team's share stops nobody");
    s.policy.quota.shares[0].amount = 3;
    is_int(queue_plan_check(&s.pool, &s.policy, &e), -EINVAL,
           "shares of more devices than there are do not fit the machine");
    is_str(e.text, "shares.ini: the shares are 5 devices, and there are 4",
           "the error says how many devices there are");
    s.policy.quota.shares[0].amount = 2;
    is_int(queue_plan_check(&s.pool, &s.policy, &e), 0, "shares of all devices fit: %s", e.text);
    s.policy.quota.borrow = false;
    s.later.devices = 3;
    is_int(queue_plan_possible(&s.pool, &s.policy, &s.later, &e), 0,
           "a job larger than its share is never possible where nothing is lent");
    queue_pool_done(&s.pool);
}

/* What a job with two devices at least goes on with, after a pass by that policy. */
static const char *goes_on(struct scene *s, int *cpus, char next[QUEUE_SLOTS])
{
    struct queue_plan p;
    struct err e = { "" };
    const struct action *actions;
    int64_t again;
    size_t count;

    is_int(make(&p, s, 2, &e), 0, "the plan of a job that may shrink is made: %s", e.text);
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan of that job is decided");
    actions = sched_actions(p.sched, &count);
    snprintf(next, QUEUE_SLOTS, "nothing");
    for (size_t i = 0; i < count; i++)
        if (actions[i].kind == ACTION_PREEMPT)
            queue_resize_next(&p, &actions[i], &s->low, cpus, next);
    queue_plan_done(&p);
    return next;
}

static void test_goes_on(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    char next[QUEUE_SLOTS];
    struct scene s;
    int cpus = 0;

    set_scene(&s, n, "priority");
    s.low.cpus = 4;
    s.high.cpus = 2;
    is_str(goes_on(&s, &cpus, next), "", "a job without a least number waits for all its devices");
    s.low.least = 2;
    is_str(goes_on(&s, &cpus, next), "2,3", "a job keeps what the other one does not need");
    is_int(cpus, 2, "half of its CPUs go with half of its devices");
    is_str(goes_on(&s, &cpus, next), "", "a job keeps nothing when its CPUs are another one's");
    cpus = 0;
    s.high.devices = 1;
    is_str(goes_on(&s, &cpus, next), "1,2", "a job keeps no more devices than it has CPUs for");
    cpus = 0;
    s.high.cpus = 1;
    is_str(goes_on(&s, &cpus, next), "1,2,3", "a job keeps three devices of four");
    cpus = 0;
    s.low.least = 4;
    is_str(goes_on(&s, &cpus, next), "", "one that needs them all keeps none");
    s.low.least = 2;
    s.low.requeue = false;
    is_str(goes_on(&s, &cpus, next), "nothing", "one that may not be stopped is not");
    s.low.requeue = true;
    s.low.stop = QUEUE_PREEMPT;
    snprintf(s.low.next, sizeof(s.low.next), "2,3");
    is_str(goes_on(&s, &cpus, next), "nothing",
           "one that is left with two devices is not stopped again for the same job");
    s.high.devices = 3;
    is_str(goes_on(&s, &cpus, next), "",
           "a job loses what it was left with when the other one needs more");
    queue_pool_done(&s.pool);
}

/* More teams than the scheduler has numbers for: those of the policy have some. */
static void test_many_teams(void)
{
    enum { MANY = WORK_GROUPS + 2 };
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    CLEANUP(freep) struct queue_job *jobs = calloc(MANY, sizeof(*jobs));
    CLEANUP(freep) struct queue_item *items = calloc(MANY, sizeof(*items));
    struct scene s;
    struct queue_plan p;
    struct err e = { "" };

    if (!jobs || !items) {
        printf("Bail out! no memory\n");
        exit(1);
    }
    set_shares(&s, n);
    for (int i = 0; i < MANY; i++) {
        jobs[i] = wants(i + 1, 1, 1);
        snprintf(jobs[i].user, sizeof(jobs[i].user), "u%d", i);
        snprintf(jobs[i].team, sizeof(jobs[i].team), i == MANY - 1 ? "nlp" : "team %d", i);
        items[i] = (struct queue_item){ &jobs[i], true };
    }
    is_int(queue_plan_make(&p, &(const struct queue_scene){ &s.pool, &s.policy, items, MANY },
                           1000100, &e),
           0, "a plan of more teams than have numbers is made: %s", e.text);
    is_str(p.work.teams.names[p.work.jobs[MANY - 1].team], "nlp",
           "a team of the policy has a number behind all others");
    is_int(p.work.jobs[MANY - 2].team, -1, "a team beyond those that have numbers counts as none");
    is_int(p.work.jobs[MANY - 1].user, -1, "a user beyond those that have numbers counts as none");
    queue_plan_done(&p);
    queue_pool_done(&s.pool);
}

/* Who is due earlier goes first; a deadline that has passed is none. */
static void test_deadline(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct queue_plan p;
    struct err e = { "" };
    const struct action *actions;
    int64_t again;
    size_t count;

    set_scene(&s, n, "deadline");
    s.high.devices = s.later.devices = 4;
    s.high.deadline_ms = 1000000 + 7200000;
    s.later.deadline_ms = 1000000 + 3600000;
    is_int(make(&p, &s, 3, &e), 0, "the plan by deadline is made: %s", e.text);
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan by deadline is decided");
    actions = sched_actions(p.sched, &count);
    ok(count == 2 && actions[0].kind == ACTION_PREEMPT && actions[1].kind == ACTION_START,
       "one without a deadline gives way");
    is_int((long long)queue_plan_item(&p, actions[1].job), 2, "the job that is due first starts");
    is_int(again, 1000000 + 3600000 + 1, "the plan is looked at again when that job is due");
    queue_plan_done(&p);
    s.later.deadline_ms = 1000000 - 5;
    is_int(make(&p, &s, 3, &e), 0, "one that was due before it was submitted");
    is_int(queue_plan_pass(&p, 1000100, &again), 0,
           "the plan with a job that was due before is decided");
    actions = sched_actions(p.sched, &count);
    is_int((long long)queue_plan_item(&p, actions[1].job), 1,
           "a job that was due before it was submitted goes behind");
    queue_plan_done(&p);
    queue_pool_done(&s.pool);
}

static void test_foresee(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct queue_plan p;
    struct err e = { "" };
    char slots[QUEUE_SLOTS] = "";
    int64_t start;

    set_scene(&s, n, "queue");
    is_int(make(&p, &s, 3, &e), 0, "the plan of a queue is made: %s", e.text);
    is_int(queue_plan_foresee(&p, 2, 1000100, &start, slots), 0, "of the last one");
    is_int(start, 1000001 + 60000, "starts when the first one has reached its limit");
    is_str(slots, "2,3", "the last job starts beside the one before it");
    queue_plan_done(&p);
    s.low.limit_ms = 0;
    is_int(make(&p, &s, 3, &e), 0, "without a limit");
    is_int(queue_plan_foresee(&p, 2, 1000100, &start, slots), 0,
           "queue_plan_foresee looks for a start behind a job without a limit");
    ok(start == INT64_MAX, "a start behind a job without a limit cannot be foreseen");
    queue_plan_done(&p);
    s.later.devices = 5;
    is_int(queue_plan_possible(&s.pool, &s.policy, &s.later, &e), 0, "five are never there");
    is_int(queue_plan_possible(&s.pool, &s.policy, &s.low, &e), 1,
           "a job for four devices of four is possible");
    queue_pool_done(&s.pool);
}

/* Those that are not ready, and one that is being stopped. */
static void test_ready(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct queue_plan p;
    struct err e = { "" };
    int64_t again;
    size_t count;

    set_scene(&s, n, "fifo");
    s.items[1].ready = false;
    s.low.stop = QUEUE_CANCEL;
    is_int(make(&p, &s, 3, &e), 0, "the plan with a job that is held is made: %s", e.text);
    is_int((long long)p.work.n_jobs, 2, "without the one that is held");
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan with a job that is held is decided");
    (void)sched_actions(p.sched, &count);
    is_int((long long)count, 0, "devices are taken until their job has gone");
    queue_plan_done(&p);
    queue_pool_done(&s.pool);
}

/* A policy with [idle], of which each plan is told anew when a job worked. */
static void test_idle(void)
{
    static const char text[] = "[policy]\norder = fifo\nbackfill = greedy\n"
                               "[idle]\naction = requeue\nwarn = 30s\nreclaim = 60s\n";
    static const struct {
        const char *used, *what;
        int64_t seen_ms, now_ms;
        bool requeue, waits;
        size_t actions;
        uint8_t kind;
    } cases[] = {
        { "1000001-", "busy", 1090000, 1090000, true, true, 0, 0 },
        { "1000001-1010000", "idle for 20 s", 1030000, 1030000, true, true, 0, 0 },
        { "1000001-1010000", "idle for 30 s", 1040000, 1040000, true, true, 1, ACTION_WARN },
        { "1000001-1010000", "idle for 60 s", 1070000, 1070000, true, true, 3, ACTION_PREEMPT },
        { "1000001-1010000", "nobody waits", 1070000, 1070000, true, false, 1, ACTION_WARN },
        { "1000001-1010000", "it may not be stopped", 1070000, 1070000, false, true, 1,
          ACTION_WARN },
        { "1000001-1010000", "nobody looked lately", 1070000, 1200000, true, true, 0, 0 },
        { "1000001-1010000 1060000-1061000", "worked meanwhile", 1080000, 1080000, true, true, 0,
          0 },
        { "", "nobody looked ever", 0, 1090000, true, true, 0, 0 },
    };
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct err e = { "" };

    set_scene(&s, n, "fifo");
    is_int(policy_read(&s.policy, "idle", text, strlen(text), &e), 0,
           "a policy with idle devices is read: %s", e.text);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct action *actions;
        struct queue_plan p;
        int64_t again;
        size_t count;

        s.low.requeue = cases[i].requeue;
        s.low.seen_ms = cases[i].seen_ms;
        snprintf(s.low.used, sizeof(s.low.used), "%s", cases[i].used);
        is_int(make_at(&p, &s, cases[i].waits ? 2 : 1, cases[i].now_ms, &e), 0,
               "the plan of idle devices is made: %s", e.text);
        is_int(queue_plan_pass(&p, cases[i].now_ms, &again), 0, "the plan of case '%s' is decided",
               cases[i].what);
        actions = sched_actions(p.sched, &count);
        is_int((long long)count, (long long)cases[i].actions,
               "the plan of case '%s' has its actions", cases[i].what);
        ok(count == 0 || actions[MIN(count, 2) - 1].kind == cases[i].kind, "what is done");
        queue_plan_done(&p);
    }
    queue_pool_done(&s.pool);
}

/* Two jobs that may share, on two devices each; a third one waits for two. */
static void set_pair(struct scene *s, const struct node *n)
{
    static const char text[] = "[policy]\norder = fifo\npreempt = victims\n"
                               "priorities = yes\n[share]\nbelow = 50%\ntogether = 90%\n"
                               "after = 10m\n";
    struct err e = { "" };

    set_scene(s, n, "fifo");
    if (policy_read(&s->policy, "share.ini", text, strlen(text), &e) < 0)
        printf("Bail out! %s\n", e.text);
    s->low = wants(1, 2, 1);
    s->low.state = QUEUE_RUNNING;
    s->low.requeue = s->low.share = true;
    s->low.memory_milli = 400;
    s->low.worked_ms = s->low.alone_ms = 600000;
    s->low.worked = s->low.worked_ms * 300;
    s->low.alone = 600;
    snprintf(s->low.slots, sizeof(s->low.slots), "0,1");
    s->high = s->low;
    s->high.id = 2;
    s->high.worked = s->high.worked_ms * 400;
    snprintf(s->high.slots, sizeof(s->high.slots), "2,3");
}

/* What a pass decides of them: "join 1 2, start 3". */
static const char *decides(struct scene *s, char ret[64])
{
    struct queue_plan p;
    struct err e = { "" };
    const struct action *actions;
    int64_t again;
    size_t count, len = 0;

    is_int(make(&p, s, 3, &e), 0, "the plan of two that may share is made: %s", e.text);
    is_int(queue_plan_pass(&p, 1000100, &again), 0, "the plan of two that may share is decided");
    actions = sched_actions(p.sched, &count);
    ret[0] = 0;
    for (size_t i = 0; i < count && len < 48; i++) {
        len += (size_t)snprintf(ret + len, 64 - len, "%s%s %lld", i ? ", " : "",
                                actions[i].kind == ACTION_JOIN      ? "join"
                                : actions[i].kind == ACTION_PREEMPT ? "stop"
                                                                    : "start",
                                (long long)s->items[queue_plan_item(&p, actions[i].job)].job->id);
        if (actions[i].kind == ACTION_JOIN)
            len += (size_t)snprintf(
                ret + len, 64 - len, " %lld",
                (long long)s->items[queue_plan_item(&p, actions[i].with)].job->id);
        if (actions[i].kind == ACTION_START)
            queue_plan_slots(&p, actions[i].job, s->later.place);
    }
    queue_plan_done(&p);
    return ret;
}

static void test_who_shares(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    struct queue_job *low = &s.low;
    char ret[64];

    set_pair(&s, n);
    is_str(decides(&s, ret), "join 1 2, start 3", "two that may share do for one that waits");
    is_str(s.later.place, "0,1", "the job that waited gets the devices of the guest");
    low->share = false;
    is_str(decides(&s, ret), "", "a job shares with none that did not say it may");
    low->share = true;
    low->apart = true;
    is_str(decides(&s, ret), "", "a job that cost another one too much shares no more");
    low->apart = false;
    low->alone_ms--;
    is_str(decides(&s, ret), "", "a job whose steps were seen for too short does not share");
    low->alone_ms++;
    low->memory_milli = 601;
    is_str(decides(&s, ret), "", "two whose memory is more than a device has do not share");
    low->memory_milli = 600;
    is_str(decides(&s, ret), "join 1 2, start 3", "two whose memory a device just holds do share");
    low->memory_milli = 0;
    is_str(decides(&s, ret), "", "a job whose memory nobody knows does not share");
    s.pool.slots[0].memory_b = s.pool.slots[1].memory_b = s.pool.slots[2].memory_b =
        s.pool.slots[3].memory_b = INT64_C(80000000000);
    low->memory_b = INT64_C(40000000000);
    is_str(decides(&s, ret), "join 1 2, start 3", "a job that says what memory it needs does");
    low->memory_b = INT64_C(60000000000);
    is_str(decides(&s, ret), "", "a job that says that it needs more than is left does not");
    low->memory_b = 0;
    low->memory_milli = 400;
    low->worked = low->worked_ms * 501;
    is_str(decides(&s, ret), "", "a job that is busier than the policy has it does not share");
    low->worked = low->worked_ms * 300;
    low->requeue = false;
    is_str(decides(&s, ret), "", "a job that may not be stopped does not share");
    queue_pool_done(&s.pool);
}

/* The guest is on its way, then there, then alone. */
static void test_guest(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    char ret[64];

    set_pair(&s, n);
    s.low.stop = QUEUE_PREEMPT;
    s.low.host = 2;
    snprintf(s.low.next, sizeof(s.low.next), "2,3");
    is_str(decides(&s, ret), "start 3", "the devices of a guest are free before it has left them");
    s.low.stop = QUEUE_GO;
    s.low.next[0] = 0;
    snprintf(s.low.slots, sizeof(s.low.slots), "2,3");
    is_str(decides(&s, ret), "start 3", "a guest takes no devices of its own");
    s.later.devices = 4;
    s.later.priority = 1;
    is_str(decides(&s, ret), "stop 1, stop 2, start 3", "a job of a higher priority stops both");
    s.high.stop = QUEUE_CANCEL;
    is_str(decides(&s, ret), "stop 2, stop 1, start 3",
           "of two of which the host leaves the guest has the devices");
    s.later.devices = 2;
    s.high.state = QUEUE_ENDED;
    is_str(decides(&s, ret), "start 3", "a guest whose host has ended has devices of its own");
    is_str(s.later.place, "0,1", "the devices of a guest whose host has ended are not free");
    queue_pool_done(&s.pool);
}

static void test_share_needs_devices(void)
{
    CLEANUP(node_freep) struct node *n = make_node(0, 0);
    struct queue_pool p;
    struct scene s;
    struct err e = { "" };
    CLEANUP(node_freep) struct node *gpus = make_node(4, 0x10de);

    set_pair(&s, gpus);
    is_int(queue_pool_make(&p, n, "0-3", &e), 0, "a pool of CPUs is made: %s", e.text);
    is_int(queue_plan_check(&s.pool, &s.policy, &e), 0, "a policy with [share] fits accelerators");
    is_int(queue_plan_check(&p, &s.policy, &e), -EINVAL, "a policy with [share] fits no CPUs");
    is_str(e.text,
           "share.ini: [share] is for accelerators, and this machine has none: leave the section "
           "out",
           "the error says what to leave out");
    queue_pool_done(&p);
    queue_pool_done(&s.pool);
}

static void test_memory(void)
{
    CLEANUP(node_freep) struct node *n = make_node(2, 0x10de);
    struct queue_job j = wants(1, 1, 1);
    struct queue_pool p;
    struct err e = { "" };

    for (size_t i = 0; i < n->n_devices; i++)
        n->devices[i].acc.memory_b = INT64_C(80000000000);
    is_int(queue_pool_make(&p, n, "0-3", &e), 0, "a pool of devices with memory is made");
    j.memory_b = INT64_C(80000000000);
    is_int(queue_pool_ask(&p, &j, &e), 0, "a job may need all memory of a device: %s", e.text);
    j.memory_b += 1000000000;
    is_int(queue_pool_ask(&p, &j, &e), -EINVAL, "a job may not need more memory than there is");
    is_str(e.text, "asks for 81 GB of each device, and devices here have 80",
           "the error says how much memory there is");
    queue_pool_done(&p);
}

/* CPUs that one has are kept by it, whoever started first. */
static void test_bound(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    CLEANUP(freep) struct queue_taken *taken = calloc(1, sizeof(*taken));
    struct queue_job j = wants(1, 1, 1), other = wants(2, 1, 1);
    char cpus[QUEUE_SLOTS];
    struct queue_pool p;

    is_int(queue_pool_make(&p, n, "0-3", NULL), 0, "queue_pool_make makes a pool of four devices");
    snprintf(other.slots, sizeof(other.slots), "1");
    snprintf(other.bound, sizeof(other.bound), "0");
    snprintf(j.slots, sizeof(j.slots), "0");
    queue_pool_hold(&p, &other, taken);
    queue_pool_give(&p, &j, taken, cpus);
    is_str(cpus, "1", "a job gets the other CPU of the node");
    memset(taken, 0, sizeof(*taken));
    other.bound[0] = 0;
    queue_pool_hold(&p, &other, taken);
    ok(taken->cpu[0], "one that does not say has what it would be given");
    queue_pool_done(&p);
}

static void test_oom(void)
{
    CLEANUP(node_freep) struct node *n = make_node(4, 0x10de);
    struct scene s;
    bool failed;

    set_scene(&s, n, "priority");
    s.high.deadline_ms = 2000000;
    oom_restart();
    do {
        struct queue_pool pool;
        struct queue_plan p;
        struct err e = { "" };
        int64_t again;
        int rc;

        oom_next();
        rc = queue_pool_make(&pool, n, "0-3", &e);
        if (rc == 0) {
            rc = queue_plan_make(&p, &(const struct queue_scene){ &pool, &s.policy, s.items, 3 },
                                 1000100, &e);
            if (rc == 0) {
                rc = queue_plan_pass(&p, 1000100, &again) < 0 ? -ENOMEM : 0;
                queue_plan_done(&p);
            }
            queue_pool_done(&pool);
        }
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "the plan with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
    queue_pool_done(&s.pool);
}

int main(void)
{
    test_cpus();
    test_shown_without_memory();
    test_devices();
    test_makers();
    test_preempt();
    test_shares();
    test_many_teams();
    test_goes_on();
    test_deadline();
    test_foresee();
    test_ready();
    test_idle();
    test_who_shares();
    test_guest();
    test_share_needs_devices();
    test_memory();
    test_bound();
    test_oom();
    return done();
}
