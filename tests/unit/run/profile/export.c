/* A profile as text for those who start jobs, whole: which lines there are of which setting. */
#include "run/profile/export.h"

#include "folder.h"
#include "knobs_ini.h"
#include "oom_arena.h"
#include "tap.h"

enum { ROOM = 64 << 10 };

#define TORCHRUN "# sh THIS-FILE --nproc-per-node=8 train.py --epochs 3\n"
#define DIRECTIVES(n) \
    "# a CPU for each thread and each loader worker of a rank; fewer will do where workers wait " \
    "for storage\n#SBATCH --cpus-per-task=" n \
    "\n# srun takes it over from there (Slurm 22.05 and later do not by themselves)\n" \
    "export SRUN_CPUS_PER_TASK=\"${SLURM_CPUS_PER_TASK:-}\"\n"
#define LATER(mode) "# from torch 2.9 on, with GPUs: torchrun --numa-binding=" mode "\n"

static const char declared[] = "[knob.readers]\nflag = --readers\nvalues = 0,it's\n"
                               "[knob.nodes]\napply = launcher\ntarget = --nnodes\nvalues = 1,2\n"
                               "[knob.rows]\nflag = --rows\nvalues = 64\nrisk = numeric\n"
                               "rate = --lr 0.1 at 32\n";

static const struct {
    const char *what;
    enum export_form form;
    const char *machine, *versions;
    const char *settings[4][2];
    const char *want; /* behind the profile's name; "@": the folder of libraries */
} cases[] = {
    { "nothing", EXPORT_ENV, "", "", { { NULL } }, "" },
    { "a machine", EXPORT_ENV, "here", "", { { NULL } }, "# found on: here\n" },
    { "versions", EXPORT_ENV, "", "torch 2", { { NULL } }, "# found with: torch 2\n" },
    { "a variable",
      EXPORT_ENV,
      "",
      "",
      { { "threads.openmp", "4" }, { "cpu.binding", "numa" } },
      "export OMP_NUM_THREADS='4'\n# binding cpus numa\n" },
    { "what the shim sets",
      EXPORT_ENV,
      "",
      "",
      { { "loader.workers", "3" } },
      "# BRIM_KNOBS takes effect in jobs started by: brim run -- COMMAND\n"
      "export BRIM_KNOBS='loader.workers=3'\n" },
    { "a BLAS that is there",
      EXPORT_ENV,
      "",
      "",
      { { "blas.library", "openblas" } },
      "# binding blas openblas\n"
      "export LD_LIBRARY_PATH=\"@/openblas-serial${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\"\n" },
    { "a BLAS that is not there",
      EXPORT_ENV,
      "",
      "",
      { { "blas.library", "blis" } },
      "# binding blas blis\n# blas.library blis: not installed here; Debian: package "
      "libblis4-pthread\n" },
    { "an unknown BLAS",
      EXPORT_ENV,
      "",
      "",
      { { "blas.library", "mine" } },
      "# binding blas mine\n" },
    { "an allocator that is there",
      EXPORT_ENV,
      "",
      "",
      { { "malloc.library", "jemalloc" } },
      "# binding malloc jemalloc\n"
      "export LD_PRELOAD=\"${LD_PRELOAD:+$LD_PRELOAD:}@/libjemalloc.so.1\"\n" },
    { "an allocator that is not there",
      EXPORT_ENV,
      "",
      "",
      { { "malloc.library", "tcmalloc" } },
      "# binding malloc tcmalloc\n# malloc.library tcmalloc: not installed here; Debian: package "
      "libtcmalloc-minimal4\n" },
    { "glibc's allocator",
      EXPORT_ENV,
      "",
      "",
      { { "malloc.library", "glibc" } },
      "# binding malloc glibc\n" },
    { "nothing for Slurm", EXPORT_SLURM, "", "", { { NULL } }, "" },
    { "OpenMP's threads for Slurm",
      EXPORT_SLURM,
      "",
      "",
      { { "threads.openmp", "4" }, { "cpu.binding", "numa" } },
      DIRECTIVES("4") "export OMP_NUM_THREADS='4'\n# binding cpus numa\n"
                      "export SLURM_CPU_BIND=ldoms\n" },
    { "the most threads for Slurm",
      EXPORT_SLURM,
      "",
      "",
      { { "threads.openmp", "4" }, { "threads.intra", "6" }, { "loader.workers", "3" } },
      "# BRIM_KNOBS takes effect in jobs started by: brim run -- COMMAND\n" DIRECTIVES(
          "9") "export OMP_NUM_THREADS='4'\nexport "
               "BRIM_KNOBS='threads.intra=6;loader.workers=3'\n" },
    { "workers for Slurm",
      EXPORT_SLURM,
      "",
      "",
      { { "loader.workers", "3" } },
      "# BRIM_KNOBS takes effect in jobs started by: brim run -- COMMAND\n" DIRECTIVES(
          "4") "export BRIM_KNOBS='loader.workers=3'\n" },
    { "cores for Slurm",
      EXPORT_SLURM,
      "",
      "",
      { { "cpu.binding", "cores" } },
      "# binding cpus cores\nexport SLURM_CPU_BIND=cores\n" },
    { "no binding for Slurm",
      EXPORT_SLURM,
      "",
      "",
      { { "cpu.binding", "none" } },
      "# binding cpus none\n" },
    { "nothing for torchrun",
      EXPORT_TORCHRUN,
      "",
      "",
      { { NULL } },
      TORCHRUN "exec torchrun \"$@\"\n" },
    { "what the shim sets, for torchrun",
      EXPORT_TORCHRUN,
      "",
      "",
      { { "loader.workers", "3" } },
      TORCHRUN "export BRIM_KNOBS='loader.workers=3'\nexec brim run -- torchrun \"$@\"\n" },
    { "flags for torchrun",
      EXPORT_TORCHRUN,
      "",
      "",
      { { "readers", "it's" }, { "nodes", "2" }, { "rows", "64" } },
      TORCHRUN "# flag --readers it's\n# launcher --nnodes 2\n# flag --rows 64\n"
               "exec torchrun --nnodes '2' \"$@\" --readers 'it'\\''s' --rows '64' --lr 0.2\n" },
    { "no binding for torchrun",
      EXPORT_TORCHRUN,
      "",
      "torch 2.9",
      { { "cpu.binding", "none" } },
      "# found with: torch 2.9\n" TORCHRUN "# binding cpus none\nexec torchrun \"$@\"\n" },
    { "cores for torchrun",
      EXPORT_TORCHRUN,
      "",
      "",
      { { "cpu.binding", "cores" } },
      TORCHRUN "# binding cpus cores\n" LATER("exclusive") "exec torchrun \"$@\"\n" },
    { "domains for torchrun",
      EXPORT_TORCHRUN,
      "",
      "",
      { { "cpu.binding", "numa" } },
      TORCHRUN "# binding cpus numa\n" LATER("node") "exec torchrun \"$@\"\n" },
};

/* The text of a setting, or what is wrong. */
static const char *text_of(const struct knobs *knobs, enum export_form form, struct profile *p,
                           const char *const (*settings)[2], const char *folder, struct str *out)
{
    const char *folders[] = { folder, NULL };
    struct err e = { "" };

    for (size_t i = 0; i < 4 && settings[i][0]; i++) {
        const struct profile_setting s = { .knob = settings[i][0], .value = settings[i][1] };

        if (profile_set(p, &s, &e) < 0)
            return "(not set)";
    }
    str_reset(out);
    return profile_export(p, knobs, form, folders, out) < 0 ? "(failed)" : str_text(out);
}

/* A text with the folder's path in the place of "@". */
static void fill(struct str *out, const char *text, const char *folder)
{
    for (; *text; text++)
        if (*text == '@' && text[1] == '/')
            str_add(out, folder);
        else
            str_add_char(out, *text);
}

static void test_cases(const struct knobs *knobs, const char *folder)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM), want = STR_INIT(ROOM);
        CLEANUP(profile_done) struct profile p = { .count = 0 };
        const char *got;

        if (profile_init(&p, "net", "", cases[i].machine, cases[i].versions) < 0)
            return;
        got = text_of(knobs, cases[i].form, &p, cases[i].settings, folder, &out);
        str_addf(&want, "%s# profile net\n", cases[i].form == EXPORT_TORCHRUN ? "#!/bin/sh\n" : "");
        fill(&want, cases[i].want, folder);
        is_str(got, str_text(&want), "the text of %s is whole", cases[i].what);
    }
}

/* Which torch knows --numa-binding. */
static void test_versions(const struct knobs *knobs, const char *folder)
{
    static const struct {
        const char *versions;
        bool binds;
    } versions[] = {
        { "torch 2.9.0", true },  { "python 3.12, torch 2.10, cuda 12.8", true },
        { "torch 3.0", true },    { "torch 10.1", true },
        { "torch 2.8.1", false }, { "torch 1.13", false },
        { "torch 1.9", false },   { "torch 2", false },
        { "torch x.9", false },   { "torch 2.x", false },
        { "torch 2-9", false },   { "python 3.12", false },
    };
    static const char *const settings[4][2] = { { "cpu.binding", "numa" } };

    for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM);
        CLEANUP(profile_done) struct profile p = { .count = 0 };
        const char *got;

        if (profile_init(&p, "net", "", "", versions[i].versions) < 0)
            return;
        got = text_of(knobs, EXPORT_TORCHRUN, &p, settings, folder, &out);
        ok(!strstr(got, "exec torchrun --numa-binding=node \"$@\"") == !versions[i].binds,
           "'%s' binds or not", versions[i].versions);
        ok(!strstr(got, LATER("node")) == versions[i].binds, "'%s' is told of a later torch or not",
           versions[i].versions);
    }
}

/* A library that the system chooses: how is told, and no package behind it. */
static void test_why(const struct knobs *knobs, const char *folder)
{
    static const char end[] = " (package libmkl-rt)\n";
    static const char *const settings[4][2] = { { "blas.library", "mkl" } };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    const char *got;

    ok(profile_init(&p, "net", "", "", "") == 0, "a profile with MKL is made");
    got = text_of(knobs, EXPORT_ENV, &p, settings, folder, &out);
    ok(strstr(got, "\n# blas.library mkl: MKL has no folder with a libblas.so.3") &&
           out.len > strlen(end) && !strcmp(got + out.len - strlen(end), end),
       "the text of MKL says how it is chosen: %s", got);
}

static void test_oom(const struct knobs *knobs, const char *folder)
{
    static const char *const settings[4][2] = { { "blas.library", "openblas" },
                                                { "malloc.library", "jemalloc" } };
    const char *folders[] = { folder, NULL };
    CLEANUP(str_done) struct str tiny = STR_INIT(200);
    CLEANUP(str_done) struct str whole = STR_INIT(ROOM);
    CLEANUP(profile_done) struct profile p = { .count = 0 };
    bool failed;

    ok(profile_init(&p, "net", "", "", "") == 0, "a profile with two libraries is made");
    text_of(knobs, EXPORT_ENV, &p, settings, folder, &whole);
    is_int(profile_export(&p, knobs, EXPORT_ENV, folders, &tiny), -ENOMEM,
           "a text that has no room is a failure");
    oom_restart();
    do {
        CLEANUP(str_done) struct str out = STR_INIT(ROOM);
        int rc;

        oom_next();
        rc = profile_export(&p, knobs, EXPORT_ENV, folders, &out);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0, "profile_export with allocation %d failing returns %d",
           oom_at, rc);
    } while (failed);
}

int main(void)
{
    struct err e = { "" };
    struct knobs knobs;
    char folder[PATH_MAX];

    folder_make(folder);
    folder_text(folder, "openblas-serial/libblas.so.3", "elf");
    folder_text(folder, "libjemalloc.so.1", "elf");
    ok(knobs_load(&knobs, "k", data_knobs_ini, data_knobs_ini_len, &e) == 0 &&
           knobs_declare(&knobs, "j", declared, strlen(declared), &e) == 0,
       "the knobs are loaded: %s", e.text);
    test_cases(&knobs, folder);
    test_versions(&knobs, folder);
    test_why(&knobs, folder);
    test_oom(&knobs, folder);
    knobs_done(&knobs);
    folder_remove(folder);
    return done();
}
