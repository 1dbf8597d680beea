/* Deadlines on one device, against what can be met at best; and that nobody who cannot meet a
 * deadline, or has none, pushes others over theirs. */
#include "sim/stats/stats.h"

#include "tap.h"

enum { ROUNDS = 4000, JOBS = 7 };

/* In seconds; due 0: it has no deadline. */
struct job {
    int submit, length, due;
};

struct set {
    struct job jobs[2 * JOBS];
    int n;
};

/* Numbers that repeat. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

static void draw(struct set *s, uint64_t seed)
{
    int now = 0, slack = 1 + below(&seed, 30);

    s->n = 2 + below(&seed, JOBS - 1);
    for (int i = 0; i < s->n; i++) {
        struct job *j = &s->jobs[i];

        *j = (struct job){ .submit = now, .length = 1 + below(&seed, 9) };
        j->due = now + j->length + below(&seed, slack);
        now += below(&seed, 8);
    }
}

/* ---- at best ---- */

/* Whether one device can meet the deadlines of some jobs (bits), if it may interrupt them: there is
 * no time from a submission to a deadline with more work inside than it is long. */
static bool is_feasible(const struct set *s, unsigned some)
{
    for (int from = 0; from < s->n; from++)
        for (int to = 0; to < s->n; to++) {
            int begin = s->jobs[from].submit, end = s->jobs[to].due, work = 0;

            for (int i = 0; i < s->n; i++)
                if (some >> i & 1 && s->jobs[i].submit >= begin && s->jobs[i].due <= end)
                    work += s->jobs[i].length;
            if (work > MAX(end - begin, 0))
                return false;
        }
    return true;
}

/* The most deadlines that can be met. */
static int best(const struct set *s)
{
    int most = 0;

    for (unsigned some = 0; some < 1U << s->n; some++)
        if (__builtin_popcount(some) > most && is_feasible(s, some))
            most = __builtin_popcount(some);
    return most;
}

/* ---- brim ---- */

static int add_job(struct workload *w, const struct job *j)
{
    struct work *job = ARENA_PUSH(&w->arena, &w->jobs, &w->n_jobs);
    struct work_wish *wish = arena_alloc(&w->arena, sizeof(*wish));

    if (!job || !wish)
        return -1;
    *job = (struct work){ .name = "j", .submit_ms = j->submit * 1000LL, .restart_ms = -1 };
    job->length_ms = j->length * 1000LL;
    job->devices = 1;
    job->milli = WORK_WHOLE;
    job->user = job->team = job->class = -1;
    if (j->due)
        wish->due_ms = (j->due - j->submit) * 1000LL;
    job->wish = wish;
    return 0;
}

/* How many of those with a deadline (of the first n; 0: all) met it; -1 when it does not run. */
static int met(const struct set *s, const char *text, int n)
{
    struct workload w = { .n_jobs = 0 };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r;
    struct policy p;
    int count = -1;
    struct err e;

    for (int i = 0; i < s->n; i++)
        if (add_job(&w, &s->jobs[i]) < 0)
            return -1;
    for (size_t i = 0; i < w.n_jobs; i++) /* to know them again */
        w.jobs[i].class = (int16_t)(n == 0 || i < (size_t)n);
    if (policy_read(&p, "p", text, strlen(text), &e) == 0 && pool_parse(&pool, "1x1", &e) == 0 &&
        workload_settle(&w, &e) == 0 && sim_run(&r, &p, &pool, &w, NULL, &e) == 0) {
        count = 0;
        for (size_t i = 0; i < w.n_jobs; i++)
            count += w.jobs[i].class && r.jobs[i].end_ms <= work_deadline(&w.jobs[i]) &&
                     work_deadline(&w.jobs[i]) != WORK_UNKNOWN;
        sim_result_done(&r);
    }
    workload_done(&w);
    pool_done(&pool);
    return count;
}

static const char preempts[] = "[policy]\norder = deadline\npreempt = victims\nlength = oracle\n";

static void test_optimal(void)
{
    int feasible = 0, missed = 0, too_many = 0, sum = 0, most = 0, srtf = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        struct set s;
        int got, can;

        draw(&s, seed);
        got = met(&s, preempts, 0);
        can = best(&s);
        feasible += can == s.n;
        missed += can == s.n && got < s.n;
        too_many += got > can || got < 0;
        sum += got;
        most += can;
        srtf += met(&s, "[policy]\norder = srtf\npreempt = victims\nlength = oracle\n", 0);
    }
    ok(feasible > ROUNDS / 10 && feasible < ROUNDS * 9 / 10, "%d of %d sets can be met", feasible,
       ROUNDS);
    is_int(missed, 0, "deadlines are all met where all can be met");
    is_int(too_many, 0, "nothing is met that cannot be");
    ok(sum * 100 >= most * 99 && sum > srtf, "of all %d at best %d are met (srtf: %d)", most, sum,
       srtf);
}

/* Others come to a set whose deadlines can all be met: too late for theirs, or without any. */
static void test_no_domino(void)
{
    int tried = 0, pushed = 0;

    for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
        uint64_t chance = seed + 77;
        struct set s;
        int n;

        draw(&s, seed);
        n = s.n;
        if (!is_feasible(&s, (1U << n) - 1))
            continue;
        for (int i = 0; i < 4; i++) {
            struct job *j = &s.jobs[s.n++];

            *j = (struct job){ .submit = below(&chance, 40), .length = 2 + below(&chance, 20) };
            if (i % 2)
                j->due = j->submit + 1 + below(&chance, j->length - 1);
        }
        tried++;
        pushed += met(&s, preempts, n) != n;
    }
    ok(tried > ROUNDS / 10, "%d sets have jobs that can meet all deadlines", tried);
    is_int(pushed, 0, "nobody is pushed over a deadline by one that cannot meet its own");
}

/* Without preemption: the earliest first; who cannot make it goes behind those that can, at the
 * moment when that is so, and not before. */
static void test_waiting(void)
{
    static const char text[] = "[policy]\norder = deadline\nlength = oracle\n";
    static const struct {
        const char *what;
        struct set set;
        int met;
    } cases[] = {
        { "the earliest deadline first", { { { 0, 5, 5 }, { 1, 5, 20 }, { 2, 5, 10 } }, 3 }, 3 },
        { "one that cannot make it", { { { 0, 5, 5 }, { 1, 9, 6 }, { 2, 5, 10 } }, 3 }, 2 },
        { "one that could for a while", { { { 0, 9, 9 }, { 1, 5, 13 }, { 2, 5, 14 } }, 3 }, 2 },
        { "to the last moment", { { { 0, 9, 9 }, { 1, 5, 14 }, { 2, 5, 19 } }, 3 }, 3 },
        { "behind all with one", { { { 0, 5, 0 }, { 1, 5, 0 }, { 2, 5, 10 } }, 3 }, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        is_int(met(&cases[i].set, text, 0), cases[i].met, "the jobs of case '%s' meet %d deadlines",
               cases[i].what, cases[i].met);
}

/* What is told of them. */
static void test_stats(void)
{
    const struct set s = { { { 0, 10, 12 }, { 0, 10, 15 }, { 0, 10, 0 }, { 0, 10, 31 } }, 4 };
    struct workload w = { .n_jobs = 0 };
    struct pool pool = { .n_nodes = 0 };
    struct sim_result r;
    struct sim_stats stats;
    struct policy p;
    struct err e;

    for (int i = 0; i < s.n; i++)
        if (add_job(&w, &s.jobs[i]) < 0)
            return;
    if (policy_named(&p, "fifo", &e) != 0 || pool_parse(&pool, "1x1", &e) != 0 ||
        workload_settle(&w, &e) != 0 || sim_run(&r, &p, &pool, &w, NULL, &e) != 0)
        return;
    if (is_int(sim_stats_make(&stats, &r, &pool, &w, &e), 0,
               "sim_stats_make makes figures of four jobs")) {
        const struct sim_group *g = &stats.all;

        ok(g->due == 3 && g->due_ended == 3 && g->met == 1, "one of three deadlines is met");
        ok(g->tardiness == (5 + 9) / 3.0 && g->tardiness_max == 9, "how late they are");
        sim_stats_done(&stats);
    }
    sim_result_done(&r);
    workload_done(&w);
    pool_done(&pool);
}

int main(void)
{
    test_optimal();
    test_no_domino();
    test_waiting();
    test_stats();
    return done();
}
