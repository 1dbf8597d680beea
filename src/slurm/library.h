/* libslurm, opened by name through prototypes of our own. To be used in a process of its own alone:
 * it may end it. */
#ifndef BRIM_SLURM_LIBRARY_H
#define BRIM_SLURM_LIBRARY_H
#include <sys/types.h>
#include <time.h>

#include "slurm/backend.h"
#include "slurm/layout.h"

/* What deeds to jobs take from 26.05 on. */
struct slurm_step_id {
    uint64_t sluid;
    uint32_t job, component, step;
};

struct slurm_api {
    long (*version)(void);
    void (*init)(const char *conf);
    char *(*error_text)(int number);
    char *(*reason_text)(uint32_t reason);
    int (*load_jobs)(time_t since, void **ret, uint16_t show);
    int (*load_nodes)(time_t since, void **ret, uint16_t show);
    int (*load_topo)(void **ret);
    void (*free_jobs)(void *jobs);
    void (*free_nodes)(void *nodes);
    void (*free_topo)(void *topo);
    int (*load_parts)(time_t since, void **ret, uint16_t show);
    void (*free_parts)(void *parts);
    void (*init_job)(void *desc);
    int (*update_job)(void *desc);
    void (*init_node)(void *update);
    int (*update_node)(void *update);
    /* deeds to jobs: by number, and from 26.05 on by step */
    int (*requeue)(uint32_t job, uint32_t flags);
    int (*suspend)(uint32_t job);
    int (*resume)(uint32_t job);
    int (*kill)(uint32_t job, uint16_t signal, uint16_t flags);
    int (*notify)(uint32_t job, char *message);
    int (*requeue_step)(struct slurm_step_id id, uint32_t flags);
    int (*suspend_step)(struct slurm_step_id id);
    int (*resume_step)(struct slurm_step_id id);
    int (*kill_step)(struct slurm_step_id id, uint16_t signal, uint16_t flags);
    int (*notify_step)(struct slurm_step_id id, char *message);
};

struct slurm_library {
    void *handle;
    const struct slurm_layout *layout;
    struct slurm_api api;
    void *jobs, *nodes, *parts; /* the newest that it gave */
    bool untold;                /* something of them has not been read yet */
    const char *const *paths;   /* of switches above nodes, by their place in the table of nodes */
    size_t n_paths;
    struct arena topo; /* of paths */
};

int slurm_library_read(void *state, struct site *ret, struct err *e) CHECK_RESULT;
int slurm_library_act(void *state, const struct site_deed *deed, struct err *e) CHECK_RESULT;

/* Learn anew which switches are above nodes: no paths where it cannot be told. */
void slurm_library_topo(struct slurm_library *l);

#endif
