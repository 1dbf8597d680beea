#include "plan/search/plainest.h"

int layout_kinds(const struct layout *l, int domain)
{
    bool own = !stage_split_is(&l->less, &stages_even) && !stage_split_is(&l->less, &stages_ends);

    return (l->tp > 1) + (l->tp > domain) + (l->pp > 1) + own + (l->cp > 1) + (l->ep > 1) +
           (l->zero == 3);
}

bool layout_fills(double memory_b, double room_b)
{
    return memory_b > .96 * room_b;
}

static void keep(struct plainest *p, int kinds, const struct found_layout *c)
{
    if (p->has[kinds] && !found_layout_before(c, &p->list[kinds]))
        return;
    p->list[kinds] = *c;
    p->has[kinds] = true;
}

void plainest_offer(struct plainest *p, const struct found_layout *c, const struct cluster *on)
{
    bool full = layout_fills(c->memory_b, on->gpu.memory_b);

    keep(p, layout_kinds(&c->layout, on->domain) + full, c);
}

void plainest_merge(struct plainest *into, const struct plainest *from)
{
    for (int i = 0; i < PLAINEST_KINDS; i++)
        if (from->has[i])
            keep(into, i, &from->list[i]);
}

const struct found_layout *plainest_find(const struct plainest *p, double limit_s)
{
    for (int i = 0; i < PLAINEST_KINDS; i++)
        if (p->has[i] && p->list[i].time_s <= limit_s)
            return &p->list[i];
    return NULL;
}
