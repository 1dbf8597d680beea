/* Sockets and NUMA domains, from sysfs. Only the first CPU of a socket or domain is asked, so the
 * cost does not grow with the number of cores. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/cpulist.h"
#include "probe/kernel/kparse.h"
#include "probe/source/fact.h"

enum { CPULIST_MAX = 4096, DOMAINS_MAX = 256 };

static int cpu_line(struct probe *p, int cpu, const char *file, char *buf, size_t size)
{
    char path[128];

    snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", cpu, file);
    return tree_line(p->tree, path, buf, size);
}

/* Add the socket of a CPU; -ENOENT when the kernel does not say. */
static int add_socket(struct probe *p, struct node *n, int cpu)
{
    char cpus[CPULIST_MAX], siblings[256], id[16];
    int64_t number;
    struct socket *s;

    /* kernels before 5.4 have core_siblings_list and thread_siblings_list instead */
    if (cpu_line(p, cpu, "topology/package_cpus_list", cpus, sizeof(cpus)) <= 0)
        (void)cpu_line(p, cpu, "topology/core_siblings_list", cpus, sizeof(cpus));
    if (!cpulist_has(cpus, cpu)) /* nor is it in a list that is not there */
        return -ENOENT;
    if (cpu_line(p, cpu, "topology/physical_package_id", id, sizeof(id)) <= 0 ||
        parse_i64(id, &number) < 0)
        number = (int64_t)n->n_sockets;
    s = node_add_socket(n, (int)number);
    if (!s)
        return -ENOMEM;
    s->cpus = arena_strdup(&n->arena, cpus);
    if (!s->cpus)
        return -ENOMEM;
    s->threads = cpulist_count(cpus);
    if (cpu_line(p, cpu, "topology/core_cpus_list", siblings, sizeof(siblings)) > 0 ||
        cpu_line(p, cpu, "topology/thread_siblings_list", siblings, sizeof(siblings)) > 0)
        s->cores = s->threads / MAX(cpulist_count(siblings), 1);
    return 0;
}

/* The socket, an index, that has a CPU; ABSENT when none does. */
static int socket_of(const struct node *n, int cpu)
{
    for (size_t i = 0; i < n->n_sockets; i++)
        if (cpulist_has(n->sockets[i].cpus, cpu))
            return (int)i;
    return ABSENT;
}

static int read_sockets(struct probe *p, struct node *n)
{
    char online[CPULIST_MAX];

    if (tree_line(p->tree, "sys/devices/system/cpu/online", online, sizeof(online)) <= 0)
        return 0;
    for (int cpu = cpulist_first(online); cpu >= 0; cpu = cpulist_next(online, cpu)) {
        int rc;

        if (socket_of(n, cpu) >= 0)
            continue;
        rc = add_socket(p, n, cpu);
        if (rc < 0)
            return rc == -ENOENT ? 0 : rc;
    }
    return 0;
}

static int read_domain(struct probe *p, struct node *n, int id)
{
    char path[96], text[CPULIST_MAX];
    struct numa *d = node_add_numa(n, id);

    if (!d)
        return -ENOMEM;
    snprintf(path, sizeof(path), "sys/devices/system/node/node%d/cpulist", id);
    if (tree_line(p->tree, path, text, sizeof(text)) > 0) {
        d->cpus = arena_strdup(&n->arena, text);
        if (!d->cpus)
            return -ENOMEM;
        d->threads = cpulist_count(text);
        d->socket = socket_of(n, cpulist_first(text));
    }
    snprintf(path, sizeof(path), "sys/devices/system/node/node%d/meminfo", id);
    if (tree_read(p->tree, path, text, sizeof(text)) > 0)
        d->memory_b = kparse_meminfo(text, "MemTotal");
    return 0;
}

/* The distances of a domain: as many numbers as there are domains. */
static int read_distance(struct probe *p, struct node *n, struct numa *d)
{
    char path[96], text[1024];
    int *distance;
    const char *at = text;

    snprintf(path, sizeof(path), "sys/devices/system/node/node%d/distance", d->id);
    if (tree_line(p->tree, path, text, sizeof(text)) <= 0)
        return 0;
    distance = arena_alloc(&n->arena, n->n_numas * sizeof(*distance));
    if (!distance)
        return -ENOMEM;
    for (size_t i = 0; i < n->n_numas; i++) {
        uint64_t number;
        int digits = parse_digits(at, 10, 9, &number);

        if (!digits)
            return 0;
        distance[i] = (int)number;
        at += digits;
        at += strspn(at, " ");
    }
    d->distance = distance;
    return 0;
}

/* "node12" is 12; -1 for other names. */
static int domain_number(const char *name)
{
    uint64_t id;

    return !strncmp(name, "node", 4) && parse_u64(name + 4, &id) == 0 && id < 1 << 16 ? (int)id
                                                                                      : -1;
}

static int compare_ints(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return COMPARE(*x, *y);
}

/* The numbers of all domains, ascending; returns how many. */
static int domain_numbers(struct probe *p, int *ids, int max)
{
    CLEANUP(str_done) struct str names = STR_INIT(TREE_FILE_MAX);
    int count = 0, rc = fact_list(p, "sys/devices/system/node", &names);

    if (rc < 0)
        return rc;
    for (char *at = names.data, *name; count < max && (name = fact_next(&at)) != NULL;) {
        ids[count] = domain_number(name);
        count += ids[count] >= 0;
    }
    qsort(ids, (size_t)count, sizeof(*ids), compare_ints);
    return count;
}

static int read_domains(struct probe *p, struct node *n)
{
    int ids[DOMAINS_MAX], count = domain_numbers(p, ids, DOMAINS_MAX), rc = 0;

    if (count < 0)
        return count;
    for (int i = 0; i < count && rc == 0; i++)
        rc = read_domain(p, n, ids[i]);
    for (size_t i = 0; i < n->n_numas && rc == 0; i++)
        rc = read_distance(p, n, &n->numas[i]);
    return rc;
}

/* The frequency governor of the first CPU of each domain: one name, or "mixed". */
static int read_governor(struct probe *p, struct node *n)
{
    char text[64];

    for (size_t i = 0; i < n->n_numas; i++) {
        int cpu = cpulist_first(n->numas[i].cpus);

        if (cpu < 0 || cpu_line(p, cpu, "cpufreq/scaling_governor", text, sizeof(text)) <= 0)
            continue;
        if (!n->set.governor)
            n->set.governor = arena_strdup(&n->arena, text);
        else if (strcmp(n->set.governor, text) != 0)
            n->set.governor = "mixed";
        if (!n->set.governor)
            return -ENOMEM;
    }
    return 0;
}

static int cpus_read(struct probe *p, struct node *n, struct err *e)
{
    int rc = read_sockets(p, n);

    if (rc == 0)
        rc = read_domains(p, n);
    if (rc == 0)
        rc = read_governor(p, n);
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_cpus = {
    .name = "cpus",
    .what = "sockets, NUMA domains and their distances, from sysfs",
    .read = cpus_read,
};
