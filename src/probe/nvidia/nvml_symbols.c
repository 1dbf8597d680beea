#include <dlfcn.h>

#include "probe/nvidia/nvml_session.h"

#define LIBRARY "libnvidia-ml.so.1"

/* Functions by name, the newest first: older drivers have the same one under an older name. */
static const struct {
    const char *names[2];
    size_t offset;
} symbols[] = {
    { { "nvmlInit_v2", "nvmlInit" }, offsetof(struct nvml_api, init) },
    { { "nvmlShutdown" }, offsetof(struct nvml_api, shutdown) },
    { { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" }, offsetof(struct nvml_api, count) },
    { { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" },
      offsetof(struct nvml_api, handle) },
    { { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo" }, offsetof(struct nvml_api, pci) },
    { { "nvmlDeviceGetName" }, offsetof(struct nvml_api, name) },
    { { "nvmlDeviceGetUUID" }, offsetof(struct nvml_api, uuid) },
    { { "nvmlDeviceGetUtilizationRates" }, offsetof(struct nvml_api, utilization) },
    { { "nvmlDeviceGetMemoryInfo_v2" }, offsetof(struct nvml_api, memory_v2) },
    { { "nvmlDeviceGetMemoryInfo" }, offsetof(struct nvml_api, memory) },
    { { "nvmlDeviceGetMarginTemperature" }, offsetof(struct nvml_api, margin) },
    { { "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons" },
      offsetof(struct nvml_api, reasons) },
    { { "nvmlDeviceGetFieldValues" }, offsetof(struct nvml_api, fields) },
    { { "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2" },
      offsetof(struct nvml_api, processes) },
    { { "nvmlDeviceGetComputeRunningProcesses" }, offsetof(struct nvml_api, processes_v1) },
    { { "nvmlDeviceGetProcessUtilization" }, offsetof(struct nvml_api, process_busy) },
    { { "nvmlGpmQueryDeviceSupport" }, offsetof(struct nvml_api, gpm_support) },
    { { "nvmlGpmSampleAlloc" }, offsetof(struct nvml_api, gpm_alloc) },
    { { "nvmlGpmSampleFree" }, offsetof(struct nvml_api, gpm_free) },
    { { "nvmlGpmSampleGet" }, offsetof(struct nvml_api, gpm_get) },
    { { "nvmlGpmMetricsGet" }, offsetof(struct nvml_api, gpm_metrics) },
};

static void find_symbol(void *library, const char *name, void *slot)
{
    void **function = slot;

    if (!*function && name)
        *function = dlsym(library, name);
}

void *nvml_api_open(struct nvml_api *api)
{
    void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);

    *api = (struct nvml_api){ .init = NULL };
    if (!library)
        return NULL;
    for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
        for (size_t k = 0; k < ARRAY_SIZE(symbols[i].names); k++)
            find_symbol(library, symbols[i].names[k], (char *)api + symbols[i].offset);
    for (size_t i = 0; i < NVML_ASKS; i++)
        find_symbol(library, nvml_asks[i].call, &api->asks[i]);
    if (!api->init || !api->count || !api->handle) {
        dlclose(library);
        return NULL;
    }
    return library;
}
