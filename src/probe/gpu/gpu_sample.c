#include "probe/gpu/gpu_sample.h"

#define GAUGE(value, name, help) [value] = { name, help, SIGNAL_GAUGE, NULL }
#define COUNTER(value, name, help) [value] = { name, help, SIGNAL_COUNTER, NULL }

static const struct signal_def gpu_defs[GPU_VALUES] = {
    GAUGE(GPU_BUSY, "busy_ratio", "share of time with a kernel running"),
    GAUGE(GPU_MEMORY_BUSY, "memory_busy_ratio", "share of time with memory read or written"),
    GAUGE(GPU_SM_ACTIVE, "sm_active_ratio", "share of multiprocessors with work"),
    GAUGE(GPU_SM_OCCUPANCY, "sm_occupancy_ratio", "warps resident, of those possible"),
    GAUGE(GPU_TENSOR_ACTIVE, "tensor_active_ratio", "share of cycles with matrix units at work"),
    GAUGE(GPU_DRAM_ACTIVE, "dram_active_ratio", "share of memory bandwidth in use"),
    GAUGE(GPU_FP64_ACTIVE, "fp64_active_ratio", "share of cycles with FP64 units at work"),
    GAUGE(GPU_FP32_ACTIVE, "fp32_active_ratio", "share of cycles with FP32 units at work"),
    GAUGE(GPU_FP16_ACTIVE, "fp16_active_ratio", "share of cycles with FP16 units at work"),
    GAUGE(GPU_ENCODER_BUSY, "encoder_busy_ratio", "share of time the video encoder was busy"),
    GAUGE(GPU_DECODER_BUSY, "decoder_busy_ratio", "share of time the video decoder was busy"),
    GAUGE(GPU_SM_CLOCK, "sm_clock_hertz", "clock of the multiprocessors"),
    GAUGE(GPU_SM_CLOCK_MAX, "sm_clock_max_hertz", "the highest clock of the multiprocessors"),
    GAUGE(GPU_MEMORY_CLOCK, "memory_clock_hertz", "clock of the memory"),
    GAUGE(GPU_POWER, "power_watts", "power drawn"),
    GAUGE(GPU_POWER_LIMIT, "power_limit_watts", "the limit of power in force"),
    COUNTER(GPU_ENERGY, "energy_joules_total", "energy used since the driver was loaded"),
    GAUGE(GPU_TEMPERATURE, "temperature_celsius", "temperature"),
    GAUGE(GPU_MEMORY_TEMPERATURE, "memory_temperature_celsius", "temperature of the memory"),
    GAUGE(GPU_TEMPERATURE_MARGIN, "temperature_margin_celsius",
          "how much hotter it may get before it slows itself down"),
    GAUGE(GPU_MEMORY_USED, "memory_used_bytes", "memory in use"),
    GAUGE(GPU_MEMORY_FREE, "memory_free_bytes", "memory free"),
    GAUGE(GPU_MEMORY_RESERVED, "memory_reserved_bytes", "memory that the driver keeps"),
    GAUGE(GPU_MEMORY_TOTAL, "memory_total_bytes", "memory in all"),
    COUNTER(GPU_PCIE_RECEIVED, "pcie_received_bytes_total", "bytes received over PCIe"),
    COUNTER(GPU_PCIE_SENT, "pcie_sent_bytes_total", "bytes sent over PCIe"),
    GAUGE(GPU_PCIE_GEN, "pcie_generation", "generation of the PCIe link now"),
    GAUGE(GPU_PCIE_GEN_MAX, "pcie_generation_max", "the best that GPU and slot can do"),
    GAUGE(GPU_PCIE_WIDTH, "pcie_width", "lanes of the PCIe link now"),
    GAUGE(GPU_PCIE_WIDTH_MAX, "pcie_width_max", "lanes that GPU and slot have"),
    COUNTER(GPU_LINK_RECEIVED, "link_received_bytes_total", "bytes received from other GPUs"),
    COUNTER(GPU_LINK_SENT, "link_sent_bytes_total", "bytes sent to other GPUs"),
    GAUGE(GPU_PROCESSES, "processes", "processes that use it"),
    GAUGE(GPU_LOST, "lost", "1 when the driver does not reach it any more"),
};

#define REASONS(first, kind, name, help) \
    [(first)] = { name, help, kind, "reason=\"power\"" }, \
    [(first) + 1] = { name, help, kind, "reason=\"thermal\"" }, \
    [(first) + 2] = { name, help, kind, "reason=\"brake\"" }, \
    [(first) + 3] = { name, help, kind, "reason=\"sync\"" }, \
    [(first) + 4] = { name, help, kind, "reason=\"other\"" }

static const struct signal_def throttle_defs[GPU_THROTTLE_VALUES] = {
    REASONS(GPU_THROTTLED_POWER, SIGNAL_GAUGE, "active", "1 while the clock is held down"),
    REASONS(GPU_THROTTLE_POWER_SECONDS, SIGNAL_COUNTER, "seconds_total",
            "time with the clock held down"),
};

static const struct signal_def error_defs[GPU_ERROR_VALUES] = {
    [GPU_ECC_CORRECTED] = { "ecc_total", "memory errors since the driver was loaded",
                            SIGNAL_COUNTER, "kind=\"corrected\"" },
    [GPU_ECC_UNCORRECTED] = { "ecc_total", "memory errors since the driver was loaded",
                              SIGNAL_COUNTER, "kind=\"uncorrected\"" },
    [GPU_ECC_CORRECTED_EVER] = { "ecc_lifetime_total", "memory errors of its life", SIGNAL_COUNTER,
                                 "kind=\"corrected\"" },
    [GPU_ECC_UNCORRECTED_EVER] = { "ecc_lifetime_total", "memory errors of its life",
                                   SIGNAL_COUNTER, "kind=\"uncorrected\"" },
    [GPU_ROWS_CORRECTED] = { "remapped_rows", "memory rows that were replaced", SIGNAL_GAUGE,
                             "after=\"corrected\"" },
    [GPU_ROWS_UNCORRECTED] = { "remapped_rows", "memory rows that were replaced", SIGNAL_GAUGE,
                               "after=\"uncorrected\"" },
    GAUGE(GPU_REMAP_PENDING, "remap_pending", "1 when a row is replaced at the next reset"),
    GAUGE(GPU_REMAP_FAILED, "remap_failed", "1 when a row could not be replaced"),
    GAUGE(GPU_PAGES_RETIRED, "retired_pages", "memory pages taken out of use"),
    GAUGE(GPU_PAGES_PENDING, "retired_pages_pending", "pages that go with the next restart"),
    COUNTER(GPU_PCIE_REPLAYS, "pcie_replays_total", "PCIe packets sent again"),
    [GPU_LINK_CRC] = { "link_total", "errors of links to other GPUs", SIGNAL_COUNTER,
                       "kind=\"crc\"" },
    [GPU_LINK_REPLAYS] = { "link_total", "errors of links to other GPUs", SIGNAL_COUNTER,
                           "kind=\"replay\"" },
    [GPU_LINK_RECOVERIES] = { "link_total", "errors of links to other GPUs", SIGNAL_COUNTER,
                              "kind=\"recovery\"" },
    [GPU_LINK_EFFECTIVE] = { "link_total", "errors of links to other GPUs", SIGNAL_COUNTER,
                             "kind=\"effective\"" },
    GAUGE(GPU_RECOVERY_ACTION, "recovery_action",
          "what the driver asks for: 0 none, 1 reset, 2 reboot, 3 drain, 4 drain and reset"),
    GAUGE(GPU_LAST_XID, "last_xid", "the last XID of its driver"),
};

static const struct signal_def process_defs[GPU_PROCESS_VALUES] = {
    GAUGE(GPU_PROCESS_MEMORY, "memory_used_bytes", "memory that a process has on a GPU"),
    GAUGE(GPU_PROCESS_BUSY, "busy_ratio", "share of time with a kernel of it running"),
};

static const char *const facts[] = {
    [GPU_UUID] = "uuid", [GPU_MODEL] = "model", [GPU_PCI] = "pci", [GPU_VENDOR] = "vendor", NULL
};

const struct signal_set gpu_set = { "gpu", "gpu", gpu_defs, GPU_VALUES, facts };
const struct signal_set gpu_throttle_set = { "gpu_throttle", "gpu", throttle_defs,
                                             GPU_THROTTLE_VALUES };
const struct signal_set gpu_error_set = { "gpu_error", "gpu", error_defs, GPU_ERROR_VALUES };
const struct signal_set gpu_process_set = { "gpu_process", "process", process_defs,
                                            GPU_PROCESS_VALUES };
