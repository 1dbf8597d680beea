/* Plain structures as INI keys, both ways from one table: how what a driver said gets into a
 * recording and out of it again.
 *
 *     static const struct field table[] = {
 *         { "name", &field_text, FIELD_AT(struct gpu, name), 0 },
 *         { "minor", &field_int, FIELD_AT(struct gpu, minor), 0 },
 *         { "link", &kind_link, FIELD_AT(struct gpu, links[0]), LINKS },    link0, link1 ...
 *     };
 */
#ifndef BRIM_PROBE_GPU_FIELDS_H
#define BRIM_PROBE_GPU_FIELDS_H
#include <stdbool.h>
#include <stddef.h>

#include "base/ini.h"
#include "base/str.h"

/* How values of one type are made absent, recognised as that, written and read. */
struct field_kind {
    const char *what; /* for messages: "a number" */
    void (*clear)(void *at, size_t size);
    bool (*present)(const void *at, size_t size);
    void (*write)(const void *at, size_t size, struct str *out);
    int (*read)(const char *text, void *at, size_t size); /* 0 or -EINVAL */
};

extern const struct field_kind field_text;  /* char[]: absent is "" */
extern const struct field_kind field_int;   /* int: from 0, absent is -1 */
extern const struct field_kind field_int64; /* int64_t, likewise */
extern const struct field_kind field_yes;   /* bool: absent is false */
extern const struct field_kind field_pci;   /* char[PCI_ADDRESS_TEXT]: absent is "" */

struct field {
    const char *key;
    const struct field_kind *kind;
    size_t offset, size;
    size_t count; /* of an array, whose keys end in the element's number; 0 for a single value */
};

#define FIELD_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)

/* The n fields of table, in the structure at base. */
void fields_clear(const struct field *table, size_t n, void *base);

/* Write "key = value" for each that is present. */
void fields_write(const struct field *table, size_t n, const void *base, struct str *out);

/* Set the field that at->key names; an unknown one is skipped. -EINVAL with "file:line: ..." for a
 * value that its kind does not take. */
int fields_read(const struct field *table, size_t n, void *base, const struct ini_entry *at,
                struct err *e) CHECK_RESULT;

/* Entries of a numbered section: 1 with the number of "gpu 3" (for kind "gpu ") in *ret, 0 for a
 * section of another kind, -EINVAL with "file:line: ..." for a number not below max. */
int fields_section(const struct ini_entry *at, const char *kind, unsigned max, unsigned *ret,
                   struct err *e) CHECK_RESULT;

#endif
