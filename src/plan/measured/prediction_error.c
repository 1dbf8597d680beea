#include "plan/measured/prediction_error.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/compiler.h"

static double error_of(const struct prediction_pair *p)
{
    return p->predicted / p->measured - 1;
}

static int by_error(const void *a, const void *b)
{
    double x = fabs(error_of(a)), y = fabs(error_of(b));

    return COMPARE(x, y);
}

static int by_sweep(const void *a, const void *b)
{
    const struct prediction_pair *x = a, *y = b;
    int order = COMPARE(x->sweep, y->sweep);

    return order ? order : COMPARE(x->measured, y->measured);
}

/* Of n pairs, the fastest measured first. */
static void add_sweep(const struct prediction_pair *p, size_t n, struct prediction_error *s)
{
    size_t choice = 0;
    double agree = 0, pairs = 0, regret;

    for (size_t i = 0; i < n; i++) {
        if (p[i].predicted < p[choice].predicted)
            choice = i;
        for (size_t j = i + 1; j < n; j++) {
            double order = p[j].predicted - p[i].predicted;

            if (p[j].measured > p[i].measured) {
                agree += COMPARE(order, 0);
                pairs++;
            }
        }
    }
    regret = p[choice].measured / p[0].measured - 1;
    s->sweeps++;
    s->regret += regret;
    s->worst_regret = fmax(s->worst_regret, regret);
    s->tau += pairs > 0 ? agree / pairs : 1;
}

struct prediction_error prediction_error_make(struct prediction_pair *pairs, size_t n)
{
    struct prediction_error s = { .n = n };

    if (n == 0) {
        s.mean = s.median = s.max = s.bias = s.regret = s.worst_regret = s.tau = (double)NAN;
        return s;
    }
    qsort(pairs, n, sizeof(*pairs), by_error);
    for (size_t i = 0; i < n; i++) {
        s.mean += fabs(error_of(&pairs[i])) / (double)n;
        s.bias += error_of(&pairs[i]) / (double)n;
    }
    s.median = (fabs(error_of(&pairs[(n - 1) / 2])) + fabs(error_of(&pairs[n / 2]))) / 2;
    s.max = fabs(error_of(&pairs[n - 1]));
    qsort(pairs, n, sizeof(*pairs), by_sweep);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && pairs[end].sweep == pairs[i].sweep;)
            end++;
        if (pairs[i].sweep && end - i > 1)
            add_sweep(&pairs[i], end - i, &s);
    }
    s.regret = s.sweeps ? s.regret / (double)s.sweeps : (double)NAN;
    s.tau = s.sweeps ? s.tau / (double)s.sweeps : (double)NAN;
    if (!s.sweeps)
        s.worst_regret = (double)NAN;
    return s;
}
