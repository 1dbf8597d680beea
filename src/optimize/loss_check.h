/* Does a setting that changes numbers make the job learn worse? The loss against the samples seen,
 * before and after. Pure; nothing here allocates. */
#ifndef BRIM_OPTIMIZE_LOSS_CHECK_H
#define BRIM_OPTIMIZE_LOSS_CHECK_H
#include <stdbool.h>
#include <stddef.h>

enum { LOSSES_ROOM = 128, LOSSES_TEXT = 160 };

/* Means of so many losses each ('per'); when there is no room two become one. */
struct loss_check_curve {
    double x[LOSSES_ROOM], y[LOSSES_ROOM];
    size_t n;
    unsigned per, in_last; /* losses in a whole point, and in the one that is being filled */
    double sum_x, sum_y;
    double steps, told; /* told: steps with a loss */
};

struct loss_check {
    double samples; /* so far */
    bool changed;   /* the setting on trial was in force at some time */
    bool infinite;  /* a loss after that was no number */
    struct loss_check_curve before, after;
};

void loss_check_init(struct loss_check *l);

/* A setting that changes numbers comes into force: what follows is compared with what was. */
void loss_check_change(struct loss_check *l);

/* It stays, and what it did belongs to what the next one is compared with; or it went, and what it
 * did is forgotten. */
void loss_check_settle(struct loss_check *l, bool kept);

/* A step; samples NaN: count steps. loss NaN: not told, or no number. */
void loss_check_step(struct loss_check *l, double samples, double loss);

/* Whether enough is known of the time before to notice a change at all. */
bool loss_check_ready(const struct loss_check *l);

/* Whether the change made it worse, beyond noise: the loss is no number any more; or it is above
 * the curve of before, carried on; or above what it was. Why goes into text. */
bool loss_check_worse(const struct loss_check *l, char text[LOSSES_TEXT]);

#endif
