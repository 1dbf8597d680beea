/* What is measured of accelerators, whoever made them: each vendor's sampler fills what its driver
 * tells and leaves the rest absent. */
#ifndef BRIM_PROBE_GPU_GPU_SAMPLE_H
#define BRIM_PROBE_GPU_GPU_SAMPLE_H
#include "model/signal/signal.h"

/* Facts of the set "gpu", in their order. */
enum gpu_fact { GPU_UUID, GPU_MODEL, GPU_PCI, GPU_VENDOR };

/* Values of the set "gpu". Shares are 0 to 1. */
enum gpu_value {
    GPU_BUSY,          /* share of time with a kernel running */
    GPU_MEMORY_BUSY,   /* share of time with memory being read or written */
    GPU_SM_ACTIVE,     /* share of multiprocessors (compute units) with work */
    GPU_SM_OCCUPANCY,  /* warps resident, of those possible */
    GPU_TENSOR_ACTIVE, /* share of cycles with the matrix units at work */
    GPU_DRAM_ACTIVE,   /* share of the memory's peak bandwidth in use */
    GPU_FP64_ACTIVE,
    GPU_FP32_ACTIVE,
    GPU_FP16_ACTIVE,
    GPU_ENCODER_BUSY,
    GPU_DECODER_BUSY,
    GPU_SM_CLOCK, /* hertz */
    GPU_SM_CLOCK_MAX,
    GPU_MEMORY_CLOCK,
    GPU_POWER, /* watts */
    GPU_POWER_LIMIT,
    GPU_ENERGY,      /* joules, counter */
    GPU_TEMPERATURE, /* celsius */
    GPU_MEMORY_TEMPERATURE,
    GPU_TEMPERATURE_MARGIN, /* to where it slows itself down */
    GPU_MEMORY_USED,        /* bytes */
    GPU_MEMORY_FREE,
    GPU_MEMORY_RESERVED, /* by the driver */
    GPU_MEMORY_TOTAL,
    GPU_PCIE_RECEIVED, /* bytes, counters */
    GPU_PCIE_SENT,
    GPU_PCIE_GEN, /* of the link now */
    GPU_PCIE_GEN_MAX,
    GPU_PCIE_WIDTH,
    GPU_PCIE_WIDTH_MAX,
    GPU_LINK_RECEIVED, /* NVLink, xGMI, HCCS together: bytes, counters */
    GPU_LINK_SENT,
    GPU_PROCESSES,
    GPU_LOST, /* 1: the driver does not reach it any more */
    GPU_VALUES
};

/* Values of the set "gpu_throttle": whether its clock is held down now, and for how long it was, by
 * reason. */
enum gpu_throttle_value {
    GPU_THROTTLED_POWER,   /* the power limit: usual under full load */
    GPU_THROTTLED_THERMAL, /* software and hardware thermal slowdown */
    GPU_THROTTLED_BRAKE,   /* the power brake: the board's power supply */
    GPU_THROTTLED_SYNC,    /* waits for other GPUs' clocks */
    GPU_THROTTLED_OTHER,   /* hardware slowdown of another reason */
    GPU_THROTTLE_POWER_SECONDS,
    GPU_THROTTLE_THERMAL_SECONDS,
    GPU_THROTTLE_BRAKE_SECONDS,
    GPU_THROTTLE_SYNC_SECONDS,
    GPU_THROTTLE_OTHER_SECONDS,
    GPU_THROTTLE_VALUES
};

/* Values of the set "gpu_error". */
enum gpu_error_value {
    GPU_ECC_CORRECTED, /* since the driver was loaded */
    GPU_ECC_UNCORRECTED,
    GPU_ECC_CORRECTED_EVER,
    GPU_ECC_UNCORRECTED_EVER,
    GPU_ROWS_CORRECTED, /* rows remapped after such errors */
    GPU_ROWS_UNCORRECTED,
    GPU_REMAP_PENDING, /* 1: takes effect with the next reset */
    GPU_REMAP_FAILED,
    GPU_PAGES_RETIRED, /* before Ampere; AMD: bad pages */
    GPU_PAGES_PENDING,
    GPU_PCIE_REPLAYS,
    GPU_LINK_CRC, /* of all links together */
    GPU_LINK_REPLAYS,
    GPU_LINK_RECOVERIES,
    GPU_LINK_EFFECTIVE,  /* errors that the link's coding did not mend (NVLink 5) */
    GPU_RECOVERY_ACTION, /* that the driver asks for: 0 none, 1 reset, 2 reboot, 3, 4 drain */
    GPU_LAST_XID,
    GPU_ERROR_VALUES
};

extern const struct signal_set gpu_set, gpu_throttle_set, gpu_error_set;

/* What processes have on a GPU; the thing is "GPU:PID". */
enum gpu_process_value { GPU_PROCESS_MEMORY, GPU_PROCESS_BUSY, GPU_PROCESS_VALUES };
extern const struct signal_set gpu_process_set;

#endif
