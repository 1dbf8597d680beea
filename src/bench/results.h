/* Results that are kept: a file for each BLAS, of one machine. */
#ifndef BRIM_BENCH_RESULTS_H
#define BRIM_BENCH_RESULTS_H
#include "base/arena.h"
#include "bench/compute.h"
#include "model/job/run.h"

/* Write folder/compute-BLAS.ini, whole or not at all; folders are made for their owner alone. A
 * result without a BLAS is not kept. path: what was written, "" for nothing. 0 or a negative
 * errno. */
int results_keep(const struct compute *c, const char *folder, int64_t wall_ns, struct str *path,
                 struct err *e) CHECK_RESULT;

/* What was measured on this machine (host and cpu of 'here'), for the environment of a run: notes
 * "bench.blas.openblas" with "103 of 160 GFLOP/s". What is of other machines, or damaged, is left
 * out. Allocated in a. 0 or -ENOMEM. */
int results_notes(struct arena *a, const char *folder, const struct compute *here,
                  struct run_note **notes, size_t *n) CHECK_RESULT;

#endif
