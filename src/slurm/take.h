/* Nodes and jobs as Slurm has them, in its units and words, made into those of a site. Both its
 * library and its commands come through here. */
#ifndef BRIM_SLURM_TAKE_H
#define BRIM_SLURM_TAKE_H
#include "model/site/site.h"

#define SLURM_INFINITE UINT32_C(0xffffffff)
#define SLURM_NO_VALUE UINT32_C(0xfffffffe)
#define SLURM_PER_CPU (UINT64_C(1) << 63) /* of memory: for each CPU */

struct slurm_raw_node {
    const char *name, *address, *features, *gres, *reason; /* all but name may be NULL, or "" */
    uint32_t state, reason_uid;
    uint64_t cpus, memory_mib;
};

struct slurm_raw_job {
    uint32_t id, array, task, uid;
    const char *name, *user, *account, *partition, *qos, *comment, *note, *reason, *wanted;
    const char *avoided, *features, *dependency; /* all may be NULL */
    const char *tasks;                           /* of an array, those that wait: "0-3" */
    const char *per_job, *per_node, *per_task;   /* devices asked for, "gres:gpu:2" */
    const char *tres_asked, *tres;
    uint32_t state;
    bool batch, requeue, exclusive;
    int64_t submit_s, start_s, end_s, eligible_s;
    uint32_t limit_min, priority, restarts;
    uint32_t nodes, nodes_most, cpus, processes;
    uint64_t memory_mib; /* of a node, or SLURM_PER_CPU */
    /* one for each node that it has */
    const uint32_t *places; /* numbers of the site */
    size_t n_places;
    const char *const *details; /* "gpu:h100:4(IDX:0-3)" */
    size_t n_details;           /* of those there are; other than n_places: they are not used */
};

/* Add it to a site, which borrows its texts. 0 or -ENOMEM. */
int slurm_take_node(struct site *s, const struct slurm_raw_node *raw) CHECK_RESULT;
int slurm_take_job(struct site *s, const struct slurm_raw_job *raw, int64_t now_s) CHECK_RESULT;

/* When all are there: jobs in the order of their ids, nodes found by name. 0 or -ENOMEM. */
int slurm_take_end(struct site *s) CHECK_RESULT;

#endif
