#include "run/archive/trials_read.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"

enum { TRIALS_MAX = 64, TEXT_MAX = 1 << 12 };

#define TIME_MAX (INT64_MAX / 4)

static const struct run_rates no_rates = { (double)NAN, (double)NAN, (double)NAN };

static struct run_tuning *tuning_of(struct trials_read *t)
{
    struct run_tuning *new = t->tuning ? NULL : arena_alloc(&t->run->arena, sizeof(*new));

    if (new) {
        *new = (struct run_tuning){ .before = no_rates, .after = no_rates };
        t->run->tuning = t->tuning = new;
    }
    return t->tuning;
}

static int begin_trial(struct trials_read *t)
{
    struct run_tuning *to = t->tuning;
    struct run_trial *k;

    if (to->n_trials == TRIALS_MAX)
        return 0;
    k = ARENA_PUSH(&t->run->arena, &to->trials, &to->n_trials);
    if (!k)
        return -ENOMEM;
    *k = (struct run_trial){ .end = RUN_TRIAL_RUNS,
                             .gain = (double)NAN,
                             .low = (double)NAN,
                             .high = (double)NAN,
                             .speed = (double)NAN };
    return 0;
}

/* What goes on under the same key is one text. */
static int add_text(struct trials_read *t, const char **to, const char *more)
{
    if (*to && strlen(*to) + strlen(more) > TEXT_MAX)
        return 0;
    *to = arena_printf(&t->run->arena, "%s%s", *to ? *to : "", more);
    return *to ? 0 : -ENOMEM;
}

static void take_double(const char *value, double *to)
{
    double x;

    if (parse_double(value, &x) == 0 && isfinite(x))
        *to = x;
}

static void take_count(const char *value, unsigned *to)
{
    uint64_t n;

    if (parse_u64(value, &n) == 0 && n <= UINT32_MAX)
        *to = (unsigned)n;
}

static void take_time(const char *value, int64_t *to)
{
    int64_t ns;

    if (parse_i64(value, &ns) == 0 && ns >= 0 && ns <= TIME_MAX)
        *to = ns;
}

static void take_rates(const struct ini_entry *at, struct run_rates *r)
{
    if (!strcmp(at->key, "steps_per_s"))
        take_double(at->value, &r->steps_per_s);
    else if (!strcmp(at->key, "samples_per_s"))
        take_double(at->value, &r->samples_per_s);
    else if (!strcmp(at->key, "price"))
        take_double(at->value, &r->price);
}

static void take_figure(const struct ini_entry *at, struct run_trial *k)
{
    const struct {
        const char *key;
        double *to;
    } numbers[] = {
        { "gain", &k->gain }, { "low", &k->low }, { "high", &k->high }, { "speed", &k->speed }
    };

    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        if (!strcmp(at->key, numbers[i].key))
            take_double(at->value, numbers[i].to);
    if (!strcmp(at->key, "steps"))
        take_count(at->value, &k->steps);
    else if (!strcmp(at->key, "starts"))
        take_count(at->value, &k->starts);
    else if (!strcmp(at->key, "begin_ns"))
        take_time(at->value, &k->begin_ns);
    else if (!strcmp(at->key, "end_ns"))
        take_time(at->value, &k->end_ns);
    else if (!strcmp(at->key, "end"))
        (void)run_trial_end_find(at->value, &k->end);
}

static int take_trial(struct trials_read *t, const struct ini_entry *at)
{
    struct run_trial *k = &t->tuning->trials[t->tuning->n_trials - 1];
    const struct {
        const char *key, **to;
    } texts[] = { { "knob", &k->knob },
                  { "value", &k->value },
                  { "before", &k->before },
                  { "also", &k->also },
                  { "note", &k->note } };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (!strcmp(at->key, texts[i].key))
            return add_text(t, texts[i].to, at->value);
    take_figure(at, k);
    return 0;
}

static int take(struct trials_read *t, const struct ini_entry *at)
{
    bool trial = !strcmp(at->section, "trial");

    if (!trial && strcmp(at->section, "tuning") != 0 && strncmp(at->section, "tuning.", 7) != 0)
        return 0;
    if (!tuning_of(t))
        return -ENOMEM;
    if (!at->key)
        return trial ? begin_trial(t) : 0;
    if (trial)
        return t->tuning->n_trials ? take_trial(t, at) : 0;
    if (!strcmp(at->section, "tuning.before"))
        take_rates(at, &t->tuning->before);
    else if (!strcmp(at->section, "tuning.after"))
        take_rates(at, &t->tuning->after);
    else if (!strcmp(at->key, "goal"))
        (void)run_goal_find(at->value, &t->tuning->goal);
    return 0;
}

int trials_read_take(struct trials_read *t, const struct ini_entry *at, struct err *e)
{
    return take(t, at) < 0 ? err_nomem(e) : 0;
}

void trials_read_end(struct trials_read *t)
{
    size_t n = 0;

    if (!t->tuning)
        return;
    for (size_t i = 0; i < t->tuning->n_trials; i++)
        if (t->tuning->trials[i].knob && t->tuning->trials[i].value)
            t->tuning->trials[n++] = t->tuning->trials[i];
    t->tuning->n_trials = n;
}
