/* A libnvidia-ml.so.1 with three GPUs that answers what none should: numbers that are too large or
 * as large as can be, by GPU, and texts without an end. FAKE_BARE leaves all out that a driver may
 * lack, FAKE_DAMAGED what none lacks. */
#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "probe/nvidia/nvml_abi.h"

EXPORT nvml_plain_fn nvmlInit_v2;
EXPORT nvml_handle_fn nvmlDeviceGetHandleByIndex_v2;

static char gpus[3];

int nvmlInit_v2(void)
{
    return NVML_OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *device)
{
    *device = (nvml_device)(void *)&gpus[index];
    return NVML_OK;
}

#ifndef FAKE_DAMAGED
EXPORT nvml_count_fn nvmlDeviceGetCount_v2;

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = sizeof(gpus);
    return NVML_OK;
}
#endif

#if !defined(FAKE_DAMAGED) && !defined(FAKE_BARE)
EXPORT nvml_pci_fn nvmlDeviceGetPciInfo_v3;
EXPORT nvml_text_fn nvmlDeviceGetName, nvmlDeviceGetUUID, nvmlDeviceGetVbiosVersion;
EXPORT nvml_version_fn nvmlSystemGetDriverVersion, nvmlSystemGetNVMLVersion;
EXPORT nvml_number_fn nvmlDeviceGetMinorNumber;
EXPORT nvml_memory_fn nvmlDeviceGetMemoryInfo;
EXPORT nvml_fabric_v1_fn nvmlDeviceGetGpuFabricInfo;
EXPORT nvml_link_fn nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkRemoteDeviceType;
EXPORT nvml_p2p_fn nvmlDeviceGetP2PStatus;

static int index_of(nvml_device device)
{
    return (int)((char *)device - gpus);
}

int nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci_info *pci)
{
    static const unsigned answers[3][3] = { { 0, 0x100, 0 }, { 0, 1, 0x20 }, { UINT_MAX, 1, 1 } };
    const unsigned *answer = answers[index_of(device)];

    *pci = (struct nvml_pci_info){ .domain = answer[0], .bus = answer[1], .device = answer[2] };
    return NVML_OK;
}

static int fill(char *text, unsigned size)
{
    memset(text, 'x', size);
    return NVML_OK;
}

#define TEXT(call) \
    int call(nvml_device device, char *text, unsigned size) \
    { \
        (void)device; \
        return fill(text, size); \
    }

TEXT(nvmlDeviceGetName)
TEXT(nvmlDeviceGetUUID)
TEXT(nvmlDeviceGetVbiosVersion)

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    return fill(text, size);
}

int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    return fill(text, size);
}

int nvmlDeviceGetMinorNumber(nvml_device device, unsigned *number)
{
    *number = index_of(device) == 0 ? INT_MAX : 1u + INT_MAX;
    return NVML_OK;
}

int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *memory)
{
    memory->total = index_of(device) == 0 ? INT64_MAX : 1ull + INT64_MAX;
    return NVML_OK;
}

/* The older of two functions; done on GPU 0, on its way on GPU 1, unknown of GPU 2. */
int nvmlDeviceGetGpuFabricInfo(nvml_device device, struct nvml_fabric_v1 *fabric)
{
    fabric->state = index_of(device) == 0 ? NVML_FABRIC_COMPLETED : NVML_FABRIC_IN_PROGRESS;
    fabric->status = 5;
    return index_of(device) == 2 ? NVML_NOT_SUPPORTED : NVML_OK;
}

/* Port 0 is up in its own way, port 1 is not supported, port 2 is the last one. */
int nvmlDeviceGetNvLinkState(nvml_device device, unsigned link, unsigned *up)
{
    static const int codes[] = { NVML_OK, NVML_NOT_SUPPORTED, NVML_OK };

    (void)device;
    *up = link == 0 ? 7 : 0;
    return link < ARRAY_SIZE(codes) ? codes[link] : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(nvml_device device, unsigned link, unsigned *kind)
{
    (void)link;
    *kind = index_of(device) == 0 ? NVML_REMOTE_SWITCH : NVML_REMOTE_UNKNOWN;
    return NVML_OK;
}

int nvmlDeviceGetP2PStatus(nvml_device a, nvml_device b, unsigned question, unsigned *status)
{
    (void)a;
    (void)question;
    *status = index_of(b) == 1 ? NVML_P2P_UNKNOWN : 300;
    return NVML_OK;
}
#endif
