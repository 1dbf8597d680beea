/* Measurements: what is nominal, processes of their own that end in every way, results that are
 * kept; allocations failing. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>

#include "base/file.h"
#include "bench/child.h"
#include "bench/nominal.h"
#include "bench/results.h"
#include "folder.h"
#include "oom_arena.h"
#include "tap.h"

/* ---- nominal ---- */

static const struct {
    const char *what, *cpuinfo;
    double max_khz, ghz, flop32, bf16; /* 0: not known */
} cpus[] = {
    { "Cascade Lake",
      "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: X\n"
      "cpu MHz\t\t: 2500.000\nflags\t\t: sse2 avx fma avx2 avx512f\n\nprocessor : 1\n",
      0, 2.5, 64, 0 },
    { "Sapphire Rapids, which has AMX",
      "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 143\nflags : sse2 avx avx2 fma avx512f "
      "amx_bf16 amx_tile\n",
      3500000, 3.5, 64, 1024 },
    { "Haswell",
      "vendor_id : GenuineIntel\ncpu family : 6\nmodel : 63\nflags : sse2 avx fma avx2 x\n",
      3000000, 3, 32, 0 },
    { "Zen 1", "vendor_id : AuthenticAMD\ncpu family : 23\nmodel : 1\nflags : sse2 avx avx2 fma\n",
      3000000, 3, 16, 0 },
    { "the last Zen 1",
      "vendor_id : AuthenticAMD\ncpu family : 23\nmodel : 47\nflags : sse2 avx avx2 fma\n", 3000000,
      3, 16, 0 },
    { "the first Zen 2",
      "vendor_id : AuthenticAMD\ncpu family : 23\nmodel : 48\nflags : sse2 avx avx2 fma\n", 3000000,
      3, 32, 0 },
    { "Haswell with the numbers of Zen 1",
      "vendor_id : GenuineIntel\ncpu family : 23\nmodel : 1\nflags : sse2 avx avx2 fma\n", 3000000,
      3, 32, 0 },
    { "a CPU with AVX2 that cannot multiply and add at once",
      "vendor_id : GenuineIntel\nflags : sse2 avx avx2\n", 3000000, 3, 16, 0 },
    { "a CPU with words that only begin or end like flags",
      "vendor_id : GenuineIntel\nflags : avx512fp16 xavx avx2x sse2\n", 3000000, 3, 8, 0 },
    { "Zen 3", "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 1\nflags : sse2 avx avx2 fma\n",
      3000000, 3, 32, 0 },
    { "Zen 4",
      "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17\nflags : avx avx2 fma avx512f\n",
      3000000, 3, 32, 0 },
    { "Zen 5",
      "vendor_id : AuthenticAMD\ncpu family : 26\nmodel : 2\nflags : avx avx2 fma avx512f\n",
      4000000, 4, 64, 0 },
    { "Sandy Bridge", "vendor_id : GenuineIntel\nflags : sse2 avx\n", 0, 0, 16, 0 },
    { "a CPU with SSE2 alone", "vendor_id : GenuineIntel\nflags : sse2\n", 0, 0, 8, 0 },
    { "Grace",
      "processor\t: 0\nBogoMIPS\t: 2000\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"
      "CPU architecture: 8\nCPU part\t: 0xd4f\n\n",
      3400000, 3.4, 32, 0 },
    { "Neoverse N1", "CPU implementer : 0x41\nCPU part : 0xd0c\n", 3000000, 3, 16, 0 },
    { "Neoverse N2", "CPU implementer : 0x41\nCPU part : 0xd49\n", 3000000, 3, 16, 0 },
    { "Neoverse V1", "CPU implementer : 0x41\nCPU part : 0xd40\n", 3000000, 3, 32, 0 },
    { "another core of Arm", "CPU implementer : 0x41\nCPU part : 0xd05\n", 3000000, 3, 0, 0 },
    { "an Arm that nobody knows", "CPU implementer : 0x61\nCPU part : 0xd4f\n", 3000000, 3, 0, 0 },
    { "an empty text", "", 0, 0, 0, 0 },
    { "flags of the second CPU only", "processor : 0\n\nflags : avx512f\n", 0, 0, 0, 0 },
};

static bool same(double got, double want)
{
    return want > 0 ? fabs(got - want) < 1e-9 : isnan(got);
}

static void test_nominal(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(cpus); i++) {
        struct nominal n = nominal_read(cpus[i].cpuinfo, cpus[i].max_khz);

        ok(same(n.ghz, cpus[i].ghz) && same(n.flop32, cpus[i].flop32) &&
               same(n.flop64, cpus[i].flop32 / 2) && same(n.flop_bf16, cpus[i].bf16),
           "nominal_read of %s: %g GHz, %g and %g a cycle (%s)", cpus[i].what, n.ghz, n.flop32,
           n.flop64, n.how);
        ok((cpus[i].flop32 > 0) == (strcmp(n.how, "not known for this CPU") != 0),
           "nominal_read of %s tells how it knows: %s", cpus[i].what, n.how);
    }
}

/* ---- children ---- */

enum how { GOOD, FAILS, DIES, ENDS, HANGS, ONE_DIES, ENDS_LATER, HANGS_LATER, TELLS_CPUS };

/* How many CPUs this process may use, and the first of them. */
static int first_cpu(int *count)
{
    cpu_set_t set;
    int cpu = 0;

    CPU_ZERO(&set);
    folder_need(sched_getaffinity(0, sizeof(set), &set), "CPUs");
    while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
        cpu++;
    *count = CPU_COUNT(&set);
    return cpu;
}

static int work(struct child *c, const void *arg, void *result, struct err *e)
{
    const enum how *how = arg;

    if (*how == FAILS)
        return err_set(e, -ENOENT, "there is none");
    if (*how == DIES || (*how == ONE_DIES && getpid() % 2))
        (void)raise(SIGKILL);
    if (*how == ENDS)
        _exit(0);
    while (*how == HANGS)
        pause();
    child_ready(c);
    child_ready(c); /* once more is allowed */
    if (*how == ENDS_LATER)
        _exit(0);
    while (*how == HANGS_LATER)
        pause();
    *(int *)result = (int)getpid();
    if (*how == TELLS_CPUS) {
        int count, cpu = first_cpu(&count);

        *(int *)result = count == 1 ? cpu : -count;
    }
    return 0;
}

static int run_children(enum how how, int copies, int results[], struct err *e)
{
    const struct child_work w = { .run = work,
                                  .arg = &how,
                                  .size = sizeof(int),
                                  .what = "a library",
                                  .copies = copies,
                                  .limit_ns = how == HANGS || how == HANGS_LATER ? 300000000
                                                                                 : 20000000000 };

    return child_run(&w, results, e);
}

static void test_children(void)
{
    static const struct {
        enum how how;
        int rc;
        const char *text;
    } ends[] = {
        { FAILS, -ENOENT, "there is none" },
        { DIES, -EIO, "a library: the process that used it was killed by signal 9 (Killed)" },
        { ENDS, -EIO, "a library: the process that used it ended without a result" },
        { HANGS, -ETIMEDOUT, "a library: no result within 0 s" },
        { ENDS_LATER, -EIO, "a library: the process that used it ended without a result" },
        { HANGS_LATER, -ETIMEDOUT, "a library: no result within 0 s" },
    };
    int results[5] = { 0 };
    struct err e = { "" };

    is_int(run_children(GOOD, 5, results, &e), 0, "child_run gets the results of five copies");
    for (size_t i = 0; i < 5; i++)
        ok(results[i] > 0 && results[i] != results[(i + 1) % 5] && kill(results[i], 0) < 0,
           "copy %zu is a process of its own, and gone", i);
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        is_int(run_children(ends[i].how, 3, results, &e), ends[i].rc,
               "child_run returns its code: %s", ends[i].text);
        is_str(e.text, ends[i].text, "child_run says: %s", ends[i].text);
    }
    is_int(run_children(ONE_DIES, 4, results, &e), -EIO, "copies do not wait for a dead one");
    is_int(run_children(GOOD, 1, results, NULL), 0, "child_run needs no struct err");
}

/* Copies are bound to one CPU each, as long as there is one more; a single one to all. */
static void test_bound(void)
{
    int count, first = first_cpu(&count), results[3] = { 0 };
    const enum how how = TELLS_CPUS;
    char one[16];
    struct child_work w = { .run = work,
                            .arg = &how,
                            .size = sizeof(int),
                            .what = "a CPU",
                            .copies = 3,
                            .cpus = one,
                            .limit_ns = 20000000000 };

    snprintf(one, sizeof(one), "%d", first);
    is_int(child_run(&w, results, NULL), 0, "three copies run on one CPU");
    is_int(results[0], first, "the first copy is bound to the CPU");
    for (int i = 1; i < 3; i++)
        is_int(results[i], count == 1 ? first : -count, "copy %d finds no other CPU", i);
    w.copies = 1;
    is_int(child_run(&w, results, NULL), 0, "a single copy runs on one CPU");
    is_int(results[0], first, "a single copy is bound to its CPUs");
    w.cpus = NULL;
    is_int(child_run(&w, results, NULL), 0, "a copy runs without CPUs of its own");
    is_int(results[0], count == 1 ? first : -count, "a copy without CPUs of its own has all");
}

/* ---- what is kept ---- */

static void fill(struct compute *c, const char *blas)
{
    *c = (struct compute){ .host = "n1", .cpu = "X", .cpus = 4, .cores = 2, .f32_one = 2.71 };
    c->nominal = nominal_read(cpus[0].cpuinfo, 0);
    snprintf(c->blas, sizeof(c->blas), "%s", blas);
}

static void test_kept_text(void)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX), text = STR_INIT(4096);
    struct compute c;
    char root[PATH_MAX];

    folder_make(root);
    fill(&c, "openblas");
    c.threaded = true;
    c.f32_all = 5.5;
    c.f64_one = 1.25;
    c.f64_all = 2.5;
    c.copy_one = 10.5;
    c.copy_all = (double)INFINITY;
    str_add(&path, "what was there");
    is_int(results_keep(&c, root, 1767225600000000000, &path, NULL), 0, "a result is kept");
    is_int(file_read(str_text(&path), &text, NULL), 0, "the file of a result is read");
    is_str(str_text(&text),
           "[compute]\nhost = \"n1\"\ncpu = \"X\"\ncpus = 4\ncores = 2\n"
           "date = 2026-01-01T00:00:00Z\nblas = \"openblas\"\nall = threads\n"
           "float32_one = 2.71\nfloat32_all = 5.5\nfloat64_one = 1.25\nfloat64_all = 2.5\n"
           "copy_one = 10.5\nnominal32 = 160\nnominal64 = 80\n",
           "the file of a result has all figures that are finite");
    fill(&c, "a/b");
    is_int(results_keep(&c, root, 0, &path, NULL), 0, "results_keep takes a BLAS of any name");
    is_int((int)path.len, 0, "a BLAS whose name is a path is not kept");
    folder_remove(root);
}

static int keep_and_note(const char *folder, struct arena *a, struct run_note **notes, size_t *n)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
    struct compute c;
    int rc;

    fill(&c, "reference");
    rc = results_keep(&c, folder, 1767225600000000000, &path, NULL);
    return rc < 0 ? rc : results_notes(a, folder, &c, notes, n);
}

static void test_keep(void)
{
    struct arena a = ARENA_INIT;
    struct run_note *notes = NULL;
    char root[PATH_MAX], folder[PATH_MAX];
    struct compute c;
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX);
    size_t n = 0;

    folder_make(root);
    folder_path(root, "state/bench", folder);
    fill(&c, "");
    is_int(results_notes(&a, folder, &c, &notes, &n), 0, "results_notes succeeds without a folder");
    is_int(results_keep(&c, folder, 0, &path, NULL), 0, "results_keep succeeds without a BLAS");
    ok(n == 0 && path.len == 0, "a result without a BLAS is not kept");
    is_int(keep_and_note(folder, &a, &notes, &n), 0, "a result with a BLAS is kept and noted");
    ok(n == 1 && !strcmp(notes[0].name, "bench.blas.reference") &&
           !strcmp(notes[0].value, "2.71 of 160 GFLOP/s"),
       "the note has the BLAS and its speed: %s %s", n ? notes[0].name : "",
       n ? notes[0].value : "");
    folder_text(folder, "compute-bad.ini", "[compute\n");
    folder_text(folder, "compute-worse.ini",
                "[compute]\nhost = n1\ncpu = X\nblas = worse\n"
                "float32_one = nan\n");
    folder_text(folder, "compute-other.ini",
                "[compute]\nhost = n2\ncpu = X\nblas = other\n"
                "float32_one = 1\n");
    folder_text(folder, "compute-plain.ini",
                "[compute]\nhost = n1\ncpu = X\nblas = plain\n"
                "float32_one = 1\n");
    folder_text(folder, "compute-odd.ini",
                "[compute]\nhost = n1\ncpu = X\nblas = odd\n"
                "float32_one = 1\nnominal32 = many\n");
    folder_text(folder, "compute-cpu.ini",
                "[compute]\nhost = n1\ncpu = Y\nblas = cpu\nfloat32_one = 1\n");
    folder_text(folder, "compute-none.ini", "[compute]\nhost = n1\ncpu = X\nfloat32_one = 1\n");
    folder_text(folder, "compute-text.txt",
                "[compute]\nhost = n1\ncpu = X\nblas = text\nfloat32_one = 1\n");
    folder_text(folder, "other-plain.ini",
                "[compute]\nhost = n1\ncpu = X\nblas = more\nfloat32_one = 1\n");
    n = 0;
    notes = NULL;
    fill(&c, "reference");
    is_int(results_notes(&a, folder, &c, &notes, &n), 0,
           "results_notes succeeds beside damaged files");
    ok(n == 2 && !strcmp(notes[0].name, "bench.blas.plain") && !strcmp(notes[0].value, "1 GFLOP/s"),
       "results_notes leaves out damaged files and other machines' results");
    arena_done(&a);
    folder_remove(root);
}

static void test_oom(void)
{
    char root[PATH_MAX], folder[PATH_MAX];
    bool failed;

    folder_make(root);
    folder_path(root, "state/bench", folder);
    oom_restart();
    do {
        struct arena a = ARENA_INIT;
        struct run_note *notes = NULL;
        size_t n = 0;
        int rc;

        oom_next();
        rc = keep_and_note(folder, &a, &notes, &n);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0 && n == 1,
           "results_keep and results_notes with allocation %d failing return %d", oom_at, rc);
        arena_done(&a);
    } while (failed);
    folder_remove(root);
}

int main(void)
{
    test_nominal();
    test_children();
    test_bound();
    test_kept_text();
    test_keep();
    test_oom();
    return done();
}
