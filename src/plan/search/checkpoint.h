/* How often to save the state of a job: the interval that loses least to saving, to work that is
 * done again after a failure, and to restarts. Failures come at random (exponential, as hardware
 * without memory), one ends the job, which goes on from the newest whole checkpoint. */
#ifndef BRIM_PLAN_SEARCH_CHECKPOINT_H
#define BRIM_PLAN_SEARCH_CHECKPOINT_H
#include <stdbool.h>

struct checkpoint_cost {
    double stall_s;   /* training waits: all of the save, or the copy into host memory */
    double write_s;   /* behind that, beside training, until the checkpoint is whole; or 0 */
    double restart_s; /* from a failure until training goes on: noticed, started, read; or 0 */
};

/* Shares of all time; they sum to 1. */
struct checkpoint_share {
    double useful;
    double saving;   /* training waits for a save */
    double repeated; /* done again */
    double restart;
};

/* Of work and of nothing else: a checkpoint begins every interval + stall_s. */
struct checkpoint_interval {
    double young_s, daly_s; /* the usual approximations, first and higher order */
    double best_s;          /* exact */
    bool by_storage;        /* best_s is write_s: a save must be whole before the next begins */
};

/* mtbf_s: between failures of the whole job. It and stall_s are above 0. */
struct checkpoint_interval checkpoint_interval(const struct checkpoint_cost *c, double mtbf_s);

/* What becomes of the time when work is saved every interval_s (above 0). An interval below write_s
 * counts as write_s. */
struct checkpoint_share checkpoint_share(const struct checkpoint_cost *c, double mtbf_s,
                                         double interval_s);

/* Bytes of a model's state with mixed precision: weights in 16 bits, and in 32 bits the master
 * weights and both moments of Adam. With 8 or 4 bits in its products a model is saved like that
 * too. */
double checkpoint_state_b(double parameters);

#endif
