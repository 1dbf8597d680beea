/* GPM: what the units of a GPU did between two samples (Hopper and later). */
#include "base/clock.h"
#include "probe/nvidia/nvml_session.h"

enum { MIB = 1 << 20 };

/* NVIDIA asks for 100 ms between two samples (nvml.h, nvmlGpmSampleGet); ticks are not exact. */
enum { STEP_NS = 90 * 1000000 };

static const struct {
    unsigned id, value;
    bool is_rate; /* MiB/s, added up into a counter of bytes; else a percentage */
} metrics[] = {
    { NVML_GPM_SM_ACTIVE, GPU_SM_ACTIVE, false },
    { NVML_GPM_SM_OCCUPANCY, GPU_SM_OCCUPANCY, false },
    { NVML_GPM_TENSOR, GPU_TENSOR_ACTIVE, false },
    { NVML_GPM_DRAM, GPU_DRAM_ACTIVE, false },
    { NVML_GPM_FP64, GPU_FP64_ACTIVE, false },
    { NVML_GPM_FP32, GPU_FP32_ACTIVE, false },
    { NVML_GPM_FP16, GPU_FP16_ACTIVE, false },
    { NVML_GPM_PCIE_SENT, GPU_PCIE_SENT, true },
    { NVML_GPM_PCIE_RECEIVED, GPU_PCIE_RECEIVED, true },
    { NVML_GPM_LINK_SENT, GPU_LINK_SENT, true },
    { NVML_GPM_LINK_RECEIVED, GPU_LINK_RECEIVED, true },
};

void nvml_gpm_done(struct nvml_session *s, struct nvml_watched *g)
{
    for (int i = 0; i < 2; i++) {
        if (g->gpm[i] && s->api.gpm_free) {
            nvml_calls(s, g, "nvmlGpmSampleFree");
            s->api.gpm_free(g->gpm[i]);
        }
        g->gpm[i] = NULL;
        g->gpm_ns[i] = 0;
    }
}

/* Make room for two samples on a GPU that has GPM. */
static bool prepare(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_gpm_support support = { .version = NVML_GPM_V1 };
    int code;

    if (!s->api.gpm_support || !s->api.gpm_alloc || !s->api.gpm_get || !s->api.gpm_metrics)
        return false;
    nvml_calls(s, g, "nvmlGpmQueryDeviceSupport");
    code = s->api.gpm_support(g->device, &support);
    if (code == NVML_OK && !support.supported)
        code = NVML_NOT_SUPPORTED;
    for (int i = 0; i < 2 && code == NVML_OK; i++) {
        nvml_calls(s, g, "nvmlGpmSampleAlloc");
        code = s->api.gpm_alloc(&g->gpm[i]);
    }
    if (nvml_answered(s, g, NVML_SLOT_GPM, NVML_SLOW, code)) {
        g->next_ns[NVML_SLOT_GPM] = s->now_ns;
        return true;
    }
    nvml_gpm_done(s, g);
    return false;
}

/* Counters go on where they were, and start at 0. What a field gives is not given twice. */
static void take(struct nvml_watched *g, const struct nvml_gpm_metric *m, size_t i, double seconds)
{
    double *value = &g->now.gpu[metrics[i].value];

    if (g->by_field >> metrics[i].value & 1)
        return;
    if (!metrics[i].is_rate)
        *value = m->code == NVML_OK ? m->value / 100 : (double)NAN;
    else if (m->code == NVML_OK && isfinite(m->value) && m->value >= 0)
        *value = (isnan(*value) ? 0 : *value) + m->value * MIB * seconds;
    else if (nvml_unsupported(m->code))
        *value = (double)NAN;
}

static void read_metrics(struct nvml_session *s, struct nvml_watched *g)
{
    int newer = g->gpm_turn, older = 1 - newer;
    double seconds = (double)(g->gpm_ns[newer] - g->gpm_ns[older]) / NS_PER_S;
    bool good;

    s->gpm = (struct nvml_gpm_request){ .version = NVML_GPM_V1, .n = ARRAY_SIZE(metrics) };
    s->gpm.first = g->gpm[older];
    s->gpm.second = g->gpm[newer];
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
        s->gpm.metrics[i].id = metrics[i].id;
    nvml_calls(s, g, "nvmlGpmMetricsGet");
    good = nvml_answered(s, g, NVML_SLOT_GPM, NVML_EACH, s->api.gpm_metrics(&s->gpm));
    for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
        if (!good)
            s->gpm.metrics[i].code = NVML_NOT_SUPPORTED;
        take(g, &s->gpm.metrics[i], i, seconds);
    }
}

void nvml_read_gpm(struct nvml_session *s, struct nvml_watched *g)
{
    int64_t now_ns;
    int next = 1 - g->gpm_turn;

    if (!nvml_due(s, g, NVML_SLOT_GPM) || (!g->gpm[0] && !prepare(s, g)))
        return;
    now_ns = clock_monotonic_ns(&clock_system);
    if (g->gpm_ns[g->gpm_turn] && now_ns - g->gpm_ns[g->gpm_turn] < STEP_NS)
        return;
    nvml_calls(s, g, "nvmlGpmSampleGet");
    if (!nvml_answered(s, g, NVML_SLOT_GPM, NVML_EACH, s->api.gpm_get(g->device, g->gpm[next]))) {
        for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
            if (!metrics[i].is_rate)
                g->now.gpu[metrics[i].value] = (double)NAN;
        return;
    }
    g->gpm_ns[next] = now_ns;
    g->gpm_turn = next;
    if (g->gpm_ns[1 - next])
        read_metrics(s, g);
}
