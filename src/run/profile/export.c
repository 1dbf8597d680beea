#include "run/profile/export.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "run/profile/job_library.h"

struct exporter {
    const struct profile *p;
    const struct knobs *knobs;
    const char *const *folders;
    enum export_form form;
    struct arena *scratch;
    struct str *out;
};

static const char *value_of(const struct exporter *x, const char *knob)
{
    for (size_t i = 0; i < x->p->count; i++)
        if (!strcmp(x->p->settings[i].knob, knob))
            return x->p->settings[i].value;
    return NULL;
}

static uint64_t number_of(const struct exporter *x, const char *knob)
{
    const char *text = value_of(x, knob);
    uint64_t number;

    return text && parse_u64(text, &number) == 0 ? number : 0;
}

static bool has_kind(const struct exporter *x, enum knob_apply kind)
{
    for (size_t i = 0; i < x->p->count; i++) {
        const struct knob *k = knobs_find(x->knobs, x->p->settings[i].knob);

        if (k && k->apply == kind)
            return true;
    }
    return false;
}

static void add_head(const struct exporter *x)
{
    str_addf(x->out, "# profile %s\n", x->p->name);
    if (*x->p->machine)
        str_addf(x->out, "# found on: %s\n", x->p->machine);
    if (*x->p->versions)
        str_addf(x->out, "# found with: %s\n", x->p->versions);
}

/* ---- libraries ---- */

/* A variable of folders or files with one more; paths of the system's need no quotes. */
static void add_path(const struct exporter *x, const char *name, const char *path, bool behind)
{
    if (behind)
        str_addf(x->out, "export %s=\"${%s:+$%s:}%s\"\n", name, name, name, path);
    else
        str_addf(x->out, "export %s=\"%s${%s:+:$%s}\"\n", name, path, name, name);
}

static void add_missing(const struct exporter *x, const char *knob, const char *value,
                        const struct job_library *lib)
{
    if (lib->package)
        str_addf(x->out, "# %s %s: %s%s\n", knob, value,
                 lib->why ? lib->why : "not installed here; Debian: package ",
                 lib->why ? "" : lib->package);
}

static int add_libraries(const struct exporter *x)
{
    const char *blas = value_of(x, "blas.library"), *heap = value_of(x, "malloc.library");
    struct job_library lib;
    int rc = 0;

    if (blas)
        rc = job_library_blas(x->scratch, x->folders, blas, &lib);
    if (rc == 0 && blas && lib.path)
        add_path(x, "LD_LIBRARY_PATH", lib.path, false);
    else if (rc == 0 && blas)
        add_missing(x, "blas.library", blas, &lib);
    if (rc == 0 && heap)
        rc = job_library_malloc(x->scratch, x->folders, heap, &lib);
    if (rc == 0 && heap && lib.path)
        add_path(x, "LD_PRELOAD", lib.path, true);
    else if (rc == 0 && heap)
        add_missing(x, "malloc.library", heap, &lib);
    return rc;
}

static int add_exports(const struct exporter *x)
{
    profile_env(x->p, x->knobs, x->out);
    return add_libraries(x);
}

/* ---- Slurm ---- */

/* Directives stand in front of the first command. */
static void add_directives(const struct exporter *x)
{
    uint64_t threads = number_of(x, "threads.openmp"), workers = number_of(x, "loader.workers");

    if (number_of(x, "threads.intra") > threads)
        threads = number_of(x, "threads.intra");
    if (!threads && !workers)
        return;
    threads = threads ? threads : 1;
    str_add(x->out, "# a CPU for each thread and each loader worker of a rank; fewer will do where "
                    "workers wait for storage\n");
    str_addf(x->out, "#SBATCH --cpus-per-task=%llu\n", (unsigned long long)threads + workers);
    str_add(x->out, "# srun takes it over from there (Slurm 22.05 and later do not by themselves)\n"
                    "export SRUN_CPUS_PER_TASK=\"${SLURM_CPUS_PER_TASK:-}\"\n");
}

static void add_slurm_binding(const struct exporter *x)
{
    const char *binding = value_of(x, "cpu.binding");

    if (!binding || !strcmp(binding, "none"))
        return;
    str_addf(x->out, "export SLURM_CPU_BIND=%s\n", !strcmp(binding, "numa") ? "ldoms" : "cores");
}

/* ---- torchrun ---- */

/* --numa-binding came with torch 2.9. */
static bool binds(const struct exporter *x)
{
    const char *at = strstr(x->p->versions, "torch ");
    uint64_t major, minor;
    int len;

    if (!at)
        return false;
    len = parse_digits(at + 6, 10, 4, &major);
    if (!len || at[6 + len] != '.' || !parse_digits(at + 7 + len, 10, 4, &minor))
        return false;
    return major > 2 || (major == 2 && minor >= 9);
}

static void add_kind(const struct exporter *x, enum knob_apply kind)
{
    char rate[KNOB_VALUE_MAX];

    for (size_t i = 0; i < x->p->count; i++) {
        const struct profile_setting *s = &x->p->settings[i];
        const struct knob *k = knobs_find(x->knobs, s->knob);

        if (!k || k->apply != kind)
            continue;
        str_addf(x->out, " %s '", k->target);
        for (const char *c = s->value; *c; c++)
            if (*c == '\'')
                str_add(x->out, "'\\''");
            else
                str_add_char(x->out, *c);
        str_add_char(x->out, '\'');
        if (k->rate_flag && knob_rate(k, s->value, rate))
            str_addf(x->out, " %s %s", k->rate_flag, rate);
    }
}

static void add_torchrun(const struct exporter *x)
{
    const char *binding = value_of(x, "cpu.binding");
    const char *mode = !binding || !strcmp(binding, "none") ? NULL
                       : !strcmp(binding, "numa")           ? "node"
                                                            : "exclusive";

    if (mode && !binds(x))
        str_addf(x->out, "# from torch 2.9 on, with GPUs: torchrun --numa-binding=%s\n", mode);
    str_addf(x->out, "exec %storchrun", has_kind(x, KNOB_SHIM) ? "brim run -- " : "");
    if (mode && binds(x))
        str_addf(x->out, " --numa-binding=%s", mode);
    add_kind(x, KNOB_LAUNCHER);
    str_add(x->out, " \"$@\"");
    add_kind(x, KNOB_FLAG);
    str_add_char(x->out, '\n');
}

int profile_export(const struct profile *p, const struct knobs *knobs, enum export_form form,
                   const char *const *folders, struct str *out)
{
    CLEANUP(arena_done) struct arena scratch = ARENA_INIT;
    const struct exporter x = { p, knobs, folders, form, &scratch, out };
    int rc;

    if (form == EXPORT_TORCHRUN)
        str_add(out, "#!/bin/sh\n");
    add_head(&x);
    if (form == EXPORT_TORCHRUN)
        str_add(out, "# sh THIS-FILE --nproc-per-node=8 train.py --epochs 3\n");
    else if (has_kind(&x, KNOB_SHIM))
        str_add(out, "# BRIM_KNOBS takes effect in jobs started by: brim run -- COMMAND\n");
    if (form == EXPORT_SLURM)
        add_directives(&x);
    rc = add_exports(&x);
    if (rc == 0 && form == EXPORT_SLURM)
        add_slurm_binding(&x);
    if (rc == 0 && form == EXPORT_TORCHRUN)
        add_torchrun(&x);
    return rc < 0 || str_error(out) ? -ENOMEM : 0;
}
