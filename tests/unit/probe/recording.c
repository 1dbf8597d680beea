#include "probe/recording.h"

#include <errno.h>

#include "base/file.h"
#include "folder.h"
#include "probe/kernel/pack.h"
#include "probe/recording_load.h"
#include "tap.h"

/* The smallest machine: a name, a CPU, a GPU on PCIe. */
static const char files[][2][160] = {
    { "proc/sys/kernel/hostname", "tiny\n" },
    { "proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Test CPU\n" },
    { "sys/devices/system/cpu/online", "0-3\n" },
    { "sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0-3\n" },
    { "sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n" },
    { "sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0,2\n" },
    { "sys/devices/system/node/node0/cpulist", "0-3\n" },
    { "sys/devices/system/node/node0/distance", "10\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/class", "0x060400\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/class", "0x030200\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/vendor", "0x10de\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/device", "0x2330\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/numa_node", "0\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/current_link_speed", "32.0 GT/s PCIe\n" },
    { "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0/current_link_width", "16\n" },
};
static const char link_at[] = "sys/bus/pci/devices/0000:01:00.0";
static const char link_to[] = "../../../devices/pci0000:00/0000:00:01.0/0000:01:00.0";

static void plant(const char *root)
{
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        folder_text(root, files[i][0], files[i][1]);
    folder_link(root, link_at, link_to);
}

/* The same as a pack; the name of the machine may be another. */
static void pack(struct str *out, const char *name)
{
    str_reset(out);
    pack_begin(out);
    pack_add(out, 'f', files[0][0], name, strlen(name));
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        pack_add(out, 'f', files[i][0], files[i][1], strlen(files[i][1]));
    pack_add(out, 'd', "sys/bus/pci/devices", "0000:01:00.0\n", 13);
    pack_add(out, 'd', "sys/devices/system/node", "node0\n", 6);
    pack_add(out, 'l', link_at, link_to, strlen(link_to));
    pack_end(out, ARRAY_SIZE(files) + 4);
}

static void write_pack(const char *root, const char *path, const char *name)
{
    CLEANUP(str_done) struct str text = STR_INIT(64 << 10);

    pack(&text, name);
    folder_file(root, path, str_text(&text), text.len);
}

static const struct catalogue no_catalogue = { .n_products = 0 };

static void is_tiny(const struct node *n, const char *name)
{
    is_str(n->name, name, "the node's name is %s", name);
    ok(n->n_sockets == 1 && n->sockets[0].cores == 2 && n->n_numas == 1,
       "%s has a socket of two cores and a domain", name);
    ok(n->n_acc == 1 && n->n_devices == 1 && n->devices[0].numa == 0, "%s has a GPU in its domain",
       name);
    ok(n->n_pcis == 3 && n->pcis[2].width == 16 && (int)n->pcis[2].gts == 32,
       "%s has its GPU's link", name);
}

/* Load root/path, which must hold one machine of that name. */
static void is_loaded(const char *root, const char *path, const char *name)
{
    struct probe p = { .catalogue = &no_catalogue };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct err e = { "" };
    char full[PATH_MAX];

    folder_path(root, path, full);
    is_int(recording_load(&p, full, &m, &e), 0, "recording_load loads '%s': %s", path, e.text);
    is_int((long long)m.n_nodes, 1, "'%s' has one node", path);
    is_int((long long)p.n_troubles, 0, "'%s' makes no trouble", path);
    ok(!p.tree, "'%s' leaves no tree open", path);
    if (m.n_nodes)
        is_tiny(m.nodes[0], name);
}

static void test_forms(void)
{
    char root[PATH_MAX];

    folder_make(root);
    write_pack(root, "dir/machine.pack", "packed");
    write_pack(root, "any.name", "file");
    folder_folder(root, "tree");
    {
        char tree[PATH_MAX];

        folder_path(root, "tree", tree);
        plant(tree);
    }
    is_loaded(root, "dir", "packed");
    is_loaded(root, "dir/machine.pack", "packed");
    is_loaded(root, "any.name", "file");
    if (folder_can_copy())
        is_loaded(root, "tree", "tiny");
    folder_remove(root);
}

static void test_xml(void)
{
    struct probe p = { .catalogue = &no_catalogue };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct err e = { "" };
    char root[PATH_MAX], path[PATH_MAX];

    folder_make(root);
    folder_text(root, "topo.xml", "<system version=\"1\"><cpu numaid=\"0\"/></system>");
    folder_path(root, "topo.xml", path);
    is_int(recording_load(&p, path, &m, &e), 0, "recording_load loads a topology: %s", e.text);
    is_str(m.n_nodes ? m.nodes[0]->name : NULL, "topo.xml",
           "a topology's node is named as its file");
    folder_remove(root);
}

static void test_fleet(void)
{
    struct probe p = { .catalogue = &no_catalogue };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct err e = { "" };
    char root[PATH_MAX], path[PATH_MAX], want[PATH_MAX + 200];
    bool good = true;

    folder_make(root);
    for (int i = 39; i >= 0; i--) {
        snprintf(path, sizeof(path), "node%02d/machine.pack", i);
        snprintf(want, sizeof(want), "host-%02d", i);
        write_pack(root, path, want);
    }
    folder_text(root, "node07/machine.pack", "brim-pack 1\nf 1 a\n1\n");
    folder_text(root, "notes.txt", "no recording\n");
    folder_folder(root, "empty");
    write_pack(root, ".hidden/machine.pack", "hidden");
    is_int(recording_load(&p, root, &m, &e), 0, "recording_load loads 40 nodes: %s", e.text);
    is_int((long long)m.n_nodes, 39, "the 39 nodes that are whole are loaded");
    for (size_t i = 0; i < m.n_nodes; i++) {
        snprintf(want, sizeof(want), "host-%02zu", i + (i >= 7));
        good = good && !strcmp(m.nodes[i]->name, want);
    }
    ok(good, "nodes are in the order of their names");
    is_int((long long)p.n_troubles, 1, "the damaged node is a trouble");
    is_str(p.troubles[0].source, "recording", "the trouble is of the recording");
    snprintf(want, sizeof(want),
             "%s/node07/machine.pack: is cut off (the last line is not 'end COUNT'); record it "
             "again",
             root);
    is_str(p.troubles[0].text, want, "the trouble has the damaged node's file and sentence");
    folder_remove(root);
}

/* What a probe has to say already is said once, not once more for each node. */
static void test_fleet_troubles(void)
{
    struct probe p = { .catalogue = &no_catalogue };
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct err e = { "" };
    char root[PATH_MAX];

    folder_make(root);
    write_pack(root, "a/machine.pack", "a");
    write_pack(root, "b/machine.pack", "b");
    folder_text(root, "b/machine.pack",
                "brim-pack 1\ne 2 proc/cpuinfo\n13\ne 2 proc/meminfo\n13\nend 2\n");
    probe_trouble(&p, "before", "told already");
    is_int(recording_load(&p, root, &m, &e), 0, "recording_load loads two nodes: %s", e.text);
    is_int((long long)p.n_troubles, 2, "a trouble from before is not told again");
    is_str(p.troubles[1].source, "files", "the trouble is of the files");
    {
        char want[PATH_MAX + 200];

        snprintf(want, sizeof(want),
                 "%s/b/machine.pack: /proc/cpuinfo: Permission denied (and others); what they say "
                 "is unknown here (root may read them)",
                 root);
        is_str(p.troubles[1].text, want, "the trouble has the node's file and sentence");
    }
    folder_remove(root);
}

static void is_error(const char *path, int error, const char *want)
{
    struct probe p = { .catalogue = &no_catalogue };
    struct machine m = { .n_nodes = 7 };
    struct err e = { "" };

    is_int(recording_load(&p, path, &m, &e), -error, "recording_load returns its error: %s", want);
    is_str(e.text, want, "recording_load says: %s", want);
    ok(m.n_nodes == 7 && !m.nodes && !p.tree, "recording_load sets nothing: %s", want);
}

static void test_errors(void)
{
    char root[PATH_MAX], path[PATH_MAX], want[PATH_MAX + 200];

    folder_make(root);
    folder_path(root, "no/such/thing", path);
    snprintf(want, sizeof(want), "%s: No such file or directory", path);
    is_error(path, ENOENT, want);
    folder_folder(root, "empty");
    folder_path(root, "empty", path);
    snprintf(want, sizeof(want),
             "%s: is no recording and holds none: there is no machine.pack in it, nor in a "
             "directory of it, and no sys",
             path);
    is_error(path, ENOENT, want);
    folder_text(root, "cut/machine.pack", "brim-pack 1\nf 1 a\n1\n");
    folder_path(root, "cut/machine.pack", path);
    snprintf(want, sizeof(want),
             "%s: is cut off (the last line is not 'end COUNT'); record it again", path);
    is_error(path, EINVAL, want);
    folder_text(root, "broken.xml", "<system>");
    folder_path(root, "broken.xml", path);
    snprintf(want, sizeof(want), "%s:1: the text ends inside <system>", path);
    is_error(path, EINVAL, want);
    folder_remove(root);
}

/* A pack that is larger than any recording. */
static void test_too_large(void)
{
    char root[PATH_MAX], path[PATH_MAX], want[PATH_MAX + 200];

    folder_make(root);
    folder_text(root, "big/machine.pack", "brim-pack 1\n");
    folder_path(root, "big/machine.pack", path);
    folder_need(truncate(path, RECORDING_MAX + 1), path);
    snprintf(want, sizeof(want), "cannot read %s: it is larger than 16 MiB", path);
    is_error(path, EFBIG, want);
    folder_remove(root);
}

/* The machine that this runs on, whatever it is: probed live, recorded, loaded again. */
static void test_make(void)
{
    struct probe p = { .catalogue = &no_catalogue, .patience_ns = 1000000000 };
    struct probe again = { .catalogue = &no_catalogue };
    CLEANUP(node_freep) struct node *live = NULL, *made = NULL;
    CLEANUP(machine_done) struct machine m = { .n_nodes = 0 };
    struct err e = { "" };
    char root[PATH_MAX], path[PATH_MAX];

    folder_make(root);
    folder_path(root, "made", path);
    is_int(recording_live(&p, &live, &e), 0, "recording_live reads this machine: %s", e.text);
    is_int(recording_make(&p, path, &made, &e), 0, "recording_make records this machine: %s",
           e.text);
    is_int(recording_load(&again, path, &m, &e), 0, "recording_load loads this machine: %s",
           e.text);
    if (m.n_nodes == 1 && live && made) {
        const struct node *n = m.nodes[0];

        is_str(n->name, live->name, "the recording has this machine's name");
        is_str(n->cpu_model, live->cpu_model, "the recording has this machine's CPU");
        is_int((long long)n->n_devices, (long long)live->n_devices,
               "the recording has this machine's devices");
        is_int((long long)n->n_pcis, (long long)live->n_pcis,
               "the recording has this machine's functions");
        is_int((long long)n->n_slots, (long long)live->n_slots,
               "the recording has this machine's slots");
        is_int((long long)n->n_numas, (long long)live->n_numas,
               "the recording has this machine's domains");
        is_int(n->memory_b, live->memory_b, "the recording has this machine's memory");
        is_int(n->set.shm_b, live->set.shm_b, "the recording has this machine's settings");
        is_int((long long)made->n_devices, (long long)live->n_devices,
               "the node that was recorded has this machine's devices");
    }
    folder_remove(root);
}

static void test_make_errors(void)
{
    struct probe p = { .catalogue = &no_catalogue, .patience_ns = 1000000000 };
    struct node *n = NULL;
    struct err e = { "" };

    is_int(recording_make(&p, "/proc/no/such", &n, &e), -ENOENT,
           "recording_make fails where no folder can be");
    is_str(e.text, "/proc/no/such: No such file or directory",
           "the error names the folder that cannot be");
    ok(!n && !p.tree, "recording_make sets nothing on an error");
}

int main(void)
{
    test_forms();
    test_xml();
    test_fleet();
    test_fleet_troubles();
    test_errors();
    test_too_large();
    test_make();
    test_make_errors();
    return done();
}
