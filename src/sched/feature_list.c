/* The features that there are, in the order in which their functions are called. */
#include "sched/feature_list.h"

#include <assert.h>

#include "base/compiler.h"
#include "sched/feature/data.h"
#include "sched/feature/deadline.h"
#include "sched/feature/device_sharing.h"
#include "sched/feature/elastic.h"
#include "sched/feature/idle.h"
#include "sched/feature/power.h"
#include "sched/feature/quota.h"
#include "sched/feature/reclaim.h"
#include "sched/feature/service.h"
#include "sched/feature/spot.h"

const struct feature *const features[] = {
    &feature_power,
    &feature_deadline,
    &feature_idle,
    &feature_device_sharing,
    &feature_spot,
    &feature_service,
    &feature_reclaim,
    &feature_elastic,
    &feature_data,
    &feature_quota,
    NULL,
};

typedef void (*any_fn)(void);

/* A function of a feature, and the list of those that have it. */
static const struct {
    size_t function, list;
    bool backwards;
} hooks[] = {
#define HOOK(name, backwards) \
    { \
        offsetof(struct feature, name), offsetof(struct feature_hooks, name), backwards \
    }
    HOOK(queued, false),     HOOK(unqueued, false), HOOK(starts, false),   HOOK(stops, true),
    HOOK(allows, false),     HOOK(narrows, false),  HOOK(accepts, false),  HOOK(lifts, false),
    HOOK(could_free, false), HOOK(frees, false),    HOOK(begin, false),    HOOK(finish, true),
    HOOK(runs, false),       HOOK(used, false),     HOOK(preempts, false), HOOK(pass, false),
    HOOK(again_ms, false),   HOOK(reason, false),   HOOK(remark, false),
#undef HOOK
};

void feature_hooks_make(struct feature_hooks *h, uint32_t on)
{
    static_assert(ARRAY_SIZE(features) - 1 <= FEATURE_MOST, "more features than a list holds");

    for (size_t k = 0; k < ARRAY_SIZE(hooks); k++) {
        const struct feature **list = (const struct feature **)(void *)((char *)h + hooks[k].list);

        for (size_t i = 0; i < ARRAY_SIZE(features) - 1; i++) {
            size_t at = hooks[k].backwards ? ARRAY_SIZE(features) - 2 - i : i;
            const char *feature = (const char *)features[at];
            any_fn function = *(const any_fn *)(const void *)(feature + hooks[k].function);

            if (on >> at & 1 && function)
                *list++ = features[at];
        }
        *list = NULL;
    }
}
