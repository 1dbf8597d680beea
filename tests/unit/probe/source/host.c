/* What a host says of itself: its CPU, board, kernel's words and how its memory is handed on. */
#include "base/str.h"
#include "probe/kernel/pack.h"
#include "probe/source/source.h"
#include "tap.h"

extern const struct source_ops source_host;

struct file {
    const char *path, *text; /* NULL: a folder */
};

enum { FILES = 4 };

/* The node that these files tell of. */
static struct node *node_of(const struct file files[FILES])
{
    CLEANUP(str_done) struct str pack = STR_INIT(8192);
    struct probe p = { .n_troubles = 0 };
    struct node *n = node_new();
    struct err e;
    size_t count = 0;

    pack_begin(&pack);
    for (; count < FILES && files[count].path; count++) {
        const char *text = files[count].text;

        pack_add(&pack, text ? 'f' : 'd', files[count].path, text, text ? strlen(text) : 0);
    }
    pack_end(&pack, count);
    if (!n || tree_open_pack(&p.tree, "made", str_text(&pack), pack.len, &e) != 0 ||
        source_host.read(&p, n, &e) != 0)
        abort();
    tree_close(p.tree);
    return n;
}

static void test_family(void)
{
    static const struct {
        const char *text;
        int family, number;
    } cases[] = {
        { "vendor_id : AuthenticAMD\ncpu family : 25\nmodel : 17\n", 25, 17 },
        { "cpu family : 1048576\nmodel : 0\n", 1048576, 0 },
        { "cpu family : 1048577\nmodel : 1048575\n", ABSENT, 1048575 },
        { "cpu family : x\nmodel : 1x\n", ABSENT, ABSENT },
        { "model name : 7\n", ABSENT, ABSENT },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep)
        struct node *n = node_of((struct file[FILES]){ { "proc/cpuinfo", cases[i].text } });

        is_int(n->cpu_family, cases[i].family, "the family of a CPU is read from %s",
               cases[i].text);
        is_int(n->cpu_number, cases[i].number, "the model of a CPU is read from %s", cases[i].text);
    }
}

static void test_vendor(void)
{
    static const struct {
        const char *text, *vendor, *arch, *model;
        int guest;
    } cases[] = {
        { "vendor_id : GenuineIntel\nmodel name : Xeon\nflags : fpu hypervisor\n", "GenuineIntel",
          "x86_64", "Xeon", 1 },
        { "vendor_id : GenuineIntel\nflags : fpu hypervisors\n", "GenuineIntel", "x86_64", NULL,
          0 },
        { "CPU implementer : 0x41\nCPU part : 0xd4f\n", "ARM", "aarch64", "Neoverse V2", -1 },
        { "CPU implementer : 0x48\nCPU part : 0xd01\n", "HiSilicon", "aarch64", NULL, -1 },
        { "CPU implementer : 0x4e\n", "NVIDIA", "aarch64", NULL, -1 },
        { "CPU implementer : 0x99\n", NULL, "aarch64", NULL, -1 },
        { "processor : 0\n", NULL, NULL, NULL, -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep)
        struct node *n = node_of((struct file[FILES]){ { "proc/cpuinfo", cases[i].text } });

        is_str(n->cpu_vendor, cases[i].vendor, "the maker of a CPU is read from %s", cases[i].text);
        is_str(n->cpu_arch, cases[i].arch, "the kind of a CPU is read from %s", cases[i].text);
        is_str(n->cpu_model, cases[i].model, "the name of a CPU is read from %s", cases[i].text);
        is_int(n->virtual_machine, cases[i].guest, "a guest is known by %s", cases[i].text);
    }
}

static void test_board(void)
{
    static const struct {
        const char *vendor, *product, *board;
        int guest;
    } cases[] = {
        { "NVIDIA", "DGXH100", "NVIDIA DGXH100", 0 },
        { NULL, "DGXH100", "DGXH100", 0 },
        { "QEMU", NULL, "QEMU", 1 },
        { "QEMU", "metal", "QEMU metal", 0 },
        { "Bochs", "", "Bochs", 1 },
        { "x", "Amazon EC2", "x Amazon EC2", 1 },
        { "x", "Amazon", "x Amazon", 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct file files[FILES] = { { NULL, NULL } };
        size_t count = 0;

        if (cases[i].vendor)
            files[count++] = (struct file){ "sys/class/dmi/id/sys_vendor", cases[i].vendor };
        if (cases[i].product)
            files[count++] = (struct file){ "sys/class/dmi/id/product_name", cases[i].product };

        CLEANUP(node_freep) struct node *n = node_of(files);

        is_str(n->board, cases[i].board, "the board is %s", cases[i].board);
        is_int(n->virtual_machine, cases[i].guest, "the board %s is a guest's or not",
               cases[i].board);
    }
}

static void test_words(void)
{
    CLEANUP(node_freep)
    struct node *n = node_of((struct file[FILES]){
        { "proc/cmdline", "root=/dev/vda iommu=pt quiet pci=noacs numa xnuma idle=poll idle \n" },
        { "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n" },
        { "proc/sys/kernel/numa_balancing", "1\n" } });

    is_str(n->set.cmdline, "iommu=pt pci=noacs numa idle=poll",
           "of the kernel's words those are kept that bear on what is audited");
    is_str(n->set.thp, "madvise", "the setting of huge pages is the word in brackets");
    is_int(n->set.numa_balancing, 1, "whether the kernel moves memory to its users is read");
    is_str(n->name, "unnamed", "a machine without a name has one all the same");
}

static void test_dmabuf(void)
{
    static const struct {
        const char *kernel, *driver;
        int open_driver, dmabuf;
    } cases[] = {
        { "5.12.0", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 1 },
        { "5.11.22-generic", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 0 },
        { "6.1", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 1 },
        { "6", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 1 },
        { "4.19", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 0 },
        { "5", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 0 },
        { "x", "NVRM version: NVIDIA UNIX Open Kernel Module", 1, 0 },
        { "6.8", "NVRM version: NVIDIA UNIX x86_64 Kernel Module", 0, 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        CLEANUP(node_freep)
        struct node *n = node_of((struct file[FILES]){
            { "proc/sys/kernel/osrelease", cases[i].kernel },
            { "proc/driver/nvidia/version", cases[i].driver },
            { i & 1 ? "sys/module/nvidia_peermem" : "sys/module/nv_peer_mem", NULL } });

        is_int(n->set.peermem, 1, "a module of peer memory is seen by its folder");
        is_int(n->set.open_driver, cases[i].open_driver, "%s is open or not", cases[i].driver);
        is_int(n->set.dmabuf, cases[i].dmabuf, "Linux %s hands GPU memory out as dma-buf or not",
               cases[i].kernel);
    }

    CLEANUP(node_freep)
    struct node *amd = node_of((struct file[FILES]){ { "sys/module/amdgpu", NULL },
                                                     { "sys/module/amdgpu/version", "6.8.5\n" } });

    is_int(amd->set.dmabuf, 1, "amdgpu hands GPU memory out as dma-buf");
    is_str(amd->set.gpu_driver, "6.8.5", "the version of amdgpu is the GPUs' driver");
    is_int(amd->set.peermem, 0, "a machine without that module has no peer memory");
}

int main(void)
{
    test_family();
    test_vendor();
    test_board();
    test_words();
    test_dmabuf();
    return done();
}
