/* Words that the renderers share: sizes, rates, and what matters about a device or a node. All text
 * that comes from the model is cleaned (render/text.h). Absent values add nothing. */
#ifndef BRIM_RENDER_MACHINE_DESCRIBE_H
#define BRIM_RENDER_MACHINE_DESCRIBE_H
#include "base/str.h"
#include "render/machine/render.h"

/* "2.0 TiB": host memory, in powers of 1024. */
void describe_ram(struct str *out, int64_t bytes);

/* "960 GB", "3.8 TB": storage, in powers of 1000. */
void describe_storage(struct str *out, int64_t bytes);

/* "400 Gbit/s", "2.5 Gbit/s" */
void describe_gbps(struct str *out, double gbps);

/* "63 GB/s", "7.9 GB/s" */
void describe_gbs(struct str *out, double gbs);

/* The name in the catalogue, else what the device calls itself; NULL when neither is known. Not
 * cleaned. */
const char *describe_product(const struct machine_view *v, const struct device *d);

/* The memory of an accelerator as it is sold ("80 GB", where the driver counts 85.5e9 bytes), else
 * as it was read. */
void describe_device_memory(struct str *out, const struct machine_view *v, const struct device *d);

/* What matters: "80 GB"; "400 Gbit/s InfiniBand up, ibp24s0"; "960 GB". */
void describe_device(struct str *out, const struct machine_view *v, const struct device *d);

/* PCI address, without the domain when the node has only domain 0. */
void describe_address(struct str *out, const struct node *n, int pci);

/* Who made a PCIe switch, as far as its vendor id tells; NULL. */
const char *describe_switch_vendor(uint16_t vendor);

/* "NVLink", "xGMI" ... */
const char *describe_link_kind(enum link_kind kind);

/* ---- a node in one line each (describe_node.c) ---- */

/* "NVIDIA DGXH100, bare metal, Linux 5.15.0" */
void describe_host(struct str *out, const struct node *n);

/* "2x Intel(R) Xeon(R) Platinum 8480C, 112 cores, 224 threads, 2.0 TiB" */
void describe_cpus(struct str *out, const struct node *n);

/* "2x Xeon Platinum 8480C": for tables. */
void describe_cpus_short(struct str *out, const struct node *n);

/* "8x H100-SXM5-80GB", products of a kind with their counts. */
void describe_products(struct str *out, const struct machine_view *v, const struct node *n,
                       enum device_kind kind);

/* "NV18 between all pairs", "NV12 between GPU0-GPU1, GPU2-GPU3"; nothing for fewer than two
 * accelerators. */
void describe_fabric(struct str *out, const struct node *n);

/* "NV18", "NV12, 2 of 6 pairs", "PCIe": for tables. */
void describe_fabric_short(struct str *out, const struct node *n);

/* The accelerator whose memory a domain without CPUs is: such domains follow the accelerators in
 * order, and their sizes are alike (the driver keeps some for itself). ABSENT when it is none. */
int describe_memory_owner(const struct node *n, int numa);

/* True when the only accelerators are the CPU's own cores. */
bool describe_only_cores(const struct node *n);

#endif
