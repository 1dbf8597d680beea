/* The driver's library of NVIDIA and its functions, for all that call them. */
#ifndef BRIM_PROBE_NVIDIA_NVML_API_H
#define BRIM_PROBE_NVIDIA_NVML_API_H
#include "probe/nvidia/nvml_abi.h"

#define NVML_LIBRARY "libnvidia-ml.so.1"

/* NULL where the installed driver has none. */
struct nvml_api {
    nvml_plain_fn *init, *shutdown;
    nvml_count_fn *count;
    nvml_handle_fn *handle;
    nvml_version_fn *driver_version, *library_version;
    nvml_cuda_fn *cuda_version;
    nvml_pci_fn *pci;
    nvml_text_fn *name, *uuid;
    nvml_capability_fn *capability;
    nvml_utilization_fn *utilization;
    nvml_memory_v2_fn *memory_v2;
    nvml_memory_fn *memory;
    nvml_margin_fn *margin;
    nvml_reasons_fn *reasons;
    nvml_pair_fn *ecc, *mig;
    nvml_fabric_v2_fn *fabric_v2;
    nvml_fabric_v1_fn *fabric_v1;
    nvml_link_fn *link_state, *link_version, *link_kind;
    nvml_link_pci_fn *link_pci;
    nvml_fields_fn *fields;
    nvml_p2p_fn *p2p;
    nvml_processes_fn *processes;
    nvml_processes_v1_fn *processes_v1;
    nvml_process_busy_fn *process_busy;
    nvml_gpm_support_fn *gpm_support;
    nvml_gpm_alloc_fn *gpm_alloc;
    nvml_gpm_free_fn *gpm_free;
    nvml_gpm_get_fn *gpm_get;
    nvml_gpm_metrics_fn *gpm_metrics;
    nvml_number_fn *power_limit;
    nvml_set_fn *set_power_limit;
    nvml_range_fn *power_limits;
    nvml_clock_fn *clock, *max_clock;
    nvml_lock_fn *lock_clocks;
    nvml_reset_fn *reset_clocks;
};

/* Open the library and find its functions: what dlclose() takes, NULL when there is none
 * (dlerror() says why). */
void *nvml_api_open(struct nvml_api *api);

/* One more function, by name: slot is the address of a pointer to it. */
void nvml_api_find(void *library, const char *name, void *slot);

#endif
