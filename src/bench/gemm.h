/* Matrix products by a BLAS, as a job would have them. */
#ifndef BRIM_BENCH_GEMM_H
#define BRIM_BENCH_GEMM_H
#include "bench/child.h"

struct blas_gemm_about {
    const char *path;  /* of the library; NULL: what the loader finds as libblas.so.3 */
    int threads;       /* that it is told to use */
    int64_t window_ns; /* how long to measure each kind */
    int side_max;      /* of the matrices */
};

struct blas_gemm {
    double gflops32, gflops64; /* the best call */
    int side;                  /* of the matrices in float32 */
    int threaded;              /* it can be told how many threads to use */
    char library[512];         /* the file */
};

/* For child_run(); arg is a struct blas_gemm_about, result a struct blas_gemm. A product
 * that is not exactly what it must be (bench/exact.h) is -EBADMSG. */
int blas_gemm_child(struct child *c, const void *arg, void *result, struct err *e);

#endif
