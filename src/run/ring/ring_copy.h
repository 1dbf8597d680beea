/* A ring as it was at one moment, in memory of our own. A job may cut off its file while it is
 * read: what is mapped would end us with SIGBUS then, reading by a call tells. */
#ifndef BRIM_RUN_RING_RING_COPY_H
#define BRIM_RUN_RING_RING_COPY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_copy {
    int fd;
    size_t size;          /* of the file when it was opened */
    unsigned char *bytes; /* as many; pages that nothing was read into take no memory */
};

/* Read the header. fd is the copy's from now on, also on failure. 0, -ENOMEM, or -EINVAL for a file
 * that is too short for one. ring_copy_done() in any case. */
int ring_copy_open(struct ring_copy *c, int fd, size_t size);
void ring_copy_done(struct ring_copy *c);

/* Bring the header, and what was written from record 'next' on with its texts, up to date, of a
 * ring that step_ring_attach() has found good in c->bytes. Whole records only: those that were
 * overwritten meanwhile have another number. 0, or -ENODATA when the file was cut off: then it
 * stays as it was. */
int ring_copy_update(struct ring_copy *c, uint64_t next);

#endif
