#include "probe/nvidia/nvml_power.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#include "probe/nvidia/nvml_abi.h"

#define LIBRARY "libnvidia-ml.so.1"

static const double mw_per_w = 1000;

struct nvml_power {
    void *library;
    nvml_plain_fn *init, *shutdown;
    nvml_count_fn *count;
    nvml_handle_fn *handle;
    nvml_number_fn *get;
    nvml_set_fn *set;
    nvml_range_fn *range; /* NULL: an old driver */
    bool inited;
    unsigned n;
};

/* The newest name first: older drivers have the same function under an older one. */
static const struct {
    const char *names[2];
    size_t offset;
} symbols[] = {
    { { "nvmlInit_v2", "nvmlInit" }, offsetof(struct nvml_power, init) },
    { { "nvmlShutdown" }, offsetof(struct nvml_power, shutdown) },
    { { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" }, offsetof(struct nvml_power, count) },
    { { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" },
      offsetof(struct nvml_power, handle) },
    { { "nvmlDeviceGetPowerManagementLimit" }, offsetof(struct nvml_power, get) },
    { { "nvmlDeviceSetPowerManagementLimit" }, offsetof(struct nvml_power, set) },
    { { "nvmlDeviceGetPowerManagementLimitConstraints" }, offsetof(struct nvml_power, range) },
};

static void find_symbol(void *library, const char *name, void *slot)
{
    void **function = slot;

    if (!*function && name)
        *function = dlsym(library, name);
}

static void load(struct nvml_power *p)
{
    p->library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; i < ARRAY_SIZE(symbols) && p->library; i++)
        for (size_t k = 0; k < ARRAY_SIZE(symbols[i].names); k++)
            find_symbol(p->library, symbols[i].names[k], (char *)p + symbols[i].offset);
}

int nvml_power_open(struct nvml_power **ret, struct err *e)
{
    CLEANUP(nvml_power_closep) struct nvml_power *p = calloc(1, sizeof(*p));
    int code;

    if (!p)
        return err_nomem(e);
    load(p);
    if (!p->library)
        return err_set(e, -ENODEV, "no NVIDIA driver library: %s", dlerror());
    if (!p->init || !p->count || !p->handle || !p->get || !p->set)
        return err_set(e, -ENODEV, LIBRARY " has no functions for the limit of power");
    code = p->init();
    p->inited = code == NVML_OK;
    if (code == NVML_OK)
        code = p->count(&p->n);
    if (code != NVML_OK)
        return err_set(e, -EIO, "the NVIDIA driver answers error %d", code);
    if (!p->n)
        return err_set(e, -ENODEV, "the NVIDIA driver has no GPU");
    *ret = steal(&p);
    return 0;
}

void nvml_power_close(struct nvml_power *p)
{
    if (!p)
        return;
    if (p->inited && p->shutdown)
        p->shutdown();
    if (p->library)
        dlclose(p->library);
    free(p);
}

unsigned nvml_power_count(const struct nvml_power *p)
{
    return p->n;
}

static int refuse(unsigned gpu, int code, struct err *e)
{
    switch (code) {
    case NVML_NO_PERMISSION:
        return err_set(e, -EACCES, "the limit of power of GPU %u can be set by root alone", gpu);
    case NVML_NOT_SUPPORTED:
        return err_set(e, -ENOTSUP, "GPU %u has no limit of power that could be set", gpu);
    default:
        return err_set(e, -EIO, "the limit of power of GPU %u: the driver answers error %d", gpu,
                       code);
    }
}

int nvml_power_get(struct nvml_power *p, unsigned gpu, unsigned *mw, struct err *e)
{
    nvml_device d = NULL;
    int code = p->handle(gpu, &d);

    if (code == NVML_OK)
        code = p->get(d, mw);
    return code == NVML_OK ? 0 : refuse(gpu, code, e);
}

int nvml_power_set(struct nvml_power *p, unsigned gpu, unsigned mw, struct err *e)
{
    unsigned least = 0, most = 0;
    nvml_device d = NULL;
    int code = p->handle(gpu, &d);

    if (code != NVML_OK)
        return refuse(gpu, code, e);
    if (p->range && p->range(d, &least, &most) == NVML_OK && (mw < least || mw > most))
        return err_set(e, -ERANGE, "GPU %u takes limits of power from %g to %g W", gpu,
                       least / mw_per_w, most / mw_per_w);
    code = p->set(d, mw);
    return code == NVML_OK ? 0 : refuse(gpu, code, e);
}
