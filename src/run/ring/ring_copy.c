#include "run/ring/ring_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "brim/ring.h"

enum { RECORD = sizeof(struct brim_ring_record), PIECE = 1024 /* records, 32 KiB */ };

/* All of it: 0, else -ENODATA. */
static int read_at(const struct ring_copy *c, void *to, size_t len, size_t at)
{
    char *bytes = to;

    while (len) {
        ssize_t got = pread(c->fd, bytes, len, (off_t)at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return -ENODATA;
        bytes += got;
        at += (size_t)got;
        len -= (size_t)got;
    }
    return 0;
}

int ring_copy_open(struct ring_copy *c, int fd, size_t size)
{
    *c = (struct ring_copy){ .fd = fd, .size = size };
    if (size < BRIM_RING_HEADER_SIZE)
        return -EINVAL;
    c->bytes = calloc(1, size);
    if (!c->bytes)
        return -ENOMEM;
    return read_at(c, c->bytes, BRIM_RING_HEADER_SIZE, 0) < 0 ? -EINVAL : 0;
}

void ring_copy_done(struct ring_copy *c)
{
    closep(&c->fd);
    c->fd = -1;
    free(c->bytes);
    c->bytes = NULL;
}

static struct brim_ring_header *header(const struct ring_copy *c)
{
    return (void *)c->bytes;
}

static struct brim_ring_record *slot_of(const struct ring_copy *c, uint64_t n)
{
    const struct brim_ring_header *h = header(c);
    size_t at = BRIM_RING_HEADER_SIZE + h->text_size + (n & (h->capacity - 1)) * RECORD;

    return (void *)(c->bytes + at);
}

/* Records from one to before another that lie behind each other. First their numbers, then the
 * fields: a record that had its number before its fields were read was whole. */
static int copy_piece(const struct ring_copy *c, uint64_t from, size_t n, bool *texts)
{
    struct brim_ring_record again[PIECE], *first = slot_of(c, from);
    size_t at = (size_t)((unsigned char *)first - c->bytes);
    int rc = read_at(c, first, n * RECORD, at);

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (rc == 0)
        rc = read_at(c, again, n * RECORD, at);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        if (first[i].seq != from + i + 1)
            continue;
        again[i].seq = first[i].seq;
        first[i] = again[i];
        *texts |= first[i].kind == BRIM_RING_NOTE || first[i].kind == BRIM_RING_VALUE;
    }
    return rc;
}

static int copy_records(const struct ring_copy *c, uint64_t from, uint64_t to, bool *texts)
{
    uint32_t capacity = header(c)->capacity;
    int rc = 0;

    while (rc == 0 && from < to) {
        size_t n = MIN((size_t)(to - from), (size_t)PIECE);

        n = MIN(n, (size_t)(capacity - (from & (capacity - 1))));
        rc = copy_piece(c, from, n, texts);
        from += n;
    }
    return rc;
}

/* A record is overwritten after its slot was reserved for another one, which head tells: what was
 * reserved until now may have been overwritten while it was copied. */
static int forget_overwritten(const struct ring_copy *c, uint64_t from, uint64_t to)
{
    uint64_t head;
    int rc;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    rc = read_at(c, &head, sizeof(head), offsetof(struct brim_ring_header, head));
    for (; rc == 0 && from < to && head > from && head - from > header(c)->capacity; from++)
        slot_of(c, from)->seq = UINT64_MAX;
    return rc;
}

int ring_copy_update(struct ring_copy *c, uint64_t next)
{
    struct brim_ring_header *h = header(c), now;
    bool texts = false;
    int rc = read_at(c, &now, sizeof(now), 0);

    if (rc < 0)
        return rc;
    h->rank = now.rank;
    h->local_rank = now.local_rank;
    h->world = now.world;
    h->closed = now.closed;
    if (now.head > h->capacity && next < now.head - h->capacity)
        next = now.head - h->capacity;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (next < now.head)
        rc = copy_records(c, next, now.head, &texts);
    if (rc == 0 && texts) /* they were written before their records */
        rc = read_at(c, c->bytes + BRIM_RING_HEADER_SIZE, h->text_size, BRIM_RING_HEADER_SIZE);
    if (rc == 0 && next < now.head)
        rc = forget_overwritten(c, next, now.head);
    if (rc == 0)
        h->head = now.head;
    return rc;
}
