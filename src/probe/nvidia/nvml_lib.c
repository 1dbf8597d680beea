#include "probe/nvidia/nvml.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "probe/nvidia/nvml_api.h"

/* ---- what is asked, as tables: a GPU's field for each function of one shape ---- */

static const struct {
    const char *call;
    size_t offset, size;
} texts[] = {
    { "nvmlDeviceGetName", offsetof(struct nvml_gpu, name), 96 },
    { "nvmlDeviceGetUUID", offsetof(struct nvml_gpu, uuid), 96 },
    { "nvmlDeviceGetVbiosVersion", offsetof(struct nvml_gpu, vbios), 32 },
};

static const struct {
    const char *call;
    size_t offset;
} numbers[] = {
    { "nvmlDeviceGetMinorNumber", offsetof(struct nvml_gpu, minor) },
    { "nvmlDeviceGetCurrPcieLinkGeneration", offsetof(struct nvml_gpu, pcie_gen) },
    { "nvmlDeviceGetCurrPcieLinkWidth", offsetof(struct nvml_gpu, pcie_width) },
    { "nvmlDeviceGetMaxPcieLinkGeneration", offsetof(struct nvml_gpu, pcie_gen_max) },
    { "nvmlDeviceGetMaxPcieLinkWidth", offsetof(struct nvml_gpu, pcie_width_max) },
    { "nvmlDeviceGetGpuMaxPcieLinkGeneration", offsetof(struct nvml_gpu, gpu_gen_max) },
    { "nvmlDeviceGetPersistenceMode", offsetof(struct nvml_gpu, persistence) },
    { "nvmlDeviceGetPowerManagementLimit", offsetof(struct nvml_gpu, power_limit_mw) },
    { "nvmlDeviceGetPowerManagementDefaultLimit", offsetof(struct nvml_gpu, power_default_mw) },
};

static const struct {
    const char *call;
    unsigned kind;
    size_t offset;
} clocks[] = {
    { "nvmlDeviceGetClockInfo", NVML_CLOCK_SM, offsetof(struct nvml_gpu, sm_clock_mhz) },
    { "nvmlDeviceGetMaxClockInfo", NVML_CLOCK_SM, offsetof(struct nvml_gpu, sm_clock_max_mhz) },
    { "nvmlDeviceGetApplicationsClock", NVML_CLOCK_GRAPHICS,
      offsetof(struct nvml_gpu, app_clock_mhz) },
    { "nvmlDeviceGetDefaultApplicationsClock", NVML_CLOCK_GRAPHICS,
      offsetof(struct nvml_gpu, app_clock_default_mhz) },
};

struct session {
    void *library;
    struct nvml_api api;
    nvml_text_fn *texts[ARRAY_SIZE(texts)];
    nvml_number_fn *numbers[ARRAY_SIZE(numbers)];
    nvml_clock_fn *clocks[ARRAY_SIZE(clocks)];
    bool inited;
    struct watch_where *where;
    nvml_device devices[NVML_GPUS]; /* NULL where there is no access */
};

/* ---- small helpers ---- */

/* Whether a call succeeded; notes a GPU that is gone. */
static bool good(struct nvml_gpu *g, int code)
{
    if (code == NVML_GPU_LOST)
        g->lost = true;
    return code == NVML_OK;
}

static void keep(int *field, unsigned number)
{
    if (number <= INT_MAX)
        *field = (int)number;
}

static int *int_at(struct nvml_gpu *g, size_t offset)
{
    return (int *)(void *)((char *)g + offset);
}

/* What a driver wrote into size bytes, ended in any case. */
static void end_text(char *text, size_t size, bool valid)
{
    text[valid ? size - 1 : 0] = 0;
}

/* Only numbers are taken: they stand at one place in all versions of the structure. */
static void keep_pci(char bdf[PCI_ADDRESS_TEXT], const struct nvml_pci_info *pci)
{
    struct pci_address at = { .domain = pci->domain,
                              .bus = (uint8_t)pci->bus,
                              .dev = (uint8_t)pci->device };

    if (pci->bus <= 0xff && pci->device <= 0x1f && pci->domain != UINT_MAX)
        pci_address_text(at, bdf);
}

/* ---- the library ---- */

static void session_done(struct session *s)
{
    if (s->inited && s->api.shutdown) {
        watch_at(s->where, "nvmlShutdown", ABSENT);
        s->api.shutdown();
    }
    if (s->library)
        dlclose(s->library);
}

static int load(struct session *s, struct err *e)
{
    watch_at(s->where, "dlopen(" NVML_LIBRARY ")", ABSENT);
    s->library = nvml_api_open(&s->api);
    if (!s->library)
        return err_set(e, -ENODEV, "no NVIDIA driver library: %s", dlerror());
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        nvml_api_find(s->library, texts[i].call, &s->texts[i]);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        nvml_api_find(s->library, numbers[i].call, &s->numbers[i]);
    for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
        nvml_api_find(s->library, clocks[i].call, &s->clocks[i]);
    return 0;
}

static int refuse(const char *call, int code, struct err *e)
{
    switch (code) {
    case NVML_DRIVER_NOT_LOADED:
        return err_set(e, -ENODEV,
                       "the NVIDIA kernel driver is not loaded: run modprobe nvidia, and look at "
                       "dmesg if that fails");
    case NVML_LIB_RM_MISMATCH:
        return err_set(
            e, -EPROTO,
            NVML_LIBRARY
            " and the loaded NVIDIA kernel driver differ in version (an upgrade "
            "without a restart): reboot, or stop all that uses GPUs and reload the driver");
    case NVML_NO_PERMISSION:
        return err_set(e, -EACCES, "%s: no permission to use /dev/nvidiactl", call);
    default:
        return err_set(e, -EIO, "%s answers error %d: look at dmesg for lines with NVRM", call,
                       code);
    }
}

/* ---- one GPU ---- */

static void read_identity(struct session *s, nvml_device d, struct nvml_gpu *g, int i)
{
    struct nvml_pci_info pci = { .bus = UINT_MAX };

    if (s->api.pci) {
        watch_at(s->where, "nvmlDeviceGetPciInfo_v3", i);
        if (good(g, s->api.pci(d, &pci)))
            keep_pci(g->bdf, &pci);
    }
    for (size_t k = 0; k < ARRAY_SIZE(texts) && !g->lost; k++) {
        char *text = (char *)g + texts[k].offset;

        if (!s->texts[k])
            continue;
        watch_at(s->where, texts[k].call, i);
        end_text(text, texts[k].size, good(g, s->texts[k](d, text, (unsigned)texts[k].size)));
    }
}

static void read_numbers(struct session *s, nvml_device d, struct nvml_gpu *g, int i)
{
    unsigned number;

    for (size_t k = 0; k < ARRAY_SIZE(numbers) && !g->lost; k++) {
        if (!s->numbers[k])
            continue;
        watch_at(s->where, numbers[k].call, i);
        if (good(g, s->numbers[k](d, &number)))
            keep(int_at(g, numbers[k].offset), number);
    }
    for (size_t k = 0; k < ARRAY_SIZE(clocks) && !g->lost; k++) {
        if (!s->clocks[k])
            continue;
        watch_at(s->where, clocks[k].call, i);
        if (good(g, s->clocks[k](d, clocks[k].kind, &number)))
            keep(int_at(g, clocks[k].offset), number);
    }
}

static void read_modes(struct session *s, nvml_device d, struct nvml_gpu *g, int i)
{
    int major, minor;
    unsigned current, pending;
    struct nvml_memory memory;

    if (s->api.capability && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetCudaComputeCapability", i);
        if (good(g, s->api.capability(d, &major, &minor)))
            g->capability = major * 10 + minor;
    }
    if (s->api.memory && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetMemoryInfo", i);
        if (good(g, s->api.memory(d, &memory)) && memory.total <= INT64_MAX)
            g->memory_b = (int64_t)memory.total;
    }
    if (s->api.ecc && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetEccMode", i);
        if (good(g, s->api.ecc(d, &current, &pending))) {
            keep(&g->ecc, current);
            keep(&g->ecc_pending, pending);
        }
    }
    if (s->api.mig && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetMigMode", i);
        if (good(g, s->api.mig(d, &current, &pending)))
            keep(&g->mig, current);
    }
}

static void read_fabric(struct session *s, nvml_device d, struct nvml_gpu *g, int i)
{
    struct nvml_fabric_v2 v2 = { .version = NVML_FABRIC_V2 };
    struct nvml_fabric_v1 v1 = { .state = 0 };

    if (s->api.fabric_v2) {
        watch_at(s->where, "nvmlDeviceGetGpuFabricInfoV", i);
        if (!good(g, s->api.fabric_v2(d, &v2)))
            return;
    } else if (s->api.fabric_v1) {
        watch_at(s->where, "nvmlDeviceGetGpuFabricInfo", i);
        if (!good(g, s->api.fabric_v1(d, &v1)))
            return;
        v2.state = v1.state;
        v2.status = v1.status;
    } else {
        return;
    }
    g->fabric = v2.state;
    if (v2.state == NVML_FABRIC_COMPLETED)
        keep(&g->fabric_status, v2.status);
}

/* A port that is up: who is at its other end. */
static void read_remote(struct session *s, nvml_device d, struct nvml_gpu *g, int i, unsigned port)
{
    struct nvml_link *l = &g->links[port];
    struct nvml_pci_info pci = { .bus = UINT_MAX };
    unsigned number;

    if (s->api.link_version) {
        watch_at(s->where, "nvmlDeviceGetNvLinkVersion", i);
        if (good(g, s->api.link_version(d, port, &number)))
            keep(&l->version, number);
    }
    if (s->api.link_kind && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetNvLinkRemoteDeviceType", i);
        if (good(g, s->api.link_kind(d, port, &number)) && number <= NVML_REMOTE_SWITCH)
            keep(&l->kind, number);
    }
    if (s->api.link_pci && !g->lost) {
        watch_at(s->where, "nvmlDeviceGetNvLinkRemotePciInfo_v2", i);
        if (good(g, s->api.link_pci(d, port, &pci)))
            keep_pci(l->bdf, &pci);
    }
}

static void read_links(struct session *s, nvml_device d, struct nvml_gpu *g, int i)
{
    for (unsigned port = 0; port < NVML_LINKS && s->api.link_state && !g->lost; port++) {
        unsigned up;
        int code;

        watch_at(s->where, "nvmlDeviceGetNvLinkState", i);
        code = s->api.link_state(d, port, &up);
        if (code == NVML_INVALID_ARGUMENT)
            return; /* the last port was before this one */
        if (!good(g, code))
            continue;
        g->links[port].up = up != 0;
        if (up)
            read_remote(s, d, g, i, port);
    }
}

/* Ask one field; false when there is no answer. */
static bool read_field(struct session *s, struct nvml_gpu *g, int i, unsigned id, unsigned scope,
                       unsigned *ret)
{
    struct nvml_field f = { .id = id, .scope = scope };

    watch_at(s->where, "nvmlDeviceGetFieldValues", i);
    if (!good(g, s->api.fields(s->devices[i], 1, &f)) || !good(g, f.code))
        return false;
    *ret = f.value.number;
    return true;
}

/* The links from a GPU to its CPU on one board (Grace Hopper, Grace Blackwell). */
static void read_c2c(struct session *s, struct nvml_gpu *g, int i)
{
    unsigned count, up, mbps;

    if (!s->api.fields || !read_field(s, g, i, NVML_FIELD_C2C_COUNT, 0, &count) || !count)
        return;
    g->c2c_links = 0;
    for (unsigned link = 0; link < MIN(count, (unsigned)NVML_LINKS) && !g->lost; link++) {
        if (!read_field(s, g, i, NVML_FIELD_C2C_UP, link, &up) || up != 1)
            continue;
        g->c2c_links++;
        if (read_field(s, g, i, NVML_FIELD_C2C_MBPS, link, &mbps))
            keep(&g->c2c_mbps, mbps);
    }
}

static void read_gpu(struct session *s, struct nvml_gpu *g, int i)
{
    nvml_device d = NULL;
    int code;

    watch_at(s->where, "nvmlDeviceGetHandleByIndex_v2", i);
    code = s->api.handle((unsigned)i, &d);
    if (!good(g, code)) {
        if (!g->lost)
            keep(&g->error, (unsigned)code);
        return;
    }
    s->devices[i] = d;
    read_identity(s, d, g, i);
    read_numbers(s, d, g, i);
    read_modes(s, d, g, i);
    if (!g->lost)
        read_fabric(s, d, g, i);
    read_links(s, d, g, i);
    if (!g->lost)
        read_c2c(s, g, i);
}

/* ---- the whole ---- */

static void read_peers(struct session *s, struct nvml_reading *r)
{
    for (unsigned a = 0; a < r->n_gpus && s->api.p2p; a++) {
        struct nvml_gpu *g = &r->gpus[a];

        if (!s->devices[a] || g->lost)
            continue;
        for (unsigned b = 0; b < r->n_gpus; b++) {
            unsigned status;

            if (a == b || !s->devices[b] || r->gpus[b].lost)
                continue;
            watch_at(s->where, "nvmlDeviceGetP2PStatus", (int)a);
            if (s->api.p2p(s->devices[a], s->devices[b], NVML_P2P_READ, &status) != NVML_OK)
                continue;
            g->peers[a] = NVML_PEER_SELF;
            g->peers[b] = (uint8_t)MIN(status, (unsigned)NVML_P2P_UNKNOWN);
        }
    }
}

static void read_versions(struct session *s, struct nvml_reading *r)
{
    int cuda;

    if (s->api.driver_version) {
        watch_at(s->where, "nvmlSystemGetDriverVersion", ABSENT);
        end_text(r->driver, sizeof(r->driver),
                 s->api.driver_version(r->driver, sizeof(r->driver)) == NVML_OK);
    }
    if (s->api.library_version) {
        watch_at(s->where, "nvmlSystemGetNVMLVersion", ABSENT);
        end_text(r->library, sizeof(r->library),
                 s->api.library_version(r->library, sizeof(r->library)) == NVML_OK);
    }
    if (s->api.cuda_version) {
        watch_at(s->where, "nvmlSystemGetCudaDriverVersion_v2", ABSENT);
        if (s->api.cuda_version(&cuda) == NVML_OK)
            r->cuda = cuda;
    }
}

static int read_all(struct session *s, struct nvml_reading *r, struct err *e)
{
    unsigned count;
    int code;

    if (!s->api.init || !s->api.count || !s->api.handle)
        return err_set(e, -ENOSYS, NVML_LIBRARY " has no %s: it is not NVIDIA's, or damaged",
                       !s->api.init    ? "nvmlInit_v2"
                       : !s->api.count ? "nvmlDeviceGetCount_v2"
                                       : "nvmlDeviceGetHandleByIndex_v2");
    watch_at(s->where, "nvmlInit_v2", ABSENT);
    code = s->api.init();
    if (code != NVML_OK)
        return refuse("nvmlInit_v2", code, e);
    s->inited = true;
    watch_at(s->where, "nvmlDeviceGetCount_v2", ABSENT);
    code = s->api.count(&count);
    if (code != NVML_OK)
        return refuse("nvmlDeviceGetCount_v2", code, e);
    keep(&r->count, count);
    r->n_gpus = MIN(count, (unsigned)NVML_GPUS);
    read_versions(s, r);
    for (unsigned i = 0; i < r->n_gpus; i++)
        read_gpu(s, &r->gpus[i], (int)i);
    read_peers(s, r);
    return 0;
}

int nvml_lib_read(struct nvml_reading *r, struct watch_where *where, struct err *e)
{
    struct session s = { .where = where };
    int rc;

    nvml_reading_init(r);
    rc = load(&s, e);
    if (rc == 0)
        rc = read_all(&s, r, e);
    session_done(&s);
    return rc;
}
