#include "diagnose/verdict/sure.h"

#include <math.h>

enum { A_PART = 2 /* steps, at least */ };

/* One-sided 95 % of Student's t, by the number of parts. */
static const double student[JUDGE_PARTS + 1] = { 0,     0,     6.314, 2.920, 2.353, 2.132,
                                                 2.015, 1.943, 1.895, 1.860, 1.833 };

static size_t count_parts(size_t n)
{
    return n / A_PART < JUDGE_PARTS ? n / A_PART : JUDGE_PARTS;
}

void judge_parts_add(struct judge_parts *p, size_t i, double part, double whole)
{
    size_t at;

    if (i >= p->n)
        return;
    at = i * count_parts(p->n) / p->n;
    p->part[at] += part;
    p->whole[at] += whole;
}

double judge_parts_least(const struct judge_parts *p)
{
    double sum = 0, squares = 0, n = 0, mean;

    for (size_t i = 0; i < count_parts(p->n); i++) {
        double share = p->part[i] / p->whole[i];

        if (!(p->whole[i] > 0))
            continue;
        sum += share;
        squares += share * share;
        n++;
    }
    if (n < 2)
        return (double)NAN;
    mean = sum / n;
    squares = fmax(0, squares / n - mean * mean) * n / (n - 1);
    return fmax(0, mean - student[(size_t)n] * sqrt(squares / n));
}
