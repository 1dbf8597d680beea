#include "probe/nvidia/nvml_power.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#include "probe/nvidia/nvml_api.h"

static const double mw_per_w = 1000;

struct nvml_power {
    void *library;
    struct nvml_api api;
    bool inited;
    unsigned n;
};

int nvml_power_open(struct nvml_power **ret, struct err *e)
{
    CLEANUP(nvml_power_closep) struct nvml_power *p = calloc(1, sizeof(*p));
    int code;

    if (!p)
        return err_nomem(e);
    p->library = nvml_api_open(&p->api);
    if (!p->library)
        return err_set(e, -ENODEV, "no NVIDIA driver library: %s", dlerror());
    if (!p->api.init || !p->api.count || !p->api.handle)
        return err_set(e, -ENODEV, NVML_LIBRARY " has no functions that find GPUs");
    code = p->api.init();
    p->inited = code == NVML_OK;
    if (code == NVML_OK)
        code = p->api.count(&p->n);
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
    if (p->inited && p->api.shutdown)
        p->api.shutdown();
    if (p->library)
        dlclose(p->library);
    free(p);
}

unsigned nvml_power_count(const struct nvml_power *p)
{
    return p->n;
}

static const char power[] = "limit of power", clocks[] = "locked clock";

static int lacks(const char *what, struct err *e)
{
    return err_set(e, -ENODEV, NVML_LIBRARY " has no functions for the %s", what);
}

static int refuse(unsigned gpu, const char *what, int code, struct err *e)
{
    switch (code) {
    case NVML_NO_PERMISSION:
        return err_set(e, -EACCES, "the %s of GPU %u can be set by root alone", what, gpu);
    case NVML_NOT_SUPPORTED:
        return err_set(e, -ENOTSUP, "GPU %u has no %s that could be set", gpu, what);
    default:
        return err_set(e, -EIO, "the %s of GPU %u: the driver answers error %d", what, gpu, code);
    }
}

int nvml_power_get(struct nvml_power *p, unsigned gpu, unsigned *mw, struct err *e)
{
    nvml_device d = NULL;
    int code = p->api.handle(gpu, &d);

    if (!p->api.power_limit)
        return lacks(power, e);
    if (code == NVML_OK)
        code = p->api.power_limit(d, mw);
    return code == NVML_OK ? 0 : refuse(gpu, power, code, e);
}

int nvml_power_set(struct nvml_power *p, unsigned gpu, unsigned mw, struct err *e)
{
    unsigned least = 0, most = 0;
    nvml_device d = NULL;
    int code = p->api.handle(gpu, &d);

    if (!p->api.set_power_limit)
        return lacks(power, e);
    if (code != NVML_OK)
        return refuse(gpu, power, code, e);
    if (p->api.power_limits && p->api.power_limits(d, &least, &most) == NVML_OK &&
        (mw < least || mw > most))
        return err_set(e, -ERANGE, "GPU %u takes limits of power from %g to %g W", gpu,
                       least / mw_per_w, most / mw_per_w);
    code = p->api.set_power_limit(d, mw);
    return code == NVML_OK ? 0 : refuse(gpu, power, code, e);
}

int nvml_clock_highest(struct nvml_power *p, unsigned gpu, unsigned *mhz, struct err *e)
{
    nvml_device d = NULL;
    int code = p->api.handle(gpu, &d);

    if (!p->api.max_clock || !p->api.lock_clocks || !p->api.reset_clocks)
        return lacks(clocks, e);
    if (code == NVML_OK)
        code = p->api.max_clock(d, NVML_CLOCK_SM, mhz);
    return code == NVML_OK ? 0 : refuse(gpu, clocks, code, e);
}

int nvml_clock_now(struct nvml_power *p, unsigned gpu, unsigned *mhz, struct err *e)
{
    nvml_device d = NULL;
    int code = p->api.handle(gpu, &d);

    if (!p->api.clock)
        return lacks(clocks, e);
    if (code == NVML_OK)
        code = p->api.clock(d, NVML_CLOCK_SM, mhz);
    return code == NVML_OK ? 0 : refuse(gpu, clocks, code, e);
}

int nvml_clock_lock(struct nvml_power *p, unsigned gpu, unsigned mhz, struct err *e)
{
    unsigned highest = 0;
    nvml_device d = NULL;
    int rc = nvml_clock_highest(p, gpu, &highest, e), code;

    if (rc < 0)
        return rc;
    code = p->api.handle(gpu, &d);
    if (code == NVML_OK)
        code = mhz < highest ? p->api.lock_clocks(d, 0, mhz) : p->api.reset_clocks(d);
    return code == NVML_OK ? 0 : refuse(gpu, clocks, code, e);
}
