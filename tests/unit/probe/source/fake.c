/* Accelerators that are invented: of products of a catalogue, and of scripts. */
#include "folder.h"
#include "made_machine.h"
#include "tap.h"

static struct product products[] = {
    { .name = "H100",
      .kind = PRODUCT_ACCELERATOR,
      .pci_vendor = 0x10de,
      .ids = { 0x2330 },
      .n_ids = 1,
      .mem_gb = 80,
      .pcie_gen = 5,
      .pcie_width = 16,
      .links = 18,
      .link_gbs = 25 },
    { .name = "MI300X",
      .kind = PRODUCT_ACCELERATOR,
      .pci_vendor = 0x1002,
      .ids = { 0x74a1 },
      .n_ids = 1,
      .mem_gb = 192,
      .pcie_gen = 5,
      .pcie_width = 16,
      .links = 7,
      .link_gbs = 64 },
    { .name = "plain",
      .kind = PRODUCT_ACCELERATOR,
      .pci_vendor = 0x8086,
      .mem_gb = ABSENT,
      .pcie_gen = ABSENT,
      .pcie_width = ABSENT,
      .links = 0 },
    { .name = "CX-7", .kind = PRODUCT_NIC, .pci_vendor = 0x15b3 },
};
static const struct catalogue catalogue = { .products = products,
                                            .n_products = ARRAY_SIZE(products) };

static struct node *node_of(struct made *m, const char *fake)
{
    made_folder(m, "sys/devices/system/node", "node0\nnode1\n");
    m->fake = fake;
    return made_node(m, &catalogue);
}

static void test_products(void)
{
    struct made m = MADE_INIT;
    struct node *n = node_of(&m, "3xH100");

    if (is_int((int)n->n_acc, 3, "three accelerators are invented")) {
        const struct device *d = n->devices;
        const struct pci *f = node_pci(n, d[2].pci);

        ok(f && f->at.domain == 0xffff && f->at.bus == 2 && f->vendor == 0x10de &&
               f->device == 0x2330,
           "an invented accelerator has an address of its own and the numbers of its product");
        ok(f && f->gts == 32 && f->gts_max == 32 && f->width == 16 && f->width_max == 16,
           "an invented accelerator has the link of its product");
        ok(d[0].numa == 0 && d[1].numa == 1 && d[2].numa == 0 && f && f->numa == 0,
           "invented accelerators are spread over the domains");
        ok(d[1].catalogue == 0 && !strcmp(d[1].product, "H100"),
           "an invented accelerator is of its product");
        ok(d[0].acc.memory_b == 80000000000, "an invented accelerator has its product's memory");
        ok(d[0].acc.links_up == 18 && d[0].acc.links_down == 0,
           "all links of an invented accelerator are up");
    }
    ok(n->n_links == 3 && n->links[2].kind == LINK_NVLINK && n->links[2].a == 2 &&
           n->links[2].b == ABSENT && n->links[2].count == 18 && n->links[2].gbs == 25,
       "an invented accelerator has the links of its product");
    node_free(n);
    made_done(&m);
}

static void test_others(void)
{
    struct made amd = MADE_INIT, plain = MADE_INIT;
    struct node *n = node_of(&amd, "MI300X");

    ok(n->n_acc == 1 && n->n_links == 1 && n->links[0].kind == LINK_XGMI,
       "links of AMD are xGMI, and one accelerator needs no number");
    node_free(n);
    made_done(&amd);
    n = node_of(&plain, "1xplain");
    ok(n->n_acc == 1 && n->n_links == 0 && n->devices[0].acc.links_up == ABSENT &&
           n->devices[0].acc.links_down == ABSENT,
       "a product without links has none");
    ok(n->n_acc == 1 && n->devices[0].acc.memory_b == ABSENT && n->n_pcis == 1 &&
           n->pcis[0].gts == ABSENT && n->pcis[0].width == ABSENT && n->pcis[0].device == 0,
       "what is not known of a product is not invented");
    node_free(n);
    made_done(&plain);
}

/* Without domains there is none to be in. */
static void test_no_domains(void)
{
    struct made m = MADE_INIT;
    struct node *n;

    m.fake = "2xH100";
    n = made_node(&m, &catalogue);
    ok(n->n_acc == 2 && n->devices[1].numa == ABSENT,
       "invented accelerators of a machine without domains are in none");
    node_free(n);
    made_done(&m);
}

/* Models of a script: one of the catalogue, one of another kind there, one that it lacks, none. */
static void test_script(void)
{
    struct made m = MADE_INIT;
    char root[PATH_MAX], path[PATH_MAX];
    struct node *n;
    struct err e;

    folder_make(root);
    folder_text(root, "script.ini",
                "[fake]\ncount = 5\n[gpu *]\nbusy_ratio = 0\n[gpu 0]\nmodel = MI300X\n"
                "[gpu 1]\nmodel = CX-7\n[gpu 2]\nmodel = Foo 9\n"
                "[gpu 4]\nmodel = H100\n");
    folder_path(root, "script.ini", path);
    is_int(probe_fake_check(&catalogue, path, &e), 0, "a script can be played");
    n = node_of(&m, path);
    if (is_int((int)n->n_acc, 5, "a script has five accelerators")) {
        const struct device *d = n->devices;

        ok(d[0].catalogue == 1 && d[0].acc.links_up == 7,
           "a model of the catalogue is its product");
        is_str(d[0].product, "MI300X", "a model of the catalogue has its name");
        ok(d[1].catalogue == ABSENT && d[1].acc.memory_b == ABSENT && d[2].catalogue == ABSENT,
           "other models are none of the catalogue");
        ok(d[4].catalogue == 0 && d[4].acc.links_up == 18,
           "the first model of the catalogue is its product");
        is_str(d[1].product, "CX-7", "a model of another kind keeps the name in the script");
        is_str(d[2].product, "Foo 9", "a model that is not in the catalogue keeps its name");
        is_str(d[3].product, "GPU", "a script that names no model has a GPU");
        ok(d[3].acc.memory_b == ABSENT && n->pcis[3].width == ABSENT && n->n_links == 2,
           "nothing is known of a model that is not in the catalogue");
    }
    node_free(n);
    made_done(&m);
    folder_text(root, "script.ini", "[fake]\ncount = many\n");
    ok(probe_fake_check(&catalogue, path, &e) < 0, "a broken script is refused");
    folder_remove(root);
}

static void test_broken_script(void)
{
    struct made m = MADE_INIT;
    char root[PATH_MAX], path[PATH_MAX];
    struct node *n;

    folder_make(root);
    folder_text(root, "script.ini", "[fake]\ncount = many\n");
    folder_path(root, "script.ini", path);
    n = node_of(&m, path);
    is_int((int)n->n_devices, 0, "a broken script makes no accelerators");
    ok(m.probe.n_troubles == 1 && strstr(m.probe.troubles[0].text, "script.ini:2"),
       "a broken script is told with its line: %s", m.probe.troubles[0].text);
    node_free(n);
    made_done(&m);
    folder_remove(root);
}

static void test_refused(void)
{
    static const struct {
        const char *spec, *want;
    } cases[] = {
        { "0xH100", "--fake 0xH100: between 1 and 64 devices can be invented" },
        { "65xH100", "--fake 65xH100: between 1 and 64 devices can be invented" },
        { "2xH10", "--fake: no accelerator 'H10' in the catalogue (did you mean 'H100'?)" },
        { "CX-7", "--fake: no accelerator 'CX-7' in the catalogue (data/devices.csv lists them)" },
        { "zzzzzzzz",
          "--fake: no accelerator 'zzzzzzzz' in the catalogue (data/devices.csv lists them)" },
    };
    struct err e;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        e.text[0] = 0;
        ok(probe_fake_check(&catalogue, cases[i].spec, &e) < 0, "%s cannot be invented",
           cases[i].spec);
        is_str(e.text, cases[i].want, "the sentence of %s says why", cases[i].spec);
    }
    is_int(probe_fake_check(&catalogue, "64xh100", &e), 0, "64 accelerators can be invented");
}

int main(void)
{
    test_products();
    test_others();
    test_no_domains();
    test_script();
    test_broken_script();
    test_refused();
    return done();
}
