/* Sockets and memory domains: which CPUs are in which, how many cores, what is far from what; and
 * the cores of a machine that has no other accelerator. */
#include "made_machine.h"
#include "tap.h"

#define CPU "sys/devices/system/cpu"
#define NODE "sys/devices/system/node"

static const struct catalogue no_catalogue = { .n_products = 0 };

/* Two sockets with two cores of two threads each. */
static void add_sockets(struct made *m)
{
    made_file(m, CPU "/online", "0-7\n");
    made_file(m, CPU "/cpu0/topology/package_cpus_list", "0-1,4-5\n");
    made_file(m, CPU "/cpu0/topology/physical_package_id", "4\n");
    made_file(m, CPU "/cpu0/topology/core_cpus_list", "0,4\n");
    made_file(m, CPU "/cpu2/topology/package_cpus_list", "2-3,6-7\n");
    made_file(m, CPU "/cpu2/topology/physical_package_id", "9\n");
    made_file(m, CPU "/cpu2/topology/core_cpus_list", "2,6\n");
}

static void test_sockets(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    add_sockets(&m);
    n = made_node(&m, &no_catalogue);
    if (is_int((int)n->n_sockets, 2, "a machine has two sockets")) {
        ok(n->sockets[0].id == 4 && n->sockets[1].id == 9, "a socket has the kernel's number");
        ok(n->sockets[0].threads == 4 && n->sockets[1].threads == 4, "a socket has its threads");
        ok(n->sockets[0].cores == 2 && n->sockets[1].cores == 2, "a socket has its cores");
        is_str(n->sockets[1].cpus, "2-3,6-7", "a socket has the list of its CPUs");
    }
    node_free(n);
    made_done(&m);
}

/* What kernels before 5.4 have, what is not there, and what is broken. */
static void test_odd_sockets(void)
{
    static const struct {
        const char *file, *text, *id, *siblings_file, *siblings;
        int sockets, number, cores;
    } cases[] = {
        { "core_siblings_list", "0-3", "1", "thread_siblings_list", "0-1", 1, 1, 2 },
        { "package_cpus_list", "0-3", "x", "core_cpus_list", "0-3", 1, 0, 1 },
        { "package_cpus_list", "0-3", "", "core_cpus_list", "", 1, 0, ABSENT },
        { "package_cpus_list", "0-3", "1", "core_cpus_list", "what", 1, 1, 4 },
        { "package_cpus_list", "1-3", "1", "core_cpus_list", "0", 0, 0, 0 },
        { "package_cpus_list", "", "1", "core_cpus_list", "0", 0, 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;

        made_file(&m, CPU "/online", "0-3\n");
        made_in(&m, CPU "/cpu0/topology", cases[i].file, cases[i].text);
        made_in(&m, CPU "/cpu0/topology", "physical_package_id", cases[i].id);
        made_in(&m, CPU "/cpu0/topology", cases[i].siblings_file, cases[i].siblings);
        n = made_node(&m, &no_catalogue);
        is_int((int)n->n_sockets, cases[i].sockets, "case %zu has so many sockets: %d", i,
               cases[i].sockets);
        if (n->n_sockets == 1) {
            is_int(n->sockets[0].id, cases[i].number, "the socket of case %zu has its number", i);
            is_int(n->sockets[0].cores, cases[i].cores, "the socket of case %zu has its cores", i);
        }
        node_free(n);
        made_done(&m);
    }
}

static void test_domains(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    add_sockets(&m);
    made_folder(&m, NODE, "node0\nnode1\nnode2\nnode3\n");
    made_file(&m, NODE "/node0/cpulist", "0-1,4-5\n");
    made_file(&m, NODE "/node0/meminfo", "Node 0 MemTotal: 1024 kB\n");
    made_file(&m, NODE "/node0/distance", "10 21 32 43\n");
    made_file(&m, NODE "/node1/cpulist", "2-3,6-7\n");
    made_file(&m, NODE "/node1/distance", "21 10 32\n");
    made_file(&m, NODE "/node2/cpulist", "\n");
    made_file(&m, NODE "/node2/distance", "21  10 32 999999999\n");
    made_file(&m, NODE "/node3/distance", "x\n");
    n = made_node(&m, &no_catalogue);
    if (is_int((int)n->n_numas, 4, "a machine has four domains")) {
        const struct numa *d = n->numas;

        ok(d[0].socket == 0 && d[1].socket == 1, "a domain is on the socket of its CPUs");
        ok(d[2].socket == ABSENT && d[3].socket == ABSENT, "a domain without CPUs is on none");
        ok(d[0].threads == 4 && d[1].threads == 4, "a domain has its threads");
        is_str(d[1].cpus, "2-3,6-7", "a domain has the list of its CPUs");
        ok(d[0].memory_b == 1024 * 1024 && d[1].memory_b == ABSENT, "a domain has its memory");
        ok(d[0].distance && d[0].distance[0] == 10 && d[0].distance[3] == 43,
           "a domain has its distances");
        ok(!d[1].distance && !d[3].distance, "distances that are too few are none");
        ok(d[2].distance && d[2].distance[1] == 10 && d[2].distance[3] == 999999999,
           "distances may stand apart, and be large");
    }
    node_free(n);
    made_done(&m);
}

static void test_many_domains(void)
{
    CLEANUP(str_done) struct str names = STR_INIT(8192);
    struct made m = MADE_INIT;
    struct node *n;

    for (int i = 0; i < 260; i++)
        str_addf(&names, "node%d\n", i);
    made_folder(&m, NODE, str_text(&names));
    n = made_node(&m, &no_catalogue);
    is_int((int)n->n_numas, 256, "a machine has 256 domains at most");
    node_free(n);
    made_done(&m);
}

/* The governors of the first CPUs of three domains. */
static void test_governor(void)
{
    static const struct {
        const char *governors[3], *want;
    } cases[] = {
        { { "performance", "performance", "performance" }, "performance" },
        { { "performance", "powersave", "performance" }, "mixed" },
        { { NULL, "powersave", "" }, "powersave" },
        { { NULL, NULL, NULL }, NULL },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        struct node *n;

        made_folder(&m, NODE, "node0\nnode1\nnode2\nnode3\n");
        for (int k = 0; k < 3; k++) {
            char path[128], text[16];

            snprintf(path, sizeof(path), NODE "/node%d/cpulist", k);
            snprintf(text, sizeof(text), "%d-%d\n", 4 * k, 4 * k + 3);
            made_file(&m, path, text);
            snprintf(path, sizeof(path), CPU "/cpu%d/cpufreq/scaling_governor", 4 * k);
            if (cases[i].governors[k])
                made_file(&m, path, cases[i].governors[k]);
        }
        n = made_node(&m, &no_catalogue);
        is_str(n->set.governor, cases[i].want, "the governor of case %zu is %s", i, cases[i].want);
        node_free(n);
        made_done(&m);
    }
}

/* One device of all cores, where there is no other accelerator. */
static void test_cores(void)
{
    struct made one = MADE_INIT, two = MADE_INIT, other = MADE_INIT, none = MADE_INIT;
    struct node *n;

    add_sockets(&one);
    made_folder(&one, NODE, "node0\n");
    made_file(&one, "proc/meminfo", "MemTotal: 2048 kB\n");
    made_file(&one, "proc/cpuinfo", "vendor_id : GenuineIntel\nmodel name : Xeon\n");
    n = made_node(&one, &no_catalogue);
    if (is_int((int)n->n_acc, 1, "a machine without accelerators has its cores as one")) {
        const struct device *d = &n->devices[0];

        is_int(d->acc.cores, 4, "the cores of all sockets count");
        is_str(d->name, "CPU", "the cores are called CPU");
        is_str(d->product, "Xeon", "the cores are of the CPU's model");
        is_str(d->acc.arch, "x86_64", "the cores are of the CPU's kind");
        is_int(d->acc.memory_b, 2048 * 1024, "the cores have the machine's memory");
        is_int(d->numa, 0, "the cores are in the only domain");
    }
    node_free(n);
    made_done(&one);

    made_file(&two, CPU "/online", "0-7\n");
    made_file(&two, CPU "/cpu0/topology/package_cpus_list", "0-3\n");
    made_file(&two, CPU "/cpu0/topology/core_cpus_list", "0\n");
    made_file(&two, CPU "/cpu4/topology/package_cpus_list", "4-7\n");
    made_folder(&two, NODE, "node0\nnode1\n");
    n = made_node(&two, &no_catalogue);
    ok(n->n_acc == 1 && n->devices[0].acc.cores == 4, "a socket of unknown cores adds none");
    ok(n->n_acc == 1 && n->devices[0].numa == ABSENT, "the cores of two domains are in none");
    node_free(n);
    made_done(&two);

    add_sockets(&other);
    made_function(&other, "sys/devices/pci0000:00/0000:01:00.0", "0x120000", "0x10de", "0x1");
    n = made_node(&other, &no_catalogue);
    ok(n->n_acc == 1 && n->devices[0].pci >= 0, "cores are none beside an accelerator");
    node_free(n);
    made_done(&other);

    n = made_node(&none, &no_catalogue);
    is_int((int)n->n_devices, 0, "a machine whose sockets are not known has no cores");
    node_free(n);
    made_done(&none);
}

int main(void)
{
    test_sockets();
    test_odd_sockets();
    test_domains();
    test_many_domains();
    test_governor();
    test_cores();
    return done();
}
