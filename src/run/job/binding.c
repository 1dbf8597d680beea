#include "run/job/binding.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/cpulist.h"
#include "run/job/environ.h"
#include "run/job/identity.h"

enum { LIST = 16384, LINE = 4096, BITS = 8 * sizeof(unsigned long) };

struct mask {
    unsigned long bits[CPULIST_CPUS / BITS];
};

static void mask_set(struct mask *m, int cpu)
{
    m->bits[(size_t)cpu / BITS] |= 1UL << ((size_t)cpu % BITS);
}

int binding_bind(const char *cpus)
{
    struct mask m = { { 0 } };

    for (int cpu = cpulist_first(cpus); cpu >= 0 && cpu < CPULIST_CPUS;
         cpu = cpulist_next(cpus, cpu))
        mask_set(&m, cpu);
    return sched_setaffinity(0, sizeof(m), (const cpu_set_t *)(const void *)&m);
}

/* Add a CPU to a list that ends before it: "0-3" and 4 are "0-4". */
static void add_cpu(struct str *out, int *first, int *last, int cpu)
{
    if (*last >= 0 && cpu == *last + 1) {
        *last = cpu;
        return;
    }
    if (*last > *first)
        str_addf(out, "-%d", *last);
    str_addf(out, "%s%d", out->len ? "," : "", cpu);
    *first = *last = cpu;
}

static void end_list(struct str *out, int first, int last)
{
    if (last > first)
        str_addf(out, "-%d", last);
}

const char *binding_allowed(struct arena *a)
{
    CLEANUP(str_done) struct str out = STR_INIT(LIST);
    struct mask m = { { 0 } };
    int first = -1, last = -1;

    if (sched_getaffinity(0, sizeof(m), (cpu_set_t *)(void *)&m) < 0)
        return arena_strdup(a, "");
    for (int cpu = 0; cpu < CPULIST_CPUS; cpu++)
        if (m.bits[(size_t)cpu / BITS] >> ((size_t)cpu % BITS) & 1)
            add_cpu(&out, &first, &last, cpu);
    end_list(&out, first, last);
    return str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
}

/* ---- who starts ---- */

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *binding_launcher(char *const *argv)
{
    static const char *const names[] = { "torchrun", "accelerate", "deepspeed",  "mpirun",
                                         "mpiexec",  "srun",       "horovodrun", "colossalai" };

    for (size_t i = 0; argv[0] && i < ARRAY_SIZE(names); i++)
        if (!strcmp(base_of(argv[0]), names[i]))
            return names[i];
    for (size_t i = 0; argv[i] && argv[i + 1]; i++)
        if (!strcmp(argv[i], "-m") && (!strncmp(argv[i + 1], "torch.distributed.", 18) ||
                                       !strncmp(argv[i + 1], "accelerate.", 11)))
            return argv[i + 1];
    return NULL;
}

/* Ranks on this node, and which of them we are: false when that is not told. */
static bool find_rank(char *const *env, int *rank, int *ranks)
{
    static const char *const names[] = { "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                         "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE" };
    const char *tasks = environ_get(env, "SLURM_TASKS_PER_NODE"); /* "4", "4(x2)", "4(x2),3" */
    struct identity i;
    uint64_t n;

    identity_read(&i, env, 0);
    *rank = 0;
    *ranks = 1;
    if (i.world <= 1)
        return true;
    *ranks = -1;
    for (size_t k = 0; k < ARRAY_SIZE(names) && *ranks < 0; k++)
        *ranks = environ_number(env, names[k]);
    if (*ranks < 0 && tasks && !strchr(tasks, ',') && parse_digits(tasks, 10, 6, &n) > 0)
        *ranks = (int)n;
    *rank = i.local_rank;
    return *ranks > 0 && *rank >= 0 && *rank < *ranks;
}

/* ---- the node's GPUs ---- */

static bool is_gpu(struct tree *t, const char *address)
{
    char path[TREE_PATH];
    long long vendor, class;

    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/vendor", address);
    vendor = tree_number(t, path);
    snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/class", address);
    class = tree_number(t, path);
    return (class >> 8) == 0x0302 || (class >> 8) == 0x1200 ||
           ((class >> 8) == 0x0300 && vendor == 0x10de);
}

enum { NONE = -1, NO_GPU = -2 };

/* The NUMA node of the GPU with a number, by PCI address; NONE when it is not known, NO_GPU or
 * -ENOMEM. */
static int gpu_node(struct tree *t, int number)
{
    CLEANUP(str_done) struct str list = STR_INIT(TREE_LIST_MAX);
    char address[64], path[TREE_PATH];
    int seen = 0, node = NONE, rc = tree_list(t, "sys/bus/pci/devices", &list);

    if (rc < 0)
        return rc == -ENOMEM ? rc : NO_GPU;
    for (const char *at = str_text(&list); *at; at += strcspn(at, "\n"), at += *at == '\n') {
        snprintf(address, sizeof(address), "%.*s", (int)MIN(strcspn(at, "\n"), (size_t)40), at);
        if (!is_gpu(t, address))
            continue;
        snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/numa_node", address);
        if (seen++ == number)
            node = (int)tree_number(t, path);
    }
    return seen ? node : NO_GPU;
}

/* The GPU of a rank that is alone here: the first that CUDA_VISIBLE_DEVICES lists. */
static int own_gpu(char *const *env)
{
    const char *list = environ_get(env, "CUDA_VISIBLE_DEVICES");
    uint64_t number;

    if (!list || !*list)
        return 0;
    return parse_digits(list, 10, 4, &number) > 0 ? (int)number : -1;
}

/* ---- lists ---- */

/* What is taken of a list. */
struct part {
    bool cores; /* one CPU of each core */
    int from, to;
};

/* The first of a core's CPUs that we may use. */
static bool leads_core(struct tree *t, int cpu, const char *allowed)
{
    char path[TREE_PATH], list[LINE];

    snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    if (tree_line(t, path, list, sizeof(list)) <= 0)
        return true;
    for (int other = cpulist_first(list); other >= 0; other = cpulist_next(list, other))
        if (cpulist_has(allowed, other))
            return other == cpu;
    return true;
}

/* Those CPUs of a list that we may use: how many there are, and a part of them into out (NULL). */
static int common(const struct binding_about *b, const char *list, struct part part,
                  struct str *out)
{
    int first = -1, last = -1, n = 0;

    for (int cpu = cpulist_first(list); cpu >= 0; cpu = cpulist_next(list, cpu)) {
        if (!cpulist_has(b->cpus, cpu) || (part.cores && !leads_core(b->tree, cpu, b->cpus)))
            continue;
        if (out && n >= part.from && n < part.to)
            add_cpu(out, &first, &last, cpu);
        n++;
    }
    if (out)
        end_list(out, first, last);
    return n;
}

const char *binding_cores(struct arena *a, struct tree *tree, const char *cpus)
{
    CLEANUP(str_done) struct str out = STR_INIT(LIST);
    const struct binding_about b = { .tree = tree, .cpus = cpus };

    common(&b, cpus, (struct part){ .cores = true, .to = CPULIST_CPUS }, &out);
    return str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
}

static bool node_cpus(struct tree *t, int node, char list[LINE])
{
    char path[TREE_PATH];

    snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", node);
    return node >= 0 && tree_line(t, path, list, LINE) > 0;
}

/* ---- numa and cores ---- */

/* Nodes with CPUs that we may use, as a list; how many. */
static int usable_nodes(const struct binding_about *b, struct str *out, int *widest)
{
    char online[LINE], cpus[LINE];
    int first = -1, last = -1, n = 0, most = 0;

    if (tree_line(b->tree, "sys/devices/system/node/online", online, sizeof(online)) <= 0)
        return 0;
    for (int node = cpulist_first(online); node >= 0; node = cpulist_next(online, node)) {
        int has = node_cpus(b->tree, node, cpus) ? common(b, cpus, (struct part){ .to = 0 }, NULL)
                                                 : 0;

        if (!has)
            continue;
        add_cpu(out, &first, &last, node);
        n++;
        if (has > most) {
            most = has;
            *widest = node;
        }
    }
    end_list(out, first, last);
    return n;
}

/* A node, NONE with a reason, or -ENOMEM. */
static int choose_node(const struct binding_about *b, int rank, int ranks, char why[BINDING_WHY])
{
    CLEANUP(str_done) struct str nodes = STR_INIT(LIST);
    int widest = -1, n = usable_nodes(b, &nodes, &widest), gpu, node;

    if (str_error(&nodes))
        return -ENOMEM;
    if (n < 2) {
        snprintf(why, BINDING_WHY, "its CPUs are of one NUMA node");
        return NONE;
    }
    if (ranks > 1) {
        node = cpulist_first(str_text(&nodes));
        for (int i = rank * n / ranks; i > 0 && node >= 0; i--)
            node = cpulist_next(str_text(&nodes), node);
        return node;
    }
    gpu = own_gpu(b->env);
    node = gpu_node(b->tree, gpu);
    if (node == NO_GPU || node == -ENOMEM)
        return node == NO_GPU ? widest : node;
    if (node < 0 || !cpulist_has(str_text(&nodes), node)) {
        snprintf(why, BINDING_WHY, "the NUMA node of its GPU is not known, or has no CPU for it");
        return NONE;
    }
    return node;
}

static int numa_cpus(const struct binding_about *b, int rank, int ranks, struct str *out,
                     char why[BINDING_WHY])
{
    char cpus[LINE];
    int node = choose_node(b, rank, ranks, why);

    if (node >= 0 && node_cpus(b->tree, node, cpus))
        common(b, cpus, (struct part){ .to = CPULIST_CPUS }, out);
    return node == -ENOMEM ? node : str_error(out);
}

static int core_cpus(const struct binding_about *b, int rank, int ranks, struct str *out,
                     char why[BINDING_WHY])
{
    struct part share = { .cores = true };
    int n = common(b, b->cpus, share, NULL);

    if (n / ranks < 1) {
        snprintf(why, BINDING_WHY, "there are %d cores for %d ranks", n, ranks);
        return 0;
    }
    share.from = rank * n / ranks;
    share.to = (rank + 1) * n / ranks;
    common(b, b->cpus, share, out);
    if (!strcmp(str_text(out), b->cpus)) {
        snprintf(why, BINDING_WHY, "each of its CPUs is a core of its own already");
        str_reset(out);
    }
    return str_error(out);
}

int binding_cpus(struct arena *a, const struct binding_about *about, const char *how,
                 const char **ret, char why[BINDING_WHY])
{
    CLEANUP(str_done) struct str out = STR_INIT(LIST);
    const char *launcher = binding_launcher(about->argv);
    char online[LINE] = "";
    int rank, ranks, rc;

    *ret = NULL;
    why[0] = 0;
    if (launcher) {
        snprintf(why, BINDING_WHY, "'%.60s' starts the ranks, each of which is bound by itself%s",
                 launcher,
                 strcmp(launcher, "torchrun") != 0 ? ""
                                                   : ": torchrun --numa-binding=node (torch 2.9)");
        return 0;
    }
    if (!find_rank(about->env, &rank, &ranks)) {
        snprintf(why, BINDING_WHY, "how many ranks share this node is not known");
        return 0;
    }
    if (ranks > 1 &&
        tree_line(about->tree, "sys/devices/system/cpu/online", online, sizeof(online)) > 0 &&
        cpulist_count(about->cpus) < cpulist_count(online)) {
        snprintf(why, BINDING_WHY, "its rank is bound already, to %d of %d CPUs",
                 cpulist_count(about->cpus), cpulist_count(online));
        return 0;
    }
    rc = (strcmp(how, "numa") == 0 ? numa_cpus : core_cpus)(about, rank, ranks, &out, why);
    if (rc < 0 || !out.len)
        return rc < 0 ? -ENOMEM : 0;
    *ret = arena_strdup(a, str_text(&out));
    return *ret ? 0 : -ENOMEM;
}
