/* The calls of the fake NVML that measure. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/compiler.h"
#include "fake_live.h"
#include "fake_nvml.h"
#include "probe/nvidia/nvml_abi.h"

#ifdef FAKE_OLD
#define nvmlDeviceGetCurrentClocksEventReasons nvmlDeviceGetCurrentClocksThrottleReasons
EXPORT nvml_processes_v1_fn nvmlDeviceGetComputeRunningProcesses;
#else
EXPORT nvml_memory_v2_fn nvmlDeviceGetMemoryInfo_v2;
EXPORT nvml_margin_fn nvmlDeviceGetMarginTemperature;
EXPORT nvml_processes_fn nvmlDeviceGetComputeRunningProcesses_v3;
EXPORT nvml_process_busy_fn nvmlDeviceGetProcessUtilization;
EXPORT nvml_gpm_support_fn nvmlGpmQueryDeviceSupport;
EXPORT nvml_gpm_alloc_fn nvmlGpmSampleAlloc;
EXPORT nvml_gpm_free_fn nvmlGpmSampleFree;
EXPORT nvml_gpm_get_fn nvmlGpmSampleGet;
EXPORT nvml_gpm_metrics_fn nvmlGpmMetricsGet;
#endif
EXPORT nvml_number_fn nvmlDeviceGetPowerUsage, nvmlDeviceGetEnforcedPowerLimit;
EXPORT nvml_pair_fn nvmlDeviceGetEncoderUtilization, nvmlDeviceGetDecoderUtilization;
EXPORT nvml_clock_fn nvmlDeviceGetTemperature, nvmlDeviceGetTemperatureThreshold;
EXPORT nvml_utilization_fn nvmlDeviceGetUtilizationRates;
EXPORT nvml_reasons_fn nvmlDeviceGetCurrentClocksEventReasons;

static int give(int code, nvml_device device, const char *name, unsigned *to)
{
    double number;

    *to = 1; /* nonsense, where an error is answered */
    if (code != NVML_OK)
        return code;
    if (!live_number(fake_index(device), name, &number))
        return NVML_NOT_SUPPORTED;
    *to = (unsigned)number;
    return NVML_OK;
}

#define NUMBER(call, name) \
    int call(nvml_device device, unsigned *number) \
    { \
        return give(fake_about(#call, device), device, name, number); \
    }
#define PAIR(call, name) \
    int call(nvml_device device, unsigned *number, unsigned *period_us) \
    { \
        *period_us = 100000; \
        return give(fake_about(#call, device), device, name, number); \
    }
#define KIND(call, name, asked) \
    int call(nvml_device device, unsigned kind, unsigned *number) \
    { \
        if (kind != (asked)) \
            return NVML_INVALID_ARGUMENT; \
        return give(fake_about(#call, device), device, name, number); \
    }

NUMBER(nvmlDeviceGetEnforcedPowerLimit, "enforced_limit_mw")
PAIR(nvmlDeviceGetEncoderUtilization, "encoder")
PAIR(nvmlDeviceGetDecoderUtilization, "decoder")
KIND(nvmlDeviceGetTemperature, "temperature", NVML_SENSOR_GPU)
KIND(nvmlDeviceGetTemperatureThreshold, "slowdown", NVML_THRESHOLD_SLOWDOWN)

int nvmlDeviceGetPowerUsage(nvml_device device, unsigned *mw)
{
    int limit = fake_limit(fake_index(device));
    int code = give(fake_about("nvmlDeviceGetPowerUsage", device), device, "power_mw", mw);

    if (code == NVML_OK && limit >= 0)
        *mw = MIN(*mw, (unsigned)limit);
    if (code == NVML_OK)
        *mw = (unsigned)(*mw * fake_clock_share(fake_index(device)));
    return code;
}

int nvmlDeviceGetUtilizationRates(nvml_device device, struct nvml_utilization *utilization)
{
    int code = fake_about("nvmlDeviceGetUtilizationRates", device);

    code = give(code, device, "utilization", &utilization->gpu);
    return give(code, device, "memory_utilization", &utilization->memory);
}

int nvmlDeviceGetCurrentClocksEventReasons(nvml_device device, unsigned long long *reasons)
{
    unsigned bits = 0;
    int code = give(fake_about("nvmlDeviceGetCurrentClocksEventReasons", device), device, "reasons",
                    &bits);

    *reasons = bits;
    return code;
}

#ifdef FAKE_OLD
int nvmlDeviceGetComputeRunningProcesses(nvml_device device, unsigned *count,
                                         struct nvml_process_v1 *list)
{
    int code = fake_about("nvmlDeviceGetComputeRunningProcesses", device);
    double memory_b, busy;
    unsigned n = 0, pid;

    for (; n < *count && live_process(fake_index(device), n, &pid, &memory_b, &busy); n++)
        list[n] = (struct nvml_process_v1){ .pid = pid, .used_b = (unsigned long long)memory_b };
    *count = n;
    return code;
}
#else
int nvmlDeviceGetMemoryInfo_v2(nvml_device device, struct nvml_memory_v2 *memory)
{
    int code = fake_about("nvmlDeviceGetMemoryInfo_v2", device);
    double used = 0, reserved = 0, total = 0;

    if (code != NVML_OK)
        return code;
    if (memory->version != NVML_MEMORY_V2)
        return NVML_ARGUMENT_VERSION;
    if (!live_number(fake_index(device), "memory_total_b", &total) ||
        !live_number(fake_index(device), "memory_used_b", &used))
        return NVML_NOT_SUPPORTED;
    live_number(fake_index(device), "memory_reserved_b", &reserved);
    *memory = (struct nvml_memory_v2){ .version = NVML_MEMORY_V2,
                                       .total = (unsigned long long)total,
                                       .used = (unsigned long long)used,
                                       .reserved = (unsigned long long)reserved,
                                       .free = (unsigned long long)(total - used - reserved) };
    return NVML_OK;
}

int nvmlDeviceGetMarginTemperature(nvml_device device, struct nvml_margin *margin)
{
    int code = fake_about("nvmlDeviceGetMarginTemperature", device);
    double celsius;

    if (code != NVML_OK)
        return code;
    if (margin->version != NVML_MARGIN_V1)
        return NVML_ARGUMENT_VERSION;
    if (!live_number(fake_index(device), "margin", &celsius))
        return NVML_NOT_SUPPORTED;
    margin->celsius = (int)celsius;
    return NVML_OK;
}

int nvmlDeviceGetComputeRunningProcesses_v3(nvml_device device, unsigned *count,
                                            struct nvml_process *list)
{
    int code = fake_about("nvmlDeviceGetComputeRunningProcesses_v3", device);
    double memory_b, busy, many;
    unsigned n = 0, pid;

    if (live_number(fake_index(device), "processes", &many)) {
        *count = (unsigned)many; /* more than the caller has room for */
        return NVML_INSUFFICIENT_SIZE;
    }
    for (; n < *count && live_process(fake_index(device), n, &pid, &memory_b, &busy); n++)
        list[n] = (struct nvml_process){ .pid = pid,
                                         .used_b = memory_b < 0 ? ~0ULL
                                                                : (unsigned long long)memory_b,
                                         .instance = UINT_MAX };
    *count = n;
    return code;
}

/* Only processes that are busy have a sample, which is taken right now. */
int nvmlDeviceGetProcessUtilization(nvml_device device, struct nvml_process_busy *list,
                                    unsigned *count, unsigned long long since)
{
    int code = fake_about("nvmlDeviceGetProcessUtilization", device);
    struct timespec now;
    double memory_b, busy;
    unsigned n = 0, pid;

    clock_gettime(CLOCK_REALTIME, &now);
    for (size_t i = 0; n < *count && live_process(fake_index(device), i, &pid, &memory_b, &busy);
         i++)
        if (busy > 0)
            list[n++] = (struct nvml_process_busy){
                .pid = pid,
                .timestamp = (unsigned long long)(now.tv_sec * 1000000 + now.tv_nsec / 1000),
                .sm = (unsigned)(busy * 100 + 0.5),
            };
    *count = n;
    (void)since;
    return code == NVML_OK && n == 0 ? NVML_NOT_FOUND : code;
}

/* ---- GPM: a sample remembers its GPU ---- */

struct nvml_gpm_opaque {
    nvml_device device;
};

int nvmlGpmQueryDeviceSupport(nvml_device device, struct nvml_gpm_support *support)
{
    int code = fake_about("nvmlGpmQueryDeviceSupport", device);
    double number = 0;

    if (support->version != NVML_GPM_V1)
        return NVML_ARGUMENT_VERSION;
    live_number(fake_index(device), "gpm", &number);
    support->supported = number > 0;
    return code;
}

int nvmlGpmSampleAlloc(nvml_gpm_sample *sample)
{
    *sample = calloc(1, sizeof(**sample));
    return *sample ? NVML_OK : NVML_UNKNOWN_ERROR;
}

int nvmlGpmSampleFree(nvml_gpm_sample sample)
{
    free(sample);
    return NVML_OK;
}

int nvmlGpmSampleGet(nvml_device device, nvml_gpm_sample sample)
{
    sample->device = device;
    return fake_about("nvmlGpmSampleGet", device);
}

int nvmlGpmMetricsGet(struct nvml_gpm_request *r)
{
    nvml_device device = r->first->device;
    int code = fake_about("nvmlGpmMetricsGet", device);
    char name[32];

    if (r->version != NVML_GPM_V1 || r->second->device != device)
        return NVML_INVALID_ARGUMENT;
    for (unsigned i = 0; i < r->n && code == NVML_OK; i++) {
        snprintf(name, sizeof(name), "gpm %u", r->metrics[i].id);
        r->metrics[i].code = live_number(fake_index(device), name, &r->metrics[i].value)
                                 ? NVML_OK
                                 : NVML_NOT_SUPPORTED;
    }
    return code;
}
#endif
