#include "probe/gpu/fields.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/machine/machine.h"

/* ---- kinds ---- */

static void text_clear(void *at, size_t size)
{
    memset(at, 0, size);
}

static bool text_present(const void *at, size_t size)
{
    const char *text = at;

    (void)size;
    return text[0] != 0;
}

/* Quoted where INI would take it for something else; control characters cannot be written. */
static void text_write(const void *at, size_t size, struct str *out)
{
    const char *text = at;
    bool quote = strpbrk(text, "#;\"\\") || text[0] == ' ' || text[strlen(text) - 1] == ' ';

    (void)size;
    if (quote)
        str_add_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            str_add_char(out, '\\');
        str_add_char(out, (char)((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text));
    }
    if (quote)
        str_add_char(out, '"');
}

static int text_read(const char *text, void *at, size_t size)
{
    size_t len = strlen(text);

    if (len >= size)
        return -EINVAL;
    memset(at, 0, size);
    memcpy(at, text, len);
    return 0;
}

static void int_clear(void *at, size_t size)
{
    int *v = at;

    (void)size;
    *v = ABSENT;
}

static bool int_present(const void *at, size_t size)
{
    const int *v = at;

    (void)size;
    return *v >= 0;
}

static void int_write(const void *at, size_t size, struct str *out)
{
    const int *v = at;

    (void)size;
    str_addf(out, "%d", *v);
}

static int int_read(const char *text, void *at, size_t size)
{
    int *v = at;
    uint64_t number;

    (void)size;
    if (parse_u64(text, &number) < 0 || number > INT_MAX)
        return -EINVAL;
    *v = (int)number;
    return 0;
}

static void int64_clear(void *at, size_t size)
{
    int64_t *v = at;

    (void)size;
    *v = ABSENT;
}

static bool int64_present(const void *at, size_t size)
{
    const int64_t *v = at;

    (void)size;
    return *v >= 0;
}

static void int64_write(const void *at, size_t size, struct str *out)
{
    const int64_t *v = at;

    (void)size;
    str_addf(out, "%lld", (long long)*v);
}

static int int64_read(const char *text, void *at, size_t size)
{
    int64_t *v = at, number;

    (void)size;
    if (parse_i64(text, &number) < 0 || number < 0)
        return -EINVAL;
    *v = number;
    return 0;
}

static void yes_clear(void *at, size_t size)
{
    bool *v = at;

    (void)size;
    *v = false;
}

static bool yes_present(const void *at, size_t size)
{
    const bool *v = at;

    (void)size;
    return *v;
}

static void yes_write(const void *at, size_t size, struct str *out)
{
    (void)at;
    (void)size;
    str_add(out, "yes");
}

static int yes_read(const char *text, void *at, size_t size)
{
    bool *v = at;

    (void)size;
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return -EINVAL;
    *v = text[0] == 'y';
    return 0;
}

/* Any way to write an address is read, one is kept. */
static int pci_read(const char *text, void *at, size_t size)
{
    struct pci_address address;
    char buf[PCI_ADDRESS_TEXT];

    if (pci_address_parse(text, &address) < 0)
        return -EINVAL;
    return text_read(pci_address_text(address, buf), at, size);
}

const struct field_kind field_text = { "a short text", text_clear, text_present, text_write,
                                       text_read };
const struct field_kind field_int = { "a number", int_clear, int_present, int_write, int_read };
const struct field_kind field_int64 = { "a number", int64_clear, int64_present, int64_write,
                                        int64_read };
const struct field_kind field_yes = { "yes or no", yes_clear, yes_present, yes_write, yes_read };
const struct field_kind field_pci = { "a PCI address", text_clear, text_present, text_write,
                                      pci_read };

/* ---- tables ---- */

static size_t elements(const struct field *f)
{
    return f->count ? f->count : 1;
}

/* The element that a key names: 0 for a single value; -1 when it is not this field's. */
static long element(const struct field *f, const char *key)
{
    size_t len = strlen(f->key);
    uint64_t i;

    if (strncmp(key, f->key, len) != 0)
        return -1;
    if (!f->count)
        return key[len] ? -1 : 0;
    return parse_u64(key + len, &i) < 0 || i >= f->count ? -1 : (long)i;
}

void fields_clear(const struct field *table, size_t n, void *base)
{
    for (const struct field *f = table; f < table + n; f++)
        for (size_t i = 0; i < elements(f); i++)
            f->kind->clear((char *)base + f->offset + i * f->size, f->size);
}

void fields_write(const struct field *table, size_t n, const void *base, struct str *out)
{
    for (const struct field *f = table; f < table + n; f++) {
        for (size_t i = 0; i < elements(f); i++) {
            const char *at = (const char *)base + f->offset + i * f->size;

            if (!f->kind->present(at, f->size))
                continue;
            str_add(out, f->key);
            if (f->count)
                str_addf(out, "%zu", i);
            str_add(out, " = ");
            f->kind->write(at, f->size, out);
            str_add_char(out, '\n');
        }
    }
}

int fields_read(const struct field *table, size_t n, void *base, const struct ini_entry *at,
                struct err *e)
{
    for (const struct field *f = table; f < table + n; f++) {
        long i = element(f, at->key);

        if (i < 0)
            continue;
        if (f->kind->read(at->value, (char *)base + f->offset + (size_t)i * f->size, f->size) < 0)
            return err_set(e, -EINVAL, "%s:%d: %s: '%s' is not %s", at->file, at->line, at->key,
                           at->value, f->kind->what);
        return 0;
    }
    return 0;
}

int fields_section(const struct ini_entry *at, const char *kind, unsigned max, unsigned *ret,
                   struct err *e)
{
    size_t len = strlen(kind);
    uint64_t nth;

    if (strncmp(at->section, kind, len) != 0)
        return 0;
    if (parse_u64(at->section + len, &nth) < 0 || nth >= max)
        return err_set(e, -EINVAL, "%s:%d: [%s]: these are numbered from 0 to %u", at->file,
                       at->line, at->section, max - 1);
    *ret = (unsigned)nth;
    return 1;
}
