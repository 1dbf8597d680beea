/* Clusters as people describe them: in a word on the command line, or in an INI file.
 *
 *     64x8xH100-SXM                       64 nodes of 8 GPUs
 *     512xH100                            512 GPUs, in nodes as their vendor builds them
 *     64x8xH100,nic=8x400G,leaf=32,price=2.5
 *
 *     [cluster]
 *     gpu = H100-SXM
 *     nodes = 64
 *     gpus = 8                # of a node
 *     nic = 8x400G
 *
 * Both take: nic (ports of a node x Gbit/s), domain (GPUs that fast links join), link (GB/s of one
 * GPU in it, one direction), leaf (nodes below one switch), oversubscribed (2: links above the
 * leaves have half of the rate), nic_latency and link_latency (us), memory (GB of a GPU), power (W
 * of a GPU, a limit below its own), price (of a GPU for an hour), mtbf (hours between failures of
 * one GPU).
 *
 * What is not said: ports as in the vendor's own node, in proportion to its GPUs; the domain that
 * the links of such GPUs join in a node (of a rack, beyond 16 GPUs), at their rate, PCIe's without
 * links; no leaves; latencies of 1.9 us between linked GPUs, 2.5 us over PCIe and 4 us between
 * nodes, a step of a ring in NCCL's own model (hwLatencies, LL128). */
#ifndef BRIM_PLAN_CLUSTER_CLUSTER_READ_H
#define BRIM_PLAN_CLUSTER_CLUSTER_READ_H
#include <stddef.h>

#include "plan/cluster/gpus.h"

/* 0, or -EINVAL with a sentence: "cluster '64x8xH10', character 6: unknown GPU 'H10' (did you mean
 * H100?)". */
int cluster_from_spec(struct cluster *ret, const struct gpus *g, const char *spec, struct err *e)
    CHECK_RESULT;

/* The section [cluster] of a file, which is "file:line: " in messages; other sections are not
 * looked at. */
int cluster_from_ini(struct cluster *ret, const struct gpus *g, const char *file, const char *text,
                     size_t len, struct err *e) CHECK_RESULT;

/* What reading is made of, for those that know a cluster from elsewhere. Fill the counts and the
 * GPU; what is left absent (0, NaN for rates and latencies) becomes the default. */
struct cluster_wish {
    const struct gpu_row *gpu;
    struct cluster c; /* gpu and assumed are not looked at */
    double memory_b;  /* NaN: as the table says */
    bool nics_said;   /* c.nics counts, even when it is 0 */
};
void cluster_wish_init(struct cluster_wish *w);
int cluster_settle(struct cluster *ret, const struct cluster_wish *w, struct err *e) CHECK_RESULT;

#endif
