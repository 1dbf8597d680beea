/* A pack: many small kernel files in one text file. One entry after another, each
 *
 *     TYPE LENGTH PATH\n
 *     LENGTH bytes\n
 *
 * TYPE is f (a file, as it is), x (a file with other bytes than text: hexadecimal, "(N)" for a run
 * of N zero bytes), l (a link: its target), d (a directory: its entries, one per line) or e (an
 * error: the number of its errno). The first line is "brim-pack 1", the last "end COUNT": without
 * it the pack was cut. When a path stands twice the first counts, but one that says only that the
 * path is there ("d 0 PATH") counts for nothing against what another says. */
#ifndef BRIM_PROBE_KERNEL_PACK_H
#define BRIM_PROBE_KERNEL_PACK_H
#include <stdint.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct pack_entry {
    const char *path, *data; /* into the pack's text, not terminated */
    uint32_t path_len, data_len;
    char type;
};

struct pack;

/* Index the entries of text, which is borrowed. -EINVAL with a sentence that starts with name when
 * it is not a whole pack. */
int pack_open(struct pack **ret, const char *name, const char *text, size_t len, struct err *e)
    CHECK_RESULT;
void pack_close(struct pack *p);
DEFINE_CLEANUP(struct pack, pack_close)

/* The entry of that path, or NULL. */
const struct pack_entry *pack_find(const struct pack *p, const char *path);

size_t pack_count(const struct pack *p);

/* Write a pack: begin, add each file, end. Type f turns into x where the bytes ask for it. */
void pack_begin(struct str *out);
void pack_add(struct str *out, char type, const char *path, const void *data, size_t len);
void pack_end(struct str *out, size_t count);

/* Decode the data of an x entry into buf; returns the length (cut at size), or -EINVAL. */
long pack_unhex(const struct pack_entry *at, void *buf, size_t size) CHECK_RESULT;

#endif
