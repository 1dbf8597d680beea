/* A libnvidia-ml.so.1 that plays a script: the file that FAKE_NVML names, in the form in which a
 * recording holds what a driver said (src/probe/nvidia/nvml.h), so that a recording can be served
 * as a driver. What the script does not say is not supported. Section [fake]: see
 * tests/fake/script.h; "any.1 = lost" is for every call about GPU 1 but for its handle and address.
 *
 * What is measured is in sections [live], for all GPUs, and [live 3], which goes first:
 *
 *     utilization = 93                    percent; with memory_utilization
 *     temperature = 61                    slowdown, margin
 *     memory_clock_mhz = 2619             the others are in [gpu N]
 *     limit_least_mw, limit_most_mw       limits of power that it takes
 *     power_mw, enforced_limit_mw, encoder, decoder (percent), reasons (bits, decimal)
 *     memory_total_b, memory_used_b, memory_reserved_b
 *     field 83 = 1000 + 500/s             a field, here one that grows with time
 *     field 202.3 = 7                     of link 3 alone
 *     gpm = 1                             has GPM
 *     gpm 2 = 93.5                        a metric of it
 *     process 4711 = 1000000 0.5          a process: bytes (-1: not known), share of time
 *     processes = 600                     more than the caller has room for
 *
 * What is drawn is no more than the limit of power, which can be set (FAKE_NVML.limits holds that),
 * and less by as much as the clock is locked below the highest one (FAKE_NVML.clocks).
 *
 * Fields and others have 64 bits, but those that "narrow" names ("narrow = 197") have 32; "real",
 * "signed" and "signed_wide" name one of another type.
 *
 * With FAKE_OLD it is the library of a driver of 2018: functions without their later suffixes, and
 * without those that came later. */
#include "probe/nvidia/nvml.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../script.h"
#include "fake_live.h"
#include "fake_nvml.h"

#ifdef FAKE_OLD
#define nvmlInit_v2 nvmlInit
#define nvmlDeviceGetCount_v2 nvmlDeviceGetCount
#define nvmlDeviceGetHandleByIndex_v2 nvmlDeviceGetHandleByIndex
#define nvmlDeviceGetPciInfo_v3 nvmlDeviceGetPciInfo
#define nvmlDeviceGetNvLinkRemotePciInfo_v2 nvmlDeviceGetNvLinkRemotePciInfo
#define nvmlSystemGetCudaDriverVersion_v2 nvmlSystemGetCudaDriverVersion
enum { PCI_INFO_SIZE = 52 };
#else
enum { PCI_INFO_SIZE = 68 };
EXPORT nvml_pair_fn nvmlDeviceGetMigMode;
EXPORT nvml_number_fn nvmlDeviceGetGpuMaxPcieLinkGeneration;
EXPORT nvml_fabric_v2_fn nvmlDeviceGetGpuFabricInfoV;
EXPORT nvml_fabric_v1_fn nvmlDeviceGetGpuFabricInfo;
EXPORT nvml_link_fn nvmlDeviceGetNvLinkRemoteDeviceType;
EXPORT nvml_fields_fn nvmlDeviceGetFieldValues;
EXPORT nvml_range_fn nvmlDeviceGetPowerManagementLimitConstraints;
EXPORT nvml_lock_fn nvmlDeviceSetGpuLockedClocks;
EXPORT nvml_reset_fn nvmlDeviceResetGpuLockedClocks;
#endif

EXPORT nvml_plain_fn nvmlInit_v2, nvmlShutdown;
EXPORT nvml_count_fn nvmlDeviceGetCount_v2;
EXPORT nvml_handle_fn nvmlDeviceGetHandleByIndex_v2;
EXPORT nvml_version_fn nvmlSystemGetDriverVersion, nvmlSystemGetNVMLVersion;
EXPORT nvml_cuda_fn nvmlSystemGetCudaDriverVersion_v2;
EXPORT nvml_text_fn nvmlDeviceGetName, nvmlDeviceGetUUID, nvmlDeviceGetVbiosVersion;
EXPORT nvml_number_fn nvmlDeviceGetMinorNumber, nvmlDeviceGetCurrPcieLinkGeneration,
    nvmlDeviceGetCurrPcieLinkWidth, nvmlDeviceGetMaxPcieLinkGeneration,
    nvmlDeviceGetMaxPcieLinkWidth, nvmlDeviceGetPersistenceMode, nvmlDeviceGetPowerManagementLimit,
    nvmlDeviceGetPowerManagementDefaultLimit;
EXPORT nvml_set_fn nvmlDeviceSetPowerManagementLimit;
EXPORT nvml_pair_fn nvmlDeviceGetEccMode;
EXPORT nvml_clock_fn nvmlDeviceGetClockInfo, nvmlDeviceGetMaxClockInfo,
    nvmlDeviceGetApplicationsClock, nvmlDeviceGetDefaultApplicationsClock;
EXPORT nvml_capability_fn nvmlDeviceGetCudaComputeCapability;
EXPORT nvml_memory_fn nvmlDeviceGetMemoryInfo;
EXPORT nvml_pci_fn nvmlDeviceGetPciInfo_v3;
EXPORT nvml_link_fn nvmlDeviceGetNvLinkState, nvmlDeviceGetNvLinkVersion;
EXPORT nvml_link_pci_fn nvmlDeviceGetNvLinkRemotePciInfo_v2;
EXPORT nvml_p2p_fn nvmlDeviceGetP2PStatus;

static const struct script_word words[] = {
    { "not_supported", NVML_NOT_SUPPORTED },  { "no_permission", NVML_NO_PERMISSION },
    { "not_loaded", NVML_DRIVER_NOT_LOADED }, { "lost", NVML_GPU_LOST },
    { "mismatch", NVML_LIB_RM_MISMATCH },     { NULL, 0 },
};

EXPORT fake_reload_fn fake_reload;
EXPORT fake_calls_fn fake_calls;
EXPORT fake_asked_fn fake_asked;

static struct script rules = SCRIPT_INIT(words);
static struct nvml_reading machine;
static atomic_bool ready;
static struct {
    _Atomic(const char *) call;
    atomic_uint of[NVML_GPUS];
} counts[64];
static atomic_uint asked[512];

static struct nvml_gpu *gpu_of(nvml_device d)
{
    return (struct nvml_gpu *)(void *)d;
}

int fake_index(nvml_device device)
{
    return (int)(gpu_of(device) - machine.gpus);
}

/* One thread calls a driver at a time. */
static void count_call(const char *call, int device)
{
    size_t i = 0;

    while (i < ARRAY_SIZE(counts) - 1 && counts[i].call && strcmp(counts[i].call, call) != 0)
        i++;
    atomic_store(&counts[i].call, call);
    atomic_fetch_add(&counts[i].of[device], 1);
}

unsigned fake_calls(const char *call, int device)
{
    unsigned n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
        if (!call || (counts[i].call && strcmp(counts[i].call, call) == 0))
            n += atomic_load(&counts[i].of[device]);
    return n;
}

unsigned fake_asked(unsigned field)
{
    return atomic_load(&asked[field % ARRAY_SIZE(asked)]);
}

int fake_about(const char *call, nvml_device d)
{
    int device = fake_index(d), code = NVML_UNINITIALIZED;

    count_call(call, device);
    if (ready)
        code = script_answer(&rules, call, device);
    if (code == NVML_OK)
        code = script_answer(&rules, "any", device);
    return code == NVML_OK && gpu_of(d)->lost ? NVML_GPU_LOST : code;
}

#define about fake_about

/* A call that answers an error leaves nonsense behind, which nobody may take for a value. */
static int give_text(int code, const char *from, char *to, unsigned size)
{
    snprintf(to, size, "%s", code == NVML_OK && from[0] ? from : "nonsense");
    return code == NVML_OK && !from[0] ? NVML_NOT_SUPPORTED : code;
}

static int give_number(int code, int from, unsigned *to)
{
    *to = code == NVML_OK && from >= 0 ? (unsigned)from : 1;
    return code == NVML_OK && from < 0 ? NVML_NOT_SUPPORTED : code;
}

static int give_pci(int code, const char *bdf, struct nvml_pci_info *to)
{
    struct nvml_pci_info pci = { .device_id = 0x233010de };
    struct pci_address at;

    snprintf(pci.bus_id_legacy, sizeof(pci.bus_id_legacy), "0000:77:07.0");
    memcpy(to, &pci, PCI_INFO_SIZE);
    if (code != NVML_OK)
        return code;
    if (pci_address_parse(bdf, &at) < 0)
        return NVML_NOT_SUPPORTED;
    pci.domain = at.domain;
    pci.bus = at.bus;
    pci.device = at.dev;
    snprintf(pci.bus_id_legacy, sizeof(pci.bus_id_legacy), "%04x:%02x:%02x.0", at.domain & 0xffffu,
             at.bus, at.dev);
    memcpy(to, &pci, PCI_INFO_SIZE);
    return NVML_OK;
}

/* ---- the library ---- */

int nvmlInit_v2(void)
{
    static char text[SCRIPT_MAX];
    const char *path = getenv("FAKE_NVML");
    struct err e = { "" };
    size_t len;
    int code;

    if (!path)
        return NVML_DRIVER_NOT_LOADED;
    len = script_load(&rules, path, text);
    if (live_load(path, text, len, &e) < 0 || nvml_text_read(path, text, len, &machine, &e) < 0) {
        fprintf(stderr, "fake: %s\n", e.text);
        exit(99);
    }
    count_call("nvmlInit_v2", 0);
    code = script_answer(&rules, "nvmlInit_v2", -1);
    ready = code == NVML_OK;
    return code;
}

void fake_reload(void)
{
    static char text[SCRIPT_MAX];
    const char *path = getenv("FAKE_NVML");
    struct err e = { "" };
    size_t len = script_load(&rules, path, text);

    if (live_load(path, text, len, &e) < 0) {
        fprintf(stderr, "fake: %s\n", e.text);
        exit(99);
    }
}

int nvmlShutdown(void)
{
    int code = ready ? script_answer(&rules, "nvmlShutdown", -1) : NVML_UNINITIALIZED;

    ready = false;
    return code;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    int code = ready ? script_answer(&rules, "nvmlDeviceGetCount_v2", -1) : NVML_UNINITIALIZED;

    if (code == NVML_OK)
        *count = machine.count >= 0 ? (unsigned)machine.count : machine.n_gpus;
    return code;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    return give_text(script_answer(&rules, "nvmlSystemGetDriverVersion", -1), machine.driver, text,
                     size);
}

int nvmlSystemGetNVMLVersion(char *text, unsigned size)
{
    return give_text(script_answer(&rules, "nvmlSystemGetNVMLVersion", -1), machine.library, text,
                     size);
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    unsigned number = 0;
    int code = give_number(script_answer(&rules, "nvmlSystemGetCudaDriverVersion_v2", -1),
                           machine.cuda, &number);

    *version = (int)number;
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml_device *device)
{
    int code = ready ? script_answer(&rules, "nvmlDeviceGetHandleByIndex_v2", (int)index)
                     : NVML_UNINITIALIZED;
    struct nvml_gpu *g = &machine.gpus[index];

    if (code != NVML_OK)
        return code;
    if (index >= machine.n_gpus)
        return NVML_INVALID_ARGUMENT;
    if (g->error >= 0)
        return g->error;
    if (g->lost && !g->bdf[0])
        return NVML_GPU_LOST;
    *device = (nvml_device)(void *)g;
    return NVML_OK;
}

/* A GPU that is lost still has its address: the kernel driver remembers it. */
int nvmlDeviceGetPciInfo_v3(nvml_device device, struct nvml_pci_info *pci)
{
    int code = script_answer(&rules, "nvmlDeviceGetPciInfo_v3",
                             (int)(gpu_of(device) - machine.gpus));

    return give_pci(code, gpu_of(device)->bdf, pci);
}

/* ---- a GPU: texts and numbers ---- */

#define TEXT(call, field) \
    int call(nvml_device device, char *text, unsigned size) \
    { \
        return give_text(about(#call, device), gpu_of(device)->field, text, size); \
    }
#define NUMBER(call, field) \
    int call(nvml_device device, unsigned *number) \
    { \
        return give_number(about(#call, device), gpu_of(device)->field, number); \
    }
#define CLOCK(call, field, asked) \
    int call(nvml_device device, unsigned kind, unsigned *mhz) \
    { \
        if (kind != (asked)) \
            return NVML_INVALID_ARGUMENT; \
        return give_number(about(#call, device), gpu_of(device)->field, mhz); \
    }

TEXT(nvmlDeviceGetName, name)
TEXT(nvmlDeviceGetUUID, uuid)
TEXT(nvmlDeviceGetVbiosVersion, vbios)
NUMBER(nvmlDeviceGetMinorNumber, minor)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, pcie_gen)
NUMBER(nvmlDeviceGetCurrPcieLinkWidth, pcie_width)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, pcie_gen_max)
NUMBER(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max)
NUMBER(nvmlDeviceGetPersistenceMode, persistence)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, power_default_mw)
CLOCK(nvmlDeviceGetMaxClockInfo, sm_clock_max_mhz, NVML_CLOCK_SM)
CLOCK(nvmlDeviceGetApplicationsClock, app_clock_mhz, NVML_CLOCK_GRAPHICS)
CLOCK(nvmlDeviceGetDefaultApplicationsClock, app_clock_default_mhz, NVML_CLOCK_GRAPHICS)

/* What was set, a line each, lies in files beside the script: as that of a device it outlives who
 * set it. */
static FILE *open_set(const char *kind, const char *how)
{
    const char *script = getenv("FAKE_NVML");
    char path[4096];

    snprintf(path, sizeof(path), "%s.%s", script ? script : "", kind);
    return fopen(path, how);
}

static int last_set(const char *kind, int device, int unset)
{
    int last = unset, of, value;
    FILE *f = open_set(kind, "re");

    while (f && fscanf(f, "%d %d", &of, &value) == 2)
        last = of == device ? value : last;
    if (f)
        fclose(f);
    return last;
}

static int set(const char *kind, int device, unsigned value)
{
    FILE *f = open_set(kind, "ae");

    if (!f)
        return NVML_OPERATING_SYSTEM;
    fprintf(f, "%d %u\n", device, value);
    fclose(f);
    return NVML_OK;
}

int fake_limit(int device)
{
    return last_set("limits", device, machine.gpus[device].power_limit_mw);
}

double fake_clock_share(int device)
{
    int highest = machine.gpus[device].sm_clock_max_mhz, mhz = last_set("clocks", device, 0);

    return mhz > 0 && mhz < highest ? (double)mhz / highest : 1;
}

int nvmlDeviceGetPowerManagementLimit(nvml_device device, unsigned *mw)
{
    return give_number(about("nvmlDeviceGetPowerManagementLimit", device),
                       fake_limit(fake_index(device)), mw);
}

int nvmlDeviceSetPowerManagementLimit(nvml_device device, unsigned mw)
{
    int code = about("nvmlDeviceSetPowerManagementLimit", device);

    return code == NVML_OK ? set("limits", fake_index(device), mw) : code;
}

int nvmlDeviceGetClockInfo(nvml_device device, unsigned kind, unsigned *mhz)
{
    int code = about("nvmlDeviceGetClockInfo", device);
    double number = ABSENT;

    if (kind == NVML_CLOCK_SM)
        return give_number(
            code, (int)(gpu_of(device)->sm_clock_mhz * fake_clock_share(fake_index(device))), mhz);
    live_number(fake_index(device), "memory_clock_mhz", &number);
    return give_number(code, (int)number, mhz);
}

int nvmlDeviceGetCudaComputeCapability(nvml_device device, int *major, int *minor)
{
    unsigned number = 0;
    int code = give_number(about("nvmlDeviceGetCudaComputeCapability", device),
                           gpu_of(device)->capability, &number);

    *major = (int)number / 10;
    *minor = (int)number % 10;
    return code;
}

int nvmlDeviceGetMemoryInfo(nvml_device device, struct nvml_memory *memory)
{
    int code = about("nvmlDeviceGetMemoryInfo", device);
    int64_t size_b = gpu_of(device)->memory_b;

    *memory = (struct nvml_memory){ .total = 7, .used = 7, .free = 7 };
    if (code == NVML_OK && size_b < 0)
        return NVML_NOT_SUPPORTED;
    if (code == NVML_OK)
        *memory = (struct nvml_memory){ .total = (unsigned long long)size_b,
                                        .used = (unsigned long long)size_b / 4,
                                        .free = (unsigned long long)(size_b - size_b / 4) };
    return code;
}

int nvmlDeviceGetEccMode(nvml_device device, unsigned *current, unsigned *pending)
{
    int code = give_number(about("nvmlDeviceGetEccMode", device), gpu_of(device)->ecc, current);

    return give_number(code, gpu_of(device)->ecc_pending, pending);
}

/* ---- a GPU: links and peers ---- */

/* NVML refuses port numbers behind the last one. */
static int port_of(const char *call, nvml_device device, unsigned link,
                   const struct nvml_link **port)
{
    static const struct nvml_link none = { .up = ABSENT, .version = ABSENT, .kind = ABSENT };
    const struct nvml_gpu *g = gpu_of(device);

    *port = link < NVML_LINKS ? &g->links[link] : &none;
    if (link > 0 && (*port)->up < 0)
        return NVML_INVALID_ARGUMENT;
    return about(call, device);
}

int nvmlDeviceGetNvLinkState(nvml_device device, unsigned link, unsigned *up)
{
    const struct nvml_link *port;
    int code = port_of("nvmlDeviceGetNvLinkState", device, link, &port);

    return give_number(code, port->up, up);
}

int nvmlDeviceGetNvLinkVersion(nvml_device device, unsigned link, unsigned *version)
{
    const struct nvml_link *port;
    int code = port_of("nvmlDeviceGetNvLinkVersion", device, link, &port);

    return give_number(code, port->version, version);
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml_device device, unsigned link,
                                        struct nvml_pci_info *pci)
{
    const struct nvml_link *port;
    int code = port_of("nvmlDeviceGetNvLinkRemotePciInfo_v2", device, link, &port);

    return give_pci(code, port->bdf, pci);
}

int nvmlDeviceGetP2PStatus(nvml_device a, nvml_device b, unsigned question, unsigned *status)
{
    uint8_t answer = gpu_of(a)->peers[gpu_of(b) - machine.gpus];
    int code = about("nvmlDeviceGetP2PStatus", a);

    if (question != NVML_P2P_READ || a == b)
        return NVML_INVALID_ARGUMENT;
    return give_number(code, answer < NVML_PEER_SELF ? answer : ABSENT, status);
}

/* ---- what came after 2018 ---- */

#ifndef FAKE_OLD
NUMBER(nvmlDeviceGetGpuMaxPcieLinkGeneration, gpu_gen_max)

/* [live]: limit_least_mw, limit_most_mw */
int nvmlDeviceGetPowerManagementLimitConstraints(nvml_device device, unsigned *least,
                                                 unsigned *most)
{
    int code = about("nvmlDeviceGetPowerManagementLimitConstraints", device);
    double low = ABSENT, high = ABSENT;

    live_number(fake_index(device), "limit_least_mw", &low);
    live_number(fake_index(device), "limit_most_mw", &high);
    code = give_number(code, (int)low, least);
    return give_number(code, (int)high, most);
}

int nvmlDeviceSetGpuLockedClocks(nvml_device device, unsigned least, unsigned most)
{
    int code = about("nvmlDeviceSetGpuLockedClocks", device);

    if (code == NVML_OK && least > most)
        code = NVML_INVALID_ARGUMENT;
    return code == NVML_OK ? set("clocks", fake_index(device), most) : code;
}

int nvmlDeviceResetGpuLockedClocks(nvml_device device)
{
    int code = about("nvmlDeviceResetGpuLockedClocks", device);

    return code == NVML_OK ? set("clocks", fake_index(device), 0) : code;
}

int nvmlDeviceGetMigMode(nvml_device device, unsigned *current, unsigned *pending)
{
    *pending = 0;
    return give_number(about("nvmlDeviceGetMigMode", device), gpu_of(device)->mig, current);
}

/* What [live] says of a field. */
static int measured(int device, struct nvml_field *f)
{
    static const struct {
        const char *name;
        unsigned type;
    } forms[] = { { "narrow", NVML_TYPE_UNSIGNED },
                  { "real", NVML_TYPE_DOUBLE },
                  { "signed", NVML_TYPE_SIGNED },
                  { "signed_wide", NVML_TYPE_SIGNED_LONG_LONG } };
    double number, id;

    if (!live_field(device, f->id, f->scope, &number))
        return NVML_NOT_SUPPORTED;
    f->type = NVML_TYPE_UNSIGNED_LONG_LONG;
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (live_number(device, forms[i].name, &id) && (unsigned)id == f->id)
            f->type = forms[i].type;
    f->value.wide = (unsigned long long)(long long)number;
    if (f->type == NVML_TYPE_DOUBLE)
        f->value.real = number;
    return NVML_OK;
}

/* Fields about links between GPU and CPU, and what is measured. */
int nvmlDeviceGetFieldValues(nvml_device device, int count, struct nvml_field *fields)
{
    const struct nvml_gpu *g = gpu_of(device);
    int code = about("nvmlDeviceGetFieldValues", device);

    for (int i = 0; code == NVML_OK && i < count; i++) {
        int answer = fields[i].id == NVML_FIELD_C2C_COUNT  ? g->c2c_links
                     : fields[i].id == NVML_FIELD_C2C_UP   ? (int)fields[i].scope < g->c2c_links
                     : fields[i].id == NVML_FIELD_C2C_MBPS ? g->c2c_mbps
                                                           : ABSENT;

        atomic_fetch_add(&asked[fields[i].id % ARRAY_SIZE(asked)], 1);
        fields[i].code = give_number(NVML_OK, answer, &fields[i].value.number);
        if (fields[i].code != NVML_OK)
            fields[i].code = measured(fake_index(device), &fields[i]);
    }
    return code;
}

int nvmlDeviceGetNvLinkRemoteDeviceType(nvml_device device, unsigned link, unsigned *kind)
{
    const struct nvml_link *port;
    int code = port_of("nvmlDeviceGetNvLinkRemoteDeviceType", device, link, &port);

    return give_number(code, port->kind, kind);
}

int nvmlDeviceGetGpuFabricInfoV(nvml_device device, struct nvml_fabric_v2 *fabric)
{
    const struct nvml_gpu *g = gpu_of(device);
    int code = about("nvmlDeviceGetGpuFabricInfoV", device);

    if (code != NVML_OK || g->fabric < 0)
        return code != NVML_OK ? code : NVML_NOT_SUPPORTED;
    if (fabric->version != NVML_FABRIC_V2)
        return NVML_ARGUMENT_VERSION;
    fabric->state = (unsigned char)g->fabric;
    fabric->status = (unsigned)MAX(g->fabric_status, 0);
    return NVML_OK;
}

int nvmlDeviceGetGpuFabricInfo(nvml_device device, struct nvml_fabric_v1 *fabric)
{
    struct nvml_fabric_v2 v2 = { .version = NVML_FABRIC_V2 };
    int code = nvmlDeviceGetGpuFabricInfoV(device, &v2);

    fabric->state = v2.state;
    fabric->status = v2.status;
    return code;
}
#endif
