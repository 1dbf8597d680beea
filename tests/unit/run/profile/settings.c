/* A profile put to use: what goes into the environment, the command and the CPUs, and what is left,
 * with the reason; allocations failing. */
#include "run/profile/settings.h"

#include <errno.h>

#include "folder.h"
#include "knobs_ini.h"
#include "oom_arena.h"
#include "probe/kernel/pack.h"
#include "run/job/binding.h"
#include "run/job/environ.h"
#include "run/profile/job_library.h"
#include "tap.h"

static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 0,2,4\n"
                               "[knob.ranks]\napply = launcher\ntarget = --nproc-per-node\n"
                               "values = 1,2\n"
                               "[knob.rows]\nflag = --rows\nvalues = 0,64\nrisk = numeric\n"
                               "rate = --lr 0.1 at 32\n";

/* Two NUMA nodes with four CPUs each, two to a core (n and n + 4), a GPU on each. */
static const char *const files[][2] = {
    { "sys/devices/system/cpu/online", "0-7" },
    { "sys/devices/system/node/online", "0-1" },
    { "sys/devices/system/node/node0/cpulist", "0-1,4-5" },
    { "sys/devices/system/node/node1/cpulist", "2-3,6-7" },
    { "sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4" },
    { "sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1,5" },
    { "sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2,6" },
    { "sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "3,7" },
    { "sys/devices/system/cpu/cpu4/topology/thread_siblings_list", "0,4" },
    { "sys/devices/system/cpu/cpu5/topology/thread_siblings_list", "1,5" },
    { "sys/devices/system/cpu/cpu6/topology/thread_siblings_list", "2,6" },
    { "sys/devices/system/cpu/cpu7/topology/thread_siblings_list", "3,7" },
};
static const char *const gpus[][2] = {
    { "sys/bus/pci/devices/0000:17:00.0/class", "0x030200" },
    { "sys/bus/pci/devices/0000:17:00.0/vendor", "0x10de" },
    { "sys/bus/pci/devices/0000:17:00.0/numa_node", "0" },
    { "sys/bus/pci/devices/0000:65:00.0/class", "0x030200" },
    { "sys/bus/pci/devices/0000:65:00.0/vendor", "0x10de" },
    { "sys/bus/pci/devices/0000:65:00.0/numa_node", "1" },
    { "sys/bus/pci/devices/0000:00:03.0/class", "0x020000" },
};

struct bench {
    char root[PATH_MAX], more[PATH_MAX];
    const char *folders[2];
    struct knobs knobs;
    struct str plain, with_gpus;
    struct tree *tree, *gpu_tree;
};

static void add_files(struct str *out, const char *const list[][2], size_t n)
{
    for (size_t i = 0; i < n; i++)
        pack_add(out, 'f', list[i][0], list[i][1], strlen(list[i][1]));
}

static void set_up(struct bench *b)
{
    static const char devices[] = "0000:00:03.0\n0000:17:00.0\n0000:65:00.0\n";
    struct err e = { "" };

    *b = (struct bench){ .plain = STR_INIT(64 << 10), .with_gpus = STR_INIT(64 << 10) };
    folder_make(b->root);
    folder_make(b->more);
    b->folders[0] = b->root;
    pack_begin(&b->plain);
    add_files(&b->plain, files, ARRAY_SIZE(files));
    pack_end(&b->plain, ARRAY_SIZE(files));
    pack_begin(&b->with_gpus);
    add_files(&b->with_gpus, files, ARRAY_SIZE(files));
    add_files(&b->with_gpus, gpus, ARRAY_SIZE(gpus));
    pack_add(&b->with_gpus, 'd', "sys/bus/pci/devices", devices, sizeof(devices) - 1);
    pack_end(&b->with_gpus, ARRAY_SIZE(files) + ARRAY_SIZE(gpus) + 1);
    ok(knobs_load(&b->knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) == 0 &&
           knobs_declare(&b->knobs, "j", declared, strlen(declared), &e) == 0 &&
           tree_open_pack(&b->tree, "p", str_text(&b->plain), b->plain.len, &e) == 0 &&
           tree_open_pack(&b->gpu_tree, "g", str_text(&b->with_gpus), b->with_gpus.len, &e) == 0,
       "the knobs and the machines are loaded: %s", e.text);
}

static void clear(struct bench *b)
{
    tree_close(b->tree);
    tree_close(b->gpu_tree);
    str_done(&b->plain);
    str_done(&b->with_gpus);
    knobs_done(&b->knobs);
    folder_remove(b->root);
    folder_remove(b->more);
}

/* ---- one setting at a time ---- */

struct result {
    struct arena a;
    struct profile_settings job;
};

static int apply(struct result *r, const struct bench *b, const char *knob, const char *value,
                 struct profile_settings_about how)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    const struct profile_setting s = { .knob = knob, .value = value };
    struct err e = { "" };
    int rc = profile_init(&p, "n", "", "", "");

    if (rc == 0)
        rc = profile_set(&p, &s, &e);
    how.knobs = &b->knobs;
    how.folders = b->folders;
    how.tree = how.tree ? how.tree : b->tree;
    how.cpus = how.cpus ? how.cpus : "0-7";
    return rc < 0 ? rc : profile_settings_apply(&r->a, &p, &how, &r->job, &e);
}

struct one {
    const char *knob, *value;
    const char *env[3];     /* the user's */
    const char *argv[4];    /* the command; {NULL}: "job" */
    const char *left;       /* the reason, NULL: it is applied */
    const char *var, *want; /* a variable afterwards */
};

static const struct one ones[] = {
    { "threads.openmp", "4", { NULL }, { NULL }, NULL, "OMP_NUM_THREADS", "4" },
    { "threads.openmp", "4", { "OMP_NUM_THREADS=4" }, { NULL }, NULL, "OMP_NUM_THREADS", "4" },
    { "threads.openmp",
      "4",
      { "OMP_NUM_THREADS=2" },
      { NULL },
      "threads.openmp=4 is left: OMP_NUM_THREADS is '2' in the environment",
      "OMP_NUM_THREADS",
      "2" },
    { "loader.workers", "13", { NULL }, { NULL }, NULL, "BRIM_KNOBS", "loader.workers=13" },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.prefetch=4" },
      { NULL },
      NULL,
      "BRIM_KNOBS",
      "loader.prefetch=4;loader.workers=13" },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.workers=13" },
      { NULL },
      NULL,
      "BRIM_KNOBS",
      "loader.workers=13" },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.prefetch=4;loader.workers=1" },
      { NULL },
      "loader.workers=13 is left: BRIM_KNOBS has loader.workers=1",
      "BRIM_KNOBS",
      "loader.prefetch=4;loader.workers=1" },
    { "batch.size",
      "64",
      { NULL },
      { NULL },
      "batch.size=64 is left: the script alone can do that",
      NULL,
      NULL },
    { "batch.size",
      "64",
      { NULL },
      { NULL },
      "batch.size=64 is left: the script alone can do that",
      NULL,
      NULL },
    { "ddp.bucket", "8", { NULL }, { NULL }, NULL, "BRIM_KNOBS", "ddp.bucket_cap_mb=8" },
    { "readers", "2", { NULL }, { "python3", "job.py", "--readers", "2" }, NULL, NULL, NULL },
    { "readers",
      "2",
      { NULL },
      { "python3", "job.py", "--readers" },
      "readers=2 is left: the command has --readers ",
      NULL,
      NULL },
    { "readers",
      "2",
      { NULL },
      { "fish", "-c", "job" },
      "readers=2 is left: the command is a line for a shell: write --readers 2 into it",
      NULL,
      NULL },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.workers=1;loader.workersx=5" },
      { NULL },
      "loader.workers=13 is left: BRIM_KNOBS has loader.workers=1",
      NULL,
      NULL },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.workers=1x" },
      { NULL },
      "loader.workers=13 is left: BRIM_KNOBS has loader.workers=1x",
      NULL,
      NULL },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=" },
      { NULL },
      NULL,
      "BRIM_KNOBS",
      "loader.workers=13" },
    { "loader.workers",
      "13",
      { "BRIM_KNOBS=loader.workerz=1" },
      { NULL },
      NULL,
      "BRIM_KNOBS",
      "loader.workerz=1;loader.workers=13" },
    { "rows",
      "0",
      { NULL },
      { "python3", "job.py" },
      "rows=0 is left: --lr can not follow from '0'",
      NULL,
      NULL },
    { "rows",
      "64",
      { NULL },
      { "python3", "job.py", "--lr=0.3" },
      "rows=64 is left: the command has --lr 0.3",
      NULL,
      NULL },
    { "readers",
      "2",
      { NULL },
      { "python3", "job.py", "--readers=4" },
      "readers=2 is left: the command has --readers 4",
      NULL,
      NULL },
    { "readers",
      "2",
      { NULL },
      { "/bin/bash", "-ec", "job" },
      "readers=2 is left: the command is a line for a shell: write --readers 2 into it",
      NULL,
      NULL },
    { "ranks",
      "2",
      { NULL },
      { NULL },
      "ranks=2 is left: give it to what starts the ranks: --nproc-per-node 2",
      NULL,
      NULL },
    { "power.limit",
      "400",
      { NULL },
      { NULL },
      "power.limit=400 is left: an operator sets it on the device: power.limit 400",
      NULL,
      NULL },
    { "loader.worker",
      "2",
      { NULL },
      { NULL },
      "loader.worker=2 is left: there is no such knob (did you mean loader.workers?)",
      NULL,
      NULL },
    { "loader.workers",
      "65",
      { NULL },
      { NULL },
      "loader.workers=65 is left: loader.workers takes 0 to 64, not '65'",
      NULL,
      NULL },
    { "blas.library",
      "openblas",
      { NULL },
      { NULL },
      "blas.library=openblas is left: it is not installed (Debian: package libopenblas0-pthread)",
      "LD_LIBRARY_PATH",
      NULL },
    { "malloc.library",
      "jemalloc",
      { NULL },
      { NULL },
      "malloc.library=jemalloc is left: it is not installed (Debian: package libjemalloc2)",
      "LD_PRELOAD",
      NULL },
    { "malloc.library", "glibc", { NULL }, { NULL }, NULL, "LD_PRELOAD", NULL },
    { "malloc.library",
      "glibc",
      { "LD_PRELOAD=/x/libjemalloc.so.2" },
      { NULL },
      "malloc.library=glibc is left: LD_PRELOAD has '/x/libjemalloc.so.2'",
      NULL,
      NULL },
    { "cpu.binding", "none", { NULL }, { NULL }, NULL, NULL, NULL },
};

static void test_ones(const struct bench *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(ones); i++) {
        const struct one *o = &ones[i];
        const struct profile_settings_about how = { .shim = true };
        struct result r = { .a = ARENA_INIT };
        char *env[4] = { NULL }, *argv[5] = { NULL };
        char job[] = "job";
        const char *got;

        argv[0] = job;
        for (size_t k = 0; k < 3 && o->env[k]; k++)
            env[k] = arena_strdup(&r.a, o->env[k]);
        for (size_t k = 0; k < 4 && o->argv[k]; k++)
            argv[k] = arena_strdup(&r.a, o->argv[k]);
        r.job = (struct profile_settings){ .env = env, .argv = argv };
        is_int(apply(&r, b, o->knob, o->value, how), 0, "profile_settings takes %s=%s", o->knob,
               o->value);
        if (o->left)
            is_str(r.job.n_left == 1 ? r.job.left[0] : "(nothing)", o->left,
                   "%s=%s is left with its reason", o->knob, o->value);
        else
            ok(r.job.n_applied == 1 && !r.job.n_left, "%s=%s is applied: %s", o->knob, o->value,
               r.job.n_left ? r.job.left[0] : "");
        got = o->var ? environ_get(r.job.env, o->var) : NULL;
        is_str(got ? got : "(none)", o->want ? o->want : "(none)", "%s=%s sets its variable",
               o->knob, o->value);
        ok(!r.job.argv[1] || r.job.argv == (char *const *)argv, "the command is as it was");
        arena_done(&r.a);
    }
}

static void test_flag(const struct bench *b)
{
    char job[] = "job", x[] = "x", *env[] = { NULL }, *argv[] = { job, x, NULL };
    struct result r = { .a = ARENA_INIT, .job = { .env = env, .argv = argv } };

    is_int(apply(&r, b, "readers", "2", (struct profile_settings_about){ .shim = true }), 0,
           "a setting with a flag is taken");
    ok(r.job.argv != argv && !strcmp(r.job.argv[1], "x") && !strcmp(r.job.argv[2], "--readers") &&
           !strcmp(r.job.argv[3], "2") && !r.job.argv[4],
       "the flag of a setting goes behind the command");
    ok(!argv[2], "the command that was handed in stays as it was");
    arena_done(&r.a);
    r = (struct result){ .a = ARENA_INIT, .job = { .env = env, .argv = argv } };
    is_int(apply(&r, b, "rows", "64", (struct profile_settings_about){ .shim = true }), 0,
           "a setting with a rate is taken");
    ok(!strcmp(r.job.argv[3], "64") && !strcmp(r.job.argv[4], "--lr") &&
           !strcmp(r.job.argv[5], "0.2") && !r.job.argv[6],
       "the rate goes behind the flag");
    arena_done(&r.a);
}

/* Commands that a flag goes behind, though they look much like those that it does not. */
static void test_behind(const struct bench *b)
{
    static const char *const commands[][3] = { { "python3", "job.py", "--readersx=4" },
                                               { "bash", "job.sh", "-c" },
                                               { "bash", "-e", "job.sh" },
                                               { "mybash", "-c", "job.sh" } };

    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        char *env[] = { NULL }, *argv[4] = { NULL };
        struct result r = { .a = ARENA_INIT, .job = { .env = env, .argv = argv } };

        for (size_t k = 0; k < 3; k++)
            argv[k] = arena_strdup(&r.a, commands[i][k]);
        is_int(apply(&r, b, "readers", "2", (struct profile_settings_about){ .shim = true }), 0,
               "a setting is taken for command %zu", i);
        ok(r.job.argv != argv && !strcmp(r.job.argv[3], "--readers") &&
               !strcmp(r.job.argv[4], "2") && !r.job.argv[5],
           "the flag goes behind command %zu", i);
        arena_done(&r.a);
    }
}

static void test_shim_and_risk(const struct bench *b)
{
    char job[] = "job", *env[] = { NULL }, *argv[] = { job, NULL };
    struct result r = { .a = ARENA_INIT, .job = { .env = env, .argv = argv } };
    struct profile_settings_about how = { .shim = false };

    is_int(apply(&r, b, "loader.workers", "2", how), 0, "a setting without the shim is taken");
    is_str(r.job.left[0],
           "loader.workers=2 is left: the shim for Python that sets it was not found",
           "a setting without the shim is left with its reason");
    how = (struct profile_settings_about){ .shim = true, .safe_only = true };
    is_int(apply(&r, b, "torch.compile", "yes", how), 0,
           "a numeric setting is taken where only safe ones are wanted");
    is_str(
        r.job.left[1],
        "torch.compile=yes is left: it may change what is computed, and was found for another job",
        "a numeric setting is left where only safe ones are wanted");
    is_int(apply(&r, b, "torch.compile", "yes", (struct profile_settings_about){ .shim = true }), 0,
           "a numeric setting is taken where all are wanted");
    is_str(environ_get(r.job.env, "BRIM_KNOBS"), "compile=yes",
           "a numeric setting is applied where all are wanted");
    arena_done(&r.a);
}

/* Ranks of other nodes may not have it: some settings are a rank's own. */
static void test_alone(const struct bench *b)
{
    char job[] = "job", *env[] = { NULL }, *argv[] = { job, NULL };
    struct result r = { .a = ARENA_INIT, .job = { .env = env, .argv = argv } };
    const struct profile_settings_about how = { .shim = true, .alone = true };

    is_int(apply(&r, b, "ddp.bucket", "16", how), 0, "what all ranks must have is taken");
    is_str(r.job.left[0],
           "ddp.bucket=16 is left: all ranks must have it, and this brim does not know what those "
           "on other nodes have (--profile-anyway applies it)",
           "what all ranks must have is left with its reason");
    is_int(apply(&r, b, "loader.workers", "2", how), 0, "what is a rank's own is taken");
    is_str(environ_get(r.job.env, "BRIM_KNOBS"), "loader.workers=2", "what is its own is applied");
    is_int(apply(&r, b, "ddp.bucket", "16", (struct profile_settings_about){ .shim = true }), 0,
           "what all ranks must have is taken on one node");
    is_str(environ_get(r.job.env, "BRIM_KNOBS"), "loader.workers=2;ddp.bucket_cap_mb=16",
           "what all ranks must have is applied on one node");
    arena_done(&r.a);
}

/* ---- libraries ---- */

static void test_blas(const struct bench *b)
{
    char job[] = "job", *none[] = { NULL }, *argv[] = { job, NULL };
    char other[PATH_MAX + 32], want[2 * PATH_MAX];
    char *env[] = { other, NULL };
    struct result r = { .a = ARENA_INIT, .job = { .env = none, .argv = argv } };
    const struct profile_settings_about how = { .shim = true };

    folder_text(b->root, "openblas-pthread/libblas.so.3", "elf");
    folder_text(b->root, "blas/libblas.so.3", "elf");
    is_int(apply(&r, b, "blas.library", "openblas", how), 0, "a BLAS that is there");
    snprintf(want, sizeof(want), "%s/openblas-pthread", b->root);
    is_str(environ_get(r.job.env, "LD_LIBRARY_PATH"), want,
           "the path of libraries leads to the BLAS");
    snprintf(other, sizeof(other), "LD_LIBRARY_PATH=/nowhere");
    r.job = (struct profile_settings){ .env = env, .argv = argv };
    is_int(apply(&r, b, "blas.library", "openblas", how), 0,
           "a BLAS is taken beside folders of the user's");
    snprintf(want, sizeof(want), "%s/openblas-pthread:/nowhere", b->root);
    is_str(environ_get(r.job.env, "LD_LIBRARY_PATH"), want,
           "folders of the user's stay behind the one of the BLAS");
    snprintf(other, sizeof(other), "LD_LIBRARY_PATH=%s/blas", b->root);
    r.job = (struct profile_settings){ .env = env, .argv = argv };
    is_int(apply(&r, b, "blas.library", "openblas", how), 0,
           "a BLAS is taken beside another one of the user's");
    ok(r.job.n_left == 1 && strstr(r.job.left[0], "LD_LIBRARY_PATH leads to"),
       "a BLAS is left where the user's path has another one");
    r.job = (struct profile_settings){ .env = env, .argv = argv };
    is_int(apply(&r, b, "blas.library", "reference", how), 0,
           "a BLAS is taken that the user has already");
    ok(r.job.n_applied == 1 && !strcmp(environ_get(r.job.env, "LD_LIBRARY_PATH"), other + 16),
       "nothing is to be done");
    r.job = (struct profile_settings){ .env = none, .argv = argv };
    is_int(apply(&r, b, "blas.library", "mkl", how), 0, "MKL is taken as a BLAS");
    ok(r.job.n_left == 1 && strstr(r.job.left[0], "update-alternatives"),
       "MKL is left, as the system chooses it");
    arena_done(&r.a);
}

static void test_malloc(const struct bench *b)
{
    char job[] = "job", *none[] = { NULL }, *argv[] = { job, NULL };
    char asan[] = "LD_PRELOAD=/x/libasan.so", jemalloc[] = "LD_PRELOAD=/x/libjemalloc.so.2";
    char *env[] = { asan, NULL };
    char want[PATH_MAX + 64];
    struct result r = { .a = ARENA_INIT, .job = { .env = none, .argv = argv } };
    const struct profile_settings_about how = { .shim = true };

    folder_text(b->root, "libtcmalloc_minimal.so.4", "elf");
    is_int(apply(&r, b, "malloc.library", "tcmalloc", how), 0, "an allocator that is there");
    snprintf(want, sizeof(want), "%s/libtcmalloc_minimal.so.4", b->root);
    is_str(environ_get(r.job.env, "LD_PRELOAD"), want, "an allocator that is there is preloaded");
    r.job = (struct profile_settings){ .env = env, .argv = argv };
    is_int(apply(&r, b, "malloc.library", "tcmalloc", how), 0,
           "an allocator is taken beside another library");
    snprintf(want, sizeof(want), "/x/libasan.so:%s/libtcmalloc_minimal.so.4", b->root);
    is_str(environ_get(r.job.env, "LD_PRELOAD"), want,
           "the allocator is preloaded behind another library");
    env[0] = jemalloc;
    r.job = (struct profile_settings){ .env = env, .argv = argv };
    is_int(apply(&r, b, "malloc.library", "tcmalloc", how), 0,
           "an allocator is taken beside another allocator");
    is_str(r.job.left[0], "malloc.library=tcmalloc is left: LD_PRELOAD has '/x/libjemalloc.so.2'",
           "an allocator is left where another one is preloaded");
    arena_done(&r.a);
}

/* ---- CPUs ---- */

static const struct {
    const char *what, *how, *cpus, *env[4], *argv[4];
    bool gpus;
    const char *want, *why;
} bindings[] = {
    { "one rank", "numa", "0-7", { NULL }, { "job" }, false, "0-1,4-5", NULL },
    { "the wider node", "numa", "1-3,6-7", { NULL }, { "job" }, false, "2-3,6-7", NULL },
    { "the first GPU's", "numa", "0-7", { NULL }, { "job" }, true, "0-1,4-5", NULL },
    { "the visible GPU's",
      "numa",
      "0-7",
      { "CUDA_VISIBLE_DEVICES=1,0" },
      { "job" },
      true,
      "2-3,6-7",
      NULL },
    { "a GPU by name",
      "numa",
      "0-7",
      { "CUDA_VISIBLE_DEVICES=GPU-1" },
      { "job" },
      true,
      NULL,
      "the NUMA node of its GPU is not known, or has no CPU for it" },
    { "one node",
      "numa",
      "0-1",
      { NULL },
      { "job" },
      false,
      NULL,
      "its CPUs are of one NUMA node" },
    { "the second of two ranks",
      "numa",
      "0-7",
      { "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2" },
      { "job" },
      false,
      "2-3,6-7",
      NULL },
    { "cores", "cores", "0-7", { NULL }, { "job" }, false, "0-3", NULL },
    { "cores that are threads",
      "cores",
      "4-7",
      { NULL },
      { "job" },
      false,
      NULL,
      "each of its CPUs is a core of its own already" },
    { "cores of a rank",
      "cores",
      "0-7",
      { "SLURM_PROCID=1", "SLURM_LOCALID=1", "SLURM_NTASKS=2", "SLURM_TASKS_PER_NODE=2(x1)" },
      { "job" },
      false,
      "2-3",
      NULL },
    { "a rank that has its own",
      "cores",
      "2-3",
      { "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2" },
      { "job" },
      false,
      NULL,
      "its rank is bound already, to 2 of 8 CPUs" },
    { "ranks without a number",
      "cores",
      "0-7",
      { "RANK=1", "WORLD_SIZE=2" },
      { "job" },
      false,
      NULL,
      "how many ranks share this node is not known" },
    { "torchrun",
      "numa",
      "0-7",
      { NULL },
      { "/opt/bin/torchrun", "job.py" },
      false,
      NULL,
      "'torchrun' starts the ranks, each of which is bound by itself: torchrun "
      "--numa-binding=node (torch 2.9)" },
    { "torchrun's module",
      "cores",
      "0-7",
      { NULL },
      { "python3", "-m", "torch.distributed.run", "job.py" },
      false,
      NULL,
      "'torch.distributed.run' starts the ranks, each of which is bound by itself" },
};

static void test_bindings(const struct bench *b)
{
    for (size_t i = 0; i < ARRAY_SIZE(bindings); i++) {
        struct arena a = ARENA_INIT;
        char *env[5] = { NULL }, *argv[5] = { NULL };
        const struct binding_about about = { .tree = bindings[i].gpus ? b->gpu_tree : b->tree,
                                             .cpus = bindings[i].cpus,
                                             .env = env,
                                             .argv = argv };
        const char *cpus = NULL;
        char why[BINDING_WHY];

        for (size_t k = 0; k < 4; k++) {
            env[k] = bindings[i].env[k] ? arena_strdup(&a, bindings[i].env[k]) : NULL;
            argv[k] = bindings[i].argv[k] ? arena_strdup(&a, bindings[i].argv[k]) : NULL;
        }
        is_int(binding_cpus(&a, &about, bindings[i].how, &cpus, why), 0,
               "binding_cpus binds in case '%s'", bindings[i].what);
        is_str(cpus ? cpus : "(none)", bindings[i].want ? bindings[i].want : "(none)",
               "the job of case '%s' has its CPUs", bindings[i].what);
        if (bindings[i].why)
            is_str(why, bindings[i].why, "the job of case '%s' has its reason", bindings[i].what);
        arena_done(&a);
    }
}

/* ---- all ---- */

static const char all[] = "[profile]\n[loader.workers]\nvalue = 13\n[threads.openmp]\nvalue = 4\n"
                          "[readers]\nvalue = 2\n[blas.library]\nvalue = openblas\n"
                          "[malloc.library]\nvalue = tcmalloc\n[cpu.binding]\nvalue = numa\n"
                          "[nccl.algorithm]\nvalue = Tree\n[power.limit]\nvalue = 300\n";

static int apply_all(const struct bench *b, struct arena *a, const struct profile *p,
                     struct profile_settings *job)
{
    const struct profile_settings_about how = {
        .knobs = &b->knobs, .tree = b->gpu_tree, .folders = b->folders, .cpus = "0-7", .shim = true
    };

    return profile_settings_apply(a, p, &how, job, NULL);
}

static void test_all(const struct bench *b)
{
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    CLEANUP(str_done) struct str said = STR_INIT(4096);
    char job[] = "job", nccl[] = "NCCL_ALGO=Ring", preload[] = "LD_PRELOAD=/x/y.so";
    char folders[] = "LD_LIBRARY_PATH=/nowhere", knobs[] = "BRIM_KNOBS=loader.prefetch=2";
    char *env[] = { nccl, preload, folders, knobs, NULL }, *argv[] = { job, NULL };
    struct profile_settings to = { .env = env, .argv = argv };
    bool failed;

    ok(profile_read(&p, "f", all, strlen(all), NULL) == 0,
       "a profile with all kinds of settings is read");
    oom_restart();
    do {
        struct arena a = ARENA_INIT;
        int rc;

        to = (struct profile_settings){ .env = env, .argv = argv };
        oom_next();
        rc = apply_all(b, &a, &p, &to);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "profile_settings_apply with allocation %d failing returns %d", oom_at, rc);
        if (!failed) {
            profile_settings_join(&said, to.applied, to.n_applied, ", ");
            is_str(str_text(&said),
                   "loader.workers=13, threads.openmp=4, readers=2, blas.library=openblas, "
                   "malloc.library=tcmalloc, cpu.binding=numa",
                   "settings of all kinds are applied together");
            is_int((long long)to.n_left, 2, "two of all settings are left");
            is_str(to.cpus, "0-1,4-5", "the job is bound to one domain's CPUs");
        }
        arena_done(&a);
    } while (failed);
    ok(!strcmp(env[3], knobs) && !argv[1], "what was handed in is as it was");
}

int main(void)
{
    struct bench b;

    set_up(&b);
    test_ones(&b);
    test_flag(&b);
    test_behind(&b);
    test_alone(&b);
    test_shim_and_risk(&b);
    test_blas(&b);
    test_malloc(&b);
    test_bindings(&b);
    test_all(&b);
    clear(&b);
    return done();
}
