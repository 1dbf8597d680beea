#include "bench/gemm.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "bench/exact.h"

enum { SIDE_MIN = 128, CALLS_MIN = 3, PASSES = 4 };

/* Fortran's interface, which every BLAS has. Integers are given as 64 bits: a library that takes 32
 * reads the lower half, on machines that store it first. The last two are the lengths of the
 * texts. */
typedef void gemm_fn(const char *ta, const char *tb, const int64_t *m, const int64_t *n,
                     const int64_t *k, const void *alpha, const void *a, const int64_t *lda,
                     const void *b, const int64_t *ldb, const void *beta, void *c,
                     const int64_t *ldc, size_t ta_len, size_t tb_len);
typedef void set_threads_fn(int n);
typedef void set_long_fn(long n);

struct blas {
    gemm_fn *sgemm, *dgemm;
};

/* One kind of number. */
struct matrices {
    gemm_fn *call;
    size_t size; /* of a number */
    void *a, *b, *c;
};

/* What libraries read when they are loaded, in a process of our own. */
static void tell_before(int threads)
{
    static const char *const names[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                         "GOTO_NUM_THREADS", "MKL_NUM_THREADS",
                                         "BLIS_NUM_THREADS" };
    char text[16];

    snprintf(text, sizeof(text), "%d", threads);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        (void)setenv(names[i], text, 1);
}

static bool tell_after(void *lib, int threads)
{
    static const char *const names[] = { "openblas_set_num_threads", "MKL_Set_Num_Threads",
                                         "nvpl_blas_set_num_threads", "armpl_set_num_threads",
                                         "flexiblas_set_num_threads" };
    set_threads_fn *set;
    set_long_fn *set_long;

    *(void **)&set_long = dlsym(lib, "bli_thread_set_num_threads");
    if (set_long)
        set_long(threads);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        *(void **)&set = dlsym(lib, names[i]);
        if (!set)
            continue;
        set(threads);
        return true;
    }
    return set_long != NULL;
}

static int open_blas(const struct blas_gemm_about *about, struct blas *b, struct blas_gemm *to,
                     struct err *e)
{
    static const char *const names[] = { "libblas.so.3", "libopenblas.so.0", "libmkl_rt.so.2" };
    void *lib = NULL;
    Dl_info info;

    tell_before(about->threads);
    if (about->path)
        lib = dlopen(about->path, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !about->path && !lib && i < ARRAY_SIZE(names); i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib && about->path)
        return err_set(e, -ENOENT, "%s: --blas names a BLAS, such as libopenblas.so.0", dlerror());
    if (!lib)
        return err_set(e, -ENOENT,
                       "there is no libblas.so.3 (Debian: package "
                       "libopenblas0-pthread); --blas can name a BLAS");
    *(void **)&b->sgemm = dlsym(lib, "sgemm_");
    *(void **)&b->dgemm = dlsym(lib, "dgemm_");
    if (!b->sgemm || !b->dgemm)
        return err_set(e, -ENOSYS, "%s: it has no sgemm_ and dgemm_: this is no BLAS",
                       about->path ? about->path : names[0]);
    to->threaded = tell_after(lib, about->threads);
    if (dladdr(*(void **)&b->sgemm, &info) && info.dli_fname) {
        CLEANUP(freep) char *whole = realpath(info.dli_fname, NULL);

        snprintf(to->library, sizeof(to->library), "%s", whole ? whole : info.dli_fname);
    }
    return 0;
}

static enum exact_kind kind_of(const struct matrices *m)
{
    return m->size == sizeof(float) ? EXACT_FLOAT32 : EXACT_FLOAT64;
}

static int make(struct matrices *m, int side_max, struct err *e)
{
    size_t count = (size_t)side_max * (size_t)side_max;

    m->a = malloc(count * m->size);
    m->b = malloc(count * m->size);
    m->c = calloc(count, m->size);
    if (!m->a || !m->b || !m->c)
        return err_nomem(e);
    exact_fill(EXACT_A, kind_of(m), 0, count, m->a);
    exact_fill(EXACT_B, kind_of(m), 0, count, m->b);
    return 0;
}

static void matrices_done(struct matrices *m)
{
    free(m->a);
    free(m->b);
    free(m->c);
}

/* Seconds of one product. */
static double multiply(const struct matrices *m, int side)
{
    static const float one32 = 1, zero32 = 0;
    static const double one64 = 1, zero64 = 0;
    const bool wide = m->size == sizeof(double);
    const void *one = wide ? (const void *)&one64 : &one32;
    const void *zero = wide ? (const void *)&zero64 : &zero32;
    const int64_t n = side;
    int64_t begin = clock_monotonic_ns(&clock_system);

    m->call("N", "N", &n, &n, &n, one, m->a, &n, m->b, &n, zero, m->c, &n, 1, 1);
    return clock_seconds(clock_monotonic_ns(&clock_system) - begin);
}

/* Whether the last product is what it must be. */
static int check(const struct matrices *m, int side, struct err *e)
{
    CLEANUP(exact_done) struct exact x = { .side = 0 };
    int rc = exact_open(&x, side, e);

    if (rc < 0)
        return rc;
    exact_add(&x, kind_of(m), 0, (size_t)side * (size_t)side, m->c);
    return exact_verdict(&x, e);
}

/* The best rate within the window, in GFLOP/s; -EBADMSG for wrong numbers. The matrices grow until
 * a product takes a quarter of the window. */
static int measure(const struct matrices *m, const struct blas_gemm_about *about, int *side_out,
                   double *ret, struct err *e)
{
    double window = clock_seconds(about->window_ns), seconds, best = 0, spent = 0;
    int side = SIDE_MIN;

    (void)multiply(m, SIDE_MIN);
    seconds = multiply(m, side);
    while (2 * side <= about->side_max && 8 * seconds * PASSES < window) {
        side *= 2;
        seconds = multiply(m, side);
    }
    for (int i = 0; i < CALLS_MIN || spent < window; i++) {
        double flop = 2.0 * side * side * side;

        seconds = multiply(m, side);
        spent += seconds;
        if (seconds > 0 && flop / seconds / 1e9 > best)
            best = flop / seconds / 1e9;
    }
    *side_out = side;
    *ret = best;
    return check(m, side, e);
}

int blas_gemm_child(struct child *c, const void *arg, void *result, struct err *e)
{
    const struct blas_gemm_about *about = arg;
    CLEANUP(matrices_done) struct matrices m32 = { .size = sizeof(float) };
    CLEANUP(matrices_done) struct matrices m64 = { .size = sizeof(double) };
    struct blas_gemm *to = result;
    struct blas b = { NULL, NULL };
    int side, rc = open_blas(about, &b, to, e);

    if (rc == 0)
        rc = make(&m32, about->side_max, e);
    if (rc == 0)
        rc = make(&m64, about->side_max, e);
    if (rc < 0 || !m32.c || !m64.c)
        return rc;
    m32.call = b.sgemm;
    m64.call = b.dgemm;
    child_ready(c);
    rc = measure(&m32, about, &to->side, &to->gflops32, e);
    if (rc == 0)
        rc = measure(&m64, about, &side, &to->gflops64, e);
    return rc < 0 ? err_context(e, rc, "%s: ", to->library) : 0;
}
