/* A libcublas.so.12 that computes a product when somebody reads it, and takes as long as a device
 * with 50 TFLOP/s in float32, 25 in float64 and 700 in bfloat16 would. On GPU 1 FAKE_CUBLAS makes
 * the products in one kind of number wrong: "float64 bit" changes the last bit of a number,
 * "bfloat16 nan" makes one none. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

enum kind { FLOAT32, FLOAT64, BFLOAT16 };

/* The last product that was asked for. */
static struct {
    enum kind kind;
    int side;
    const void *a, *b;
    void *c;
} last;

static double number(const void *from, size_t i)
{
    uint32_t bits;
    float value;

    if (last.kind == FLOAT64)
        return ((const double *)from)[i];
    if (last.kind == FLOAT32)
        return (double)((const float *)from)[i];
    bits = (uint32_t)((const uint16_t *)from)[i] << 16;
    memcpy(&value, &bits, sizeof(value));
    return (double)value;
}

static void put(size_t i, double value)
{
    if (last.kind == FLOAT64)
        ((double *)last.c)[i] = value;
    else
        ((float *)last.c)[i] = (float)value;
}

static void spoil(void)
{
    static const char *const names[] = { "float32", "float64", "bfloat16" };
    const char *how = getenv("FAKE_CUBLAS");
    size_t len = strlen(names[last.kind]);
    unsigned char *at = last.c;

    at += (size_t)(last.side + 5) * (last.kind == FLOAT64 ? sizeof(double) : sizeof(float));
    if (!how || fake_cuda_device() != 1 || strncmp(how, names[last.kind], len) != 0)
        return;
    if (!strcmp(how + len, " nan"))
        put((size_t)last.side + 5, (double)NAN);
    else
        *at ^= 1;
}

/* The numbers of a matrix as doubles, each row of it, or each column, in one piece. */
static double *numbers(const void *from, size_t n, bool rows)
{
    double *to = calloc(n * n, sizeof(*to));

    for (size_t i = 0; to && i < n * n; i++)
        to[rows ? i % n * n + i / n : i] = number(from, i);
    return to;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

static void make(void)
{
    size_t n = (size_t)last.side;
    CLEANUP(freep) double *a = numbers(last.a, n, true);
    CLEANUP(freep) double *b = numbers(last.b, n, false);

    for (size_t i = 0; a && b && i < n * n; i++)
        put(i, dot(a + i % n * n, b + i / n * n, n));
    spoil();
}

static void ask(enum kind kind, int side, const void *a, const void *b, void *c)
{
    last.kind = kind;
    last.side = side;
    last.a = a;
    last.b = b;
    last.c = c;
    fake_cuda_later(make);
}

static bool is_plain(const void *handle, int ta, int tb, int m, int n, int k)
{
    return handle && !ta && !tb && m == n && n == k;
}

int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,
                   const void *a, int lda, const void *b, int ldb, const float *beta, void *c,
                   int ldc)
{
    if (!is_plain(handle, ta, tb, m, n, k) || lda != m || ldb != m || ldc != m || *alpha != 1.0F ||
        *beta != 0.0F)
        return INVALID_VALUE;
    ask(FLOAT32, m, a, b, c);
    work(m, n, k, 50e12);
    return 0;
}

int cublasDgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const double *alpha,
                   const void *a, int lda, const void *b, int ldb, const double *beta, void *c,
                   int ldc)
{
    if (!is_plain(handle, ta, tb, m, n, k) || lda != m || ldb != m || ldc != m || *alpha != 1 ||
        *beta != 0)
        return INVALID_VALUE;
    ask(FLOAT64, m, a, b, c);
    work(m, n, k, 25e12);
    return 0;
}

int cublasGemmEx(void *handle, int ta, int tb, int m, int n, int k, const void *alpha,
                 const void *a, int a_type, int lda, const void *b, int b_type, int ldb,
                 const void *beta, void *c, int c_type, int ldc, int compute, int algorithm)
{
    if (!is_plain(handle, ta, tb, m, n, k) || lda != m || ldb != m || ldc != m || !alpha || !beta ||
        !a || !b || !c || a_type != CUDA_R_16BF || b_type != CUDA_R_16BF ||
        compute != CUBLAS_COMPUTE_32F || algorithm != CUBLAS_GEMM_DEFAULT)
        return INVALID_VALUE;
    if (c_type == CUDA_R_32F)
        ask(BFLOAT16, m, a, b, c);
    else if (c_type != CUDA_R_16BF)
        return INVALID_VALUE;
    work(m, n, k, 700e12);
    return 0;
}
