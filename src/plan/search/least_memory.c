/* The layout that needs least memory, for models of which none fits. */
#include <math.h>

#include "plan/search/search.h"

struct near_work {
    const struct space *space;
    struct layer_bytes bytes;
    struct chunkings chunkings;
    struct shardings shardings;
    struct found_layout least;
    bool found, found_kind;
    bool larger; /* than the smallest micro-batch, which is always legal */
};

static void try_layout(struct near_work *w, const struct layout *l)
{
    struct memory m;

    memory_make(w->space->job, l, &w->bytes, &m);
    if (w->found && (m.total > w->least.memory_b ||
                     (m.total == w->least.memory_b && layout_compare(l, &w->least.layout) >= 0)))
        return;
    w->found = true;
    w->least.layout = *l;
    w->least.memory_b = m.total;
    w->least.gpus = layout_gpus(l);
}

static enum space_next try_block(void *ctx, const struct layout *l)
{
    struct near_work *w = ctx;
    struct layout one = *l;

    if (w->larger && layout_micro_batches(l, w->space->job) > 1)
        return SPACE_ON;
    w->found_kind = true;
    space_chunkings(w->space, l, &w->chunkings);
    space_shardings(w->space, l, &w->shardings);
    for (int i = 0; i < w->chunkings.n; i++) {
        chunking_set(&one, &w->chunkings.list[i]);
        for (int k = 0; k < w->shardings.n; k++) {
            /* Smaller groups need no less. */
            if (w->shardings.list[k].shard && !pins_has(w->space->pins, PIN_SHARD))
                continue;
            sharding_set(&one, &w->shardings.list[k]);
            try_layout(w, &one);
        }
    }
    return SPACE_ON;
}

/* Larger micro-batches need no less, so the smallest is enough; but one that is all of a step goes
 * with ZeRO-2. */
static bool try_cell(void *ctx, const struct layout *l)
{
    struct near_work *w = ctx;
    struct layout kinds[SPACE_KINDS];
    enum recompute again[SPACE_RECOMPUTES];
    const struct space_visit visit = { .fn = try_block, .ctx = w };
    int n = space_recomputes(w->space, again);

    w->larger = l->micro_batch > 1 && !pins_has(w->space->pins, PIN_MICRO_BATCH);
    w->found_kind = false;
    for (int k = 0, kinds_n = space_kinds(w->space, l, kinds); k < kinds_n && !w->found_kind; k++)
        for (int i = 0; i < n; i++) {
            kinds[k].recompute = again[i];
            layer_bytes(w->space->job, &kinds[k], &w->bytes);
            space_each_block(w->space, &kinds[k], &visit);
        }
    return true;
}

bool search_near(const struct space *space, struct found_layout *ret)
{
    struct near_work w = { .space = space };

    space_each_cell(space, try_cell, &w);
    if (!w.found)
        return false;
    candidate_make(space->job, space->cluster, &w.least.layout, ret);
    return true;
}
