/* What NVIDIA's driver says about its GPUs: read through its library (nvml_lib.c), written as text
 * into a recording and read back (nvml_text.c), and brought into a node (nvml_apply.c). The three
 * share one plain structure, so that a recording goes the way of the live driver. */
#ifndef BRIM_PROBE_NVIDIA_NVML_H
#define BRIM_PROBE_NVIDIA_NVML_H
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "model/machine/machine.h"
#include "probe/thread/watch.h"

enum {
    NVML_GPUS = 64,
    NVML_LINKS = 36, /* of a GPU: 18 up to Blackwell */
    NVML_TEXT_MAX = 256 << 10,
};

/* nvml_gpu.peers: the driver's answer (NVML_P2P_...), or one of */
enum { NVML_PEER_SELF = 254, NVML_PEER_ABSENT = 255 };

/* One NVLink port. */
struct nvml_link {
    int up;                     /* 1 up, 0 down, ABSENT: no such port */
    int version;                /* NVML_NVLINK_...: a count of versions, 6 is NVLink 4.0 */
    int kind;                   /* NVML_REMOTE_... */
    char bdf[PCI_ADDRESS_TEXT]; /* of the other end; "" */
};

/* Numbers not read are ABSENT, texts "". */
struct nvml_gpu {
    char bdf[PCI_ADDRESS_TEXT];
    char name[96], uuid[96], vbios[32];
    int64_t memory_b;
    int minor;
    int capability;                   /* CUDA compute capability, times 10: 90 */
    int pcie_gen, pcie_width;         /* of the link now */
    int pcie_gen_max, pcie_width_max; /* of GPU and slot together */
    int gpu_gen_max;                  /* of the GPU alone */
    int persistence;
    int ecc, ecc_pending, mig; /* 1 on, 0 off */
    int power_limit_mw, power_default_mw;
    int sm_clock_mhz, sm_clock_max_mhz, app_clock_mhz, app_clock_default_mhz;
    int fabric;        /* NVML_FABRIC_... */
    int fabric_status; /* an nvml_code, once the state is NVML_FABRIC_COMPLETED */
    int c2c_links;     /* chip-to-chip links to the CPU (Grace) that are up */
    int c2c_mbps;      /* of each, MB/s in one direction */
    bool lost;         /* fell off the bus */
    int error;         /* the nvml_code with which the driver withheld the GPU */
    struct nvml_link links[NVML_LINKS];
    uint8_t peers[NVML_GPUS]; /* may this GPU read that one's memory */
};

struct nvml_reading {
    char driver[96], library[96];
    int cuda;  /* 12040 is CUDA 12.4, the newest that the driver runs */
    int count; /* GPUs as the driver counts them; may be more than there is room for */
    unsigned n_gpus;
    struct nvml_gpu gpus[NVML_GPUS];
};

/* Everything absent, no GPUs. */
void nvml_reading_init(struct nvml_reading *r);

/* Ask the driver's library. Before each call into it 'where' (NULL allowed) is told. A GPU that is
 * lost or withheld does not stop the others. Returns 0, or with a sentence in e: -ENODEV without
 * library or kernel driver, -EACCES when it may not be used, -EPROTO when library and kernel driver
 * differ in version, -ENOSYS for a library that is not NVML, -EIO for what else it answers. */
int nvml_lib_read(struct nvml_reading *r, struct watch_where *where, struct err *e) CHECK_RESULT;

/* The reading as INI text, and back: r is initialised first. Unknown keys and sections are skipped
 * (newer recordings, scripts of tests); a broken value is -EINVAL with "name:line: ...". */
void nvml_text_write(const struct nvml_reading *r, struct str *out);
int nvml_text_read(const char *name, const char *text, size_t len, struct nvml_reading *r,
                   struct err *e) CHECK_RESULT;

/* Add the reading to a node: fill its NVIDIA accelerators, add those that only the driver knows,
 * links, and the matrix of peers. 0 or -ENOMEM. */
int nvml_apply(const struct nvml_reading *r, struct node *n) CHECK_RESULT;

#endif
