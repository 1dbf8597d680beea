/* The source "nvml": NVIDIA GPUs as their driver knows them. */
#include "probe/nvidia/nvml.h"

#include <errno.h>
#include <stdlib.h>

#include "probe/nvidia/nvml_abi.h"
#include "probe/source/driver_source.h"

enum { VENDOR_NVIDIA = 0x10de };

static int run(void *result, struct watch_where *where, struct err *e)
{
    return nvml_lib_read(result, where, e);
}

static void write_text(const void *reading, struct str *out)
{
    nvml_text_write(reading, out);
}

static int read_text(const char *name, const char *text, size_t len, void *reading, struct err *e)
{
    return nvml_text_read(name, text, len, reading, e);
}

static const struct driver_source library_nvml = {
    .source = "nvml",
    .note = "brim/nvml.ini",
    .vendor = VENDOR_NVIDIA,
    .text_max = NVML_TEXT_MAX,
    .work = { run, sizeof(struct nvml_reading), "GPU",
              "look at dmesg for lines with NVRM or Xid; a GPU whose driver hangs needs a reset or "
              "a reboot" },
    .write = write_text,
    .read = read_text,
};

/* What the driver kept to itself. */
static void report(struct probe *p, const struct nvml_reading *r)
{
    if (r->count > NVML_GPUS)
        probe_trouble(p, "nvml", "the driver has %d GPUs, only the first %d were asked", r->count,
                      NVML_GPUS);
    for (unsigned i = 0; i < r->n_gpus; i++) {
        int error = r->gpus[i].error;

        if (error == NVML_NO_PERMISSION)
            probe_trouble(p, "nvml",
                          "GPU %u: no permission: a container or job that was not given "
                          "this GPU",
                          i);
        else if (error >= 0)
            probe_trouble(p, "nvml",
                          "GPU %u: the driver answers error %d: look at dmesg for lines "
                          "with NVRM",
                          i, error);
    }
}

static int read_nvml(struct probe *p, struct node *n, struct err *e)
{
    CLEANUP(freep) void *reading = NULL;
    int rc = driver_source_read(p, &library_nvml, n, &reading, e);

    if (rc <= 0)
        return rc;
    report(p, reading);
    return nvml_apply(reading, n) < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_nvml = {
    .name = "nvml",
    .what = "NVIDIA GPUs, NVLinks and peer access, from the driver's library",
    .read = read_nvml,
};
