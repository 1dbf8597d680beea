#include "optimize/loss_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "model/signal/quantity.h"

/* Standard errors from where a difference is none of chance; looked at again and again. */
static const double beyond = 4;
/* The curve is carried on that much further than it was seen: later its bend is not known. */
static const double horizon = 1.5;
/* What is fitted: the begin is another curve. */
static const double fitted = 0.25;
/* A smaller share of a loss is what single precision rounds: no rise. */
static const double rounding = 1e-6;
/* Steps without a loss, in those that usually have one between them, until it counts as lost. */
static const double silence = 20;
enum { BEFORE_LEAST = 16, AFTER_LEAST = 8, DIGITS_MOST = 9 };

static void init_curve(struct loss_check_curve *c)
{
    *c = (struct loss_check_curve){ .per = 1 };
}

void loss_check_init(struct loss_check *l)
{
    *l = (struct loss_check){ .samples = 0 };
    init_curve(&l->before);
    init_curve(&l->after);
}

void loss_check_change(struct loss_check *l)
{
    l->changed = true;
}

static void halve(struct loss_check_curve *c)
{
    for (size_t i = 0; i < LOSSES_ROOM / 2; i++) {
        c->x[i] = (c->x[2 * i] + c->x[2 * i + 1]) / 2;
        c->y[i] = (c->y[2 * i] + c->y[2 * i + 1]) / 2;
    }
    c->n = LOSSES_ROOM / 2;
    c->per *= 2;
}

static void add(struct loss_check_curve *c, double x, double y)
{
    c->told++;
    c->sum_x += x;
    c->sum_y += y;
    if (++c->in_last < c->per)
        return;
    if (c->n == LOSSES_ROOM)
        halve(c);
    else {
        c->x[c->n] = c->sum_x / c->in_last;
        c->y[c->n++] = c->sum_y / c->in_last;
        c->in_last = 0;
        c->sum_x = c->sum_y = 0;
    }
}

void loss_check_settle(struct loss_check *l, bool kept)
{
    for (size_t i = 0; kept && i < l->after.n; i++)
        add(&l->before, l->after.x[i], l->after.y[i]);
    init_curve(&l->after);
    l->changed = l->infinite = false;
}

void loss_check_step(struct loss_check *l, double samples, double loss)
{
    struct loss_check_curve *c = l->changed ? &l->after : &l->before;

    l->samples += samples > 0 ? samples : 1;
    c->steps++;
    if (isnan(loss))
        return;
    if (!isfinite(loss))
        l->infinite = l->changed;
    else
        add(c, l->samples, loss);
}

bool loss_check_ready(const struct loss_check *l)
{
    return l->before.n >= BEFORE_LEAST;
}

/* A straight line over the logarithm of the samples, as losses fall by. */
struct line {
    size_t n;
    double mean_x, mean_y, slope, sxx;
    double variance; /* of a point around it, with what neighbours have in common */
};

static double residual(const struct line *f, double x, double y)
{
    return y - f->mean_y - f->slope * (log(x) - f->mean_x);
}

/* Neighbours that err alike count for less: by the correlation of each with the next. */
static double spread(const struct line *f, const struct loss_check_curve *c, size_t first)
{
    double sum = 0, with_next = 0, r;

    for (size_t i = first; i < c->n; i++) {
        double own = residual(f, c->x[i], c->y[i]);

        sum += own * own;
        if (i + 1 < c->n)
            with_next += own * residual(f, c->x[i + 1], c->y[i + 1]);
    }
    r = sum > 0 ? fmin(0.8, fmax(0, with_next / sum)) : 0;
    return sum / (double)(f->n - 2) * (1 + r) / (1 - r);
}

static struct line fit(const struct loss_check_curve *c)
{
    struct line f = { .n = 0 };
    size_t first = 0;
    double sxy = 0;

    while (c->n - first > BEFORE_LEAST && c->x[first] < fitted * c->x[c->n - 1])
        first++;
    for (size_t i = first; i < c->n; i++) {
        f.mean_x += log(c->x[i]);
        f.mean_y += c->y[i];
    }
    f.n = c->n - first;
    f.mean_x /= (double)f.n;
    f.mean_y /= (double)f.n;
    for (size_t i = first; i < c->n; i++) {
        f.sxx += (log(c->x[i]) - f.mean_x) * (log(c->x[i]) - f.mean_x);
        sxy += (log(c->x[i]) - f.mean_x) * (c->y[i] - f.mean_y);
    }
    f.slope = f.sxx > 0 ? sxy / f.sxx : 0;
    f.variance = spread(&f, c, first);
    return f;
}

/* More than rounding: the sentence can show two figures that differ. */
static bool differ(double was, double now)
{
    return fabs(now - was) > fmax(1e-9, rounding * fmax(fabs(was), fabs(now)));
}

/* Two losses in as many digits as it takes to see which one is higher; 4 do nearly always. */
struct losses {
    struct quantity was, now;
};

static struct losses side_by_side(double was, double now)
{
    struct losses q;
    int digits = 4;

    do {
        q.was = quantity_number(was, digits);
        q.now = quantity_number(now, digits);
    } while (!strcmp(q.was.text, q.now.text) && ++digits <= DIGITS_MOST);
    return q;
}

/* A point of after is the mean of fewer losses than one of before, and spreads more. */
static double wider(const struct loss_check *l)
{
    return (double)l->before.per / l->after.per;
}

/* Above the curve of before, as far as that can be carried on. */
static bool is_above(const struct loss_check *l, const struct line *f, char text[LOSSES_TEXT])
{
    const struct loss_check_curve *c = &l->after;
    double limit = horizon * l->before.x[l->before.n - 1], mean = 0, x = 0, y = 0, error, far;
    struct losses q;
    size_t n = 0;

    for (; n < c->n && c->x[n] <= limit; n++) {
        mean += residual(f, c->x[n], c->y[n]);
        x += log(c->x[n]);
        y += c->y[n];
    }
    if (n < AFTER_LEAST)
        return false;
    mean /= (double)n;
    y /= (double)n;
    far = x / (double)n - f->mean_x;
    error = sqrt(f->variance *
                 (1.0 / (double)n + 1.0 / (double)f->n + (f->sxx > 0 ? far * far / f->sxx : 0)));
    if (!(mean > beyond * error) || !differ(y - mean, y))
        return false;
    q = side_by_side(y - mean, y);
    snprintf(text, LOSSES_TEXT, "the loss is %s where %s was to be expected (%.1f standard errors)",
             q.now.text, q.was.text, error > 0 ? mean / error : 99.0);
    return true;
}

/* The last points of a curve. */
static double level(const struct loss_check_curve *c, size_t n)
{
    double sum = 0;

    for (size_t i = c->n - n; i < c->n; i++)
        sum += c->y[i];
    return sum / (double)n;
}

/* Above where it had come to. */
static bool has_risen(const struct loss_check *l, const struct line *f, char text[LOSSES_TEXT])
{
    double was = level(&l->before, AFTER_LEAST), now = level(&l->after, AFTER_LEAST);
    double error = sqrt((1 + wider(l)) * f->variance / AFTER_LEAST);
    struct losses q;

    if (!(now - was > beyond * error) || !differ(was, now))
        return false;
    q = side_by_side(was, now);
    snprintf(text, LOSSES_TEXT, "the loss rose from %s to %s (%.1f standard errors)", q.was.text,
             q.now.text, error > 0 ? (now - was) / error : 99.0);
    return true;
}

bool loss_check_worse(const struct loss_check *l, char text[LOSSES_TEXT])
{
    double usual = l->before.steps / fmax(1, l->before.told);
    struct line f;

    if (!l->changed || !loss_check_ready(l))
        return false;
    if (l->infinite || (l->after.told <= 0 && l->after.steps > silence * usual)) {
        snprintf(text, LOSSES_TEXT, "the loss is no number any more");
        return true;
    }
    if (l->after.n < AFTER_LEAST)
        return false;
    f = fit(&l->before);
    return is_above(l, &f, text) || has_risen(l, &f, text);
}
