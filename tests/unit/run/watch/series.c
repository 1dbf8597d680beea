/* What is taken ten times a second of a job without marks, and the steps that come of it; moments
 * that are kept in memory. */
#include "run/watch/series.h"

#include <math.h>

#include "run/archive/retry.h"
#include "tap.h"

#define TENTH ((int64_t)100 * 1000 * 1000)
#define BEGIN ((int64_t)50 * 1000 * 1000 * 1000)

struct job {
    struct series s;
    struct rank_steps lane;
    struct family_glance g;
    int64_t now_ns;
    int turn;
};

static void start(struct job *j)
{
    *j = (struct job){ .now_ns = BEGIN };
    rank_steps_init(&j->lane);
    series_add(&j->s, &j->g, j->now_ns);
}

/* So many tenths of a second; CPU time and bytes for half of a period each, of so many tenths; 0:
 * they are even. */
static void pass(struct job *j, int n, int cpu, int bytes)
{
    for (int i = 0; i < n; i++, j->turn++) {
        j->now_ns += TENTH;
        j->g.cpu_s += cpu ? (j->turn % cpu < cpu / 2 ? 0.2 : 0) : 0.05;
        j->g.bytes += bytes ? (j->turn % bytes < bytes / 2 ? 1000 : 0) : 10;
        series_add(&j->s, &j->g, j->now_ns);
    }
}

static void test_periods(void)
{
    struct job j;
    char text[256];

    start(&j);
    ok(!series_say(&j.s, text, sizeof(text)), "nothing is said before anything was seen");
    pass(&j, 59, 8, 0);
    is_int(series_infer(&j.s, &j.lane, j.now_ns), 0, "59 samples are looked at");
    ok(!j.s.what && j.lane.count == 0, "59 samples are too few");
    is_int(j.s.from_ns, j.now_ns, "steps begin later then");
    pass(&j, 241, 8, 0);
    is_int(series_infer(&j.s, &j.lane, j.now_ns), 0, "300 samples are looked at");
    ok(fabs(j.s.period_s - 0.8) < 0.005, "the period of CPU time is found: %g s", j.s.period_s);
    is_int((long long)j.lane.count, (long long)(24.1 / j.s.period_s),
           "steps since the last look are made");
    ok(series_say(&j.s, text, sizeof(text)), "what was found is said");
    is_str(text,
           "inferred from the job's CPU time, which repeats every 0.801 s (confidence 1.00): no "
           "steps were marked",
           "the sentence tells what repeats itself, how often, and how sure that is");
    {
        const struct step *s = rank_steps_at(&j.lane, 1);

        ok(s->number == 1 && s->begin_ns == BEGIN + 59 * TENTH + (int64_t)(j.s.period_s * 1e9) &&
               s->end_ns == s->begin_ns + (int64_t)(j.s.period_s * 1e9),
           "a step has its period");
        ok(s->host_s[BRIM_STAGE_OTHER] == j.s.period_s && isnan(s->samples) && isnan(s->loss) &&
               isnan(s->device_s[0]) && isnan(s->device_s[BRIM_STAGES - 1]),
           "what is in a step is not known");
    }
    ok(j.s.from_ns + (int64_t)(j.s.period_s * 1e9) > j.now_ns && j.s.from_ns <= j.now_ns,
       "the next step begins where the last one ended");
    rank_steps_done(&j.lane);
}

static void test_bytes(void)
{
    struct job j;
    char text[256];

    start(&j);
    pass(&j, 300, 0, 12);
    is_int(series_infer(&j.s, &j.lane, j.now_ns), 0, "a job that reads is looked at");
    ok(fabs(j.s.period_s - 1.2) < 0.01, "the period of bytes is found: %g s", j.s.period_s);
    ok(series_say(&j.s, text, sizeof(text)) && strstr(text, "from what the job reads and writes,"),
       "the sentence tells of bytes: %s", text);
    rank_steps_done(&j.lane);
    start(&j);
    pass(&j, 300, 0, 0);
    is_int(series_infer(&j.s, &j.lane, j.now_ns), 0, "an even job is looked at");
    ok(!j.s.what && j.lane.count == 0 && j.s.from_ns == j.now_ns, "an even job has no steps");
    rank_steps_done(&j.lane);
}

/* What is taken up after a gap, and when the ring is full. */
static void test_gaps(void)
{
    struct job j;

    start(&j);
    is_int((long long)j.s.n, 0, "the first glance is no sample");
    is_int(j.s.from_ns, BEGIN, "steps may begin with the first glance");
    pass(&j, 10, 8, 8);
    is_int((long long)j.s.n, 10, "each glance behind it is one");
    ok(fabs(j.s.cpu[0] - 2) < 1e-9 && fabs(j.s.bytes[0] - 10000) < 1e-6 && j.s.cpu[4] == 0,
       "a sample is what was done in a second: %g, %g", j.s.cpu[0], j.s.bytes[0]);
    j.now_ns += 4 * TENTH;
    pass(&j, 1, 8, 8);
    is_int((long long)j.s.n, 11, "a glance that is half a second late is a sample");
    ok(fabs(j.s.cpu[10]) < 1e-9 || fabs(j.s.cpu[10] - 0.4) < 1e-9,
       "what it tells is of half a second: %g", j.s.cpu[10]);
    j.now_ns += 4 * TENTH + 1;
    pass(&j, 1, 8, 8);
    is_int((long long)j.s.n, 0, "one that is later begins anew");
    pass(&j, 1, 8, 8);
    is_int((long long)j.s.n, 1, "glances behind it are samples again");
    series_add(&j.s, &j.g, j.now_ns);
    is_int((long long)j.s.n, 1, "two glances at a time are one");
    pass(&j, SERIES_MAX + 30, 8, 0);
    is_int((long long)j.s.n, SERIES_MAX + 31, "all samples are counted");
    is_int(series_infer(&j.s, &j.lane, j.now_ns), 0, "a full ring is looked at");
    ok(fabs(j.s.period_s - 0.8) < 0.005, "the last samples of a full ring have the period: %g s",
       j.s.period_s);
    rank_steps_done(&j.lane);
}

static void test_in_memory(void)
{
    struct run r = { .id = NULL };
    int rc = 0;

    for (int i = 0; i < 4096 && rc == 0; i++) {
        struct run_moment m = { .wall_ns = i + 1, .seconds = 1 };

        for (int s = 0; s < RUN_SIGNALS; s++)
            m.values[s] = i;
        rc = archive_retry_in_memory(&r, &m);
    }
    ok(rc == 0 && r.n_moments == 4096, "4,096 moments are kept as they are");
    {
        struct run_moment m = { .wall_ns = 9999, .seconds = 1, .values = { 7 } };

        is_int(archive_retry_in_memory(&r, &m), 0, "one more is kept");
    }
    is_int((long long)r.n_moments, 2049, "pairs have become one");
    ok(r.moments[0].seconds == 2 && r.moments[0].values[0] == 0.5 && r.moments[0].wall_ns == 2,
       "the first two are one: %g", r.moments[0].values[0]);
    ok(r.moments[2047].seconds == 2 && r.moments[2047].values[3] == 4094.5 &&
           r.moments[2047].wall_ns == 4096,
       "the last two are one: %g", r.moments[2047].values[3]);
    ok(r.moments[2048].seconds == 1 && r.moments[2048].wall_ns == 9999,
       "the one behind them stands alone");
    run_done(&r);
}

int main(void)
{
    test_periods();
    test_bytes();
    test_gaps();
    test_in_memory();
    return done();
}
