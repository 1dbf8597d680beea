#include "nodes.h"
#include "tap.h"

/* GPU1 alone on its socket, three on the other, where a slot is empty. */
static void lonely(struct scene *s)
{
    struct slot *slot;

    scene_init(s);
    (void)nodes_device(s->n, DEVICE_ACCELERATOR, 1, "40:00.0");
    (void)nodes_device(s->n, DEVICE_ACCELERATOR, 1, "41:00.0");
    scene_look(s);
    slot = ARENA_PUSH(&s->n->arena, &s->n->slots, &s->n->n_slots);
    if (!slot || pci_address_parse("00:03.0", &slot->at) < 0)
        exit(1);
    slot->numa = 0;
    slot->gts_max = 32;
    slot->width_max = 16;
}

static void test_sockets(void)
{
    CLEANUP(scene_done) struct scene s;

    lonely(&s);
    is_str(scene_check(&s, "sockets"),
           "warning: GPU1 (0000:92:00.0) is alone on socket 1 while most accelerators are on "
           "socket 0",
           "one accelerator apart from three is found");
    is_str(scene_told(&s, 0),
           "1 on socket 1, 3 on socket 0; the x16 slot at 0000:00:03.0 on socket 0 is empty\n"
           "its exchanges with the others cross the link between the sockets, without "
           "peer-to-peer\n"
           "move the card to the slot behind port 0000:00:03.0",
           "the finding names the slot to move the card to");
    s.n->slots->width_max = 8;
    is_str(scene_check(&s, "sockets"), "passed", "a slot of half the lanes is no offer");
    s.n->slots->width_max = 16;
    s.n->slots->gts_max = 16;
    is_str(scene_check(&s, "sockets"), "passed", "a slot of a lower generation is no offer");
    s.n->slots->gts_max = 32;
    s.n->slots->numa = 1;
    is_str(scene_check(&s, "sockets"), "passed", "a slot on the card's own socket is no offer");
    s.n->slots->numa = ABSENT;
    is_str(scene_check(&s, "sockets"), "passed", "a slot on an unknown socket is no offer");
    s.n->slots->numa = 0;
    s.gpu[1]->acc.links_up = 18;
    is_str(scene_check(&s, "sockets"), "passed", "a module with links of its own stays");
}

static void test_sockets_where(void)
{
    CLEANUP(scene_done) struct scene s;

    lonely(&s);
    s.n->n_slots = 0;
    is_str(scene_check(&s, "sockets"), "passed",
           "an accelerator apart passes without an empty slot");
    s.n->n_sockets = 1;
    is_str(scene_check(&s, "sockets"), "silent", "sockets do not matter where there is one");
    s.n->n_sockets = 2;
    for (size_t i = 0; i < s.n->n_devices; i++)
        s.n->devices[i].numa = ABSENT;
    is_str(scene_check(&s, "sockets"), "silent", "when nobody knows where they are");
}

/* A domain without CPUs is on no socket: its number is no socket's. */
static void test_sockets_far_domain(void)
{
    CLEANUP(scene_done) struct scene s;

    lonely(&s);
    for (int i = 2; i < 5; i++)
        if (!node_add_numa(s.n, i))
            exit(1);
    s.gpu[1]->numa = 4;
    is_str(scene_check(&s, "sockets"), "passed", "a GPU in a domain without CPUs passes");
}

static void test_near_nic(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->n_devices = 3; /* without mlx5_1 */
    is_str(scene_check(&s, "near-nic"),
           "warning: GPU1 (0000:92:00.0) has no NIC on its side: the nearest is across the sockets",
           "the NIC is on the other socket");
    is_str(scene_told(&s, 0),
           "way to mlx5_0: SYS\n"
           "traffic to other nodes crosses the link between the sockets and is copied through host "
           "memory\n"
           "put a NIC below the same switch or CPU as GPU1; until then bind its rank to mlx5_0's "
           "side and set NCCL_NET_GDR_LEVEL=SYS only after measuring",
           "the finding names the nearest NIC and the way to it");
    s.gpu[1]->numa = 0;
    is_str(scene_check(&s, "near-nic"), "passed", "another host bridge of the same domain is near");
    s.gpu[1]->numa = ABSENT;
    s.n->pcis[5].numa = s.gpu_pci[1]->numa = ABSENT;
    for (size_t i = 0; i < s.n->n_pcis; i++)
        s.n->pcis[i].numa = ABSENT;
    is_str(scene_check(&s, "near-nic"),
           "not checked: the firmware does not say on which NUMA domain devices are",
           "nobody knows where it is");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "near-nic"), "silent", "near NICs do not matter without NICs");
    s.gpu[0]->kind = s.gpu[1]->kind = DEVICE_NVME;
    s.n->n_devices = 4;
    is_str(scene_check(&s, "near-nic"), "silent", "near NICs do not matter without accelerators");
}

/* Sub-NUMA clustering: two domains on one socket are near enough. */
static void test_near_nic_clusters(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->n_devices = 3;
    s.n->numas[1].socket = 0;
    is_str(scene_check(&s, "near-nic"), "passed",
           "another domain of the same socket is no far side");
    s.n->numas[1].socket = ABSENT;
    is_str(scene_check(&s, "near-nic"),
           "warning: GPU1 (0000:92:00.0) has no NIC on its side: the nearest is across the sockets",
           "a domain of no socket is");
}

static void test_shared_nic(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->n_devices = 3;
    s.gpu[1]->numa = 0;
    is_str(scene_check(&s, "shared-nic"),
           "note: mlx5_0 is the nearest NIC of 2 accelerators: GPU0, GPU1",
           "one NIC for two accelerators is found");
    is_str(scene_told(&s, 0),
           "accelerators in this node: 2, fast NICs: 1\n"
           "they share one port of 400 Gb/s when all send at once\n"
           "add NICs, one near each accelerator, if jobs span nodes",
           "the advice is more NICs where there are too few");

    s.n->n_devices = 4;
    s.nic[1]->numa = s.gpu[1]->numa = 1;
    s.gpu[1]->pci = nodes_pci(s.n, PCI_ENDPOINT, s.n->pcis[s.gpu_pci[0]->parent].parent, "14:00.0");
    scene_look(&s);
    is_str(scene_check(&s, "shared-nic"),
           "warning: mlx5_0 is the nearest NIC of 2 accelerators: GPU0, GPU1",
           "two accelerators with one nearest NIC of two are found");
    is_str(scene_told(&s, 0),
           "accelerators in this node: 2, fast NICs: 2\n"
           "they share one port of 400 Gb/s when all send at once\n"
           "spread the NICs so that each accelerator has one below its own switch",
           "the advice is to spread the NICs where there are enough");
    s.nic[1]->pci = nodes_pci(s.n, PCI_ENDPOINT, s.n->pcis[s.gpu_pci[0]->parent].parent, "15:00.0");
    is_str(scene_check(&s, "shared-nic"), "passed", "two equally near ones are dealt out");
}

static void test_shared_nic_where(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.n->n_devices = 3;
    is_str(scene_check(&s, "shared-nic"), "passed", "a NIC across the sockets is not dealt out");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "shared-nic"), "silent", "shared NICs do not matter without NICs");
    s.n->n_devices = 4;
    s.gpu[1]->kind = DEVICE_NVME;
    is_str(scene_check(&s, "shared-nic"), "silent", "one accelerator shares with nobody");
}

static void test_numa_known(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.gpu[0]->numa = s.gpu[1]->numa = ABSENT;
    is_str(scene_check(&s, "numa-known"),
           "warning: the firmware does not say to which NUMA domain GPU0, GPU1 belong",
           "accelerators of unknown NUMA domain are found");
    is_str(scene_told(&s, 0),
           "numa_node is -1 with 2 domains\n"
           "processes and buffers are placed by chance, half of them on the far side\n"
           "update the firmware, or set the NUMA option of the PCIe slots in it",
           "what to do");
    s.n->virtual_machine = 1;
    ok(scene_check(&s, "numa-known") &&
           strstr(scene_told(&s, 0), "ask for a virtual machine type with a NUMA-aware PCI layout"),
       "what to do in a guest");
    s.n->n_numas = 1;
    is_str(scene_check(&s, "numa-known"), "silent",
           "unknown domains do not matter where there is one");
}

int main(void)
{
    test_sockets();
    test_sockets_where();
    test_sockets_far_domain();
    test_near_nic();
    test_near_nic_clusters();
    test_shared_nic();
    test_shared_nic_where();
    test_numa_known();
    return done();
}
