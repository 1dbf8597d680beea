/* A reading of DCMI as text, for recordings. */
#include <string.h>

#include "base/ini.h"
#include "probe/ascend/dcmi.h"
#include "probe/gpu/fields.h"

#define CHIP(member) FIELD_AT(struct dcmi_chip, member)

static const struct field chip_fields[] = {
    { "card", &field_int, CHIP(card), 0 },     { "device", &field_int, CHIP(device), 0 },
    { "bdf", &field_pci, CHIP(bdf), 0 },       { "type", &field_text, CHIP(type), 0 },
    { "name", &field_text, CHIP(name), 0 },    { "version", &field_text, CHIP(version), 0 },
    { "cores", &field_int, CHIP(cores), 0 },   { "memory_b", &field_int64, CHIP(memory_b), 0 },
    { "health", &field_int, CHIP(health), 0 }, { "lost", &field_yes, CHIP(lost), 0 },
};

void dcmi_reading_init(struct dcmi_reading *r)
{
    memset(r, 0, sizeof(*r));
    for (unsigned i = 0; i < DCMI_CHIPS; i++)
        fields_clear(chip_fields, ARRAY_SIZE(chip_fields), &r->chips[i]);
}

void dcmi_text_write(const struct dcmi_reading *r, struct str *out)
{
    for (unsigned i = 0; i < r->n_chips; i++) {
        str_addf(out, "%s[npu %u]\n", i ? "\n" : "", i);
        fields_write(chip_fields, ARRAY_SIZE(chip_fields), &r->chips[i], out);
    }
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct dcmi_reading *r = ctx;
    unsigned nth;
    int rc = fields_section(at, "npu ", DCMI_CHIPS, &nth, e);

    if (rc <= 0)
        return rc;
    r->n_chips = MAX(r->n_chips, nth + 1);
    return at->key ? fields_read(chip_fields, ARRAY_SIZE(chip_fields), &r->chips[nth], at, e) : 0;
}

int dcmi_text_read(const char *name, const char *text, size_t len, struct dcmi_reading *r,
                   struct err *e)
{
    dcmi_reading_init(r);
    return ini_parse(name, text, len, read_entry, r, e);
}
