#include "bench/compute.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/arena.h"
#include "base/parse.h"
#include "bench/copy.h"
#include "bench/gemm.h"
#include "model/machine/cpulist.h"
#include "run/job/binding.h"
#include "run/profile/job_library.h"

enum { CPUINFO = 16384, SIDE_ONE = 2048, SIDE_COPY = 1024, SIDE_ALL = 4096 };

#define MIB ((size_t)1 << 20)

/* ---- the machine ---- */

static void keep_plain(char to[COMPUTE_TEXT], const char *text, size_t len)
{
    snprintf(to, COMPUTE_TEXT, "%.*s", (int)MIN(len, (size_t)COMPUTE_TEXT), text);
    for (; *to; to++)
        if (*to < ' ' || *to > '~' || *to == '"' || *to == '\\')
            *to = '?';
}

static void read_cpuinfo(struct tree *tree, char text[CPUINFO])
{
    if (tree_read(tree, "proc/cpuinfo", text, CPUINFO) < 0)
        text[0] = 0;
}

void compute_machine(struct tree *tree, struct compute *c)
{
    char text[CPUINFO], host[COMPUTE_TEXT] = "";
    const char *at;

    if (gethostname(host, sizeof(host) - 1) < 0 || !host[0])
        snprintf(host, sizeof(host), "localhost");
    keep_plain(c->host, host, strlen(host));
    read_cpuinfo(tree, text);
    at = strstr(text, "model name");
    at = at ? strchr(at, ':') : NULL;
    at = at ? at + 1 + strspn(at + 1, " \t") : "CPU";
    keep_plain(c->cpu, at, strcspn(at, "\n"));
}

/* A number of kB in a line of /proc/meminfo, or of a cache's size, in bytes; 0. */
static size_t kib_of(struct tree *tree, const char *path, const char *name)
{
    char text[4096];
    const char *at;
    uint64_t kib;

    if (tree_read(tree, path, text, sizeof(text)) <= 0)
        return 0;
    at = name ? strstr(text, name) : text;
    at = at && name ? at + strlen(name) : at;
    if (!at || parse_digits(at + strspn(at, ": \t"), 10, 15, &kib) <= 0)
        return 0;
    return (size_t)kib << 10;
}

static size_t available(struct tree *tree)
{
    size_t bytes = kib_of(tree, "proc/meminfo", "MemAvailable");

    return bytes ? bytes : 512 * MIB;
}

/* ---- CPUs ---- */

struct cpus {
    const char *one, *all; /* a CPU; one of each core */
    int cores;
};

static struct child_work work_of(const struct compute_about *about)
{
    return (struct child_work){ .limit_ns = 60 * NS_PER_S + 12 * about->window_ns };
}

static int measure_one(const struct compute_about *about, const struct cpus *cpus,
                       struct compute *c, struct err *e)
{
    const struct blas_gemm_about how = {
        .path = about->blas, .threads = 1, .window_ns = about->window_ns, .side_max = SIDE_ONE
    };
    struct child_work w = work_of(about);
    struct blas_gemm got;
    int rc;

    w.run = blas_gemm_child;
    w.arg = &how;
    w.size = sizeof(got);
    w.what = about->blas ? about->blas : "libblas.so.3";
    w.cpus = cpus->one;
    w.copies = 1;
    rc = child_run(&w, &got, e);
    if (rc < 0)
        return rc;
    c->f32_one = got.gflops32;
    c->f64_one = got.gflops64;
    c->threaded = got.threaded;
    snprintf(c->library, sizeof(c->library), "%s", got.library);
    return 0;
}

static int measure_all(const struct compute_about *about, const struct cpus *cpus,
                       struct compute *c, struct err *e)
{
    const bool roomy = available(about->tree) > 4096 * MIB;
    const struct blas_gemm_about how = { .path = about->blas,
                                         .threads = c->threaded ? cpus->cores : 1,
                                         .window_ns = about->window_ns,
                                         .side_max = !c->threaded ? SIDE_COPY
                                                     : roomy      ? SIDE_ALL
                                                                  : SIDE_ONE };
    struct child_work w = work_of(about);
    CLEANUP(freep) struct blas_gemm *got = NULL;
    int rc;

    w.run = blas_gemm_child;
    w.arg = &how;
    w.size = sizeof(*got);
    w.what = c->library;
    w.cpus = cpus->all;
    w.copies = c->threaded ? 1 : cpus->cores;
    got = calloc((size_t)w.copies, sizeof(*got));
    if (!got)
        return err_nomem(e);
    rc = child_run(&w, got, e);
    for (int i = 0; i < w.copies && rc == 0; i++) {
        c->f32_all += got[i].gflops32;
        c->f64_all += got[i].gflops64;
    }
    return rc;
}

static int measure_blas(const struct compute_about *about, const struct cpus *cpus,
                        struct compute *c)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *name;
    int rc = measure_one(about, cpus, c, &c->blas_why);

    if (rc == 0)
        rc = measure_all(about, cpus, c, &c->blas_why);
    c->blas_wrong = rc == -EBADMSG;
    if (rc < 0)
        return rc;
    name = job_library_blas_name(&a, c->library);
    if (!name)
        return err_nomem(&c->blas_why);
    keep_plain(c->blas, name, strlen(name));
    return 0;
}

static int measure_copies(const struct compute_about *about, const struct cpus *cpus, int copies,
                          double *ret, struct err *e)
{
    size_t cache = kib_of(about->tree, "sys/devices/system/cpu/cpu0/cache/index3/size", NULL);
    size_t room = available(about->tree) / 8 / (size_t)copies;
    struct copy_about how = { .window_ns = about->window_ns };
    struct child_work w = work_of(about);
    CLEANUP(freep) struct copied *got = calloc((size_t)copies, sizeof(*got));
    int rc;

    /* four times the last cache, so that it does not count */
    how.bytes = MIN(MAX(4 * cache, 64 * MIB), 512 * MIB);
    how.bytes = MAX(MIN(how.bytes, room), MIB);
    w.run = copy_child;
    w.arg = &how;
    w.size = sizeof(*got);
    w.what = "memory copy";
    w.cpus = copies > 1 ? cpus->all : cpus->one;
    w.copies = copies;
    if (!got)
        return err_nomem(e);
    rc = child_run(&w, got, e);
    for (int i = 0; i < copies && rc == 0; i++)
        *ret += got[i].gbs;
    return rc;
}

/* ---- GPUs ---- */

static void find_peaks(const struct compute_about *about, const struct cuda_gpu *gpu, double *bf16,
                       double *memory)
{
    char bus[sizeof(gpu->bus)], path[TREE_PATH];
    long long vendor, device;
    int row;

    *bf16 = *memory = (double)NAN;
    snprintf(bus, sizeof(bus), "%s", gpu->bus);
    for (char *at = bus; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", bus);
    vendor = tree_number(about->tree, path);
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/device", bus);
    device = tree_number(about->tree, path);
    row = vendor > 0 && device > 0
              ? catalogue_find(about->devices, (uint16_t)vendor, (uint16_t)device)
              : -1;
    if (row < 0)
        return;
    if (about->devices->products[row].bf16_tflops > 0)
        *bf16 = about->devices->products[row].bf16_tflops;
    if (about->devices->products[row].mem_bw_gbs > 0)
        *memory = about->devices->products[row].mem_bw_gbs;
}

/* What was asked for is looked at before anything is measured, which takes its time. */
static int check_cublas(const struct compute_about *about, struct err *e)
{
    const struct cuda_about how = { .cublas = about->cublas };
    struct child_work w = work_of(about);
    char none[1];

    w.run = cuda_library_child;
    w.arg = &how;
    w.size = sizeof(none);
    w.what = about->cublas;
    w.copies = 1;
    return child_run(&w, none, e);
}

/* In bfloat16 where all have it: that draws most power. */
static void measure_together(const struct compute_about *about, struct compute *c)
{
    struct cuda_about how = { .cublas = about->cublas, .window_ns = about->window_ns };
    struct child_work w = work_of(about);

    c->together_kind = CUDA_BFLOAT16;
    for (int i = 0; i < c->gpus.count; i++)
        if (!(c->gpus.gpus[i].tflops_bf16 > 0))
            c->together_kind = CUDA_FLOAT32;
    how.together = c->together_kind;
    w.run = cuda_together_child;
    w.arg = &how;
    w.size = sizeof(c->together[0]);
    w.what = "CUDA on all GPUs at once";
    w.copies = c->gpus.count;
    if (child_run(&w, c->together, &c->gpus_why) < 0)
        memset(c->together, 0, sizeof(c->together));
}

static void measure_gpus(const struct compute_about *about, struct compute *c)
{
    const struct cuda_about how = { .cublas = about->cublas, .window_ns = about->window_ns };
    struct child_work w = work_of(about);

    w.run = cuda_child;
    w.arg = &how;
    w.size = sizeof(c->gpus);
    w.what = "CUDA";
    w.copies = 1;
    w.limit_ns += (int64_t)CUDA_GPUS * 6 * about->window_ns;
    if (child_run(&w, &c->gpus, &c->gpus_why) < 0)
        c->gpus.count = 0;
    if (c->gpus.count > 1)
        measure_together(about, c);
    for (int i = 0; i < c->gpus.count; i++)
        find_peaks(about, &c->gpus.gpus[i], &c->bf16_peak[i], &c->memory_peak[i]);
}

/* ---- all ---- */

static int measure_cpus(const struct compute_about *about, const struct cpus *cpus,
                        struct compute *c, struct err *e)
{
    int rc = measure_blas(about, cpus, c);

    if (rc < 0 &&
        about->blas) /* what was asked for: nothing else is measured before that is told */
        return err_set(e, rc, "%s", c->blas_why.text);
    if (rc == -ENOMEM)
        return err_nomem(e);
    rc = measure_copies(about, cpus, 1, &c->copy_one, e);
    return rc < 0 ? rc : measure_copies(about, cpus, cpus->cores, &c->copy_all, e);
}

int compute_run(const struct compute_about *about, struct compute *ret, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *allowed = binding_allowed(&a);
    struct compute c = { .cpus = 0 };
    struct cpus cpus = { .cores = 0 };
    char text[CPUINFO];
    double khz;
    int rc = about->cublas ? check_cublas(about, e) : 0;

    if (rc < 0)
        return rc;
    cpus.all = allowed ? binding_cores(&a, about->tree, allowed) : NULL;
    cpus.one = cpus.all ? arena_printf(&a, "%d", cpulist_first(cpus.all)) : NULL;
    if (!cpus.one)
        return err_nomem(e);
    cpus.cores = cpulist_count(cpus.all);
    if (cpus.cores < 1)
        return err_set(e, -EIO, "the kernel does not say on which CPUs this may run");
    c.cpus = cpulist_count(allowed);
    c.cores = cpus.cores;
    compute_machine(about->tree, &c);
    read_cpuinfo(about->tree, text);
    khz = (double)tree_number(about->tree, "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
    c.nominal = nominal_read(text, khz);
    if (!about->no_cpus)
        rc = measure_cpus(about, &cpus, &c, e);
    if (rc < 0)
        return rc;
    if (!about->no_gpus)
        measure_gpus(about, &c);
    *ret = c;
    return 0;
}
