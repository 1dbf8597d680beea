#include "model/verdict/live.h"

static const struct {
    const char *name, *title;
} stages[] = {
    [LIVE_STORAGE] = { "storage", "Storage" }, [LIVE_CPU] = { "cpu", "CPU" },
    [LIVE_PCIE] = { "pcie", "PCIe" },          [LIVE_GPU] = { "gpu", "GPU" },
    [LIVE_NETWORK] = { "network", "Network" },
};

const char *live_stage_name(enum live_stage_id id)
{
    return stages[id].name;
}

const char *live_stage_title(enum live_stage_id id)
{
    return stages[id].title;
}

const char *live_state_name(enum live_state s)
{
    static const char *const names[] = { [LIVE_UNKNOWN] = "unknown",
                                         [LIVE_IDLE] = "idle",
                                         [LIVE_OK] = "ok",
                                         [LIVE_BUSY] = "busy",
                                         [LIVE_LIMIT] = "limit" };

    return names[s];
}

const char *live_sort_name(enum live_sort s)
{
    static const char *const names[LIVE_SORTS] = {
        [LIVE_BY_USE] = "use",   [LIVE_BY_CPU] = "cpu",     [LIVE_BY_IO] = "io",
        [LIVE_BY_READ] = "read", [LIVE_BY_WRITE] = "write", [LIVE_BY_MEMORY] = "memory",
    };

    return names[s];
}

const char *live_throttle_name(enum live_throttle bit)
{
    switch (bit) {
    case LIVE_THROTTLE_POWER:
        return "power";
    case LIVE_THROTTLE_THERMAL:
        return "thermal";
    case LIVE_THROTTLE_BRAKE:
        return "brake";
    case LIVE_THROTTLE_SYNC:
        return "sync";
    default:
        return "other";
    }
}
