/* What Slurm writes of GPUs: "gpu:h100:8(S:0-1)" of a node, "gpu:h100:4(IDX:0-3)" of a job on it,
 * "gres:gpu:2" and "gres/gpu:h100=8" of what a job asks for. Other devices are skipped. */
#ifndef BRIM_SLURM_GRES_H
#define BRIM_SLURM_GRES_H
#include <stdint.h>

struct slurm_gres {
    int32_t count;
    uint32_t devices; /* the first 32 of those that IDX tells of, as bits */
    char kind[64];    /* "": none was said, or several */
};

/* Never fails: what is no such text (NULL, too) has no GPUs. */
void slurm_gres_read(const char *text, struct slurm_gres *ret);

/* The bits of "0-3,6"; up to the first character that is none of these. */
uint32_t slurm_gres_bits(const char *text);

#endif
