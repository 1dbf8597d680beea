/* What CPUs, memory and GPUs of this machine really compute, against what they could. */
#ifndef BRIM_BENCH_COMPUTE_H
#define BRIM_BENCH_COMPUTE_H
#include <stdbool.h>

#include "bench/cuda.h"
#include "bench/nominal.h"
#include "model/machine/catalogue.h"
#include "probe/kernel/tree.h"

enum { COMPUTE_TEXT = 128 };

struct compute_about {
    struct tree *tree;
    const struct catalogue *devices;
    const char *blas, *cublas; /* libraries; NULL: what the loader finds */
    int64_t window_ns;         /* how long to measure each figure */
    bool no_cpus, no_gpus;     /* leave these out */
};

struct compute {
    char host[COMPUTE_TEXT], cpu[COMPUTE_TEXT]; /* printable ASCII */
    int cpus, cores;                            /* that we may use */
    struct nominal nominal;
    char blas[COMPUTE_TEXT]; /* "openblas"; "": there is none, blas_why says more */
    char library[512];       /* its file */
    struct err blas_why;
    bool blas_wrong;         /* blas_why is of a product that was wrong */
    double f32_one, f32_all; /* GFLOP/s on one core, and on all */
    double f64_one, f64_all;
    bool threaded;                            /* on all by threads of the library, else by copies */
    double copy_one, copy_all;                /* GB/s, read and written; 0: CPUs were left out */
    struct cuda_gpus gpus;                    /* one after the other */
    enum cuda_kind together_kind;             /* what they were measured in all at once */
    struct cuda_together together[CUDA_GPUS]; /* 0 TFLOP/s: not measured, as where there is one */
    struct err gpus_why;                      /* "": all that there are were measured */
    double bf16_peak[CUDA_GPUS]; /* TFLOP/s and GB/s of the catalogue; NaN: not known */
    double memory_peak[CUDA_GPUS];
};

/* Fill host and cpu: which machine this is. */
void compute_machine(struct tree *tree, struct compute *c);

/* Measure, some 8 windows and a few for each GPU. What cannot be measured is told in *_why and the
 * rest goes on. 0, or a negative errno when nothing can be. */
int compute_run(const struct compute_about *about, struct compute *ret, struct err *e) CHECK_RESULT;

#endif
