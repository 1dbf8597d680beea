/* Trials on what goes up and down by itself: a power between 650 and 250 W, looked at by chance
 * once in a moment. What changes nothing is not kept, what takes 10 % off is. */
#include <math.h>

#include "noise.h"
#include "tap.h"
#include "tune/trial/recheck.h"

enum { CANDIDATES = 5, PHASES = 40, MOMENTS_MOST = 8000 };

static const double high_w = 650, low_w = 250, duty = 0.7;

struct wave {
    double period_s, phase;
    double spares; /* what B takes off */
    bool even;     /* moments of one length */
};

static enum trial_verdict try(const struct wave *w, uint64_t seed, const struct trial_plan *plan,
                              struct trial *t)
{
    struct noise chance = noise_start(seed, false);
    double now_s = 0;

    trial_init(t, plan);
    for (unsigned i = 0; i < MOMENTS_MOST && t->verdict == TRIAL_RUNS; i++) {
        bool b = trial_want(t);
        double at;

        now_s += w->even ? 1 : 0.5 + noise_even(&chance);
        at = fmod(now_s / w->period_s + w->phase, 1);
        trial_steps(t, b, (at < duty ? high_w : low_w) * (b ? 1 - w->spares : 1), 1);
    }
    return t->verdict;
}

/* Of 40 phases of a period, how many are kept. */
static int count(double period_s, double spares, bool wild)
{
    struct trial t;
    int kept = 0;

    for (unsigned i = 0; i < PHASES; i++) {
        const struct wave w = { period_s, i / (double)PHASES, spares, !wild };
        const struct trial_plan plan = wild ? trial_plan_wild(CANDIDATES, 77 * i + 1)
                                            : trial_plan_usual(CANDIDATES);

        kept += try(&w, i + 1, &plan, &t) == TRIAL_ACCEPT;
    }
    return kept;
}

static void test_waves(void)
{
    static const double periods_s[] = { 0.3, 0.5, 0.95, 1,  1.05, 2,  2.1, 3.3, 5,  7,  12,
                                        13,  14,  24,   26, 28,   52, 56,  60,  90, 112 };
    int wrong = 0, fooled = 0;

    for (size_t i = 0; i < ARRAY_SIZE(periods_s); i++) {
        int idle = count(periods_s[i], 0, true), real = count(periods_s[i], 0.1, true);

        wrong += idle;
        fooled += count(periods_s[i], 0, false);
        printf("# %g s: kept %d of what changes nothing, %d of what takes 10 %% off\n",
               periods_s[i], idle, real);
        is_int(idle, 0, "what changes nothing is kept in none of %d at %g s", PHASES, periods_s[i]);
        /* Of a load whose rise and fall take about as long as a block little can be known. */
        ok(real >= PHASES * 8 / 10 || (periods_s[i] > 11 && periods_s[i] < 60),
           "what takes 10 %% off is kept in %d of %d at %g s", real, PHASES, periods_s[i]);
    }
    ok(wrong == 0 && fooled > 20,
       "medians of even moments were fooled %d times, means of chance %d", fooled, wrong);
}

/* Each pair has one of both, and chance has both orders. */
static void test_order(void)
{
    const struct trial_plan plan = trial_plan_wild(CANDIDATES, 9);
    unsigned pairs[2] = { 0, 0 };
    struct trial t;

    trial_init(&t, &plan);
    for (t.blocks = 0; t.blocks < 64; t.blocks += 2) {
        bool first = trial_want(&t);

        t.blocks++;
        pairs[first] += trial_want(&t) != first;
        t.blocks--;
    }
    ok(pairs[0] + pairs[1] == 32 && pairs[0] >= 8 && pairs[1] >= 8,
       "of 32 pairs %u begin without the setting and %u with it", pairs[0], pairs[1]);
}

/* Nothing is left out between two blocks of the same setting. */
static void test_discards(void)
{
    const struct trial_plan plan = trial_plan_wild(CANDIDATES, 9);
    unsigned wrong = 0;
    struct trial t;

    trial_init(&t, &plan);
    for (unsigned block = 0; block < 20 && t.verdict == TRIAL_RUNS; block++) {
        bool b = trial_want(&t), changes = block == 0;
        unsigned left_out = 0;

        if (block) {
            t.blocks--;
            changes = trial_want(&t) != b;
            t.blocks++;
        }
        for (; trial_skips(&t); left_out++)
            trial_steps(&t, b, 1, 1);
        wrong += left_out != (changes ? plan.discard : 0);
        for (unsigned i = 0; i < plan.block && t.blocks == block; i++)
            trial_steps(&t, b, 1 + 0.3 * (i % 3), 1);
    }
    is_int((int)wrong, 0, "steps are left out exactly where the setting changes");
}

/* Only a proof takes back what was kept. */
static void test_recheck(void)
{
    int undone = 0, checks = 0;

    for (unsigned n = 0; n < PHASES; n++) {
        const struct recheck_plan plan = recheck_plan_wild(n + 1);
        struct noise chance = noise_start(n + 1, false);
        double now_s = 0;
        struct recheck g;

        recheck_init(&g, (double)NAN, &plan);
        for (unsigned i = 0; i < MOMENTS_MOST && g.verdict == GUARD_KEEP; i++) {
            bool b = recheck_want(&g);
            double at;

            now_s += 0.5 + noise_even(&chance);
            at = fmod(now_s / 9 + n / (double)PHASES, 1);
            recheck_steps(&g, b, (at < duty ? high_w : low_w) * (b ? 0.9 : 1), 1);
        }
        undone += g.verdict == GUARD_ROLL_BACK;
        checks += (int)g.checks;
    }
    ok(checks >= PHASES, "settings that were kept are compared again: %d times", checks);
    is_int(undone, 0, "what takes 10 %% off is taken back in none of %d", PHASES);
}

int main(void)
{
    test_waves();
    test_order();
    test_discards();
    test_recheck();
    return done();
}
