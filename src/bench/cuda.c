#include "bench/cuda.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "bench/cuda_abi.h"
#include "bench/exact.h"

enum { SIDE = EXACT_SIDE, SIDE_SMALL = 256, BLOCK = 4 << 20, BATCH = 4, BATCHES_MIN = 3 };

struct cuda {
    void *driver, *library;
    cuda_init_fn *init;
    cuda_count_fn *count;
    cuda_get_fn *get;
    cuda_text_fn *name, *bus;
    cuda_retain_fn *retain;
    cuda_release_fn *release;
    cuda_current_fn *current;
    cuda_plain_fn *synchronize;
    cuda_memory_fn *memory;
    cuda_alloc_fn *alloc;
    cuda_free_fn *free;
    cuda_to_device_fn *to_device;
    cuda_to_host_fn *to_host;
    cuda_copy_fn *copy;
    cuda_event_fn *event;
    cuda_record_fn *record;
    cuda_wait_fn *wait;
    cuda_elapsed_fn *elapsed;
    cuda_error_fn *error;
    cublas_create_fn *create;
    cublas_destroy_fn *destroy;
    cublas_sgemm_fn *sgemm;
    cublas_dgemm_fn *dgemm;
    cublas_gemm_ex_fn *gemm_ex;
};

static const struct symbol {
    const char *name;
    size_t offset;
} driver_symbols[] = {
    { "cuInit", offsetof(struct cuda, init) },
    { "cuDeviceGetCount", offsetof(struct cuda, count) },
    { "cuDeviceGet", offsetof(struct cuda, get) },
    { "cuDeviceGetName", offsetof(struct cuda, name) },
    { "cuDeviceGetPCIBusId", offsetof(struct cuda, bus) },
    { "cuDevicePrimaryCtxRetain", offsetof(struct cuda, retain) },
    { "cuDevicePrimaryCtxRelease_v2", offsetof(struct cuda, release) },
    { "cuCtxSetCurrent", offsetof(struct cuda, current) },
    { "cuCtxSynchronize", offsetof(struct cuda, synchronize) },
    { "cuMemGetInfo_v2", offsetof(struct cuda, memory) },
    { "cuMemAlloc_v2", offsetof(struct cuda, alloc) },
    { "cuMemFree_v2", offsetof(struct cuda, free) },
    { "cuMemcpyHtoD_v2", offsetof(struct cuda, to_device) },
    { "cuMemcpyDtoH_v2", offsetof(struct cuda, to_host) },
    { "cuMemcpyDtoD_v2", offsetof(struct cuda, copy) },
    { "cuEventCreate", offsetof(struct cuda, event) },
    { "cuEventRecord", offsetof(struct cuda, record) },
    { "cuEventSynchronize", offsetof(struct cuda, wait) },
    { "cuEventElapsedTime", offsetof(struct cuda, elapsed) },
    { "cuGetErrorName", offsetof(struct cuda, error) },
};

static const struct symbol cublas_symbols[] = {
    { "cublasCreate_v2", offsetof(struct cuda, create) },
    { "cublasDestroy_v2", offsetof(struct cuda, destroy) },
    { "cublasSgemm_v2", offsetof(struct cuda, sgemm) },
    { "cublasDgemm_v2", offsetof(struct cuda, dgemm) },
    { "cublasGemmEx", offsetof(struct cuda, gemm_ex) },
};

static int find_all(struct cuda *c, void *lib, const struct symbol *symbols, size_t n,
                    struct err *e)
{
    for (size_t i = 0; i < n; i++) {
        void *fn = dlsym(lib, symbols[i].name);

        if (!fn)
            return err_set(e, -ENOSYS, "the installed library lacks %s", symbols[i].name);
        *(void **)((char *)c + symbols[i].offset) = fn;
    }
    return 0;
}

/* A call of the driver that failed. */
static int failed(const struct cuda *c, const char *call, int code, struct err *e)
{
    const char *name = NULL;

    if (c->error(code, &name) != 0 || !name)
        name = "unknown";
    return err_set(e, -EIO, "%s: error %d (%s)", call, code, name);
}

#define CALL(c, member, label, ...) \
    do { \
        int code_ = (c)->member(__VA_ARGS__); \
        if (code_) \
            return failed((c), (label), code_, e); \
    } while (0)

static int open_cublas(struct cuda *c, const char *path, struct err *e)
{
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
                                         "libcublas.so" };

    if (path)
        c->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !path && !c->library && i < ARRAY_SIZE(names); i++)
        c->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!c->library && path)
        return err_set(e, -ENOENT, "%s: --cublas names cuBLAS, such as libcublas.so.12", dlerror());
    if (!c->library)
        return err_set(e, -ENOENT,
                       "there is no libcublas.so where the loader looks; --cublas can name it "
                       "(of pip: site-packages/nvidia/cublas/lib/libcublas.so.12)");
    return find_all(c, c->library, cublas_symbols, ARRAY_SIZE(cublas_symbols), e);
}

/* ---- one GPU ---- */

struct gpu {
    const struct cuda *c;
    cuda_device device;
    void *blas, *begin, *end;
    cuda_pointer a, b, to;
    size_t bytes; /* of each of the three */
    int side;
    struct clocks clocks;
    struct exact exact; /* what products are checked with */
};

/* Numbers from 1 to 2 with random digits: power, and so the clock, depends on the data
 * (arXiv 2212.08805), and zeros would look too good. */
static void make_block(enum cuda_kind kind, unsigned char block[BLOCK])
{
    uint64_t x = 0x9e3779b97f4a7c15ULL;

    for (size_t i = 0; i < BLOCK; i += 8) {
        uint64_t v;

        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        v = x;
        if (kind == CUDA_FLOAT64)
            v = (v >> 12) | 0x3ff0000000000000ULL;
        else if (kind == CUDA_FLOAT32)
            v = (v & 0x007fffff007fffffULL) | 0x3f8000003f800000ULL;
        else
            v = (v & 0x007f007f007f007fULL) | 0x3f803f803f803f80ULL;
        memcpy(block + i, &v, 8);
    }
}

static int upload(const struct gpu *g, enum cuda_kind kind, struct err *e)
{
    CLEANUP(freep) unsigned char *block = malloc(BLOCK);

    if (!block)
        return err_nomem(e);
    make_block(kind, block);
    for (size_t done = 0; done < g->bytes; done += BLOCK) {
        size_t n = MIN((size_t)BLOCK, g->bytes - done);

        CALL(g->c, to_device, "cuMemcpyHtoD", g->a + done, block, n);
        CALL(g->c, to_device, "cuMemcpyHtoD", g->b + done, block, n);
    }
    return 0;
}

/* The driver tells addresses on the device as numbers, cuBLAS takes them as pointers. */
static void *address(uintptr_t number)
{
    void *at;

    memcpy(&at, &number, sizeof(at));
    return at;
}

/* One product or copy; wide is the kind of number in a product of bfloat16. */
static int once(const struct gpu *g, enum cuda_kind kind, int wide, struct err *e)
{
    static const float one32 = 1, zero32 = 0;
    static const double one64 = 1, zero64 = 0;
    const void *a = address(g->a), *b = address(g->b);
    void *to = address(g->to);
    int n = g->side, rc;

    if (kind == CUDA_COPY) {
        CALL(g->c, copy, "cuMemcpyDtoD", g->to, g->a, g->bytes);
        return 0;
    }
    if (kind == CUDA_FLOAT32)
        rc = g->c->sgemm(g->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one32, a, n, b, n, &zero32,
                         to, n);
    else if (kind == CUDA_FLOAT64)
        rc = g->c->dgemm(g->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one64, a, n, b, n, &zero64,
                         to, n);
    else
        rc = g->c->gemm_ex(g->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one32, a, CUDA_R_16BF, n, b,
                           CUDA_R_16BF, n, &zero32, to, wide, n, CUBLAS_COMPUTE_32F,
                           CUBLAS_GEMM_DEFAULT);
    return rc ? err_set(e, -EIO, "cuBLAS: status %d", rc) : 0;
}

/* Seconds of one of some in a row, by the device's own clock. */
static int time_some(struct gpu *g, enum cuda_kind kind, double *seconds, struct err *e)
{
    float ms = 0;
    int rc = 0;

    CALL(g->c, record, "cuEventRecord", g->begin, NULL);
    for (int i = 0; i < BATCH && rc == 0; i++)
        rc = once(g, kind, CUDA_R_16BF, e);
    if (rc < 0)
        return rc;
    CALL(g->c, record, "cuEventRecord", g->end, NULL);
    clocks_sample(&g->clocks); /* while it is at work */
    CALL(g->c, wait, "cuEventSynchronize", g->end);
    CALL(g->c, elapsed, "cuEventElapsedTime", &ms, g->begin, g->end);
    *seconds = (double)ms / 1e3 / BATCH;
    return 0;
}

/* ---- is it right ---- */

static const struct {
    const char *name;
    enum exact_kind exact;
} kinds[] = { [CUDA_FLOAT32] = { "float32", EXACT_FLOAT32 },
              [CUDA_FLOAT64] = { "float64", EXACT_FLOAT64 },
              [CUDA_BFLOAT16] = { "bfloat16", EXACT_BFLOAT16 } };

static int upload_exact(const struct gpu *g, enum exact_kind kind, unsigned char *block,
                        struct err *e)
{
    size_t size = exact_size(kind), count = (size_t)g->side * (size_t)g->side;

    for (size_t done = 0, n; done < count; done += n) {
        n = MIN(BLOCK / size, count - done);
        exact_fill(EXACT_A, kind, done, n, block);
        CALL(g->c, to_device, "cuMemcpyHtoD", g->a + done * size, block, n * size);
        exact_fill(EXACT_B, kind, done, n, block);
        CALL(g->c, to_device, "cuMemcpyHtoD", g->b + done * size, block, n * size);
    }
    return 0;
}

static int take_product(struct gpu *g, enum exact_kind kind, unsigned char *block, struct err *e)
{
    size_t size = exact_size(kind == EXACT_FLOAT64 ? kind : EXACT_FLOAT32);
    size_t count = (size_t)g->side * (size_t)g->side;

    for (size_t done = 0, n; done < count; done += n) {
        n = MIN(BLOCK / size, count - done);
        CALL(g->c, to_host, "cuMemcpyDtoH", block, g->to + done * size, n * size);
        exact_add(&g->exact, kind, done, n, block);
    }
    return 0;
}

/* One product of whole numbers, right behind those that were timed, when the device is hot. A wrong
 * one is told in 'wrong', unless there is one already, and the rest goes on. */
static int check(struct gpu *g, enum cuda_kind kind, char wrong[CUDA_WRONG], struct err *e)
{
    CLEANUP(freep) unsigned char *block = malloc(BLOCK);
    enum exact_kind exact = kinds[kind].exact;
    struct err why = { "" };
    int rc = block ? upload_exact(g, exact, block, e) : err_nomem(e);

    if (rc == 0)
        rc = once(g, kind, CUDA_R_32F, e);
    if (rc == 0)
        rc = take_product(g, exact, block, e);
    if (rc == 0 && exact_verdict(&g->exact, &why) < 0 && !*wrong)
        snprintf(wrong, CUDA_WRONG, "in %s, %s", kinds[kind].name, why.text);
    return rc;
}

/* ---- figures ---- */

/* The least seconds of one. */
static int measure(struct gpu *g, enum cuda_kind kind, int64_t window_ns, double *ret,
                   struct err *e)
{
    double spent = 0, best = 0, seconds = 0;
    int rc = kind == CUDA_COPY ? 0 : upload(g, kind, e);

    if (rc == 0)
        rc = time_some(g, kind, &seconds, e); /* kernels are loaded, clocks go up */
    clocks_begin(&g->clocks);
    for (int i = 0; rc == 0 && (i < BATCHES_MIN || spent < clock_seconds(window_ns)); i++) {
        rc = time_some(g, kind, &seconds, e);
        spent += seconds * BATCH + 1e-6; /* a clock that stands still ends it, too */
        best = rc == 0 && (best <= 0 || seconds < best) ? seconds : best;
    }
    *ret = best;
    return rc;
}

static double tera(double side, double seconds)
{
    return seconds > 0 ? 2 * side * side * side / seconds / 1e12 : 0;
}

/* A kind of product: its rate, and whether it is right. */
static int measure_kind(struct gpu *g, enum cuda_kind kind, int64_t window_ns, struct cuda_gpu *to,
                        double *tflops, struct err *e)
{
    double seconds = 0;
    int rc = measure(g, kind, window_ns, &seconds, e);

    clocks_seen(&g->clocks, &to->seen[kind]);
    if (rc == 0)
        rc = check(g, kind, to->wrong, e);
    if (rc == 0)
        *tflops = tera(g->side, seconds);
    return rc;
}

static int measure_all(struct gpu *g, int64_t window_ns, struct cuda_gpu *to, struct err *e)
{
    double copied = 0;
    int rc = exact_open(&g->exact, g->side, e);

    if (rc == 0)
        rc = measure_kind(g, CUDA_FLOAT32, window_ns, to, &to->tflops32, e);
    if (rc == 0)
        rc = measure_kind(g, CUDA_FLOAT64, window_ns, to, &to->tflops64, e);
    if (rc == 0)
        rc = measure(g, CUDA_COPY, window_ns, &copied, e);
    if (rc < 0)
        return rc;
    clocks_seen(&g->clocks, &to->seen[CUDA_COPY]);
    to->side = g->side;
    to->copy_gbs = copied > 0 ? 2 * (double)g->bytes / copied / 1e9 : 0;
    /* devices before Ampere have none */
    (void)measure_kind(g, CUDA_BFLOAT16, window_ns, to, &to->tflops_bf16, NULL);
    return 0;
}

static int prepare(const struct cuda *c, struct gpu *g, struct err *e)
{
    size_t left = 0, total = 0;
    int rc;

    CALL(c, memory, "cuMemGetInfo", &left, &total);
    g->side = SIDE;
    while (g->side > SIDE_SMALL && (size_t)4 * 8 * (size_t)g->side * (size_t)g->side > left)
        g->side /= 2;
    g->bytes = 8 * (size_t)g->side * (size_t)g->side;
    CALL(c, alloc, "cuMemAlloc", &g->a, g->bytes);
    CALL(c, alloc, "cuMemAlloc", &g->b, g->bytes);
    CALL(c, alloc, "cuMemAlloc", &g->to, g->bytes);
    CALL(c, event, "cuEventCreate", &g->begin, 0);
    CALL(c, event, "cuEventCreate", &g->end, 0);
    rc = c->create(&g->blas);
    return rc ? err_set(e, -EIO, "cublasCreate: status %d", rc) : 0;
}

/* Begin with GPU i. The process ends behind the last of them, which frees what an error leaves. */
static int gpu_open(struct gpu *g, const struct cuda *c, int i, struct cuda_gpu *to, struct err *e)
{
    void *context = NULL;

    g->c = c;
    CALL(c, get, "cuDeviceGet", &g->device, i);
    CALL(c, name, "cuDeviceGetName", to->name, (int)sizeof(to->name), g->device);
    CALL(c, bus, "cuDeviceGetPCIBusId", to->bus, (int)sizeof(to->bus), g->device);
    CALL(c, retain, "cuDevicePrimaryCtxRetain", &context, g->device);
    CALL(c, current, "cuCtxSetCurrent", context);
    clocks_open(&g->clocks, to->bus);
    return prepare(c, g, e);
}

static void gpu_close(struct gpu *g)
{
    const struct cuda *c = g->c;

    clocks_close(&g->clocks);
    (void)c->destroy(g->blas);
    (void)c->free(g->a);
    (void)c->free(g->b);
    (void)c->free(g->to);
    (void)c->synchronize();
    (void)c->release(g->device);
}

static int one_gpu(const struct cuda *c, int i, int64_t window_ns, struct cuda_gpu *to,
                   struct err *e)
{
    struct gpu g = { .c = c };
    int rc = gpu_open(&g, c, i, to, e);

    if (rc == 0)
        rc = measure_all(&g, window_ns, to, e);
    exact_done(&g.exact);
    if (rc < 0)
        return err_context(e, rc, "GPU%d: ", i);
    gpu_close(&g);
    return 0;
}

/* ---- all GPUs ---- */

/* How many there are, 0 without a driver; the library of products is opened where there is one. */
static int open_all(struct cuda *c, const struct cuda_about *about, int *count, struct err *e)
{
    int rc;

    *count = 0;
    c->driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!c->driver)
        return 0;
    rc = find_all(c, c->driver, driver_symbols, ARRAY_SIZE(driver_symbols), e);
    if (rc < 0)
        return err_context(e, rc, "libcuda.so.1: ");
    rc = c->init ? c->init(0) : CUDA_ERROR_NO_DEVICE;
    if (rc == CUDA_ERROR_NO_DEVICE || (rc == 0 && c->count(count) == 0 && *count == 0))
        return 0;
    if (rc)
        return failed(c, "cuInit", rc, e);
    *count = MIN(*count, CUDA_GPUS);
    return open_cublas(c, about->cublas, e);
}

int cuda_library_child(struct child *child, const void *arg, void *result, struct err *e)
{
    const struct cuda_about *about = arg;
    struct cuda c = { .driver = NULL };

    (void)result;
    child_ready(child);
    return open_cublas(&c, about->cublas, e);
}

int cuda_child(struct child *child, const void *arg, void *result, struct err *e)
{
    const struct cuda_about *about = arg;
    struct cuda_gpus *to = result;
    struct cuda c = { .driver = NULL };
    int rc;

    child_ready(child);
    rc = open_all(&c, about, &to->count, e);
    for (int i = 0; i < to->count && rc == 0; i++)
        rc = one_gpu(&c, i, about->window_ns, &to->gpus[i], e);
    return rc;
}

int cuda_together_child(struct child *child, const void *arg, void *result, struct err *e)
{
    const struct cuda_about *about = arg;
    struct cuda_together *to = result;
    struct cuda_gpu gpu = { .side = 0 };
    struct cuda c = { .driver = NULL };
    struct gpu g = { .c = &c };
    double tflops = 0;
    int count, rc = open_all(&c, about, &count, e);

    if (rc == 0 && (count == 0 || child_copy(child) >= count)) {
        child_ready(child);
        return err_set(e, -ENODEV, "GPU%d: the driver does not have it any more",
                       child_copy(child));
    }
    if (rc == 0)
        rc = gpu_open(&g, &c, child_copy(child), &gpu, e);
    if (rc == 0)
        rc = exact_open(&g.exact, g.side, e);
    child_ready(child);
    if (rc == 0)
        rc = measure_kind(&g, about->together, about->window_ns, &gpu, &tflops, e);
    exact_done(&g.exact);
    if (rc < 0)
        return err_context(e, rc, "GPU%d, with the others: ", child_copy(child));
    gpu_close(&g);
    to->tflops = tflops;
    to->seen = gpu.seen[about->together];
    memcpy(to->wrong, gpu.wrong, sizeof(to->wrong));
    return 0;
}
