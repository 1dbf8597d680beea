#include <errno.h>

#include "model/machine/way.h"
#include "render/machine/describe.h"
#include "render/machine/groups.h"
#include "render/names.h"
#include "render/text.h"

enum { GAP = 2, NAME_MIN = 4 };

/* What the classes that way_text() writes mean; bundles are followed by their number of links. */
static const struct {
    enum way_class class;
    enum link_kind link; /* WAY_NV only */
    const char *sign, *meaning;
} legend[] = {
    { WAY_SELF, LINK_NVLINK, "X", "the device itself" },
    { WAY_NV, LINK_NVLINK, "NV#", "a bundle of # NVLinks, direct or through NVSwitches" },
    { WAY_NV, LINK_XGMI, "XG#", "a bundle of # xGMI links" },
    { WAY_NV, LINK_HCCS, "HC#", "a bundle of # HCCS links" },
    { WAY_NV, LINK_XELINK, "XL#", "a bundle of # Xe Links" },
    { WAY_NV, LINK_FABRIC, "FB#", "a bundle of # links of a fabric" },
    { WAY_C2C, LINK_C2C, "C2C", "a coherent link from chip to chip" },
    { WAY_PIX, LINK_NVLINK, "PIX", "through one PCIe switch at most" },
    { WAY_PXB, LINK_NVLINK, "PXB", "through several PCIe switches, without the CPU" },
    { WAY_PHB, LINK_NVLINK, "PHB", "through one PCIe host bridge: the CPU" },
    { WAY_NODE, LINK_NVLINK, "NODE", "between the host bridges of one NUMA domain" },
    { WAY_SYS, LINK_NVLINK, "SYS", "across NUMA domains: over the link between sockets" },
    { WAY_UNKNOWN, LINK_NVLINK, "?", "not known: the firmware does not say where the device is" },
};

/* Accelerators and NICs have rows and columns. */
static bool listed(const struct device *d)
{
    return d->kind == DEVICE_ACCELERATOR || d->kind == DEVICE_NIC;
}

static size_t name_columns(const struct device *d)
{
    return MAX(text_columns(d->name), (size_t)NAME_MIN);
}

static void add_header(struct str *out, const struct node *n, size_t first)
{
    size_t column = first;

    for (size_t i = 0; i < n->n_devices; i++) {
        if (!listed(&n->devices[i]))
            continue;
        str_pad(out, column += GAP);
        text_add(out, n->devices[i].name);
        column += name_columns(&n->devices[i]);
    }
    str_pad(out, column + GAP);
}

/* NUMA domain and its CPUs; a device that is nowhere is shown as such. */
static void add_affinity(struct str *out, const struct node *n, const struct device *d, size_t cpus)
{
    size_t start = out->len;
    int numa = d->numa;

    for (int p = d->pci; p >= 0 && numa < 0; p = n->pcis[p].parent)
        numa = n->pcis[p].numa;
    if (numa < 0) {
        str_add(out, "not known");
        return;
    }
    text_add(out, n->numas[numa].cpus);
    str_fill(out, ' ', (int)cpus - (int)(out->len - start));
    str_addf(out, "  %d", n->numas[numa].id);
}

static void add_row(struct str *out, const struct node *n, int row, size_t first, size_t cpus)
{
    size_t column = first;

    text_add(out, n->devices[row].name);
    for (int i = 0; i < (int)n->n_devices; i++) {
        char text[WAY_TEXT];
        struct way w;

        if (!listed(&n->devices[i]))
            continue;
        w = way_between(n, row, i);
        str_pad(out, column += GAP);
        str_add(out, way_text(&w, text));
        column += name_columns(&n->devices[i]);
    }
    str_pad(out, column + GAP);
    add_affinity(out, n, &n->devices[row], cpus);
    str_add_char(out, '\n');
}

static bool occurs(const struct node *n, enum way_class class, enum link_kind link)
{
    for (int a = 0; a < (int)n->n_devices; a++)
        for (int b = 0; b < (int)n->n_devices; b++) {
            struct way w;

            if (!listed(&n->devices[a]) || !listed(&n->devices[b]))
                continue;
            w = way_between(n, a, b);
            if (w.class == class && (class != WAY_NV || w.link == link))
                return true;
        }
    return false;
}

static void add_legend(struct str *out, const struct node *n)
{
    bool any = false;

    for (size_t i = 0; i < ARRAY_SIZE(legend); i++) {
        if (!occurs(n, legend[i].class, legend[i].link))
            continue;
        str_addf(out, "%s  %-4s  %s\n", any ? "" : "\n", legend[i].sign, legend[i].meaning);
        any = true;
    }
}

static void add_node(struct str *out, const struct node *n)
{
    static const char title[] = "CPU affinity";
    size_t first = NAME_MIN, cpus = sizeof(title) - 1;
    bool any = false;

    for (size_t i = 0; i < n->n_devices; i++) {
        if (!listed(&n->devices[i]))
            continue;
        first = MAX(first, name_columns(&n->devices[i]));
        any = true;
    }
    if (!any) {
        str_add(out, "no accelerators and no NICs\n");
        return;
    }
    for (size_t i = 0; i < n->n_numas; i++)
        cpus = MAX(cpus, text_columns(n->numas[i].cpus));
    add_header(out, n, first);
    str_addf(out, "%s%*s  NUMA\n", title, (int)(cpus - (sizeof(title) - 1)), "");
    for (int i = 0; i < (int)n->n_devices; i++)
        if (listed(&n->devices[i]))
            add_row(out, n, i, first, cpus);
    add_legend(out, n);
}

static int render(const struct machine_view *v, struct str *out)
{
    struct groups g;
    int rc = groups_build(&g, v);

    if (rc < 0) {
        str_fail(out, rc);
        return rc;
    }
    for (size_t i = 0; i < g.count && rc == 0; i++) {
        str_add(out, i ? "\n" : "");
        if (v->machine->n_nodes > 1) {
            rc = names_compress(out, g.list[i].names, g.list[i].n_names);
            str_add(out, ":\n");
        }
        add_node(out, g.list[i].first);
    }
    groups_done(&g);
    str_fail(out, rc);
    return str_error(out);
}

const struct machine_renderer machine_matrix = {
    "matrix",
    "the ways between accelerators and NICs, as nvidia-smi topo -m shows them",
    render,
};
