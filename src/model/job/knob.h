/* Knobs: what of a job can be changed, how, when that takes effect, and what it risks. The program
 * carries data/knobs.ini; a job's file may declare more:
 *
 *     [knob.readers]
 *     flag = --readers
 *     values = 0, 2, 4
 *
 *     [knob.rows]
 *     flag = --batch-size
 *     values = 64, 128
 *     rate = --lr 0.1 at 32        # with 64 --lr 0.2; "at 32 root": with 64 --lr 0.141421
 *     risk = numeric
 */
#ifndef BRIM_MODEL_JOB_KNOB_H
#define BRIM_MODEL_JOB_KNOB_H
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/job/condition.h"

enum knob_apply {
    KNOB_ENV,      /* an environment variable: target is its name */
    KNOB_SHIM,     /* a call of the shim: target is what the shim calls it */
    KNOB_FLAG,     /* a flag of the job's command: target is the flag */
    KNOB_LAUNCHER, /* a flag of what starts the ranks (torchrun) */
    KNOB_BINDING,  /* to CPUs and memory, when it starts */
    KNOB_DEVICE, /* a setting of the machine: a call of a device's driver, a file of the kernel's */
    KNOB_SCRIPT, /* what the job's script alone can do: it is only named */
};

enum knob_effect { KNOB_LIVE, KNOB_EPOCH, KNOB_RESTART };

enum knob_risk {
    KNOB_SAFE,       /* the same numbers come out, but for 'rounds' */
    KNOB_NUMERIC,    /* others may: only with the user's word */
    KNOB_PRIVILEGED, /* needs an operator */
};

enum knob_kind {
    KNOB_LIST,  /* "yes, no" */
    KNOB_RANGE, /* "1..64": whole numbers; "1..64 x2": doubling from the first */
    KNOB_MODEL, /* "model 0..64": a whole number that a model of the job proposes */
};

struct knob {
    const char *name; /* "loader.workers" */
    const char *what; /* "processes that load data" */
    enum knob_kind kind;
    const char **list; /* KNOB_LIST */
    size_t n_list;
    double low, high;
    bool doubles;
    enum knob_apply apply;
    const char *target;
    enum knob_effect effect;
    enum knob_risk risk;
    bool rounds; /* a safe one that may change the last digits: sums in another order */
    bool common; /* all ranks of a job have to have it, or none */
    struct condition needs;
    const char *needs_text; /* ""; for people */
    const char *undo;       /* how it is taken back, for people */
    const char *rate_flag;  /* of KNOB_FLAG: a flag that goes with it, the learning rate; NULL */
    double rate, rate_at;   /* that is right where the knob is rate_at */
    bool rate_root;         /* it grows as the square root, not as the knob does */
    bool declared;          /* by the user */
    int line;
};

enum { KNOBS_MAX = 128, KNOB_NAME_MAX = 40, KNOB_VALUE_MAX = 64 };

struct knobs {
    struct arena arena; /* owns all below */
    struct knob *list;
    size_t count;
};

void knobs_done(struct knobs *k);

/* Read the knobs of a text like data/knobs.ini: 0, -ENOMEM, or -EINVAL with a sentence that begins
 * with "file:line: ". *ret is set on success only. */
int knobs_load(struct knobs *ret, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

/* Add those that a job's file declares in sections [knob.NAME]; other sections are for others. Such
 * a knob takes effect with a restart and is safe if it does not say otherwise: naming its values is
 * the user's word. What is there already keeps its place; after an error *k is unchanged but for
 * memory. */
int knobs_declare(struct knobs *k, const char *file, const char *text, size_t len, struct err *e)
    CHECK_RESULT;

const struct knob *knobs_find(const struct knobs *k, const char *name);

/* The name that is nearest to one that is unknown, for "did you mean"; NULL. */
const char *knobs_near(const struct knobs *k, const char *name);

/* Whether a value is one that the knob takes: 0, or -EINVAL with a sentence. */
int knob_check(const struct knob *k, const char *value, struct err *e) CHECK_RESULT;

/* The i-th of the values to try; NULL behind the last, and for KNOB_MODEL. buf holds numbers. */
const char *knob_value(const struct knob *k, size_t i, char buf[KNOB_VALUE_MAX]);

/* What rate_flag is to be with a value of the knob, as a text; NULL when that is no number above
 * 0. */
const char *knob_rate(const struct knob *k, const char *value, char buf[KNOB_VALUE_MAX]);

const char *knob_apply_name(enum knob_apply a);
const char *knob_effect_name(enum knob_effect f);
const char *knob_risk_name(enum knob_risk r);

#endif
