/* A pack: opened, every entry found and decoded; then the machine that it describes is probed,
 * audited and written as JSON. */
#include <errno.h>
#include <string.h>

#include "diagnose/audit/audit.h"
#include "fuzz_node.h"
#include "probe/kernel/pack.h"
#include "probe/source/source.h"
#include "probe/sources.h"
#include "render/machine/render.h"

static const char products[] = "name,vendor,kind,pci_vendor,pci_devices,links,port_gbps\n"
                               "H100,NVIDIA,accelerator,10de,2330,18,\n"
                               "MI300X,AMD,accelerator,1002,74a1,7,\n"
                               "NVSwitch,NVIDIA,switch,10de,22a3,,\n"
                               "ConnectX-7,NVIDIA,nic,15b3,1021,,400\n";

enum { PATH = 512, OUT_MAX = 64 << 20, MUTATE_MAX = 8192 };

/* One entry, read in the simplest way: the index of pack.c is not asked. */
struct plain {
    const char *at, *path, *data, *next;
    size_t path_len, len;
};

static struct plain plain_entry(const char *at, const char *end)
{
    struct plain p = { .at = at };
    const char *line_end = memchr(at, '\n', (size_t)(end - at));
    char *number_end;

    check(line_end != NULL);
    p.len = strtoul(at + 2, &number_end, 10);
    p.path = number_end + 1;
    p.path_len = (size_t)(line_end - p.path);
    p.data = line_end + 1;
    p.next = p.data + p.len + 1;
    check(p.path_len < PATH && p.next <= end);
    return p;
}

/* The index has every entry. */
static void check_entries(const struct pack *p, const char *text, size_t size)
{
    char path[PATH], bytes[256];
    const char *at = strchr(text, '\n') + 1;

    for (size_t i = 0; i < pack_count(p); i++) {
        struct plain one = plain_entry(at, text + size);
        const struct pack_entry *found;
        long got;

        at = one.next;
        memcpy(path, one.path, one.path_len);
        path[one.path_len] = 0;
        if (strlen(path) != one.path_len)
            continue; /* a NUL within: nobody asks for such a path */
        found = pack_find(p, path);
        check(found && found->path_len == one.path_len);
        check(!memcmp(found->path, path, one.path_len));
        got = found->type == 'x' ? pack_unhex(found, bytes, sizeof(bytes)) : 0;
        check(got == -EINVAL || (got >= 0 && got <= (long)sizeof(bytes)));
    }
    check(!strncmp(at, "end ", 4));
}

static void check_audit(struct node *n, const struct catalogue *c)
{
    CLEANUP(findings_done) struct findings f = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUT_MAX);
    struct node *nodes[] = { n };
    struct machine m = { .nodes = nodes, .n_nodes = 1 };
    struct machine_view v = { .machine = &m, .catalogue = c };

    check(audit_node(n, c, &f) == 0);
    check(audit_fleet(&m, NULL, &f) == 0);
    for (size_t i = 0; i < f.count; i++)
        check(f.list[i].sentence[0] && f.list[i].severity <= SEVERITY_CRITICAL);
    check(machine_renderer_find("json")->render(&v, &out) == 0);
}

static void check_probe(const char *text, size_t size)
{
    CLEANUP(catalogue_done) struct catalogue c = { .n_products = 0 };
    CLEANUP(node_freep) struct node *n = NULL;
    struct probe p = { .catalogue = &c };

    check(catalogue_load(&c, products, sizeof(products) - 1, NULL) == 0);
    check(tree_open_pack(&p.tree, "f.pack", text, size, NULL) == 0);
    check(probe_node(&p, &n, NULL) == 0);
    tree_close(p.tree);
    check_node(n, c.n_products);
    check_audit(n, &c);
}

/* A terminated copy. */
static char *copy(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    check(text != NULL);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* A pack whose lengths are wrong is damage at once: change what is in an entry, and its length with
 * it. libFuzzer calls this; the replay has neither of its functions and needs none. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

static void add_changed(struct str *out, const struct plain *one)
{
    uint8_t changed[MUTATE_MAX];
    size_t len = MIN(one->len, sizeof(changed));

    memcpy(changed, one->data, len);
    len = LLVMFuzzerMutate(changed, len, sizeof(changed));
    str_addf(out, "%c %zu %.*s\n", one->at[0], len, (int)one->path_len, one->path);
    str_add_n(out, (const char *)changed, len);
    str_add_char(out, '\n');
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    CLEANUP(pack_closep) struct pack *p = NULL;
    CLEANUP(freep) char *text = copy(data, size);
    CLEANUP(str_done) struct str out = STR_INIT(max);
    const char *at;

    if (seed % 8 == 0 || pack_open(&p, "f.pack", text, size, NULL) < 0 || !pack_count(p))
        return LLVMFuzzerMutate(data, size, max);
    at = strchr(text, '\n') + 1;
    str_add_n(&out, text, (size_t)(at - text));
    for (size_t i = 0; i < pack_count(p); i++) {
        struct plain one = plain_entry(at, text + size);

        if (i == seed / 8 % pack_count(p))
            add_changed(&out, &one);
        else
            str_add_n(&out, at, (size_t)(one.next - at));
        at = one.next;
    }
    str_add(&out, at);
    if (str_error(&out))
        return LLVMFuzzerMutate(data, size, max);
    memcpy(data, out.data, out.len);
    return out.len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(pack_closep) struct pack *p = NULL;
    CLEANUP(freep) char *text = copy(data, size);
    struct err e = { "" };
    int rc = pack_open(&p, "f.pack", (const char *)data, size, &e);

    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    check(rc == 0 || !strncmp(e.text, "f.pack: ", 8));
    if (rc < 0)
        return 0;
    check_entries(p, text, size);
    check_probe((const char *)data, size);
    return 0;
}
