/* What is noted of where a run happens, and what leads a job to us: variables, machine, commit,
 * names, environment, control group. */
#include "run/job/facts.h"

#include "base/str.h"
#include "folder.h"
#include "run/job/about.h"
#include "run/job/environ.h"
#include "tap.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define OTHER "89abcdef0123456789abcdef0123456789abcdef"

/* Notes whose names begin so: "NAME=VALUE NAME=VALUE". */
static const char *notes(const struct run *r, const char *start, struct str *out)
{
    str_reset(out);
    for (size_t i = 0; i < r->n_environment; i++)
        if (!strncmp(r->environment[i].name, start, strlen(start)))
            str_addf(out, "%s%s=%s", out->len ? " " : "", r->environment[i].name,
                     r->environment[i].value);
    return str_text(out);
}

static void take(struct run *r, const char *root, const char *folder, char *const *env)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *r = (struct run){ .id = "x" };
    is_int(facts_take(r, fd, folder, env), 0, "facts_take notes what there is");
    close(fd);
}

/* ---- variables ---- */

static void test_variables(const char *root)
{
    static const char *const kept[] = {
        "OMP_A=1",       "MKL_A=2",
        "OPENBLAS_A=3",  "KMP_A=4",
        "NCCL_A=5",      "CUDA_A=6",
        "HIP_A=7",       "ROCR_A=8",
        "TORCH_A=9",     "PYTORCH_A=10",
        "MALLOC_A=",     "SLURM_A=1",
        "UCX_A=2",       "FI_A=3",
        "OMPI_MCA_A=4",  "GLOO_A=5",
        "TF_A=6",        "XLA_A=7",
        "MASTER_A=8",    "RANK=9",
        "WORLD_SIZE=1",  "LOCAL_RANK=2",
        "LD_PRELOAD=3",  "LD_LIBRARY_PATH=4",
        "PYTHONPATH=5",  "CONDA_DEFAULT_ENV=6",
        "VIRTUAL_ENV=7", "TOKENIZERS_PARALLELISM=8",
        "BRIM_A=9",
    };
    static const char *const dropped[] = {
        "HOME=/", "OMPI_A=1",      "RANKS=1",     "XOMP_A=1",
        "OMP_A",  "LD_PRELOADS=1", "SLURM_JWT=x", "BRIM_TOKEN=x"
    };
    CLEANUP(str_done) struct str got = STR_INIT(1 << 16), want = STR_INIT(1 << 16);
    char *env[64] = { NULL }, copy[64][64], long_name[1200], long_value[1200];
    struct run r;
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_SIZE(dropped); i++, n++)
        snprintf(env[n] = copy[n], sizeof(copy[n]), "%s", dropped[i]);
    for (size_t i = 0; i < ARRAY_SIZE(kept); i++, n++) {
        snprintf(env[n] = copy[n], sizeof(copy[n]), "%s", kept[i]);
        str_addf(&want, "%senv.%s", i ? " " : "", kept[i]);
    }
    take(&r, root, NULL, env);
    is_str(notes(&r, "env.", &got), str_text(&want), "variables that change a job are noted");
    run_done(&r);
    memset(long_name, 'a', sizeof(long_name));
    memcpy(long_name, "OMP_", 4);
    memcpy(long_name + 1016, "=1", 3);
    memset(long_value, 'b', sizeof(long_value));
    memcpy(long_value, "OMP_B=", 6);
    long_value[1100] = 0;
    env[0] = long_name;
    env[1] = long_value;
    env[2] = NULL;
    take(&r, root, NULL, env);
    is_int((long long)strlen(notes(&r, "env.", &got)), (long long)strlen("env.OMP_B=") + 1023,
           "a name that is too long is left out, a value is cut");
    run_done(&r);
    memcpy(long_name + 1015, "=1", 3);
    env[1] = NULL;
    take(&r, root, NULL, env);
    is_int((long long)strlen(notes(&r, "env.", &got)), 4 + 1015 + 2,
           "the longest name is noted whole");
    run_done(&r);
}

/* ---- the machine ---- */

static void test_machine(const char *root)
{
    static const char *const order[] = { "kernel",       "cpu",           "cpus",
                                         "cpus.allowed", "memory",        "limit.nofile",
                                         "limit.nproc",  "limit.memlock", "limit.stack",
                                         "limit.as",     "cpus.smt" };
    CLEANUP(str_done) struct str got = STR_INIT(1 << 16);
    char *env[] = { NULL };
    struct run r;

    folder_text(root, "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: A CPU @ 3 GHz\nmodel name\t: Another\n");
    folder_text(root, "proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n");
    folder_text(root, "sys/devices/system/cpu/smt/active", "1\n");
    take(&r, root, NULL, env);
    is_int((long long)r.n_environment, ARRAY_SIZE(order), "a machine has its notes");
    for (size_t i = 0; i < ARRAY_SIZE(order) && i < r.n_environment; i++)
        is_str(r.environment[i].name, order[i], "note %zu has its name", i);
    is_str(notes(&r, "cpu=", &got), "", "names of notes have no value in them");
    is_str(notes(&r, "memory", &got), "memory=2048 kB", "the memory is noted");
    is_str(notes(&r, "cpus.smt", &got), "cpus.smt=1",
           "a machine whose CPUs share cores has that noted");
    is_str(r.environment[1].value, "A CPU @ 3 GHz", "the first CPU is noted");
    run_done(&r);
    folder_text(root, "sys/devices/system/cpu/smt/active", "0\n");
    take(&r, root, NULL, env);
    is_str(notes(&r, "cpus.smt", &got), "cpus.smt=0",
           "a machine whose CPUs share no cores has that noted");
    run_done(&r);
    folder_text(root, "sys/devices/system/cpu/smt/active", "notsupported\n");
    folder_text(root, "proc/cpuinfo", "nothing\n");
    folder_text(root, "proc/meminfo", "MemTotal");
    take(&r, root, NULL, env);
    is_str(notes(&r, "cpus.smt", &got), "", "what the kernel does not tell is not noted");
    is_str(notes(&r, "memory", &got), "", "memory without a number is not noted");
    run_done(&r);
}

/* ---- git ---- */

static const struct {
    const char *what, *files[3][2], *folder, *want;
} commits[] = {
    { "a branch",
      { { "a/.git/HEAD", "ref: refs/heads/main\n" }, { "a/.git/refs/heads/main", COMMIT "\n" } },
      "a",
      "git.branch=main git.commit=" COMMIT },
    { "a folder below", { { "a/b/c/x", "" } }, "a/b/c", "git.branch=main git.commit=" COMMIT },
    { "a branch that is packed",
      { { "p/.git/HEAD", "ref: refs/heads/two\n" },
        { "p/.git/packed-refs",
          "# pack-refs with: peeled\n" OTHER " refs/heads/one\n" COMMIT " refs/heads/two\n" } },
      "p",
      "git.branch=two git.commit=" COMMIT },
    { "a branch that is packed first",
      { { "f/.git/HEAD", "ref: refs/heads/one\n" },
        { "f/.git/packed-refs", "#\n" OTHER " refs/heads/one\n" } },
      "f",
      "git.branch=one git.commit=" OTHER },
    { "a branch without a commit",
      { { "n/.git/HEAD", "ref: refs/heads/new\n" }, { "n/.git/packed-refs", "refs/heads/new\n" } },
      "n",
      "git.branch=new" },
    { "no branch", { { "d/.git/HEAD", OTHER "\n" } }, "d", "git.commit=" OTHER },
    { "half a commit",
      { { "h/.git/HEAD", "0123456789abcdef0123456789abcdef0123456\n" } },
      "h",
      "" },
    { "another reference",
      { { "t/.git/HEAD", "ref: refs/remotes/x\n" }, { "t/.git/refs/remotes/x", COMMIT } },
      "t",
      "git.branch=refs/remotes/x git.commit=" COMMIT },
    { "a reference that leads out",
      { { "o/.git/HEAD", "ref: refs/../../a/.git/HEAD\n" } },
      "o",
      "" },
    { "a reference from the root", { { "r/.git/HEAD", "ref: /etc/hostname\n" } }, "r", "" },
    { "an empty .git", { { "e/.git/x", "" } }, "e", "" },
};

static void test_git(const char *root)
{
    CLEANUP(str_done) struct str got = STR_INIT(1 << 16);
    char folder[PATH_MAX], text[PATH_MAX + 32];
    char *env[] = { NULL };
    struct run r;

    for (size_t i = 0; i < ARRAY_SIZE(commits); i++) {
        for (size_t k = 0; k < 3 && commits[i].files[k][0]; k++)
            folder_text(root, commits[i].files[k][0], commits[i].files[k][1]);
        folder_path(root, commits[i].folder, folder);
        take(&r, root, folder, env);
        is_str(notes(&r, "git.", &got), commits[i].want, "the commit of %s is noted",
               commits[i].what);
        run_done(&r);
    }
    snprintf(text, sizeof(text), "gitdir: %s/a/.git\n", root);
    folder_text(root, "w/.git", text);
    folder_path(root, "w", folder);
    take(&r, root, folder, env);
    is_str(notes(&r, "git.", &got), "git.branch=main git.commit=" COMMIT,
           "the commit of a worktree is noted");
    run_done(&r);
}

/* ---- what leads a job to us ---- */

static void test_names(const char *root)
{
    static const struct {
        const char *argv[4], *name, *want;
    } cases[] = {
        { { "python", "train.py" }, NULL, "train.py" },
        { { "python", "/a/b/train.py", "x.py" }, NULL, "train.py" },
        { { "/usr/bin/sleep", "1" }, NULL, "sleep" },
        { { "a.py", "1" }, NULL, "a.py" },
        { { "sh", ".py" }, NULL, "sh" },
        { { "sh", "a.pyc" }, NULL, "sh" },
        { { "/bin/", "1" }, NULL, "/bin/" },
        { { "python", "a.py" }, "mine", "mine" },
    };
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copies[4][32], *argv[5] = { NULL }, *env[] = { NULL };
        struct about a = {
            .id = "i", .name = cases[i].name, .argv = argv, .env = env, .folder = "/w", .root = fd
        };
        struct run r = { .id = NULL };

        for (size_t k = 0; k < 4 && cases[i].argv[k]; k++)
            snprintf(argv[k] = copies[k], sizeof(copies[k]), "%s", cases[i].argv[k]);
        is_int(about_run(&r, &a), 0, "about_run fills run %zu", i);
        is_str(r.name, cases[i].want, "run %zu has its name", i);
        ok(!strcmp(r.id, "i") && !strcmp(r.folder, "/w") && r.end == RUN_RUNNING && *r.host,
           "run %zu has its id and folder, and goes on", i);
        run_done(&r);
    }
    close(fd);
}

static void test_environment(void)
{
    static const struct {
        const char *env[2], *plugins, *libraries, *want;
    } cases[] = {
        { { "A=1" }, NULL, NULL, "A=1 BRIM_RUN=i BRIM_RING=/r" },
        { { "BRIM_RUN=x", "BRIM_RING=y" },
          "/p",
          "/l",
          "BRIM_RUN=i BRIM_RING=/r PYTHONPATH=/p BRIM_LIB=/l" },
        { { "PYTHONPATH=/q:/s" }, "/p", NULL, "PYTHONPATH=/p:/q:/s BRIM_RUN=i BRIM_RING=/r" },
        { { "PYTHONPATH=" }, "/p", NULL, "PYTHONPATH=/p BRIM_RUN=i BRIM_RING=/r" },
        { { "PYTHONPATH=/q", "BRIM_LIB=/m" },
          NULL,
          "/l",
          "PYTHONPATH=/q BRIM_LIB=/m BRIM_RUN=i BRIM_RING=/r" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(arena_done) struct arena arena = ARENA_INIT;
        CLEANUP(str_done) struct str got = STR_INIT(4096);
        char copies[2][32], *env[3] = { NULL }, **made = NULL;
        const struct about a = { .id = "i",
                                 .env = env,
                                 .ring = "/r",
                                 .plugins = cases[i].plugins,
                                 .libraries = cases[i].libraries };

        for (size_t k = 0; k < 2 && cases[i].env[k]; k++)
            snprintf(env[k] = copies[k], sizeof(copies[k]), "%s", cases[i].env[k]);
        is_int(about_environment(&arena, &a, &made), 0, "environment %zu is made", i);
        for (char **at = made; *at; at++)
            str_addf(&got, "%s%s", got.len ? " " : "", *at);
        is_str(str_text(&got), cases[i].want, "environment %zu leads the job to us", i);
    }
}

static void test_gpus(void)
{
    static const struct {
        const char *list, *gpu;
        bool has;
    } cases[] = { { "0,1", "0", true },    { "0,1", "1", true },    { "0,1", "2", false },
                  { "10,11", "1", false }, { "10,11", "11", true }, { "1", "10", false },
                  { "", "0", false },      { "0,", "", true } };
    static const struct {
        const char *env, *list;
    } lists[] = { { "CUDA_VISIBLE_DEVICES=0,1", "0,1" },
                  { "CUDA_VISIBLE_DEVICES=", NULL },
                  { "CUDA_VISIBLE_DEVICES=GPU-1", NULL },
                  { "CUDA_VISIBLE_DEVICES=-1", NULL },
                  { "CUDA_VISIBLE_DEVICESX=1", NULL } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(environ_has_gpu(cases[i].list, cases[i].gpu) == cases[i].has,
           "the list '%s' is asked for GPU '%s'", cases[i].list, cases[i].gpu);
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        char copy[48], *env[] = { copy, NULL };

        snprintf(copy, sizeof(copy), "%s", lists[i].env);
        is_str(environ_gpus(env), lists[i].list, "'%s' lists GPUs or does not", copy);
    }
}

static void test_numbers(void)
{
    static const struct {
        const char *env;
        int want;
    } cases[] = { { "N=5", 5 },   { "N=0", 0 },  { "N=2147483647", INT32_MAX },
                  { "N=-1", -1 }, { "N=", -1 },  { "N=2147483648", -1 },
                  { "N=5x", -1 }, { "NN=5", -1 } };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char copy[48], *env[] = { copy, NULL };

        snprintf(copy, sizeof(copy), "%s", cases[i].env);
        is_int(environ_number(env, "N"), cases[i].want, "the number of '%s' is read", copy);
    }
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_variables(root);
    test_machine(root);
    test_git(root);
    test_names(root);
    test_environment();
    test_gpus();
    test_numbers();
    folder_remove(root);
    return done();
}
