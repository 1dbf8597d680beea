/* From the driver's list of GPUs to a node, on nodes made by hand. */
#include "probe/nvidia/nvml.h"

#include <errno.h>

#include "oom.h"
#include "probe/nvidia/nvml_abi.h"
#include "tap.h"

enum { NVIDIA = 0x10de, AMD = 0x1002 };

static struct nvml_reading reading;

static struct node *make(void)
{
    nvml_reading_init(&reading);
    return node_new();
}

/* A device on bus 'bus' of the node; its index. */
static int add(struct node *n, enum device_kind kind, uint8_t bus, uint16_t vendor)
{
    struct pci *p = node_add_pci(n, (struct pci_address){ .bus = bus });
    struct device *d = node_add_device(n, kind);

    p->vendor = vendor;
    d->pci = (int)n->n_pcis - 1;
    return (int)n->n_devices - 1;
}

/* One more GPU of the driver, at that bus; 0: it has no address. */
static struct nvml_gpu *driver_has(uint8_t bus)
{
    struct nvml_gpu *g = &reading.gpus[reading.n_gpus++];

    if (bus)
        pci_address_text((struct pci_address){ .bus = bus }, g->bdf);
    return g;
}

/* Ports from..to of a GPU lead to that bus; 0: to an unknown place. */
static void connect(struct nvml_gpu *g, int from, int to, int kind, uint8_t bus)
{
    for (int i = from; i <= to; i++) {
        g->links[i] = (struct nvml_link){ .up = 1, .version = NVML_NVLINK_4_0, .kind = kind };
        if (bus)
            pci_address_text((struct pci_address){ .bus = bus }, g->links[i].bdf);
    }
}

static void is_link(const struct node *n, size_t i, int a, int b, int count)
{
    if (!ok(i < n->n_links, "the node has link %zu", i))
        return;
    is_int(n->links[i].kind, LINK_NVLINK, "link %zu is an NVLink", i);
    is_int(n->links[i].a, a, "link %zu begins at its device", i);
    is_int(n->links[i].b, b, "link %zu ends at its device", i);
    is_int(n->links[i].count, count, "link %zu counts its ports", i);
}

static void check_fields(void)
{
    CLEANUP(node_freep) struct node *n = make();
    int d = add(n, DEVICE_ACCELERATOR, 0x1b, NVIDIA);
    struct nvml_gpu *g = driver_has(0x1b);
    const struct accelerator *a;

    n->devices[d].acc.width_max = 16;
    snprintf(reading.driver, sizeof(reading.driver), "550.90.07");
    snprintf(g->name, sizeof(g->name), "NVIDIA H100 80GB HBM3");
    g->capability = 90;
    g->memory_b = 80ll << 30;
    g->power_limit_mw = 650000;
    g->gpu_gen_max = 5;
    g->ecc = 1;
    g->ecc_pending = 0;
    g->links[0].up = 0;
    g->links[1].up = 1;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply sets the fields of a GPU");
    is_int(n->n_devices, 1, "nvml_apply adds no device to the one that was there");
    a = &n->devices[d].acc;
    is_str(n->devices[d].product, "NVIDIA H100 80GB HBM3", "a device has the driver's product");
    is_str(n->set.gpu_driver, "550.90.07", "a node has the version of its driver");
    is_str(a->arch, "sm90", "a capability of 90 is the architecture sm90");
    is_str(a->uuid, NULL, "a uuid that was not read is NULL");
    is_int(a->memory_b, 80ll << 30, "a device has the memory of the driver");
    is_int(a->power_limit_mw, 650000, "a device has the power limit of the driver");
    is_int(a->power_default_mw, ABSENT, "a default limit that was not read is absent");
    is_int(a->gen_max, 5, "a device has the PCIe generation of its board");
    is_int(a->width_max, 16, "a width that was there is kept");
    is_int(a->ecc, 1, "a device has ECC on now");
    is_int(a->ecc_pending, 0, "a device has ECC off after the next boot");
    is_int(a->mig, ABSENT, "MIG that was not read is absent");
    is_int(a->links_up, 1, "a link that is up counts as up");
    is_int(a->links_down, 1, "a link that is down counts as down");
    is_int(a->fabric, ABSENT, "a fabric that was not read is absent");
    is_int(n->n_links, 0, "a link that leads nowhere known is no link");
    ok(!n->peers, "peers that were not read are NULL");
}

static void check_fabric(void)
{
    static const struct {
        int state, status, want;
    } cases[] = {
        { NVML_FABRIC_NOT_SUPPORTED, ABSENT, ABSENT },    { NVML_FABRIC_NOT_STARTED, ABSENT, 0 },
        { NVML_FABRIC_IN_PROGRESS, ABSENT, 0 },           { NVML_FABRIC_COMPLETED, NVML_OK, 1 },
        { NVML_FABRIC_COMPLETED, NVML_UNKNOWN_ERROR, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep) struct node *n = make();
        struct nvml_gpu *g = driver_has(1);

        g->fabric = cases[i].state;
        g->fabric_status = cases[i].status;
        is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds, round %zu", i);
        is_int(n->devices[0].acc.fabric, cases[i].want,
               "fabric state %d with status %d is told rightly", cases[i].state, cases[i].status);
    }
}

/* Two GPUs, two switches: a bundle for each GPU and switch. */
static void check_switches(void)
{
    CLEANUP(node_freep) struct node *n = make();
    int gpu0 = add(n, DEVICE_ACCELERATOR, 0x1b, NVIDIA);
    int switch0 = add(n, DEVICE_SWITCH, 5, NVIDIA);
    int switch1 = add(n, DEVICE_SWITCH, 6, NVIDIA);
    int gpu1 = add(n, DEVICE_ACCELERATOR, 0x43, NVIDIA);
    struct nvml_gpu *g;

    g = driver_has(0x1b);
    connect(g, 0, 9, NVML_REMOTE_SWITCH, 5);
    connect(g, 10, 17, NVML_REMOTE_SWITCH, 6);
    g->links[3].up = 0;
    g = driver_has(0x43);
    connect(g, 0, 9, ABSENT, 5); /* an old driver does not say what is there: the address does */
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with two switches");
    is_int(n->n_links, 3, "each GPU has a bundle to each switch it has ports to");
    is_link(n, 0, gpu0, switch0, 9);
    is_link(n, 1, gpu0, switch1, 8);
    is_link(n, 2, gpu1, switch0, 10);
    ok(n->links[0].gbs == 25, "each port to a switch moves 25 GB/s");
    is_int(n->devices[gpu0].acc.links_up, 17, "17 ports of GPU 0 are up");
    is_int(n->devices[gpu0].acc.links_down, 1, "a port of GPU 0 is down");
    is_int(node_settle(n), 0, "node_settle succeeds with two switches");
    is_int(n->links[0].b, 2, "a settled bundle leads to the switch behind the GPUs");
}

/* Switches that are no PCI functions here: of a later generation, or outside this guest. */
static void check_unseen_switches(void)
{
    CLEANUP(node_freep) struct node *n = make();
    int gpu = add(n, DEVICE_ACCELERATOR, 0x1b, NVIDIA);
    struct nvml_gpu *g = driver_has(0x1b);

    connect(g, 0, 9, NVML_REMOTE_SWITCH, 0);
    connect(g, 10, 17, NVML_REMOTE_SWITCH, 0xe0);
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with switches that are no functions");
    is_int(n->n_links, 1, "all ports to unseen switches are one bundle");
    is_link(n, 0, gpu, ABSENT, 18);
}

/* A guest is not told what is at the other end; on a fabric it can only be a switch. */
static void check_guest(void)
{
    CLEANUP(node_freep) struct node *n = make();
    int gpu0 = add(n, DEVICE_ACCELERATOR, 1, NVIDIA);
    struct nvml_gpu *g;

    add(n, DEVICE_ACCELERATOR, 2, NVIDIA);
    g = driver_has(1);
    connect(g, 0, 17, ABSENT, 0);
    g->fabric = NVML_FABRIC_COMPLETED;
    g = driver_has(2);
    connect(g, 0, 17, ABSENT, 0);
    g->fabric = NVML_FABRIC_NOT_SUPPORTED;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds in a guest");
    is_int(n->n_links, 1, "a guest's GPU has a bundle on a fabric alone");
    is_link(n, 0, gpu0, ABSENT, 18);
}

/* Both ends report a pair's links, and may disagree. */
static void check_direct(void)
{
    CLEANUP(node_freep) struct node *n = make();
    struct nvml_gpu *g[3];

    for (uint8_t i = 0; i < 3; i++) {
        add(n, DEVICE_ACCELERATOR, (uint8_t)(i + 1), NVIDIA);
        g[i] = driver_has((uint8_t)(i + 1));
    }
    connect(g[0], 0, 2, NVML_REMOTE_GPU, 2);
    connect(g[0], 3, 4, NVML_REMOTE_GPU, 3);
    connect(g[0], 5, 5, NVML_REMOTE_GPU, 0x77); /* a GPU that is not of this node */
    connect(g[0], 6, 6, NVML_REMOTE_GPU, 1);    /* itself */
    connect(g[1], 0, 3, NVML_REMOTE_GPU, 1);
    connect(g[2], 0, 0, NVML_REMOTE_GPU, 1);
    connect(g[2], 1, 2, NVML_REMOTE_NPU, 0);
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with GPUs that are linked directly");
    is_int(n->n_links, 2, "each pair of linked GPUs has one bundle");
    is_link(n, 0, 0, 1, 4);
    is_link(n, 1, 0, 2, 2);
    is_int(n->devices[2].acc.links_up, 3, "ports to elsewhere count as up");
}

/* Each number of a GPU goes to its own field. */
static void check_numbers(void)
{
    CLEANUP(node_freep) struct node *n = make();
    struct nvml_gpu *g = driver_has(1);
    const struct accelerator *a;

    snprintf(g->uuid, sizeof(g->uuid), "GPU-1");
    snprintf(g->vbios, sizeof(g->vbios), "96.00");
    g->minor = 1;
    g->persistence = 2;
    g->ecc = 3;
    g->ecc_pending = 4;
    g->mig = 5;
    g->power_limit_mw = 6;
    g->power_default_mw = 7;
    g->sm_clock_mhz = 8;
    g->sm_clock_max_mhz = 9;
    g->app_clock_mhz = 10;
    g->app_clock_default_mhz = 11;
    g->gpu_gen_max = 12;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply sets each number of a GPU");
    a = &n->devices[0].acc;
    is_str(a->uuid, "GPU-1", "a device has its uuid");
    is_str(a->vbios, "96.00", "a device has the version of its BIOS");
    is_str(a->arch, NULL, "a device whose capability was not read has no architecture");
    is_int(a->minor, 1, "a device has its number");
    is_int(a->persistence, 2, "a device has its persistence mode");
    is_int(a->ecc, 3, "a device has its ECC mode");
    is_int(a->ecc_pending, 4, "a device has its ECC mode after the next boot");
    is_int(a->mig, 5, "a device has its MIG mode");
    is_int(a->power_limit_mw, 6, "a device has its power limit");
    is_int(a->power_default_mw, 7, "a device has its default power limit");
    is_int(a->sm_clock_mhz, 8, "a device has its clock");
    is_int(a->sm_clock_max_mhz, 9, "a device has its highest clock");
    is_int(a->app_clock_mhz, 10, "a device has its application clock");
    is_int(a->app_clock_default_mhz, 11, "a device has its default application clock");
    is_int(a->gen_max, 12, "a device has its PCIe generation");
    is_int(a->links_up, ABSENT, "a device whose links were not read has no count of them");
    ok(!a->lost, "a device that was not lost is there");
}

/* The links of a GPU to the CPU on its own module. */
static void check_c2c(void)
{
    CLEANUP(node_freep) struct node *n = make();
    CLEANUP(node_freep) struct node *bare = node_new();
    struct nvml_gpu *g = driver_has(1);
    int d = add(n, DEVICE_ACCELERATOR, 1, NVIDIA);

    ok(node_add_numa(n, 0) && node_add_numa(n, 1), "node_add_numa adds two domains");
    n->devices[d].numa = 1;
    g->c2c_links = 1;
    g->c2c_mbps = 447000;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with a link to the CPU");
    if (ok(n->n_links == 1, "a GPU has one bundle to its CPU")) {
        is_int(n->links[0].kind, LINK_C2C, "the bundle to the CPU is chip to chip");
        is_int(n->links[0].numa, 1, "the bundle to the CPU leads to the GPU's NUMA domain");
        is_int(n->links[0].b, ABSENT, "the bundle to the CPU leads to no device");
        ok(n->links[0].gbs == 447, "the bundle to the CPU moves 447 GB/s");
    }
    is_int(nvml_apply(&reading, bare), 0, "nvml_apply succeeds on a node without NUMA domains");
    is_int(bare->links[0].numa, ABSENT, "a bundle to the CPU ends nowhere without NUMA domains");
}

/* Without a rate, and without any link that is up. */
static void check_c2c_rare(void)
{
    CLEANUP(node_freep) struct node *n = make();
    struct nvml_gpu *g = driver_has(1), *other = driver_has(2);

    ok(node_add_numa(n, 0) != NULL, "node_add_numa adds a domain");
    g->c2c_links = 2;
    g->c2c_mbps = 0;
    other->c2c_links = 0;
    other->c2c_mbps = 447000;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with links to the CPU without a rate");
    is_int(n->n_links, 1, "a GPU without a link to the CPU that is up has no bundle");
    ok(n->n_links == 1 && n->links[0].gbs == ABSENT, "a rate of 0 is absent");
    ok(n->n_links == 1 && n->links[0].count == 2, "a bundle has both of its links");
    ok(n->n_links == 1 && n->links[0].numa == 0, "a GPU of no domain is at the first one");
}

/* What is said of a GPU that is withheld is nobody's. */
static void check_withheld_peers(void)
{
    CLEANUP(node_freep) struct node *n = make();
    struct nvml_gpu *a = driver_has(1), *none = driver_has(0), *b = driver_has(2);

    none->error = NVML_NO_PERMISSION;
    a->peers[0] = none->peers[1] = b->peers[2] = NVML_PEER_SELF;
    a->peers[1] = none->peers[0] = none->peers[2] = b->peers[1] = NVML_P2P_CHIPSET;
    a->peers[2] = NVML_P2P_OK;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with peers that are withheld");
    is_int(n->n_acc, 2, "a GPU that is withheld is no accelerator");
    is_int(n->peers[0 * 2 + 1], PEER_OK, "the first GPU has access to the last one");
    is_int(n->peers[1 * 2 + 0], PEER_UNKNOWN, "the last GPU's access was not asked");
    is_int(n->peers[0], PEER_UNKNOWN, "the first GPU's access to itself is not known");
    is_int(n->peers[3], PEER_UNKNOWN, "the last GPU's access to itself is not known");
}

static void check_rates(void)
{
    static const struct {
        int version, capability;
        double gbs;
    } cases[] = {
        { NVML_NVLINK_1_0, 60, 20 }, { NVML_NVLINK_2_0, 70, 25 },  { NVML_NVLINK_2_2, 70, 25 },
        { NVML_NVLINK_3_0, 80, 25 }, { NVML_NVLINK_3_1, 80, 25 },  { NVML_NVLINK_4_0, 90, 25 },
        { NVML_NVLINK_5_0, 90, 25 }, { NVML_NVLINK_5_0, 100, 50 }, { 8, 110, ABSENT },
        { 0, 60, ABSENT },           { ABSENT, 90, ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep) struct node *n = make();
        struct nvml_gpu *g = driver_has(1);

        connect(g, 0, 0, NVML_REMOTE_SWITCH, 0);
        g->links[0].version = cases[i].version;
        g->capability = cases[i].capability;
        is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with NVLink version %d",
               cases[i].version);
        ok(n->n_links == 1 && n->links[0].gbs == cases[i].gbs,
           "a port of NVLink version %d on sm%d moves %g GB/s", cases[i].version,
           cases[i].capability, cases[i].gbs);
    }
}

/* The matrix is over all accelerators, whosever they are and whatever is between them. */
static void check_peers(void)
{
    CLEANUP(node_freep) struct node *n = make();
    struct nvml_gpu *a, *b;

    add(n, DEVICE_ACCELERATOR, 1, AMD);
    add(n, DEVICE_ACCELERATOR, 2, NVIDIA);
    add(n, DEVICE_NIC, 3, 0x15b3);
    add(n, DEVICE_ACCELERATOR, 4, NVIDIA);
    a = driver_has(4);
    b = driver_has(2);
    a->peers[0] = b->peers[1] = NVML_PEER_SELF;
    a->peers[1] = NVML_P2P_OK;
    b->peers[0] = NVML_P2P_CHIPSET;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with peers among others");
    is_int(n->n_acc, 3, "the node has three accelerators");
    is_int(n->peers[2 * 3 + 1], PEER_OK, "the third accelerator has access to the second");
    is_int(n->peers[1 * 3 + 2], PEER_CHIPSET, "the second accelerator has no access to the third");
    is_int(n->peers[0 * 3 + 1], PEER_UNKNOWN, "nothing is known of another vendor's peers");
    is_int(n->peers[2 * 3 + 2], PEER_UNKNOWN, "nothing is known of a GPU with itself");
    add(n, DEVICE_ACCELERATOR, 5, AMD);
    is_int(n->n_acc, 4, "the node has one accelerator more");
    is_int(n->peers[2 * 4 + 1], PEER_OK, "a matrix that grew has the access of the third");
    is_int(n->peers[1 * 4 + 2], PEER_CHIPSET, "a matrix that grew has the refusal of the second");
    is_int(n->peers[3 * 4 + 1], PEER_UNKNOWN, "the new row of a matrix that grew is unknown");
}

static void check_peer_words(void)
{
    static const struct {
        uint8_t status;
        int want;
    } cases[] = {
        { NVML_P2P_OK, PEER_OK },
        { NVML_P2P_CHIPSET, PEER_CHIPSET },
        { NVML_P2P_GPU, PEER_GPU },
        { NVML_P2P_TOPOLOGY, PEER_TOPOLOGY },
        { NVML_P2P_DISABLED, PEER_DISABLED },
        { NVML_P2P_NO, PEER_NO },
        { NVML_P2P_UNKNOWN, PEER_UNKNOWN },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep) struct node *n = make();

        driver_has(1)->peers[1] = cases[i].status;
        driver_has(2);
        is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with answer %d", cases[i].status);
        is_int(n->peers[1], cases[i].want, "the driver's answer %d about peers is told rightly",
               cases[i].status);
    }
}

static void check_unknown_to_sysfs(void)
{
    CLEANUP(node_freep) struct node *n = make();

    driver_has(0x1b)->minor = 3;
    driver_has(0)->minor = 4;
    driver_has(0)->error = NVML_NO_PERMISSION;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with GPUs that sysfs lacks");
    is_int(n->n_devices, 2, "GPUs that the driver alone knows are devices, but for one withheld");
    is_int(n->devices[0].pci, ABSENT, "a GPU that the driver alone knows has no function");
    is_int(n->devices[0].acc.minor, 3, "a GPU that the driver alone knows has its values");
    is_int(n->devices[1].acc.minor, 4, "a GPU without an address has its values");
}

static void check_lost(void)
{
    CLEANUP(node_freep) struct node *n = make();
    int here = add(n, DEVICE_ACCELERATOR, 1, NVIDIA);
    int lent = add(n, DEVICE_ACCELERATOR, 2, NVIDIA);
    int other = add(n, DEVICE_ACCELERATOR, 3, AMD);
    int gone = add(n, DEVICE_ACCELERATOR, 4, NVIDIA);

    n->pcis[1].driver = "vfio-pci";
    n->pcis[3].driver = "nvidia";
    driver_has(0)->lost = true;
    driver_has(1);
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with a lost GPU");
    is_int(n->n_devices, 4, "a lost GPU adds no device");
    ok(n->devices[gone].acc.lost, "the device left over is the lost one");
    ok(!n->devices[here].acc.lost && !n->devices[other].acc.lost,
       "devices that the driver has are not lost");
    ok(!n->devices[lent].acc.lost, "a device lent to a virtual machine is not lost");
}

static void check_lost_somewhere(void)
{
    CLEANUP(node_freep) struct node *n = make();

    add(n, DEVICE_ACCELERATOR, 1, NVIDIA);
    add(n, DEVICE_ACCELERATOR, 2, NVIDIA);
    driver_has(0)->lost = true;
    is_int(nvml_apply(&reading, n), 0, "nvml_apply succeeds with one lost of two");
    is_int(n->n_devices, 3, "a lost GPU of two is a device of its own");
    ok(n->devices[2].acc.lost && !n->devices[0].acc.lost && !n->devices[1].acc.lost,
       "the device of its own is lost, the others are not");
}

static void check_oom(void)
{
    bool failed;

    do {
        CLEANUP(node_freep) struct node *n = make();
        int rc;

        for (uint8_t i = 1; i < 5; i++) {
            struct nvml_gpu *g = driver_has(i);

            if (i > 1)
                add(n, DEVICE_ACCELERATOR, i, NVIDIA);
            snprintf(g->name, sizeof(g->name), "%080d", i);
            snprintf(g->uuid, sizeof(g->uuid), "%080d", i);
            g->capability = 90;
            g->peers[0] = NVML_P2P_OK;
            for (uint8_t k = 1; k < 5; k++)
                connect(g, k, k, NVML_REMOTE_GPU, k);
        }
        driver_has(0)->lost = true;
        for (size_t i = 0; i < 4 && n->n_acc < 32; i++)
            add(n, DEVICE_ACCELERATOR, (uint8_t)(0x10 + i), AMD);
        oom_next();
        rc = nvml_apply(&reading, n);
        failed = oom_end();
        is_int(rc, failed ? -ENOMEM : 0, "nvml_apply returns -ENOMEM where allocation %d fails",
               oom_at);
    } while (failed);
}

int main(void)
{
    check_fields();
    check_fabric();
    check_switches();
    check_unseen_switches();
    check_guest();
    check_direct();
    check_numbers();
    check_c2c();
    check_c2c_rare();
    check_withheld_peers();
    check_rates();
    check_peers();
    check_peer_words();
    check_unknown_to_sysfs();
    check_lost();
    check_lost_somewhere();
    check_oom();
    return done();
}
