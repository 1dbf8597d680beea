#include "cmd/plan/nothing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TIMES_MAX = 256, WORDS_MAX = 512 };

/* What is asked, and room to look in. */
struct look {
    const struct plan_ask *a;
    bool fewer;
    struct space *space;
};

/* The layout of these pins that needs least memory on so many times the nodes. */
static bool nearest(const struct look *l, const struct pins *pins, int times,
                    struct found_layout *ret)
{
    struct cluster c = l->a->cluster;

    c.nodes *= times;
    space_init(l->space, &l->a->job, &c, pins, l->fewer);
    return search_near(l->space, ret);
}

static bool fits(const struct look *l, const struct pins *pins, int times)
{
    struct found_layout c;

    return nearest(l, pins, times, &c) && c.memory_b <= l->a->cluster.gpu.memory_b;
}

static bool fits_offloaded(const struct look *l, const struct pins *pins)
{
    struct pins p = *pins;

    if ((p.fixed | p.any) >> PIN_OFFLOAD & 1)
        return false;
    p.fixed |= 1U << PIN_OFFLOAD;
    p.layout.offload = true;
    return fits(l, &p, 1);
}

/* "; 128 of them would do". */
static void add_way_out(const struct look *l, const struct pins *pins, struct str *out)
{
    int gpus = l->a->cluster.nodes * l->a->cluster.per_node, times = 2;
    struct pins none = { .fixed = 0 };

    if (pins->fixed && fits(l, &none, 1)) {
        str_add(out, "; without what is pinned there are layouts that fit");
        return;
    }
    while (times <= TIMES_MAX && !fits(l, pins, times))
        times *= 2;
    if (times <= TIMES_MAX)
        str_addf(out, "; %d of these GPUs would do", times * gpus);
    if (fits_offloaded(l, pins))
        str_add(out, "; so do these with --pin=offload=yes: optimizer states in the host's memory");
    else if (times > TIMES_MAX)
        str_addf(out, "; %d times as many do not help, shorter sequences (--seq) may", TIMES_MAX);
}

int plan_nothing(const struct plan_ask *a, const struct pins *pins, bool fewer, struct err *e)
{
    double room = a->cluster.gpu.memory_b;
    CLEANUP(str_done) struct str near = STR_INIT(WORDS_MAX), way = STR_INIT(WORDS_MAX);
    CLEANUP(freep) struct space *space = calloc(1, sizeof(*space));
    const struct look look = { a, fewer, space };
    int gpus = a->cluster.nodes * a->cluster.per_node;
    struct found_layout c;
    struct layout l;
    int rc;

    if (!space)
        return err_nomem(e);
    if (!nearest(&look, pins, 1, &c)) {
        rc = pins_complete(pins, &a->job, &a->cluster, &l, e);
        if (rc < 0)
            return err_context(e, rc, "no such layout is possible: ");
        return err_set(e, -EINVAL,
                       "no layout is possible: no degrees multiply to %d GPUs and divide the batch "
                       "of %d and the model",
                       gpus, a->job.global_batch);
    }
    layout_words(&c.layout, &near);
    add_way_out(&look, pins, &way);
    if (str_error(&near) || str_error(&way))
        return err_nomem(e);
    return err_set(e, -EINVAL,
                   "%.60s does not fit %d %s: the layout that needs least (%s) takes %.1f GB of "
                   "its fullest GPU, %.1f GB more than the %.0f GB there are%s",
                   a->job.shape.name, gpus, a->cluster.gpu.name, str_text(&near), c.memory_b / 1e9,
                   (c.memory_b - room) / 1e9, room / 1e9, str_text(&way));
}
