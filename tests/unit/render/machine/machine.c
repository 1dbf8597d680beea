/* The renderers of a machine, on nodes built by hand: whole texts where people read them, else
 * what must and must not be in them. */
#include <errno.h>

#include "base/xml.h"
#include "render_node.h"
#include "tap.h"

static struct str out = STR_INIT(1 << 20);

/* What render_node.h describes. */
static const char tree_text[] =
    "n1  ACME X1, bare metal, Linux 6.1.0\n"
    "2x Intel(R) Xeon(R) Gold 6430, 8 cores, 8 threads, 1.0 TiB\n"
    "2x NVIDIA H100, driver 550.90, only PCIe seen between them\n"
    "\n"
    "NUMA 0  socket 0, CPUs 0-3, 512 GiB\n"
    "├─ switch     Broadcom                                    02:00.0  Gen5 x16\n"
    "│  ├─ GPU0    NVIDIA H100  86 GB                          04:00.0"
    "  Gen5 x8, could be Gen5 x16\n"
    "│  └─ mlx5_0               400 Gbit/s InfiniBand up, ib0  06:00.0  Gen5 x16\n"
    "└─ nvme0      disk         960 GB                         08:00.0"
    "  Gen5 x16, behind the chipset\n"
    "\n"
    "NUMA 1  socket 1, CPUs 4-7, 512 GiB\n"
    "└─ GPU1       NVIDIA H100  86 GB                          82:00.0"
    "  Gen1 x16 (idle; Gen4 able)\n"
    "\n"
    "NUMA 2  no CPUs, 80 GiB: memory of GPU0\n"
    "\n"
    "NUMA not known\n"
    "└─ eth1                    2.5 Gbit/s Ethernet DOWN       c1:00.0\n";

static const char table_text[] =
    "5 nodes of 3 kinds\n"
    "\n"
    "nodes  accelerators    between them  CPUs               memory   NICs\n"
    "    3  2x NVIDIA H100  PCIe          2x Xeon Gold 6430  1.0 TiB  2x NIC\n"
    "       n[08-10]\n"
    "    1  2x NVIDIA H100  PCIe          2x Xeon Gold 6430  512 GiB  2x NIC\n"
    "       n11\n"
    "    1  2x NVIDIA H100  NV4           2x Xeon Gold 6430  1.0 TiB  2x NIC\n"
    "       n12\n";

static const char matrix_text[] =
    "        GPU0  GPU1  mlx5_0  eth1  CPU affinity  NUMA\n"
    "GPU0    X     NV4   PIX     ?     0-3           0\n"
    "GPU1    NV4   X     SYS     ?     4-7           1\n"
    "mlx5_0  PIX   SYS   X       ?     0-3           0\n"
    "eth1    ?     ?     ?       X     not known\n"
    "\n"
    "  X     the device itself\n"
    "  NV#   a bundle of # NVLinks, direct or through NVSwitches\n"
    "  PIX   through one PCIe switch at most\n"
    "  SYS   across NUMA domains: over the link between sockets\n"
    "  ?     not known: the firmware does not say where the device is\n";

static const char *const all_names[] = { "tree", "matrix", "json", "svg", "nccl-xml" };

static bool has(const char *part)
{
    return strstr(str_text(&out), part) != NULL;
}

static void test_find(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(all_names); i++)
        is_str(machine_renderer_find(all_names[i])->name, all_names[i],
               "machine_renderer_find finds the renderer '%s'", all_names[i]);
    ok(!machine_renderer_find("html"), "finds no other");
}

static void test_tree(void)
{
    struct machine m = machine_of(test_node("n1"));
    struct machine_view v = { .machine = &m, .colour = true };

    is_int(render_as("tree", &m, &out), 0, "the tree of one node is written");
    is_str(str_text(&out), tree_text, "the tree of one node is as it was pinned");
    str_reset(&out);
    is_int(machine_renderer_find("tree")->render(&v, &out), 0,
           "the tree of one node is written in colour");
    ok(has("\033[1;31mGen5 x8, could be Gen5 x16\033[0m"), "a narrow link is marked");
    machine_done(&m);
}

/* In characters; those of more than one byte count as one. */
static size_t longest_line(const char *text)
{
    size_t longest = 0, n = 0;

    for (; *text; text++) {
        n = *text == '\n' ? 0 : n + (((unsigned char)*text & 0xc0) != 0x80);
        longest = MAX(longest, n);
    }
    return longest;
}

/* Columns are cut where they do not fit, and not before. */
static void check_room(const struct machine *m)
{
    CLEANUP(str_done) struct str whole = STR_INIT(1 << 20);
    struct machine_view v = { .machine = m, .columns = 100 };
    unsigned fits = 0, least = 0;

    is_int(machine_renderer_find("tree")->render(&v, &whole), 0,
           "a table of 100 columns is written");
    for (v.columns = 60; v.columns <= 100; v.columns++) {
        str_reset(&out);
        is_int(machine_renderer_find("tree")->render(&v, &out), 0,
               "a table of %u columns is written", v.columns);
        least = least ? least : (unsigned)longest_line(str_text(&out));
        ok(longest_line(str_text(&out)) <= MAX(v.columns, least),
           "a table of %u columns has no longer line, or the least of each column", v.columns);
        if (!fits && !strcmp(str_text(&out), str_text(&whole)))
            fits = v.columns;
    }
    is_int(fits, (long long)longest_line(str_text(&whole)),
           "a table is whole from where its longest line fits");
}

static void test_table(void)
{
    struct machine m = { .n_nodes = 0 };
    char names[5][8];

    is_int(render_as("tree", &m, &out), 0, "the tree of no nodes is written");
    is_str(str_text(&out), "no nodes\n", "the tree of no nodes says so");
    for (int i = 0; i < 5; i++) {
        struct node *n;

        snprintf(names[i], sizeof(names[i]), "n%02d", i + 8);
        n = test_node(names[i]);
        if (i == 3)
            n->memory_b /= 2;
        if (i == 4)
            add_nvlink(n);
        is_int(machine_add(&m, n), 0, "machine_add adds node %d", i);
    }
    is_int(render_as("tree", &m, &out), 0, "the tree of five nodes is written");
    is_str(str_text(&out), table_text, "the tree of five nodes has a line for each kind of node");
    check_room(&m);
    is_int(render_as("matrix", &m, &out), 0, "the matrices of five nodes are written");
    ok(has("n[08-10]:\n") && has("\nn11:\n") && has("\nn12:\n"),
       "there is one matrix for each kind of node");
    is_int(render_as("svg", &m, &out), 0, "the drawings of five nodes are written");
    ok(has("n[08-10] (3 nodes)") && has(">n12<"), "there is one drawing for each kind of node");
    machine_done(&m);
}

/* The widest column loses first, down to its least; then the next one does. */
static void test_cut(void)
{
    static const struct {
        unsigned columns;
        const char *row;
    } cases[] = {
        { 80,
          "    1  2x NVIDIA H100 with a …  PCIe          2x Xeon Gold 6430  1.0 TiB  2x NIC\n" },
        { 70, "    1  2x NVIDIA H100 w…  PCIe          2x Xeon Gold…  1.0 TiB  2x NIC\n" },
        { 60, "    1  2x NVIDIA H100 w…  PCIe          2x Xeon Gol…  1.0 TiB  2x NIC\n" },
    };
    struct machine m = machine_of(test_node("a"));
    struct machine_view v = { .machine = &m };

    for (size_t i = 0; i < m.nodes[0]->n_acc; i++)
        m.nodes[0]->devices[i].product = "NVIDIA H100 with a long name";
    is_int(machine_add(&m, test_node("b")), 0, "machine_add adds a node with short names");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        v.columns = cases[i].columns;
        str_reset(&out);
        is_int(machine_renderer_find("tree")->render(&v, &out), 0,
               "a table that is cut is written");
        ok(has(cases[i].row), "a table of %u columns has its columns cut: %s", v.columns,
           str_text(&out));
    }
    machine_done(&m);
}

/* Same parts, wired differently: two kinds. */
static void test_wiring(void)
{
    struct machine m = machine_of(test_node("a"));
    struct node *n = test_node("b");

    n->pcis[F_DOWN1].parent = F_BRIDGE0;
    is_int(machine_add(&m, n), 0, "machine_add adds the node that is wired otherwise");
    is_int(render_as("tree", &m, &out), 0, "the tree of two nodes is written");
    ok(has("2 nodes of 2 kinds") && has("wired otherwise (2): b"),
       "nodes that are wired differently are two kinds");
    machine_done(&m);
}

static void test_matrix(void)
{
    struct machine m = machine_of(test_node("n1"));

    add_nvlink(m.nodes[0]);
    is_int(render_as("matrix", &m, &out), 0, "the matrix of one node is written");
    is_str(str_text(&out), matrix_text, "the matrix of one node is as it was pinned");
    machine_done(&m);
    m = machine_of(node_new());
    is_int(render_as("matrix", &m, &out), 0, "the matrix of an empty node is written");
    is_str(str_text(&out), "no accelerators and no NICs\n", "the matrix of an empty node says so");
    is_int(render_as("tree", &m, &out), 0, "the tree of an empty node is written");
    ok(has("no accelerators\n"), "the tree of an empty node says that it has no accelerators");
    machine_done(&m);
}

static void test_json(void)
{
    struct machine m = machine_of(test_node("n1"));
    CLEANUP(str_done) struct str again = STR_INIT(1 << 20);

    is_int(render_as("json", &m, &out), 0, "the JSON of one node is written");
    ok(has("\"schema\": \"brim.machine.v1\""), "the JSON names its schema");
    ok(has("\"class\": \"PIX\"") && has("\"rate_gbps\": 2.5"),
       "the JSON has classes and rates of ways");
    ok(has("\"bottleneck\": \"0000:04:00.0\""), "the JSON names the bottleneck of a way");
    ok(!has("-1") && !has("null"), "what is absent is not there");
    is_int(render_as("json", &m, &again), 0, "the JSON of one node is written again");
    is_str(str_text(&again), str_text(&out), "the JSON is the same when it is written again");
    machine_done(&m);
}

/* What each accelerator says of each other one, row by row. */
static void test_peers(void)
{
    static const struct {
        uint8_t peers[4];
        const char *want;
    } cases[] = {
        { { PEER_UNKNOWN, PEER_OK, PEER_CHIPSET, PEER_GPU },
          "[[\"unknown\",\"ok\"],[\"chipset-not-supported\",\"gpu-not-supported\"]]," },
        { { PEER_TOPOLOGY, PEER_DISABLED, PEER_NO, PEER_NO + 1 },
          "[[\"topology-not-supported\",\"disabled\"],[\"not-supported\",\"unknown\"]]," },
    };
    static const char key[] = "\"peer_access\":";

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct machine m = machine_of(test_node("n1"));
        CLEANUP(str_done) struct str bare = STR_INIT(1 << 20);
        uint8_t peers[4];
        const char *at, *end;

        memcpy(peers, cases[i].peers, sizeof(peers));
        m.nodes[0]->peers = peers;
        is_int(render_as("json", &m, &out), 0, "the JSON of a node with peers is written");
        at = strstr(str_text(&out), key);
        end = at ? strstr(at, "\"ways\"") : NULL;
        for (at = at ? at + strlen(key) : ""; end && at < end; at++)
            if (*at != ' ' && *at != '\n')
                str_add_char(&bare, *at);
        is_str(str_text(&bare), cases[i].want, "accelerators say who reaches whom");
        m.nodes[0]->peers = NULL;
        machine_done(&m);
    }
}

/* Every tag closes, and only known ones are in it. */
static void check_xml(const char *what)
{
    struct xml x;
    struct err e = { "" };
    int rc, tags = 0;

    xml_init(&x, what, str_text(&out), out.len);
    while ((rc = xml_next(&x, &e)) > 0) {
        tags++;
        if (rc == XML_OPEN)
            ok(strcmp(x.tag, "script") != 0, "the tag <%s> in %s runs nothing", x.tag, what);
    }
    is_int(rc, XML_END, "%s is XML: %s", what, e.text);
    ok(tags > 0, "%s has tags", what);
}

static void test_svg(void)
{
    struct machine m = machine_of(test_node("n1"));

    add_nvlink(m.nodes[0]);
    is_int(render_as("svg", &m, &out), 0, "the drawing of one node is written");
    check_xml("svg");
    ok(has("Gen5 x16 63 GB/s") && has("could be Gen5 x16"),
       "the drawing has rates as labels of links");
    ok(has(">NV4<") && has(">100 GB/s<") && has(">UPI<"), "the drawing has NVLink and UPI");
    ok(has(">NUMA not known<") && has("behind the chipset"),
       "the drawing names places that are odd or not known");
    ok(has("prefers-color-scheme:dark"), "the drawing has a dark theme");
    machine_done(&m);
    is_int(render_as("svg", &m, &out), 0, "the drawing of an empty machine is written");
    check_xml("empty svg");
}

/* Strings of devices must not become markup, escapes or lines. */
static void test_hostile(void)
{
    static const char evil[] = "<script>&\"'\033[2J\n\xff]]>";
    struct machine m = machine_of(test_node(evil));
    struct node *n = m.nodes[0];

    n->board = n->kernel = n->cpu_model = n->cpu_vendor = n->cpu_arch = evil;
    n->set.gpu_driver = n->sockets[0].cpus = n->numas[0].cpus = evil;
    for (size_t i = 0; i < n->n_devices; i++) {
        struct device *d = &n->devices[i];

        d->name = d->product = d->nic.rdma = d->acc.arch = evil;
        if (d->nic.n_ports)
            d->nic.ports[0].netdev = d->nic.ports[0].guid = evil;
    }
    for (size_t i = 0; i < ARRAY_SIZE(all_names); i++) {
        const char *name = all_names[i];

        is_int(render_as(name, &m, &out), 0, "hostile names as %s", name);
        ok(!has("\033") && !has("\xff") && !has("2J\n"), "renderer %s writes no controls", name);
        if (!strcmp(name, "svg") || !strcmp(name, "nccl-xml"))
            check_xml(name);
    }
    machine_done(&m);
}

static void test_ceiling(void)
{
    struct machine m = machine_of(test_node("n1"));

    for (size_t i = 0; i < ARRAY_SIZE(all_names); i++) {
        CLEANUP(str_done) struct str small = STR_INIT(100);
        struct machine_view v = { .machine = &m };

        is_int(machine_renderer_find(all_names[i])->render(&v, &small), -EFBIG, "%s does not fit",
               all_names[i]);
    }
    machine_done(&m);
}

int main(void)
{
    test_find();
    test_tree();
    test_table();
    test_cut();
    test_wiring();
    test_matrix();
    test_json();
    test_peers();
    test_svg();
    test_hostile();
    test_ceiling();
    str_done(&out);
    return done();
}
