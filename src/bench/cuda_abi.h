/* The calls of libcuda.so.1 and libcublas.so that are used, from NVIDIA's documents "CUDA Driver
 * API" and "cuBLAS" (12.x; the functions are those of 11 and 13, too). */
#ifndef BRIM_BENCH_CUDA_ABI_H
#define BRIM_BENCH_CUDA_ABI_H
#include <stddef.h>

typedef int cuda_device;
typedef unsigned long long cuda_pointer;

typedef int cuda_init_fn(unsigned flags);
typedef int cuda_count_fn(int *count);
typedef int cuda_get_fn(cuda_device *device, int ordinal);
typedef int cuda_text_fn(char *text, int len, cuda_device device);
typedef int cuda_retain_fn(void **context, cuda_device device);
typedef int cuda_release_fn(cuda_device device);
typedef int cuda_current_fn(void *context);
typedef int cuda_plain_fn(void);
typedef int cuda_memory_fn(size_t *free, size_t *total);
typedef int cuda_alloc_fn(cuda_pointer *pointer, size_t bytes);
typedef int cuda_free_fn(cuda_pointer pointer);
typedef int cuda_to_device_fn(cuda_pointer to, const void *from, size_t bytes);
typedef int cuda_to_host_fn(void *to, cuda_pointer from, size_t bytes);
typedef int cuda_copy_fn(cuda_pointer to, cuda_pointer from, size_t bytes);
typedef int cuda_event_fn(void **event, unsigned flags);
typedef int cuda_record_fn(void *event, void *stream);
typedef int cuda_wait_fn(void *event);
typedef int cuda_elapsed_fn(float *ms, void *begin, void *end);
typedef int cuda_error_fn(int error, const char **name);

typedef int cublas_create_fn(void **handle);
typedef int cublas_destroy_fn(void *handle);
typedef int cublas_sgemm_fn(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,
                            const void *a, int lda, const void *b, int ldb, const float *beta,
                            void *c, int ldc);
typedef int cublas_dgemm_fn(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                            const void *a, int lda, const void *b, int ldb, const double *beta,
                            void *c, int ldc);
typedef int cublas_gemm_ex_fn(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                              const void *a, int a_type, int lda, const void *b, int b_type,
                              int ldb, const void *beta, void *c, int c_type, int ldc, int compute,
                              int algorithm);

enum {
    CUDA_ERROR_NO_DEVICE = 100,
    CUBLAS_OP_N = 0,
    CUDA_R_32F = 0,
    CUDA_R_16BF = 14,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_GEMM_DEFAULT = -1,
};

#endif
