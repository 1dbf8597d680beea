/* Events by their times, against a list that is searched: many of one time, delays, and all
 * dropped at once. */
#include "sim/heap.h"

#include "tap.h"

enum { MOST = 400, ROUNDS = 3000 };

/* Numbers that repeat: 0 to n - 1. */
static int below(uint64_t *state, int n)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((*state >> 33) % (uint64_t)n);
}

/* A list of events in the order in which they were added. */
struct list {
    int64_t at_ms[MOST];
    uint32_t job[MOST];
    int n;
};

/* The first event of a list; of one time, the one that was added first. */
static int first(const struct list *l)
{
    int best = 0;

    for (int i = 1; i < l->n; i++)
        if (l->at_ms[i] < l->at_ms[best])
            best = i;
    return best;
}

static void drop(struct list *l, int at)
{
    l->n--;
    for (int i = at; i < l->n; i++) {
        l->at_ms[i] = l->at_ms[i + 1];
        l->job[i] = l->job[i + 1];
    }
}

/* Whether a heap has the first event of the list, or none. */
static bool agree(struct heap *h, const struct list *l)
{
    const struct heap_event *x = heap_first(h);
    int at = first(l);

    if (!x || l->n == 0)
        return !x && l->n == 0;
    return x->at_ms == l->at_ms[at] && x->job == l->job[at] && x->start == l->job[at] / 2;
}

static void test_order(void)
{
    struct heap h = { .n = 0 };
    struct list l = { .n = 0 };
    uint64_t chance = 11;
    int wrong = 0, most = 0;

    ok(!heap_first(&h), "a heap without events has no first one");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        int what = below(&chance, 16);

        if (what < 9 && l.n < MOST) {
            l.at_ms[l.n] = below(&chance, 50);
            l.job[l.n] = i;
            if (heap_add(&h, l.at_ms[l.n++], i, i / 2) < 0)
                break;
        } else if (what < 15 && l.n > 0) {
            drop(&l, first(&l));
            heap_pop(&h);
        } else if (below(&chance, 8) == 0) {
            heap_delay(&h, 3);
            for (int k = 0; k < l.n; k++)
                l.at_ms[k] += 3;
        } else if (below(&chance, 100) == 0) {
            heap_clear(&h);
            l.n = 0;
        }
        wrong += !agree(&h, &l);
        most = MAX(most, l.n);
    }
    while (l.n > 0) {
        wrong += !agree(&h, &l);
        drop(&l, first(&l));
        heap_pop(&h);
    }
    is_int(wrong, 0, "the first event of a heap is that of a list");
    ok(!heap_first(&h), "a heap of which all is taken has no event");
    ok(most > 64, "heaps grow while they are used (%d events)", most);
    heap_done(&h);
    ok(!h.events && h.n == 0, "a heap that is done has no events");
}

int main(void)
{
    test_order();
    return done();
}
