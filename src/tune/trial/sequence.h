/* Evidence that may be looked at after every observation: a mixture of sequential tests for the
 * mean of differences whose spread is not known.
 *
 * Under "the mean is m0" the t-statistic is weighed against a mean of N(0, g) standard deviations.
 * The ratio of the two likelihoods depends on t alone and is a martingale, so that by Ville's
 * inequality it ever exceeds 1/a with probability a at most, whenever one stops (Robbins 1970; Lai
 * 1976; Johari et al. 2022 for A/B tests). The bounds below are the means at which it is 1/(2a);
 * for differences that are symmetric about the mean each of the two is crossed with probability a
 * at most, if one stops at the first that is crossed. */
#ifndef BRIM_TUNE_TRIAL_SEQUENCE_H
#define BRIM_TUNE_TRIAL_SEQUENCE_H
#include <stddef.h>

#include "base/compiler.h"

struct sequence {
    size_t n;
    double mean;
    double squares; /* sum of squared distances from the mean */
};

/* Take one difference; one that is not finite is left out. */
void sequence_add(struct sequence *s, double difference);

/* How far the bounds are from the mean, each of them wrong with probability 'alpha' at most over
 * all looks; infinite while there is too little to say anything. spread is g: the variance of the
 * mean to be found, in variances of a difference. */
double sequence_half(const struct sequence *s, double alpha, double spread);

#endif
