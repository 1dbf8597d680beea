#include "cmd/plan/nothing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TIMES_MAX = 256, WORDS_MAX = 256 };

/* The layout of these pins that needs least memory on so many times the nodes. */
static bool nearest(const struct plan_ask *a, const struct pins *pins, int times, bool fewer,
                    struct found_layout *ret)
{
    struct space *space = calloc(1, sizeof(*space));
    struct cluster c = a->cluster;
    bool found;

    if (!space)
        return false;
    c.nodes *= times;
    space_init(space, &a->job, &c, pins, fewer);
    found = search_near(space, ret);
    free(space);
    return found;
}

static bool fits(const struct plan_ask *a, const struct pins *pins, int times, bool fewer)
{
    struct found_layout c;

    return nearest(a, pins, times, fewer, &c) && c.memory_b <= a->cluster.gpu.memory_b;
}

static bool fits_offloaded(const struct plan_ask *a, const struct pins *pins, bool fewer)
{
    struct pins p = *pins;

    if ((p.fixed | p.any) >> PIN_OFFLOAD & 1)
        return false;
    p.fixed |= 1U << PIN_OFFLOAD;
    p.layout.offload = true;
    return fits(a, &p, 1, fewer);
}

/* "; 128 of them would do". */
static void add_way_out(const struct plan_ask *a, const struct pins *pins, bool fewer,
                        struct str *out)
{
    int gpus = a->cluster.nodes * a->cluster.per_node, times = 2;
    struct pins none = { .fixed = 0 };

    if (pins->fixed && fits(a, &none, 1, fewer)) {
        str_add(out, "; without what is pinned there are layouts that fit");
        return;
    }
    while (times <= TIMES_MAX && !fits(a, pins, times, fewer))
        times *= 2;
    if (times <= TIMES_MAX)
        str_addf(out, "; %d of these GPUs would do", times * gpus);
    if (fits_offloaded(a, pins, fewer))
        str_add(out, "; so do these with --pin=offload=yes: optimizer states in the host's memory");
    else if (times > TIMES_MAX)
        str_addf(out, "; %d times as many do not help, shorter sequences (--seq) may", TIMES_MAX);
}

/* The layout is as small as it gets but for these. */
static void add_small(const struct layout *l, struct str *out)
{
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MAX);

    layout_words(l, &words);
    str_add(out, str_text(&words));
}

int plan_nothing(const struct plan_ask *a, const struct pins *pins, bool fewer, struct err *e)
{
    double room = a->cluster.gpu.memory_b;
    CLEANUP(str_done) struct str near = STR_INIT(WORDS_MAX), way = STR_INIT(WORDS_MAX);
    int gpus = a->cluster.nodes * a->cluster.per_node;
    struct found_layout c;
    struct layout l;
    int rc;

    if (!nearest(a, pins, 1, fewer, &c)) {
        rc = pins_complete(pins, &a->job, &a->cluster, &l, e);
        if (rc < 0)
            return err_context(e, rc, "no such layout is possible: ");
        return err_set(e, -EINVAL,
                       "no layout is possible: no degrees multiply to %d GPUs and divide the batch "
                       "of %d and the model",
                       gpus, a->job.global_batch);
    }
    add_small(&c.layout, &near);
    add_way_out(a, pins, fewer, &way);
    return err_set(e, -EINVAL,
                   "%.60s does not fit %d %s: the layout that needs least (%s) takes %.1f GB of "
                   "its fullest GPU, %.1f GB more than the %.0f GB there are%s",
                   a->job.shape.name, gpus, a->cluster.gpu.name, str_text(&near), c.memory_b / 1e9,
                   (c.memory_b - room) / 1e9, room / 1e9, str_text(&way));
}
