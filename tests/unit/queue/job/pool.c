/* What a machine has to give: its accelerators by maker, its CPUs by domain, what a job may ask of
 * them, and which CPUs and variables it gets. */
#include "queue/job/pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { NVIDIA = 0x10de, AMD = 0x1002, HUAWEI = 0x19e5, INTEL = 0x8086, OTHER = 0x1234 };

#define GB INT64_C(1000000000)

struct scene {
    struct node *node;
    struct queue_pool pool;
};

static void need(bool good, const char *what)
{
    if (good)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

/* One more accelerator; vendor 0: without an address. */
static struct device *add(struct node *n, uint16_t vendor, int numa)
{
    struct pci *f = NULL;
    struct device *d;

    if (vendor)
        f = node_add_pci(n, (struct pci_address){ .bus = (uint8_t)(n->n_pcis + 1) });
    d = node_add_device(n, DEVICE_ACCELERATOR);
    need(d && (f || !vendor), "out of memory");
    if (f)
        f->vendor = vendor;
    d->pci = f ? (int)n->n_pcis - 1 : ABSENT;
    d->numa = numa;
    d->product = "device";
    d->acc.memory_b = 80 * GB;
    return d;
}

/* A machine whose NUMA domains have those CPUs. */
static void begin(struct scene *s, const char *const *domains)
{
    *s = (struct scene){ .node = node_new() };
    need(s->node, "out of memory");
    for (int i = 0; domains[i]; i++)
        node_add_numa(s->node, i)->cpus = domains[i];
}

static void make(struct scene *s, const char *usable)
{
    struct err e = { "out of memory" };

    need(node_settle(s->node) == 0, "node");
    need(queue_pool_make(&s->pool, s->node, usable, &e) == 0, e.text);
}

static void end(struct scene *s)
{
    queue_pool_done(&s->pool);
    node_free(s->node);
}

/* ---- what it has ---- */

static const char *const two_domains[] = { "0-7", "8-15", NULL };

/* Two of AMD, of which one is lost, two of NVIDIA, and one each of others. */
static void make_mixed(struct scene *s)
{
    struct device *nic;

    begin(s, two_domains);
    add(s->node, AMD, 0)->acc.lost = true;
    add(s->node, NVIDIA, 0);
    add(s->node, HUAWEI, 1);
    add(s->node, AMD, 1)->acc.memory_b = 64 * GB;
    add(s->node, NVIDIA, 1);
    add(s->node, INTEL, 0);
    add(s->node, OTHER, ABSENT);
    add(s->node, 0, 0);
    add(s->node, 0, 0)->acc.cores = 4;
    nic = node_add_device(s->node, DEVICE_NIC);
    need(nic, "out of memory");
    nic->pci = ABSENT;
    make(s, "0-15");
}

static void test_mixed(void)
{
    static const struct {
        const char *name;
        uint16_t vendor;
        int index, numa;
    } slots[] = {
        { "GPU1", NVIDIA, 0, 0 }, { "GPU2", HUAWEI, 0, 1 }, { "GPU3", AMD, 1, 1 },
        { "GPU4", NVIDIA, 1, 1 }, { "GPU5", INTEL, 0, 0 },  { "GPU6", OTHER, 0, ABSENT },
        { "GPU7", 0, 1, 0 },
    };
    struct scene s;

    make_mixed(&s);
    ok(!s.pool.cpus && !s.pool.pool.cpus, "a machine with accelerators gives those");
    is_int(s.pool.n_cpus, 16, "a machine with accelerators has its CPUs beside them");
    is_int((long long)s.pool.n_slots, ARRAY_SIZE(slots),
           "neither a lost device nor CPU cores nor an adapter are given");
    for (size_t i = 0; i < MIN(ARRAY_SIZE(slots), s.pool.n_slots); i++) {
        const struct queue_slot *slot = &s.pool.slots[i];

        is_str(slot->name, slots[i].name, "slot %zu has the name of its device", i);
        is_int(slot->vendor, slots[i].vendor, "slot %zu has its maker", i);
        is_int(slot->index, slots[i].index, "slot %zu is counted among those of its maker", i);
        is_int(slot->numa, slots[i].numa, "slot %zu has its domain", i);
        is_int(slot->memory_b, slots[i].vendor == AMD ? 64 * GB : 80 * GB,
               "slot %zu has its memory", i);
        is_int(slot->has_pci, slots[i].vendor != 0, "slot %zu has an address or none", i);
        if (slot->has_pci)
            is_int(slot->pci.bus, slots[i].name[3] - '0' + 1, "slot %zu has its own address", i);
    }
    is_int((long long)s.pool.pool.n_nodes, 1, "seven accelerators are one part");
    is_int(s.pool.pool.nodes[0].devices, 7, "one part has all seven accelerators");
    is_int(s.pool.pool.nodes[0].cpus_milli, 16000, "a part counts the CPUs beside its devices");
    is_str(s.pool.pool.kinds[0], "device", "a part is called after the product of its devices");
    end(&s);
}

static void test_variables(void)
{
    static const struct {
        const char *slots, *want;
    } rows[] = {
        { "0,2,3", "CUDA_VISIBLE_DEVICES=0,1 CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES=1 "
                   "ASCEND_RT_VISIBLE_DEVICES= ZE_AFFINITY_MASK= " },
        { "1,4,5", "CUDA_VISIBLE_DEVICES= CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES= "
                   "ASCEND_RT_VISIBLE_DEVICES=0 ZE_AFFINITY_MASK=0 " },
        { "3,7,900", "CUDA_VISIBLE_DEVICES=1 CUDA_DEVICE_ORDER=PCI_BUS_ID ROCR_VISIBLE_DEVICES= "
                     "ASCEND_RT_VISIBLE_DEVICES= ZE_AFFINITY_MASK= " },
    };
    const char *given[2 * (QUEUE_GIVEN + 1) + 1];
    struct scene s;

    make_mixed(&s);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        CLEANUP(arena_done) struct arena a = ARENA_INIT;
        CLEANUP(str_done) struct str text = STR_INIT(4096);

        is_int(queue_pool_variables(&s.pool, rows[i].slots, &a, given), 0,
               "slots %s have variables", rows[i].slots);
        for (size_t k = 0; given[k]; k += 2)
            str_addf(&text, "%s=%s ", given[k], given[k + 1]);
        is_str(str_text(&text), rows[i].want, "slots %s are shown to each maker's runtime",
               rows[i].slots);
    }
    end(&s);
}

/* Many are parts of the machine, as none may have more than 16. */
static void test_many(void)
{
    struct scene s;

    begin(&s, two_domains);
    for (int i = 0; i < 33; i++)
        add(s.node, AMD, 0);
    make(&s, "0-15");
    is_int((long long)s.pool.pool.n_nodes, 3, "33 accelerators are three parts");
    ok(s.pool.pool.nodes[0].devices == 16 && s.pool.pool.nodes[1].devices == 16 &&
           s.pool.pool.nodes[2].devices == 1,
       "parts of a machine are filled one after the other");
    ok(s.pool.slots[0].has_pci, "the first device of a machine has an address");
    ok(s.pool.first[0] == 0 && s.pool.first[1] == 16 && s.pool.first[2] == 32 &&
           s.pool.first[3] == 33,
       "each part has its first slot, and behind the last part stands their number");
    end(&s);
}

static void test_cpus(void)
{
    static const char *const domains[] = { "0-19", "20-31", "32-39", NULL };
    static const int parts[] = { 9, 9, 8 }, first[] = { 0, 9, 18, 26 };
    const char *given[2 * (QUEUE_GIVEN + 1) + 1];
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct scene s;

    begin(&s, domains);
    add(s.node, 0, 0)->acc.cores = 8;
    make(&s, "0-15,18-19,32-39");
    ok(s.pool.cpus && s.pool.pool.cpus, "a machine without accelerators gives its CPUs");
    is_int((long long)s.pool.n_slots, 26, "each CPU that may be used is a slot");
    is_str(s.pool.near[0], "0-15,18-19", "a domain has those CPUs that may be used");
    is_str(s.pool.near[1], "", "a domain may have no CPU that may be used");
    is_int((long long)s.pool.pool.n_nodes, 3, "no part is without CPUs");
    for (size_t i = 0; i < MIN(s.pool.pool.n_nodes, ARRAY_SIZE(parts)); i++) {
        is_int(s.pool.pool.nodes[i].devices, parts[i], "part %zu has its share of a domain", i);
        is_int(s.pool.pool.nodes[i].cpus_milli, 0, "part %zu has no CPUs beside its CPUs", i);
        is_int(s.pool.first[i], first[i], "part %zu has its first slot", i);
    }
    is_int(s.pool.first[3], 26, "behind the last part stands the number of slots");
    is_str(s.pool.slots[16].name, "CPU18", "a slot is called by its CPU");
    ok(s.pool.slots[17].numa == 0 && s.pool.slots[18].numa == 2 && s.pool.slots[18].index == 32,
       "a slot has the domain of its CPU");
    is_int(queue_pool_variables(&s.pool, "0,1", &a, given), 0, "CPUs have variables");
    ok(!given[0], "a job with CPUs is shown no devices");
    end(&s);
}

/* Domains that lack a CPU tell nothing of any. */
static void test_unknown_domains(void)
{
    static const char *const domains[] = { "0-3", "4-7", NULL };
    struct scene s;

    begin(&s, domains);
    make(&s, "0-32");
    is_int((long long)s.pool.n_slots, 33, "CPUs are given whose domain nobody knows");
    is_int((long long)s.pool.pool.n_nodes, 3, "33 CPUs are three parts");
    ok(s.pool.pool.nodes[0].devices == 11 && s.pool.pool.nodes[1].devices == 11 &&
           s.pool.pool.nodes[2].devices == 11,
       "parts of one list are equal");
    ok(s.pool.slots[0].numa == ABSENT && s.pool.slots[32].numa == ABSENT,
       "where a domain is not known no CPU has one");
    end(&s);
}

static void test_nothing(void)
{
    struct queue_pool pool;
    struct err e = { "" };
    struct scene s;

    begin(&s, two_domains);
    need(node_settle(s.node) == 0, "node");
    is_int(queue_pool_make(&pool, s.node, "", &e), -EINVAL, "a machine has something to give");
    is_str(e.text, "this machine has neither accelerators nor CPUs that can be read",
           "the refusal tells what lacks");
    node_free(s.node);
}

/* ---- what is asked for ---- */

struct asked {
    int devices, cpus, memory_gb; /* given: its CPUs then */
    int given;
    const char *text; /* why not */
};

static void ask_all(const struct queue_pool *p, const struct asked *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct asked *r = &rows[i];
        struct queue_job j = { .devices = r->devices, .cpus = r->cpus };
        struct err e = { "" };
        int rc;

        j.memory_b = r->memory_gb * GB;
        rc = queue_pool_ask(p, &j, &e);
        is_str(e.text, r->text ? r->text : "", "%d devices, %d CPUs and %d GB are given or not",
               r->devices, r->cpus, r->memory_gb);
        is_int(rc, r->text ? -EINVAL : 0, "%d devices, %d CPUs and %d GB are refused or not",
               r->devices, r->cpus, r->memory_gb);
        if (rc == 0)
            is_int(j.cpus, r->given, "a job with %d devices and %d CPUs gets its CPUs", r->devices,
                   r->cpus);
    }
}

static void test_ask(void)
{
    static const struct asked of_devices[] = {
        { 3, 16, 80, 16, NULL },
        { 4, 0, 0, 0, "asks for 4 devices, and this machine has 3" },
        { 1, 0, 81, 0, "asks for 81 GB of each device, and devices here have 80" },
        { 1, 17, 0, 0, "asks for 17 CPUs, and this machine has 16" },
        { 0, 0, 0, 1, NULL },
        { 1, 0, 0, 5, NULL },
        { 2, 0, 0, 10, NULL },
        { 3, 0, 0, 16, NULL },
        { 1, 2, 0, 2, NULL },
    };
    static const struct asked of_cpus[] = {
        { 0, 0, 0, 1, NULL },
        { 0, 4, 0, 4, NULL },
        { 0, 5, 0, 0, "asks for 5 CPUs, and this machine has 4" },
        { 1, 1, 0, 0, "this machine has no accelerators: ask for CPUs, with --cpus 4 at most" },
    };
    struct queue_job j = { .devices = 1 };
    struct err e = { "" };
    struct scene s;

    begin(&s, two_domains);
    for (int i = 0; i < 3; i++)
        add(s.node, NVIDIA, 0)->acc.memory_b = (40 + 20 * i) * GB;
    make(&s, "0-15");
    ask_all(&s.pool, of_devices, ARRAY_SIZE(of_devices));
    s.pool.slots[1].memory_b = ABSENT;
    j.memory_b = 5000 * GB;
    is_int(queue_pool_ask(&s.pool, &j, &e), 0,
           "a device whose memory nobody knows may have what is asked for");
    end(&s);
    begin(&s, two_domains);
    for (int i = 0; i < 3; i++)
        add(s.node, NVIDIA, 0);
    make(&s, "0-1");
    j = (struct queue_job){ .devices = 1 };
    is_int(queue_pool_ask(&s.pool, &j, &e), 0, "a device is given where CPUs are few");
    is_int(j.cpus, 1, "a job with a device has a CPU where CPUs are few");
    end(&s);
    begin(&s, two_domains);
    make(&s, "0-3");
    ask_all(&s.pool, of_cpus, ARRAY_SIZE(of_cpus));
    end(&s);
}

static void test_memory(void)
{
    struct queue_job j = { .memory_milli = 77 };
    struct queue_pool none = { .n_slots = 0 };
    struct scene s;

    begin(&s, two_domains);
    add(s.node, NVIDIA, 0);
    add(s.node, NVIDIA, 0)->acc.memory_b = 40 * GB;
    make(&s, "0-15");
    is_int(queue_pool_memory(&s.pool, &j), 77, "a job that says nothing needs what was seen");
    j.memory_b = 1;
    is_int(queue_pool_memory(&s.pool, &j), 1, "a job that says how much needs that");
    is_int(queue_pool_memory(&none, &j), 77, "where nothing is given a job needs what was seen");
    j.memory_b = 20 * GB;
    is_int(queue_pool_memory(&s.pool, &j), 500, "a job needs its part of the smallest device");
    j.memory_b = 40 * GB;
    is_int(queue_pool_memory(&s.pool, &j), 1000, "a job may need all of the smallest device");
    j.memory_b = 80 * GB;
    is_int(queue_pool_memory(&s.pool, &j), 1000, "no job needs more than all of a device");
    s.pool.slots[0].memory_b = 0;
    is_int(queue_pool_memory(&s.pool, &j), 77,
           "of a device whose memory nobody knows a job needs what was seen");
    end(&s);
}

static void test_work(void)
{
    struct queue_job j = { .devices = 2, .cpus = 3, .priority = -7, .requeue = true };
    struct scene s;
    struct work w;

    begin(&s, two_domains);
    add(s.node, NVIDIA, 0);
    make(&s, "0-15");
    queue_pool_work(&s.pool, &j, &w);
    ok(w.devices == 2 && w.cpus_milli == 3000, "a job is as large as its devices, with its CPUs");
    ok(w.length_ms == WORK_UNKNOWN && w.limit_ms == WORK_UNKNOWN,
       "nobody knows how long a job without a limit is");
    ok(w.restart_ms == -1 && w.milli == WORK_WHOLE, "a job needs whole devices");
    ok(w.user == -1 && w.team == -1 && w.class == -1, "a job is nobody's until that is told");
    ok(w.priority == -7 && !w.fixed, "a job has its priority, and may be stopped");
    j.limit_ms = 1;
    j.requeue = false;
    queue_pool_work(&s.pool, &j, &w);
    ok(w.limit_ms == 1 && w.fixed, "a job has its limit, and may not be stopped");
    end(&s);
    begin(&s, two_domains);
    make(&s, "0-15");
    queue_pool_work(&s.pool, &j, &w);
    ok(w.devices == 3 && w.cpus_milli == 0, "where CPUs are given a job is as large as those");
    end(&s);
}

/* ---- what is given ---- */

struct given {
    const char *slots;
    int devices, cpus;
    const char *want; /* one after the other */
};

static void give_all(const struct queue_pool *p, const struct given *rows, size_t n)
{
    static struct queue_taken taken;
    char cpus[QUEUE_SLOTS];

    taken = (struct queue_taken){ { 0 } };
    for (size_t i = 0; i < n; i++) {
        struct queue_job j = { .devices = rows[i].devices, .cpus = rows[i].cpus };

        snprintf(j.slots, sizeof(j.slots), "%s", rows[i].slots);
        queue_pool_give(p, &j, &taken, cpus);
        is_str(cpus, rows[i].want, "a job with slots '%s' and %d CPUs is bound", rows[i].slots,
               rows[i].cpus);
    }
}

static void test_give(void)
{
    static const struct given of_devices[] = {
        { "3", 1, 2, "8-9" },         /* near it */
        { "0,3", 2, 4, "0-1,10-11" }, /* half beside each */
        { "5,900", 2, 2, "2-3" },     /* one whose domain nobody knows, and none: any */
        { "0,3", 4, 6, "4-5,12" },    { "", 0, 2, "6-7" }, { "0", 1, 9, "13-15" },
    };
    static const struct given of_cpus[] = {
        { "0,2,3,900", 0, 3, "0,2-3" },
        { "1", 0, 1, "1" },
    };
    struct scene s;

    make_mixed(&s);
    give_all(&s.pool, of_devices, ARRAY_SIZE(of_devices));
    end(&s);
    begin(&s, two_domains);
    make(&s, "0-15");
    give_all(&s.pool, of_cpus, ARRAY_SIZE(of_cpus));
    end(&s);
}

static void test_hold(void)
{
    static struct queue_taken taken;
    struct queue_job j = { .devices = 1, .cpus = 2, .slots = "0", .bound = "0,14" };
    struct scene s;
    int n = 0;

    make_mixed(&s);
    queue_pool_hold(&s.pool, &j, &taken);
    for (int i = 0; i < QUEUE_CPUS; i++)
        n += taken.cpu[i];
    ok(n == 2 && taken.cpu[0] && taken.cpu[14], "a job holds the CPUs that it is bound to");
    j.bound[0] = 0;
    queue_pool_hold(&s.pool, &j, &taken);
    ok(taken.cpu[1] && taken.cpu[2] && !taken.cpu[3],
       "a job that is not bound holds the CPUs that it would get now");
    end(&s);
}

static void test_place(void)
{
    char place[QUEUE_SLOTS], slots[QUEUE_SLOTS] = "0";
    struct scene s;

    make_mixed(&s);
    queue_pool_place(&s.pool, "0,2,7,6", place);
    is_str(place, "GPU1,GPU3,GPU7", "a place names the slots that there are");
    queue_pool_place(&s.pool, "", place);
    is_str(place, "", "no slots are no place");
    for (size_t len = 1; len + 3 < sizeof(slots); len += 2)
        memcpy(slots + len, ",0", 3);
    queue_pool_place(&s.pool, slots, place);
    is_int((long long)strlen(place), QUEUE_SLOTS - 1, "a place that is too long is cut");
    end(&s);
}

int main(void)
{
    test_mixed();
    test_variables();
    test_many();
    test_cpus();
    test_unknown_domains();
    test_nothing();
    test_ask();
    test_memory();
    test_work();
    test_give();
    test_hold();
    test_place();
    return done();
}
