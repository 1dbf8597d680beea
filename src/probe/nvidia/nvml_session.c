#include "probe/nvidia/nvml_session.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

const struct nvml_paces nvml_paces = {
    .slow_ns = 10 * NS_PER_S,
    .limit_ns = 30 * NS_PER_S,
    .unsupported_ns = 600 * NS_PER_S,
    .lost_ns = 300 * NS_PER_S,
    .reload_ns = 30 * NS_PER_S,
};

/* ---- GPUs ---- */

static void forget(double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        values[i] = (double)NAN;
}

/* Everything unknown, and all of it due. */
static void start_over(struct nvml_watched *g)
{
    forget(g->now.gpu, GPU_VALUES);
    forget(g->now.throttle, GPU_THROTTLE_VALUES);
    forget(g->now.error, GPU_ERROR_VALUES);
    memset(g->next_ns, 0, sizeof(g->next_ns));
    g->slowdown_c = (double)NAN;
    g->n_fields = g->n_fast = 0;
    g->by_field = 0;
    g->gpm_ns[0] = g->gpm_ns[1] = 0;
    g->busy_since = 0;
    g->n_processes = 0;
}

/* A text that a driver wrote, ended in any case. */
static void read_text(struct nvml_session *s, struct nvml_watched *g, const char *call,
                      nvml_text_fn *fn, enum gpu_fact fact)
{
    char text[96] = "";

    if (!fn || g->now.lost)
        return;
    nvml_calls(s, g, call);
    if (fn(g->device, text, sizeof(text)) != NVML_OK)
        return;
    text[sizeof(text) - 1] = 0;
    snprintf(g->now.facts[fact], SIGNAL_THING, "%s", text);
}

/* A GPU that is lost still has its address: the kernel's driver remembers it. Only numbers are
 * taken: they stand at one place in all versions of the structure. */
static void read_address(struct nvml_session *s, struct nvml_watched *g)
{
    struct nvml_pci_info pci = { .bus = UINT_MAX };
    char text[PCI_ADDRESS_TEXT];
    struct pci_address at;

    if (!s->api.pci)
        return;
    nvml_calls(s, g, "nvmlDeviceGetPciInfo_v3");
    if (s->api.pci(g->device, &pci) != NVML_OK || pci.bus > 0xff || pci.device > 0x1f ||
        pci.domain == UINT_MAX)
        return;
    at = (struct pci_address){ .domain = pci.domain,
                               .bus = (uint8_t)pci.bus,
                               .dev = (uint8_t)pci.device };
    pci_address_text(at, text);
    snprintf(g->now.facts[GPU_PCI], SIGNAL_THING, "%s", text);
}

/* Get hold of a GPU; what was known of one that is lost now stays. */
static void find_gpu(struct nvml_session *s, struct nvml_watched *g)
{
    nvml_device device = NULL;
    int code;

    start_over(g);
    nvml_calls(s, g, "nvmlDeviceGetHandleByIndex_v2");
    code = s->api.handle(g->now.index, &device);
    g->now.lost = false;
    nvml_answered(s, g, NVML_SLOT_ASKS, NVML_EACH, code);
    g->next_ns[NVML_SLOT_ASKS] = 0;
    g->device = code == NVML_OK ? device : NULL;
    snprintf(g->now.facts[GPU_VENDOR], SIGNAL_THING, "nvidia");
    if (!g->device)
        return;
    read_address(s, g);
    read_text(s, g, "nvmlDeviceGetName", s->api.name, GPU_MODEL);
    read_text(s, g, "nvmlDeviceGetUUID", s->api.uuid, GPU_UUID);
}

static void read_gpu(struct nvml_session *s, struct nvml_watched *g)
{
    if (g->now.lost && s->now_ns >= g->lost_ns) {
        nvml_gpm_done(s, g);
        find_gpu(s, g);
    }
    if (g->device) {
        nvml_read_fields(s, g);
        nvml_read_asks(s, g);
        nvml_read_gpm(s, g);
        nvml_read_processes(s, g);
    }
    g->now.gpu[GPU_LOST] = g->now.lost;
}

/* ---- the whole ---- */

static int open_driver(struct nvml_session *s)
{
    unsigned count = 0;

    watch_at(s->where, "nvmlInit_v2", ABSENT);
    if (s->api.init() != NVML_OK)
        return -ENODEV;
    s->inited = true;
    watch_at(s->where, "nvmlDeviceGetCount_v2", ABSENT);
    if (s->api.count(&count) != NVML_OK || !count)
        return -ENODEV;
    s->n_gpus = MIN(count, (unsigned)NVML_LIVE_GPUS);
    return 0;
}

static int find_functions(struct nvml_session *s)
{
    void *library = nvml_api_open(&s->api);

    if (library && (!s->api.init || !s->api.count || !s->api.handle)) {
        dlclose(library);
        library = NULL;
    }
    memset(s->asks, 0, sizeof(s->asks));
    for (size_t i = 0; i < NVML_ASKS && library; i++)
        nvml_api_find(library, nvml_asks[i].call, &s->asks[i]);
    s->library = library;
    return library ? 0 : -ENOENT;
}

static int open_session(struct nvml_session *s)
{
    int rc;

    watch_at(s->where, "dlopen(libnvidia-ml.so.1)", ABSENT);
    if (find_functions(s) < 0)
        return -ENOENT;
    s->broken = false;
    rc = open_driver(s);
    for (unsigned i = 0; i < s->n_gpus && rc == 0; i++) {
        s->gpus[i].device = NULL;
        memset(s->gpus[i].gpm, 0, sizeof(s->gpus[i].gpm));
        memset(&s->gpus[i].now, 0, sizeof(s->gpus[i].now));
        s->gpus[i].now.index = i;
        find_gpu(s, &s->gpus[i]);
        rc = s->broken ? -ENODEV : 0;
    }
    return rc;
}

void nvml_session_close(struct nvml_session *s)
{
    for (unsigned i = 0; i < s->n_gpus; i++)
        nvml_gpm_done(s, &s->gpus[i]);
    s->n_gpus = 0;
    if (s->inited && s->api.shutdown) {
        watch_at(s->where, "nvmlShutdown", ABSENT);
        s->api.shutdown();
    }
    s->inited = false;
    if (s->library)
        dlclose(s->library);
    s->library = NULL;
}

static void publish(const struct nvml_session *s, struct nvml_live_reading *ret)
{
    ret->n_gpus = ret->n_processes = 0;
    for (unsigned i = 0; i < s->n_gpus; i++) {
        const struct nvml_watched *g = &s->gpus[i];

        if (!g->device && !g->now.lost)
            continue; /* withheld: a container that was not given this one */
        ret->gpus[ret->n_gpus++] = g->now;
        for (size_t k = 0; k < g->n_processes && ret->n_processes < NVML_LIVE_PROCESSES; k++)
            ret->processes[ret->n_processes++] = g->processes[k];
    }
}

int nvml_session_read(struct nvml_session *s, struct nvml_live_reading *ret)
{
    int rc = 0;

    s->now_ns = clock_monotonic_ns(&clock_system);
    if (!s->library && s->now_ns >= s->reload_ns)
        rc = open_session(s);
    for (unsigned i = 0; i < s->n_gpus && rc == 0 && !s->broken; i++)
        read_gpu(s, &s->gpus[i]);
    if (rc < 0 || (s->library && s->broken)) {
        nvml_session_close(s);
        s->reload_ns = clock_monotonic_ns(&clock_system) + s->paces.reload_ns;
    }
    publish(s, ret);
    return rc == -ENOENT ? rc : 0;
}
