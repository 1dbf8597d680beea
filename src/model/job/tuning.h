/* What brim optimize tried on a job while it ran, when, and what the job did before and with all
 * that was kept. Plain data; whoever makes a struct run_tuning owns its texts and its list. */
#ifndef BRIM_MODEL_JOB_TUNING_H
#define BRIM_MODEL_JOB_TUNING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* What was to be raised: steps in a second, of a joule, of a unit of money. */
enum run_goal { RUN_GOAL_THROUGHPUT, RUN_GOAL_ENERGY, RUN_GOAL_COST };

enum run_trial_end {
    RUN_TRIAL_ADOPTED,
    RUN_TRIAL_REJECTED,
    RUN_TRIAL_UNDECIDED,
    RUN_TRIAL_FAILED,
    RUN_TRIAL_ROLLED_BACK, /* it was adopted, and did not hold */
    RUN_TRIAL_RUNS,        /* nobody saw how it ended */
    RUN_TRIAL_ENDS
};

struct run_trial {
    const char *knob, *value;
    const char *before; /* NULL: not known */
    const char *also;   /* a knob that is yes with it; NULL */
    const char *note;   /* why it failed, or was ended; NULL */
    enum run_trial_end end;
    double gain, low, high; /* 0.05: 5 % more; NaN: not measured, or without a bound */
    double speed;           /* where the goal is another: gain in steps a second; NaN */
    unsigned steps;         /* of the job, that it took */
    unsigned starts;        /* of the job, for it; 0: it was tried while the job ran */
    int64_t begin_ns;       /* by the clock of steps; 0: not while this job ran */
    int64_t end_ns;         /* when it was decided, or rolled back; 0: it was not */
};

/* All NaN where no steps were counted. */
struct run_rates {
    double steps_per_s, samples_per_s;
    double
        price; /* of a step: joules, or money, by the goal; NaN: the goal is time, or not known */
};

struct run_tuning {
    enum run_goal goal;
    struct run_rates before, after;
    struct run_trial *trials; /* in their order; settings that were not tried are none */
    size_t n_trials;
};

/* "adopted", "rejected" ..., as brim optimize --json says it; "throughput" ... */
const char *run_trial_end_name(enum run_trial_end e);
const char *run_goal_name(enum run_goal g);

/* The value of such a name: false when there is none. */
bool run_trial_end_find(const char *name, enum run_trial_end *ret);
bool run_goal_find(const char *name, enum run_goal *ret);

/* The value that was kept for a knob, "yes" for one that goes with another; NULL: none, or t is
 * NULL. */
const char *run_tuning_kept(const struct run_tuning *t, const char *knob);

/* Whether anything was kept. */
bool run_tuning_kept_any(const struct run_tuning *t);

/* Spans of time, by the clock of steps. */
struct run_span {
    int64_t from_ns, to_ns;
};

/* The longest time without a trial since the last setting was kept, in a run that was seen from
 * begin_ns to end_ns; from begin_ns on where none was. All of it without trials. */
struct run_span run_tuning_stretch(const struct run_tuning *t, int64_t begin_ns, int64_t end_ns);

/* What was gained, before and after, and the proof of each setting, in one sentence without a full
 * stop; what was tried in vain where nothing was kept. */
void run_tuning_say(const struct run_tuning *t, struct str *out);

/* "4.8 times as fast", "+25.0 %": of all that was kept; false when that is not known, or nothing
 * was kept. */
bool run_tuning_gain(const struct run_tuning *t, struct str *out);

/* "4.8 times as fast (4.7 to 4.8)", "+8.3 % steps/J (+5.1 to +11.6 %)"; bounds that are not finite
 * are left out. */
void run_effect_say(double gain, double low, double high, enum run_goal goal, struct str *out);

#endif
