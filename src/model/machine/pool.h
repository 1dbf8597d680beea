/* Where jobs are placed: nodes with devices, and how they are wired. Plain data; what is free is
 * the scheduler's (sched/place/free_capacity.h). */
#ifndef BRIM_MODEL_MACHINE_POOL_H
#define BRIM_MODEL_MACHINE_POOL_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { POOL_DEVICES = 16, POOL_KINDS = 64, POOL_NODES = 1 << 20 };

struct pool_node {
    const char *name;
    int64_t memory_mib; /* 0: not counted */
    int32_t cpus_milli; /* thousandths of a CPU; 0: not counted */
    /* Numbers of what joins nodes, from the inside out; 0 when nobody said. */
    int32_t domain, leaf, spine, rack;
    uint8_t devices; /* up to POOL_DEVICES */
    uint8_t kind;    /* of all its devices: index into kinds */
};

struct pool {
    struct arena arena;
    struct pool_node *nodes;
    size_t n_nodes;
    const char *kinds[POOL_KINDS];
    size_t n_kinds;
    int64_t devices; /* of all nodes */
    int most;        /* of one node */
    bool cpus;       /* devices are CPUs: sentences call them that */
};

void pool_done(struct pool *p);

/* What so many of its devices are called: "device", "CPUs". */
const char *pool_word(const struct pool *p, int64_t devices);

/* Add a node; kind NULL is a device without a name. -EINVAL with a sentence for a node without
 * devices or with more than POOL_DEVICES, or too many kinds or nodes. */
int pool_add(struct pool *p, const struct pool_node *node, const char *kind, struct err *e)
    CHECK_RESULT;

/* Add nodes from a text: "64x8" is 64 nodes with 8 devices each, "32x8:A100,4x4:T4" two kinds,
 * "64x8/16" puts each 16 nodes below one leaf switch, "64x8/16/2" two of those below a spine,
 * "72x4=18" 18 nodes in an NVLink domain. -EINVAL with a sentence. */
int pool_parse(struct pool *p, const char *text, struct err *e) CHECK_RESULT;

/* The number of a kind; -1 when no node has it. */
int pool_kind(const struct pool *p, const char *name);

#endif
