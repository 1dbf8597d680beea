#include "probe/nvidia/nvml_api.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/compiler.h"

/* Functions by name, the newest first: older drivers have the same one under an older name. */
static const struct {
    const char *names[3];
    size_t offset;
} symbols[] = {
    { { "nvmlInit_v2", "nvmlInit" }, offsetof(struct nvml_api, init) },
    { { "nvmlShutdown" }, offsetof(struct nvml_api, shutdown) },
    { { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" }, offsetof(struct nvml_api, count) },
    { { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" },
      offsetof(struct nvml_api, handle) },
    { { "nvmlSystemGetDriverVersion" }, offsetof(struct nvml_api, driver_version) },
    { { "nvmlSystemGetNVMLVersion" }, offsetof(struct nvml_api, library_version) },
    { { "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion" },
      offsetof(struct nvml_api, cuda_version) },
    { { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo" },
      offsetof(struct nvml_api, pci) },
    { { "nvmlDeviceGetName" }, offsetof(struct nvml_api, name) },
    { { "nvmlDeviceGetUUID" }, offsetof(struct nvml_api, uuid) },
    { { "nvmlDeviceGetCudaComputeCapability" }, offsetof(struct nvml_api, capability) },
    { { "nvmlDeviceGetUtilizationRates" }, offsetof(struct nvml_api, utilization) },
    { { "nvmlDeviceGetMemoryInfo_v2" }, offsetof(struct nvml_api, memory_v2) },
    { { "nvmlDeviceGetMemoryInfo" }, offsetof(struct nvml_api, memory) },
    { { "nvmlDeviceGetMarginTemperature" }, offsetof(struct nvml_api, margin) },
    { { "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons" },
      offsetof(struct nvml_api, reasons) },
    { { "nvmlDeviceGetEccMode" }, offsetof(struct nvml_api, ecc) },
    { { "nvmlDeviceGetMigMode" }, offsetof(struct nvml_api, mig) },
    { { "nvmlDeviceGetGpuFabricInfoV" }, offsetof(struct nvml_api, fabric_v2) },
    { { "nvmlDeviceGetGpuFabricInfo" }, offsetof(struct nvml_api, fabric_v1) },
    { { "nvmlDeviceGetNvLinkState" }, offsetof(struct nvml_api, link_state) },
    { { "nvmlDeviceGetNvLinkVersion" }, offsetof(struct nvml_api, link_version) },
    { { "nvmlDeviceGetNvLinkRemoteDeviceType" }, offsetof(struct nvml_api, link_kind) },
    { { "nvmlDeviceGetNvLinkRemotePciInfo_v2", "nvmlDeviceGetNvLinkRemotePciInfo" },
      offsetof(struct nvml_api, link_pci) },
    { { "nvmlDeviceGetFieldValues" }, offsetof(struct nvml_api, fields) },
    { { "nvmlDeviceGetP2PStatus" }, offsetof(struct nvml_api, p2p) },
    { { "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2" },
      offsetof(struct nvml_api, processes) },
    { { "nvmlDeviceGetComputeRunningProcesses" }, offsetof(struct nvml_api, processes_v1) },
    { { "nvmlDeviceGetProcessUtilization" }, offsetof(struct nvml_api, process_busy) },
    { { "nvmlGpmQueryDeviceSupport" }, offsetof(struct nvml_api, gpm_support) },
    { { "nvmlGpmSampleAlloc" }, offsetof(struct nvml_api, gpm_alloc) },
    { { "nvmlGpmSampleFree" }, offsetof(struct nvml_api, gpm_free) },
    { { "nvmlGpmSampleGet" }, offsetof(struct nvml_api, gpm_get) },
    { { "nvmlGpmMetricsGet" }, offsetof(struct nvml_api, gpm_metrics) },
    { { "nvmlDeviceGetPowerManagementLimit" }, offsetof(struct nvml_api, power_limit) },
    { { "nvmlDeviceSetPowerManagementLimit" }, offsetof(struct nvml_api, set_power_limit) },
    { { "nvmlDeviceGetPowerManagementLimitConstraints" }, offsetof(struct nvml_api, power_limits) },
    { { "nvmlDeviceGetClockInfo" }, offsetof(struct nvml_api, clock) },
    { { "nvmlDeviceGetMaxClockInfo" }, offsetof(struct nvml_api, max_clock) },
    { { "nvmlDeviceSetGpuLockedClocks" }, offsetof(struct nvml_api, lock_clocks) },
    { { "nvmlDeviceResetGpuLockedClocks" }, offsetof(struct nvml_api, reset_clocks) },
};

void nvml_api_find(void *library, const char *name, void *slot)
{
    void **function = slot;

    if (!*function)
        *function = dlsym(library, name);
}

void *nvml_api_open(struct nvml_api *api)
{
    void *library = dlopen(NVML_LIBRARY, RTLD_LAZY | RTLD_LOCAL);

    *api = (struct nvml_api){ .init = NULL };
    for (size_t i = 0; i < ARRAY_SIZE(symbols) && library; i++)
        for (size_t k = 0; k < ARRAY_SIZE(symbols[i].names) && symbols[i].names[k]; k++)
            nvml_api_find(library, symbols[i].names[k], (char *)api + symbols[i].offset);
    return library;
}
