/* When a call of NVML is due, and what its answer means. */
#include "probe/nvidia/nvml_session.h"

bool nvml_due(const struct nvml_session *s, const struct nvml_watched *g, unsigned slot)
{
    return !s->broken && !g->now.lost && s->now_ns >= g->next_ns[slot];
}

void nvml_calls(struct nvml_session *s, const struct nvml_watched *g, const char *call)
{
    watch_at(s->where, call, (int)g->now.index);
}

bool nvml_unsupported(int code)
{
    return code == NVML_NOT_SUPPORTED || code == NVML_INVALID_ARGUMENT ||
           code == NVML_NO_PERMISSION || code == NVML_FUNCTION_NOT_FOUND ||
           code == NVML_ARGUMENT_VERSION || code == NVML_DEPRECATED;
}

static int64_t next_time(const struct nvml_session *s, enum nvml_pace pace, int code)
{
    if (nvml_unsupported(code))
        return s->now_ns + s->paces.unsupported_ns;
    if (pace == NVML_EACH)
        return s->now_ns;
    if (pace == NVML_ONCE && code == NVML_OK)
        return INT64_MAX;
    return s->now_ns + (pace == NVML_LIMIT ? s->paces.limit_ns : s->paces.slow_ns);
}

static void lose(struct nvml_session *s, struct nvml_watched *g)
{
    g->now.lost = true;
    g->lost_ns = s->now_ns + s->paces.lost_ns;
}

bool nvml_answered(struct nvml_session *s, struct nvml_watched *g, unsigned slot,
                   enum nvml_pace pace, int code)
{
    if (code == NVML_GPU_LOST)
        lose(s, g);
    if (code == NVML_UNINITIALIZED || code == NVML_DRIVER_NOT_LOADED ||
        code == NVML_LIB_RM_MISMATCH)
        s->broken = true;
    g->next_ns[slot] = next_time(s, pace, code);
    return code == NVML_OK;
}
