/* The host: its name, CPU model, board, and the settings of the operating system that bear on
 * jobs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "probe/kernel/kparse.h"
#include "probe/source/fact.h"

enum { TEXT_MAX = 8192 };

/* Store the chosen word of "always [madvise] never". */
static int choice(struct probe *p, struct node *n, const char *path, const char **to)
{
    char text[128], word[64];

    if (tree_line(p->tree, path, text, sizeof(text)) <= 0)
        return 0;
    kparse_choice(text, word, sizeof(word));
    *to = arena_strdup(&n->arena, word);
    return *to ? 0 : -ENOMEM;
}

static int field_number(const char *text, const char *key)
{
    char value[32];
    uint64_t number;

    if (!kparse_field(text, key, value, sizeof(value)) || parse_u64(value, &number) < 0 ||
        number > 1 << 20)
        return ABSENT;
    return (int)number;
}

/* What the first processor of /proc/cpuinfo says: on x86 in words, on Arm in numbers. */
static int read_cpuinfo(struct probe *p, struct node *n)
{
    static const struct {
        const char *key;
        size_t offset;
    } texts[] = {
        { "model name", offsetof(struct node, cpu_model) },
        { "vendor_id", offsetof(struct node, cpu_vendor) },
    };
    char text[TEXT_MAX], value[256];

    if (tree_read(p->tree, "proc/cpuinfo", text, sizeof(text)) <= 0)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const char **to = (const char **)(void *)((char *)n + texts[i].offset);

        if (!kparse_field(text, texts[i].key, value, sizeof(value)))
            continue;
        *to = arena_strdup(&n->arena, value);
        if (!*to)
            return -ENOMEM;
    }
    n->cpu_family = field_number(text, "cpu family");
    n->cpu_number = field_number(text, "model");
    if (n->cpu_vendor) {
        n->cpu_arch = "x86_64";
        n->virtual_machine = kparse_has_flag(text, "flags", "hypervisor");
    } else if (kparse_field(text, "CPU implementer", value, sizeof(value))) {
        n->cpu_arch = "aarch64";
        n->cpu_vendor = !strcmp(value, "0x41")   ? "ARM"
                        : !strcmp(value, "0x48") ? "HiSilicon"
                        : !strcmp(value, "0x4e") ? "NVIDIA"
                                                 : NULL;
        if (kparse_field(text, "CPU part", value, sizeof(value)) && !strcmp(value, "0xd4f"))
            n->cpu_model = "Neoverse V2";
    }
    return 0;
}

/* Product names with which hypervisors introduce themselves where the CPU has no flag for it
 * (Arm). */
static bool is_virtual_board(const char *board)
{
    static const char *const names[] = { "QEMU",       "KVM",  "Virtual Machine", "VMware",
                                         "Amazon EC2", "Xen",  "Google Compute",  "OpenStack",
                                         "Alibaba",    "Bochs" };

    /* bare-metal instances of clouds say so in their product name: "m7g.metal" */
    if (strstr(board, "metal"))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (strstr(board, names[i]))
            return true;
    return false;
}

static int read_board(struct probe *p, struct node *n)
{
    char vendor[128], product[128];
    int has_vendor = tree_line(p->tree, "sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor)) > 0;
    int has_product = tree_line(p->tree, "sys/class/dmi/id/product_name", product,
                                sizeof(product)) > 0;

    if (!has_vendor && !has_product)
        return 0;
    n->board = arena_printf(&n->arena, "%s%s%s", vendor, has_vendor && has_product ? " " : "",
                            product);
    if (!n->board)
        return -ENOMEM;
    if (n->virtual_machine < 0)
        n->virtual_machine = is_virtual_board(n->board);
    return 0;
}

static void read_limits(struct probe *p, struct node *n)
{
    char text[TEXT_MAX];

    if (tree_read(p->tree, "proc/self/limits", text, sizeof(text)) <= 0)
        return;
    n->set.memlock_b = kparse_limit(text, "Max locked memory");
    n->set.nofile = kparse_limit(text, "Max open files");
}

static bool is_shm(const char *line)
{
    return strstr(line, " /dev/shm ") != NULL;
}

/* Words of the kernel's command line that bear on what brim audits. */
static bool is_tuning(const char *word)
{
    static const char *const starts[] = { "iommu",       "intel_iommu", "amd_iommu",
                                          "pci=",        "pcie_",       "tsc",
                                          "clocksource", "numa",        "transparent_hugepage",
                                          "hugepages",   "intel_idle",  "processor.max_cstate",
                                          "idle=",       "nohz",        "isolcpus",
                                          "mitigations" };

    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (!strncmp(word, starts[i], strlen(starts[i])))
            return true;
    return false;
}

static int read_cmdline(struct probe *p, struct node *n)
{
    char text[TEXT_MAX];
    ssize_t len = tree_read_some(p->tree, "proc/cmdline", ' ', is_tuning, text, sizeof(text));

    if (len < 0)
        return 0;
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\n'))
        text[--len] = 0;
    n->set.cmdline = arena_strdup(&n->arena, text);
    return n->set.cmdline ? 0 : -ENOMEM;
}

static void read_memory(struct probe *p, struct node *n)
{
    char text[TEXT_MAX * 4];

    if (tree_read(p->tree, "proc/meminfo", text, sizeof(text)) > 0)
        n->memory_b = kparse_meminfo(text, "MemTotal");
    if (tree_read(p->tree, "proc/swaps", text, sizeof(text)) > 0)
        n->set.swap_b = kparse_swaps(text);
    if (tree_read_some(p->tree, "proc/self/mounts", '\n', is_shm, text, sizeof(text)) > 0)
        n->set.shm_b = kparse_tmpfs(text, "/dev/shm", n->memory_b);
}

/* Whether the kernel is of that version or later: "6.8.0-45-generic". */
static bool kernel_from(const struct node *n, uint64_t major, uint64_t minor)
{
    const char *text = n->kernel ? n->kernel : "";
    uint64_t first, second = 0;
    int digits = parse_digits(text, 10, 4, &first);

    if (!digits)
        return false;
    if (text[digits] == '.' && !parse_digits(text + digits + 1, 10, 4, &second))
        second = 0;
    return first > major || (first == major && second >= minor);
}

/* How GPU memory can be handed to NICs: by a peer-memory module, or as dma-buf, which NVIDIA's open
 * kernel modules offer from Linux 5.12 on and amdgpu always. */
static int read_driver(struct probe *p, struct node *n)
{
    static const char *const peers[] = { "sys/module/nvidia_peermem", "sys/module/nv_peer_mem" };
    static const char *const drivers[] = { "sys/module/nvidia", "sys/module/amdgpu" };
    char text[512];
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(drivers) && !n->set.gpu_driver && rc == 0; i++)
        rc = fact_text(p, n, drivers[i], "version", &n->set.gpu_driver);
    n->set.peermem = 0;
    for (size_t i = 0; i < ARRAY_SIZE(peers); i++)
        n->set.peermem |= tree_exists(p->tree, peers[i]);
    if (tree_read(p->tree, "proc/driver/nvidia/version", text, sizeof(text)) > 0) {
        n->set.open_driver = strstr(text, "Open Kernel Module") != NULL;
        n->set.dmabuf = n->set.open_driver && kernel_from(n, 5, 12);
    } else if (tree_exists(p->tree, "sys/module/amdgpu")) {
        n->set.dmabuf = 1;
    }
    return rc;
}

static int read_settings(struct probe *p, struct node *n)
{
    struct settings *s = &n->set;
    int rc = read_cmdline(p, n);

    if (rc == 0)
        rc = fact_text(p, n, "sys/devices/system/clocksource/clocksource0", "current_clocksource",
                       &s->clocksource);
    if (rc == 0)
        rc = choice(p, n, "sys/kernel/mm/transparent_hugepage/enabled", &s->thp);
    s->numa_balancing = (int)tree_number(p->tree, "proc/sys/kernel/numa_balancing");
    read_memory(p, n);
    read_limits(p, n);
    return rc;
}

static int host_read(struct probe *p, struct node *n, struct err *e)
{
    static int (*const parts[])(struct probe *, struct node *) = { read_cpuinfo, read_board,
                                                                   read_settings, read_driver };
    int rc = fact_text(p, n, "proc/sys/kernel", "hostname", &n->name);

    if (rc == 0)
        rc = fact_text(p, n, "proc/sys/kernel", "osrelease", &n->kernel);
    for (size_t i = 0; i < ARRAY_SIZE(parts) && rc == 0; i++)
        rc = parts[i](p, n);
    if (!n->name)
        n->name = "unnamed";
    return rc < 0 ? err_nomem(e) : 0;
}

const struct source_ops source_host = {
    .name = "host",
    .what = "name, CPU model, board and operating system settings, from /proc and sysfs",
    .read = host_read,
};
