/* Nodes of a fleet against each other: a value in which a node differs from most is a finding. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/audit/audit.h"

enum { VALUE_TEXT = 128 };

/* What is compared: the value of a node as text, "" when it is absent. */
struct trait {
    const char *check;
    const char *what;
    void (*get)(const struct node *n, char buf[VALUE_TEXT]);
};

static void put(char buf[VALUE_TEXT], const char *text)
{
    snprintf(buf, VALUE_TEXT, "%s", text ? text : "");
}

static void get_board(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->board);
}

static void get_cpu(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->cpu_model);
}

static void get_kernel(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->kernel);
}

static void get_driver(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->set.gpu_driver);
}

static void get_governor(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->set.governor);
}

static void get_iommu(const struct node *n, char buf[VALUE_TEXT])
{
    put(buf, n->set.iommu_type);
}

/* In GiB: the kernel keeps a varying little for itself. */
static void get_memory(const struct node *n, char buf[VALUE_TEXT])
{
    buf[0] = 0;
    if (n->memory_b >= 0)
        snprintf(buf, VALUE_TEXT, "%lld GiB", (long long)((n->memory_b + (1LL << 33)) >> 34) * 16);
}

static void get_domains(const struct node *n, char buf[VALUE_TEXT])
{
    snprintf(buf, VALUE_TEXT, "%zu NUMA domains", n->n_numas);
}

static bool is_like(const struct device *d, enum device_kind kind, const char *product)
{
    return d->kind == kind && (product ? d->product && !strcmp(d->product, product) : !d->product);
}

/* "8x NVIDIA H100 80GB HBM3", each product in the order of its first device. */
static void count_kind(const struct node *n, enum device_kind kind, char buf[VALUE_TEXT])
{
    size_t len = 0;

    put(buf, "none");
    for (size_t i = 0; i < n->n_devices && len < VALUE_TEXT; i++) {
        const char *product = n->devices[i].product;
        int count = 0;
        bool first = true;

        for (size_t k = 0; k < n->n_devices; k++) {
            first &= k >= i || !is_like(&n->devices[k], kind, product);
            count += is_like(&n->devices[k], kind, product);
        }
        if (n->devices[i].kind == kind && first)
            len += (size_t)snprintf(buf + len, VALUE_TEXT - len, "%s%dx %s", len ? ", " : "", count,
                                    product ? product : "of unknown product");
    }
}

static void get_accelerators(const struct node *n, char buf[VALUE_TEXT])
{
    count_kind(n, DEVICE_ACCELERATOR, buf);
}

static void get_nics(const struct node *n, char buf[VALUE_TEXT])
{
    count_kind(n, DEVICE_NIC, buf);
}

static void get_drives(const struct node *n, char buf[VALUE_TEXT])
{
    count_kind(n, DEVICE_NVME, buf);
}

static void get_vbios(const struct node *n, char buf[VALUE_TEXT])
{
    buf[0] = 0;
    for (size_t i = 0; i < n->n_devices && !*buf; i++)
        if (n->devices[i].kind == DEVICE_ACCELERATOR)
            put(buf, n->devices[i].acc.vbios);
}

static void get_nic_firmware(const struct node *n, char buf[VALUE_TEXT])
{
    buf[0] = 0;
    for (size_t i = 0; i < n->n_devices && !*buf; i++)
        if (n->devices[i].kind == DEVICE_NIC)
            put(buf, n->devices[i].nic.firmware);
}

/* The links among accelerators that are up, of all together. */
static void get_links(const struct node *n, char buf[VALUE_TEXT])
{
    int up = ABSENT;

    buf[0] = 0;
    for (size_t i = 0; i < n->n_devices; i++)
        if (n->devices[i].kind == DEVICE_ACCELERATOR && n->devices[i].acc.links_up >= 0)
            up = MAX(up, 0) + n->devices[i].acc.links_up;
    if (up >= 0)
        snprintf(buf, VALUE_TEXT, "%d links up", up);
}

static const struct trait traits[] = {
    { "fleet-board", "board", get_board },
    { "fleet-cpu", "CPU", get_cpu },
    { "fleet-memory", "memory", get_memory },
    { "fleet-numa", "NUMA layout", get_domains },
    { "fleet-accelerators", "set of accelerators", get_accelerators },
    { "fleet-links", "number of links between accelerators", get_links },
    { "fleet-nics", "set of NICs", get_nics },
    { "fleet-drives", "set of NVMe drives", get_drives },
    { "fleet-kernel", "kernel", get_kernel },
    { "fleet-driver", "accelerator driver", get_driver },
    { "fleet-vbios", "VBIOS", get_vbios },
    { "fleet-nic-firmware", "NIC firmware", get_nic_firmware },
    { "fleet-governor", "frequency governor", get_governor },
    { "fleet-iommu", "IOMMU type", get_iommu },
};

/* Distinct values of one trait with how many nodes have each. */
struct tally {
    char (*values)[VALUE_TEXT];
    size_t *counts;
    size_t n, room;
};

static void tally_done(struct tally *t)
{
    free(t->values);
    free(t->counts);
}

static int tally_add(struct tally *t, const char *value)
{
    for (size_t i = 0; i < t->n; i++)
        if (!strcmp(t->values[i], value)) {
            t->counts[i]++;
            return 0;
        }
    if (t->n == t->room) {
        size_t room = t->room ? t->room * 2 : 8;
        void *values = realloc(t->values, room * sizeof(*t->values));
        void *counts;

        if (!values)
            return -ENOMEM;
        t->values = values;
        counts = realloc(t->counts, room * sizeof(*t->counts));
        if (!counts)
            return -ENOMEM;
        t->counts = counts;
        t->room = room;
    }
    snprintf(t->values[t->n], VALUE_TEXT, "%s", value);
    t->counts[t->n++] = 1;
    return 0;
}

/* Compare the nodes of m in one trait with what most of the fleet have. */
static int compare(const struct machine *m, const struct machine *fleet, const struct trait *trait,
                   struct findings *out)
{
    CLEANUP(tally_done) struct tally t = { .n = 0 };
    char value[VALUE_TEXT];
    size_t usual = 0, known = 0, before = out->count;

    for (size_t i = 0; i < fleet->n_nodes; i++) {
        trait->get(fleet->nodes[i], value);
        if (*value && tally_add(&t, value) < 0)
            return -ENOMEM;
        known += *value != 0;
    }
    for (size_t i = 1; i < t.n; i++)
        if (t.counts[i] > t.counts[usual])
            usual = i;
    if (!t.n || t.counts[usual] * 2 <= known)
        return 0; /* no value is that of most: a mixed fleet, nothing to differ from */
    for (size_t i = 0; i < m->n_nodes; i++) {
        struct finding *f;

        trait->get(m->nodes[i], value);
        if (!*value || !strcmp(value, t.values[usual]))
            continue;
        f = findings_add(out, trait->check, SEVERITY_WARNING, m->nodes[i]->name);
        findings_text(out, &f->sentence, "the %s differs from that of the fleet: %s", trait->what,
                      value);
        findings_text(out, &f->evidence, "%zu of %zu nodes have: %s", t.counts[usual], known,
                      t.values[usual]);
        findings_text(out, &f->effect,
                      "jobs across nodes run at the pace of the odd one, and faults are harder to "
                      "tell from differences");
        findings_text(out, &f->action,
                      "bring the node in line with the others, or take it out of their partition");
    }
    out->passed += out->count == before;
    return 0;
}

int audit_fleet(const struct machine *m, const struct machine *fleet, struct findings *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(traits); i++) {
        int rc = compare(m, fleet ? fleet : m, &traits[i], out);

        if (rc < 0)
            return rc;
    }
    return out->no_memory ? -ENOMEM : 0;
}
