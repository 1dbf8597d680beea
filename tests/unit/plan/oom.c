/* Readers of tables and of shapes, and the search, out of memory: each allocation of theirs fails
 * once, and none is taken for an empty table or a search that found nothing.
 *
 *     t_plan_oom FOLDER */
#include <errno.h>

#include "base/file.h"
#include "oom_arena.h"
#include "plan/cluster/curves.h"
#include "plan/cluster/gpus.h"
#include "plan/cluster/prices.h"
#include "plan/shape/config.h"
#include "plan/search/searched.h"
#include "tap.h"

enum { FILE_MAX = 64 << 10 };

/* Read a table once; what is returned. */
typedef int reader(const char *text, struct err *e);

static int read_prices(const char *text, struct err *e)
{
    CLEANUP(prices_done) struct prices p = { .n_rows = 0 };

    return prices_load(&p, text, strlen(text), e);
}

static int read_curves(const char *text, struct err *e)
{
    CLEANUP(curves_done) struct curves c = { .n_rows = 0 };

    return curves_load(&c, text, strlen(text), e);
}

static int read_fitted(const char *text, struct err *e)
{
    static const char known[] = "name,aliases,bf16_tflops\nX1,X-1,100\nX2,,200\n";
    CLEANUP(gpus_done) struct gpus g = { .n_rows = 0 };
    int rc = gpus_load(&g, known, strlen(known), e);

    return rc < 0 ? rc : gpus_fit(&g, "fit.csv", text, strlen(text), e);
}

static int read_shape(const char *text, struct err *e)
{
    struct shape s;

    return shape_from_config(&s, "config.json", text, strlen(text), e);
}

static void walk(const char *name, reader *read, const char *text)
{
    size_t rounds = 0, wrong = 0;
    bool failed;

    oom_restart();
    do {
        struct err e = { "" };
        int rc;

        oom_next();
        rc = read(text, &e);
        failed = oom_end();
        wrong += failed ? rc != -ENOMEM || !e.text[0] : rc != 0;
        rounds++;
    } while (failed);
    ok(rounds > 2 && wrong == 0, "reading %s returns -ENOMEM whichever of %zu allocations fails",
       name, rounds - 1);
}

static void test_shapes(const char *folder)
{
    static const char *const names[] = {
        "gpt2",        "falcon-40b",           "bloom",          "mpt-7b",
        "gemma-2-9b",  "recent/gemma-4-31b",   "deepseek-v3",    "recent/kimi-linear-48b",
        "gpt-oss-20b", "recent/jamba-v0.1",    "qwen3-30b-a3b",  "recent/nemotron-h-56b",
        "phi-2",       "recent/llama-4-scout", "recent/glm-4.5", "recent/qwen3-next-80b",
    };

    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
        char path[512];

        snprintf(path, sizeof(path), "%s/%s.json", folder, names[i]);
        if (ok(file_read(path, &text, NULL) == 0, "the configuration %s is there", names[i]))
            walk(names[i], read_shape, str_text(&text));
    }
}

/* A search of all; its error, or that of its list of cells. */
static int search_all(const struct space *space, const struct search_opts *opts, struct err *e)
{
    CLEANUP(search_cells_done) struct search_cells cells = { .n = 0 };
    struct search *s = __real_calloc(2, sizeof(*s));
    int rc = s ? search_cells(space, opts, &cells, e) : -EIO;

    for (int i = 0; s && i < 2; i++)
        search_init(&s[i], space, opts);
    for (size_t i = 0; rc == 0 && i < cells.n; i++)
        search_cell(&s[1], &cells.list[i]);
    if (rc == 0) {
        search_merge(&s[0], &s[1]);
        rc = s->error;
    }
    for (int i = 0; s && i < 2; i++)
        search_free(&s[i]);
    free(s);
    return rc;
}

static void test_search(void)
{
    const struct search_opts opts = { .best = 1, .front = true };
    const struct plan_job job = dense_job(12, 3072, 8);
    const struct cluster c = make_cluster(1, 8, 40);
    struct space *space = calloc(1, sizeof(*space));
    size_t rounds = 0, wrong = 0;
    bool failed;

    if (!space)
        abort();
    space_init(space, &job, &c, NULL, false);
    oom_restart();
    do {
        struct err e = { "" };
        int rc;

        oom_next();
        rc = search_all(space, &opts, &e);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        rounds++;
    } while (failed);
    ok(rounds > 3 && wrong == 0, "a search ends with -ENOMEM whichever of %zu allocations fails",
       rounds - 1);
    free(space);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        printf("Bail out! FOLDER\n");
        return 1;
    }
    walk("prices", read_prices,
         "name,usd_per_hour,source,date,idle_w\nX1,2.5,a,2026-01-01,50\nX2,,,,\n");
    walk("limits of power", read_curves, "name,limit_w,speed\nX1,300,1\nX1,200,0.9\n");
    walk("fitted figures", read_fitted, "name,gemm_best_fp16,rows\nX1,0.9,some\nX2,0.8,others\n");
    test_shapes(argv[1]);
    test_search();
    return done();
}
