#include "slurm/gres.h"

#include "tap.h"

static void test_read(void)
{
    static const struct {
        const char *text;
        int count;
        unsigned devices;
        const char *kind;
    } rows[] = {
        { NULL, 0, 0, "" },
        { "", 0, 0, "" },
        { "(null)", 0, 0, "" },
        { "N/A", 0, 0, "" },
        { "gpu:h100:8(S:0-1)", 8, 0, "h100" },
        { "gpu:8", 8, 0, "" },
        { "gpu", 1, 0, "" },
        { "gpu:a100:4(S:0),gpu:h100:4(S:1)", 8, 0, "" },
        { "gpu:h100:4(IDX:0-3)", 4, 0xf, "h100" },
        { "gpu:2(IDX:1,7)", 2, 0x82, "" },
        { "shard:4(IDX:0),gpu:h100:1(IDX:5),mps:3", 1, 0x20, "h100" },
        { "gpu:h100:no_consume:8", 8, 0, "h100" },
        { "gpuram:8,gp:3", 0, 0, "" },
        { "gres:gpu:2", 2, 0, "" },
        { "gres:gpu", 1, 0, "" },
        { "gres:gpu:h100", 1, 0, "h100" },
        { "gres/gpu:h100:2", 2, 0, "h100" },
        { "gres:gpu:h100:2;gres:craynetwork:1", 2, 0, "h100" },
        { "cpu=2,mem=4000M,node=1,gres/gpu=8,gres/gpu:h100=8", 8, 0, "h100" },
        { "cpu=2,gres/gpu:h100=8", 8, 0, "h100" },
        { "cpu=2,gres/gpumem=80G,gres/gpu=1", 1, 0, "" },
        { "gpu:99999999999999999999", 1, 0, "99999999999999999999" },
        { "gpu:h100:2(IDX:0-", 2, 0, "h100" },
        { "gpu:((((", 1, 0, "" },
    };
    struct slurm_gres g;

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *text = rows[i].text ? rows[i].text : "(none)";

        slurm_gres_read(rows[i].text, &g);
        is_int(g.count, rows[i].count, "%s has %d GPUs", text, rows[i].count);
        is_int(g.devices, rows[i].devices, "%s has the bits %x", text, rows[i].devices);
        is_str(g.kind, rows[i].kind, "%s is of the kind '%s'", text, rows[i].kind);
    }
}

static void test_bits(void)
{
    is_int(slurm_gres_bits("0-3,6"), 0x4f, "ranges and single ones");
    is_int(slurm_gres_bits("31"), 0x80000000, "the last of 32");
    is_int(slurm_gres_bits("32-999999999"), 0, "numbers behind 31 are left out");
    is_int(slurm_gres_bits("5-3"), 0, "a range that ends before it begins");
    is_int(slurm_gres_bits("N/A"), 0, "N/A has no numbers");
    is_int(slurm_gres_bits("1,x"), 2, "up to what is no number");
}

int main(void)
{
    test_read();
    test_bits();
    return done();
}
