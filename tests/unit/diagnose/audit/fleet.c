#include "diagnose/audit/audit.h"

#include "diagnose/audit/check.h"

#include "nodes.h"
#include "tap.h"

/* A machine of n like nodes with a GPU and a NIC each: n1, n2 ... */
static void make(struct machine *m, int n)
{
    *m = (struct machine){ .n_nodes = 0 };
    for (int i = 0; i < n; i++) {
        struct node *node = nodes_new(2);
        struct device *d;

        node->name = arena_printf(&node->arena, "n%d", i + 1);
        node->board = "Board";
        node->cpu_model = "Processor";
        node->kernel = "6.8.0";
        node->memory_b = 1024LL << 30;
        node->set.gpu_driver = "550.54.15";
        node->set.governor = "performance";
        node->set.iommu_type = "identity";
        (void)nodes_device(node, DEVICE_ACCELERATOR, ABSENT, NULL);
        (void)nodes_device(node, DEVICE_NIC, ABSENT, NULL);
        d = node->devices;
        d->product = "H100";
        d->acc.vbios = "96.00";
        d->acc.links_up = 18;
        d[1].nic.firmware = "28.39";
        if (!node->name || machine_add(m, node) < 0)
            exit(1);
    }
}

/* The findings as lines "CHECK NODE: SENTENCE (EVIDENCE)". */
static const char *said(const struct findings *f, struct str *out)
{
    str_reset(out);
    for (size_t i = 0; i < f->count; i++)
        str_addf(out, "%s%s %s: %s (%s)", i ? "\n" : "", f->list[i].check, f->list[i].node,
                 f->list[i].sentence, f->list[i].evidence);
    return str_text(out);
}

static void is_audit(const struct machine *m, const struct machine *fleet, const char *want,
                     const char *what)
{
    CLEANUP(findings_done) struct findings found = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(64 << 10);

    is_int(audit_fleet(m, fleet, &found), 0, "%s", what);
    is_str(said(&found, &out), want, "finds what it should");
}

static void test_alike(void)
{
    CLEANUP(findings_done) struct findings found = { .count = 0 };
    CLEANUP(machine_done) struct machine m, one, none = { .n_nodes = 0 };

    make(&m, 3);
    make(&one, 1);
    is_audit(&m, NULL, "", "nodes that are alike make no finding");
    is_audit(&one, NULL, "", "one node alone makes no finding");
    is_audit(&none, NULL, "", "a machine without nodes makes no finding");
    is_int(audit_fleet(&m, NULL, &found), 0, "audit_fleet audits nodes that are alike");
    is_int((long long)found.passed, 14, "every trait that could be compared passes");
}

static void test_odd(void)
{
    CLEANUP(machine_done) struct machine m;
    struct node *n;

    make(&m, 4);
    n = m.nodes[2];
    n->board = "Other board";
    n->cpu_model = "Other processor";
    n->kernel = "5.15.0";
    n->memory_b = 960LL << 30;
    n->n_numas = 1;
    n->set.gpu_driver = "535.1";
    n->set.governor = "powersave";
    n->set.iommu_type = "DMA";
    n->devices[0].acc.vbios = "95.00";
    n->devices[0].acc.links_up = 17;
    n->devices[1].nic.firmware = "28.30";
    (void)nodes_device(n, DEVICE_NVME, ABSENT, NULL);
    is_audit(&m, NULL,
             "fleet-board n3: the board differs from that of the fleet: Other board (3 of 4 nodes "
             "have: Board)\n"
             "fleet-cpu n3: the CPU differs from that of the fleet: Other processor (3 of 4 nodes "
             "have: Processor)\n"
             "fleet-memory n3: the memory differs from that of the fleet: 960 GiB (3 of 4 nodes "
             "have: 1024 GiB)\n"
             "fleet-numa n3: the NUMA layout differs from that of the fleet: 1 NUMA domains (3 of "
             "4 nodes have: 2 NUMA domains)\n"
             "fleet-links n3: the number of links between accelerators differs from that of the "
             "fleet: 17 links up (3 of 4 nodes have: 18 links up)\n"
             "fleet-drives n3: the set of NVMe drives differs from that of the fleet: 1x of "
             "unknown product (3 of 4 nodes have: none)\n"
             "fleet-kernel n3: the kernel differs from that of the fleet: 5.15.0 (3 of 4 nodes "
             "have: 6.8.0)\n"
             "fleet-driver n3: the accelerator driver differs from that of the fleet: 535.1 (3 of "
             "4 nodes have: 550.54.15)\n"
             "fleet-vbios n3: the VBIOS differs from that of the fleet: 95.00 (3 of 4 nodes have: "
             "96.00)\n"
             "fleet-nic-firmware n3: the NIC firmware differs from that of the fleet: 28.30 (3 of "
             "4 nodes have: 28.39)\n"
             "fleet-governor n3: the frequency governor differs from that of the fleet: powersave "
             "(3 of 4 nodes have: performance)\n"
             "fleet-iommu n3: the IOMMU type differs from that of the fleet: DMA (3 of 4 nodes "
             "have: identity)",
             "one odd node of four is found by each trait");
}

static void test_devices(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 3);
    m.nodes[0]->devices[0].product = "A100";
    (void)nodes_device(m.nodes[2], DEVICE_NIC, ABSENT, NULL);
    is_audit(&m, NULL,
             "fleet-accelerators n1: the set of accelerators differs from that of the fleet: 1x "
             "A100 (2 of 3 nodes have: 1x H100)\n"
             "fleet-nics n3: the set of NICs differs from that of the fleet: 2x HCA (2 of 3 nodes "
             "have: 1x HCA)",
             "nodes with another product and one more NIC are found");
}

/* Two products on one node: both are named. */
static void test_mixed_devices(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 3);
    for (int i = 0; i < 3; i++) {
        int second = nodes_device(m.nodes[i], DEVICE_ACCELERATOR, ABSENT, NULL);

        m.nodes[i]->devices[second].product = i == 1 ? "A100" : "H100";
    }
    is_audit(&m, NULL,
             "fleet-accelerators n2: the set of accelerators differs from that of the fleet: 1x "
             "H100, 1x A100 (2 of 3 nodes have: 2x H100)",
             "a product behind the first one counts");
}

static void test_mixed(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 4);
    m.nodes[0]->kernel = m.nodes[1]->kernel = "5.15.0";
    is_audit(&m, NULL, "", "half and half: nobody is odd");
    m.nodes[2]->kernel = "5.15.0";
    is_audit(&m, NULL,
             "fleet-kernel n4: the kernel differs from that of the fleet: 6.8.0 (3 of 4 nodes "
             "have: 5.15.0)",
             "one kernel against three is found");
    m.nodes[0]->kernel = "a";
    m.nodes[1]->kernel = "b";
    is_audit(&m, NULL, "", "nodes that are all different make no finding");
}

static void test_absent(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 5);
    m.nodes[0]->kernel = NULL;
    m.nodes[1]->kernel = "5.15.0";
    m.nodes[2]->memory_b = ABSENT;
    m.nodes[3]->devices[0].acc.links_up = ABSENT;
    m.nodes[4]->devices[0].acc.vbios = NULL;
    is_audit(&m, NULL,
             "fleet-kernel n2: the kernel differs from that of the fleet: 5.15.0 (3 of 4 nodes "
             "have: 6.8.0)",
             "what is absent is neither odd nor counted");
    for (int i = 0; i < 5; i++)
        m.nodes[i]->kernel = NULL;
    is_audit(&m, NULL, "", "a trait that no node shows makes no finding");
}

/* What the kernel keeps for itself varies: memory is compared in steps of 16 GiB. */
static void test_memory_steps(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 3);
    m.nodes[0]->memory_b -= 3LL << 30;
    is_audit(&m, NULL, "", "3 GiB less are no difference");
    m.nodes[0]->memory_b -= 16LL << 30;
    is_audit(&m, NULL,
             "fleet-memory n1: the memory differs from that of the fleet: 1008 GiB (2 of 3 nodes "
             "have: 1024 GiB)",
             "a missing module is one");
}

static void test_against_another(void)
{
    CLEANUP(machine_done) struct machine one, fleet;

    make(&one, 1);
    make(&fleet, 3);
    is_audit(&one, &fleet, "", "a node like the fleet makes no finding");
    one.nodes[0]->kernel = "5.15.0";
    fleet.nodes[0]->kernel = "4.18.0";
    is_audit(&one, &fleet,
             "fleet-kernel n1: the kernel differs from that of the fleet: 5.15.0 (2 of 3 nodes "
             "have: 6.8.0)",
             "only the machine is audited, not the fleet");
}

/* More distinct values than the tally starts with. */
static void test_many_values(void)
{
    CLEANUP(machine_done) struct machine m;

    make(&m, 50);
    for (int i = 0; i < 20; i++) {
        m.nodes[i]->set.gpu_driver = arena_printf(&m.nodes[i]->arena, "535.%d", i);
        m.nodes[i]->set.governor = NULL;
    }
    {
        CLEANUP(findings_done) struct findings found = { .count = 0 };

        is_int(audit_fleet(&m, NULL, &found), 0,
               "audit_fleet audits twenty nodes with other drivers");
        is_int((long long)found.count, 20, "twenty other drivers make twenty findings");
        is_str(found.list[19].sentence,
               "the accelerator driver differs from that of the fleet: 535.19",
               "the last finding names the last driver");
    }
}

/* A list of names is full when the next one and a mark of more do not fit. */
static void test_names(void)
{
    char buf[NAMES_TEXT] = "", name[NAMES_TEXT + 64], want[2 * NAMES_TEXT + 64];

    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = 0;
    check_append(buf, name);
    is_str(buf, "...", "a name that is longer than the list is left out");
    buf[0] = 0;
    check_append(buf, "a");
    check_append(buf, "b");
    is_str(buf, "a, b", "names stand with a comma between them");
    name[NAMES_TEXT - 9 - 4] = 0;
    check_append(buf, name);
    snprintf(want, sizeof(want), "a, b, %s", name);
    is_str(buf, want, "the longest name that leaves room for a mark is taken");
    check_append(buf, "c");
    snprintf(want, sizeof(want), "a, b, %s, ...", name);
    is_str(buf, want, "a mark stands for names that have no room");
    check_append(buf, "");
    is_str(buf, want, "nothing stands behind the mark");
    snprintf(buf, sizeof(buf), "a, b");
    name[NAMES_TEXT - 9 - 4] = 'x';
    name[NAMES_TEXT - 8 - 4] = 0;
    check_append(buf, name);
    is_str(buf, "a, b, ...", "a name of one letter more is left out");
    check_append(buf, "c");
    is_str(buf, "a, b, ...", "a short name is not put behind the mark");
}

int main(void)
{
    test_names();
    test_alike();
    test_odd();
    test_devices();
    test_mixed_devices();
    test_mixed();
    test_absent();
    test_memory_steps();
    test_against_another();
    test_many_values();
    return done();
}
