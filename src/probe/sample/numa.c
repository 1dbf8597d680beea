/* NUMA nodes: their memory and where its pages were asked for, from sysfs. */
#include "probe/sample/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"
#include "probe/sample/table.h"

/* Machines with GPU memory as NUMA nodes have dozens, most of them empty;
 * a node that is not there costs a name lookup when the agent starts. */
enum { NODES_MAX = 128 };

enum {
    NUMA_TOTAL,
    NUMA_FREE,
    NUMA_FILE,
    NUMA_ANONYMOUS,
    NUMA_HIT,
    NUMA_MISS,
    NUMA_FOREIGN,
    NUMA_LOCAL,
    NUMA_OTHER,
    NUMA_VALUES
};

static const struct signal_def defs[NUMA_VALUES] = {
    [NUMA_TOTAL] = { "total_bytes", "memory of the node", SIGNAL_GAUGE },
    [NUMA_FREE] = { "free_bytes", "memory that nothing uses", SIGNAL_GAUGE },
    [NUMA_FILE] = { "file_bytes", "memory that caches files", SIGNAL_GAUGE },
    [NUMA_ANONYMOUS] = { "anonymous_bytes", "memory of processes", SIGNAL_GAUGE },
    [NUMA_HIT] = { "hit_total", "pages taken here as intended", SIGNAL_COUNTER },
    [NUMA_MISS] = { "miss_total", "pages taken here though another node was intended",
                    SIGNAL_COUNTER },
    [NUMA_FOREIGN] = { "foreign_total", "pages intended for here and taken from another node",
                       SIGNAL_COUNTER },
    [NUMA_LOCAL] = { "local_total", "pages taken here by CPUs of this node", SIGNAL_COUNTER },
    [NUMA_OTHER] = { "other_total", "pages taken here by CPUs of other nodes", SIGNAL_COUNTER },
};

static const struct signal_set numa_set = { "numa", "node", defs, NUMA_VALUES };

/* Behind "Node 0 ". */
static const struct sample_key memory_keys[] = {
    { "MemTotal:", NUMA_TOTAL, 1024 },
    { "MemFree:", NUMA_FREE, 1024 },
    { "FilePages:", NUMA_FILE, 1024 },
    { "AnonPages:", NUMA_ANONYMOUS, 1024 },
};

static const struct sample_key page_keys[] = {
    { "numa_hit", NUMA_HIT, 1 },         { "numa_miss", NUMA_MISS, 1 },
    { "numa_foreign", NUMA_FOREIGN, 1 }, { "local_node", NUMA_LOCAL, 1 },
    { "other_node", NUMA_OTHER, 1 },
};

struct node {
    int number;
    struct kept memory, pages;
};

struct numa {
    size_t n;
    struct node nodes[NODES_MAX];
};

static void numa_close(void *state)
{
    struct numa *s = state;

    for (size_t i = 0; i < s->n; i++) {
        kept_close(&s->nodes[i].memory);
        kept_close(&s->nodes[i].pages);
    }
    free(s);
}

static int numa_open(void **state, const struct sampler_env *env, struct err *e)
{
    CLEANUP(freep) struct numa *s = calloc(1, sizeof(*s));

    if (!s)
        return err_nomem(e);
    for (int number = 0; number < NODES_MAX; number++) {
        struct node *node = &s->nodes[s->n];
        char path[64];

        snprintf(path, sizeof(path), "sys/devices/system/node/node%d/meminfo", number);
        kept_open(&node->memory, env->root, path);
        if (node->memory.fd < 0)
            continue;
        snprintf(path, sizeof(path), "sys/devices/system/node/node%d/numastat", number);
        kept_open(&node->pages, env->root, path);
        node->number = number;
        s->n++;
    }
    if (s->n == 0)
        return err_set(e, -ENOENT, "sys/devices/system/node: there are no nodes");
    *state = steal(&s);
    return 0;
}

/* "Node 0 MemTotal:  9005260 kB" */
static void read_memory(const char *at, struct signal_row *row)
{
    do {
        if (!scan_word(&at, "Node"))
            continue;
        (void)scan_number(&at);
        scan_blanks(&at);
        for (size_t i = 0; i < ARRAY_SIZE(memory_keys); i++)
            if (scan_word(&at, memory_keys[i].key))
                row->values[memory_keys[i].value] = scan_number(&at) * memory_keys[i].scale;
    } while (scan_line(&at));
}

static int numa_sample(void *state, struct tick *t)
{
    const struct numa *s = state;
    char text[4096], thing[16];

    for (size_t i = 0; i < s->n; i++) {
        const struct node *node = &s->nodes[i];
        struct signal_row *row;

        if (kept_read(&node->memory, text, sizeof(text)) <= 0)
            continue;
        snprintf(thing, sizeof(thing), "%d", node->number);
        row = tick_add(t, &numa_set, thing);
        if (!row)
            return -ENOMEM;
        read_memory(text, row);
        if (kept_read(&node->pages, text, sizeof(text)) > 0)
            sample_table_values(text, row, page_keys, ARRAY_SIZE(page_keys));
    }
    return 0;
}

const struct sampler_ops sampler_numa = { "numa", &numa_set, numa_open, numa_sample, numa_close };
