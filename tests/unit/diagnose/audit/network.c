#include "nodes.h"
#include "tap.h"

static void test_port(void)
{
    CLEANUP(scene_done) struct scene s;
    struct nic_port *p;

    scene_init(&s);
    p = s.nic[0]->nic.ports;
    p->up = 0;
    p->state = "1: DOWN";
    is_str(scene_check(&s, "port-down"), "warning: mlx5_0 is down", "a port that is down is found");
    is_str(scene_told(&s, 0),
           "state: 1: DOWN; interface: eth0\n"
           "collectives use the remaining ports, or go the long way round\n"
           "ip link set dev eth0 up; if it stays down: check the cable and the switch port",
           "the advice names the interface of a port that is down");
    p->state = p->netdev = NULL;
    (void)scene_check(&s, "port-down");
    is_str(scene_told(&s, 0),
           "state: unknown; interface: unknown\n"
           "collectives use the remaining ports, or go the long way round\n"
           "ibstat mlx5_0; check the cable and the switch port",
           "a port without an interface has advice about its NIC");
    p->up = ABSENT;
    is_str(scene_check(&s, "port-down"), "passed", "what is absent is not down");
    s.n->n_devices = 2;
    is_str(scene_check(&s, "port-down"), "silent",
           "ports that are down do not matter without NICs");
}

/* NICs of a node that has nothing before them. */
static void test_first_devices(void)
{
    CLEANUP(scene_done) struct scene s;

    scene_init(&s);
    s.nic[0]->nic.ports[0].up = 0;
    s.n->devices += 2;
    s.n->n_devices -= 2;
    is_str(scene_check(&s, "port-down"), "warning: mlx5_0 is down",
           "a port of the first device is found");
    s.n->devices -= 2;
    s.n->n_devices += 2;
}

static void test_port_of_two(void)
{
    CLEANUP(scene_done) struct scene s;
    struct nic_port *p;

    scene_init(&s);
    p = node_add_port(s.n, &s.nic[1]->nic);
    if (!p)
        exit(1);
    p->number = 2;
    p->up = 0;
    is_str(scene_check(&s, "port-down"), "warning: mlx5_1 port 2 is down",
           "the second port of a NIC is found");
    s.nic[1]->nic.rdma = NULL;
    s.nic[1]->nic.ports[0].gbps = 25;
    is_str(scene_check(&s, "port-down"), "passed", "a slow NIC may have a free port");
}

static void test_rate(void)
{
    CLEANUP(scene_done) struct scene s;
    struct nic_port *p;

    scene_init(&s);
    p = s.nic[0]->nic.ports;
    p->gbps = 200;
    is_str(scene_check(&s, "port-rate"),
           "warning: mlx5_0 runs at 200 Gb/s and could run at 400 Gb/s",
           "a port slower than its like is found");
    is_str(scene_told(&s, 0),
           "another HCA in this node reaches it\n"
           "50 % of the port's rate\n"
           "check cable, transceiver and switch port: mlxlink -d mlx5_0 -m",
           "the finding has the numbers of the slower port");
    s.nic[1]->nic.ports[0].up = 0;
    is_str(scene_check(&s, "port-rate"), "note: mlx5_0 runs at 200 Gb/s and could run at 400 Gb/s",
           "a port slower than its product is found");
    is_str(scene_told(&s, 0),
           "the fastest model of HCA\n"
           "50 % of the port's rate\n"
           "check cable, transceiver and switch port: mlxlink -d mlx5_0 -m",
           "the finding allows for another model of the product");
    s.nic[0]->catalogue = s.nic[1]->catalogue = ABSENT;
    is_str(scene_check(&s, "port-rate"), "passed",
           "a port passes where there is nothing to compare with");
    p->gbps = ABSENT;
    is_str(scene_check(&s, "port-rate"), "silent", "a port whose rate is absent makes no finding");
}

static void test_mtu(void)
{
    CLEANUP(scene_done) struct scene s;
    struct nic_port *p;

    scene_init(&s);
    p = s.nic[0]->nic.ports;
    p->mtu = 1500;
    is_str(scene_check(&s, "mtu"), "note: mlx5_0 has an MTU of 1500",
           "a port with an MTU of 1500 is found");
    is_str(scene_told(&s, 0),
           "interface eth0; 9000 is usual on a fabric of this kind\n"
           "RoCE packets of 1,024 instead of 4,096 bytes, and more work per byte for TCP\n"
           "ip link set dev eth0 mtu 9000  (after the switches allow it)",
           "what to do");
    p->layer = PORT_INFINIBAND;
    p->mtu = 2044;
    is_str(scene_check(&s, "mtu"), "passed", "IPoIB has another limit");
    p->layer = PORT_ETHERNET;
    p->up = 0;
    is_str(scene_check(&s, "mtu"), "passed", "a port that is down is not asked");
    s.nic[1]->nic.ports[0].mtu = ABSENT;
    is_str(scene_check(&s, "mtu"), "silent", "a port whose MTU is absent makes no finding");
}

int main(void)
{
    test_port();
    test_first_devices();
    test_port_of_two();
    test_rate();
    test_mtu();
    return done();
}
