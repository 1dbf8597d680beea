/* Matrix products and copies on NVIDIA GPUs, through the driver's library and cuBLAS. */
#ifndef BRIM_BENCH_CUDA_H
#define BRIM_BENCH_CUDA_H
#include "bench/child.h"
#include "bench/clocks.h"

enum { CUDA_GPUS = 16, CUDA_WRONG = 128 };

enum cuda_kind { CUDA_FLOAT32, CUDA_FLOAT64, CUDA_BFLOAT16, CUDA_COPY, CUDA_KINDS };

struct cuda_about {
    enum cuda_kind together; /* of cuda_together_child() */
    const char *cublas;      /* its file; NULL: what the loader finds */
    int64_t window_ns;       /* how long to measure each kind */
};

struct cuda_gpu {
    char name[96], bus[24];                 /* "0000:17:00.0" */
    double tflops32, tflops64, tflops_bf16; /* the best of some products; 0: not measured */
    double copy_gbs;                        /* read and written */
    struct clock_seen seen[CUDA_KINDS];
    int side;
    char wrong
        [CUDA_WRONG]; /* "in float32, its product of matrices is wrong in row 17"; "": none is */
};

struct cuda_gpus {
    int count; /* that the driver lets us use */
    struct cuda_gpu gpus[CUDA_GPUS];
};

/* For child_run(); arg is a struct cuda_about, result a struct cuda_gpus. Without a driver or a GPU
 * there are none. -ENOENT when there are GPUs and no cuBLAS. A product that is not exactly what it
 * must be (bench/exact.h) is told in 'wrong' of its GPU. */
int cuda_child(struct child *c, const void *arg, void *result, struct err *e);

/* For child_run(); arg is a struct cuda_about, there is no result: whether its cuBLAS can be used,
 * which needs neither a driver nor a GPU. */
int cuda_library_child(struct child *c, const void *arg, void *result, struct err *e);

/* One GPU while all others do the same. */
struct cuda_together {
    double tflops;
    struct clock_seen seen;
    char wrong[CUDA_WRONG]; /* as above */
};

/* For child_run() with a copy for each GPU that cuda_child() found: they begin together, which
 * shows what the node's power and fans allow. arg is a struct cuda_about, result a struct
 * cuda_together. */
int cuda_together_child(struct child *c, const void *arg, void *result, struct err *e);

#endif
