/* Stages of a step, as the report orders and names them. */
#include <math.h>

#include "render/report/report_private.h"

/* The order of an assembly line, which is not that of the numbers. */
static const struct {
    unsigned stage;
    const char *title;
} line[BRIM_STAGES] = {
    { BRIM_STAGE_WAIT, "wait for data" },
    { BRIM_STAGE_COPY, "copy to device" },
    { BRIM_STAGE_FORWARD, "forward" },
    { BRIM_STAGE_BACKWARD, "backward" },
    { BRIM_STAGE_COMMUNICATION, "communication" },
    { BRIM_STAGE_OPTIMIZER, "optimizer" },
    { BRIM_STAGE_CHECKPOINT, "checkpoint" },
    { BRIM_STAGE_OTHER, "other" },
};

unsigned report_stage_at(unsigned place)
{
    return line[place].stage;
}

const char *report_stage_title(unsigned stage)
{
    unsigned place = 0;

    while (place + 1 < BRIM_STAGES && line[place].stage != stage)
        place++;
    return line[place].title;
}

/* The stage that a cause shows in; -1: in whatever takes longest. */
static int stage_of_cause(enum cause c)
{
    switch (c) {
    case CAUSE_STORAGE_BANDWIDTH:
    case CAUSE_STORAGE_LATENCY:
    case CAUSE_SMALL_FILES:
    case CAUSE_STORAGE_CONTENTION:
    case CAUSE_LOADER_CPU:
    case CAUSE_LOADER_WAITS:
    case CAUSE_FEW_WORKERS:
        return BRIM_STAGE_WAIT;
    case CAUSE_PAGEABLE_COPY:
    case CAUSE_PCIE:
        return BRIM_STAGE_COPY;
    case CAUSE_COMMUNICATION:
    case CAUSE_SLOW_LINK:
    case CAUSE_LOSSY_NETWORK:
        return BRIM_STAGE_COMMUNICATION;
    case CAUSE_CHECKPOINT:
        return BRIM_STAGE_CHECKPOINT;
    default:
        return -1;
    }
}

int report_worst_stage(const struct report *p)
{
    const struct verdict *v = p->verdict;
    int worst;

    if (!v->count || v->items[0].cause == CAUSE_NONE || v->items[0].cause == CAUSE_UNKNOWN)
        return -1;
    worst = stage_of_cause(v->items[0].cause);
    if (worst >= 0 && v->share[worst] > 0)
        return worst;
    worst = -1;
    for (int i = 0; i < BRIM_STAGES; i++)
        if (v->share[i] > 0 && (worst < 0 || v->share[i] > v->share[worst]))
            worst = i;
    return worst;
}
