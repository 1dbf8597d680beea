#include "model/job/tuning.h"

#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"

enum { LISTED = 3 /* that were tried in vain */ };

static const char *const ends[RUN_TRIAL_ENDS] = {
    [RUN_TRIAL_ADOPTED] = "adopted",         [RUN_TRIAL_REJECTED] = "rejected",
    [RUN_TRIAL_UNDECIDED] = "undecided",     [RUN_TRIAL_FAILED] = "failed",
    [RUN_TRIAL_ROLLED_BACK] = "rolled back", [RUN_TRIAL_RUNS] = "running",
};

static const char *const goals[] = {
    [RUN_GOAL_THROUGHPUT] = "throughput",
    [RUN_GOAL_ENERGY] = "energy",
    [RUN_GOAL_COST] = "cost",
};

static const double times_from = 1; /* gain from which a factor reads better than per cents */

const char *run_trial_end_name(enum run_trial_end e)
{
    return ends[e];
}

const char *run_goal_name(enum run_goal g)
{
    return goals[g];
}

bool run_trial_end_find(const char *name, enum run_trial_end *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (!strcmp(ends[i], name)) {
            *ret = (enum run_trial_end)i;
            return true;
        }
    return false;
}

bool run_goal_find(const char *name, enum run_goal *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(goals); i++)
        if (!strcmp(goals[i], name)) {
            *ret = (enum run_goal)i;
            return true;
        }
    return false;
}

const char *run_tuning_kept(const struct run_tuning *t, const char *knob)
{
    for (size_t i = t ? t->n_trials : 0; i-- > 0;) {
        const struct run_trial *k = &t->trials[i];

        if (k->end != RUN_TRIAL_ADOPTED)
            continue;
        if (!strcmp(k->knob, knob))
            return k->value;
        if (k->also && !strcmp(k->also, knob))
            return "yes";
    }
    return NULL;
}

static size_t count(const struct run_tuning *t, enum run_trial_end end)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_trials; i++)
        n += t->trials[i].end == end;
    return n;
}

bool run_tuning_kept_any(const struct run_tuning *t)
{
    return count(t, RUN_TRIAL_ADOPTED) > 0;
}

/* ---- when ---- */

static int64_t adopted_last_ns(const struct run_tuning *t, int64_t begin_ns)
{
    for (size_t i = 0; i < t->n_trials; i++)
        if (t->trials[i].end == RUN_TRIAL_ADOPTED && t->trials[i].begin_ns)
            begin_ns = MAX(begin_ns, t->trials[i].end_ns);
    return begin_ns;
}

/* The begin of the first trial from a time on, and its end; end_ns where there is none. */
static struct run_span next_trial(const struct run_tuning *t, int64_t from_ns, int64_t end_ns)
{
    struct run_span next = { end_ns, end_ns };

    for (size_t i = 0; i < t->n_trials; i++) {
        const struct run_trial *k = &t->trials[i];
        int64_t until_ns = k->end_ns ? k->end_ns : end_ns;

        if (k->begin_ns && until_ns > from_ns && k->begin_ns < next.from_ns)
            next = (struct run_span){ MAX(k->begin_ns, from_ns), until_ns };
    }
    return next;
}

struct run_span run_tuning_stretch(const struct run_tuning *t, int64_t begin_ns, int64_t end_ns)
{
    struct run_span longest = { begin_ns, end_ns }, trial;
    int64_t from_ns = t ? adopted_last_ns(t, begin_ns) : begin_ns, most_ns = 0;

    if (!t)
        return longest;
    longest.from_ns = from_ns;
    for (; from_ns < end_ns; from_ns = trial.to_ns) {
        trial = next_trial(t, from_ns, end_ns);
        if (trial.from_ns - from_ns <= most_ns)
            continue;
        most_ns = trial.from_ns - from_ns;
        longest = (struct run_span){ from_ns, trial.from_ns };
    }
    return longest;
}

/* ---- words ---- */

void run_effect_say(double gain, double low, double high, enum run_goal goal, struct str *out)
{
    static const char *const what[] = { [RUN_GOAL_THROUGHPUT] = "steps/s",
                                        [RUN_GOAL_ENERGY] = "steps/J",
                                        [RUN_GOAL_COST] = "steps for the money" };

    if (gain >= times_from && goal == RUN_GOAL_THROUGHPUT)
        str_addf(out, "%.1f times as fast", 1 + gain);
    else if (gain >= times_from)
        str_addf(out, "%.1f times the %s", 1 + gain, what[goal]);
    else
        str_addf(out, "%+.1f %% %s", gain * 100, what[goal]);
    if (!isfinite(high) || !isfinite(low))
        return;
    if (gain >= times_from)
        str_addf(out, " (%.1f to %.1f)", 1 + low, 1 + high);
    else
        str_addf(out, " (%+.1f to %+.1f %%)", low * 100, high * 100);
}

/* By all that was kept, of what the goal counts. */
static double gain_of(const struct run_tuning *t)
{
    if (t->goal == RUN_GOAL_THROUGHPUT)
        return t->after.steps_per_s / t->before.steps_per_s - 1;
    return t->before.price / t->after.price - 1;
}

bool run_tuning_gain(const struct run_tuning *t, struct str *out)
{
    double gain = gain_of(t);

    if (!run_tuning_kept_any(t) || !isfinite(gain))
        return false;
    run_effect_say(gain, (double)NAN, (double)NAN, t->goal, out);
    return true;
}

static void say_setting(const struct run_trial *k, struct str *out)
{
    str_addf(out, "%s=%s", k->knob, k->value);
    if (k->also)
        str_addf(out, " with %s=yes", k->also);
    if (k->before)
        str_addf(out, " instead of %s", k->before);
}

/* "+8.3 % steps/s (+5.1 to +11.6 %) in 725 steps". */
static void say_proof(const struct run_trial *k, enum run_goal goal, struct str *out)
{
    if (isnan(k->gain))
        str_add(out, "not measured");
    else
        run_effect_say(k->gain, k->low, k->high, goal, out);
    if (!isnan(k->gain) && goal != RUN_GOAL_THROUGHPUT && isfinite(k->speed))
        str_addf(out, " at %+.1f %% steps/s", k->speed * 100);
    if (k->steps)
        str_addf(out, " in %u steps", k->steps);
    if (k->steps && k->starts)
        str_addf(out, " of %u starts", k->starts);
}

/* "185 steps/s before and 893 after", by what the goal counts. */
static void say_rates(const struct run_tuning *t, struct str *out)
{
    struct quantity was, is;

    switch (t->goal) {
    case RUN_GOAL_ENERGY:
        was = quantity_number(t->before.price, 3);
        is = quantity_number(t->after.price, 3);
        str_addf(out, ", %s J a step before and %s J after", was.text, is.text);
        break;
    case RUN_GOAL_COST:
        was = quantity_number(t->before.price * 1e6, 4);
        is = quantity_number(t->after.price * 1e6, 4);
        str_addf(out, ", a million steps for %s before and for %s after", was.text, is.text);
        break;
    default:
        was = quantity_number(t->before.steps_per_s, 3);
        is = quantity_number(t->after.steps_per_s, 3);
        str_addf(out, ", %s steps/s before and %s after", was.text, is.text);
    }
}

static void say_kept(const struct run_tuning *t, struct str *out)
{
    const char *comma = ": ";

    str_add(out, "brim optimize ");
    if (isfinite(gain_of(t))) {
        str_add(out, "gained ");
        run_tuning_gain(t, out);
        say_rates(t, out);
    } else {
        str_add(out, "kept what paid, and the job ended before its speed with that was seen");
    }
    for (size_t i = 0; i < t->n_trials; i++) {
        if (t->trials[i].end != RUN_TRIAL_ADOPTED)
            continue;
        str_add(out, comma);
        say_setting(&t->trials[i], out);
        str_add(out, ", ");
        say_proof(&t->trials[i], t->goal, out);
        comma = "; ";
    }
}

static const char *taken_back(enum run_trial_end e)
{
    static const char *const words[RUN_TRIAL_ENDS] = {
        [RUN_TRIAL_ADOPTED] = "kept",
        [RUN_TRIAL_REJECTED] = "taken back",
        [RUN_TRIAL_UNDECIDED] = "undecided and taken back",
        [RUN_TRIAL_ROLLED_BACK] = "kept, and taken back as it did not last",
        [RUN_TRIAL_RUNS] = "on trial when brim was ended",
    };

    return words[e];
}

static void say_vain(const struct run_tuning *t, const struct run_trial *k, struct str *out)
{
    say_setting(k, out);
    if (k->end == RUN_TRIAL_FAILED) {
        str_addf(out, " failed%s%s", k->note ? ": " : "", k->note ? k->note : "");
        return;
    }
    if (!isnan(k->gain)) {
        str_add(out, ", ");
        say_proof(k, t->goal, out);
    }
    str_addf(out, ", %s", taken_back(k->end));
}

/* What failed is always told: it may have ended the job. */
static bool is_listed(const struct run_trial *k, bool kept, size_t listed)
{
    if (k->end == RUN_TRIAL_ADOPTED)
        return false;
    if (k->end == RUN_TRIAL_FAILED || k->end == RUN_TRIAL_RUNS)
        return true;
    return !kept && listed < LISTED;
}

static void say_others(const struct run_tuning *t, struct str *out)
{
    size_t adopted = count(t, RUN_TRIAL_ADOPTED), listed = 0, left;

    for (size_t i = 0; i < t->n_trials; i++) {
        if (!is_listed(&t->trials[i], adopted > 0, listed))
            continue;
        str_add(out, listed++ || adopted ? "; " : ": ");
        say_vain(t, &t->trials[i], out);
    }
    left = t->n_trials - adopted - listed;
    if (left)
        str_addf(out, "; %zu other%s did not pay", left, str_plural(left));
}

void run_tuning_say(const struct run_tuning *t, struct str *out)
{
    if (run_tuning_kept_any(t))
        say_kept(t, out);
    else if (t->n_trials)
        str_addf(out, "brim optimize tried %zu setting%s and kept none", t->n_trials,
                 str_plural(t->n_trials));
    else
        str_add(out, "brim optimize found no setting that was worth a trial");
    say_others(t, out);
}
