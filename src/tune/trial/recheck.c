#include "tune/trial/recheck.h"

#include <math.h>

#include "model/signal/sorted.h"

/* A check that ends with no proof keeps the setting while it looks at least this much faster; more
 * is wanted where steps had got slower than they were. */
static const double keeps = 0.005, keeps_alarmed = 0.03;

struct recheck_plan recheck_plan_usual(void)
{
    struct recheck_plan plan = {
        .block = 10,
        .every = 100, /* 1,000 steps for a comparison of some 28 */
        .rest = 30,   /* 3 % of the time with the old setting, most */
        .slack = 0.03,
        .limit = 0.25,
        .check = trial_plan_usual(1),
    };

    plan.check.least_gain = 0;
    plan.check.pairs = 12;
    plan.check.at_once = false;
    plan.check.hurry = 0;
    return plan;
}

void recheck_init(struct recheck *g, double expected, const struct recheck_plan *plan)
{
    *g = (struct recheck){ .plan = plan ? *plan : recheck_plan_usual(), .expected = expected };
    g->old_s = 2 * g->plan.check.block_s;
    g->plan.block = MAX(1, MIN(g->plan.block, TRIAL_BLOCK_MOST));
}

/* Of taking back what pays, in one of its checks. */
static const double wild_alpha = 0.005;

struct recheck_plan recheck_plan_wild(uint64_t chance)
{
    struct recheck_plan plan = recheck_plan_usual();

    plan.check.chance = chance ? chance : 1;
    plan.check.alpha = plan.check.futile = wild_alpha;
    return plan;
}

bool recheck_want(const struct recheck *g)
{
    return !g->checking || trial_want(&g->check);
}

static void start_check(struct recheck *g)
{
    g->checking = true;
    g->checks++;
    g->n = g->blocks = 0;
    g->sum = g->old_s = g->since_s = 0;
    trial_init(&g->check, &g->plan.check);
}

static void end_check(struct recheck *g)
{
    double mean = g->check.pairs.mean, least = g->alarmed ? keeps_alarmed : keeps;

    g->checking = false;
    /* Of what goes up and down by itself a mean without a proof says nothing. */
    if (g->check.verdict == TRIAL_REJECT ||
        (g->check.verdict != TRIAL_ACCEPT && mean < least && !g->plan.check.chance))
        g->verdict = GUARD_ROLL_BACK;
    /* It still pays: the job's steps are what they are now. */
    g->expected = (double)NAN;
}

static void end_block(struct recheck *g)
{
    double median = sorted_median(g->values, g->n);

    g->n = 0;
    g->blocks++;
    if (isnan(g->expected))
        g->expected = median;
    g->sum = fmax(0, g->sum + log(median / g->expected) - g->plan.slack);
    g->alarmed = g->sum > g->plan.limit && !g->plan.check.chance; /* it goes up by itself */
    if (g->alarmed || (g->blocks >= g->plan.every && g->since_s >= g->plan.rest * g->old_s))
        start_check(g);
}

enum recheck_verdict recheck_steps(struct recheck *g, bool adopted, double seconds, unsigned steps)
{
    double took = seconds > 0 && isfinite(seconds) ? seconds * steps : 0;

    if (g->verdict == GUARD_ROLL_BACK || adopted != recheck_want(g))
        return g->verdict;
    if (g->checking) {
        g->old_s += adopted ? 0 : took;
        if (trial_steps(&g->check, adopted, seconds, steps) != TRIAL_RUNS)
            end_check(g);
        return g->verdict;
    }
    if (!(took > 0))
        return g->verdict;
    g->since_s += took;
    g->values[g->n++] = seconds;
    if (g->n == g->plan.block)
        end_block(g);
    return g->verdict;
}
