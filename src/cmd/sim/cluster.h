/* The cluster that Slurm runs, as a pool: which nodes have GPUs, and which of them the jobs of each
 * partition can get. */
#ifndef BRIM_CMD_SIM_CLUSTER_H
#define BRIM_CMD_SIM_CLUSTER_H
#include "model/job/job_spec.h"
#include "model/machine/pool.h"
#include "model/site/site.h"
#include "slurm/slurm.h"

enum { SIM_PARTITIONS = 64 };

struct sim_cluster {
    struct site site;
    struct arena arena;
    const char *partitions[SIM_PARTITIONS];
    size_t n_partitions;
    /* By number of a node in the site: partitions, as bits; that a job had it. */
    uint64_t *of;
    bool *had;
    /* By number of a kind of the pool: the type, "" where nobody says, and partitions. */
    const char *types[POOL_KINDS];
    uint64_t in[POOL_KINDS];
    size_t n_kinds;
    size_t away;  /* nodes that are down or drained, and on which no job was */
    size_t large; /* nodes with more GPUs than are told apart */
};

/* What sim_cluster_read() is made of, once the site is known: room for what is known of its nodes;
 * a line of sinfo, "PARTITION|n[0-3]", which is taken apart (0 also for what is no such line, NULL
 * among it; -ENOMEM); then the kinds of devices. */
int sim_cluster_begin(struct sim_cluster *c, struct err *e) CHECK_RESULT;
int sim_cluster_partition(void *ctx, char *line) CHECK_RESULT;
int sim_cluster_end(struct sim_cluster *c, struct err *e) CHECK_RESULT;

/* Ask Slurm (config). -ENODEV when no node has GPUs, or what slurm_open() and the like say. */
int sim_cluster_read(struct sim_cluster *c, const struct slurm_config *config, struct err *e)
    CHECK_RESULT;
void sim_cluster_done(struct sim_cluster *c);

/* What past_cluster asks and tells (trace/past.h); ctx is the cluster. */
void sim_cluster_had(void *ctx, const char *nodes);
uint64_t sim_cluster_kinds(void *ctx, const char *partition, const char *type);

/* The pool of what is there and in use, once it is known which nodes jobs had. The jobs get the
 * numbers of its kinds instead of those of sim_cluster_kinds(). -ENODEV, -EINVAL, -ENOMEM. */
int sim_cluster_pool(struct pool *ret, struct sim_cluster *c, struct workload *work, struct err *e)
    CHECK_RESULT;

#endif
