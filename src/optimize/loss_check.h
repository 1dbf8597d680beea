/* Does a setting that changes numbers make the job learn worse? The loss against the samples seen,
 * before and after. Pure; nothing here allocates. */
#ifndef BRIM_OPTIMIZE_LOSS_CHECK_H
#define BRIM_OPTIMIZE_LOSS_CHECK_H
#include <stdbool.h>
#include <stddef.h>

enum { LOSSES_ROOM = 128, LOSSES_TEXT = 160 };

/* Means of so many losses each ('per'); when there is no room two become one. */
struct losses_curve {
    double x[LOSSES_ROOM], y[LOSSES_ROOM];
    size_t n;
    unsigned per, in_last; /* losses in a whole point, and in the one that is being filled */
    double sum_x, sum_y;
    double steps, told; /* told: steps with a loss */
};

struct losses {
    double samples; /* so far */
    bool changed;   /* the setting on trial was in force at some time */
    bool infinite;  /* a loss after that was no number */
    struct losses_curve before, after;
};

void losses_init(struct losses *l);

/* A setting that changes numbers comes into force: what follows is compared with what was. */
void losses_change(struct losses *l);

/* It stays, and what it did belongs to what the next one is compared with; or it went, and what it
 * did is forgotten. */
void losses_settle(struct losses *l, bool kept);

/* A step; samples NaN: count steps. loss NaN: not told, or no number. */
void losses_step(struct losses *l, double samples, double loss);

/* Whether enough is known of the time before to notice a change at all. */
bool losses_ready(const struct losses *l);

/* Whether the change made it worse, beyond noise: the loss is no number any more; or it is above
 * the curve of before, carried on; or above what it was. Why goes into text. */
bool losses_worse(const struct losses *l, char text[LOSSES_TEXT]);

#endif
