#include <string.h>

#include "model/machine/way.h"
#include "render/machine/describe.h"
#include "render/text.h"

void describe_host(struct str *out, const struct node *n)
{
    const char *comma = "";

    if (n->board) {
        text_add(out, n->board);
        comma = ", ";
    }
    if (n->virtual_machine >= 0) {
        str_addf(out, "%s%s", comma, n->virtual_machine ? "virtual machine" : "bare metal");
        comma = ", ";
    }
    if (n->kernel) {
        str_addf(out, "%sLinux ", comma);
        text_add(out, n->kernel);
    }
}

/* Add ", 112 cores" when every socket says how many. */
static void add_sum(struct str *out, int64_t sum, const char *noun)
{
    if (sum <= 0)
        return;
    str_add(out, ", ");
    text_count(out, (size_t)sum, noun);
}

void describe_cpus(struct str *out, const struct node *n)
{
    int64_t cores = 0, threads = 0;
    bool known = true;

    for (size_t i = 0; i < n->n_sockets; i++) {
        cores += n->sockets[i].cores;
        threads += n->sockets[i].threads;
        known = known && n->sockets[i].cores > 0 && n->sockets[i].threads > 0;
    }
    if (n->n_sockets)
        str_addf(out, "%zux ", n->n_sockets);
    text_add(out, n->cpu_model ? n->cpu_model : n->cpu_vendor ? n->cpu_vendor : "CPU");
    if (known) {
        add_sum(out, cores, "core");
        add_sum(out, threads, "thread");
    }
    if (n->memory_b > 0) {
        str_add(out, ", ");
        describe_ram(out, n->memory_b);
    }
}

void describe_cpus_short(struct str *out, const struct node *n)
{
    static const char *const noise[] = { "Intel(R) ", "(R)",  "(TM)",      "Intel ",
                                         "AMD ",      "CPU ", " Processor" };
    const char *at = n->cpu_model ? n->cpu_model : n->cpu_vendor ? n->cpu_vendor : "CPU";
    CLEANUP(str_done) struct str name = STR_INIT(256);

    while (*at && *at != '@') {
        size_t skip = 0;

        for (size_t i = 0; i < ARRAY_SIZE(noise) && !skip; i++)
            if (!strncmp(at, noise[i], strlen(noise[i])))
                skip = strlen(noise[i]);
        if (!skip)
            str_add_char(&name, *at++);
        at += skip;
    }
    str_fail(out, str_error(&name));
    if (n->n_sockets)
        str_addf(out, "%zux ", n->n_sockets);
    text_add(out, str_text(&name));
}

static const char *product_or_kind(const struct machine_view *v, const struct device *d)
{
    static const char *const kinds[] = {
        [DEVICE_ACCELERATOR] = "accelerator",
        [DEVICE_NIC] = "NIC",
        [DEVICE_NVME] = "NVMe",
        [DEVICE_SWITCH] = "NVSwitch",
    };
    const char *product = describe_product(v, d);

    return product ? product : kinds[d->kind];
}

void describe_products(struct str *out, const struct machine_view *v, const struct node *n,
                       enum device_kind kind)
{
    bool any = false;

    for (size_t i = 0; i < n->n_devices; i++) {
        const struct device *d = &n->devices[i];
        const char *name = product_or_kind(v, d);
        size_t before = 0, count = 0;

        if (d->kind != kind)
            continue;
        for (size_t k = 0; k < n->n_devices; k++) {
            bool same = n->devices[k].kind == kind &&
                        !strcmp(product_or_kind(v, &n->devices[k]), name);

            before += same && k < i;
            count += same;
        }
        if (before)
            continue; /* counted with the first of them */
        str_addf(out, "%s%zux ", any ? ", " : "", count);
        text_add(out, name);
        any = true;
    }
}

bool describe_only_cores(const struct node *n)
{
    bool cores = false;

    for (size_t i = 0; i < n->n_devices; i++) {
        if (n->devices[i].kind != DEVICE_ACCELERATOR)
            continue;
        if (n->devices[i].acc.cores <= 0)
            return false;
        cores = true;
    }
    return cores;
}

struct pairs {
    size_t all, joined;
    bool alike;     /* all joined pairs have the same class and count */
    struct way one; /* of the first joined pair */
};

/* Accelerators come first among the devices. */
static struct pairs count_pairs(const struct node *n)
{
    struct pairs p = { .alike = true };

    for (int a = 0; a < (int)n->n_acc; a++)
        for (int b = a + 1; b < (int)n->n_acc; b++) {
            struct way w = way_between(n, a, b);

            p.all++;
            if (w.class != WAY_NV && w.class != WAY_C2C)
                continue;
            if (!p.joined++)
                p.one = w;
            p.alike = p.alike && w.class == p.one.class && w.link == p.one.link &&
                      w.count == p.one.count;
        }
    return p;
}

/* "GPU0-GPU1, GPU2-GPU3" */
static void add_pairs(struct str *out, const struct node *n)
{
    const char *comma = "";

    for (int a = 0; a < (int)n->n_acc; a++)
        for (int b = a + 1; b < (int)n->n_acc; b++) {
            struct way w = way_between(n, a, b);

            if (w.class != WAY_NV && w.class != WAY_C2C)
                continue;
            str_add(out, comma);
            text_add(out, n->devices[a].name);
            str_add_char(out, '-');
            text_add(out, n->devices[b].name);
            comma = ", ";
        }
}

/* Whether any accelerator said how many links it has; others may have links that nobody told of. */
static bool links_seen(const struct node *n)
{
    for (size_t i = 0; i < n->n_acc; i++)
        if (n->devices[i].acc.links_up >= 0)
            return true;
    return false;
}

void describe_fabric(struct str *out, const struct node *n)
{
    enum { PAIRS_LISTED = 4 };
    struct pairs p = count_pairs(n);
    char text[WAY_TEXT];

    if (!p.all)
        return;
    if (!p.joined) {
        str_add(out, links_seen(n) ? "PCIe alone between them" : "only PCIe seen between them");
        return;
    }
    str_add(out, p.alike ? way_text(&p.one, text) : describe_link_kind(p.one.link));
    if (p.joined == p.all) {
        str_add(out, " between all pairs");
    } else if (p.joined <= PAIRS_LISTED) {
        str_add(out, " between ");
        add_pairs(out, n);
    } else {
        str_addf(out, " between %zu of %zu pairs", p.joined, p.all);
    }
}

void describe_fabric_short(struct str *out, const struct node *n)
{
    struct pairs p = count_pairs(n);
    char text[WAY_TEXT];

    if (!p.all)
        return;
    if (!p.joined) {
        str_add(out, "PCIe");
        return;
    }
    str_add(out, p.alike ? way_text(&p.one, text) : describe_link_kind(p.one.link));
    if (p.joined < p.all)
        str_addf(out, ", %zu of %zu pairs", p.joined, p.all);
}

int describe_memory_owner(const struct node *n, int numa)
{
    int before = 0, seen = 0;

    for (int i = 0; i < numa; i++)
        before += n->numas[i].socket < 0 && n->numas[i].memory_b > 0;
    for (int i = 0; i < (int)n->n_acc; i++) {
        double b = (double)n->devices[i].acc.memory_b, has = (double)n->numas[numa].memory_b;

        if (n->devices[i].acc.cores > 0 || seen++ != before)
            continue;
        return b > 0.9 * has && b < 1.1 * has ? i : ABSENT;
    }
    return ABSENT;
}
