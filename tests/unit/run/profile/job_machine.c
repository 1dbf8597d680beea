/* What a profile says of the machine: its CPUs, memory and accelerators in words, and which words
 * of a command are read as files. */
#include "devices_csv.h"
#include "folder.h"
#include "probe/kernel/pack.h"
#include "run/profile/job_key.h"
#include "tap.h"

enum { ROOM = 64 << 10, DEVICES = 4 };

#define H100 "0x10de", "0x2330"
#define A100 "0x10de", "0x20b0"
#define MI300X "0x1002", "0x74a1"

struct device {
    const char *class, *vendor, *device;
};

static const struct {
    const char *cpuinfo, *meminfo, *cpus;
    struct device devices[DEVICES];
    const char *visible; /* CUDA_VISIBLE_DEVICES; NULL: not set */
    bool bare;           /* without the catalogue */
    const char *want;
} cases[] = {
    { "model name : X\n",
      "MemTotal: 16303428 kB\n",
      "0",
      { { NULL } },
      NULL,
      0,
      "X, 1 CPU, 16 GiB" },
    { "model name\t: X y\nflags: z\n", NULL, "0-1", { { NULL } }, NULL, 0, "X y, 2 CPUs" },
    { "model name :\nflags: z\n", NULL, "", { { NULL } }, NULL, 0, "CPU" },
    { "flags : z\n", NULL, "", { { NULL } }, NULL, 0, "CPU" },
    { NULL, "MemTotal: x kB\n", "", { { NULL } }, NULL, 0, "CPU" },
    { NULL, "MemTotal: 104333312 kB\n", "", { { NULL } }, NULL, 0, "CPU, 100 GiB" },
    { NULL, "MemTotal: 131700000 kB\n", "", { { NULL } }, NULL, 0, "CPU, 130 GiB" },
    { NULL, "MemTotal: 103809024 kB\n", "", { { NULL } }, NULL, 0, "CPU, 99 GiB" },
    { NULL, "MemTotal: 104857600 kB\n", "", { { NULL } }, NULL, 0, "CPU, 100 GiB" },
    { NULL, NULL, "", { { "0x030200", H100 } }, NULL, 0, "CPU, 1 x H100-SXM5-80GB" },
    { NULL,
      NULL,
      "",
      { { "0x030200", H100 }, { "0x030200", A100 }, { "0x030200", H100 } },
      NULL,
      1,
      "CPU, 2 x 10de:2330, 1 x 10de:20b0" },
    { NULL,
      NULL,
      "",
      { { "0x120000", "0x1234", "0x2330" }, { "0x120000", H100 } },
      NULL,
      1,
      "CPU, 1 x 1234:2330, 1 x 10de:2330" },
    { NULL, NULL, "", { { "0x120000", MI300X } }, NULL, 0, "CPU, 1 x MI300X" },
    { NULL, NULL, "", { { "0x030000", MI300X } }, NULL, 0, "CPU, 1 x MI300X" },
    { NULL, NULL, "", { { "0x038000", MI300X } }, NULL, 0, "CPU, 1 x MI300X" },
    { NULL, NULL, "", { { "0x030000", MI300X } }, NULL, 1, "CPU" },
    { NULL, NULL, "", { { "0x038000", "0x1234", "0x5678" } }, NULL, 0, "CPU" },
    { NULL, NULL, "", { { "0x030200", "0x1234", "0x5678" } }, NULL, 0, "CPU, 1 x 1234:5678" },
    { NULL, NULL, "", { { "0x030100", H100 } }, NULL, 0, "CPU" },
    { NULL, NULL, "", { { "0x020000", H100 } }, NULL, 0, "CPU" },
    { NULL, NULL, "", { { "0x030200", H100 } }, "", 1, "CPU, 1 x 10de:2330 (0 visible)" },
    { NULL, NULL, "", { { "0x030200", H100 } }, "-1", 1, "CPU, 1 x 10de:2330 (0 visible)" },
    { NULL, NULL, "", { { "0x030200", H100 } }, "3", 1, "CPU, 1 x 10de:2330 (1 visible)" },
    { NULL, NULL, "", { { "0x030200", H100 } }, "0,1,2", 1, "CPU, 1 x 10de:2330 (3 visible)" },
    { NULL, NULL, "", { { NULL } }, "0,1", 0, "CPU" },
    { "model name : \x1f~\x7f\n", NULL, "", { { NULL } }, NULL, 0, "?~?" },
};

static void add_file(struct str *pack, const char *path, const char *text, unsigned *n)
{
    if (!text)
        return;
    pack_add(pack, 'f', path, text, strlen(text));
    ++*n;
}

static void add_devices(struct str *pack, const struct device devices[DEVICES], unsigned *n)
{
    CLEANUP(str_done) struct str list = STR_INIT(ROOM);
    char path[128];

    for (size_t i = 0; i < DEVICES && devices[i].class; i++) {
        const char *const files[][2] = { { "class", devices[i].class },
                                         { "vendor", devices[i].vendor },
                                         { "device", devices[i].device } };

        str_addf(&list, "0000:0%zu:00.0\n", i);
        for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
            snprintf(path, sizeof(path), "sys/bus/pci/devices/0000:0%zu:00.0/%s", i, files[k][0]);
            add_file(pack, path, files[k][1], n);
        }
    }
    pack_add(pack, 'd', "sys/bus/pci/devices", str_text(&list), list.len);
    ++*n;
}

static void test_machines(const struct catalogue *devices)
{
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(str_done) struct str pack = STR_INIT(ROOM);
        struct arena a = ARENA_INIT;
        char job[] = "job", visible[64], *argv[] = { job, NULL }, *env[] = { NULL, NULL };
        struct job_key_about about = { .argv = argv, .env = env, .cpus = cases[i].cpus };
        struct job_key key = { .machine = "(none)" };
        struct tree *tree = NULL;
        unsigned n = 0;

        pack_begin(&pack);
        add_file(&pack, "proc/cpuinfo", cases[i].cpuinfo, &n);
        add_file(&pack, "proc/meminfo", cases[i].meminfo, &n);
        add_devices(&pack, cases[i].devices, &n);
        pack_end(&pack, n);
        if (cases[i].visible) {
            snprintf(visible, sizeof(visible), "CUDA_VISIBLE_DEVICES=%s", cases[i].visible);
            env[0] = visible;
        }
        about.devices = cases[i].bare ? NULL : devices;
        if (tree_open_pack(&tree, "p", str_text(&pack), pack.len, NULL) == 0) {
            about.tree = tree;
            is_int(job_key_make(&a, &about, &key), 0, "job_key_make looks at machine %zu", i);
        }
        is_str(key.machine, cases[i].want, "machine %zu is told in words", i);
        tree_close(tree);
        arena_done(&a);
    }
}

/* The key of a command with one argument. */
static const char *key_of(struct arena *a, struct tree *tree, const char *word)
{
    char job[] = "job", *argv[] = { job, arena_strdup(a, word), NULL }, *env[] = { NULL };
    const struct job_key_about about = { .argv = argv, .env = env, .tree = tree, .cpus = "" };
    struct job_key key = { .key = "" };

    is_int(job_key_make(a, &about, &key), 0, "job_key_make makes a key of '%s'", word);
    return key.key;
}

/* Which words of a command are files whose text belongs to the job. */
static void test_words(void)
{
    static const struct {
        const char *before, *file;
        bool read;
    } words[] = {
        { "", "conf", true },       { "--conf=", "conf", true },    { "-c=", "conf", true },
        { "conf=", "conf", false }, { "--conf", "conf", false },    { "", "large", false },
        { "", "limit", true },      { "--large=", "large", false },
    };
    enum { LIMIT = 1 << 20 };
    CLEANUP(str_done) struct str pack = STR_INIT(ROOM), large = STR_INIT(2 * LIMIT);
    char root[PATH_MAX], path[PATH_MAX], word[PATH_MAX + 16];
    struct arena a = ARENA_INIT;
    struct tree *tree = NULL;

    folder_make(root);
    pack_begin(&pack);
    pack_end(&pack, 0);
    ok(tree_open_pack(&tree, "p", str_text(&pack), pack.len, NULL) == 0, "a bare machine is made");
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        const char *first, *second;
        size_t len = words[i].file[0] == 'c' ? 1 : words[i].file[1] == 'i' ? LIMIT : LIMIT + 1;

        str_reset(&large);
        str_fill(&large, 'x', (int)len);
        folder_file(root, words[i].file, str_text(&large), large.len);
        folder_path(root, words[i].file, path);
        snprintf(word, sizeof(word), "%s%s", words[i].before, path);
        first = key_of(&a, tree, word);
        str_reset(&large);
        str_fill(&large, 'y', (int)len);
        folder_file(root, words[i].file, str_text(&large), large.len);
        second = key_of(&a, tree, word);
        ok(!strcmp(first, second) == !words[i].read,
           "the text of file %s behind '%s' makes another job or not", words[i].file,
           words[i].before);
    }
    is_int((long long)strlen(key_of(&a, tree, root)), 16, "a folder among the words is no file");
    is_str(key_of(&a, tree, "x"), "d31746b60735270c", "the key of a command stays the same");
    tree_close(tree);
    arena_done(&a);
    folder_remove(root);
}

int main(void)
{
    struct catalogue devices;
    struct err e = { "" };

    ok(catalogue_load(&devices, data_devices_csv, data_devices_csv_len, &e) == 0,
       "the catalogue is loaded: %s", e.text);
    test_machines(&devices);
    test_words();
    catalogue_done(&devices);
    return done();
}
