/* Every allocation of model, probe and diagnose fails once, those from arenas too: -ENOMEM comes
 * back, or the same result as without the failure; nothing leaks, and nothing is silently poorer.
 * argv: folders of recordings. */
#include <errno.h>

#include "base/file.h"
#include "devices_csv.h"
#include "diagnose/audit/audit.h"
#include "folder.h"
#include "oom_arena.h"
#include "probe/kernel/pack.h"
#include "probe/recording.h"
#include "probe/recording_load.h"
#include "probe/source/nccl_xml.h"
#include "probe/sources.h"
#include "render/machine/render.h"
#include "tap.h"

enum { TEXT_MAX = 4 << 20 };

/* A walk over all allocations of one kind of work. */
struct walk {
    const char *what;
    /* Do it; write what came out to text, when it was done. */
    int (*work)(const struct walk *w, struct str *text);
    struct catalogue *catalogue;
    const struct str *input;
    const char *path;
    const struct machine *machine;
};

static void walk(const struct walk *w)
{
    CLEANUP(str_done) struct str full = STR_INIT(TEXT_MAX);
    int rc = w->work(w, &full), rounds = 0, poorer = 0, other = 0;
    bool failed;

    is_int(rc, 0, "%s: it succeeds without a failure", w->what);
    oom_restart();
    do {
        CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);

        oom_next();
        rc = w->work(w, &text);
        failed = oom_end();
        rounds += failed;
        if (rc == 0 && strcmp(str_text(&text), str_text(&full)) != 0 && !poorer++)
            printf("# %s: allocation %d failing makes a poorer result\n", w->what, oom_at);
        if (rc != 0 && (rc != -ENOMEM || !failed) && !other++)
            printf("# %s: allocation %d failing makes error %d\n", w->what, oom_at, rc);
    } while (failed);
    is_int(poorer, 0, "%s: none of %d failed allocations makes a poorer result", w->what, rounds);
    is_int(other, 0, "%s: a failed allocation makes no error but -ENOMEM", w->what);
    ok(rounds > 0, "%s: it allocates at least once", w->what);
}

/* Texts of results are made without failures. */
static void say(struct str *text, const struct machine *m, const struct catalogue *c)
{
    struct machine_view v = { .machine = m, .catalogue = c };
    bool armed = oom_armed;

    oom_armed = false;
    folder_need(machine_renderer_find("json")->render(&v, text), "json");
    oom_armed = armed;
}

static void say_node(struct str *text, struct node *n, const struct catalogue *c)
{
    struct node *nodes[] = { n };
    struct machine m = { .nodes = nodes, .n_nodes = 1 };

    say(text, &m, c);
}

static void say_findings(struct str *text, const struct findings *f, const struct machine *m,
                         const struct catalogue *c)
{
    struct machine_view v = { .machine = m, .catalogue = c };
    bool armed = oom_armed;

    oom_armed = false;
    folder_need(findings_render_json(f, &v, text), "findings");
    str_addf(text, "%zu passed\n", f->passed);
    oom_armed = armed;
}

/* What was counted or listed. */
static void say_text(struct str *text, const char *what, size_t count)
{
    bool armed = oom_armed;

    oom_armed = false;
    str_addf(text, "%s %zu\n", what, count);
    oom_armed = armed;
}

static int load_catalogue(const struct walk *w, struct str *text)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    int rc = catalogue_load(&c, data_devices_csv, data_devices_csv_len, NULL);

    (void)w;
    for (size_t i = 0; rc == 0 && i < c.n_products; i++)
        say_text(text, c.products[i].scaleup_link ? c.products[i].scaleup_link : "-",
                 c.products[i].n_ids);
    return rc;
}

static int open_pack(const struct walk *w, struct str *text)
{
    CLEANUP(pack_closep) struct pack *p = NULL;
    int rc = pack_open(&p, "p", str_text(w->input), w->input->len, NULL);

    if (rc == 0)
        say_text(text, "entries", pack_count(p));
    return rc;
}

/* A tree, all in it that is small, and its recording. */
static int record(const struct walk *w, struct str *text)
{
    CLEANUP(str_done) struct str out = STR_INIT(1 << 20);
    CLEANUP(str_done) struct str names = STR_INIT(1 << 16);
    CLEANUP(tree_closep) struct tree *t = NULL;
    char buf[64];
    int rc = tree_open_dir(&t, w->path, NULL), listed, ended;

    if (rc < 0)
        return rc;
    tree_record(t, &out);
    (void)tree_exists(t, "a/one");
    (void)tree_number(t, "a/one");
    if (tree_link(t, "a/link", buf, sizeof(buf)) < 0 || tree_read(t, "a/bytes", buf, 64) < 0)
        return -EIO;
    listed = tree_list(t, "a", &names);
    ended = tree_record_end(t);
    if (listed < 0 || ended < 0)
        return listed < 0 ? listed : ended;
    say_text(text, str_text(&names), names.len);
    say_text(text, str_text(&out), out.len);
    return 0;
}

static int probe(const struct walk *w, struct str *text)
{
    CLEANUP(node_freep) struct node *n = NULL;
    struct probe p = { .catalogue = w->catalogue };
    int rc = tree_open_pack(&p.tree, w->path, str_text(w->input), w->input->len, NULL);

    if (rc == 0)
        rc = probe_node(&p, &n, NULL);
    tree_close(p.tree);
    if (rc == 0)
        say_node(text, n, w->catalogue);
    for (size_t i = 0; rc == 0 && i < p.n_troubles; i++)
        say_text(text, p.troubles[i].text, i);
    return rc;
}

static int read_xml(const struct walk *w, struct str *text)
{
    CLEANUP(node_freep) struct node *n = NULL;
    int rc = nccl_xml_read("t.xml", str_text(w->input), w->input->len, w->catalogue, &n, NULL);

    if (rc == 0)
        say_node(text, n, w->catalogue);
    return rc;
}

static int load(const struct walk *w, struct str *text)
{
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct probe p = { .catalogue = w->catalogue };
    int rc = recording_load(&p, w->path, &m, NULL);

    if (rc == 0)
        say(text, &m, w->catalogue);
    return rc;
}

static int audit(const struct walk *w, struct str *text)
{
    CLEANUP(findings_done) struct findings f = { .count = 0 };
    int rc = audit_node(w->machine->nodes[0], w->catalogue, &f);

    if (rc == 0)
        say_findings(text, &f, w->machine, w->catalogue);
    return rc;
}

static int audit_all(const struct walk *w, struct str *text)
{
    CLEANUP(findings_done) struct findings f = { .count = 0 };
    int rc = audit_fleet(w->machine, NULL, &f);

    if (rc == 0)
        say_findings(text, &f, w->machine, w->catalogue);
    return rc;
}

/* The pack of one machine, probed, loaded and audited; it joins the fleet. */
static void test_machine(const char *folder, struct catalogue *c, struct machine *fleet)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORDING_MAX);
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct probe p = { .catalogue = c };
    struct walk w = { .catalogue = c, .input = &text, .path = folder, .machine = &m };
    struct node *n;
    struct err e = { "" };
    char path[PATH_MAX];

    snprintf(path, sizeof(path), "%s/" RECORDING_FILE, folder);
    folder_need(file_read(path, &text, &e), e.text);
    folder_need(recording_load(&p, folder, &m, &e), e.text);
    folder_need(recording_load_pack(&p, path, &text, &n, &e), e.text);
    folder_need(machine_add(fleet, n), "fleet");
    folder_need(file_read(path, &text, &e), e.text);
    w.what = "open a pack";
    w.work = open_pack;
    walk(&w);
    w.what = "probe a node";
    w.work = probe;
    walk(&w);
    w.what = "audit a node";
    w.work = audit;
    walk(&w);
}

static void test_recording(void)
{
    struct walk w = { .what = "record a tree", .work = record };
    char root[PATH_MAX];

    folder_make(root);
    folder_text(root, "a/one", "1\n");
    folder_file(root, "a/bytes", "\0\1\2\3", 4);
    folder_link(root, "a/link", "../b");
    w.path = root;
    walk(&w);
    folder_remove(root);
}

static void test_xml(struct catalogue *c)
{
    CLEANUP(str_done) struct str text = STR_INIT(4096);
    struct walk w = { .what = "read a topology", .work = read_xml, .catalogue = c };

    str_add(&text, "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" "
                   "vendor=\"GenuineIntel\"><pci busid=\"1b:00.0\" class=\"0x030200\" "
                   "vendor=\"0x10de\" device=\"0x2330\"><gpu sm=\"90\"><nvlink count=\"18\"/>"
                   "</gpu></pci><pci busid=\"1c:00.0\"><nic><net name=\"mlx5_0\" guid=\"0x1\" "
                   "speed=\"400000\"/></nic></pci></cpu></system>");
    w.input = &text;
    walk(&w);
    str_reset(&text);
    str_add(&text, "<system><cpu numaid=\"-1\" affinity=\"ff\"><pci busid=\"1b:00.0\">"
                   "<gpu gcn=\"gfx942\"><xgmi/></gpu></pci></cpu></system>");
    w.what = "read a guest's topology";
    walk(&w);
}

/* A few nodes: one thread loads them, so that the count of allocations is the same each time. */
static void test_fleet(struct catalogue *c)
{
    static const char text[] = "brim-pack 1\n"
                               "f 2 proc/sys/kernel/hostname\nn\n\n"
                               "e 2 proc/cpuinfo\n13\n"
                               "f 8 proc/sys/kernel/osrelease\n6.8.0-1\n\n"
                               "end 3\n";
    struct walk w = { .what = "load a fleet", .work = load, .catalogue = c };
    char root[PATH_MAX];

    folder_make(root);
    for (int i = 0; i < 3; i++) {
        char path[64];

        snprintf(path, sizeof(path), "n%d/machine.pack", i);
        folder_text(root, path, text);
    }
    w.path = root;
    walk(&w);
    folder_remove(root);
}

int main(int argc, char **argv)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(machine_done) struct machine fleet = { .n_nodes = 0 };
    struct walk w = { .what = "load the catalogue", .work = load_catalogue };

    folder_need(catalogue_load(&c, data_devices_csv, data_devices_csv_len, NULL), "catalogue");
    walk(&w);
    if (folder_can_copy())
        test_recording();
    test_xml(&c);
    test_fleet(&c);
    for (int i = 1; i < argc; i++)
        test_machine(argv[i], &c, &fleet);
    for (size_t i = 0; i < 2 && fleet.n_nodes > 1;
         i++) { /* twice one machine: the others are odd */
        struct probe p = { .catalogue = &c };
        struct machine m;

        folder_need(recording_load(&p, argv[1], &m, NULL), argv[1]);
        folder_need(machine_add(&fleet, m.nodes[0]), "fleet");
        m.n_nodes = 0;
        machine_done(&m);
    }
    w = (struct walk){
        .what = "audit a fleet", .work = audit_all, .catalogue = &c, .machine = &fleet
    };
    walk(&w);
    return done();
}
