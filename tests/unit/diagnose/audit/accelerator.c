#include "nodes.h"
#include "tap.h"

static void test_lost(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[1]->acc.lost = true;
    is_str(scene_check(&s, "lost"), "critical: GPU1 (0000:92:00.0) does not answer its driver",
           "an accelerator that fell off the bus is found");
    is_str(scene_told(&s, 0),
           "the driver reports it as lost (it has fallen off the bus, XID 79)\n"
           "jobs on it fail; collectives that include it hang\n"
           "drain the node and reboot it; if it comes back lost, reseat or replace the card",
           "what to do");
    s.n->n_devices = 0;
    is_str(scene_check(&s, "lost"), "silent", "a node without accelerators cannot have lost one");
}

static void test_driver(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu_pci[0]->driver = NULL;
    s.gpu_pci[1]->driver = "nouveau";
    is_str(scene_check(&s, "driver"),
           "warning: GPU0 (0000:12:00.0) has no driver for computing\n"
           "warning: GPU1 (0000:92:00.0) has no driver for computing",
           "accelerators without a driver or with one for screens are found");
    is_str(scene_told(&s, 0),
           "kernel driver: none bound\nno job can use it\n"
           "install the vendor's driver; if it is there: dmesg | grep -iE 'nvrm|amdgpu|10de'",
           "the finding names that no driver is bound");
    is_str(scene_told(&s, 1),
           "kernel driver: nouveau\nno job can use it\n"
           "install the vendor's driver; if it is there: dmesg | grep -iE 'nvrm|amdgpu|10de'",
           "the finding names a driver for screens");
    s.gpu_pci[0]->path = s.gpu_pci[1]->path = NULL;
    is_str(scene_check(&s, "driver"), "silent", "what is not from sysfs cannot tell");
}

static void test_links(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    for (int i = 0; i < 2; i++) {
        s.gpu[i]->catalogue = 0; /* MODULE: 18 links */
        s.gpu[i]->product = "MODULE";
        s.gpu[i]->acc.links_up = 18;
    }
    is_str(scene_check(&s, "links"), "passed", "all links are up");
    s.gpu[1]->acc.links_up = 12;
    s.gpu[1]->acc.links_down = 6;
    is_str(scene_check(&s, "links"),
           "critical: GPU1 (0000:92:00.0) has 12 of 18 links to other accelerators",
           "six are down");
    is_str(scene_told(&s, 0),
           "12 up, 6 down\n"
           "collectives in this node run at the slowest member: 67 % of the rate\n"
           "nvidia-smi nvlink -s -i 0; then reset the GPU, reseat the board if it stays",
           "what it costs");
    s.gpu_pci[1]->vendor = 0x1002;
    ok(scene_check(&s, "links") &&
           strstr(scene_told(&s, 0),
                  "rocm-smi --showtopo; then reset accelerator 0, reseat the board if it stays"),
       "AMD has another tool");
    s.gpu[1]->acc.links_down = ABSENT;
    is_str(scene_check(&s, "links"),
           "critical: GPU1 (0000:92:00.0) has 12 of 18 links to other accelerators",
           "six are not there");
    s.gpu[1]->acc.lost = true;
    is_str(scene_check(&s, "links"), "passed", "a lost one has a finding of its own");
    s.gpu[1]->acc.lost = false;
    s.gpu[0]->acc.links_up = s.gpu[1]->acc.links_up = ABSENT;
    is_str(scene_check(&s, "links"),
           "not checked: the driver does not show the links between accelerators",
           "links that the driver does not show are not checked");
    s.gpu[0]->acc.links_up = s.gpu[1]->acc.links_up = 0;
    is_str(scene_check(&s, "links"), "passed", "no bridge is fitted: a choice");
    s.gpu[0]->acc.links_down = 4;
    is_str(scene_check(&s, "links"),
           "critical: GPU0 (0000:12:00.0) has 0 of 18 links to other accelerators",
           "links that are down are a fault");
}

/* Cards, of which the catalogue does not know the links: their like tell. */
static void test_bridged_links(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->acc.links_up = s.gpu[1]->acc.links_up = 4;
    is_str(scene_check(&s, "links"), "passed", "both ends of a bridge");
    s.gpu[1]->acc.links_up = 3;
    is_str(scene_check(&s, "links"),
           "critical: GPU1 (0000:92:00.0) has 3 of 4 links to other accelerators",
           "an accelerator with fewer links than its like is found");
    s.gpu[1]->product = "OTHER";
    is_str(scene_check(&s, "links"), "passed", "another product is not its like");
    s.gpu[0]->acc.links_up = s.gpu[1]->acc.links_up = 0;
    is_str(scene_check(&s, "links"), "silent", "links do not matter where there are none");
    s.gpu[0]->acc.links_up = 4;
    s.gpu[1]->kind = DEVICE_NVME;
    is_str(scene_check(&s, "links"), "silent", "links do not matter to one accelerator alone");
}

static void test_fabric(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->acc.fabric = s.gpu[1]->acc.fabric = 1;
    is_str(scene_check(&s, "fabric"), "passed", "a fabric that is ready passes");
    s.gpu[0]->acc.fabric = s.gpu[1]->acc.fabric = 0;
    is_str(scene_check(&s, "fabric"), "critical: the NVSwitch fabric is not ready for GPU0, GPU1",
           "a fabric that is not ready is critical");
    is_str(scene_told(&s, 0),
           "the driver reports the fabric registration as incomplete\n"
           "CUDA fails to initialise, or traffic falls back to PCIe\n"
           "systemctl restart nvidia-fabricmanager && nvidia-smi -q | grep -A2 Fabric",
           "what to do");
    s.gpu[0]->acc.fabric = ABSENT;
    s.gpu[1]->acc.fabric = 1;
    is_str(scene_check(&s, "fabric"), "passed",
           "an accelerator without a fabric is not waited for");
}

static void test_peer_access(void)
{
    static const struct {
        uint8_t peer;
        const char *why;
    } reasons[] = {
        { PEER_CHIPSET, "the chipset does not support it" },
        { PEER_TOPOLOGY, "the way between them does not support it" },
        { PEER_DISABLED, "it is disabled by a driver setting" },
        { PEER_NO, "it is not supported" },
    };
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        char told[512];

        s.n->peers[1] = s.n->peers[2] = reasons[i].peer;
        is_str(scene_check(&s, "peer-access"),
               "warning: 1 pair of GPUs cannot reach each other's memory, such as GPU0 and GPU1",
               "a pair of GPUs without peer access is found: %s", reasons[i].why);
        snprintf(told, sizeof(told),
                 "the driver says: %s\n"
                 "their exchanges are copied through host memory, at half the rate or less\n"
                 "nvidia-smi topo -p2p r; then check the IOMMU and ACS findings and the firmware's "
                 "peer-to-peer option",
                 reasons[i].why);
        is_str(scene_told(&s, 0), told, "the finding gives the driver's reason: %s",
               reasons[i].why);
    }
    s.n->peers[1] = PEER_GPU;
    is_str(scene_check(&s, "peer-access"), "passed", "a product that has no peer access");
    s.n->peers[1] = 200;
    is_str(scene_check(&s, "peer-access"), "passed",
           "an answer that this version does not know passes");
    s.n->peers = NULL;
    is_str(scene_check(&s, "peer-access"),
           "not checked: the driver does not say which GPUs can reach each other's memory",
           "peer access that the driver does not show is not checked");
    s.gpu_pci[1]->vendor = 0x1002;
    is_str(scene_check(&s, "peer-access"), "silent",
           "peer access does not matter to one NVIDIA GPU");
}

static void test_peer_pairs(void)
{
    CLEANUP(scene_done) struct scene s;
    uint8_t peers[9] = { 0, PEER_TOPOLOGY, PEER_OK, 0, 0, PEER_TOPOLOGY, 0, 0, 0 };

    scene_init(&s);
    s.n->peers = NULL;
    s.nic[0]->kind = DEVICE_ACCELERATOR;
    s.n->n_acc = 3;
    s.n->peers = peers;
    is_str(scene_check(&s, "peer-access"),
           "warning: 2 pairs of GPUs cannot reach each other's memory, such as GPU0 and GPU1",
           "two of three pairs without peer access are found");
}

/* The checks of one value that should be on. */
static void test_flags(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[1]->acc.persistence = 0;
    is_str(scene_check(&s, "persistence"), "note: GPU1 (0000:92:00.0) is not in persistence mode",
           "persistence is off");
    is_str(scene_told(&s, 0),
           "the driver reports persistence mode as disabled\n"
           "the driver unloads it between jobs: each start waits seconds, and settings are lost\n"
           "nvidia-smi -i 0 -pm 1  (for good: systemctl enable --now nvidia-persistenced)",
           "what to do");
    s.gpu[1]->acc.persistence = ABSENT;
    is_str(scene_check(&s, "persistence"), "not checked: the driver does not show it",
           "persistence mode that the driver does not show is not checked");
    s.gpu[1]->acc.lost = true;
    is_str(scene_check(&s, "persistence"), "passed", "a lost one is not asked");
    s.gpu_pci[0]->vendor = s.gpu_pci[1]->vendor = 0x1002;
    is_str(scene_check(&s, "persistence"), "passed", "what another maker's driver says is taken");
    for (int i = 0; i < 2; i++) {
        s.gpu[i]->acc.persistence = s.gpu[i]->acc.ecc = ABSENT;
        s.gpu[i]->acc.app_clock_mhz = ABSENT;
    }
    is_str(scene_check(&s, "persistence"), "silent", "what it does not say is not missed");
    is_str(scene_check(&s, "ecc"), "silent",
           "ECC that another maker's driver does not show is not missed");
    is_str(scene_check(&s, "clocks"), "silent",
           "clocks that another maker's driver does not show are not missed");
}

static void test_ecc(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->acc.ecc = s.gpu[0]->acc.ecc_pending = 0;
    is_str(scene_check(&s, "ecc"), "warning: GPU0 (0000:12:00.0) runs without ECC",
           "a GPU whose ECC is off is found");
    is_str(scene_told(&s, 0),
           "the driver reports the current ECC mode as disabled\n"
           "bit flips in its memory go unseen and change results\n"
           "nvidia-smi -i 0 -e 1 && nvidia-smi --gpu-reset  (no job may run on it)",
           "what to do");
    s.gpu[0]->acc.ecc = 1;
    is_str(scene_check(&s, "ecc"),
           "note: ECC of GPU0 (0000:12:00.0) will be off after the next reset",
           "a GPU whose ECC goes off at the next reset is found");
    is_str(scene_told(&s, 0),
           "ECC is on now and off as pending mode\n"
           "the GPU changes its memory size and rate in the middle of a run of jobs, when somebody "
           "resets it\n"
           "nvidia-smi -i 0 --gpu-reset  (no job may run on it)",
           "what to do then");
    s.gpu[0]->acc.ecc = s.gpu[0]->acc.ecc_pending = ABSENT;
    is_str(scene_check(&s, "ecc"), "not checked: the driver does not show it",
           "ECC that the driver does not show is not checked");
}

static void test_mig(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->acc.mig = 1;
    is_str(scene_check(&s, "mig"), "warning: only some GPUs are cut into MIG instances: GPU0",
           "one of two GPUs with MIG is found");
    is_str(scene_told(&s, 0),
           "MIG is on for GPU0, off for GPU1\n"
           "jobs that take whole nodes fail or see unequal devices; MIG GPUs have no peer access\n"
           "nvidia-smi -mig 0  (or 1) on all of them, after draining the node",
           "what to do");
    s.gpu[1]->acc.mig = 1;
    is_str(scene_check(&s, "mig"), "passed", "two GPUs with MIG pass");
    s.gpu[0]->acc.mig = s.gpu[1]->acc.mig = ABSENT;
    is_str(scene_check(&s, "mig"), "silent", "MIG does not matter to a product without it");
}

static void test_clocks(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->acc.app_clock_mhz = 990;
    is_str(scene_check(&s, "clocks"),
           "warning: GPU0 (0000:12:00.0) is held at 990 MHz by an application clock",
           "a GPU at half of its clock is found");
    is_str(scene_told(&s, 0),
           "default 1980 MHz, maximum 1980 MHz\n"
           "computing is up to 50 % slower, and so is every job that spans it\n"
           "nvidia-smi -i 0 -rac",
           "what it costs");
    s.gpu[0]->acc.app_clock_mhz = 2100;
    is_str(scene_check(&s, "clocks"), "passed", "a clock above the default passes");
    s.gpu[0]->acc.app_clock_mhz = s.gpu[1]->acc.app_clock_default_mhz = ABSENT;
    is_str(scene_check(&s, "clocks"), "silent",
           "clocks do not matter to a product without application clocks");
}

static void test_power(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[1]->acc.power_limit_mw = 250000;
    is_str(scene_check(&s, "power-limit"), "note: GPU1 (0000:92:00.0) is limited to 250 W of 350 W",
           "a GPU with a power limit of 250 W is found");
    is_str(scene_told(&s, 0),
           "power limit 250000 mW, default 350000 mW\n"
           "under full load its clock falls; one limited GPU slows all that it works with\n"
           "nvidia-smi -i 0 -pl 350  (leave it when the limit is intended)",
           "what to do");
    s.gpu[1]->acc.power_limit_mw = 400000;
    is_str(scene_check(&s, "power-limit"), "passed", "a power limit above the default passes");
    s.gpu[0]->acc.power_limit_mw = s.gpu[1]->acc.power_default_mw = ABSENT;
    is_str(scene_check(&s, "power-limit"), "silent", "a driver that does not show it");
}

int main(void)
{
    test_lost();
    test_driver();
    test_links();
    test_bridged_links();
    test_fabric();
    test_peer_access();
    test_peer_pairs();
    test_flags();
    test_ecc();
    test_mig();
    test_clocks();
    test_power();
    return done();
}
