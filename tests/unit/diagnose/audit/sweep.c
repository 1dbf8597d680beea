/* The audit of machines with one field set to another value: what it says, where that is not what
 * it said before.
 *
 *     t_diagnose_audit_sweep FILE */
#include "diagnose/audit/audit.h"
#include "golden.h"
#include "machine_fields.h"
#include "nodes.h"

enum { MACHINES = 3 };

static void need(bool good)
{
    if (good)
        return;
    printf("Bail out! no memory\n");
    exit(1);
}

static void add_slot(struct node *n, const char *address, int numa)
{
    struct slot *s = ARENA_PUSH(&n->arena, &n->slots, &n->n_slots);

    need(s && pci_address_parse(address, &s->at) == 0);
    s->numa = numa;
    s->gts_max = 32;
    s->width_max = 16;
}

/* A third and a fourth GPU below root ports of their own, on the first socket; slots on both. */
static void add_cards(struct scene *s)
{
    static const char *const ports[] = { "00:02.0", "00:03.0" }, *const at[] = { "20:00.0",
                                                                                 "21:00.0" };

    for (int i = 0; i < 2; i++) {
        int port = nodes_pci(s->n, PCI_ROOT_PORT, 0, ports[i]);
        int gpu = nodes_device(s->n, DEVICE_ACCELERATOR, port, at[i]);

        s->n->devices[gpu].acc = s->n->devices[0].acc;
        s->n->devices[gpu].product = "CARD";
        s->n->devices[gpu].catalogue = 1;
    }
    add_slot(s->n, "00:04.0", 0);
    add_slot(s->n, "80:04.0", 1);
}

/* Modules with links, an NVSwitch, a drive; NICs of two ports, one of them InfiniBand. */
static void add_links(struct scene *s)
{
    int fabric = nodes_device(s->n, DEVICE_SWITCH, 0, "05:00.0");
    int drive = nodes_device(s->n, DEVICE_NVME, nodes_pci(s->n, PCI_ROOT_PORT, 0, "00:06.0"),
                             "06:00.0");

    s->n->devices[drive].product = "disk";
    scene_look(s);
    for (int i = 0; i < 2; i++) {
        struct nic_port *p = node_add_port(s->n, &s->nic[i]->nic);

        need(p);
        *p = (struct nic_port){ 2, PORT_INFINIBAND, 1, "4: ACTIVE", 400, "ib0", 2044, NULL };
        s->gpu[i]->product = "MODULE";
        s->gpu[i]->catalogue = 0;
        s->gpu[i]->acc.links_up = 18;
        s->gpu[i]->acc.fabric = 1;
        nodes_link(s->n, LINK_NVLINK, i, fabric, 18);
    }
}

struct made {
    struct scene scene;
    int machine;
};

static void make(struct scene *s, int machine)
{
    scene_init(s);
    if (machine == 1)
        add_cards(s);
    if (machine == 2)
        add_links(s);
    s->n->n_acc = 0;
    for (size_t i = 0; i < s->n->n_devices; i++)
        s->n->n_acc += s->n->devices[i].kind == DEVICE_ACCELERATOR;
    if (machine == 1)
        s->n->peers = NULL;
}

/* Everything that the audit says that has figures, a line for each finding. */
static void tell(void *ctx, struct str *out)
{
    struct scene *s = &((struct made *)ctx)->scene;

    findings_done(&s->found);
    if (audit_node(s->n, &s->catalogue, &s->found) < 0)
        str_add(out, "no memory\n");
    str_addf(out, "%zu passed\n", s->found.passed);
    for (size_t i = 0; i < s->found.count; i++) {
        const struct finding *f = &s->found.list[i];

        str_addf(out, "%s %s: %s | %s | %.40s | %.30s\n", f->check, severity_text(f->severity),
                 f->sentence, f->evidence ? f->evidence : "-", f->effect ? f->effect : "-",
                 f->action ? f->action : "-");
    }
}

static struct node *make_of(void *ctx)
{
    struct made *m = ctx;

    make(&m->scene, m->machine);
    return m->scene.n;
}

static void done_of(void *ctx)
{
    struct made *m = ctx;

    scene_done(&m->scene);
}

int main(int argc, char **argv)
{
    static const struct fields_ops ops = { make_of, tell, done_of };
    CLEANUP(str_done) struct str out = STR_INIT(FIELD_ROOM);

    if (argc < 2)
        return 1;
    for (int i = 0; i < MACHINES; i++) {
        struct made m = { .machine = i };

        str_addf(&out, "machine %d\n", i);
        fields_sweep(&ops, &m, &out);
    }
    is_int(str_error(&out), 0, "the text of all machines has room");
    golden(argv[1], str_text(&out));
    return done();
}
