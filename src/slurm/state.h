/* States of nodes and jobs, as Slurm's numbers and as its words. */
#ifndef BRIM_SLURM_STATE_H
#define BRIM_SLURM_STATE_H
#include "model/site/site.h"

/* What of a node follows from its state: state, drained, silent, reserved. */
void slurm_state_of_node(uint32_t state, struct site_node *ret);

/* An enum site_job_state. */
uint8_t slurm_state_of_job(uint32_t state);

/* An enum site_job_outcome. */
uint8_t slurm_state_outcome(uint32_t state);

/* The bits of a word: "IDLE", "DRAIN"; of several joined by '+'; 0 for those that are not known. */
uint32_t slurm_state_node_bits(const char *words);
uint32_t slurm_state_job_bits(const char *words);

/* The word of a reason why a job waits; NULL where it is not known. */
const char *slurm_state_reason(uint32_t reason);

/* Whether nodes cannot help: another job, a date, a limit. */
bool slurm_state_depends(const char *reason);

#endif
