/* NICs and their ports, drives, and accelerators of Intel. */
#include "made_machine.h"
#include "tap.h"

#define ROOT "sys/devices/pci0000:00"
#define NIC ROOT "/0000:01:00.0"
#define DRIVE ROOT "/0000:02:00.0"
#define GPU ROOT "/0000:03:00.0"

extern const struct source_ops source_nic, source_nvme;

static const struct catalogue no_catalogue = { .n_products = 0 };

/* A NIC alone; the test ends when it is none. */
static const struct device *nic_of(struct made *m, struct node **n)
{
    made_function(m, NIC, "0x020000", "0x15b3", "0x1021");
    *n = made_node(m, &no_catalogue);
    if (!made_device(*n, "0000:01:00.0")) {
        puts("Bail out! no NIC");
        exit(1);
    }
    return made_device(*n, "0000:01:00.0");
}

static void test_rdma(void)
{
    struct made m = MADE_INIT;
    const struct device *d;
    struct node *n;

    made_folder(&m, NIC "/infiniband", "mlx5_0\nmlx5_9\n");
    made_in(&m, NIC "/infiniband/mlx5_0", "fw_ver", "28.39.1002\n");
    made_in(&m, NIC "/infiniband/mlx5_0", "board_id", "MT_0000000838\n");
    made_in(&m, NIC "/infiniband/mlx5_0", "node_guid", "0c42:a103:0003:7b8a\n");
    made_folder(&m, NIC "/infiniband/mlx5_0/ports", "1\n2\n");
    made_in(&m, NIC "/infiniband/mlx5_0/ports/1", "state", "4: ACTIVE\n");
    made_in(&m, NIC "/infiniband/mlx5_0/ports/1", "rate", "400 Gb/sec (4X NDR)\n");
    made_in(&m, NIC "/infiniband/mlx5_0/ports/1", "link_layer", "InfiniBand\n");
    made_in(&m, NIC "/infiniband/mlx5_0/ports/2", "state", "1: DOWN\n");
    made_in(&m, NIC "/infiniband/mlx5_0/ports/2", "link_layer", "Ethernet\n");
    d = nic_of(&m, &n);
    is_str(d->name, "mlx5_0", "a NIC is called by its RDMA device");
    is_str(d->nic.firmware, "28.39.1002", "a NIC has its firmware");
    is_str(d->nic.board_id, "MT_0000000838", "a NIC has its board");
    if (is_int((int)d->nic.n_ports, 2, "a NIC has two ports")) {
        const struct nic_port *one = &d->nic.ports[0], *two = &d->nic.ports[1];

        ok(one->number == 1 && two->number == 2, "ports are numbered from 1");
        ok(one->layer == PORT_INFINIBAND && two->layer == PORT_ETHERNET,
           "a port has the layer of its link");
        ok(one->up == 1 && two->up == 0, "a port is up or down");
        ok(one->gbps == 400 && two->gbps == ABSENT, "a port has its rate where there is one");
        is_str(one->guid, "0x0c42a10300037b8a", "a port has the number of its device");
        is_str(two->guid, "0x0c42a10300037b8a", "each port has the number of its device");
    }
    node_free(n);
    made_done(&m);
}

/* Interfaces beside one port, two ports, and none. */
static void test_netdevs(void)
{
    struct made one = MADE_INIT, two = MADE_INIT, none = MADE_INIT;
    const struct device *d;
    struct node *n;

    made_folder(&one, NIC "/infiniband", "mlx5_0\n");
    made_folder(&one, NIC "/infiniband/mlx5_0/ports", "1\n");
    made_folder(&one, NIC "/net", "eth0\neth1\n");
    made_in(&one, NIC "/net/eth0", "mtu", "9000\n");
    made_in(&one, NIC "/net/eth0", "operstate", "up\n");
    made_in(&one, NIC "/net/eth0", "speed", "100000\n");
    d = nic_of(&one, &n);
    if (is_int((int)d->nic.n_ports, 2, "a second interface makes a second port")) {
        const struct nic_port *port = d->nic.ports;

        is_str(port->netdev, "eth0", "the first interface joins the port that there is");
        ok(port->mtu == 9000 && port->gbps == 100 && port->up == 1, "a port has what it says");
        is_str(port->state, "up", "a port without a state has that of its interface");
        is_str(port[1].netdev, "eth1", "the second interface is a port of its own");
        ok(port[1].number == 2 && port[1].mtu == ABSENT && port[1].gbps == ABSENT &&
               port[1].up == ABSENT,
           "an interface without files has nothing of them");
    }
    is_str(d->name, "mlx5_0", "the name of the RDMA device stays");
    node_free(n);
    made_done(&one);

    made_folder(&two, NIC "/infiniband", "mlx5_0\n");
    made_folder(&two, NIC "/infiniband/mlx5_0/ports", "1\n2\n");
    made_in(&two, NIC "/infiniband/mlx5_0/ports/1", "state", "4: ACTIVE\n");
    made_folder(&two, NIC "/net", "eth0\n");
    d = nic_of(&two, &n);
    ok(d->nic.n_ports == 3 && !d->nic.ports[0].netdev && d->nic.ports[2].netdev,
       "an interface joins none of two ports");
    node_free(n);
    made_done(&two);

    made_folder(&none, NIC "/net", "eth0\n");
    d = nic_of(&none, &n);
    is_str(d->name, "eth0", "a NIC without RDMA is called by its interface");
    ok(d->nic.n_ports == 1 && d->nic.ports[0].number == 1 && !d->nic.ports[0].guid,
       "an interface is the first port");
    node_free(n);
    made_done(&none);
}

/* What an interface says of its link, where a port of the RDMA device has spoken first, or not. */
static void test_states(void)
{
    static const struct {
        const char *state, *rate, *operstate, *speed, *want;
        int up;
        double gbps;
    } cases[] = {
        { "4: ACTIVE", "200 Gb/sec", "down", "100000", "4: ACTIVE", 1, 200 },
        { "1: DOWN", NULL, "up", "25000", "1: DOWN", 0, 25 },
        { NULL, NULL, "up", "-1", "up", 1, ABSENT },
        { NULL, NULL, "down", "0", "down", 0, ABSENT },
        { NULL, NULL, "dormant", "1", "dormant", 0, 0.001 },
        { NULL, NULL, "unknown", "1000", "unknown", ABSENT, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        const struct device *d;
        struct node *n;

        made_folder(&m, NIC "/infiniband", "mlx5_0\n");
        made_folder(&m, NIC "/infiniband/mlx5_0/ports", "1\n");
        if (cases[i].state)
            made_in(&m, NIC "/infiniband/mlx5_0/ports/1", "state", cases[i].state);
        if (cases[i].rate)
            made_in(&m, NIC "/infiniband/mlx5_0/ports/1", "rate", cases[i].rate);
        made_folder(&m, NIC "/net", "eth0\n");
        made_in(&m, NIC "/net/eth0", "operstate", cases[i].operstate);
        made_in(&m, NIC "/net/eth0", "speed", cases[i].speed);
        d = nic_of(&m, &n);
        is_int((int)d->nic.n_ports, 1, "port and interface %zu are one", i);
        is_str(d->nic.ports[0].state, cases[i].want, "the state of port %zu is %s", i,
               cases[i].want);
        is_int(d->nic.ports[0].up, cases[i].up, "port %zu, %s and %s, is up or not", i,
               cases[i].state, cases[i].operstate);
        ok(d->nic.ports[0].gbps == cases[i].gbps, "port %zu has its rate: %g", i,
           d->nic.ports[0].gbps);
        node_free(n);
        made_done(&m);
    }
}

static void test_virtio(void)
{
    struct made m = MADE_INIT, other = MADE_INIT;
    const struct device *d;
    struct node *n;

    made_link(&m, NIC "/driver", "../../../bus/pci/drivers/virtio-pci");
    made_folder(&m, NIC, "net\nvirtio2\nvirtual\n");
    made_folder(&m, NIC "/virtio2/net", "eth0\n");
    made_folder(&m, NIC "/virtual/net", "eth9\n");
    d = nic_of(&m, &n);
    is_str(d->name, "eth0", "the interface of a paravirtual NIC is one level lower");
    is_int((int)d->nic.n_ports, 1, "a paravirtual NIC has one port");
    node_free(n);
    made_done(&m);

    made_link(&other, NIC "/driver", "../../../bus/pci/drivers/mlx5_core");
    made_folder(&other, NIC, "net\nvirtio2\n");
    made_folder(&other, NIC "/virtio2/net", "eth0\n");
    d = nic_of(&other, &n);
    is_int((int)d->nic.n_ports, 0, "a NIC of another driver has nothing one level lower");
    node_free(n);
    made_done(&other);
}

static void test_drives(void)
{
    static const struct {
        const char *names, *size;
        int64_t capacity;
    } cases[] = {
        { "model\nnvme0n1\nnvme0n2\n", "3750748848\n", 3750748848 * 512 },
        { "nvme0n2\n", NULL, 7 * 512 },
        { "nvme0n1\nnvme0n2\n", "0\n", 7 * 512 },
        { "nvme0n1\n", "1\n", 512 },
        { "nvme0n1\n", "18014398509481982\n", 18014398509481982 * 512 },
        { "nvme0n1\n", "18014398509481983\n", ABSENT },
        { "hwmon1\n", "5\n", ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        const struct device *d;
        struct node *n;

        made_function(&m, DRIVE, "0x010802", "0x144d", "0xa80a");
        made_folder(&m, DRIVE "/nvme", "nvme0\n");
        made_folder(&m, DRIVE "/nvme/nvme0", cases[i].names);
        made_in(&m, DRIVE "/nvme/nvme0", "model", "SAMSUNG MZQL23T8HCLS  \n");
        made_in(&m, DRIVE "/nvme/nvme0", "firmware_rev", "GDC5602Q\n");
        made_in(&m, DRIVE "/nvme/nvme0/hwmon1", "size", "5\n");
        made_in(&m, DRIVE "/nvme/nvme0/nvme0n2", "size", "7\n");
        if (cases[i].size)
            made_in(&m, DRIVE "/nvme/nvme0/nvme0n1", "size", cases[i].size);
        n = made_node(&m, &no_catalogue);
        d = made_device(n, "0000:02:00.0");
        if (ok(d != NULL, "drive %zu is a device", i)) {
            is_str(d->name, "nvme0", "drive %zu has its name", i);
            is_str(d->product, "SAMSUNG MZQL23T8HCLS", "drive %zu has its model", i);
            is_str(d->firmware, "GDC5602Q", "drive %zu has its firmware", i);
            is_int(d->capacity_b, cases[i].capacity, "drive %zu has the size of its first space",
                   i);
        }
        node_free(n);
        made_done(&m);
    }
}

/* The memory of an accelerator of Intel is what its second BAR maps, of Gaudi its fourth. */
static void test_bars(void)
{
#define LINE(start, end) "0x" start " 0x" end " 0x000000000014220c\n"
#define SMALL LINE("0000000000001000", "0000000000001fff")
    static const struct {
        const char *vendor, *text;
        int64_t memory;
    } cases[] = {
        { "0x8086", SMALL SMALL LINE("0000010000000000", "0000010fffffffff"), 64LL << 30 },
        { "0x1da3", SMALL SMALL SMALL SMALL LINE("0000010000000000", "0000011fffffffff"),
          128LL << 30 },
        { "0x8086", SMALL SMALL LINE("0000000000000000", "0000000000000000"), ABSENT },
        { "0x8086", SMALL SMALL LINE("0000000000000005", "0000000000000005"), ABSENT },
        { "0x8086", SMALL SMALL LINE("0000000000000005", "0000000000000006"), 2 },
        { "0x8086", SMALL SMALL LINE("0000000000000001", "7fffffffffffffff"), INT64_MAX },
        { "0x8086", SMALL SMALL LINE("0000000000000001", "8000000000000000"), ABSENT },
        { "0x8086", SMALL SMALL "1000 0x2000\n", ABSENT },
        { "0x8086", SMALL SMALL "0x 0x2000\n", ABSENT },
        { "0x8086", SMALL SMALL "0x1000 2000\n", ABSENT },
        { "0x8086", SMALL SMALL "0x1000 0x\n", ABSENT },
        { "0x8086", SMALL SMALL, ABSENT },
        { "0x8086", "0x1", ABSENT },
        { "0x10de", SMALL SMALL LINE("0000010000000000", "0000010fffffffff"), ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct made m = MADE_INIT;
        const struct device *d;
        struct node *n;

        made_function(&m, GPU, "0x120000", cases[i].vendor, "0x1");
        made_in(&m, GPU, "resource", cases[i].text);
        made_in(&m, GPU, "vbios_version", "7\n");
        made_in(&m, GPU, "unique_id", "ab\n");
        n = made_node(&m, &no_catalogue);
        d = made_device(n, "0000:03:00.0");
        if (ok(d != NULL, "accelerator %zu is a device", i)) {
            is_int(d->acc.memory_b, cases[i].memory, "accelerator %zu has the memory of its BAR",
                   i);
            is_str(d->acc.uuid, strcmp(cases[i].vendor, "0x10de") ? "ab" : NULL,
                   "accelerator %zu has its id, where its maker is known", i);
            is_str(d->acc.vbios, strcmp(cases[i].vendor, "0x10de") ? "7" : NULL,
                   "accelerator %zu has its firmware, where its maker is known", i);
        }
        node_free(n);
        made_done(&m);
    }
}

/* What other devices have is not looked for, nor what devices without a function have. */
static void test_others(void)
{
    static const enum device_kind kinds[] = { DEVICE_NIC, DEVICE_NVME, DEVICE_ACCELERATOR };
    struct made m = MADE_INIT;
    const struct device *d;
    struct node *n;
    struct err e = { "" };

    made_function(&m, GPU, "0x030200", "0x1002", "0x74a1");
    made_folder(&m, GPU "/net", "eth0\n");
    made_in(&m, GPU "/net/eth0", "speed", "1000\n");
    made_folder(&m, GPU "/nvme", "nvme0\n");
    made_in(&m, GPU "/nvme/nvme0", "model", "drive\n");
    n = made_node(&m, &no_catalogue);
    d = made_device(n, "0000:03:00.0");
    ok(d && d->kind == DEVICE_ACCELERATOR && d->nic.n_ports == 0,
       "an accelerator has no ports of a NIC");
    ok(d && !d->product, "an accelerator is not called as a drive is");
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        ok(node_add_device(n, kinds[i]) != NULL, "device %zu without a function is added", i);
    is_int(source_nic.read(&m.probe, n, &e), 0, "source_nic passes over a NIC without a function");
    is_int(source_nvme.read(&m.probe, n, &e), 0,
           "source_nvme passes over a drive without a function");
    node_free(n);
    made_done(&m);
}

int main(void)
{
    test_rdma();
    test_netdevs();
    test_states();
    test_virtio();
    test_drives();
    test_bars();
    test_others();
    return done();
}
