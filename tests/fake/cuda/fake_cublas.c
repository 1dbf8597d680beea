/* A libcublas.so.12 that computes the first number of a product, and takes as long as a device with
 * 50 TFLOP/s in float32, 25 in float64 and 700 in bfloat16 would. */
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "bench/cuda_abi.h"
#include "fake_cuda.h"

enum { INVALID_VALUE = 7 };

int EXPORT cublasCreate_v2(void **handle);
int EXPORT cublasDestroy_v2(void *handle);
cublas_sgemm_fn EXPORT cublasSgemm_v2;
cublas_dgemm_fn EXPORT cublasDgemm_v2;
cublas_gemm_ex_fn EXPORT cublasGemmEx;

int cublasCreate_v2(void **handle)
{
    *handle = malloc(1);
    return *handle ? 0 : INVALID_VALUE;
}

int cublasDestroy_v2(void *handle)
{
    free(handle);
    return 0;
}

static void work(int m, int n, int k, double rate)
{
    fake_cuda_work(2.0 * m * n * k / rate);
}

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,
                   const void *a, int lda, const void *b, int ldb, const float *beta, void *c,
                   int ldc)
{
    const float *x = a, *y = b;
    double sum = 0;

    if (!handle || ta || tb || lda < m || ldb < k || ldc < m || *beta != 0.0F)
        return INVALID_VALUE;
    for (int i = 0; i < k; i++)
        sum += (double)x[(size_t)i * (size_t)lda] * (double)y[i];
    *(float *)c = (float)(sum * (double)*alpha);
    work(m, n, k, 50e12);
    return 0;
}

int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                   const void *a, int lda, const void *b, int ldb, const double *beta, void *c,
                   int ldc)
{
    const double *x = a, *y = b;
    double sum = 0;

    if (!handle || ta || tb || lda < m || ldb < k || ldc < m || *beta != 0)
        return INVALID_VALUE;
    for (int i = 0; i < k; i++)
        sum += x[(size_t)i * (size_t)lda] * y[i];
    *(double *)c = sum * *alpha;
    work(m, n, k, 25e12);
    return 0;
}

int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                 const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                 const void *beta, void *c, int c_type, int ldc, int compute, int algorithm)
{
    if (!handle || ta || tb || lda < m || ldb < k || ldc < m || !alpha || !beta || !a || !b || !c ||
        a_type != CUDA_R_16BF || b_type != CUDA_R_16BF || c_type != CUDA_R_16BF ||
        compute != CUBLAS_COMPUTE_32F || algorithm != CUBLAS_GEMM_DEFAULT)
        return INVALID_VALUE;
    work(m, n, k, 700e12);
    return 0;
}
