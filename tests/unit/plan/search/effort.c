/* How much of a space a search looks at: its bounds change no answer, and a looser one shows as
 * more cells that are listed or searched, and more layouts that are computed.
 *
 *     t_plan_search_effort FILE */
#include "base/str.h"
#include "golden.h"
#include "searched.h"
#include "tap.h"

enum { ROOM = 1 << 16, BOUNDS = 3 };

struct trial {
    const char *name, *pins;
    struct plan_job job;
    struct cluster cluster;
    bool fewer;
};

/* The lowest bounds, and the highest. */
static void add_bounds(const struct space *space, const struct search_opts *opts, struct str *out)
{
    struct search_cells cells;

    if (search_cells(space, opts, &cells, NULL) != 0)
        abort();
    for (size_t i = 0; i < cells.n; i++)
        if (i < BOUNDS || i + 1 == cells.n)
            str_addf(out, "  a step of tp %d, cp %d, micro-batch %d takes %.6g ms or more\n",
                     cells.list[i].tp, cells.list[i].cp, cells.list[i].micro_batch,
                     1e3 * cells.list[i].bound_s);
    search_cells_done(&cells);
}

static void add_trial(const struct trial *t, struct str *out)
{
    static const struct {
        const char *name;
        struct search_opts opts;
    } ways[] = {
        { "the best", { .best = 1 } },
        { "the best 8", { .best = 8 } },
        { "the best 8 families", { .best = 8, .families = true } },
        { "the plainest", { .best = 1, .margin = .04 } },
        { "the front", { .best = 1, .front = true } },
    };
    struct pins pins = { .fixed = 0 };
    struct space *space = calloc(1, sizeof(*space));
    struct plan_job job = t->job;

    if (!space || pins_read(&pins, t->pins, NULL) != 0)
        abort();
    pins_set_job(&pins, &job);
    space_init(space, &job, &t->cluster, &pins, t->fewer);
    str_addf(out, "%s: %.0f layouts\n", t->name, space_count(space));
    add_bounds(space, &ways[0].opts, out);
    for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
        struct found *f = run(space, &ways[i].opts, 1);

        str_addf(out, "  %s: %.0f of %.0f cells, %.0f pp and dp, %.0f chunkings, ", ways[i].name,
                 f->done, f->cells, f->s.asked, f->s.bounded);
        str_addf(out, "%.0f layouts are computed, %.0f fit\n", f->s.made, f->s.fit);
        done_with(f);
        f = run(space, &ways[i].opts, 2);
        str_addf(out,
                 "    with two hands: %.0f pp and dp, %.0f chunkings, %.0f layouts, %.0f fit\n",
                 f->s.asked, f->s.bounded, f->s.made, f->s.fit);
        done_with(f);
    }
    free(space);
}

int main(int argc, char **argv)
{
    const struct trial trials[] = {
        { "one node", "", dense_job(12, 3072, 8), make_cluster(1, 8, 40), false },
        { "two nodes", "", dense_job(12, 3072, 64), make_cluster(2, 8, 24), false },
        { "little memory", "", dense_job(12, 3072, 8), make_cluster(2, 4, 12), false },
        { "too little memory", "", dense_job(12, 3072, 8), make_cluster(1, 4, 4), false },
        { "any number of GPUs", "", dense_job(6, 1536, 6), make_cluster(3, 2, 16), true },
        { "experts", "", expert_job(), make_cluster(1, 4, 80), false },
        { "experts, little memory", "", expert_job(), make_cluster(2, 2, 20), false },
        { "micro-batches of 5", "", dense_job(12, 3072, 40), make_cluster(1, 8, 40), false },
        { "long", "cp=2", dense_job(12, 3072, 40), make_cluster(1, 8, 40), false },
        { "a heavy head", "", heavy_job(), make_cluster(1, 4, 40), false },
        { "any schedule", "schedule=any", dense_job(12, 3072, 16), make_cluster(1, 4, 40), false },
        { "GPipe", "schedule=gpipe", dense_job(12, 3072, 16), make_cluster(1, 4, 40), false },
        { "chunks", "vpp=3", dense_job(12, 3072, 16), make_cluster(1, 4, 40), false },
        { "no chunks", "vpp=1,tp=1", dense_job(12, 3072, 16), make_cluster(2, 4, 40), false },
        { "ZeRO-2", "zero=2", dense_job(12, 3072, 16), make_cluster(1, 4, 24), false },
        { "states in the host's memory", "offload=yes", dense_job(12, 3072, 8),
          make_cluster(1, 4, 12), false },
        { "states there or not", "offload=any", dense_job(12, 3072, 8), make_cluster(1, 4, 12),
          false },
        { "plain attention", "attention=plain", dense_job(6, 1536, 8), make_cluster(1, 4, 10),
          false },
    };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);

    if (argc != 2) {
        printf("Bail out! FILE\n");
        return 1;
    }
    for (size_t i = 0; i < ARRAY_SIZE(trials); i++)
        add_trial(&trials[i], &out);
    is_int(str_error(&out), 0, "all counts have room");
    golden(argv[1], str_text(&out));
    return done();
}
