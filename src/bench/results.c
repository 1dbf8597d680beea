#include "bench/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/ini.h"
#include "base/parse.h"
#include "model/signal/quantity.h"
#include "run/archive/archive.h"

enum { FILE_MAX = 64 << 10, LIST_MAX = 1 << 20, PATH_LEN = 4096 };

static const char starts[] = "compute-", ends[] = ".ini";

/* ---- writing ---- */

static void add_number(struct str *out, const char *name, double value)
{
    if (isfinite(value))
        str_addf(out, "%s = %.6g\n", name, value);
}

static void add_all(const struct compute *c, int64_t wall_ns, struct str *out)
{
    str_addf(out, "[compute]\nhost = \"%s\"\ncpu = \"%s\"\ncpus = %d\ncores = %d\ndate = ", c->host,
             c->cpu, c->cpus, c->cores);
    clock_add_iso(out, wall_ns);
    str_addf(out, "\nblas = \"%s\"\nall = %s\n", c->blas, c->threaded ? "threads" : "copies");
    add_number(out, "float32_one", c->f32_one);
    add_number(out, "float32_all", c->f32_all);
    add_number(out, "float64_one", c->f64_one);
    add_number(out, "float64_all", c->f64_all);
    add_number(out, "copy_one", c->copy_one);
    add_number(out, "copy_all", c->copy_all);
    add_number(out, "nominal32", c->nominal.ghz * c->nominal.flop32);
    add_number(out, "nominal64", c->nominal.ghz * c->nominal.flop64);
}

int results_keep(const struct compute *c, const char *folder, int64_t wall_ns, struct str *path,
                 struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    int rc;

    str_reset(path);
    if (!*c->blas || strchr(c->blas, '/'))
        return 0;
    rc = runs_make(folder, e);
    if (rc < 0)
        return rc;
    add_all(c, wall_ns, &text);
    str_addf(path, "%s/%s%s%s", folder, starts, c->blas, ends);
    if (str_error(&text) || str_error(path))
        return err_nomem(e);
    return file_write(str_text(path), str_text(&text), text.len, e);
}

/* ---- reading ---- */

struct kept {
    char host[COMPUTE_TEXT], cpu[COMPUTE_TEXT], blas[COMPUTE_TEXT];
    double one, nominal; /* float32; NaN */
};

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct kept *k = ctx;
    char *text = NULL;
    double *number = NULL;

    if (!at->key)
        return 0;
    if (!strcmp(at->key, "host"))
        text = k->host;
    else if (!strcmp(at->key, "cpu"))
        text = k->cpu;
    else if (!strcmp(at->key, "blas"))
        text = k->blas;
    else if (!strcmp(at->key, "float32_one"))
        number = &k->one;
    else if (!strcmp(at->key, "nominal32"))
        number = &k->nominal;
    if (text)
        snprintf(text, COMPUTE_TEXT, "%s", at->value);
    if (number && parse_double(at->value, number) < 0)
        return err_set(e, -EINVAL, "%s:%d: '%s' is a number", at->file, at->line, at->key);
    return 0;
}

/* 1: it is of this machine; 0: it is not, or cannot be read; -ENOMEM. */
static int read_kept(const char *path, const struct compute *here, struct kept *k)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    int rc = file_read(path, &text, NULL);

    *k = (struct kept){ .one = (double)NAN, .nominal = (double)NAN };
    if (rc == 0)
        rc = ini_parse(path, str_text(&text), text.len, read_entry, k, NULL);
    if (rc < 0)
        return rc == -ENOMEM ? rc : 0;
    return *k->blas && k->one > 0 && !strcmp(k->host, here->host) && !strcmp(k->cpu, here->cpu);
}

static int add_note(struct arena *a, const struct kept *k, struct run_note **notes, size_t *n)
{
    struct run_note *note = ARENA_PUSH(a, notes, n);

    if (!note)
        return -ENOMEM;
    note->name = arena_printf(a, "bench.blas.%s", k->blas);
    if (k->nominal > 0)
        note->value = arena_printf(a, "%s of %s GFLOP/s", quantity_number(k->one, 3).text,
                                   quantity_number(k->nominal, 3).text);
    else
        note->value = arena_printf(a, "%s GFLOP/s", quantity_number(k->one, 3).text);
    return note->name && note->value ? 0 : -ENOMEM;
}

static bool is_result(const char *name)
{
    size_t len = strlen(name);

    return !strncmp(name, starts, sizeof(starts) - 1) && len > sizeof(ends) &&
           !strcmp(name + len - (sizeof(ends) - 1), ends);
}

int results_notes(struct arena *a, const char *folder, const struct compute *here,
                  struct run_note **notes, size_t *n)
{
    CLEANUP(str_done) struct str list = STR_INIT(LIST_MAX);
    int rc = runs_list(folder, &list, NULL); /* the names in a folder */

    for (const char *name = str_text(&list); rc == 0 && name < str_text(&list) + list.len;
         name += strlen(name) + 1) {
        char path[PATH_LEN];
        struct kept k;

        if (!is_result(name) ||
            snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
            continue;
        rc = read_kept(path, here, &k);
        if (rc == 1)
            rc = add_note(a, &k, notes, n);
    }
    return rc == -ENOMEM ? rc : 0;
}
