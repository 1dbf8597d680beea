/* A libcuda.so.1 with two GPUs whose memory is the host's and whose clock goes on by what is asked
 * of them: the order of calls is checked, and a wrong one is an error as the driver's would be. */
#include "fake_cuda.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "bench/cuda_abi.h"

enum { GPUS = 2, INVALID_VALUE = 1, NOT_INITIALIZED = 3, NO_CONTEXT = 201 };

static const double copy_rate = 1.2e12; /* bytes a second, each way */

static bool begun, retained[GPUS], current;
static int device_now;
static double device_s;
static void (*later)(void);

/* The last copy: one that is asked for again finds all where it is to be. */
static struct {
    cuda_pointer to, from;
    size_t bytes;
} copied;

/* What waits to be made is made no more, or that instead. */
static void changes(void (*make)(void))
{
    later = make;
    copied.bytes = 0;
}

void EXPORT fake_cuda_later(void (*make)(void))
{
    changes(make);
}

int EXPORT fake_cuda_device(void)
{
    return device_now;
}

void EXPORT fake_cuda_work(double seconds)
{
    device_s += seconds;
}

int EXPORT cuInit(unsigned flags);
int EXPORT cuDeviceGetCount(int *count);
int EXPORT cuDeviceGet(cuda_device *device, int ordinal);
int EXPORT cuDeviceGetName(char *text, int len, cuda_device device);
int EXPORT cuDeviceGetPCIBusId(char *text, int len, cuda_device device);
int EXPORT cuDevicePrimaryCtxRetain(void **context, cuda_device device);
int EXPORT cuDevicePrimaryCtxRelease_v2(cuda_device device);
int EXPORT cuCtxSetCurrent(void *context);
int EXPORT cuCtxSynchronize(void);
int EXPORT cuMemGetInfo_v2(size_t *left, size_t *total);
int EXPORT cuMemAlloc_v2(cuda_pointer *pointer, size_t bytes);
int EXPORT cuMemFree_v2(cuda_pointer pointer);
int EXPORT cuMemcpyHtoD_v2(cuda_pointer to, const void *from, size_t bytes);
int EXPORT cuMemcpyDtoH_v2(void *to, cuda_pointer from, size_t bytes);
int EXPORT cuMemcpyDtoD_v2(cuda_pointer to, cuda_pointer from, size_t bytes);
int EXPORT cuEventCreate(void **event, unsigned flags);
int EXPORT cuEventRecord(void *event, void *stream);
int EXPORT cuEventSynchronize(void *event);
int EXPORT cuEventElapsedTime(float *ms, void *begin, void *end);
int EXPORT cuGetErrorName(int error, const char **name);

int cuInit(unsigned flags)
{
    begun = flags == 0;
    if (getenv("FAKE_CUDA") && !strcmp(getenv("FAKE_CUDA"), "none"))
        return CUDA_ERROR_NO_DEVICE;
    return getenv("FAKE_CUDA") && !strcmp(getenv("FAKE_CUDA"), "broken") ? 803 : 0;
}

int cuDeviceGetCount(int *count)
{
    *count = GPUS;
    return begun ? 0 : NOT_INITIALIZED;
}

int cuDeviceGet(cuda_device *device, int ordinal)
{
    *device = ordinal;
    return ordinal >= 0 && ordinal < GPUS ? 0 : INVALID_VALUE;
}

int cuDeviceGetName(char *text, int len, cuda_device device)
{
    snprintf(text, (size_t)len, "Fake GPU %d", device);
    return 0;
}

int cuDeviceGetPCIBusId(char *text, int len, cuda_device device)
{
    snprintf(text, (size_t)len, "0000:A%d:00.0", device);
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, cuda_device device)
{
    retained[device] = true;
    *context = &retained[device];
    return 0;
}

int cuDevicePrimaryCtxRelease_v2(cuda_device device)
{
    retained[device] = false;
    current = false;
    return 0;
}

int cuCtxSetCurrent(void *context)
{
    current = context && *(bool *)context;
    device_now = current ? (int)((bool *)context - retained) : 0;
    return current ? 0 : NO_CONTEXT;
}

int cuCtxSynchronize(void)
{
    return current ? 0 : NO_CONTEXT;
}

int cuMemGetInfo_v2(size_t *left, size_t *total)
{
    *left = *total = (size_t)4 << 20;
    return current ? 0 : NO_CONTEXT;
}

int cuMemAlloc_v2(cuda_pointer *pointer, size_t bytes)
{
    *pointer = (cuda_pointer)(size_t)calloc(1, bytes);
    return current && *pointer ? 0 : NO_CONTEXT;
}

int cuMemFree_v2(cuda_pointer pointer)
{
    changes(later);
    free((void *)(size_t)pointer);
    return 0;
}

int cuMemcpyHtoD_v2(cuda_pointer to, const void *from, size_t bytes)
{
    changes(NULL);
    memcpy((void *)(size_t)to, from, bytes);
    return current ? 0 : NO_CONTEXT;
}

int cuMemcpyDtoH_v2(void *to, cuda_pointer from, size_t bytes)
{
    if (later)
        later();
    later = NULL;
    memcpy(to, (const void *)(size_t)from, bytes);
    return current ? 0 : NO_CONTEXT;
}

int cuMemcpyDtoD_v2(cuda_pointer to, cuda_pointer from, size_t bytes)
{
    later = NULL;
    if (to != copied.to || from != copied.from || bytes != copied.bytes)
        memcpy((void *)(size_t)to, (const void *)(size_t)from, bytes);
    copied.to = to;
    copied.from = from;
    copied.bytes = bytes;
    fake_cuda_work((double)bytes / copy_rate);
    return current ? 0 : NO_CONTEXT;
}

int cuEventCreate(void **event, unsigned flags)
{
    *event = calloc(1, sizeof(double));
    return *event && flags == 0 ? 0 : INVALID_VALUE;
}

int cuEventRecord(void *event, void *stream)
{
    *(double *)event = device_s;
    return stream ? INVALID_VALUE : 0;
}

int cuEventSynchronize(void *event)
{
    return event ? 0 : INVALID_VALUE;
}

int cuEventElapsedTime(float *ms, void *begin, void *end)
{
    *ms = (float)((*(double *)end - *(double *)begin) * 1e3);
    return 0;
}

int cuGetErrorName(int error, const char **name)
{
    *name = error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : "CUDA_ERROR";
    return 0;
}
