/* Where a release of libslurm has its fields. One table for each, made by script/slurm_layout.py:
 * records are read and written at offsets, so that brim builds without Slurm's headers. */
#ifndef BRIM_SLURM_LAYOUT_H
#define BRIM_SLURM_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum slurm_field_id {
    JOBS_UPDATED,
    JOBS_COUNT,
    JOBS_RECORDS,
    JOB_ID,
    JOB_ACCOUNT,
    JOB_NOTE,
    JOB_ARRAY,
    JOB_TASK,
    JOB_TASKS,
    JOB_BATCH,
    JOB_COMMENT,
    JOB_DEPENDENCY,
    JOB_ELIGIBLE,
    JOB_END,
    JOB_AVOIDED,
    JOB_FEATURES,
    JOB_DETAILS,
    JOB_DETAIL,
    JOB_STATE,
    JOB_NODES_MOST,
    JOB_NAME,
    JOB_PLACES,
    JOB_CPUS,
    JOB_NODES,
    JOB_PROCESSES,
    JOB_PARTITION,
    JOB_MEMORY,
    JOB_PRIORITY,
    JOB_QOS,
    JOB_WANTED,
    JOB_REQUEUE,
    JOB_RESTARTS,
    JOB_SHARED,
    JOB_START,
    JOB_REASON,
    JOB_SUBMIT,
    JOB_LIMIT,
    JOB_PER_JOB,
    JOB_PER_NODE,
    JOB_PER_TASK,
    JOB_TRES_ASKED,
    JOB_TRES,
    JOB_UID,
    JOB_USER,
    JOB_CLUSTER,
    NODES_UPDATED,
    NODES_COUNT,
    NODES_RECORDS,
    NODE_CPUS,
    NODE_FEATURES,
    NODE_FEATURES_NOW,
    NODE_GRES,
    NODE_NAME,
    NODE_ADDRESS,
    NODE_STATE,
    NODE_MEMORY,
    NODE_REASON,
    NODE_REASON_UID,
    PARTS_UPDATED,
    PARTS_COUNT,
    PARTS_RECORDS,
    PART_NAME,
    PART_PLACES,
    TOPO_COUNT,
    TOPO_RECORDS,
    SWITCH_NAME,
    SWITCH_NODES,
    SWITCH_SWITCHES,
    DESC_ID,
    DESC_NOTE,
    DESC_COMMENT,
    DESC_AVOIDED,
    DESC_WANTED,
    DESC_PRIORITY,
    DESC_NODES,
    UPDATE_FEATURES_NOW,
    UPDATE_NODES,
    UPDATE_STATE,
    UPDATE_REASON,
    UPDATE_REASON_UID,
    SLURM_FIELDS
};

struct slurm_field {
    uint16_t offset;
    uint16_t size; /* 0: this release has no such field */
};

struct slurm_layout {
    const char *soname;
    uint8_t api; /* the number of its interface, which its soname ends with, too */
    uint8_t major, minor;
    bool by_step; /* deeds to jobs take a step's id, by value, and not a number */
    size_t job_size, node_size, part_size, switch_size, desc_size, update_size;
    struct slurm_field fields[SLURM_FIELDS];
};

extern const struct slurm_layout slurm_layout_22_05, slurm_layout_24_11, slurm_layout_26_05;

/* An unsigned number; 0 where there is none. */
uint64_t slurm_number(const struct slurm_layout *l, const void *record, enum slurm_field_id id);

/* A pointer, of a text or a table; NULL. */
void *slurm_pointer(const struct slurm_layout *l, const void *record, enum slurm_field_id id);

void slurm_set_number(const struct slurm_layout *l, void *record, enum slurm_field_id id,
                      uint64_t value);

/* The library only reads what it points to. */
void slurm_set_text(const struct slurm_layout *l, void *record, enum slurm_field_id id,
                    const char *text);

#endif
