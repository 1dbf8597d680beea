#include "tune/propose/propose.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "model/signal/quantity.h"
#include "tune/propose/propose_private.h"

enum { VALUES_MOST = 16 /* of a knob of which nothing is known */ };

void proposals_done(struct proposals *p)
{
    arena_done(&p->arena);
    *p = (struct proposals){ .count = 0 };
}

/* Each value of the knobs that the user declares: nothing is known of what they gain. */
void propose_declared(struct proposer *p)
{
    for (size_t i = 0; i < p->about->knobs->count; i++) {
        const struct knob *k = &p->about->knobs->list[i];
        char buf[KNOB_VALUE_MAX];

        for (size_t n = 0; k->declared && n < VALUES_MOST; n++) {
            const char *value = knob_value(k, n, buf);

            if (!value)
                break;
            propose_add(p, k->name, value, facts_look(&p->facts, k->name), (double)NAN,
                        "the job's file names it");
        }
    }
}

/* The knob of "KNOB" or "KNOB=VALUE"; *value is NULL without one. */
static const struct knob *named_knob(const struct knobs *knobs, const char *word,
                                     char name[KNOB_NAME_MAX], const char **value)
{
    size_t len = strcspn(word, "=");

    *value = word[len] ? word + len + 1 : NULL;
    if (len >= KNOB_NAME_MAX)
        return NULL;
    memcpy(name, word, len);
    name[len] = '\0';
    return knobs_find(knobs, name);
}

int propose_check(const struct knobs *knobs, const char *word, struct err *e)
{
    char name[KNOB_NAME_MAX] = "", buf[KNOB_VALUE_MAX];
    const char *value, *near;
    const struct knob *k = named_knob(knobs, word, name, &value);

    if (k && value)
        return knob_check(k, value, e);
    if (k && !knob_value(k, 0, buf))
        return err_set(e, -EINVAL, "%s takes %.0f to %.0f: name one, %s=%.0f", k->name, k->low,
                       k->high, k->name, k->high);
    if (k)
        return 0;
    near = knobs_near(knobs, name);
    return err_set(e, -EINVAL, "there is no knob '%.60s'%s%s%s", word,
                   near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

/* What the user names is tried whatever it promises. */
static void propose_named(struct proposer *p)
{
    static const char why[] = "you have named it";

    p->naming = true;
    for (const char *const *word = p->about->named; word && *word; word++) {
        char name[KNOB_NAME_MAX], buf[KNOB_VALUE_MAX];
        const char *value, *before;
        const struct knob *k = named_knob(p->about->knobs, *word, name, &value);

        if (!k)
            continue;
        before = facts_look(&p->facts, name);
        if (value)
            propose_add(p, name, value, before, (double)NAN, why);
        for (size_t n = 0; !value && n < VALUES_MOST; n++) {
            const char *each = knob_value(k, n, buf);

            if (each)
                propose_add(p, name, each, before, (double)NAN, why);
        }
    }
}

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    double first = isnan(x->gain) ? 0 : x->gain, second = isnan(y->gain) ? 0 : y->gain;

    if (first > second || first < second)
        return first < second ? 1 : -1;
    /* In the order in which they were found: texts of an arena do not move, and equal ones differ
     * by name or value. */
    return strcmp(x->knob->name, y->knob->name) ? strcmp(x->knob->name, y->knob->name)
                                                : strcmp(x->value, y->value);
}

static void say(struct proposer *p)
{
    const struct verdict *v = p->about->verdict;
    struct proposals *out = &p->out;

    if (out->count)
        out->sentence = arena_printf(&out->arena, "%zu setting%s worth a trial", out->count,
                                     out->count == 1 ? " is" : "s are");
    else if (isnan(p->step_s))
        out->sentence = arena_strdup(&out->arena, "no steps were seen, so nothing can be compared");
    else
        out->sentence = arena_printf(&out->arena,
                                     "no setting%s promises %s: data is waited for %s of the step",
                                     out->n_barred ? " that needs no word of yours" : "",
                                     quantity_share(p->about->least_gain).text,
                                     quantity_share(v->share[BRIM_STAGE_WAIT]).text);
    p->no_memory = p->no_memory || !out->sentence;
}

static void look(struct proposer *p)
{
    const struct verdict *v = p->about->verdict;
    double limit = facts_signal(&p->facts, RUN_JOB_CPU_LIMIT);
    double wait = v->share[BRIM_STAGE_WAIT];

    p->step_s = v->step_s > 0 && isfinite(v->step_s) ? v->step_s : (double)NAN;
    wait = wait >= 0 && wait <= 1 ? wait : 0;
    p->wait_s = wait * p->step_s;
    p->compute_s = p->step_s - p->wait_s;
    p->exposed = v->share[BRIM_STAGE_COMMUNICATION];
    p->cpus = facts_signal(&p->facts, RUN_CPUS);
    if (limit > 0)
        p->cpus = isnan(p->cpus) ? limit : fmin(p->cpus, limit);
    p->cpus = p->cpus > 0 ? p->cpus / facts_ranks_here(&p->facts) : (double)NAN;
}

/* The largest gain first, behind those that stand there already. */
static void rank(struct candidate *list, size_t first, size_t n)
{
    if (n > first)
        qsort(list + first, n - first, sizeof(*list), compare);
}

int propose(struct proposals *ret, const struct propose_about *about)
{
    struct proposer p = { .about = about };
    size_t won = 0, won_barred = 0;

    p.facts = (struct facts){ about->run, &p.scratch, &p.no_memory };
    look(&p);
    if (p.step_s > 0) {
        propose_won(&p);
        won = p.out.count;
        won_barred = p.out.n_barred;
        propose_loader(&p);
        propose_communication(&p);
        propose_compute(&p);
        propose_memory(&p);
        propose_machine(&p);
        propose_declared(&p);
        propose_named(&p);
    }
    rank(p.out.list, 0, won);
    rank(p.out.list, won, p.out.count);
    rank(p.out.barred, 0, won_barred);
    rank(p.out.barred, won_barred, p.out.n_barred);
    say(&p);
    arena_done(&p.scratch);
    if (p.no_memory) {
        proposals_done(&p.out);
        return -ENOMEM;
    }
    *ret = p.out;
    return 0;
}
