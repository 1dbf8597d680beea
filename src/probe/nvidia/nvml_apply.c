/* From the driver's list of GPUs to the node's devices and links. */
#include "probe/nvidia/nvml.h"

#include <errno.h>
#include <string.h>

#include "probe/nvidia/nvml_abi.h"
#include "probe/source/driver_source.h"

enum { VENDOR_NVIDIA = 0x10de, NOT_A_DEVICE = -2 };

/* The device of each GPU of a reading, NOT_A_DEVICE for those that the driver withholds. */
struct match {
    const struct nvml_reading *r;
    int device[NVML_GPUS];
};

/* ---- which device is it ---- */

static bool is_taken(const struct match *m, int device)
{
    for (unsigned i = 0; i < m->r->n_gpus; i++)
        if (m->device[i] == device)
            return true;
    return false;
}

/* Whether NVIDIA's driver has it: GPUs lent to virtual machines are bound to another. */
static bool is_driven(const struct pci *at)
{
    return at->vendor == VENDOR_NVIDIA && (!at->driver || strcmp(at->driver, "nvidia") == 0);
}

/* An accelerator of the driver that no GPU was matched with, from device 'from' on; ABSENT. */
static int find_left(const struct node *n, const struct match *m, int from)
{
    for (int i = from; i < (int)n->n_devices; i++) {
        const struct device *d = &n->devices[i];

        if (d->kind == DEVICE_ACCELERATOR && d->pci >= 0 && is_driven(&n->pcis[d->pci]) &&
            !is_taken(m, i))
            return i;
    }
    return ABSENT;
}

static bool is_nameless(const struct nvml_gpu *g)
{
    return g->lost && !g->bdf[0];
}

/* A GPU that fell off the bus has no address to tell. When as many are missing as there are devices
 * over, those devices are the missing GPUs; else it is not known which. */
static bool can_guess(const struct node *n, const struct match *m)
{
    unsigned missing = 0, over = 0;

    for (unsigned i = 0; i < m->r->n_gpus; i++)
        missing += is_nameless(&m->r->gpus[i]);
    for (int d = find_left(n, m, 0); d >= 0; d = find_left(n, m, d + 1))
        over++;
    return missing == over;
}

static int match_gpus(struct node *n, struct match *m)
{
    bool guess;

    for (unsigned i = 0; i < m->r->n_gpus; i++)
        m->device[i] = NOT_A_DEVICE;
    for (unsigned i = 0; i < m->r->n_gpus; i++) {
        const struct nvml_gpu *g = &m->r->gpus[i];
        struct pci_address at;
        bool placed = pci_address_parse(g->bdf, &at) == 0;

        if (is_nameless(g) || (!placed && g->error >= 0))
            continue;
        m->device[i] = driver_source_device(n, placed ? &at : NULL);
        if (m->device[i] < 0)
            return m->device[i];
    }
    guess = can_guess(n, m);
    for (unsigned i = 0; i < m->r->n_gpus; i++) {
        if (!is_nameless(&m->r->gpus[i]))
            continue;
        m->device[i] = guess ? find_left(n, m, 0) : driver_source_device(n, NULL);
        if (m->device[i] < 0)
            return m->device[i];
    }
    return 0;
}

/* ---- what is it ---- */

/* Copy a text that was read; false when out of memory. */
static bool set_text(struct node *n, const char **to, const char *text)
{
    if (!text[0])
        return true;
    *to = arena_strdup(&n->arena, text);
    return *to != NULL;
}

static void set_int(int *to, int value)
{
    if (value != ABSENT)
        *to = value;
}

static void set_int64(int64_t *to, int64_t value)
{
    if (value != ABSENT)
        *to = value;
}

static bool has_fabric(const struct nvml_gpu *g)
{
    return g->fabric != ABSENT && g->fabric != NVML_FABRIC_NOT_SUPPORTED;
}

static void set_fabric(struct accelerator *a, const struct nvml_gpu *g)
{
    if (has_fabric(g))
        a->fabric = g->fabric == NVML_FABRIC_COMPLETED && g->fabric_status <= NVML_OK;
}

static void count_ports(struct accelerator *a, const struct nvml_gpu *g)
{
    int up = 0, down = 0;

    for (int i = 0; i < NVML_LINKS; i++) {
        up += g->links[i].up == 1;
        down += g->links[i].up == 0;
    }
    if (up + down == 0)
        return;
    a->links_up = up;
    a->links_down = down;
}

static int fill_device(struct node *n, struct device *d, const struct nvml_gpu *g)
{
    struct accelerator *a = &d->acc;

    if (!set_text(n, &d->product, g->name) || !set_text(n, &a->uuid, g->uuid) ||
        !set_text(n, &a->vbios, g->vbios))
        return -ENOMEM;
    if (g->capability != ABSENT) {
        a->arch = arena_printf(&n->arena, "sm%d", g->capability);
        if (!a->arch)
            return -ENOMEM;
    }
    set_int64(&a->memory_b, g->memory_b);
    set_int(&a->minor, g->minor);
    set_int(&a->persistence, g->persistence);
    set_int(&a->ecc, g->ecc);
    set_int(&a->ecc_pending, g->ecc_pending);
    set_int(&a->mig, g->mig);
    set_int64(&a->power_limit_mw, g->power_limit_mw);
    set_int64(&a->power_default_mw, g->power_default_mw);
    set_int(&a->sm_clock_mhz, g->sm_clock_mhz);
    set_int(&a->sm_clock_max_mhz, g->sm_clock_max_mhz);
    set_int(&a->app_clock_mhz, g->app_clock_mhz);
    set_int(&a->app_clock_default_mhz, g->app_clock_default_mhz);
    set_int(&a->gen_max, g->gpu_gen_max);
    set_fabric(a, g);
    count_ports(a, g);
    a->lost = g->lost;
    return 0;
}

/* ---- links ---- */

/* GB/s of one link in one direction: the rates that NVIDIA publishes with P100 (20), V100, A100 and
 * H100 (25), B200 (50). H100 drivers have been seen to answer 5.0 for its 4.0 links. */
static double link_rate(int version, int capability)
{
    if (version == NVML_NVLINK_1_0)
        return 20;
    if (version >= NVML_NVLINK_2_0 && version <= NVML_NVLINK_4_0)
        return 25;
    if (version == NVML_NVLINK_5_0)
        return capability == 90 ? 25 : 50;
    return ABSENT;
}

/* Where a port leads: a device, ABSENT for a switch that is none here, or NOT_A_DEVICE. Guests are
 * not told where their ports lead; those of a GPU on a fabric can only lead to its switches. */
static int link_target(const struct node *n, const struct nvml_gpu *g, const struct nvml_link *l)
{
    struct pci_address at;
    int d = pci_address_parse(l->bdf, &at) == 0 ? node_find_device_at(n, at) : ABSENT;

    if (d >= 0 && n->devices[d].kind == DEVICE_SWITCH)
        return d;
    if (l->kind == NVML_REMOTE_SWITCH || (l->kind == ABSENT && d < 0 && has_fabric(g)))
        return ABSENT;
    return d >= 0 && n->devices[d].kind == DEVICE_ACCELERATOR ? d : NOT_A_DEVICE;
}

static struct link *find_bundle(struct node *n, int a, int b)
{
    for (size_t i = 0; i < n->n_links; i++) {
        struct link *l = &n->links[i];

        if (l->kind == LINK_NVLINK && l->a == a && l->b == b)
            return l;
    }
    return NULL;
}

/* The nth port of the bundle from device a to b. Both GPUs of a pair report the links between them:
 * they have one bundle, of the GPU that came first, with the ports of the end that saw more. */
static int add_port(struct node *n, int a, int b, int nth, double gbs)
{
    struct link *l = b >= 0 ? find_bundle(n, b, a) : NULL;

    if (l) {
        l->count = MAX(l->count, nth);
        return 0;
    }
    l = find_bundle(n, a, b);
    if (l) {
        l->count = nth;
        return 0;
    }
    l = node_add_link(n, LINK_NVLINK, a, b);
    if (!l)
        return -ENOMEM;
    l->gbs = gbs;
    return 0;
}

static int add_links(struct node *n, const struct match *m)
{
    for (unsigned i = 0; i < m->r->n_gpus; i++) {
        const struct nvml_gpu *g = &m->r->gpus[i];
        int target[NVML_LINKS];

        for (int port = 0; port < NVML_LINKS && m->device[i] >= 0; port++) {
            const struct nvml_link *l = &g->links[port];
            int nth = 1;

            target[port] = l->up == 1 ? link_target(n, g, l) : NOT_A_DEVICE;
            if (target[port] == NOT_A_DEVICE || target[port] == m->device[i])
                continue;
            for (int k = 0; k < port; k++)
                nth += target[k] == target[port];
            if (add_port(n, m->device[i], target[port], nth, link_rate(l->version, g->capability)) <
                0)
                return -ENOMEM;
        }
    }
    return 0;
}

/* Links to the CPU of the same module end at its NUMA domain. */
static int add_c2c(struct node *n, int device, const struct nvml_gpu *g)
{
    struct link *l;

    if (g->c2c_links <= 0)
        return 0;
    l = node_add_link(n, LINK_C2C, device, ABSENT);
    if (!l)
        return -ENOMEM;
    l->count = g->c2c_links;
    l->gbs = g->c2c_mbps > 0 ? g->c2c_mbps / 1000.0 : ABSENT;
    l->numa = n->n_numas ? MAX(n->devices[device].numa, 0) : ABSENT;
    return 0;
}

/* ---- peers ---- */

static enum peer peer_of(uint8_t status)
{
    static const uint8_t peers[] = {
        [NVML_P2P_OK] = PEER_OK,
        [NVML_P2P_CHIPSET] = PEER_CHIPSET,
        [NVML_P2P_GPU] = PEER_GPU,
        [NVML_P2P_TOPOLOGY] = PEER_TOPOLOGY,
        [NVML_P2P_DISABLED] = PEER_DISABLED,
        [NVML_P2P_NO] = PEER_NO,
    };

    return status < ARRAY_SIZE(peers) ? peers[status] : PEER_UNKNOWN;
}

static bool has_peers(const struct nvml_reading *r)
{
    for (unsigned a = 0; a < r->n_gpus; a++)
        for (unsigned b = 0; b < r->n_gpus; b++)
            if (r->gpus[a].peers[b] < NVML_PEER_SELF)
                return true;
    return false;
}

static int set_peers(struct node *n, const struct match *m)
{
    if (!has_peers(m->r))
        return 0;
    if (!n->peers)
        n->peers = arena_alloc(&n->arena, n->n_acc * n->n_acc);
    if (!n->peers)
        return -ENOMEM;
    for (unsigned a = 0; a < m->r->n_gpus; a++) {
        if (m->device[a] < 0)
            continue;
        for (unsigned b = 0; b < m->r->n_gpus; b++) {
            uint8_t status = m->r->gpus[a].peers[b];
            size_t row;

            if (m->device[b] < 0 || status >= NVML_PEER_SELF)
                continue;
            row = driver_source_rank(n, m->device[a]);
            n->peers[row * n->n_acc + driver_source_rank(n, m->device[b])] = (uint8_t)peer_of(
                status);
        }
    }
    return 0;
}

int nvml_apply(const struct nvml_reading *r, struct node *n)
{
    struct match m = { .r = r };
    int rc = match_gpus(n, &m);

    if (rc < 0)
        return rc;
    if (!set_text(n, &n->set.gpu_driver, r->driver))
        return -ENOMEM;
    for (unsigned i = 0; i < r->n_gpus; i++) {
        if (m.device[i] < 0)
            continue;
        rc = fill_device(n, &n->devices[m.device[i]], &r->gpus[i]);
        if (rc == 0)
            rc = add_c2c(n, m.device[i], &r->gpus[i]);
        if (rc < 0)
            return rc;
    }
    rc = add_links(n, &m);
    return rc < 0 ? rc : set_peers(n, &m);
}
