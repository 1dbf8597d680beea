#include "model/machine/catalogue.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/csv.h"
#include "base/parse.h"
#include "model/machine/pcie.h"

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_INT };

static const struct column {
    const char *name;
    enum column_kind kind;
    size_t offset;
} columns[] = {
    { "name", COLUMN_TEXT, offsetof(struct product, name) },
    { "vendor", COLUMN_TEXT, offsetof(struct product, vendor) },
    { "mem_gb", COLUMN_NUMBER, offsetof(struct product, mem_gb) },
    { "mem_bw_gbs", COLUMN_NUMBER, offsetof(struct product, mem_bw_gbs) },
    { "bf16_dense_tflops", COLUMN_NUMBER, offsetof(struct product, bf16_tflops) },
    { "pcie_gen", COLUMN_INT, offsetof(struct product, pcie_gen) },
    { "pcie_width", COLUMN_INT, offsetof(struct product, pcie_width) },
    { "links", COLUMN_INT, offsetof(struct product, links) },
    { "link_gbs", COLUMN_NUMBER, offsetof(struct product, link_gbs) },
    { "scaleup_link", COLUMN_TEXT, offsetof(struct product, scaleup_link) },
    { "tdp_w", COLUMN_NUMBER, offsetof(struct product, tdp_w) },
    { "port_gbps", COLUMN_NUMBER, offsetof(struct product, port_gbps) },
};

static const char *const kinds[] = {
    [PRODUCT_ACCELERATOR] = "accelerator",
    [PRODUCT_NIC] = "nic",
    [PRODUCT_SWITCH] = "switch",
};

static int set_column(struct arena *a, struct product *p, const struct column *c, const char *text)
{
    char *at = (char *)p + c->offset;
    double number = ABSENT;

    if (c->kind == COLUMN_TEXT) {
        const char **to = (const char **)(void *)at;

        *to = *text ? arena_strdup(a, text) : NULL;
        return *text && !*to ? -ENOMEM : 0;
    }
    if (*text && (parse_double(text, &number) < 0 || number < 0))
        return -EINVAL;
    if (c->kind == COLUMN_NUMBER) {
        *(double *)(void *)at = number;
        return 0;
    }
    if (number > INT16_MAX || number != (int)number)
        return -EINVAL;
    *(int *)(void *)at = (int)number;
    return 0;
}

/* Every number absent: a row may be short, and the table may lack a column. */
static void set_absent(struct product *p)
{
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        if (columns[i].kind != COLUMN_TEXT)
            (void)set_column(NULL, p, &columns[i], "");
}

static int set_kind(struct product *p, const char *text)
{
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        if (!strcmp(kinds[i], text)) {
            p->kind = (enum product_kind)i;
            return 0;
        }
    return -EINVAL;
}

/* Hexadecimal ids, separated by blanks. */
static int set_ids(struct product *p, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, " ");
        char word[8] = "";
        uint64_t id;

        if (!len || len >= sizeof(word) || p->n_ids == PRODUCT_IDS)
            return -EINVAL;
        memcpy(word, text, len);
        if (parse_hex(word, &id) < 0 || id > 0xffff)
            return -EINVAL;
        p->ids[p->n_ids++] = (uint16_t)id;
        text += len;
        text += strspn(text, " ");
    }
    return 0;
}

static int set_field(struct catalogue *c, struct product *p, const char *column, const char *text)
{
    uint64_t id;

    if (!strcmp(column, "kind"))
        return set_kind(p, text);
    if (!strcmp(column, "pci_devices"))
        return set_ids(p, text);
    if (!strcmp(column, "pci_vendor")) {
        if (*text && (parse_hex(text, &id) < 0 || id > 0xffff))
            return -EINVAL;
        p->pci_vendor = *text ? (uint16_t)id : 0;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
        if (!strcmp(columns[i].name, column))
            return set_column(&c->arena, p, &columns[i], text);
    return 0;
}

static int add_row(struct catalogue *c, char *const *header, const struct csv *row, struct err *e)
{
    struct product *p = ARENA_PUSH(&c->arena, &c->products, &c->n_products);

    if (!p)
        return err_nomem(e);
    set_absent(p);
    for (size_t i = 0; i < row->n_fields && header[i]; i++) {
        int rc = set_field(c, p, header[i], row->fields[i]);

        if (rc == -ENOMEM)
            return err_nomem(e);
        if (rc < 0)
            return err_set(e, rc, "devices.csv:%d: '%s' is no %s", row->line, row->fields[i],
                           header[i]);
    }
    if (!p->name)
        return err_set(e, -EINVAL, "devices.csv:%d: the product has no name", row->line);
    return 0;
}

static int load(struct catalogue *c, const char *text, size_t len, struct err *e)
{
    char *header[CSV_FIELDS + 1] = { NULL };
    struct csv row;
    int rc;

    csv_init(&row, text, len);
    rc = csv_next(&row);
    for (size_t i = 0; rc > 0 && i < row.n_fields; i++) {
        header[i] = arena_strdup(&c->arena, row.fields[i]);
        if (!header[i])
            return err_nomem(e);
    }
    while (rc > 0) {
        rc = csv_next(&row);
        if (rc > 0) {
            int added = add_row(c, header, &row, e);

            if (added < 0)
                return added;
        }
    }
    if (rc < 0)
        return err_set(e, -EINVAL, "devices.csv:%d: the row cannot be read", row.line);
    return 0;
}

int catalogue_load(struct catalogue *ret, const char *text, size_t len, struct err *e)
{
    struct catalogue c = { .n_products = 0 };
    int rc = load(&c, text, len, e);

    if (rc < 0) {
        catalogue_done(&c);
        return rc;
    }
    *ret = c;
    return 0;
}

void catalogue_done(struct catalogue *c)
{
    arena_done(&c->arena);
    *c = (struct catalogue){ .n_products = 0 };
}

int catalogue_find(const struct catalogue *c, uint16_t vendor, uint16_t device)
{
    for (size_t i = 0; i < c->n_products; i++) {
        const struct product *p = &c->products[i];

        for (size_t k = 0; p->pci_vendor == vendor && k < p->n_ids; k++)
            if (p->ids[k] == device)
                return (int)i;
    }
    return ABSENT;
}

int catalogue_find_name(const struct catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->n_products; i++)
        if (!strcasecmp(c->products[i].name, name))
            return (int)i;
    return ABSENT;
}
