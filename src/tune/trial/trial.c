#include "tune/trial/trial.h"

#include <math.h>
#include <string.h>

#include "model/signal/sorted.h"

/* What is taken at once: both of the first two pairs faster by this factor. */
static const double at_once = 1.5;
/* Its part of the probability of a false accept, and as much for A B A. */
static const double at_once_part = 0.05;
/* Medians differ more between blocks than steps within one tell: drift, other work. */
static const double between = 2;
/* A median of n steps spreads sqrt(pi / 2) times what their mean does. */
static const double median_cost = 1.5708;
/* Of the middle half of a normal distribution to its deviation. */
static const double quartiles = 1.349;
static const double normal_95 = 1.96;    /* deviations, of both sides */
static const double promise_part = 0.05; /* of what B promised, that it has to have soon */
static const double lost_part = 0.05;    /* probability that a B which has it is given up */
static const double spread_least = 0.02; /* of a pair, where a few steps were alike by chance */

/* Of trial_plan_wild(): values of a block, and pairs; sizes of a pair that count; of the
 * probability of a false accept, since pairs whose sizes hang together are no ideal sample. */
enum { WILD_BLOCK = 6, WILD_PAIRS = 200 };
static const double wild_sizes = 2, wild_part = 0.1;

struct trial_plan trial_plan_usual(unsigned candidates)
{
    return (struct trial_plan){
        .block = 6, /* shared with block_s: the reference measured switches of up to 0.15 s */
        .block_s = 0.3,
        .discard = 2,
        .pairs = 40,
        .alpha = 0.05 / (candidates ? candidates : 1),
        .futile = 0.2, /* only costs power: a fifth less steps for useless ones than 0.1 */
        .least_gain = 0.02,
        .spread = 1,
        .at_once = true,
        .promise = (double)NAN,
        .hurry = 3,
    };
}

void trial_init(struct trial *t, const struct trial_plan *plan)
{
    *t = (struct trial){ .plan = plan ? *plan : trial_plan_usual(1), .least = (double)INFINITY };
    t->plan.pairs = MIN(t->plan.pairs, TRIAL_PAIRS_MOST);
    t->plan.block = MAX(1, MIN(t->plan.block, TRIAL_BLOCK_MOST));
}

/* Few looks at what goes up and down say little: there are more pairs, and nothing is at once. */
struct trial_plan trial_plan_wild(unsigned candidates, uint64_t chance)
{
    struct trial_plan plan = trial_plan_usual(candidates);

    plan.chance = chance ? chance : 1;
    plan.block = WILD_BLOCK;
    plan.pairs = WILD_PAIRS;
    plan.alpha *= wild_part;
    plan.at_once = false;
    plan.hurry = 0;
    return plan;
}

/* A bit of chance for each pair (splitmix64). */
static bool flips(uint64_t chance, unsigned pair)
{
    uint64_t x = chance + (pair + 1) * 0x9e3779b97f4a7c15U;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return (x ^ (x >> 31)) & 1;
}

/* A B B A; or by chance A B or B A. A load whose power goes up and down with a period of four
 * blocks is up in all of A and down in all of B, whatever B does: by chance the difference of
 * each pair is as often for B as against it, and that is all that the test needs. */
static bool has_b(const struct trial *t, unsigned block)
{
    unsigned pair = block / 2;

    return (block % 2 == 1) != (t->plan.chance ? flips(t->plan.chance, pair) : pair % 2 == 1);
}

/* ... or A B A. */
bool trial_want(const struct trial *t)
{
    return !t->hurries && has_b(t, t->blocks);
}

/* Between B and B, and between A and A, nothing changes. */
static unsigned discards(const struct trial *t)
{
    bool changes = t->blocks == 0 || t->hurries || has_b(t, t->blocks) != has_b(t, t->blocks - 1);

    return changes ? t->plan.discard : 0;
}

bool trial_skips(const struct trial *t)
{
    return t->verdict == TRIAL_RUNS && t->left_out < discards(t);
}

/* The tests' share of alpha. */
static double tested_alpha(const struct trial *t)
{
    return t->plan.alpha *
           (1 - (t->plan.at_once ? at_once_part : 0) - (t->plan.hurry > 1 ? at_once_part : 0));
}

/* Of a pair, from its blocks' own steps. */
static double pair_deviation(const struct trial *t)
{
    return between * sqrt(fmax(2 * median_cost * t->noise / t->blocks, 1e-12));
}

/* The probability that a normal variable is more than z deviations above its mean. */
static double beyond(double z)
{
    return 0.5 * erfc(z / sqrt(2));
}

/* Two pairs say nothing of the spread between pairs, so the price of believing them is reckoned
 * from that within blocks: with a deviation of a pair of d, taken as 'between' times what the
 * blocks' own steps tell, an idle B passes with probability Q(log(1.5) / d)^2. It may cost a tenth
 * of alpha (and the test has the rest), which a first pair beyond 'hurry' shares with it: at alpha
 * 5 %, d up to 0.25; at 1 %, up to 0.20. With steps that spread 8 % and blocks of six, d is 0.12
 * and the price is 10^-7. */
static bool is_clear(const struct trial *t)
{
    double tail;

    if (!t->plan.at_once || t->pairs.n != 2 || t->least < log(at_once))
        return false;
    tail = beyond(t->least / pair_deviation(t));
    return tail * tail <= t->plan.alpha * at_once_part;
}

/* A first pair that is far apart has A looked at next. When that is as it was, B was what made the
 * difference, going and coming: as in A B B A, in half of the steps with B. Its block is in both
 * pairs, so that an idle B passes with probability Q(log(3) / d), and not the square of that. */
static bool is_far(const struct trial *t)
{
    return t->least >= log(t->plan.hurry) &&
           beyond(t->least / pair_deviation(t)) <= t->plan.alpha * at_once_part;
}

/* Whether A is to be looked at next. Once in a trial, at its begin. */
static bool is_to_hurry(const struct trial *t)
{
    return t->plan.hurry > 1 && !t->hurried && t->blocks == 2 && is_far(t);
}

/* Whether B loses so clearly that no more of it is to be run: after one or two pairs it has less
 * than a twentieth of what it promised (or than the least gain, if that is more), where the mean of
 * so many pairs would be that low with probability 5 % if it had as much. The spread is that within
 * blocks, as above: so few pairs tell nothing of the spread between them. The price is power. */
static bool is_lost(const struct trial *t)
{
    double worth = log1p(fmax(t->plan.least_gain, t->plan.promise * promise_part));
    double n = (double)t->pairs.n;

    if (isnan(t->plan.promise) || n < 1 || n > 2 || t->blocks != 2 * t->pairs.n)
        return false;
    return beyond((worth - t->pairs.mean) * sqrt(n) / fmax(pair_deviation(t), spread_least)) <=
           lost_part;
}

/* What came of that: else all begins anew, as if nothing had been measured. */
static enum trial_verdict end_hurry(struct trial *t)
{
    const struct trial_plan plan = t->plan;
    unsigned steps = t->steps;

    t->hurries = false;
    t->at_once = is_far(t);
    if (t->at_once)
        return TRIAL_ACCEPT;
    trial_init(t, &plan);
    t->steps = steps;
    t->hurried = true;
    return TRIAL_RUNS;
}

/* Only whole ABBA are looked at: a trend has then hit both alike. */
static enum trial_verdict decide(struct trial *t)
{
    double least = log1p(t->plan.least_gain), half;

    if (is_lost(t))
        return TRIAL_REJECT;
    if (t->pairs.n % 2 || !t->pairs.n)
        return TRIAL_RUNS;
    t->at_once = is_clear(t);
    if (t->at_once)
        return TRIAL_ACCEPT;
    half = sequence_half(&t->pairs, tested_alpha(t), t->plan.spread);
    if (t->pairs.mean - half > 0 && t->pairs.mean > least)
        return TRIAL_ACCEPT;
    if (t->pairs.mean + half < 0 ||
        t->pairs.mean + sequence_half(&t->pairs, t->plan.futile, t->plan.spread) < least)
        return TRIAL_REJECT;
    return t->pairs.n >= t->plan.pairs ? TRIAL_UNDECIDED : TRIAL_RUNS;
}

/* All pairs so far, those that are far out drawn in to twice the median size: where one block
 * had a load's rise and the other its fall. Sizes are the same whatever the signs are, so that
 * this is fair to both of them, and to what B does, which is in each. */
static void add_wild(struct trial *t, double difference)
{
    double sizes[TRIAL_PAIRS_MOST], most;

    if (!isfinite(difference) || t->n_wild == TRIAL_PAIRS_MOST)
        return;
    t->wild[t->n_wild++] = difference;
    for (unsigned i = 0; i < t->n_wild; i++)
        sizes[i] = fabs(t->wild[i]);
    most = fmax(wild_sizes * sorted_median(sizes, t->n_wild), spread_least);
    t->pairs = (struct sequence){ .n = 0 };
    for (unsigned i = 0; i < t->n_wild; i++)
        sequence_add(&t->pairs, fmax(-most, fmin(most, t->wild[i])));
}

/* The pair that this block ends; B's block is in two of them in a hurry. */
static void end_pair(struct trial *t)
{
    double difference = log(t->without / t->with);

    t->least = fmin(t->least, difference);
    if (t->plan.chance)
        add_wild(t, difference);
    else
        sequence_add(&t->pairs, difference);
}

static void end_block(struct trial *t)
{
    double mean = t->seconds / t->counted, median = sorted_median(t->values, t->n), spread;
    double middle = t->plan.chance ? mean : median;

    spread = (t->values[t->n - 1 - t->n / 4] - t->values[t->n / 4]) / (quartiles * median);
    t->noise += spread * spread / t->n;
    if (trial_want(t))
        t->with = middle;
    else
        t->without = middle;
    t->left_out = t->n = t->counted = 0;
    t->seconds = 0;
    if (t->blocks++ % 2 || t->hurries)
        end_pair(t);
    if (t->hurries) {
        t->verdict = end_hurry(t);
        return;
    }
    t->hurries = is_to_hurry(t);
    t->verdict = t->hurries ? TRIAL_RUNS : decide(t);
}

void trial_begun(struct trial *t, const double *values, unsigned n)
{
    t->n = t->counted = MIN(n, TRIAL_BLOCK_MOST);
    memcpy(t->values, values, t->n * sizeof(*values));
    for (unsigned i = 0; i < t->n; i++)
        t->seconds += values[i];
    end_block(t);
    t->left_out = discards(t);
}

/* How long a block has lasted. What disturbs steps comes by time, and a block has to last long
 * enough for it to be in all of them alike. Steps that B makes faster count for what they take with
 * A: as many of them as of A are enough, and 20 times as many would show no more. Disturbed steps
 * of A would make B look better, and those fill their time as ever. */
static double lasted(const struct trial *t)
{
    return trial_want(t) ? fmax(t->seconds, t->without * t->counted) : t->seconds;
}

static bool block_is_whole(const struct trial *t)
{
    if (t->n == TRIAL_BLOCK_MOST)
        return true;
    return t->n >= MIN(t->plan.block, TRIAL_VALUES_LEAST) && t->counted >= t->plan.block &&
           lasted(t) >= t->plan.block_s;
}

enum trial_verdict trial_steps(struct trial *t, bool b, double seconds, unsigned steps)
{
    if (t->verdict != TRIAL_RUNS || b != trial_want(t))
        return t->verdict;
    t->steps += steps;
    if (t->left_out < discards(t)) {
        t->left_out += steps;
        return t->verdict;
    }
    if (!(seconds > 0) || !isfinite(seconds))
        return t->verdict;
    t->values[t->n++] = seconds;
    t->counted += steps;
    t->seconds += seconds * steps;
    if (block_is_whole(t))
        end_block(t);
    return t->verdict;
}

/* What was accepted at once has bounds by the same reckoning: of the mean of two pairs, which
 * after A B A spreads more: B's block is in both. */
static double half_at_once(const struct trial *t)
{
    double low = 0, high = 40;

    for (int i = 0; i < 50; i++) {
        double middle = (low + high) / 2;

        if (beyond(middle) > t->plan.alpha * at_once_part)
            low = middle;
        else
            high = middle;
    }
    return high * pair_deviation(t) / sqrt(t->blocks == 3 ? 4.0 / 3 : 2);
}

struct trial_effect trial_effect(const struct trial *t)
{
    double half = t->at_once ? half_at_once(t)
                             : sequence_half(&t->pairs, tested_alpha(t), t->plan.spread);

    if (!t->pairs.n)
        return (struct trial_effect){ (double)NAN, -1, (double)INFINITY };
    return (struct trial_effect){ expm1(t->pairs.mean), expm1(t->pairs.mean - half),
                                  expm1(t->pairs.mean + half) };
}

struct trial_effect trial_so_far(const struct trial *t)
{
    double half = normal_95 * pair_deviation(t) / sqrt((double)MAX(1, t->pairs.n));

    if (!t->pairs.n)
        return (struct trial_effect){ (double)NAN, -1, (double)INFINITY };
    return (struct trial_effect){ expm1(t->pairs.mean), expm1(t->pairs.mean - half),
                                  expm1(t->pairs.mean + half) };
}
