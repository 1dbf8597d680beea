/* NCCL's topology with one attribute set to another value, or gone: what is read, where that is not
 * what was read before, or what is said.
 *
 *     t_probe_source_nccl_values TOPOLOGY FILE */
#include "golden.h"
#include "new_lines.h"
#include "probe/source/nccl_xml.h"

enum { ROOM = 4 << 20 };

static const char products[] = "name,kind,pci_vendor,pci_devices\n"
                               "H100,accelerator,10de,2330\n"
                               "MI300X,accelerator,1002,74a1\n"
                               "CX7,nic,15b3,1021\n";

static void add_functions(const struct node *n, struct str *out)
{
    char at[PCI_ADDRESS_TEXT];

    for (size_t i = 0; i < n->n_numas; i++)
        str_addf(out, "domain %d of %d: '%s' %d\n", n->numas[i].id, n->numas[i].socket,
                 n->numas[i].cpus, n->numas[i].threads);
    for (size_t i = 0; i < n->n_pcis; i++) {
        const struct pci *f = &n->pcis[i];

        str_addf(out, "function %s %u of %d in %d: %06x %04x:%04x %04x:%04x %g x%d\n",
                 pci_address_text(f->at, at), (unsigned)f->kind, f->parent, f->numa,
                 (unsigned)f->class_code, f->vendor, f->device, f->sub_vendor, f->sub_device,
                 f->gts, f->width);
    }
}

static void tell(const struct node *n, struct str *out)
{
    str_addf(out, "%s %s %s %d %d, %zu accelerators\n", n->name, n->cpu_arch ? n->cpu_arch : "-",
             n->cpu_vendor ? n->cpu_vendor : "-", n->cpu_family, n->cpu_number, n->n_acc);
    add_functions(n, out);
    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];

        str_addf(out, "device %u %s %s %d at %d in %d: %s %d links\n", (unsigned)d->kind, d->name,
                 d->product ? d->product : "-", d->catalogue, d->pci, d->numa,
                 d->acc.arch ? d->acc.arch : "-", d->acc.links_up);
        for (size_t p = 0; p < d->nic.n_ports; p++)
            str_addf(out, "port %s %d: %g %u %s\n", d->name, d->nic.ports[p].number,
                     d->nic.ports[p].gbps, (unsigned)d->nic.ports[p].layer,
                     d->nic.ports[p].guid ? d->nic.ports[p].guid : "-");
    }
    for (size_t i = 0; i < n->n_links; i++)
        str_addf(out, "link %u %d-%d at %d: %d x %g\n", (unsigned)n->links[i].kind, n->links[i].a,
                 n->links[i].b, n->links[i].numa, n->links[i].count, n->links[i].gbs);
}

static void read_text(const struct catalogue *c, const char *text, struct str *out)
{
    CLEANUP(node_freep) struct node *n = NULL;
    struct err e = { "" };

    str_reset(out);
    if (nccl_xml_read("t.xml", text, strlen(text), c, &n, &e) < 0)
        str_addf(out, "%s\n", e.text);
    else
        tell(n, out);
}

/* The text with other words from 'begin' to 'end'. */
static void replaced(struct str *out, const char *text, const char *begin, const char *end,
                     const char *by)
{
    str_reset(out);
    str_add_n(out, text, (size_t)(begin - text));
    str_add(out, by);
    str_add(out, end);
}

static void sweep(const struct catalogue *c, const char *text, struct str *out)
{
    static const char *const values[] = {
        "",         "x",        "-1",        "0",          "1",          "2",       "3",
        "0x",       "0x1g",     "64",        "65",         "70",         "100",     "1024",
        "1025",     "10000",    "10001",     "65535",      "0xffff",     "65536",   "65537",
        "0x0604ff", "0xffffff", "0x1000000", "1073741824", "1073741825", "0:0:0.0", "8.0 GT/s"
    };
    CLEANUP(str_done) struct str before = STR_INIT(ROOM), now = STR_INIT(ROOM);
    CLEANUP(str_done) struct str changed = STR_INIT(ROOM);

    read_text(c, text, &before);
    str_addf(out, "%s", str_text(&before));
    for (const char *at = strstr(text, "=\""); at; at = strstr(at + 2, "=\"")) {
        const char *name = at, *begin = at + 2, *end = strchr(begin, '"');

        while (name > text && name[-1] != ' ')
            name--;
        for (size_t i = 0; i <= ARRAY_SIZE(values); i++) {
            bool gone = i == ARRAY_SIZE(values);

            replaced(&changed, text, gone ? name : begin, gone ? end + 1 : end,
                     gone ? "" : values[i]);
            read_text(c, str_text(&changed), &now);
            if (strcmp(str_text(&now), str_text(&before)) == 0)
                continue;
            str_addf(out, "%.*s %s %s\n", (int)(end + 1 - name), name, gone ? "is gone" : "is",
                     gone ? "" : values[i]);
            new_lines(out, str_text(&now), str_text(&before));
        }
    }
}

int main(int argc, char **argv)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(ROOM);
    struct err e = { "" };
    char *text;

    if (argc < 3 || catalogue_load(&c, products, sizeof(products) - 1, &e) < 0)
        return 1;
    text = golden_read(argv[1]);
    sweep(&c, text, &out);
    free(text);
    is_int(str_error(&out), 0, "the text of all topologies has room");
    golden(argv[2], str_text(&out));
    return done();
}
