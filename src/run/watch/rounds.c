#include "run/watch/rounds.h"

#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

/* A loop is known after so many looks and rounds, and looks since its first round: before that,
 * what is within it may last for long, too. One that begins anew in each fifth look or more often
 * lasts for no longer than a few of them: what it makes between two is not seen. A loop of more
 * than 500 rounds a second is none that trains. */
enum { LOOKS_LEAST = 20, MADE_LEAST = 3, MOVING_LEAST = 10, LOOKS_ANEW = 5, A_SECOND_MOST = 500 };

/* One that was taken for the loop is given up when it has begun anew so often, mostly soon. */
enum { BRIEF_LEAST = 4 };

/* A loop that was not seen for so many looks has ended. */
enum { LOOKS_GONE = 50 };

static struct rounds_loop *find(struct rounds *r, uint64_t slot)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->loops[i].last.slot == slot)
            return &r->loops[i];
    return NULL;
}

/* Rounds from one look to the next. Of a loop that has begun anew those are of both courses, as far
 * as it is known how long one is. It has where one around it made a round: looks may be so far
 * apart that each sees it a little further, in another course. */
static uint64_t made_since(struct rounds_loop *l, const struct rounds_seen *now, bool around)
{
    int64_t begun = 0, made = now->at - l->last.at;

    if (!around && now->iterator == l->last.iterator && made >= 0)
        return (uint64_t)made;
    l->anew++;
    l->brief += l->lasts < LOOKS_ANEW;
    l->lasts = 0;
    if (now->left >= 0 && l->whole >= now->left)
        begun = l->whole - now->left;
    else if (now->left < 0)
        begun = MAX(now->at, 0);
    return (uint64_t)MAX(l->last.left, 0) + (uint64_t)begun;
}

/* around: one that it is in has made a round. Whether this one has. */
static bool take(struct rounds *r, const struct rounds_seen *now, int64_t now_ns, bool around)
{
    struct rounds_loop *l = find(r, now->slot);
    uint64_t made;

    if (!l && r->n == ROUNDS_LOOPS)
        return false;
    if (!l) {
        l = &r->loops[r->n++];
        *l = (struct rounds_loop){ .last = *now, .first_ns = now_ns };
    }
    if (l->looks && l->at_look == r->looks)
        return false; /* the same place twice in a look */
    made = made_since(l, now, around);
    l->made += made;
    l->whole = MAX(l->whole, now->left);
    l->last = *now;
    l->looks++;
    l->lasts++;
    l->moving += l->made > 0 || l->moving;
    l->at_look = r->looks;
    return made > 0;
}

static void forget_gone(struct rounds *r)
{
    size_t kept = 0;

    for (size_t i = 0; i < r->n; i++) {
        if (r->looks - r->loops[i].at_look < LOOKS_GONE)
            r->loops[kept++] = r->loops[i];
        else if (r->loops[i].last.slot == r->slot)
            r->slot = 0;
    }
    r->n = kept;
}

/* Most of its courses lasted for a few looks. */
static bool is_brief(const struct rounds_loop *l)
{
    return 2 * l->brief > l->anew;
}

static bool is_known(const struct rounds_loop *l, int64_t now_ns)
{
    double seconds = clock_seconds(now_ns - l->first_ns);

    return l->looks >= LOOKS_LEAST && l->made >= MADE_LEAST && l->moving >= MOVING_LEAST &&
           !is_brief(l) && (double)l->made <= A_SECOND_MOST * seconds;
}

/* The innermost one that is known. */
static struct rounds_loop *choose(struct rounds *r, int64_t now_ns)
{
    struct rounds_loop *best = NULL;

    for (size_t i = 0; i < r->n; i++)
        if (is_known(&r->loops[i], now_ns) && (!best || r->loops[i].last.order > best->last.order))
            best = &r->loops[i];
    return best;
}

/* So many rounds in that time are none: another object is where the iterator was. */
static bool is_wild(const struct rounds_loop *l, int64_t ns)
{
    return (double)l->made > 2 * A_SECOND_MOST * (1 + clock_seconds(ns));
}

static void forget(struct rounds *r, struct rounds_loop *l)
{
    if (l->last.slot == r->slot)
        r->slot = 0;
    *l = r->loops[--r->n];
}

/* The rounds of others meanwhile were within its time, which is told. */
static void give_up(struct rounds *r)
{
    r->slot = 0;
    for (size_t i = 0; i < r->n; i++)
        r->loops[i].made = 0;
}

bool rounds_look(struct rounds *r, const struct rounds_seen *seen, size_t n, int64_t now_ns,
                 struct rounds_made *ret)
{
    struct rounds_loop *l;
    bool around = false;

    r->looks++;
    for (size_t i = 0; i < n; i++) {
        bool made = take(r, &seen[i], now_ns, around);

        around = around || (made && seen[i].entered);
    }
    forget_gone(r);
    l = r->slot ? find(r, r->slot) : NULL;
    if (l && l->anew >= BRIEF_LEAST && is_brief(l))
        give_up(r);
    l = r->slot ? l : choose(r, now_ns);
    if (!l || !l->made)
        return false;
    if (is_wild(l, now_ns - MAX(r->from_ns, l->first_ns))) {
        forget(r, l);
        return false;
    }
    r->from_ns = r->slot ? r->from_ns : MAX(r->from_ns, l->first_ns);
    r->slot = l->last.slot;
    *ret = (struct rounds_made){ r->from_ns, now_ns, l->made };
    l->made = 0;
    r->from_ns = now_ns;
    return true;
}
