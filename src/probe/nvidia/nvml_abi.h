/* What this tree uses of the binary interface of NVIDIA's management library (libnvidia-ml.so.1):
 * neither its header nor the library is needed to build. Written from the published interface (API
 * 13); sizes and offsets are asserted for 64-bit Linux, the only system with a driver. */
#ifndef BRIM_PROBE_NVIDIA_NVML_ABI_H
#define BRIM_PROBE_NVIDIA_NVML_ABI_H
#include <assert.h>
#include <stddef.h>

typedef struct nvml_device_opaque *nvml_device;

/* What every function returns. */
enum nvml_code {
    NVML_OK = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_IRQ_ISSUE = 11,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_LIB_RM_MISMATCH = 18,
    NVML_ARGUMENT_VERSION = 25,
    NVML_DEPRECATED = 26,
    NVML_UNKNOWN_ERROR = 999
};

enum { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };

/* At the other end of an NVLink. */
enum {
    NVML_REMOTE_GPU = 0,
    NVML_REMOTE_NPU = 1,
    NVML_REMOTE_SWITCH = 2,
    NVML_REMOTE_UNKNOWN = 255
};

/* nvmlDeviceGetP2PStatus: the question asked here, and its answers. */
enum { NVML_P2P_READ = 0 };
enum {
    NVML_P2P_OK = 0,
    NVML_P2P_CHIPSET = 1,
    NVML_P2P_GPU = 2,
    NVML_P2P_TOPOLOGY = 3,
    NVML_P2P_DISABLED = 4,
    NVML_P2P_NO = 5,
    NVML_P2P_UNKNOWN = 6
};

/* nvmlDeviceGetNvLinkVersion counts versions, it does not name them: 5 (A100) is 3.1. */
enum {
    NVML_NVLINK_1_0 = 1,
    NVML_NVLINK_2_0 = 2,
    NVML_NVLINK_2_2 = 3,
    NVML_NVLINK_3_0 = 4,
    NVML_NVLINK_3_1 = 5,
    NVML_NVLINK_4_0 = 6,
    NVML_NVLINK_5_0 = 7
};

enum {
    NVML_FABRIC_NOT_SUPPORTED = 0,
    NVML_FABRIC_NOT_STARTED = 1,
    NVML_FABRIC_IN_PROGRESS = 2,
    NVML_FABRIC_COMPLETED = 3
};

/* The third version of it. The first two are shorter and differ after the numbers: whoever reads
 * only up to 'device' may pass this one to all three functions. */
struct nvml_pci_info {
    char bus_id_legacy[16];
    unsigned domain, bus, device;
    unsigned device_id, subsystem_id;
    char bus_id[32];
};
static_assert(sizeof(struct nvml_pci_info) == 68, "nvmlPciInfo_t");
static_assert(offsetof(struct nvml_pci_info, domain) == 16, "nvmlPciInfo_t.domain");

struct nvml_memory {
    unsigned long long total, free, used;
};
static_assert(sizeof(struct nvml_memory) == 24, "nvmlMemory_t");

/* For nvmlDeviceGetGpuFabricInfoV, whose caller says which version it wants. */
struct nvml_fabric_v2 {
    unsigned version;
    unsigned char cluster[16];
    unsigned status; /* an nvml_code; holds when state is NVML_FABRIC_COMPLETED */
    unsigned clique;
    unsigned char state;
    unsigned health;
};
static_assert(sizeof(struct nvml_fabric_v2) == 36, "nvmlGpuFabricInfo_v2_t");
#define NVML_FABRIC_V2 0x02000024u

/* For nvmlDeviceGetGpuFabricInfo, of drivers that lack the above. */
struct nvml_fabric_v1 {
    unsigned char cluster[16];
    unsigned status, clique;
    unsigned char state;
};
static_assert(sizeof(struct nvml_fabric_v1) == 28, "nvmlGpuFabricInfo_t");

/* One question of nvmlDeviceGetFieldValues and its answer. */
struct nvml_field {
    unsigned id, scope; /* scope: the link, for those that are about one */
    long long timestamp, latency_us;
    unsigned type;
    int code; /* of this answer alone */
    union {
        unsigned number;
        double real;
        unsigned long long wide;
    } value;
};
static_assert(sizeof(struct nvml_field) == 40, "nvmlFieldValue_t");
static_assert(offsetof(struct nvml_field, code) == 28, "nvmlFieldValue_t.nvmlReturn");
enum {
    NVML_FIELD_C2C_COUNT = 170,
    NVML_FIELD_C2C_UP = 171,   /* scope: link */
    NVML_FIELD_C2C_MBPS = 172, /* scope: link; MB/s */
};

/* nvml_field.type. */
enum {
    NVML_TYPE_DOUBLE = 0,
    NVML_TYPE_UNSIGNED = 1,
    NVML_TYPE_UNSIGNED_LONG = 2,
    NVML_TYPE_UNSIGNED_LONG_LONG = 3,
    NVML_TYPE_SIGNED_LONG_LONG = 4,
    NVML_TYPE_SIGNED = 5
};
/* nvml_field.scope: all links together, for fields that can. */
#define NVML_ALL_LINKS 0xffffffffu

/* ---- what is measured again and again ---- */

/* In percent of the time since the last of the driver's own samples. */
struct nvml_utilization {
    unsigned gpu, memory;
};
static_assert(sizeof(struct nvml_utilization) == 8, "nvmlUtilization_t");

struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");
#define NVML_MEMORY_V2 0x02000028u

/* How far a GPU is from the temperature at which it slows itself down. */
struct nvml_margin {
    unsigned version;
    int celsius;
};
static_assert(sizeof(struct nvml_margin) == 8, "nvmlMarginTemperature_v1_t");
#define NVML_MARGIN_V1 0x01000008u

enum { NVML_SENSOR_GPU = 0, NVML_THRESHOLD_SLOWDOWN = 1 };

/* Why a clock is lower than it could be: bits. */
enum {
    NVML_REASON_POWER = 0x4,
    NVML_REASON_HARDWARE = 0x8, /* set with one of the more exact ones, or alone */
    NVML_REASON_SYNC = 0x10,
    NVML_REASON_THERMAL_SOFTWARE = 0x20,
    NVML_REASON_THERMAL_HARDWARE = 0x40,
    NVML_REASON_BRAKE = 0x80
};

/* A process, as the second and third version of the call give it. */
struct nvml_process {
    unsigned pid;
    unsigned long long used_b; /* all bits set: not known */
    unsigned instance, compute_instance;
};
static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");

/* As the first version gives it. */
struct nvml_process_v1 {
    unsigned pid;
    unsigned long long used_b;
};
static_assert(sizeof(struct nvml_process_v1) == 16, "nvmlProcessInfo_v1_t");

struct nvml_process_busy {
    unsigned pid;
    unsigned long long timestamp; /* microseconds */
    unsigned sm, memory, encoder, decoder;
};
static_assert(sizeof(struct nvml_process_busy) == 32, "nvmlProcessUtilizationSample_t");

/* GPM, the counters of a GPU's units (Hopper and later): metrics come from two samples. */
typedef struct nvml_gpm_opaque *nvml_gpm_sample;

struct nvml_gpm_support {
    unsigned version, supported;
};
static_assert(sizeof(struct nvml_gpm_support) == 8, "nvmlGpmSupport_t");

struct nvml_gpm_metric {
    unsigned id;
    int code; /* of this metric alone */
    double value;
    const char *names[3];
};
static_assert(sizeof(struct nvml_gpm_metric) == 40, "nvmlGpmMetric_t");

/* The library reads and writes the first n metrics; how long the array is differs by version. */
enum { NVML_GPM_V1 = 1, NVML_GPM_METRICS = 333 };
struct nvml_gpm_request {
    unsigned version, n;
    nvml_gpm_sample first, second;
    struct nvml_gpm_metric metrics[NVML_GPM_METRICS];
};
static_assert(sizeof(struct nvml_gpm_request) == 13344, "nvmlGpmMetricsGet_t");

enum {
    NVML_GPM_SM_ACTIVE = 2, /* this one and those up to FP16 are percentages */
    NVML_GPM_SM_OCCUPANCY = 3,
    NVML_GPM_TENSOR = 5,
    NVML_GPM_DRAM = 10,
    NVML_GPM_FP64 = 11,
    NVML_GPM_FP32 = 12,
    NVML_GPM_FP16 = 13,
    NVML_GPM_PCIE_SENT = 20, /* this one and those below are MiB/s */
    NVML_GPM_PCIE_RECEIVED = 21,
    NVML_GPM_LINK_RECEIVED = 60,
    NVML_GPM_LINK_SENT = 61
};

/* The functions, by the shape of their arguments. */
typedef int nvml_plain_fn(void);                                 /* nvmlInit_v2, nvmlShutdown */
typedef int nvml_count_fn(unsigned *count);                      /* nvmlDeviceGetCount_v2 */
typedef int nvml_handle_fn(unsigned index, nvml_device *device); /* nvmlDeviceGetHandleByIndex_v2 */
typedef int nvml_version_fn(char *text, unsigned size);          /* nvmlSystemGetDriverVersion */
typedef int nvml_cuda_fn(int *version); /* nvmlSystemGetCudaDriverVersion_v2 */
typedef int nvml_text_fn(nvml_device device, char *text, unsigned size);
typedef int nvml_number_fn(nvml_device device, unsigned *number);
typedef int nvml_set_fn(nvml_device device, unsigned number);
typedef int nvml_lock_fn(nvml_device device, unsigned least, unsigned most);
typedef int nvml_reset_fn(nvml_device device);
typedef int nvml_range_fn(nvml_device device, unsigned *least, unsigned *most);
typedef int nvml_pair_fn(nvml_device device, unsigned *current, unsigned *pending);
typedef int nvml_clock_fn(nvml_device device, unsigned kind, unsigned *mhz);
typedef int nvml_capability_fn(nvml_device device, int *major, int *minor);
typedef int nvml_memory_fn(nvml_device device, struct nvml_memory *memory);
typedef int nvml_pci_fn(nvml_device device, struct nvml_pci_info *pci);
typedef int nvml_fabric_v2_fn(nvml_device device, struct nvml_fabric_v2 *fabric);
typedef int nvml_fabric_v1_fn(nvml_device device, struct nvml_fabric_v1 *fabric);
typedef int nvml_link_fn(nvml_device device, unsigned link, unsigned *number);
typedef int nvml_link_pci_fn(nvml_device device, unsigned link, struct nvml_pci_info *pci);
typedef int nvml_fields_fn(nvml_device device, int count, struct nvml_field *fields);
typedef int nvml_utilization_fn(nvml_device device, struct nvml_utilization *utilization);
typedef int nvml_memory_v2_fn(nvml_device device, struct nvml_memory_v2 *memory);
typedef int nvml_margin_fn(nvml_device device, struct nvml_margin *margin);
typedef int nvml_reasons_fn(nvml_device device, unsigned long long *reasons);
typedef int nvml_processes_fn(nvml_device device, unsigned *count, struct nvml_process *list);
typedef int nvml_processes_v1_fn(nvml_device device, unsigned *count, struct nvml_process_v1 *list);
typedef int nvml_process_busy_fn(nvml_device device, struct nvml_process_busy *list,
                                 unsigned *count, unsigned long long since);
typedef int nvml_gpm_support_fn(nvml_device device, struct nvml_gpm_support *support);
typedef int nvml_gpm_alloc_fn(nvml_gpm_sample *sample);
typedef int nvml_gpm_free_fn(nvml_gpm_sample sample);
typedef int nvml_gpm_get_fn(nvml_device device, nvml_gpm_sample sample);
typedef int nvml_gpm_metrics_fn(struct nvml_gpm_request *request);
typedef int nvml_p2p_fn(nvml_device a, nvml_device b, unsigned question, unsigned *status);

#endif
