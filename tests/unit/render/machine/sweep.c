/* Machines with one field set to another value: what the renderers write of them, where that is
 * not what they wrote before.
 *
 *     t_render_machine_sweep FILE */
#include "golden.h"
#include "machine_fields.h"
#include "render_node.h"

static const char table[] = "name,vendor,kind,pci_vendor,pci_devices,mem_gb,links\n"
                            "MODULE,V,accelerator,10de,2330,80,18\n"
                            "CARD,V,accelerator,10de,26b9,96,\n"
                            "HCA,V,nic,15b3,1021,,\n";

struct made {
    struct machine machine;
    struct catalogue catalogue;
    int number;
};

/* All accelerators joined alike, one of them without a place on PCIe. */
static struct node *make_mesh(void)
{
    struct node *n = test_parts("n1");

    add_device(n, DEVICE_ACCELERATOR, F_UP, 1);
    add_device(n, DEVICE_ACCELERATOR, ABSENT, 1);
    if (node_settle(n) < 0)
        exit(1);
    for (int a = 0; a < (int)n->n_acc; a++)
        for (int b = a + 1; b < (int)n->n_acc; b++) {
            struct link *l = node_add_link(n, LINK_NVLINK, a, b);

            if (!l)
                exit(1);
            l->count = 6;
            l->gbs = 25;
        }
    if (!node_add_link(n, LINK_NVLINK, 0, ABSENT)) /* to a switch that is not seen */
        exit(1);
    return n;
}

static struct node *make(void *ctx)
{
    struct made *m = ctx;
    struct node *n = m->number == 2 ? make_mesh() : test_node("n1");

    if (m->number == 1) {
        struct device *d = add_device(n, DEVICE_SWITCH, F_BRIDGE2, ABSENT);

        d->product = "NVSwitch";
        add_nvlink(n);
        n->sockets[1].cores = 3;
        n->devices[0].catalogue = n->devices[1].catalogue = 1;
    }
    m->machine = machine_of(n);
    return n;
}

static void tell(void *ctx, struct str *out)
{
    static const char *const texts[] = { "tree", "matrix", "json", "nccl-xml" };
    static const char *const pictures[] = { "tree", "svg" };
    struct made *m = ctx;
    bool mesh = m->number == 2;
    const char *const *names = mesh ? pictures : texts;
    const struct machine_view v = { .machine = &m->machine,
                                    .catalogue = &m->catalogue,
                                    .colour = mesh };

    for (size_t i = 0; i < (mesh ? ARRAY_SIZE(pictures) : ARRAY_SIZE(texts)); i++)
        if (machine_renderer_find(names[i])->render(&v, out) < 0)
            str_addf(out, "%s failed\n", names[i]);
}

static void done_with(void *ctx)
{
    struct made *m = ctx;

    machine_done(&m->machine);
}

int main(int argc, char **argv)
{
    static const struct fields_ops ops = { make, tell, done_with };
    CLEANUP(str_done) struct str out = STR_INIT(FIELD_ROOM);
    struct made m = { .number = 0 };
    struct err e = { "" };

    if (argc < 2 || catalogue_load(&m.catalogue, table, sizeof(table) - 1, &e) < 0)
        return 1;
    for (; m.number < 3; m.number++) {
        str_addf(&out, "machine %d\n", m.number);
        fields_sweep(&ops, &m, &out);
    }
    catalogue_done(&m.catalogue);
    is_int(str_error(&out), 0, "the text of all machines has room");
    golden(argv[1], str_text(&out));
    return done();
}
