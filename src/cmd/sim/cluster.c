#include "cmd/sim/cluster.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "slurm/hosts.h"
#include "slurm/account/listing.h"

enum { NOT_OURS = -1 };

void sim_cluster_done(struct sim_cluster *c)
{
    site_done(&c->site);
    arena_done(&c->arena);
    *c = (struct sim_cluster){ .n_kinds = 0 };
}

/* ---- partitions ---- */

/* The number of a partition; NOT_OURS, or behind SIM_PARTITIONS. */
static int partition_of(const struct sim_cluster *c, const char *name)
{
    for (size_t i = 0; i < c->n_partitions; i++)
        if (!strcmp(c->partitions[i], name))
            return (int)i;
    return NOT_OURS;
}

struct adding {
    struct sim_cluster *c;
    uint64_t bit;
};

static int add_node_of(const char *name, void *arg)
{
    const struct adding *a = arg;
    int64_t node = site_node_find(&a->c->site, name);

    if (node >= 0)
        a->c->of[node] |= a->bit;
    return 0;
}

int sim_cluster_partition(void *ctx, char *line)
{
    struct sim_cluster *c = ctx;
    char *list = line ? strchr(line, '|') : NULL;
    struct adding a = { c, 0 };
    int number;

    if (!list)
        return 0;
    *list++ = '\0';
    number = partition_of(c, line);
    if (number < 0 && c->n_partitions < SIM_PARTITIONS) {
        number = (int)c->n_partitions;
        c->partitions[number] = arena_strdup(&c->arena, line);
        if (!c->partitions[number])
            return -ENOMEM;
        c->n_partitions++;
    }
    if (number < 0)
        return 0;
    a.bit = UINT64_C(1) << number;
    return MIN(slurm_hosts_each(list, add_node_of, &a), 0) == -ENOMEM ? -ENOMEM : 0;
}

static int read_partitions(struct sim_cluster *c, const struct slurm_config *config, struct err *e)
{
    static const char *const argv[] = { "sinfo", "--noheader", "--all", "--format=%R|%N", NULL };
    const struct slurm_listing l = { argv, config->conf, config->patience_ms, sim_cluster_partition,
                                     c };
    char said[SLURM_LISTING_SAID];
    int rc = slurm_listing_run(&l, said, e);

    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc <= 0)
        return rc;
    return err_set(e, -EIO, "sinfo ended with status %d: %.*s", rc, (int)strcspn(said, "\n"), said);
}

/* ---- kinds ---- */

static const char *type_of(const struct site_node *n)
{
    return n->kind ? n->kind : "";
}

static bool has_gpus(const struct site_node *n)
{
    return n->devices > 0 && n->devices <= POOL_DEVICES;
}

/* The number of the kind that a node's devices are; -1: one more than there can be. */
static int kind_of(const struct sim_cluster *c, size_t node)
{
    for (size_t i = 0; i < c->n_kinds; i++)
        if (c->in[i] == c->of[node] && !strcmp(c->types[i], type_of(&c->site.nodes[node])))
            return (int)i;
    return -1;
}

int sim_cluster_end(struct sim_cluster *c, struct err *e)
{
    size_t with = 0;

    for (size_t i = 0; i < c->site.n_nodes; i++) {
        c->large += c->site.nodes[i].devices > POOL_DEVICES;
        if (!has_gpus(&c->site.nodes[i]))
            continue;
        with++;
        if (kind_of(c, i) >= 0 || c->n_kinds == POOL_KINDS)
            continue;
        c->types[c->n_kinds] = type_of(&c->site.nodes[i]);
        c->in[c->n_kinds++] = c->of[i];
    }
    if (with == 0)
        return err_set(e, -ENODEV,
                       "no node of this cluster has GPUs, by its GresTypes: --nodes 64x8 says what "
                       "there is");
    return 0;
}

int sim_cluster_begin(struct sim_cluster *c, struct err *e)
{
    c->of = arena_alloc(&c->arena, (c->site.n_nodes + 1) * sizeof(*c->of));
    c->had = arena_alloc(&c->arena, (c->site.n_nodes + 1) * sizeof(*c->had));
    return c->of && c->had ? 0 : err_nomem(e);
}

int sim_cluster_read(struct sim_cluster *c, const struct slurm_config *config, struct err *e)
{
    CLEANUP(slurm_closep) struct slurm *s = NULL;
    int rc = slurm_open(&s, config, e);

    if (rc == 0)
        rc = slurm_read(s, &c->site, e);
    if (rc < 0)
        return rc;
    rc = sim_cluster_begin(c, e);
    if (rc == 0)
        rc = read_partitions(c, config, e);
    return rc < 0 ? rc : sim_cluster_end(c, e);
}

uint64_t sim_cluster_kinds(void *ctx, const char *partition, const char *type)
{
    const struct sim_cluster *c = ctx;
    uint64_t bits = 0,
             all = c->n_kinds == POOL_KINDS ? UINT64_MAX : (UINT64_C(1) << c->n_kinds) - 1;
    int number = partition_of(c, partition);

    for (size_t i = 0; i < c->n_kinds; i++)
        if ((number < 0 || c->in[i] & (UINT64_C(1) << number)) &&
            (!*type || !strcmp(c->types[i], type)))
            bits |= UINT64_C(1) << i;
    return bits == all ? 0 : bits;
}

/* ---- nodes ---- */

static int mark(const char *name, void *arg)
{
    struct sim_cluster *c = arg;
    int64_t node = site_node_find(&c->site, name);

    if (node >= 0)
        c->had[node] = true;
    return 0;
}

void sim_cluster_had(void *ctx, const char *nodes)
{
    if (slurm_hosts_each(nodes, mark, ctx) < 0)
        return; /* what is no list names nobody */
}

/* A type that is in other partitions elsewhere has them in its name. */
static const char *name_of(struct sim_cluster *c, int kind)
{
    CLEANUP(str_done) struct str name = STR_INIT(4096);
    size_t same = 0;

    for (size_t i = 0; i < c->n_kinds; i++)
        same += !strcmp(c->types[i], c->types[kind]);
    if (same < 2)
        return c->types[kind];
    str_add(&name, c->types[kind]);
    for (size_t i = 0, n = 0; i < c->n_partitions; i++)
        if (c->in[kind] & (UINT64_C(1) << i))
            str_addf(&name, "%s%s", n++ ? "+" : *c->types[kind] ? "@" : "", c->partitions[i]);
    return str_error(&name) ? c->types[kind] : arena_strdup(&c->arena, str_text(&name));
}

static bool is_away(const struct site_node *n)
{
    return n->state == SITE_NODE_DOWN || n->drained;
}

/* *number: that of the kind in the pool; -1: nothing of it is there. */
static int add_nodes(struct pool *pool, struct sim_cluster *c, int kind, int *number, struct err *e)
{
    const char *name = name_of(c, kind);
    int rc = name ? 0 : err_nomem(e);

    for (size_t i = 0; i < c->site.n_nodes && rc == 0; i++) {
        const struct site_node *n = &c->site.nodes[i];
        const struct pool_node node = { .name = n->name, .devices = (uint8_t)n->devices };

        if (!has_gpus(n) || kind_of(c, i) != kind)
            continue;
        if (is_away(n) && !c->had[i])
            c->away++;
        else
            rc = pool_add(pool, &node, name, e);
    }
    *number = rc == 0 ? pool_kind(pool, name) : -1;
    return rc;
}

static uint64_t renumber(uint64_t bits, const int *numbers, size_t n)
{
    uint64_t ret = 0;

    for (size_t i = 0; i < n; i++)
        if (bits & (UINT64_C(1) << i) && numbers[i] >= 0)
            ret |= UINT64_C(1) << numbers[i];
    return ret;
}

int sim_cluster_pool(struct pool *ret, struct sim_cluster *c, struct workload *work, struct err *e)
{
    int numbers[POOL_KINDS], rc = 0;

    for (int kind = 0; kind < (int)c->n_kinds && rc == 0; kind++)
        rc = add_nodes(ret, c, kind, &numbers[kind], e);
    if (rc == 0 && ret->n_nodes == 0)
        rc = err_set(e, -ENODEV,
                     "all nodes with GPUs are down or drained: --nodes 64x8 says what "
                     "there is");
    for (size_t i = 0; i < work->n_jobs && rc == 0; i++)
        work->jobs[i].kinds = renumber(work->jobs[i].kinds, numbers, c->n_kinds);
    return rc;
}
