#include "run/watch/rounds.h"

#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

/* A loop is known after so many looks and rounds. One that begins anew in each fifth look or more
 * often lasts for no longer than a few of them: what it makes between two is not seen. A loop of
 * more than 500 rounds a second is none that trains. */
enum { LOOKS_LEAST = 20, MADE_LEAST = 3, LOOKS_ANEW = 5, A_SECOND_MOST = 500 };

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
 * as it is known how long one is. */
static uint64_t made_since(struct rounds_loop *l, const struct rounds_seen *now)
{
    int64_t begun = 0, made = now->at - l->last.at;

    if (now->iterator == l->last.iterator && made >= 0)
        return (uint64_t)made;
    l->anew++;
    if (now->left >= 0 && l->whole >= now->left)
        begun = l->whole - now->left;
    else if (now->left < 0)
        begun = MAX(now->at, 0);
    return (uint64_t)MAX(l->last.left, 0) + (uint64_t)begun;
}

static void take(struct rounds *r, const struct rounds_seen *now, int64_t now_ns)
{
    struct rounds_loop *l = find(r, now->slot);

    if (!l && r->n == ROUNDS_LOOPS)
        return;
    if (!l) {
        l = &r->loops[r->n++];
        *l = (struct rounds_loop){ .last = *now, .first_ns = now_ns };
    }
    if (l->looks && l->at_look == r->looks)
        return; /* the same place twice in a look */
    l->made += made_since(l, now);
    l->whole = MAX(l->whole, now->left);
    l->last = *now;
    l->looks++;
    l->at_look = r->looks;
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

static bool is_known(const struct rounds_loop *l, int64_t now_ns)
{
    double seconds = clock_seconds(now_ns - l->first_ns);

    return l->looks >= LOOKS_LEAST && l->made >= MADE_LEAST && l->anew * LOOKS_ANEW < l->looks &&
           (double)l->made <= A_SECOND_MOST * seconds;
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

bool rounds_look(struct rounds *r, const struct rounds_seen *seen, size_t n, int64_t now_ns,
                 struct rounds_made *ret)
{
    struct rounds_loop *l;

    r->looks++;
    for (size_t i = 0; i < n; i++)
        take(r, &seen[i], now_ns);
    forget_gone(r);
    l = r->slot ? find(r, r->slot) : choose(r, now_ns);
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
