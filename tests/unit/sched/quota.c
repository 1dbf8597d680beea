/* Quotas: what must hold after each pass, whatever was submitted and ended before. On nodes with
 * one device each, so that devices by number are all that counts. */
#include "sched/sched.h"

#include <errno.h>

#include "tap.h"

enum { ROUNDS = 200, JOBS = 60, DEVICES = 24, CLASSES = 4 };

static const char *const names[CLASSES] = { "a", "b", "c", "d" };
static const int shares[CLASSES] = { 12, 8, 4, 0 }; /* nobody says that d has any */
#define SHARES "[quota]\nshare = a 50%\nshare = b 8\nshare = c 4\n"

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

struct world {
    struct workload work;
    struct pool pool;
    struct policy policy;
    struct sched *sched;
    enum sched_job_state state[JOBS]; /* as its actions say */
    bool ended[JOBS];
    int reclaimed, lent;
    bool shared; /* some jobs want half a device: then a number is not yet a place */
};

static int make(struct world *t, const char *text, uint64_t seed)
{
    char whole[512];
    struct err e;

    *t = (struct world){ .shared = !strstr(text, "borrow") };
    snprintf(whole, sizeof(whole), "[policy]\n%s", text);
    for (int i = 0; i < CLASSES; i++)
        if (work_number(&t->work, &t->work.classes, names[i]) < 0)
            return -1;
    for (int i = 0; i < JOBS; i++) {
        struct work *job = ARENA_PUSH(&t->work.arena, &t->work.jobs, &t->work.n_jobs);

        if (!job)
            return -1;
        *job = (struct work){ .name = "j", .submit_ms = i, .length_ms = 1, .milli = WORK_WHOLE };
        job->class = (int16_t)below(&seed, CLASSES);
        job->devices = 1 + below(&seed, below(&seed, 3) ? 3 : 12);
        job->restart_ms = -1;
        if (t->shared && below(&seed, 8) == 0) {
            job->devices = 1;
            job->milli = 500;
        }
    }
    if (policy_read(&t->policy, "test", whole, strlen(whole), &e) != 0 ||
        pool_parse(&t->pool, "24x1", &e) != 0 || workload_settle(&t->work, &e) != 0)
        return -1;
    return sched_open(&t->sched, &t->policy, &t->pool, &t->work, &e);
}

static void drop(struct world *t)
{
    sched_close(t->sched);
    workload_done(&t->work);
    pool_done(&t->pool);
}

static int needs(const struct world *t, int job)
{
    return t->work.jobs[job].devices * t->work.jobs[job].milli;
}

/* What a class has, in thousandths. */
static int used(const struct world *t, int class)
{
    int sum = 0;

    for (int i = 0; i < JOBS; i++)
        if (t->state[i] == SCHED_RUNNING && t->work.jobs[i].class == class)
            sum += needs(t, i);
    return sum;
}

static bool is_within(const struct world *t, int job)
{
    int class = t->work.jobs[job].class;

    return used(t, class) + needs(t, job) <= shares[class] * WORK_WHOLE;
}

static bool is_above(const struct world *t, int class)
{
    return used(t, class) > shares[class] * WORK_WHOLE;
}

/* The actions of a pass, one after the other. What is wrong with one of them; NULL. */
static const char *follow(struct world *t)
{
    const struct action *actions;
    size_t n;

    actions = sched_actions(t->sched, &n);
    for (size_t i = 0; i < n; i++) {
        const struct action *a = &actions[i];
        int job = (int)a->job, class = t->work.jobs[job].class;

        if (a->kind == ACTION_START) {
            if (t->state[job] != SCHED_WAITING)
                return "a job started that did not wait";
            if ((a->why == WHY_WITHIN) != is_within(t, job))
                return "the reason of a start is wrong";
            t->state[job] = SCHED_RUNNING;
            t->lent += a->why == WHY_LENT;
            if (!t->policy.quota.borrow && is_above(t, class))
                return "a class has more than its share";
            continue;
        }
        if (t->state[job] != SCHED_RUNNING)
            return "a job stopped that did not run";
        if (a->why == WHY_RECLAIM && (!is_above(t, class) || !is_within(t, (int)a->other)))
            return "a job was stopped that did not borrow, or for one that would";
        if (a->why == WHY_VICTIM && class != t->work.jobs[a->other].class)
            return "a job was stopped for one of another class";
        t->reclaimed += a->why == WHY_RECLAIM;
        t->state[job] = SCHED_WAITING;
    }
    return NULL;
}

/* Whether nobody of its class waits in front of a job. */
static bool is_first(const struct world *t, int job)
{
    for (int i = 0; i < job; i++)
        if (t->state[i] == SCHED_WAITING && t->work.jobs[i].class == t->work.jobs[job].class)
            return false;
    return true;
}

/* Whether there is a place: a share of a device is one where some of a device is free. */
static bool has_place(const struct world *t, int job)
{
    const struct free_capacity *r = sched_capacity(t->sched);
    int free = 0;

    for (size_t n = 0; n < t->pool.n_nodes; n++)
        free += r->nodes[n].left[0] >= t->work.jobs[job].milli;
    return free >= t->work.jobs[job].devices;
}

static const char *wrong_with(const struct world *t)
{
    for (int i = 0; i < JOBS; i++) {
        bool counts = t->policy.backfill == BACKFILL_GREEDY || is_first(t, i);

        if (t->state[i] != (enum sched_job_state)sched_job(t->sched, (uint32_t)i)->state)
            return "a job changed without an action";
        if (t->state[i] != SCHED_WAITING || !counts)
            continue;
        if (has_place(t, i) && (t->policy.quota.borrow || is_within(t, i)))
            return "a job waits that has a place";
        for (int k = 0; k < CLASSES && t->policy.quota.borrow; k++)
            if (is_within(t, i) && is_above(t, k))
                return "an owner waits while others borrow";
    }
    return NULL;
}

/* Let some jobs come and some end, and ask. */
static const char *step(struct world *t, int64_t now_ms, uint64_t *chance)
{
    const char *wrong;
    int64_t again;

    for (int k = below(chance, 4); k > 0; k--) {
        int job = below(chance, JOBS);

        if (t->state[job] == SCHED_ABSENT && !t->ended[job] &&
            (t->policy.quota.borrow || is_within(t, job) || used(t, t->work.jobs[job].class))) {
            sched_submit(t->sched, (uint32_t)job, now_ms, WORK_UNKNOWN);
            t->state[job] = SCHED_WAITING;
        } else if (t->state[job] == SCHED_RUNNING) {
            sched_end(t->sched, (uint32_t)job, now_ms);
            t->state[job] = SCHED_ABSENT;
            t->ended[job] = true;
        }
    }
    if (sched_pass(t->sched, now_ms, &again) < 0)
        return "a pass fails";
    wrong = follow(t);
    if (wrong || t->policy.preempt == PREEMPT_VICTIMS) /* which stops more than one job needs */
        return wrong;
    return wrong_with(t);
}

static const struct {
    const char *text;
    bool borrows;
} quotas[] = {
    { "order = fifo\n" SHARES, false },
    { "order = fifo\nbackfill = greedy\n" SHARES, false },
    { "order = fifo\n" SHARES "borrow = yes\n", true },
    { "order = fifo\nbackfill = greedy\n" SHARES "borrow = yes\n", true },
    { "order = las\nqueues = 9ms 99ms\npreempt = victims\n" SHARES, false },
    { "order = las\nqueues = 9ms 99ms\npreempt = victims\n" SHARES "borrow = yes\n", true },
};

static void test_holds(void)
{
    for (size_t q = 0; q < ARRAY_SIZE(quotas); q++) {
        const char *wrong = NULL;
        int reclaimed = 0, lent = 0;
        uint64_t seed = 0;

        while (!wrong && seed++ < ROUNDS) {
            uint64_t chance = seed;
            struct world t;

            if (make(&t, quotas[q].text, seed) < 0)
                wrong = "it cannot be made";
            for (int i = 0; i < 4 * JOBS && !wrong; i++)
                wrong = step(&t, i, &chance);
            reclaimed += t.reclaimed;
            lent += t.lent;
            drop(&t);
        }
        ok(!wrong, "quota %s keeps the rules: %s (seed %d)", quotas[q].text,
           wrong ? wrong : "holds", (int)seed);
        ok(quotas[q].borrows ? reclaimed > ROUNDS && lent > ROUNDS : reclaimed + lent == 0,
           "%d jobs borrowed, %d gave back", lent, reclaimed);
    }
}

/* ---- what is stopped ---- */

/* Submit jobs by number at a time, and ask. */
static void submit(struct world *t, int from, int to, int64_t now_ms)
{
    int64_t again;

    for (int i = from; i <= to; i++)
        sched_submit(t->sched, (uint32_t)i, now_ms, WORK_UNKNOWN);
    ok(sched_pass(t->sched, now_ms, &again) == 0, "the scheduler makes a pass at %d", (int)now_ms);
}

static void test_youngest(void)
{
    struct str why = STR_INIT(1024);
    const struct action *a;
    struct world t;
    size_t n;

    if (!ok(make(&t, "order = fifo\n" SHARES "borrow = yes\n", 1) == 0,
            "a scheduler with shares is made"))
        return;
    for (int i = 0; i < 5; i++) {
        t.work.jobs[i].class = i < 4 ? 1 : 0;
        t.work.jobs[i].milli = WORK_WHOLE;
        t.work.jobs[i].devices = (const int[]){ 8, 4, 8, 4, 8 }[i];
    }
    submit(&t, 0, 0, 0);
    submit(&t, 1, 1, 1);
    submit(&t, 2, 2, 2);
    submit(&t, 3, 3, 3);
    submit(&t, 4, 4, 4);
    a = sched_actions(t.sched, &n);
    /* The youngest, of 4, is not enough; with that of 8 it is, and then the one of 4 runs on. */
    is_int((int)n, 2, "one stops, one starts");
    if (n == 2) {
        is_int((int)a[0].job, 2, "the youngest that is enough stops");
        is_int(a[0].why, WHY_RECLAIM, "the job stops for the owner of the devices");
        sched_reason(t.sched, &a[0], 4, &why);
        is_str(str_text(&why),
               "job j gives up 8 devices: it is above the share of class b (8), and job j, which "
               "waits for 8 devices, is within the share of class a (12)",
               "the reason names both jobs, their classes and shares");
    }
    str_done(&why);
    drop(&t);
}

static void test_too_much(void)
{
    const char *text = "[policy]\n[quota]\nshare = a 20\nshare = b 25%\n";
    struct pool pool = { .n_nodes = 0 };
    struct workload w = { .n_jobs = 0 };
    struct sched *s = NULL;
    struct policy p;
    struct err e;

    ok(policy_read(&p, "p", text, strlen(text), &e) == 0 && pool_parse(&pool, "24x1", &e) == 0,
       "a policy with shares and its nodes are read");
    ok(sched_open(&s, &p, &pool, &w, &e) == -EINVAL,
       "shares of more devices than there are are refused");
    is_str(e.text, "p: the shares are 26 devices, and there are 24",
           "the error counts the shares' devices and those that exist");
    pool_done(&pool);
    workload_done(&w);
}

int main(void)
{
    test_holds();
    test_youngest();
    test_too_much();
    return done();
}
