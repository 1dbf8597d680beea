/* A BLAS that is broken in the way that FAKE_BLAS says: "crash", else wrong numbers. */
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

void EXPORT sgemm_(const char *ta, const char *tb, const int32_t *m, const int32_t *n,
                   const int32_t *k, const float *alpha, const float *a, const int32_t *lda,
                   const float *b, const int32_t *ldb, const float *beta, float *c,
                   const int32_t *ldc);
void EXPORT dgemm_(void);

void sgemm_(const char *ta, const char *tb, const int32_t *m, const int32_t *n, const int32_t *k,
            const float *alpha, const float *a, const int32_t *lda, const float *b,
            const int32_t *ldb, const float *beta, float *c, const int32_t *ldc)
{
    if (getenv("FAKE_BLAS") && !strcmp(getenv("FAKE_BLAS"), "crash"))
        (void)raise(SIGKILL);
    if (*ta != 'N' || *tb != 'N' || *m != *n || *n != *k || *alpha != 1.0F || *beta != 0.0F)
        return;
    if (*lda == *m && *ldb == *m && *ldc == *m && *a == 1.0F && *b == 0.5F)
        c[0] = 42;
}

void dgemm_(void)
{
}
