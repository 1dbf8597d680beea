#include "nodes.h"
#include "tap.h"

static void test_width(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu_pci[0]->width = 8;
    is_str(scene_check(&s, "pcie-width"), "warning: GPU0 runs on 8 of 16 PCIe lanes",
           "a link with half of the lanes is found");
    is_str(scene_told(&s, 0),
           "link of 0000:12:00.0 to switch port 0000:11:00.0: Gen5 x8 now, the device can Gen5 "
           "x16, the port Gen5 x16\n"
           "31.5 of 63.0 GB/s in each direction; mending the link restores it\n"
           "reseat the card or cable, then compare: lspci -s 0000:12:00.0 -vv | grep LnkSta",
           "the finding has the numbers of the narrow link");

    s.n->pcis[s.gpu_pci[0]->parent].width_max = 8;
    is_str(scene_check(&s, "pcie-width"), "passed", "all that the port has is all");
    s.gpu_pci[0]->width = ABSENT;
    is_str(scene_check(&s, "pcie-width"), "passed", "one absent width among known ones passes");
    for (size_t i = 0; i < s.n->n_pcis; i++)
        s.n->pcis[i].width = ABSENT;
    is_str(scene_check(&s, "pcie-width"),
           "not checked: the kernel shows no link width of any device (virtual PCIe)",
           "widths that are all absent are not checked");
    s.n->n_devices = s.n->n_acc = 0;
    is_str(scene_check(&s, "pcie-width"), "silent",
           "widths do not matter where links lead to no device");
}

static void test_switch_width(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->pcis[s.n->pcis[s.gpu_pci[0]->parent].parent].width = 8;
    is_str(scene_check(&s, "pcie-width"),
           "warning: the switch at 0000:10:00.0, above GPU0, mlx5_0, runs on 8 of 16 PCIe lanes",
           "the narrow uplink of a switch is found");
    is_str(scene_told(&s, 0),
           "link of 0000:10:00.0 to root port 0000:00:01.0: Gen5 x8 now, the device can Gen5 x16, "
           "the port Gen5 x16\n"
           "31.5 of 63.0 GB/s in each direction, shared by GPU0, mlx5_0; mending the link restores "
           "it\n"
           "reseat the card or cable, then compare: lspci -s 0000:10:00.0 -vv | grep LnkSta",
           "the finding names the devices that share the uplink");
}

static void test_built_in(void)
{
    CLEANUP(scene_done) struct scene s;
    int device;

    scene_init(&s);
    device = nodes_device(s.n, DEVICE_NVME, 0, "00:1f.0");
    scene_look(&s);
    s.n->pcis[s.n->devices[device].pci].gts = 16;
    s.n->pcis[s.n->devices[device].pci].gts_max = 16;
    is_str(scene_check(&s, "pcie-slot"), "passed", "what is built into the CPU has no port");
    s.n->virtual_machine = 1;
    s.n->pcis[s.gpu_pci[0]->parent].width_max = 8;
    is_str(scene_check(&s, "pcie-slot"), "silent", "ports of a guest are an invention");
}

static void test_speed(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.nic_pci[1]->gts = 8;
    is_str(scene_check(&s, "pcie-speed"), "warning: mlx5_1 runs at PCIe Gen3 instead of Gen5",
           "a NIC at a lower generation is found");
    is_str(scene_told(&s, 0),
           "link of 0000:93:00.0 to switch port 0000:91:01.0: Gen3 x16 now, the device can Gen5 "
           "x16, the port Gen5 x16\n"
           "15.8 of 63.0 GB/s in each direction\n"
           "set the slot's speed to auto in the firmware and reseat; then compare: lspci -s "
           "0000:93:00.0 -vv | grep LnkSta",
           "the finding has the numbers of the slow link");
    s.n->pcis[s.nic_pci[1]->parent].gts_max = 8;
    is_str(scene_check(&s, "pcie-speed"), "passed", "the port can no more: see pcie-slot");

    s.gpu_pci[0]->gts = s.gpu_pci[1]->gts = 2.5;
    is_str(scene_check(&s, "pcie-speed"),
           "not checked: the link speed of GPU0, GPU1 is low now, as it is when idle; run the "
           "audit under load",
           "a slow link that may be idle is not checked");
    for (size_t i = 0; i < s.n->n_pcis; i++)
        s.n->pcis[i].gts = ABSENT;
    is_str(scene_check(&s, "pcie-speed"),
           "not checked: the kernel shows no link speed of any device (virtual PCIe)",
           "speeds that are all absent are not checked");
    s.n->n_devices = s.n->n_acc = 0;
    is_str(scene_check(&s, "pcie-speed"), "silent",
           "speeds do not matter where links lead to no device");
}

static void test_slot(void)
{
    CLEANUP(scene_done) struct scene s;
    struct pci *port;

    scene_init(&s);
    port = &s.n->pcis[s.gpu_pci[0]->parent];
    port->width_max = 8;
    is_str(scene_check(&s, "pcie-slot"),
           "warning: GPU0 (0000:12:00.0) sits in a place of Gen5 x8 and could use Gen5 x16",
           "a slot with half of the lanes is found");
    is_str(scene_told(&s, 0),
           "switch port 0000:11:00.0 can Gen5 x8\n31.5 of 63.0 GB/s in each direction\n"
           "move the card to a Gen5 x16 slot",
           "the finding has the numbers of the slot");
    port->width_max = 16;
    port->gts_max = 16;
    is_str(scene_check(&s, "pcie-slot"),
           "warning: GPU0 (0000:12:00.0) sits in a place of Gen4 x16 and could use Gen5 x16",
           "a slot with half of the rate is found");
    s.gpu[0]->kind = DEVICE_NVME;
    is_str(scene_check(&s, "pcie-slot"),
           "note: GPU0 (0000:12:00.0) sits in a place of Gen4 x16 and could use Gen5 x16",
           "of a drive it is a note");
    s.gpu[0]->kind = DEVICE_SWITCH;
    is_str(scene_check(&s, "pcie-slot"), "passed", "an NVSwitch needs no bandwidth");
    s.gpu[0]->kind = DEVICE_ACCELERATOR;
    s.gpu_pci[0]->pch = true;
    is_str(scene_check(&s, "pcie-slot"), "passed", "the chipset has a finding of its own");
    for (size_t i = 0; i < s.n->n_pcis; i++)
        s.n->pcis[i].gts_max = ABSENT;
    is_str(scene_check(&s, "pcie-slot"), "silent",
           "slots whose rates are all absent make no finding");
}

static void test_chipset(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu_pci[0]->pch = s.nic_pci[0]->pch = true;
    is_str(scene_check(&s, "pcie-chipset"),
           "critical: GPU0 (0000:12:00.0) hangs off the chipset (PCH), not off a CPU\n"
           "warning: mlx5_0 (0000:13:00.0) hangs off the chipset (PCH), not off a CPU",
           "a GPU and a NIC behind the chipset are found");
    is_str(scene_told(&s, 1),
           "its root port belongs to the chipset; all its traffic shares the chipset's uplink of "
           "about 4 lanes with disks and USB\n"
           "at most 4 to 8 GB/s to memory and no peer-to-peer; a CPU slot gives the card its full "
           "link\n"
           "move the card to a slot that the board's manual lists as a CPU slot",
           "the finding explains why the chipset matters");
    s.gpu_pci[0]->pch = false;
    s.nic[0]->nic.rdma = NULL;
    s.nic[0]->nic.ports[0].gbps = 1;
    is_str(scene_check(&s, "pcie-chipset"), "passed", "a slow NIC may be there");
    s.n->n_devices = s.n->n_acc = 0;
    is_str(scene_check(&s, "pcie-chipset"), "silent",
           "the chipset does not matter without devices of that kind");
}

int main(void)
{
    test_width();
    test_switch_width();
    test_built_in();
    test_speed();
    test_slot();
    test_chipset();
    return done();
}
