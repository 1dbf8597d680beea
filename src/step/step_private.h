/* The handle behind brim/step.h. */
#ifndef BRIM_STEP_STEP_PRIVATE_H
#define BRIM_STEP_STEP_PRIVATE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "brim/ring.h"
#include "brim/step.h"

enum { STEP_NAMES = 64 };

/* Lies in pages of its own that the kernel hands to a forked child as zeros (MADV_WIPEONFORK):
 * there header is NULL, and the check for a NULL costs no mark anything. Kernels before 4.14 lack
 * that; then owner is set and each mark asks getpid(). */
struct brim_step {
    struct brim_ring_header *header;
    struct brim_ring_record *records;
    char *text;
    uint64_t mask; /* capacity - 1 */
    uint32_t text_size;
    pid_t owner; /* 0: need not be asked */
    size_t size; /* of the mapping */
    /* Names of values that the texts have already; taken by one thread at a time, the others write
     * theirs anew. */
    atomic_flag names_taken;
    unsigned n_names;
    struct {
        uint32_t at, len;
    } names[STEP_NAMES];
};

#endif
