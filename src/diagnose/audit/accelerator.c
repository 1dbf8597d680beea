/* Checks of accelerators: driver, links, peer access, and how each is set. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"

#include "diagnose/audit/check.h"

enum { VENDOR_NVIDIA = 0x10de };

static bool is_nvidia(const struct node *n, size_t i)
{
    return check_is(n, i, DEVICE_ACCELERATOR) && n->pcis[n->devices[i].pci].vendor == VENDOR_NVIDIA;
}

/* The accelerators of the node; NVIDIA's only when nvidia is set. */
static size_t count(const struct node *n, bool nvidia)
{
    size_t sum = 0;

    for (size_t i = 0; i < n->n_devices; i++)
        sum += nvidia ? is_nvidia(n, i) : check_is(n, i, DEVICE_ACCELERATOR);
    return sum;
}

static bool lost_check(struct audit *a)
{
    char label[LABEL_TEXT];

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        struct finding *f;

        if (d->kind != DEVICE_ACCELERATOR || !d->acc.lost)
            continue;
        f = check_add(a, SEVERITY_CRITICAL, "%s does not answer its driver",
                      check_label(a->n, (int)i, label));
        check_text(a, &f->evidence,
                   "the driver reports it as lost (it has fallen off the bus, XID 79)");
        check_text(a, &f->effect, "jobs on it fail; collectives that include it hang");
        check_text(
            a, &f->action,
            "drain the node and reboot it; if it comes back lost, reseat or replace the card");
    }
    return count(a->n, false) > 0;
}

static bool driver_check(struct audit *a)
{
    char label[LABEL_TEXT];
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        const struct pci *f = node_pci(a->n, d->pci);
        struct finding *one;

        /* what was read from NCCL's XML has no directory: it cannot tell */
        if (!f || d->kind != DEVICE_ACCELERATOR || !f->path)
            continue;
        any = true;
        if (f->driver && strcmp(f->driver, "nouveau") != 0)
            continue;
        one = check_add(a, SEVERITY_WARNING, "%s has no driver for computing",
                        check_label(a->n, (int)i, label));
        check_text(a, &one->evidence, "kernel driver: %s", f->driver ? f->driver : "none bound");
        check_text(a, &one->effect, "no job can use it");
        check_text(
            a, &one->action,
            "install the vendor's driver; if it is there: dmesg | grep -iE 'nvrm|amdgpu|%04x'",
            f->vendor);
    }
    return any;
}

/* How many links an accelerator should have: what its product has, else the most among its like. */
static int links_wanted(const struct audit *a, const struct device *d)
{
    int wanted = d->catalogue >= 0 ? a->c->products[d->catalogue].links : ABSENT;

    if (wanted > 0)
        return wanted;
    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *o = &a->n->devices[i];

        if (o->kind == DEVICE_ACCELERATOR && o->product && d->product &&
            !strcmp(o->product, d->product))
            wanted = MAX(wanted, o->acc.links_up);
    }
    return wanted;
}

/* The most links that any accelerator of the node has: 0 on a machine without bridges or
 * switches. */
static int links_most(const struct node *n)
{
    int most = 0;

    for (size_t i = 0; i < n->n_devices; i++)
        if (n->devices[i].kind == DEVICE_ACCELERATOR)
            most = MAX(most, n->devices[i].acc.links_up);
    return most;
}

static void link_finding(struct audit *a, size_t i, int wanted)
{
    const struct accelerator *acc = &a->n->devices[i].acc;
    char label[LABEL_TEXT];
    struct finding *f;

    f = check_add(a, SEVERITY_CRITICAL, "%s has %d of %d links to other accelerators",
                  check_label(a->n, (int)i, label), MAX(acc->links_up, 0), wanted);
    check_text(a, &f->evidence, "%d up, %d down", MAX(acc->links_up, 0), MAX(acc->links_down, 0));
    check_text(a, &f->effect,
               "collectives in this node run at the slowest member: %.0f %% of the rate",
               100.0 * MAX(acc->links_up, 0) / wanted);
    check_text(a, &f->action,
               is_nvidia(a->n, i)
                   ? "nvidia-smi nvlink -s -i %d; then reset the GPU, reseat the board if it stays"
                   : "rocm-smi --showtopo; then reset accelerator %d, reseat the board if it stays",
               a->n->devices[i].index);
}

/* A bridge joins fewer links than the product has, so only those that are down, or fewer than its
 * peers have, count against a card in a slot; a module on a baseboard has to have all. */
static bool links_check(struct audit *a)
{
    bool any = false, seen = false;

    if (count(a->n, false) < 2)
        return false;
    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        int wanted;

        if (!check_is(a->n, i, DEVICE_ACCELERATOR) || d->acc.lost)
            continue;
        wanted = links_wanted(a, d);
        if (wanted <= 0 && d->acc.links_down <= 0)
            continue;
        any = true;
        if (d->acc.links_up < 0)
            continue;
        seen = true;
        if (links_most(a->n) == 0 && d->acc.links_down <= 0)
            continue; /* no bridge is fitted: the card's choice, not a fault */
        if (d->acc.links_down > 0 || d->acc.links_up < wanted)
            link_finding(a, i, MAX(wanted, d->acc.links_up + MAX(d->acc.links_down, 0)));
    }
    if (any && !seen)
        check_unknown(a, "the driver does not show the links between accelerators");
    return any;
}

static bool fabric_check(struct audit *a)
{
    char names[NAMES_TEXT] = "";
    bool any = false;
    struct finding *f;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];

        if (d->kind != DEVICE_ACCELERATOR || d->acc.fabric < 0)
            continue;
        any = true;
        if (!d->acc.fabric)
            check_append(names, d->name);
    }
    if (!*names)
        return any;
    f = check_add(a, SEVERITY_CRITICAL, "the NVSwitch fabric is not ready for %s", names);
    check_text(a, &f->evidence, "the driver reports the fabric registration as incomplete");
    check_text(a, &f->effect, "CUDA fails to initialise, or traffic falls back to PCIe");
    check_text(a, &f->action,
               "systemctl restart nvidia-fabricmanager && nvidia-smi -q | grep -A2 Fabric");
    return true;
}

static bool peer_check(struct audit *a)
{
    static const char *const reasons[] = {
        [PEER_CHIPSET] = "the chipset does not support it",
        [PEER_TOPOLOGY] = "the way between them does not support it",
        [PEER_DISABLED] = "it is disabled by a driver setting",
        [PEER_NO] = "it is not supported",
    };
    const struct node *n = a->n;
    size_t pairs[ARRAY_SIZE(reasons)] = { 0 };
    char first[ARRAY_SIZE(reasons)][LABEL_TEXT];

    if (n->n_acc < 2 || count(n, true) < 2)
        return false;
    if (!n->peers) {
        check_unknown(a, "the driver does not say which GPUs can reach each other's memory");
        return true;
    }
    for (size_t x = 0; x < n->n_acc; x++)
        for (size_t y = x + 1; y < n->n_acc; y++) {
            uint8_t peer = n->peers[x * n->n_acc + y];

            if (peer >= ARRAY_SIZE(reasons) || !reasons[peer])
                continue;
            if (!pairs[peer]++)
                snprintf(first[peer], LABEL_TEXT, "%.24s and %.24s", n->devices[x].name,
                         n->devices[y].name);
        }
    for (size_t i = 0; i < ARRAY_SIZE(reasons); i++) {
        struct finding *f;

        if (!pairs[i] || !reasons[i])
            continue;
        f = check_add(a, SEVERITY_WARNING,
                      "%zu pair%s of GPUs cannot reach each other's memory, such as %s", pairs[i],
                      str_plural(pairs[i]), first[i]);
        check_text(a, &f->evidence, "the driver says: %s", reasons[i]);
        check_text(a, &f->effect,
                   "their exchanges are copied through host memory, at half the rate or less");
        check_text(a, &f->action,
                   "nvidia-smi topo -p2p r; then check the IOMMU and ACS findings and the "
                   "firmware's peer-to-peer option");
    }
    return true;
}

/* A 0/1 value that all accelerators should have at 1. */
struct flag {
    size_t offset;
    enum severity severity;
    const char *sentence; /* behind the device's name */
    const char *evidence;
    const char *effect;
    const char *action; /* with %d for the index */
};

static int flag_of(const struct device *d, size_t offset)
{
    return *(const int *)(const void *)((const char *)&d->acc + offset);
}

static bool flag_check(struct audit *a, const struct flag *flag)
{
    bool any = false, unknown = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];
        char label[LABEL_TEXT];
        struct finding *f;

        if (d->kind != DEVICE_ACCELERATOR || d->acc.lost ||
            (flag_of(d, flag->offset) < 0 && !is_nvidia(a->n, i)))
            continue; /* another maker's: it has no such mode */
        any = true;
        unknown |= flag_of(d, flag->offset) < 0;
        if (flag_of(d, flag->offset) != 0)
            continue;
        f = check_add(a, flag->severity, "%s %s", check_label(a->n, (int)i, label), flag->sentence);
        check_text(a, &f->evidence, "%s", flag->evidence);
        check_text(a, &f->effect, "%s", flag->effect);
        check_text(a, &f->action, "nvidia-smi -i %d %s", d->index, flag->action);
    }
    if (unknown && !a->found)
        check_unknown(a, "the driver does not show it");
    return any;
}

static bool persistence_check(struct audit *a)
{
    static const struct flag flag = {
        offsetof(struct accelerator, persistence),
        SEVERITY_NOTE,
        "is not in persistence mode",
        "the driver reports persistence mode as disabled",
        "the driver unloads it between jobs: each start waits seconds, and settings are lost",
        "-pm 1  (for good: systemctl enable --now nvidia-persistenced)",
    };

    return flag_check(a, &flag);
}

static bool ecc_check(struct audit *a)
{
    static const struct flag flag = {
        offsetof(struct accelerator, ecc),
        SEVERITY_WARNING,
        "runs without ECC",
        "the driver reports the current ECC mode as disabled",
        "bit flips in its memory go unseen and change results",
        "-e 1 && nvidia-smi --gpu-reset  (no job may run on it)",
    };

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct accelerator *acc = &a->n->devices[i].acc;
        char label[LABEL_TEXT];
        struct finding *f;

        if (a->n->devices[i].kind != DEVICE_ACCELERATOR || acc->ecc < 0 || acc->ecc_pending < 0 ||
            acc->ecc == acc->ecc_pending)
            continue;
        f = check_add(a, SEVERITY_NOTE, "ECC of %s will be %s after the next reset",
                      check_label(a->n, (int)i, label), acc->ecc_pending ? "on" : "off");
        check_text(a, &f->evidence, "ECC is %s now and %s as pending mode", acc->ecc ? "on" : "off",
                   acc->ecc_pending ? "on" : "off");
        check_text(a, &f->effect,
                   "the GPU changes its memory size and rate in the middle of a run "
                   "of jobs, when somebody resets it");
        check_text(a, &f->action, "nvidia-smi -i %d --gpu-reset  (no job may run on it)",
                   a->n->devices[i].index);
    }
    return flag_check(a, &flag);
}

static bool mig_check(struct audit *a)
{
    char with[NAMES_TEXT] = "", without[NAMES_TEXT] = "";
    bool any = false;
    struct finding *f;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct device *d = &a->n->devices[i];

        if (!check_is(a->n, i, DEVICE_ACCELERATOR) || d->acc.mig < 0)
            continue;
        any = true;
        check_append(d->acc.mig ? with : without, d->name);
    }
    if (!*with || !*without)
        return any;
    f = check_add(a, SEVERITY_WARNING, "only some GPUs are cut into MIG instances: %s", with);
    check_text(a, &f->evidence, "MIG is on for %s, off for %s", with, without);
    check_text(
        a, &f->effect,
        "jobs that take whole nodes fail or see unequal devices; MIG GPUs have no peer access");
    check_text(a, &f->action, "nvidia-smi -mig 0  (or 1) on all of them, after draining the node");
    return any;
}

static bool clocks_check(struct audit *a)
{
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct accelerator *acc = &a->n->devices[i].acc;
        char label[LABEL_TEXT];
        struct finding *f;

        if (a->n->devices[i].kind != DEVICE_ACCELERATOR || acc->app_clock_mhz < 0 ||
            acc->app_clock_default_mhz < 0)
            continue;
        any = true;
        if (acc->app_clock_mhz >= acc->app_clock_default_mhz)
            continue;
        f = check_add(a, SEVERITY_WARNING, "%s is held at %d MHz by an application clock",
                      check_label(a->n, (int)i, label), acc->app_clock_mhz);
        check_text(a, &f->evidence, "default %d MHz, maximum %d MHz", acc->app_clock_default_mhz,
                   acc->sm_clock_max_mhz);
        check_text(a, &f->effect,
                   "computing is up to %.0f %% slower, and so is every job that spans it",
                   100.0 * (1 - (double)acc->app_clock_mhz / acc->app_clock_default_mhz));
        check_text(a, &f->action, "nvidia-smi -i %d -rac", a->n->devices[i].index);
    }
    return any;
}

static bool power_check(struct audit *a)
{
    bool any = false;

    for (size_t i = 0; i < a->n->n_devices; i++) {
        const struct accelerator *acc = &a->n->devices[i].acc;
        char label[LABEL_TEXT];
        struct finding *f;

        if (!check_is(a->n, i, DEVICE_ACCELERATOR) || acc->power_limit_mw < 0 ||
            acc->power_default_mw <= 0)
            continue;
        any = true;
        if (acc->power_limit_mw >= acc->power_default_mw)
            continue;
        f = check_add(a, SEVERITY_NOTE, "%s is limited to %lld W of %lld W",
                      check_label(a->n, (int)i, label), (long long)acc->power_limit_mw / 1000,
                      (long long)acc->power_default_mw / 1000);
        check_text(a, &f->evidence, "power limit %lld mW, default %lld mW",
                   (long long)acc->power_limit_mw, (long long)acc->power_default_mw);
        check_text(a, &f->effect,
                   "under full load its clock falls; one limited GPU slows all that it works with");
        check_text(a, &f->action,
                   "nvidia-smi -i %d -pl %lld  (leave it when the limit is intended)",
                   a->n->devices[i].index, (long long)acc->power_default_mw / 1000);
    }
    return any;
}

const struct check checks_accelerator[] = {
    { "lost", lost_check },               /* every accelerator answers its driver */
    { "driver", driver_check },           /* every accelerator has a driver */
    { "links", links_check },             /* all links between accelerators are up */
    { "fabric", fabric_check },           /* the NVSwitch fabric is ready */
    { "peer-access", peer_check },        /* accelerators can reach each other's memory */
    { "persistence", persistence_check }, /* the driver keeps accelerators initialised */
    { "ecc", ecc_check },                 /* memory errors are corrected */
    { "mig", mig_check },                 /* all GPUs are cut alike */
    { "clocks", clocks_check },           /* no application clock holds a GPU back */
    { "power-limit", power_check },       /* no power limit below the default */
    { NULL, NULL },
};
