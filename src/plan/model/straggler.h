/* Waiting for the slowest of several GPUs that do the same work. */
#ifndef BRIM_PLAN_MODEL_STRAGGLER_H
#define BRIM_PLAN_MODEL_STRAGGLER_H

/* The largest of n draws of a normal distribution as expected, in standard deviations above its
 * mean: 0 for one, 0.56 for two, 1.42 for 8. Between powers of 2 it is interpolated. */
double largest_of_normal(int n);

/* How much longer a step takes, as a share of its work, for 'replicas' that meet than for the 8 of
 * a node, whose waiting is in all that was fitted. 'spread': the standard deviation of one
 * micro-batch from replica to replica, over its mean. 'between': micro-batches from one meeting to
 * the next, over which what differs by chance averages out. 0 up to 8 replicas. */
double straggler_share(double spread, int replicas, int between);

#endif
