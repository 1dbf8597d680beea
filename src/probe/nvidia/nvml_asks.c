/* The calls of one answer: a number, two shares, the parts of the memory, bits. */
#include <limits.h>

#include "probe/nvidia/nvml_session.h"

enum { PERCENT = 100, MHZ = 1000000 };

/* A driver that fails to give a value that does not change is asked again like a slow one. The
 * limits of PCIe are those of GPU and slot together. */
const struct nvml_ask nvml_asks[NVML_ASKS] = {
    { "nvmlDeviceGetTemperature", NVML_SHAPE_KIND, NVML_EACH, NVML_SENSOR_GPU, GPU_TEMPERATURE, 1 },
    { "nvmlDeviceGetClockInfo", NVML_SHAPE_KIND, NVML_EACH, NVML_CLOCK_SM, GPU_SM_CLOCK, MHZ },
    { "nvmlDeviceGetClockInfo", NVML_SHAPE_KIND, NVML_EACH, NVML_CLOCK_MEMORY, GPU_MEMORY_CLOCK,
      MHZ },
    { "nvmlDeviceGetPowerUsage", NVML_SHAPE_NUMBER, NVML_EACH, 0, GPU_POWER, 1e-3 },
    { "nvmlDeviceGetEnforcedPowerLimit", NVML_SHAPE_NUMBER, NVML_LIMIT, 0, GPU_POWER_LIMIT, 1e-3 },
    { "nvmlDeviceGetMaxClockInfo", NVML_SHAPE_KIND, NVML_ONCE, NVML_CLOCK_SM, GPU_SM_CLOCK_MAX,
      MHZ },
    { "nvmlDeviceGetCurrPcieLinkGeneration", NVML_SHAPE_NUMBER, NVML_SLOW, 0, GPU_PCIE_GEN, 1 },
    { "nvmlDeviceGetCurrPcieLinkWidth", NVML_SHAPE_NUMBER, NVML_SLOW, 0, GPU_PCIE_WIDTH, 1 },
    { "nvmlDeviceGetMaxPcieLinkGeneration", NVML_SHAPE_NUMBER, NVML_ONCE, 0, GPU_PCIE_GEN_MAX, 1 },
    { "nvmlDeviceGetMaxPcieLinkWidth", NVML_SHAPE_NUMBER, NVML_ONCE, 0, GPU_PCIE_WIDTH_MAX, 1 },
    { "nvmlDeviceGetEncoderUtilization", NVML_SHAPE_PAIR, NVML_SLOW, 0, GPU_ENCODER_BUSY,
      1.0 / PERCENT },
    { "nvmlDeviceGetDecoderUtilization", NVML_SHAPE_PAIR, NVML_SLOW, 0, GPU_DECODER_BUSY,
      1.0 / PERCENT },
    { "nvmlDeviceGetTemperatureThreshold", NVML_SHAPE_KIND, NVML_ONCE, NVML_THRESHOLD_SLOWDOWN,
      NVML_ASK_SLOWDOWN, 1 },
};

static int call(const struct nvml_ask *ask, const union nvml_ask_fn *fn, nvml_device device,
                unsigned *number)
{
    unsigned other;

    switch (ask->shape) {
    case NVML_SHAPE_PAIR:
        return fn->pair(device, number, &other);
    case NVML_SHAPE_KIND:
        return fn->kind(device, ask->kind, number);
    default:
        return fn->number(device, number);
    }
}

static void read_ask(struct nvml_session *s, struct nvml_watched *g, unsigned i)
{
    const struct nvml_ask *ask = &nvml_asks[i];
    double *value = ask->value == NVML_ASK_SLOWDOWN ? &g->slowdown_c : &g->now.gpu[ask->value];
    unsigned slot = NVML_SLOT_ASKS + i, number = 0;
    int code;

    if (!s->asks[i].number || !nvml_due(s, g, slot))
        return;
    if (ask->value < GPU_VALUES && (g->by_field >> ask->value & 1))
        return;
    nvml_calls(s, g, ask->call);
    code = call(ask, &s->asks[i], g->device, &number);
    *value = nvml_answered(s, g, slot, ask->pace, code) ? number * ask->unit : (double)NAN;
}

static void read_utilization(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_utilization u = { 0, 0 };

    if (!s->api.utilization || !nvml_due(s, g, NVML_SLOT_UTILIZATION))
        return;
    nvml_calls(s, g, "nvmlDeviceGetUtilizationRates");
    g->now.gpu[GPU_BUSY] = g->now.gpu[GPU_MEMORY_BUSY] = (double)NAN;
    if (!nvml_answered(s, g, NVML_SLOT_UTILIZATION, NVML_EACH, s->api.utilization(g->device, &u)))
        return;
    g->now.gpu[GPU_BUSY] = (double)u.gpu / PERCENT;
    g->now.gpu[GPU_MEMORY_BUSY] = (double)u.memory / PERCENT;
}

static bool read_memory_v2(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_memory_v2 m = { .version = NVML_MEMORY_V2 };

    if (!s->api.memory_v2 || !nvml_due(s, g, NVML_SLOT_MEMORY_V2))
        return false;
    nvml_calls(s, g, "nvmlDeviceGetMemoryInfo_v2");
    if (!nvml_answered(s, g, NVML_SLOT_MEMORY_V2, NVML_EACH, s->api.memory_v2(g->device, &m)))
        return false;
    g->now.gpu[GPU_MEMORY_USED] = (double)m.used;
    g->now.gpu[GPU_MEMORY_FREE] = (double)m.free;
    g->now.gpu[GPU_MEMORY_RESERVED] = (double)m.reserved;
    g->now.gpu[GPU_MEMORY_TOTAL] = (double)m.total;
    return true;
}

/* The older call counts what the driver keeps as used. */
static void read_memory(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_memory m = { 0, 0, 0 };

    g->now.gpu[GPU_MEMORY_USED] = g->now.gpu[GPU_MEMORY_FREE] = (double)NAN;
    g->now.gpu[GPU_MEMORY_RESERVED] = g->now.gpu[GPU_MEMORY_TOTAL] = (double)NAN;
    if (read_memory_v2(s, g) || !s->api.memory || !nvml_due(s, g, NVML_SLOT_MEMORY))
        return;
    nvml_calls(s, g, "nvmlDeviceGetMemoryInfo");
    if (!nvml_answered(s, g, NVML_SLOT_MEMORY, NVML_EACH, s->api.memory(g->device, &m)))
        return;
    g->now.gpu[GPU_MEMORY_USED] = (double)m.used;
    g->now.gpu[GPU_MEMORY_FREE] = (double)m.free;
    g->now.gpu[GPU_MEMORY_TOTAL] = (double)m.total;
}

/* GPUs before Hopper do not tell the margin, but the temperature that it leads to. */
static void read_margin(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_margin m = { .version = NVML_MARGIN_V1 };
    double *margin = &g->now.gpu[GPU_TEMPERATURE_MARGIN];

    *margin = g->slowdown_c - g->now.gpu[GPU_TEMPERATURE];
    if (!s->api.margin || !nvml_due(s, g, NVML_SLOT_MARGIN))
        return;
    nvml_calls(s, g, "nvmlDeviceGetMarginTemperature");
    if (nvml_answered(s, g, NVML_SLOT_MARGIN, NVML_EACH, s->api.margin(g->device, &m)))
        *margin = m.celsius;
}

static void read_reasons(struct nvml_session *s, struct nvml_watched *g)
{
    const unsigned thermal = NVML_REASON_THERMAL_SOFTWARE | NVML_REASON_THERMAL_HARDWARE;
    unsigned long long r = 0;
    double *t = g->now.throttle;

    if (!s->api.reasons || !nvml_due(s, g, NVML_SLOT_REASONS))
        return;
    for (int i = GPU_THROTTLED_POWER; i <= GPU_THROTTLED_OTHER; i++)
        t[i] = (double)NAN;
    nvml_calls(s, g, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!nvml_answered(s, g, NVML_SLOT_REASONS, NVML_EACH, s->api.reasons(g->device, &r)))
        return;
    t[GPU_THROTTLED_POWER] = (r & NVML_REASON_POWER) != 0;
    t[GPU_THROTTLED_THERMAL] = (r & thermal) != 0;
    t[GPU_THROTTLED_BRAKE] = (r & NVML_REASON_BRAKE) != 0;
    t[GPU_THROTTLED_SYNC] = (r & NVML_REASON_SYNC) != 0;
    t[GPU_THROTTLED_OTHER] = (r & NVML_REASON_HARDWARE) &&
                             !(r & (NVML_REASON_BRAKE | NVML_REASON_THERMAL_HARDWARE));
}

void nvml_read_asks(struct nvml_session *s, struct nvml_watched *g)
{
    for (unsigned i = 0; i < NVML_ASKS; i++)
        read_ask(s, g, i);
    read_utilization(s, g);
    read_memory(s, g);
    read_margin(s, g);
    read_reasons(s, g);
}
