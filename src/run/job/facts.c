#include "run/job/facts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "base/file.h"
#include "probe/kernel/kept_file.h"
#include "run/job/secret.h"

enum {
    TEXT = 8192,
    VALUE = 1024,
    VARIABLE_MAX = 256 << 10,
    GIT_MAX = 4096,
    GIT_PACKED_MAX = 4 << 20
};

int facts_add(struct run *r, const char *name, const char *value)
{
    struct run_note *note = ARENA_PUSH(&r->arena, &r->environment, &r->n_environment);

    if (!note)
        return -ENOMEM;
    note->name = arena_strdup(&r->arena, name);
    note->value = arena_strdup(&r->arena, value);
    return note->name && note->value ? 0 : -ENOMEM;
}

/* ---- variables ---- */

static bool is_of_interest(const char *text)
{
    static const char *const starts[] = {
        "OMP_",         "MKL_",
        "OPENBLAS_",    "KMP_",
        "NCCL_",        "CUDA_",
        "HIP_",         "ROCR_",
        "TORCH_",       "PYTORCH_",
        "MALLOC_",      "SLURM_",
        "UCX_",         "FI_",
        "OMPI_MCA_",    "GLOO_",
        "TF_",          "XLA_",
        "MASTER_",      "RANK=",
        "WORLD_SIZE=",  "LOCAL_RANK=",
        "LD_PRELOAD=",  "LD_LIBRARY_PATH=",
        "PYTHONPATH=",  "CONDA_DEFAULT_ENV=",
        "VIRTUAL_ENV=", "TOKENIZERS_PARALLELISM=",
        "BRIM_",
    };

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (!strncmp(text, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static int take_variables(struct run *r, char *const *env)
{
    int rc = 0;

    for (; *env && rc == 0; env++) {
        CLEANUP(str_done) struct str text = STR_INIT(VARIABLE_MAX);
        const char *equals = strchr(*env, '=');
        char name[VALUE], value[VALUE];

        if (!equals || !is_of_interest(*env) || (size_t)(equals - *env) >= sizeof(name) - 8)
            continue;
        snprintf(name, sizeof(name), "env.%.*s", (int)(equals - *env), *env);
        if (secret_variable(name))
            continue;
        secret_add_text(&text, equals + 1);
        if (str_error(&text) == -ENOMEM)
            return -ENOMEM;
        snprintf(value, sizeof(value), "%s", str_error(&text) ? "(too long)" : str_text(&text));
        rc = facts_add(r, name, value);
    }
    return rc;
}

/* ---- the machine ---- */

static int take_text(struct run *r, int root, const char *path, const char *key, const char *name)
{
    struct kept file;
    char text[TEXT], *at, *end;
    int len;

    kept_open(&file, root, path);
    len = kept_read(&file, text, sizeof(text));
    kept_close(&file);
    if (len <= 0)
        return 0;
    at = strstr(text, key);
    at = at ? strchr(at, ':') : NULL;
    if (!at)
        return 0;
    at += 1 + strspn(at + 1, " \t");
    end = at + strcspn(at, "\n");
    *end = 0;
    return facts_add(r, name, at);
}

static int take_cpus(struct run *r)
{
    char text[32];
    cpu_set_t set;
    int rc;

    snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    rc = facts_add(r, "cpus", text);
    if (rc < 0 || sched_getaffinity(0, sizeof(set), &set) < 0)
        return rc;
    snprintf(text, sizeof(text), "%d", CPU_COUNT(&set));
    return facts_add(r, "cpus.allowed", text);
}

static int take_limits(struct run *r)
{
    static const struct {
        int id;
        const char *name;
    } limits[] = { { RLIMIT_NOFILE, "limit.nofile" },
                   { RLIMIT_NPROC, "limit.nproc" },
                   { RLIMIT_MEMLOCK, "limit.memlock" },
                   { RLIMIT_STACK, "limit.stack" },
                   { RLIMIT_AS, "limit.as" } };
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(limits) && rc == 0; i++) {
        struct rlimit l;
        char text[32] = "unlimited";

        if (getrlimit((__rlimit_resource_t)limits[i].id, &l) < 0)
            continue;
        if (l.rlim_cur != RLIM_INFINITY)
            snprintf(text, sizeof(text), "%llu", (unsigned long long)l.rlim_cur);
        rc = facts_add(r, limits[i].name, text);
    }
    return rc;
}

/* Whether CPUs share cores, of which there are half as many then. */
static int take_smt(struct run *r, int root)
{
    char text[8] = "";
    struct kept file;

    kept_open(&file, root, "sys/devices/system/cpu/smt/active");
    if (kept_read(&file, text, sizeof(text)) > 0)
        text[1] = 0;
    kept_close(&file);
    return text[0] == '0' || text[0] == '1' ? facts_add(r, "cpus.smt", text) : 0;
}

/* ---- git ---- */

/* "<40 digits>" or "" : what a reference points to, in a file of its own or among the packed. */
static void read_reference(const char *git, const char *name, struct str *out)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX), text = STR_INIT(GIT_PACKED_MAX);
    const char *at;

    str_addf(&path, "%s/%s", git, name);
    if (file_read(str_text(&path), out, NULL) == 0)
        return;
    str_reset(out);
    str_reset(&path);
    str_addf(&path, "%s/packed-refs", git);
    if (file_read(str_text(&path), &text, NULL) < 0)
        return;
    at = strstr(str_text(&text), name);
    if (at && at - str_text(&text) > 41)
        str_add_n(out, at - 41, 40);
}

static int take_commit(struct run *r, const char *git)
{
    CLEANUP(str_done)
    struct str path = STR_INIT(PATH_MAX), head = STR_INIT(GIT_MAX), commit = STR_INIT(GIT_MAX);
    char name[256], value[64];
    const char *text;
    int rc = 0;

    str_addf(&path, "%s/HEAD", git);
    if (file_read(str_text(&path), &head, NULL) < 0)
        return 0;
    text = str_text(&head);
    if (!strncmp(text, "ref: ", 5)) {
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 5, "\n"), text + 5);
        if (strstr(name, "..") || name[0] == '/')
            return 0;
        read_reference(git, name, &commit);
        text = str_text(&commit);
        rc = facts_add(r, "git.branch", strncmp(name, "refs/heads/", 11) ? name : name + 11);
    }
    snprintf(value, sizeof(value), "%.*s", (int)strcspn(text, "\n"), text);
    if (rc == 0 && strlen(value) >= 40)
        rc = facts_add(r, "git.commit", value);
    return rc;
}

/* The folder or one above it; a worktree has a file that names the place. */
static int take_git(struct run *r, const char *folder)
{
    char dir[PATH_MAX], git[PATH_MAX + 8];

    if (snprintf(dir, sizeof(dir), "%s", folder) >= (int)sizeof(dir))
        return 0;
    while (dir[0]) {
        CLEANUP(str_done) struct str text = STR_INIT(GIT_MAX);
        char *slash;

        snprintf(git, sizeof(git), "%s/.git", dir);
        if (file_read(git, &text, NULL) == 0 && !strncmp(str_text(&text), "gitdir: ", 8)) {
            snprintf(git, sizeof(git), "%.*s", (int)strcspn(str_text(&text) + 8, "\n"),
                     str_text(&text) + 8);
            return take_commit(r, git);
        }
        if (access(git, F_OK) == 0)
            return take_commit(r, git);
        slash = strrchr(dir, '/');
        if (!slash)
            break;
        *slash = 0;
    }
    return 0;
}

int facts_take(struct run *r, int root, const char *folder, char *const *env)
{
    struct utsname name;
    int rc = 0;

    if (uname(&name) == 0)
        rc = facts_add(r, "kernel", name.release);
    if (rc == 0)
        rc = take_text(r, root, "proc/cpuinfo", "model name", "cpu");
    if (rc == 0)
        rc = take_cpus(r);
    if (rc == 0)
        rc = take_text(r, root, "proc/meminfo", "MemTotal", "memory");
    if (rc == 0)
        rc = take_limits(r);
    if (rc == 0)
        rc = take_smt(r, root);
    if (rc == 0 && folder)
        rc = take_git(r, folder);
    return rc == 0 ? take_variables(r, env) : rc;
}
