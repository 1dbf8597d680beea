#include "nodes.h"
#include "tap.h"

#include "model/machine/way.h"

static void test_acs(void)
{
    static const struct {
        int acs;
        const char *bits;
    } redirects[] = {
        { ACS_REQUEST, "0x0004: request redirect on, completion redirect off, upstream "
                       "forwarding off" },
        { ACS_COMPLETION, "0x0008: request redirect off, completion redirect on, upstream "
                          "forwarding off" },
        { ACS_FORWARD, "0x0010: request redirect off, completion redirect off, upstream "
                       "forwarding on" },
        { 0x1d, "0x001d: request redirect on, completion redirect on, upstream forwarding on" },
    };
    CLEANUP(scene_done) struct scene s;
    struct pci *port;

    scene_init(&s);
    port = &s.n->pcis[s.gpu_pci[0]->parent];
    for (size_t i = 0; i < ARRAY_SIZE(redirects); i++) {
        char told[512];

        port->acs = redirects[i].acs;
        is_str(scene_check(&s, "acs"),
               "warning: ACS at switch port 0000:11:00.0 sends peer traffic of GPU0 through the "
               "CPU",
               "ACS control %#x at a switch port is found", (unsigned)port->acs);
        snprintf(told, sizeof(told),
                 "ACS control %s\n"
                 "GPU-NIC and GPU-GPU transfers leave the switch and come back: the links above it "
                 "are shared and may halve the rate\n"
                 "setpci -s 0000:11:00.0 ECAP_ACS+6.w=0000  (until reboot; for good: disable ACS "
                 "in the firmware)",
                 redirects[i].bits);
        is_str(scene_told(&s, 0), told, "the finding names each bit of ACS control");
    }
    port->acs = ACS_SOURCE | 2;
    is_str(scene_check(&s, "acs"), "passed", "source validation alone redirects nothing");
}

static void test_acs_unknown(void)
{
    CLEANUP(scene_done) struct scene s;
    struct pci *port;

    scene_init(&s);
    port = &s.n->pcis[s.gpu_pci[0]->parent];
    port->acs = ABSENT;
    is_str(scene_check(&s, "acs"), "passed", "a port without ACS passes");
    port->config_seen = false;
    is_str(scene_check(&s, "acs"),
           "not checked: the ACS bits of the switches are not readable; run as root",
           "a port that was not readable");
    s.n->pcis[s.nic_pci[0]->parent].acs = ACS_REQUEST;
    is_str(scene_check(&s, "acs"),
           "warning: ACS at switch port 0000:11:01.0 sends peer traffic of mlx5_0 through the CPU",
           "what could be read is told all the same");
}

static void test_acs_where(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    for (size_t i = 0; i < s.n->n_pcis; i++)
        if (s.n->pcis[i].kind == PCI_ROOT_PORT)
            s.n->pcis[i].acs = 0x1d;
    is_str(scene_check(&s, "acs"), "passed", "a root port is not between peers below a switch");
    for (int i = 0; i < 2; i++) {
        s.nic[i]->nic.rdma = NULL;
        s.nic[i]->nic.ports[0].gbps = 25;
        s.n->pcis[s.gpu_pci[i]->parent].acs = 0x1d;
    }
    is_str(scene_check(&s, "acs"), "silent", "without peers there is no peer traffic");
    s.nic[0]->kind = DEVICE_ACCELERATOR;
    is_str(scene_check(&s, "acs"),
           "warning: ACS at switch port 0000:11:00.0 sends peer traffic of GPU0 through the CPU",
           "another accelerator is a peer");
}

static void test_iommu(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.iommu_groups = 40;
    s.n->set.iommu_type = "identity";
    is_str(scene_check(&s, "iommu"), "passed", "an IOMMU that passes addresses through passes");
    s.n->set.iommu_type = "DMA-FQ";
    is_str(scene_check(&s, "iommu"),
           "warning: the IOMMU translates the addresses of accelerators and NICs",
           "an IOMMU that translates is found");
    is_str(
        scene_told(&s, 0),
        "group type DMA-FQ; on the kernel command line: ro quiet\n"
        "every transfer pays a look-up, and peer-to-peer between devices goes through the CPU or "
        "fails\n"
        "add iommu=pt to the kernel command line (GRUB_CMDLINE_LINUX in /etc/default/grub), run "
        "update-grub, reboot",
        "the finding names the kernel command line");
    s.n->set.cmdline = NULL;
    ok(scene_check(&s, "iommu") && strstr(scene_told(&s, 0), "command line: nothing about it"),
       "a finding about the IOMMU does without the command line");
    s.n->set.iommu_type = "mixed";
    is_str(scene_check(&s, "iommu"),
           "warning: the IOMMU translates the addresses of accelerators and NICs",
           "an IOMMU that translates for some devices is found");
    s.nic[0]->nic.rdma = s.nic[1]->nic.rdma = NULL;
    s.n->n_acc = 1;
    is_str(scene_check(&s, "iommu"),
           "note: the IOMMU translates the addresses of accelerators and NICs",
           "of one that has no peer it is a note");
    s.n->set.iommu_type = NULL;
    is_str(scene_check(&s, "iommu"),
           "not checked: the kernel does not say of which type the IOMMU groups are",
           "the type is absent");
    s.n->set.iommu_groups = ABSENT;
    s.n->set.iommu_type = "identity";
    is_str(scene_check(&s, "iommu"),
           "not checked: the kernel does not say of which type the IOMMU groups are",
           "the groups are absent");
    s.gpu[0]->kind = s.gpu[1]->kind = DEVICE_NVME;
    is_str(scene_check(&s, "iommu"), "silent", "the IOMMU does not matter without accelerators");
}

static void test_peer_memory(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->set.dmabuf = 0;
    is_str(scene_check(&s, "peer-memory"), "passed", "peer memory by the module passes");
    s.n->set.peermem = ABSENT;
    s.n->set.dmabuf = 1;
    is_str(scene_check(&s, "peer-memory"), "passed", "peer memory by dma-buf passes");
    s.n->set.dmabuf = 0;
    is_str(scene_check(&s, "peer-memory"),
           "not checked: no accelerator driver is loaded that could hand memory to NICs",
           "the module is absent");
    s.n->set.peermem = 0;
    s.n->set.open_driver = 0;
    is_str(scene_check(&s, "peer-memory"),
           "warning: NICs cannot read GPU memory directly (no GPUDirect RDMA)",
           "NICs without the module and without dma-buf are found");
    is_str(scene_told(&s, 0),
           "nvidia_peermem is not loaded, and dma-buf needs the open driver and Linux 5.12 (here: "
           "proprietary driver, Linux 6.8.0)\n"
           "traffic between nodes is copied through host memory first, at about half the rate\n"
           "modprobe nvidia_peermem && echo nvidia_peermem > "
           "/etc/modules-load.d/nvidia_peermem.conf",
           "with what is there");
    s.nic[0]->nic.rdma = s.nic[1]->nic.rdma = NULL;
    is_str(scene_check(&s, "peer-memory"), "silent", "peer memory does not matter without RDMA");
}

static void test_read_request(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.nic_pci[0]->max_read_b = 512;
    is_str(scene_check(&s, "read-request"),
           "warning: mlx5_0 (0000:13:00.0) asks for only 512 bytes in one PCIe read",
           "a NIC with read requests of 512 bytes is found");
    is_str(scene_told(&s, 0),
           "MaxReadReq is 512 bytes; 4096 is the largest\n"
           "sending from GPU or host memory does not reach the port's rate\n"
           "setpci -s 0000:13:00.0 CAP_EXP+8.w=5000:7000  (until reboot)",
           "how to set it");
    s.nic_pci[0]->max_read_b = ABSENT;
    is_str(scene_check(&s, "read-request"),
           "not checked: the PCIe capability of the NICs is not readable; run as root",
           "read requests that are not readable are not checked");
    s.nic_pci[1]->max_read_b = 2048;
    is_str(scene_check(&s, "read-request"),
           "warning: mlx5_1 (0000:93:00.0) asks for only 2048 bytes in one PCIe read",
           "what could be read is told all the same");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "read-request"), "silent", "read requests do not matter without NICs");
}

static void test_payload(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->pcis[s.gpu_pci[1]->parent].max_payload_b = 128;
    is_str(scene_check(&s, "payload"),
           "note: GPU1 (0000:92:00.0) is held to PCIe packets of 128 bytes",
           "a device that a port above holds to small packets is found");
    is_str(scene_told(&s, 0),
           "MaxPayload on its way: 128 bytes set, 512 possible\n"
           "each packet has about 24 bytes around it: 16 % of the link is lost instead of 4 %\n"
           "add pci=pcie_bus_perf to the kernel command line and reboot",
           "with what is lost");
    s.n->pcis[s.gpu_pci[1]->parent].max_payload_cap_b = 128;
    is_str(scene_check(&s, "payload"), "passed", "the port can no more");
    s.gpu_pci[0]->max_payload_b = ABSENT;
    is_str(scene_check(&s, "payload"),
           "not checked: the PCIe capability of some devices is not readable; run as root",
           "a payload that is not readable is not checked");
    s.n->n_devices = s.n->n_acc = 0;
    is_str(scene_check(&s, "payload"), "silent", "the payload does not matter without devices");
}

static void test_ordering(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.nic_pci[1]->relaxed_ordering = 0;
    is_str(scene_check(&s, "ordering"),
           "warning: mlx5_1 (0000:93:00.0) does not use relaxed ordering",
           "a NIC without relaxed ordering is found");
    is_str(scene_told(&s, 0),
           "RlxdOrd is off in its PCIe device control\n"
           "writes wait for each other; on AMD hosts and in guests the receive rate drops by up to "
           "half\n"
           "setpci -s 0000:93:00.0 CAP_EXP+8.w=0010:0010  (and mlxconfig -d 0000:93:00.0 set "
           "PCI_WR_ORDERING=1 for good)",
           "how to set it");
    s.nic_pci[1]->relaxed_ordering = ABSENT;
    is_str(scene_check(&s, "ordering"),
           "not checked: the PCIe capability of some NICs is not readable; run as root",
           "relaxed ordering that is not readable is not checked");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "ordering"), "silent", "relaxed ordering does not matter without NICs");
}

int main(void)
{
    test_acs();
    test_acs_unknown();
    test_acs_where();
    test_iommu();
    test_peer_memory();
    test_read_request();
    test_payload();
    test_ordering();
    return done();
}
