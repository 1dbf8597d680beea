/* Fail-slow: how many injected slowdowns are found and how soon, how often nothing is called one,
 * and a public series with one straggler. With the word "few" no statistics are made. */
#include "diagnose/verdict/failslow.h"

#include <math.h>

#include "base/parse.h"
#include "run_bare.h"
#include "oom.h"
#include "others.h"
#include "tap.h"

enum { DAY = 86400, DAYS = 20, TRIALS = 2000, BEFORE = 300, WORKERS = 20, ALIBABA_ROWS = 300 };

/* A step of 1 s with noise in logarithms; one in a hundred takes three times as long. */
static double made_second(uint64_t *seed, double noise, double spikes)
{
    double x = exp(noise * made_normal(seed));

    return made_uniform(seed, 0, 1) < spikes ? 3 * x : x;
}

/* How many of TRIALS slowdowns are found within so many steps. */
static int detected(double noise, double slow, uint64_t within)
{
    int found = 0;

    for (uint64_t trial = 0; trial < TRIALS; trial++) {
        uint64_t seed = trial * 7919 + 1;
        struct failslow_change c;
        struct failslow f;

        failslow_init(&f);
        for (uint64_t i = 0; i < BEFORE + within; i++)
            if (failslow_step(&f, made_second(&seed, noise, 0.01) * (i < BEFORE ? 1 : slow), &c) &&
                i >= BEFORE && c.after > c.before) {
                found++;
                break;
            }
    }
    return found;
}

static int false_alarms(double noise, double spikes)
{
    int alarms = 0;

    for (uint64_t day = 0; day < DAYS; day++) {
        uint64_t seed = day * 104729 + 5;
        struct failslow_change c;
        struct failslow f;

        failslow_init(&f);
        for (int i = 0; i < DAY; i++)
            alarms += failslow_step(&f, made_second(&seed, noise, spikes), &c);
    }
    return alarms;
}

static void test_power(void)
{
    static const struct {
        double noise, slow;
        uint64_t within;
        double least; /* share that is found */
    } cases[] = {
        { 0.01, 1.1, 10, 0.99 }, { 0.03, 1.1, 10, 0.99 }, { 0.03, 1.2, 10, 0.99 },
        { 0.08, 1.1, 60, 0.99 }, { 0.08, 1.2, 20, 0.99 }, { 0.08, 1.3, 10, 0.99 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        int n = detected(cases[i].noise, cases[i].slow, cases[i].within);

        ok(n >= TRIALS * cases[i].least, "noise %.0f %%, %.0f %% slower: %.2f %% within %d steps",
           100 * cases[i].noise, 100 * (cases[i].slow - 1), 100.0 * n / TRIALS,
           (int)cases[i].within);
    }
    printf("# noise 8 %%, 10 %% slower: %.1f %% within 10, %.1f %% within 20, %.1f %% within 40\n",
           100.0 * detected(0.08, 1.1, 10) / TRIALS, 100.0 * detected(0.08, 1.1, 20) / TRIALS,
           100.0 * detected(0.08, 1.1, 40) / TRIALS);
}

static void test_false_alarms(void)
{
    static const double noises[] = { 0.005, 0.03, 0.08 };

    for (size_t i = 0; i < ARRAY_SIZE(noises); i++) {
        int n = false_alarms(noises[i], 0), spiky = false_alarms(noises[i], 0.01);

        ok(n <= DAYS, "noise %.1f %%: %d false alarms in %d days", 100 * noises[i], n, DAYS);
        ok(spiky <= DAYS,
           "noise %.1f %% with a spike in a hundred steps: %d false alarms in %d days",
           100 * noises[i], spiky, DAYS);
    }
}

static void test_changes(void)
{
    struct failslow_change c = { 0 }, up = { 0 }, down = { 0 };
    struct failslow f;
    uint64_t seed = 3;
    int n = 0;

    failslow_init(&f);
    for (int i = 0; i < 900; i++)
        if (failslow_step(&f, made_second(&seed, 0.03, 0) * (i >= 300 && i < 600 ? 1.5 : 1), &c)) {
            if (n++ == 0)
                up = c;
            down = c;
        }
    is_int(n, 2, "a slow time begins and ends");
    ok(up.step >= 298 && up.step <= 300 && up.found < 310,
       "the slow time began at step %d, found at step %d", (int)up.step, (int)up.found);
    ok(fabs(up.before - 1) < 0.03 && fabs(up.after - 1.5) < 0.1,
       "the level of steps rises from %.2f to %.2f s", up.before, up.after);
    ok(down.step >= 598 && down.step <= 600 && down.after < down.before,
       "the slow time ended at step %d", (int)down.step);
    failslow_init(&f);
    for (int i = 0; i < 100; i++)
        ok(!failslow_step(&f,
                          i % 3   ? (double)NAN
                          : i % 2 ? -1
                                  : (double)INFINITY,
                          &c) ||
               i < 0,
           "what is no time is left out");
    for (int i = 0; i < 1000; i++)
        n += failslow_step(&f, 1 + i * 2e-5, &c);
    is_int(n, 2, "a drift of 2 %% is no change");
}

/* Alibaba's job 1 (cluster-trace-gpu-v2020): times of the workers' mini-batches, of which worker 6
 * becomes slow while it runs: others' data. */
static void test_alibaba(const char *shared)
{
    char path[1024], line[256];
    struct failslow all[WORKERS];
    struct failslow_change c;
    int slowed[WORKERS] = { 0 }, first = -1, rows = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/data/faults/alibaba_pai_minibatch_job1.csv", shared);
    f = fopen(path, "r");
    if (!f) {
        ok(true, "a worker of Alibaba's job 1 " OTHERS_MISSING);
        return;
    }
    for (int i = 0; i < WORKERS; i++)
        failslow_init(&all[i]);
    while (fgets(line, sizeof(line), f)) {
        int worker, gpu, at;
        double value;
        char text[32];

        if (sscanf(line, "%*d,%d,%d,%d,%31[0-9.]", &worker, &gpu, &at, text) != 4 ||
            parse_double(text, &value) < 0 || worker < 0 || worker >= WORKERS)
            continue;
        rows++;
        if (failslow_step(&all[worker], value, &c) && c.after > c.before) {
            printf("# worker %d: step %d, %.0f to %.0f\n", worker, (int)c.step, c.before, c.after);
            slowed[worker]++;
            first = first < 0 ? worker : first;
        }
    }
    fclose(f);
    ok(rows > 2000, "the trace has %d rows", rows);
    ok(slowed[6] > 0, "worker 6 is found");
    is_int(first, 6, "no worker is found before worker 6");
}

int main(int argc, char **argv)
{
    test_changes();
    if (argc > 1 && !strcmp(argv[1], "few"))
        return done();
    test_power();
    test_false_alarms();
    test_alibaba(others_folder(argc, argv));
    return done();
}
