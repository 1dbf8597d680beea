/* When jobs kept their devices busy: what is remembered, and what becomes of time that nobody saw;
 * and that a scheduler to which it is told anew decides as one that saw it all. */
#include "queue/job/idle_history.h"
#include "sched/sched.h"
#include "tap.h"

enum { START = 1000000, SECOND = 1000 };

static struct queue_job runs(void)
{
    struct queue_job j = { .state = QUEUE_RUNNING, .since_ms = START };

    idle_history_begin(&j);
    return j;
}

static void test_notes(void)
{
    struct queue_job j = runs();

    is_str(j.used, "1000000-", "a job starts busy");
    ok(!idle_history_note(&j, START + 10 * SECOND, 500), "a job that stays busy makes no new note");
    is_int(idle_history_idle_ms(&j, START + 10 * SECOND), 0, "a job that stays busy is not idle");
    ok(idle_history_note(&j, START + 20 * SECOND, 10), "a job that leaves off makes a note");
    is_str(j.used, "1000000-1020000", "the note has the time when the job left off");
    ok(!idle_history_note(&j, START + 30 * SECOND, 0), "a job that stays idle makes no new note");
    is_int(idle_history_idle_ms(&j, START + 35 * SECOND), START + 20 * SECOND,
           "a job is idle since it left off");
    ok(idle_history_note(&j, START + 40 * SECOND, 11), "a job that works again makes a note");
    is_str(j.used, "1000000-1020000 1040000-", "the note has the second time of work");
    ok(!idle_history_note(&j, START + 50 * SECOND, -1) && j.milli == -1, "what is not known");
    is_str(j.used, "1000000-1020000 1040000-", "an unknown share of use changes no note");
}

static void test_many(void)
{
    struct queue_job j = runs();

    for (int i = 1; i <= 10; i++) {
        ok(idle_history_note(&j, START + 2 * i * SECOND, 0), "a job leaves off %d times", i);
        ok(idle_history_note(&j, START + (2 * i + 1) * SECOND, 900), "a job begins again %d times",
           i);
    }
    is_str(j.used, "1000000-1016000 1017000-1018000 1019000-1020000 1021000-",
           "the first ones are one");
}

static void test_what_nobody_saw(void)
{
    struct queue_job j = runs();

    (void)idle_history_note(&j, START + 10 * SECOND, 0);
    is_int(idle_history_idle_ms(&j, START + 130 * SECOND), START + 10 * SECOND,
           "a job is idle for two minutes without a look");
    is_int(idle_history_idle_ms(&j, START + 131 * SECOND), 0,
           "a job is idle no longer than somebody looked");
    ok(!idle_history_note(&j, START + 131 * SECOND, 0),
       "a job that is idle after a gap makes no new note");
    is_str(j.used, "1000000-1010000 1010000-1131000", "the time between counts as work");
    (void)idle_history_note(&j, START + 60 * SECOND, 0);
    is_str(j.used, "1060000-1060000", "a clock that went back lets it start anew");
    is_int(idle_history_idle_ms(&j, START + 70 * SECOND), START + 60 * SECOND,
           "a job counts as idle from the new clock on");
}

static void test_storing(void)
{
    struct queue_job j = runs();

    ok(!idle_history_due(&j), "a start is stored with the job");
    (void)idle_history_note(&j, START + 100 * SECOND, 500);
    ok(!idle_history_due(&j), "one that is busy needs nothing");
    (void)idle_history_note(&j, START + 110 * SECOND, 0);
    ok(idle_history_due(&j), "one that leaves off does");
    j.kept_ms = j.seen_ms;
    (void)idle_history_note(&j, START + 160 * SECOND, 0);
    ok(!idle_history_due(&j), "a job that stays idle for 50 s is not due");
    (void)idle_history_note(&j, START + 170 * SECOND, 0);
    ok(idle_history_due(&j), "a job that stays idle for a minute is due");
}

static void test_damage(void)
{
    static const char *const bad[] = { "",      "x",       "5",      "9-5",
                                       "1-2 3", "1-2,3-4", "1- 2-3", "1-2 3-4 5-6 7-8 9-10" };
    struct bursts u;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
        struct queue_job j = runs();

        snprintf(j.used, sizeof(j.used), "%s", bad[i]);
        idle_history_read(&j, &u);
        ok(u.n == 1 && u.busy && u.at[0].from_ms == START, "'%s' is a busy job", bad[i]);
    }
}

/* ---- against a scheduler that saw everything ---- */

struct both {
    struct pool pool;
    struct workload work;
    struct policy policy;
};

static void make_both(struct both *b)
{
    static const char text[] = "[policy]\norder = fifo\nbackfill = greedy\n"
                               "[idle]\naction = requeue\nwarn = 30s\nreclaim = 60s\nburst = 5s\n"
                               "grace = 20s\n";
    const struct pool_node node = { .name = "here", .devices = 4 };
    struct err e = { "" };

    *b = (struct both){ .work = { .n_jobs = 0 } };
    if (policy_read(&b->policy, "test", text, strlen(text), &e) != 0 ||
        pool_add(&b->pool, &node, NULL, &e) != 0)
        printf("Bail out! %s\n", e.text);
    for (int i = 0; i < 2; i++) {
        struct work *w = ARENA_PUSH(&b->work.arena, &b->work.jobs, &b->work.n_jobs);

        *w = (struct work){ .name = i ? "waits" : "idles",
                            .submit_ms = i,
                            .length_ms = WORK_UNKNOWN,
                            .limit_ms = WORK_UNKNOWN,
                            .restart_ms = -1,
                            .devices = 4,
                            .milli = WORK_WHOLE,
                            .user = -1,
                            .team = -1,
                            .class = -1 };
    }
    if (workload_settle(&b->work, &e) != 0)
        printf("Bail out! %s\n", e.text);
}

/* Whether an action of a kind is among those of a pass. */
static bool has(const struct sched *s, enum action_kind kind)
{
    size_t n;
    const struct action *a = sched_actions(s, &n);

    for (size_t i = 0; i < n; i++)
        if (a[i].kind == kind)
            return true;
    return false;
}

/* One that is made anew, of what was noted. */
static bool anew(const struct both *b, const struct queue_job *j, int64_t now_ms,
                 enum action_kind kind)
{
    CLEANUP(sched_closep) struct sched *s = NULL;
    const struct sched_job was = { .since_ms = 0, .left_ms = WORK_UNKNOWN },
                           waits = { .since_ms = 1, .left_ms = WORK_UNKNOWN };
    struct part part = { 0, 0xf, WORK_WHOLE, NO_PART };
    const struct fit where = { .parts = &part, .n = 1 };
    struct bursts u;
    int64_t again;

    if (sched_open(&s, &b->policy, &b->pool, &b->work, NULL) != 0 ||
        sched_take_up(s, 0, now_ms, &was, &where) != 0 ||
        sched_take_up(s, 1, now_ms, &waits, NULL) != 0)
        return false;
    idle_history_read(j, &u);
    for (int i = 0; i < u.n; i++) {
        if (i > 0)
            sched_use(s, 0, u.at[i].from_ms, WORK_WHOLE);
        if (i < u.n - 1 || !u.busy)
            sched_use(s, 0, u.at[i].to_ms, 0);
    }
    return sched_pass(s, now_ms, &again) == 0 && has(s, kind);
}

static void test_like_one_that_saw_it(void)
{
    uint64_t chance = 1;
    int stops = 0, wrong = 0;

    for (int round = 0; round < 200; round++) {
        CLEANUP(sched_closep) struct sched *s = NULL;
        struct queue_job j = { .state = QUEUE_RUNNING };
        struct both b;
        bool stopped = false, busy = true;

        make_both(&b);
        idle_history_begin(&j);
        if (sched_open(&s, &b.policy, &b.pool, &b.work, NULL) != 0)
            break;
        sched_submit(s, 0, 0, WORK_UNKNOWN);
        for (int64_t now = 0; now < 600 * SECOND && !stopped; now += SECOND) {
            int64_t again;

            chance = chance * 6364136223846793005ULL + 1442695040888963407ULL;
            if (now > 0 && (chance >> 33) % 16 == 0) {
                busy = !busy;
                sched_use(s, 0, now, busy ? WORK_WHOLE : 0);
            }
            if (now > 0)
                (void)idle_history_note(&j, now, busy ? WORK_WHOLE : 0);
            if (now == SECOND)
                sched_submit(s, 1, 1, WORK_UNKNOWN);
            if (sched_pass(s, now, &again) < 0)
                break;
            stopped = has(s, ACTION_PREEMPT);
            stops += stopped;
            wrong += now > SECOND && stopped != anew(&b, &j, now, ACTION_PREEMPT);
        }
        pool_done(&b.pool);
        workload_done(&b.work);
    }
    ok(stops > 20, "%d of 200 jobs are stopped by one that saw it all", stops);
    is_int(wrong, 0, "at the same moment as by those that are told");
}

int main(void)
{
    test_notes();
    test_many();
    test_what_nobody_saw();
    test_storing();
    test_damage();
    test_like_one_that_saw_it();
    return done();
}
