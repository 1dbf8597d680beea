#include "tune/trial/race.h"

#include <math.h>

enum { ROUNDS_LEAST = 3 };

struct race_plan race_plan_usual(void)
{
    return (struct race_plan){
        .rounds = 8, .alpha = 0.05, .futile = 0.2, .least_gain = 0.02, .spread = 16
    };
}

void race_init(struct race *r, unsigned n, const struct race_plan *plan)
{
    *r = (struct race){ .plan = plan ? *plan : race_plan_usual(), .n = MIN(n, RACE_MOST) };
    r->plan.rounds = MAX(1, MIN(r->plan.rounds, RACE_ROUNDS_MOST));
    for (unsigned i = 0; i < r->n; i++) {
        r->in[i] = true;
        for (unsigned k = 0; k < RACE_ROUNDS_MOST; k++)
            r->log_s[i][k] = (double)NAN;
    }
    r->over = r->n < 2;
}

/* The setting whose turn it is in a round, of those that still run. */
static unsigned turn(const struct race *r, unsigned at)
{
    for (unsigned i = 0; i < r->n; i++) {
        unsigned setting = r->round % 2 ? r->n - 1 - i : i;

        if (r->in[setting] && at-- == 0)
            return setting;
    }
    return 0;
}

int race_want(const struct race *r)
{
    return r->over ? -1 : (int)turn(r, r->at);
}

static unsigned left(const struct race *r)
{
    unsigned n = 0;

    for (unsigned i = 0; i < r->n; i++)
        n += r->in[i];
    return n;
}

/* How much faster b was than a, over the rounds that are whole. */
static struct sequence compare(const struct race *r, unsigned a, unsigned b)
{
    struct sequence s = { .n = 0 };

    for (unsigned i = 0; i < r->round; i++)
        sequence_add(&s, r->log_s[a][i] - r->log_s[b][i]);
    return s;
}

static double alpha(const struct race *r)
{
    return r->plan.alpha / (r->n - 1);
}

/* The fastest of those that still run. */
static unsigned leader(const struct race *r)
{
    unsigned best = 0;
    double mean = 0;

    for (unsigned i = 1; i < r->n; i++) {
        struct sequence s = compare(r, 0, i);

        if (r->in[i] && s.mean > mean) {
            best = i;
            mean = s.mean;
        }
    }
    return best;
}

static void drop_losers(struct race *r)
{
    unsigned best = leader(r);

    for (unsigned i = 1; i < r->n; i++) {
        struct sequence base = compare(r, 0, i), ahead = compare(r, i, best);
        bool futile = base.mean + sequence_half(&base, r->plan.futile, r->plan.spread) <
                      log1p(r->plan.least_gain);
        bool behind = i != best && best &&
                      ahead.mean - sequence_half(&ahead, r->plan.futile, r->plan.spread) > 0;

        if (futile || behind)
            r->in[i] = false;
    }
}

static void end_round(struct race *r)
{
    unsigned best;
    struct sequence s;

    r->at = 0;
    r->round++;
    if (r->round >= ROUNDS_LEAST)
        drop_losers(r);
    r->over = left(r) < 2 || r->round >= r->plan.rounds;
    best = leader(r);
    if (!best || r->round < ROUNDS_LEAST || (left(r) > 2 && !r->over))
        return;
    s = compare(r, 0, best);
    if (s.mean > log1p(r->plan.least_gain) &&
        s.mean - sequence_half(&s, alpha(r), r->plan.spread) > 0) {
        r->winner = best;
        r->over = true;
    }
}

void race_run(struct race *r, double seconds)
{
    unsigned setting = turn(r, r->at);

    if (r->over)
        return;
    if (!(seconds > 0) || !isfinite(seconds)) {
        r->over = setting == 0;
        r->in[setting] = false;
        r->over = r->over || left(r) < 2;
    } else {
        r->log_s[setting][r->round] = log(seconds);
        r->at++;
    }
    if (!r->over && r->at == left(r))
        end_round(r);
}

struct trial_effect race_effect(const struct race *r, unsigned setting)
{
    struct sequence s = compare(r, 0, setting);
    double half = sequence_half(&s, alpha(r), r->plan.spread);

    if (!s.n)
        return (struct trial_effect){ (double)NAN, -1, (double)INFINITY };
    return (struct trial_effect){ expm1(s.mean), expm1(s.mean - half), expm1(s.mean + half) };
}
