/* brim bench: what this machine really does. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/conf.h"
#include "base/clock.h"
#include "bench/results.h"
#include "cmd/bench/show.h"
#include "cmd/common/cmd.h"
#include "cmd/common/terminal_text.h"
#include "devices_csv.h"

enum { OUTPUT_MAX = 1 << 20, PATH_BYTES = 4096 };

struct bench_opts {
    int64_t window_ns;
    const char *json, *only, *blas, *cublas;
};

/* What to measure: --only. */
static const char *const parts[] = { "all", "cpus", "gpus", NULL };

static const struct opt opts[] = {
    { OPT_DURATION, 0, "seconds", offsetof(struct bench_opts, window_ns), "N",
      "how long to measure each figure (1; 250ms)", .least = 10 * OPT_MS, .most = OPT_MIN },
    { OPT_CHOICE, 0, "only", offsetof(struct bench_opts, only), "WHAT", "measure these alone",
      .choices = parts },
    { OPT_STRING, 0, "blas", offsetof(struct bench_opts, blas), "PATH",
      "measure this BLAS instead of the one a job gets" },
    { OPT_STRING, 0, "cublas", offsetof(struct bench_opts, cublas), "PATH",
      "the cuBLAS to measure GPUs with" },
    CMD_JSON(offsetof(struct bench_opts, json)),
    { .kind = OPT_END },
};

static const struct bench_opts defaults = { .window_ns = NS_PER_S, .only = "all" };

/* What was left out, and what could not be kept. */
static void tell(const char *text)
{
    if (*text)
        say("brim bench", text);
}

static int measure(const struct bench_opts *o, struct compute *c, struct err *e)
{
    CLEANUP(tree_closep) struct tree *tree = NULL;
    struct compute_about about = { .blas = o->blas,
                                   .cublas = o->cublas,
                                   .window_ns = o->window_ns,
                                   .no_cpus = !strcmp(o->only, "gpus"),
                                   .no_gpus = !strcmp(o->only, "cpus") };
    struct catalogue devices;
    int rc = tree_open_dir(&tree, "/", e);

    if (rc == 0)
        rc = catalogue_load(&devices, data_devices_csv, data_devices_csv_len, e);
    if (rc < 0)
        return rc;
    about.tree = tree;
    about.devices = &devices;
    rc = compute_run(&about, c, e);
    catalogue_done(&devices);
    return rc;
}

/* Tell of each product that was wrong: EXIT_FAILED when there was one, 0. */
static int tell_wrong(const struct compute *c)
{
    int rc = c->blas_wrong ? EXIT_FAILED : 0;

    for (int i = 0; i < c->gpus.count; i++) {
        const struct cuda_gpu *g = &c->gpus.gpus[i];
        const char *wrong = *g->wrong ? g->wrong : c->together[i].wrong;
        char text[256];

        if (!*wrong)
            continue;
        snprintf(text, sizeof(text), "GPU%d (%s): %s; give it no work until it was looked at", i,
                 g->bus, wrong);
        tell(text);
        rc = EXIT_FAILED;
    }
    return rc;
}

static int compute(const struct app *app, const struct bench_opts *o, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX), path = STR_INIT(PATH_BYTES);
    const char *folder = conf_state(&a, "bench");
    struct err why = { "" };
    struct compute c = { .blas = "" };
    int rc = folder ? measure(o, &c, e) : err_nomem(e), wrong;

    if (rc < 0)
        return rc;
    tell(c.blas_why.text);
    tell(c.gpus_why.text);
    wrong = tell_wrong(&c);
    if (results_keep(&c, folder, clock_wall_ns(app->clock), &path, &why) < 0)
        tell(why.text); /* the figures are there all the same */
    (o->json ? bench_show_json : bench_show)(&c, &out);
    rc = cmd_print(&out, o->json, e);
    return rc < 0 ? rc : wrong;
}

static const struct cmd_sub subs[] = {
    { "compute",
      "",
      "products of matrices and copies of memory, beside what is nominal",
      { "bench compute", "bench compute --seconds 250ms --json=bench.json" } },
    { .name = NULL },
};

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    static const char *const measurements[] = { "compute", NULL };
    const struct bench_opts *o = values;

    if (!operands[0])
        return err_usage(e, "say what to measure: brim bench compute");
    if (strcmp(operands[0], "compute") != 0)
        return opt_unknown("measurement", operands[0], measurements, e);
    if (o->blas && !strcmp(o->only, "gpus"))
        return err_usage(e, "--blas is of CPUs, and --only gpus leaves them out");
    if (o->cublas && !strcmp(o->only, "cpus"))
        return err_usage(e, "--cublas is of GPUs, and --only cpus leaves them out");
    return compute(app, o, e);
}

const struct cmd cmd_bench = {
    .name = "bench",
    .args = "compute",
    .summary = "measure what this machine really does, against what it could",
    .about =
        "compute: products of matrices by the BLAS that a job gets, on one core and on all,\n"
        "copies of memory, and the same on NVIDIA GPUs; each beside what is nominal. The result\n"
        "is kept: 'brim why' cites it where a job's BLAS is slow. Every product is checked: one\n"
        "that is wrong is told, and ends it with status 1.",
    .subs = subs,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct bench_opts),
    .max_operands = 1,
    .run = run,
};
