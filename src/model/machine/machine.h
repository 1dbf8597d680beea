/* The machine: what is there and how it is wired. Plain data, no I/O; a recording of a machine
 * fills the same structure.
 *
 * One struct node is one host: sockets, NUMA domains, the PCIe tree, devices and the links between
 * them. A struct machine is one or many nodes. References between parts are indices into the node's
 * arrays. Everything a node points to lives in one arena.
 *
 * Absent is not zero: a number that could not be read is ABSENT (-1), a text NULL. Rates are in
 * GB/s (1e9 bytes per second) in one direction. */
#ifndef BRIM_MODEL_MACHINE_MACHINE_H
#define BRIM_MODEL_MACHINE_MACHINE_H
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/machine/pcie.h"

/* ---- the host ---- */

struct socket {
    int id;           /* the kernel's physical package id */
    const char *cpus; /* as the kernel lists them */
    int cores, threads;
};

struct numa {
    int id;           /* the kernel's node number */
    int socket;       /* index, ABSENT when the domain has no CPUs (memory of a GPU, CXL) */
    const char *cpus; /* as the kernel lists them: "0-55,112-167"; "" without CPUs */
    int threads;
    int64_t memory_b;
    const int *distance; /* to each domain, by index, as the firmware says; NULL when absent */
};

/* What the operating system is set to, where it bears on jobs. Each value as read, NULL/ABSENT
 * when it could not be. */
struct settings {
    const char *governor; /* of all CPUs: the one name, or "mixed" */
    const char *clocksource;
    const char *thp;        /* transparent huge pages: always, madvise or never */
    const char *cmdline;    /* of the kernel: its words about IOMMU, PCI, clocks and NUMA */
    int numa_balancing;     /* 0 off */
    int64_t memlock_b;      /* soft limit; INT64_MAX for unlimited */
    int64_t nofile;         /* soft limit */
    int64_t shm_b;          /* size of /dev/shm */
    int64_t swap_b;         /* size of all swap in use */
    int iommu_groups;       /* number of IOMMU groups; 0: no IOMMU in use */
    const char *iommu_type; /* of the groups: identity, DMA, DMA-FQ, "mixed" */
    int peermem;            /* 1: nvidia_peermem (or its like) is loaded */
    int dmabuf;             /* 1: kernel and driver can export GPU memory as dma-buf */
    const char *gpu_driver; /* version of the accelerators' kernel driver */
    int open_driver;        /* 1: NVIDIA's open kernel modules */
};

/* ---- PCIe ---- */

enum pci_kind {
    PCI_HOST_BRIDGE, /* a root complex ("pci0000:00"): the CPU's side */
    PCI_ROOT_PORT,
    PCI_SWITCH_UP,
    PCI_SWITCH_DOWN,
    PCI_BRIDGE, /* a bridge of unknown port type, or to conventional PCI */
    PCI_ENDPOINT,
};

/* One PCI function, or a host bridge. Link values of an endpoint and a switch's upstream port are
 * those of the link above it, of a root or downstream port those of the link below it, as the
 * kernel reports them. */
struct pci {
    struct pci_address at;
    enum pci_kind kind;
    int parent;          /* index of the bridge above; ABSENT for a host bridge */
    int numa;            /* index into numas; ABSENT when the firmware does not say */
    uint32_t class_code; /* 24 bits: class, subclass, interface */
    uint16_t vendor, device;
    uint16_t sub_vendor, sub_device; /* 0 when absent: no vendor has that number */
    const char *driver;              /* bound kernel driver, NULL for none or unknown */
    const char *path;     /* its directory: "sys/devices/pci0000:15/..."; NULL: not from sysfs */
    double gts, gts_max;  /* transfer rate per lane, GT/s; ABSENT */
    int width, width_max; /* lanes; ABSENT */
    int max_payload_b, max_payload_cap_b; /* set and supported */
    int max_read_b;
    int relaxed_ordering; /* 1 on */
    int acs;              /* ACS control (enum acs_bits); ABSENT: has none, or not readable */
    bool config_seen;     /* extended configuration space was readable: acs ABSENT is "none" */
    bool pch;             /* hangs off the chipset instead of the CPU */
};

enum acs_bits { ACS_SOURCE = 1, ACS_REQUEST = 4, ACS_COMPLETION = 8, ACS_FORWARD = 16 };

/* A slot, or a port that could take a card, with nothing in it. */
struct slot {
    struct pci_address at; /* of the port */
    int numa;              /* index into numas */
    double gts_max;
    int width_max;
};

/* ---- devices ---- */

enum device_kind { DEVICE_ACCELERATOR, DEVICE_NIC, DEVICE_NVME, DEVICE_SWITCH /* NVSwitch */ };

struct accelerator {
    const char *uuid, *vbios;
    const char *arch; /* "sm90", "gfx942": what compilers call it */
    int64_t memory_b;
    int minor;                              /* number of its device file */
    int persistence, ecc, ecc_pending, mig; /* 1 on, 0 off */
    int64_t power_limit_mw, power_default_mw;
    int sm_clock_mhz, sm_clock_max_mhz, app_clock_mhz, app_clock_default_mhz;
    int gen_max, width_max;   /* what the board itself can do: PCIe generation and lanes */
    int links_up, links_down; /* NVLink/xGMI ports */
    int fabric;               /* NVSwitch fabric: 1 ready, 0 not; ABSENT when it has none */
    bool lost;                /* the driver knows it but it does not answer */
    int cores;                /* CPU cores used as the accelerator */
};

enum port_layer { PORT_ETHERNET, PORT_INFINIBAND };

struct nic_port {
    int number; /* from 1 */
    enum port_layer layer;
    int up;             /* 1 active */
    const char *state;  /* as the kernel says it: "4: ACTIVE", "down" */
    double gbps;        /* current rate, Gbit/s */
    const char *netdev; /* eth0; NULL */
    int mtu;            /* of the netdev */
    const char *guid;   /* "0x..." or NULL */
};

struct nic {
    const char *rdma; /* mlx5_0; NULL when there is no RDMA device */
    const char *firmware;
    const char *board_id; /* PSID of the board */
    struct nic_port *ports;
    size_t n_ports;
};

struct device {
    enum device_kind kind;
    int index;           /* among its kind, in PCI order: GPU0, NIC0 ... */
    const char *name;    /* "GPU0", "mlx5_0", "nvme0": what users call it */
    const char *product; /* "NVIDIA H100 80GB HBM3"; NULL when unknown */
    int catalogue;       /* row of data/devices.csv, ABSENT when it has none */
    int pci;             /* index into pcis; ABSENT (CPU cores, a device seen only by its driver) */
    int numa;            /* index into numas */
    struct accelerator acc; /* by kind, the others are unused */
    struct nic nic;
    int64_t capacity_b;   /* DEVICE_NVME */
    const char *firmware; /* DEVICE_NVME */
};

/* ---- links beside PCIe ---- */

enum link_kind { LINK_NVLINK, LINK_XGMI, LINK_C2C, LINK_HCCS, LINK_XELINK, LINK_FABRIC };

/* A bundle of like links between two devices. b is ABSENT for links to a CPU (numa is set) and to
 * switches that are no PCI functions here (numa is ABSENT too); a link to a DEVICE_SWITCH reaches
 * all that hangs off the fabric. */
struct link {
    enum link_kind kind;
    int a, b;   /* device indices */
    int numa;   /* C2C to a CPU: index into numas */
    int count;  /* parallel links that are up */
    double gbs; /* each, one direction; ABSENT when unknown */
};

/* Peer access between accelerators, as the driver says. */
enum peer { PEER_UNKNOWN, PEER_OK, PEER_CHIPSET, PEER_GPU, PEER_TOPOLOGY, PEER_DISABLED, PEER_NO };

struct node {
    struct arena arena; /* owns all below */
    const char *name;
    const char *kernel;         /* "6.8.0-45-generic" */
    const char *board;          /* "NVIDIA DGXH100" */
    const char *cpu_model;      /* "AMD EPYC 9654 96-Core Processor" */
    const char *cpu_arch;       /* "x86_64", "aarch64" */
    const char *cpu_vendor;     /* "GenuineIntel" */
    int cpu_family, cpu_number; /* family and model number of the CPU */
    int virtual_machine;        /* 1 guest, 0 bare metal */
    int64_t memory_b;
    struct settings set;
    struct socket *sockets;
    size_t n_sockets;
    struct numa *numas;
    size_t n_numas;
    struct pci *pcis; /* parents before children */
    size_t n_pcis;
    struct slot *slots; /* empty ones */
    size_t n_slots;
    struct device *devices; /* accelerators, then NICs, NVMe, switches */
    size_t n_devices;
    struct link *links;
    size_t n_links;
    size_t n_acc;   /* how many accelerators */
    uint8_t *peers; /* n_acc x n_acc of enum peer, row by row; NULL when not read */
};

struct machine {
    struct node **nodes; /* owned */
    size_t n_nodes;
};

/* An empty node, every value absent; NULL when out of memory. node_free() takes NULL. */
struct node *node_new(void) CHECK_RESULT;
void node_free(struct node *n);
DEFINE_CLEANUP(struct node, node_free)

void machine_done(struct machine *m);

/* Append a node, which the machine then owns. 0 or -ENOMEM (the caller keeps it). */
int machine_add(struct machine *m, struct node *n) CHECK_RESULT;

/* Append a part with every value absent (PCI_ENDPOINT, no parent); NULL when out of memory.
 * Pointers to parts are valid until the next addition of their kind. */
struct pci *node_add_pci(struct node *n, struct pci_address at) CHECK_RESULT;
struct device *node_add_device(struct node *n, enum device_kind kind) CHECK_RESULT;
struct nic_port *node_add_port(struct node *n, struct nic *nic) CHECK_RESULT;
struct link *node_add_link(struct node *n, enum link_kind kind, int a, int b) CHECK_RESULT;
struct numa *node_add_numa(struct node *n, int id) CHECK_RESULT;
struct socket *node_add_socket(struct node *n, int id) CHECK_RESULT;

/* Sort devices (kind, then PCI address), number them and name those that have no name; links and
 * peers, which refer to devices by index, follow. 0 or -ENOMEM. Call once, when all is added. */
int node_settle(struct node *n) CHECK_RESULT;

/* Find parts; an index, or ABSENT. */
int node_find_pci(const struct node *n, struct pci_address at);
int node_find_device_at(const struct node *n, struct pci_address at);
int node_find_numa(const struct node *n, int id);

/* The PCIe function of that index; NULL where it is ABSENT. */
const struct pci *node_pci(const struct node *n, int index);

#endif
