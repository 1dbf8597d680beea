/* The course of one optimisation of a job that runs:
 *
 *     observe -> ask for candidates -> canary -> trial -> adopt -> guard -> observe ...
 *
 * Events go in, a command comes out of each; whoever drives it (the real job, a test) carries the
 * command out and tells when that is done. Every candidate that fails, loses or runs out of budget
 * is taken back. Nothing here allocates, and no clock is read. */
#ifndef BRIM_TUNE_SESSION_H
#define BRIM_TUNE_SESSION_H
#include <stdbool.h>

#include "base/str.h"
#include "model/job/profile.h"
#include "tune/propose/propose.h"
#include "tune/trial/recheck.h"

enum { SESSION_TEXT = 240, SESSION_ENTRIES = 32, SESSION_TRIALS = 12, SESSION_OFFERS = 16 };

/* What is to be raised: steps in a second, of a joule, of a unit of money. */
enum session_goal { GOAL_THROUGHPUT, GOAL_ENERGY, GOAL_COST };

struct session_plan {
    enum session_goal goal; /* what "seconds" of a step are: what it costs */
    unsigned observe;       /* steps */
    unsigned canary;        /* steps that a candidate must survive before its trial */
    double canary_slow;   /* a canary whose median is that many times the observed one is undone */
    unsigned guard;       /* steps that an adopted setting is watched for */
    unsigned switch_most; /* steps to wait for a switch before it counts as failed, */
    double switch_s;      /* if they take that long */
    unsigned trials;      /* most, SESSION_TRIALS at most; they share the 5 % of false accepts */
    unsigned steps;       /* most, in all */
    double seconds;       /* most, in all; NaN: no limit */
    uint64_t
        chance;   /* steps are looks at the power: a seed of trial_plan_wild(); 0: they are not */
    bool numeric; /* the user allows knobs that change numbers */
    bool privileged;
};

struct session_plan session_plan_usual(void);

enum session_event_kind {
    SESSION_STEP,     /* seconds: how long it took, with what is in force */
    SESSION_SWITCHED, /* the last command to apply or revert is done */
    SESSION_FAILED,   /* it could not be done, or the job failed with it; why */
    SESSION_TICK,     /* seconds: the time now, by any clock */
    SESSION_STOP,     /* the user wants no more trials; why */
    SESSION_ENDED,    /* there is no job any more; why. What was on trial stays undecided */
};

struct session_event {
    enum session_event_kind kind;
    double seconds;
    unsigned steps;  /* of SESSION_STEP: seconds are the mean of so many; 0: of one */
    const char *why; /* of SESSION_STOP and SESSION_ENDED it is kept, not copied */
};

enum session_do {
    SESSION_GO_ON,
    SESSION_ASK,    /* judge the run as it is now, and call session_offer() */
    SESSION_APPLY,  /* knob = value, then tell SESSION_SWITCHED or SESSION_FAILED */
    SESSION_REVERT, /* the same, back to the value of before */
    SESSION_FINISH, /* over: what is in force stays, and a guard of the driver's may watch it */
};

struct session_command {
    enum session_do what;
    const char *knob, *value;      /* of apply and revert; valid until the next event */
    const char *also, *also_value; /* to be set with it; NULL: nothing */
};

enum session_outcome {
    SESSION_ADOPTED,
    SESSION_REJECTED,    /* slower, or not faster by the least gain */
    SESSION_UNDECIDED,   /* pairs or budget used up */
    SESSION_BROKE,       /* failed, or the canary did */
    SESSION_ROLLED_BACK, /* adopted, and then did not hold */
    SESSION_LEFT,        /* not tried: note says why */
};

/* What was tried, why, and what it showed. */
struct session_entry {
    char knob[KNOB_NAME_MAX];
    char value[KNOB_VALUE_MAX], before[KNOB_VALUE_MAX];
    char why[SESSION_TEXT], note[SESSION_TEXT];
    enum session_outcome outcome;
    struct trial_effect effect; /* gain NaN: not measured */
    double memory_b; /* that the job's processes take more with it, at most; NaN: not known */
    double device_b; /* the same of its devices */
    double speed;    /* where the goal is another: gain in steps a second; NaN: not known */
    unsigned steps;
    unsigned starts; /* of the job, for it; 0: it was tried while the job ran */
    /* When it was decided, since the job's first steps; 0: not while it ran. */
    unsigned at_step;
    double at_s;
    int64_t begin_ns, end_ns; /* of its trial, by the clock of steps; 0: not while it ran */
    char also[KNOB_NAME_MAX]; /* a knob that is yes with it and was no before; "" */
    bool promising;           /* undecided since the trial ended early, and it looked well so far */
    bool refused;             /* it cost the job its memory, or its life: not to be tried again */
};

struct session_offer {
    char knob[KNOB_NAME_MAX];
    char value[KNOB_VALUE_MAX], before[KNOB_VALUE_MAX];
    char why[SESSION_TEXT];
    char also[KNOB_NAME_MAX];
    double gain; /* expected speed-up; NaN: not known */
};

enum session_phase {
    PHASE_OBSERVE,
    PHASE_ASK,
    PHASE_CANARY,
    PHASE_TRIAL,
    PHASE_ADOPT,
    PHASE_GUARD,
    PHASE_UNDO,
    PHASE_OVER,
};

struct session {
    struct session_plan plan;
    enum session_phase phase;
    struct session_entry entries[SESSION_ENTRIES];
    unsigned n_entries;
    struct session_offer offers[SESSION_OFFERS]; /* still to try; the first is the one on trial */
    unsigned n_offers;
    bool again;    /* they are asked for once more before the next one begins */
    bool in_force; /* the candidate is, not the value of before */
    bool also;     /* what goes with it is, which stays while a trial goes to and fro */
    bool switching, switching_to;
    unsigned waited;                  /* steps since the switch was asked for */
    double waited_s;                  /* and their seconds */
    unsigned trials, steps, begun_at; /* begun_at: steps when this candidate began */
    double start_s;
    const char *ending;              /* why no trial begins any more; NULL */
    double values[TRIAL_BLOCK_MOST]; /* of observing and canaries */
    unsigned n, counted, skipped;    /* values; their steps; those before them */
    double observed_s;               /* median */
    bool begun;                      /* the trial has what was observed as its first block */
    struct trial trial;
    struct recheck guard;
    unsigned guarded;
    const char *reason; /* why it ended; NULL before */
};

/* plan NULL: the usual. */
void session_init(struct session *s, const struct session_plan *plan);

struct session_command session_event(struct session *s, const struct session_event *e);

/* Candidates, the most promising first, after SESSION_ASK; only then. What needs a restart, or a
 * word that was not given, or cannot be undone is written down as left. */
struct session_command session_offer(struct session *s, const struct candidate *list, size_t n);

/* Write a candidate down that is not for this session, for a reason of the driver's. */
void session_leave(struct session *s, const struct candidate *c, const char *why);

/* Write down that a value of an entry's knob is not to be tried again, and why. */
void session_refuse(struct session *s, const struct session_entry *k, const char *value,
                    const char *why);

/* Whether the next step is left out whatever it takes: it need not be made one of a group. */
bool session_skips(const struct session *s);

/* Whether a setting was tried or written down. */
bool session_has(const struct session *s, const char *knob, const char *value);

const char *session_outcome_name(enum session_outcome o);

/* Add what was adopted and held. 0, -ENOMEM or -EINVAL as profile_set(). */
int session_profile(const struct session *s, const char *date, struct profile *to, struct err *e)
    CHECK_RESULT;

#endif
