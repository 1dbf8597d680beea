/* The GPUs of a row and the network between them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/cluster/cluster_read.h"
#include "plan/cluster/constants.h"
#include "plan/measured/rows_network.h"
#include "plan/measured/rows_private.h"
#include "plan/measured/rows_words.h"

int row_degree(const struct row_fields *f, enum row_column c)
{
    int n = row_int(f, c, 1);

    return n <= 1 << 14 ? n : 1;
}

int64_t row_split(const struct row_fields *f)
{
    return (int64_t)row_degree(f, COL_TP) * row_degree(f, COL_PP) * row_degree(f, COL_CP);
}

int row_gpus(const struct row_fields *f)
{
    int gpus = row_int(f, COL_N_GPUS, 0);
    int64_t all = row_split(f) * row_degree(f, COL_DP);

    if (gpus || !row_int(f, COL_DP, 0))
        return gpus;
    return all <= 1 << 28 ? (int)all : 0;
}

/* Gbit/s for people. */
static double gbps(double rate)
{
    return rate * 8 / 1e9;
}

/* What was taken for a network that is not stated, or whose words were not understood. */
static void say_assumed(struct plan_row *row, const struct row_network *seen)
{
    const struct cluster *c = &row->cluster;
    char what[64];

    if (c->assumed[0])
        snprintf(what, sizeof(what), "%.63s", c->assumed);
    else
        snprintf(what, sizeof(what), "%.0f Gbit/s a GPU, as of its time", gbps(c->nic_rate));
    if (seen->phrase[0])
        row_understand(row, ROW_NETWORK, "'%s' is not understood; taken: %s", seen->phrase, what);
    else
        row_understand(row, ROW_NETWORK, "%s: not stated", what);
}

/* The network as the first of the columns states it that says a rate. */
static struct row_network read_network(const struct row_reader *r, const struct row_node *node,
                                       const char **column)
{
    static const struct {
        enum row_column column;
        const char *name;
    } places[] = { { COL_NETWORK, "its column" },
                   { COL_NOTES, "notes" },
                   { COL_SOURCE, "source" } };
    struct row_network first = { .rate = 0 }, now;

    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        const char *text = row_text(&r->f, places[i].column);

        if (!row_network_read(text, node, &now)) {
            if (places[i].column != COL_NETWORK || !*text)
                continue;
            snprintf(now.phrase, sizeof(now.phrase), "%.*s", ROW_PHRASE - 1, text);
        }
        *column = places[i].name;
        if (now.rate > 0)
            return now;
        if (!first.phrase[0])
            first = now;
    }
    return first;
}

/* The rate that is stated, into the wish; *seen is what was read. */
static void wish_network(const struct row_reader *r, struct cluster_wish *wish,
                         struct row_network *seen, const char **column)
{
    const struct gpu_row *g = wish->gpu;
    bool fresh = gpu_is_new(&g->gpu);
    struct row_node node = { row_text(&r->f, COL_GPU), fresh, wish->c.per_node, 0 };
    double rate = r->tables->node_rate;

    if (g->node_gpus > 0)
        node.ports = MAX(wish->c.per_node * g->node_nics / g->node_gpus, 1);
    if (rate > 0) {
        *column = "--node-gbps";
    } else {
        rate = row_number(&r->f, COL_NODE_RATE);
        *column = rate > 0 ? "its column" : "";
    }
    if (!(rate > 0)) {
        *seen = read_network(r, &node, column);
        rate = seen->rate;
    }
    if (rate > 0)
        seen->rate = rate;
    else if (!g->node_nics) /* 400 Gbit/s for a GPU from Hopper on, 200 before */
        rate = wish->c.per_node * (fresh ? 50e9 : 25e9);
    if (rate > 0) {
        wish->nics_said = true;
        wish->c.nics = wish->c.per_node;
        wish->c.nic_rate = rate / wish->c.nics;
    }
}

static void say_network(struct plan_row *row, const struct row_network *seen, const char *column)
{
    const struct cluster *c = &row->cluster;

    if (c->domain >= c->nodes * c->per_node)
        row_understand(row, ROW_NETWORK, "none: all GPUs are in one %s",
                       c->domain > c->per_node ? "rack" : "node");
    else if (!(seen->rate > 0))
        say_assumed(row, seen);
    else if (!seen->phrase[0])
        row_understand(row, ROW_NETWORK, "%.0f Gbit/s a node: %s", gbps(seen->rate), column);
    else
        row_understand(row, ROW_NETWORK, "%.0f Gbit/s a node: '%s' in %s%s", gbps(seen->rate),
                       seen->phrase, column,
                       seen->ports_assumed ? ", its ports as in the vendor's node" : "");
}

static bool check_gpu(const struct gpu_row *g, int gpus, const char *name, struct plan_row *row)
{
    if (gpus && g->gpu.sms > 0 && (g->gpu.flops[PLAN_BF16] > 0 || g->gpu.flops[PLAN_FP16] > 0))
        return true;
    row_refuse(row,
               gpus ? "%s: how it multiplies matrices is not known"
                    : "the number of %s is not stated",
               name);
    return false;
}

bool row_read_cluster(const struct row_reader *r, struct plan_row *row)
{
    const char *name = row_text(&r->f, COL_GPU), *column = "";
    struct cluster *c = &row->cluster;
    int gpus = row_gpus(&r->f);
    const struct gpu_row *g = NULL;
    struct row_network seen = { .rate = 0 };
    struct cluster_wish wish;
    struct err e = { .text = "" };
    double power_w;

    cluster_wish_init(&wish);
    if (words_gpu(r->tables->gpus, name, &g, &wish.memory_b, &power_w, &e) < 0) {
        row_refuse(row, "%.120s", e.text);
        return false;
    }
    if (!check_gpu(g, gpus, name, row))
        return false;
    if (wish.memory_b == g->sold_b) /* the product, not another amount */
        wish.memory_b = (double)NAN;
    wish.gpu = g;
    wish.c.per_node = MIN(g->node_gpus > 0 ? g->node_gpus : g->gpu.domain > 8 ? 4 : 8, gpus);
    wish.c.nodes = (gpus + wish.c.per_node - 1) / wish.c.per_node;
    wish_network(r, &wish, &seen, &column);
    if (cluster_settle(c, &wish, &e) < 0) {
        row_refuse(row, "%.120s", e.text);
        return false;
    }
    say_network(row, &seen, column);
    gpu_assume(&c->gpu);
    gpu_limit(&c->gpu, isnan(power_w) ? words_power(row_text(&r->f, COL_NOTES)) : power_w);
    return true;
}
