/* Jobs of the Muri simulator: so many iterations, each with stages, and starts that cost. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/parse.h"
#include "trace/csv.h"

/* What a start costs: seconds by model, for 1, 2, 4 ... 32 devices
 * (github.com/Rivendile/Muri, simulator/run_sim.py, Apache-2.0). */
static const struct {
    const char *model;
    uint8_t s[6];
} starts[] = {
    { "vgg16", { 7, 7, 8, 9, 9, 10 } },     { "vgg19", { 7, 7, 8, 9, 10, 10 } },
    { "resnet18", { 4, 5, 5, 7, 7, 7 } },   { "shufflenet_v2_x1_0", { 4, 4, 5, 5, 7, 8 } },
    { "bert", { 10, 10, 10, 10, 10, 10 } }, { "gpt2", { 10, 10, 10, 10, 10, 10 } },
    { "a2c", { 38, 39, 39, 46, 46, 46 } },  { "dqn", { 5, 5, 6, 6, 8, 8 } },
};

static int32_t start_ms(const char *model, int32_t devices)
{
    int size = 0;

    while (size < 5 && 1 << size < devices)
        size++;
    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (!strcmp(starts[i].model, model))
            return starts[i].s[size] * 1000;
    return -1;
}

/* How long the stages of an iteration take, where a trace says. */
static int stages(const struct trace_table *t, struct work *w)
{
    static const enum trace_column columns[WORK_STAGES] = { TRACE_READ_MS, TRACE_COMPUTE_MS,
                                                            TRACE_TALK_MS };
    static const double most_ms = 1e9;

    for (int i = 0; i < WORK_STAGES; i++) {
        double ms;

        if (!*trace_field(t, columns[i]))
            return 0;
        if (parse_double(trace_field(t, columns[i]), &ms) < 0 || !(ms >= 0 && ms <= most_ms))
            return -EINVAL;
        w->stage_ms[i] = (float)ms;
    }
    return 0;
}

int trace_iterations(const struct trace_table *t, struct work *w)
{
    /* What its jobs take beyond the time of their iterations: simulator/jobs.py. */
    static const double factor = 1.015;
    double n, each;

    if (t->at[TRACE_ITERATIONS] < 0)
        return 0;
    if (parse_double(trace_field(t, TRACE_ITERATIONS), &n) < 0 ||
        parse_double(trace_field(t, TRACE_ITERATION_MS), &each) < 0)
        return -EINVAL;
    if (!(fabs(n * each) < 1e15))
        return -ERANGE;
    w->length_ms = (int64_t)llround(n * each * factor);
    w->restart_ms = start_ms(trace_field(t, TRACE_MODEL), w->devices);
    w->step_ms = (float)each;
    return stages(t, w);
}
