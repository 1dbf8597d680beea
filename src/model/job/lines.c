#include "model/job/lines.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "model/job/step.h"

/* Of a stage: what is seen less does not stand out. Of a function: a line that has it is told
 * alone. Of a function's lines: one that has less is left out of their range. */
static const double stands_out = 0.3, alone = 0.5, counts = 0.1;
/* Where no function has as much, the one that called most of them is looked for, and needs that. */
static const double tied = 0.5, enclosing = 0.6;

const char *lines_stage_name(unsigned stage)
{
    if (stage == LINES_WORKER)
        return "worker";
    return stage == LINES_THREAD ? "thread" : step_stage_name(stage);
}

/* ---- counting ---- */

static bool is_same_function(const struct lines_place *a, const struct lines_place *b)
{
    return !strcmp(a->function, b->function) && !strcmp(a->file, b->file);
}

static bool is_same_place(const struct lines_place *a, const struct lines_place *b)
{
    return a->line == b->line && is_same_function(a, b);
}

static bool is_same(const struct lines_entry *a, const struct lines_entry *b)
{
    return a->stage == b->stage && is_same_place(&a->at, &b->at) &&
           is_same_place(&a->caller, &b->caller) && !strcmp(a->callee, b->callee);
}

static struct lines_entry *least_seen(struct lines *l)
{
    struct lines_entry *least = &l->entries[0];

    for (size_t i = 1; i < l->n; i++)
        if (l->entries[i].count < least->count)
            least = &l->entries[i];
    return least;
}

static void add(struct lines *l, const struct lines_entry *e)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_same(&l->entries[i], e)) {
            l->entries[i].count += e->count;
            return;
        }
    *(l->n < LINES_MOST ? &l->entries[l->n++] : least_seen(l)) = *e;
}

/* What the job did long ago counts less and less. */
static void age(struct lines *l)
{
    size_t kept = 0, total = 0;

    for (unsigned s = 0; s < LINES_STAGES; s++)
        total += l->total[s];
    if (total < LINES_TOTAL)
        return;
    for (unsigned s = 0; s < LINES_STAGES; s++)
        l->total[s] /= 2;
    for (size_t i = 0; i < l->n; i++) {
        l->entries[i].count /= 2;
        if (l->entries[i].count)
            l->entries[kept++] = l->entries[i];
    }
    l->n = kept;
}

void lines_count(struct lines *l, const struct lines_entry *e)
{
    struct lines_entry one = *e;

    if (e->stage >= LINES_STAGES)
        return;
    one.count = 1;
    l->total[e->stage]++;
    add(l, &one);
    age(l);
}

void lines_merge(struct lines *l, const struct lines *more)
{
    for (unsigned s = 0; s < LINES_STAGES; s++)
        l->total[s] += more->total[s];
    for (size_t i = 0; i < more->n; i++)
        add(l, &more->entries[i]);
    age(l);
    if (!l->off[0])
        memcpy(l->off, more->off, sizeof(l->off));
}

/* ---- finding ---- */

/* The place of an entry that is in a function: its own line, or that of its call from there. NULL:
 * it has none there. */
static const struct lines_place *place_in(const struct lines_entry *e,
                                          const struct lines_place *function, bool calls)
{
    if (is_same_function(&e->at, function))
        return &e->at;
    return calls && e->caller.file[0] && is_same_function(&e->caller, function) ? &e->caller : NULL;
}

static unsigned seen_in(const struct lines *l, unsigned stage, const struct lines_place *function,
                        bool calls)
{
    unsigned sum = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->entries[i].stage == stage && place_in(&l->entries[i], function, calls))
            sum += l->entries[i].count;
    return sum;
}

/* The function that is seen most, as the one that runs or, with its calls, as the one that called
 * what runs. NULL: there is none. */
static const struct lines_place *find_function(const struct lines *l, unsigned stage, bool calls,
                                               unsigned *ret)
{
    const struct lines_place *best = NULL;

    *ret = 0;
    for (size_t i = 0; i < l->n; i++) {
        const struct lines_entry *e = &l->entries[i];
        const struct lines_place *of = calls && e->caller.file[0] ? &e->caller : &e->at;
        unsigned seen = e->stage == stage ? seen_in(l, stage, of, calls) : 0;

        if (seen <= *ret)
            continue;
        *ret = seen;
        best = of;
    }
    return best;
}

static unsigned seen_at(const struct lines *l, unsigned stage, const struct lines_place *at,
                        bool calls)
{
    unsigned sum = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct lines_place *p = place_in(&l->entries[i], at, calls);

        if (l->entries[i].stage == stage && p && p->line == at->line)
            sum += l->entries[i].count;
    }
    return sum;
}

/* Fill in the line of that function, or the range of its lines. */
static void find_line(const struct lines *l, unsigned stage, const struct lines_place *function,
                      unsigned of, bool calls, struct lines_found *ret)
{
    unsigned most = 0, dearest = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct lines_entry *e = &l->entries[i];
        const struct lines_place *p = e->stage == stage ? place_in(e, function, calls) : NULL;
        unsigned seen = p ? seen_at(l, stage, p, calls) : 0;

        if (!p)
            continue;
        if (seen > most || (seen == most && e->count > dearest)) {
            most = seen;
            dearest = e->count;
            ret->at = p;
            ret->callee = p == &e->at ? e->callee : "";
        }
        if ((double)seen < counts * of || p->line <= 0)
            continue;
        ret->first = ret->first && ret->first < p->line ? ret->first : p->line;
        ret->last = MAX(ret->last, p->line);
    }
    if ((double)most < alone * of && ret->last > ret->first)
        ret->callee = "";
    else
        ret->first = ret->last = ret->at->line;
}

/* Wilson's lower bound. */
static double at_least(double share, double n)
{
    const double z = 1.645;

    return (share + z * z / (2 * n) - z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))) /
           (1 + z * z / n);
}

bool lines_find(const struct lines *l, unsigned stage, struct lines_found *ret)
{
    unsigned total = stage < LINES_STAGES ? l->total[stage] : 0, seen, around;
    const struct lines_place *function, *caller;
    bool calls = false;

    if (total < LINES_LEAST)
        return false;
    function = find_function(l, stage, false, &seen);
    if ((double)seen < tied * total) {
        caller = find_function(l, stage, true, &around);
        if (caller && (double)around >= enclosing * total) {
            function = caller;
            seen = around;
            calls = true;
        }
    }
    if (!function || (double)seen < stands_out * total)
        return false;
    *ret = (struct lines_found){ .share = MIN(1.0, (double)seen / total), .samples = total };
    ret->least = at_least(ret->share, total);
    find_line(l, stage, function, seen, calls, ret);
    return true;
}
