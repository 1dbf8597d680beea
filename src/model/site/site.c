#include "model/site/site.h"

#include <errno.h>
#include <string.h>

void site_done(struct site *s)
{
    arena_done(&s->arena);
    memset(s, 0, sizeof(*s));
}

/* FNV-1a */
static uint32_t hash_of(const char *text)
{
    uint32_t h = 2166136261u;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

int site_index(struct site *s)
{
    size_t n = 8;

    while (n < s->n_nodes * 2)
        n *= 2;
    s->slots = arena_alloc(&s->arena, n * sizeof(*s->slots));
    s->n_slots = s->slots ? n : 0;
    if (!s->slots)
        return -ENOMEM;
    for (size_t i = 0; i < s->n_nodes; i++) {
        size_t at = hash_of(s->nodes[i].name) & (n - 1);

        while (s->slots[at])
            at = (at + 1) & (n - 1);
        s->slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

int64_t site_node_find(const struct site *s, const char *name)
{
    size_t mask = s->n_slots - 1;

    if (!s->n_slots)
        return -1;
    for (size_t at = hash_of(name) & mask; s->slots[at]; at = (at + 1) & mask)
        if (strcmp(s->nodes[s->slots[at] - 1].name, name) == 0)
            return s->slots[at] - 1;
    return -1;
}

static uint64_t bit_of(const struct site *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->n_partitions; i++)
        if (strlen(s->partitions[i]) == len && strncmp(s->partitions[i], name, len) == 0)
            return UINT64_C(1) << i;
    return 0;
}

uint64_t site_add_partition(struct site *s, const char *name)
{
    uint64_t bit = name ? bit_of(s, name, strlen(name)) : 0;

    if (bit || !name || !*name || s->n_partitions == SITE_PARTITIONS)
        return bit;
    s->partitions[s->n_partitions] = name;
    return UINT64_C(1) << s->n_partitions++;
}

uint64_t site_partitions_of(const struct site *s, const char *names)
{
    uint64_t bits = 0;

    for (size_t len; *names; names += len + (names[len] == ',')) {
        uint64_t bit;

        len = strcspn(names, ",");
        bit = bit_of(s, names, len);
        if (bit == 0)
            return 0;
        bits |= bit;
    }
    return bits;
}

int64_t site_job_find(const struct site *s, uint32_t id)
{
    size_t from = 0, to = s->n_jobs;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (s->jobs[middle].id < id)
            from = middle + 1;
        else
            to = middle;
    }
    return from < s->n_jobs && s->jobs[from].id == id ? (int64_t)from : -1;
}
