#include "optimize/members.h"

void members_find(struct members *ret, const struct rings *rings, const struct join *j, bool fresh)
{
    *ret = (struct members){ .world = 1 };
    for (size_t i = 0; i < rings_count(rings); i++) {
        const struct join_rank *r = &j->ranks[i];
        const struct rank_steps *l = rings_lane(rings, i);

        ret->in[i] = r->seen >= MEMBERS_STEPS && !r->closed && (!fresh || r->fresh);
        ret->n += ret->in[i];
        if (ret->in[i] && l->world > 1)
            ret->world = MAX(ret->world, (size_t)l->world);
    }
}
