/* A BLAS that is broken in the way that FAKE_BLAS says: "crash"; "bit": one
 * number is off by one; else most numbers are wrong. */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

void EXPORT sgemm_(const char *ta, const char *tb, const int32_t *m, const int32_t *n,
                   const int32_t *k, const float *alpha, const float *a, const int32_t *lda,
                   const float *b, const int32_t *ldb, const float *beta, float *c,
                   const int32_t *ldc);
void EXPORT dgemm_(void);

/* All numbers right but for one bit of one. */
static void one_bit(int n, const float *a, const float *b, float *c)
{
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            float sum = 0;

            for (int k = 0; k < n; k++)
                sum += a[k * n + i] * b[j * n + k];
            c[j * n + i] = sum;
        }
    c[n + 17] += 1;
}

void sgemm_(const char *ta, const char *tb, const int32_t *m, const int32_t *n, const int32_t *k,
            const float *alpha, const float *a, const int32_t *lda, const float *b,
            const int32_t *ldb, const float *beta, float *c, const int32_t *ldc)
{
    const char *how = getenv("FAKE_BLAS");

    if (how && !strcmp(how, "crash"))
        (void)raise(SIGKILL);
    if (*ta != 'N' || *tb != 'N' || *m != *n || *n != *k || *alpha != 1.0F || *beta != 0.0F)
        return;
    if (*lda != *m || *ldb != *m || *ldc != *m)
        return;
    if (how && !strcmp(how, "bit"))
        one_bit(*n, a, b, c);
    else
        c[0] = 42;
}

void dgemm_(void)
{
}
