#include "queue/job/pool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/cpulist.h"

enum { LIST = 16384, NVIDIA = 0x10de, GB = 1000000000 };

/* What a maker's runtime reads: the numbers of the devices that a job may use. */
static const struct maker {
    uint16_t vendor;
    const char *variable;
} makers[] = {
    { NVIDIA, "CUDA_VISIBLE_DEVICES" },
    { 0x1002, "ROCR_VISIBLE_DEVICES" },
    { 0x19e5, "ASCEND_RT_VISIBLE_DEVICES" },
    { 0x8086, "ZE_AFFINITY_MASK" },
};

/* ---- CPU lists ---- */

static void add_list(struct str *out, const bool *has)
{
    for (int cpu = 0; cpu < QUEUE_CPUS; cpu++) {
        int last = cpu;

        if (!has[cpu])
            continue;
        while (last + 1 < QUEUE_CPUS && has[last + 1])
            last++;
        str_addf(out, out->len ? ",%d" : "%d", cpu);
        if (last > cpu)
            str_addf(out, "-%d", last);
        cpu = last;
    }
}

/* The CPUs that are in both lists. */
static const char *both(struct arena *a, const char *one, const char *other)
{
    CLEANUP(str_done) struct str out = STR_INIT(LIST);
    CLEANUP(freep) bool *has = calloc(QUEUE_CPUS, sizeof(*has));

    if (!has)
        return NULL;
    for (int cpu = cpulist_first(one); cpu >= 0 && cpu < QUEUE_CPUS; cpu = cpulist_next(one, cpu))
        has[cpu] = cpulist_has(other, cpu);
    add_list(&out, has);
    return str_error(&out) ? NULL : arena_strdup(a, str_text(&out));
}

/* ---- making ---- */

void queue_pool_done(struct queue_pool *p)
{
    pool_done(&p->pool);
}

static int find_near(struct queue_pool *p, const struct node *n)
{
    struct arena *a = &p->pool.arena;

    p->near = arena_alloc(a, n->n_numas * sizeof(*p->near));
    if (!p->near)
        return -ENOMEM;
    for (; p->n_near < n->n_numas; p->n_near++) {
        p->near[p->n_near] = both(a, n->numas[p->n_near].cpus, p->usable);
        if (!p->near[p->n_near])
            return -ENOMEM;
    }
    return 0;
}

/* A part of the machine: the slots from the first that no other part has. */
static int add_part(struct queue_pool *p, size_t devices, const char *name, const char *kind,
                    struct err *e)
{
    struct pool_node part = { .name = name, .devices = (uint8_t)devices };

    if (!p->cpus)
        part.cpus_milli = p->n_cpus * 1000;
    return pool_add(&p->pool, &part, kind, e);
}

static struct queue_slot *add_slot(struct queue_pool *p, const char *format, int index)
{
    struct queue_slot *slot = ARENA_PUSH(&p->pool.arena, &p->slots, &p->n_slots);

    if (!slot)
        return NULL;
    slot->index = index;
    slot->name = arena_printf(&p->pool.arena, "%s%d", format, index);
    return slot->name ? slot : NULL;
}

static bool is_usable(const struct device *d)
{
    return d->kind == DEVICE_ACCELERATOR && !d->acc.lost && d->acc.cores <= 0;
}

static int add_accelerators(struct queue_pool *p, const struct node *n, struct err *e)
{
    int counts[ARRAY_SIZE(makers) + 1] = { 0 };
    const char *kind = NULL;

    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];
        const struct pci *f = node_pci(n, d->pci);
        uint16_t vendor = f ? f->vendor : 0;
        struct queue_slot *slot;
        size_t maker = 0;

        while (maker < ARRAY_SIZE(makers) && makers[maker].vendor != vendor)
            maker++;
        if (d->kind == DEVICE_ACCELERATOR)
            counts[maker]++; /* the driver counts those that are lost, too */
        if (!is_usable(d))
            continue;
        slot = add_slot(p, "GPU", d->index);
        if (!slot)
            return err_nomem(e);
        slot->vendor = vendor;
        slot->index = counts[maker] - 1;
        slot->numa = (int16_t)d->numa;
        slot->memory_b = d->acc.memory_b;
        slot->has_pci = d->pci >= 0;
        if (slot->has_pci)
            slot->pci = n->pcis[d->pci].at;
        kind = d->product;
    }
    for (size_t left = p->n_slots; left > 0; left -= MIN(left, (size_t)POOL_DEVICES)) {
        int rc = add_part(p, MIN(left, (size_t)POOL_DEVICES), "this machine", kind, e);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Those of one NUMA domain, in equal parts. */
static int add_cpus(struct queue_pool *p, const char *list, int numa, struct err *e)
{
    int n = cpulist_count(list), parts = (n + POOL_DEVICES - 1) / POOL_DEVICES, done = 0;

    for (int cpu = cpulist_first(list); cpu >= 0; cpu = cpulist_next(list, cpu)) {
        struct queue_slot *slot = add_slot(p, "CPU", cpu);

        if (!slot)
            return err_nomem(e);
        slot->numa = (int16_t)numa;
    }
    for (int i = 1; i <= parts; i++) {
        int upto = n * i / parts, rc;

        rc = add_part(p, (size_t)(upto - done), "this machine", "CPU", e);
        if (rc < 0)
            return rc;
        done = upto;
    }
    return 0;
}

static int add_all_cpus(struct queue_pool *p, struct err *e)
{
    int rc = 0, sum = 0;

    for (size_t i = 0; i < p->n_near; i++)
        sum += cpulist_count(p->near[i]);
    if (sum != p->n_cpus) /* the domains are not known */
        return add_cpus(p, p->usable, ABSENT, e);
    for (size_t i = 0; i < p->n_near && rc == 0; i++)
        if (*p->near[i])
            rc = add_cpus(p, p->near[i], (int)i, e);
    return rc;
}

/* The first slot of each node, and behind the last one their number. */
static int number_slots(struct queue_pool *p, struct err *e)
{
    uint32_t at = 0, *first = arena_alloc(&p->pool.arena, (p->pool.n_nodes + 1) * sizeof(*first));

    if (!first)
        return err_nomem(e);
    for (size_t i = 0; i < p->pool.n_nodes; i++) {
        first[i] = at;
        at += p->pool.nodes[i].devices;
    }
    if (at == 0)
        return err_set(e, -EINVAL,
                       "this machine has neither accelerators nor CPUs that can be read");
    first[p->pool.n_nodes] = at;
    p->first = first;
    return 0;
}

int queue_pool_make(struct queue_pool *ret, const struct node *n, const char *usable, struct err *e)
{
    struct queue_pool p = { .cpus = true };
    int rc;

    p.usable = arena_strdup(&p.pool.arena, usable);
    p.n_cpus = cpulist_count(usable);
    for (size_t i = 0; i < n->n_devices; i++)
        if (is_usable(&n->devices[i]))
            p.cpus = false;
    p.pool.cpus = p.cpus;
    rc = !p.usable || find_near(&p, n) < 0 ? err_nomem(e) : 0;
    if (rc == 0)
        rc = p.cpus ? add_all_cpus(&p, e) : add_accelerators(&p, n, e);
    if (rc == 0)
        rc = number_slots(&p, e);
    if (rc < 0) {
        queue_pool_done(&p);
        return rc;
    }
    *ret = p;
    return 0;
}

/* ---- what jobs ask for ---- */

static int64_t most_memory(const struct queue_pool *p)
{
    int64_t most = 0;

    for (size_t i = 0; i < p->n_slots; i++)
        most = MAX(most, p->slots[i].memory_b > 0 ? p->slots[i].memory_b : INT64_MAX);
    return most;
}

int queue_pool_memory(const struct queue_pool *p, const struct queue_job *j)
{
    int64_t least = INT64_MAX;

    if (j->memory_b <= 0)
        return j->memory_milli;
    for (size_t i = 0; i < p->n_slots; i++)
        least = MIN(least, p->slots[i].memory_b);
    if (p->n_slots == 0 || least <= 0) /* what a part of nobody knows how much is */
        return j->memory_milli;
    return (int)MIN(j->memory_b / (least / WORK_WHOLE + 1) + 1, (int64_t)WORK_WHOLE);
}

int queue_pool_ask(const struct queue_pool *p, struct queue_job *j, struct err *e)
{
    int n = (int)p->n_slots;

    if (p->cpus && j->devices > 0)
        return err_set(e, -EINVAL,
                       "this machine has no accelerators: ask for CPUs, with --cpus %d at most", n);
    if (!p->cpus && j->devices > n)
        return err_set(e, -EINVAL, "asks for %d devices, and this machine has %d", (int)j->devices,
                       n);
    if (j->memory_b > most_memory(p))
        return err_set(e, -EINVAL, "asks for %lld GB of each device, and devices here have %lld",
                       (long long)(j->memory_b / GB), (long long)(most_memory(p) / GB));
    if (j->cpus > p->n_cpus)
        return err_set(e, -EINVAL, "asks for %d CPUs, and this machine has %d", (int)j->cpus,
                       p->n_cpus);
    if (j->cpus == 0)
        j->cpus = p->cpus || j->devices == 0 ? 1 : MAX(p->n_cpus * j->devices / n, 1);
    return 0;
}

void queue_pool_work(const struct queue_pool *p, const struct queue_job *j, struct work *ret)
{
    *ret = (struct work){
        .length_ms = WORK_UNKNOWN,
        .limit_ms = j->limit_ms > 0 ? j->limit_ms : WORK_UNKNOWN,
        .restart_ms = -1,
        .devices = p->cpus ? j->cpus : j->devices,
        .cpus_milli = p->cpus ? 0 : j->cpus * 1000,
        .milli = WORK_WHOLE,
        .user = -1,
        .team = -1,
        .class = -1,
        .priority = (int16_t)j->priority,
        .fixed = !j->requeue,
    };
}

void queue_pool_place(const struct queue_pool *p, const char *slots, char place[QUEUE_SLOTS])
{
    size_t len = 0;
    int slot;

    place[0] = 0;
    while ((slot = queue_slots_next(&slots)) >= 0)
        if ((size_t)slot < p->n_slots && len < QUEUE_SLOTS)
            len += (size_t)snprintf(place + len, QUEUE_SLOTS - len, "%s%s", len ? "," : "",
                                    p->slots[slot].name);
}

/* Take CPUs of a list that nobody has, until n are there. */
static int take(const char *list, struct queue_taken *taken, bool *has, int n)
{
    int got = 0;

    for (int cpu = cpulist_first(list); cpu >= 0 && cpu < QUEUE_CPUS && got < n;
         cpu = cpulist_next(list, cpu))
        if (!taken->cpu[cpu]) {
            taken->cpu[cpu] = 1;
            has[cpu] = true;
            got++;
        }
    return got;
}

void queue_pool_give(const struct queue_pool *p, const struct queue_job *j,
                     struct queue_taken *taken, char cpus[QUEUE_SLOTS])
{
    CLEANUP(str_done) struct str out = STR_INIT(QUEUE_SLOTS - 1);
    CLEANUP(freep) bool *has = calloc(QUEUE_CPUS, sizeof(*has));
    const char *at = j->slots;
    int n = queue_slots_count(at), all = p->cpus ? j->cpus : queue_job_cpus(j, n);
    int left = all, slot;

    cpus[0] = 0;
    if (!has)
        return;
    while ((slot = queue_slots_next(&at)) >= 0) {
        if ((size_t)slot >= p->n_slots)
            continue;
        if (p->cpus)
            taken->cpu[p->slots[slot].index % QUEUE_CPUS] = has[p->slots[slot].index % QUEUE_CPUS] =
                true;
        else if (p->slots[slot].numa >= 0 && (size_t)p->slots[slot].numa < p->n_near)
            left -= take(p->near[p->slots[slot].numa], taken, has, MIN(left, all / MAX(n, 1)));
    }
    if (!p->cpus)
        (void)take(p->usable, taken, has, left);
    add_list(&out, has);
    if (str_error(&out) == 0) /* a list that is too long binds nothing */
        snprintf(cpus, QUEUE_SLOTS, "%s", str_text(&out));
}

void queue_pool_hold(const struct queue_pool *p, const struct queue_job *j,
                     struct queue_taken *taken)
{
    char ignored[QUEUE_SLOTS];

    if (!*j->bound)
        queue_pool_give(p, j, taken, ignored);
    for (int cpu = cpulist_first(j->bound); cpu >= 0 && cpu < QUEUE_CPUS;
         cpu = cpulist_next(j->bound, cpu))
        taken->cpu[cpu] = 1;
}

/* ---- variables ---- */

static bool has_maker(const struct queue_pool *p, uint16_t vendor)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].vendor == vendor)
            return true;
    return false;
}

int queue_pool_variables(const struct queue_pool *p, const char *slots, struct arena *a,
                         const char *ret[2 * (QUEUE_GIVEN + 1) + 1])
{
    size_t n = 0;

    for (size_t m = 0; m < ARRAY_SIZE(makers) && !p->cpus; m++) {
        CLEANUP(str_done) struct str list = STR_INIT(QUEUE_SLOTS);
        const char *at = slots;
        int slot;

        if (!has_maker(p, makers[m].vendor))
            continue;
        while ((slot = queue_slots_next(&at)) >= 0)
            if ((size_t)slot < p->n_slots && p->slots[slot].vendor == makers[m].vendor)
                str_addf(&list, list.len ? ",%d" : "%d", (int)p->slots[slot].index);
        ret[n++] = makers[m].variable;
        ret[n] = str_error(&list) ? NULL : arena_strdup(a, str_text(&list));
        if (!ret[n++])
            return -ENOMEM;
        if (makers[m].vendor == NVIDIA) { /* its numbers are those of nvidia-smi then */
            ret[n++] = "CUDA_DEVICE_ORDER";
            ret[n++] = "PCI_BUS_ID";
        }
    }
    ret[n] = NULL;
    return 0;
}
