#include "model/job/step_ring.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { RECORD_SIZE = sizeof(struct brim_ring_record), CAPACITY_MAX = 1 << 24 };

/* The header as the writer sees it; what it may change is loaded atomically. */
static const struct brim_ring_header *header(const struct step_ring *r)
{
    return (const void *)r->map;
}

/* What is not printable becomes '?'. The writer may change the bytes meanwhile: each is read once.
 * */
static void copy_text(char *to, size_t size, const unsigned char *from, size_t len)
{
    size_t n = 0;

    for (; n < len && n + 1 < size; n++) {
        unsigned char c = __atomic_load_n(&from[n], __ATOMIC_RELAXED);

        if (c == 0)
            break;
        to[n] = '?';
        if (c >= 0x20 && c < 0x7f)
            to[n] = (char)c;
    }
    to[n] = '\0';
}

static int check_sizes(const struct brim_ring_header *h, size_t len, struct err *e)
{
    if (h->major != BRIM_RING_MAJOR)
        return err_set(e, -EPROTONOSUPPORT, "ring of version %d.%d, this brim reads %d.x",
                       (int)h->major, (int)h->minor, (int)BRIM_RING_MAJOR);
    if (h->header_size != BRIM_RING_HEADER_SIZE || h->record_size != RECORD_SIZE)
        return err_set(e, -EINVAL, "ring with a header of %u and records of %u bytes",
                       h->header_size, h->record_size);
    if (h->capacity < 2 || h->capacity > CAPACITY_MAX || (h->capacity & (h->capacity - 1)))
        return err_set(e, -EINVAL, "ring of %u records, no power of two", h->capacity);
    if (h->text_size % 8 || h->text_size > len ||
        len - h->text_size < BRIM_RING_HEADER_SIZE + (size_t)h->capacity * RECORD_SIZE)
        return err_set(e, -EINVAL, "ring of %u records, cut off at %zu bytes", h->capacity, len);
    return 0;
}

int step_ring_attach(struct step_ring *r, const void *map, size_t len, struct err *e)
{
    struct brim_ring_header h;
    int rc;

    if (len < BRIM_RING_HEADER_SIZE || (uintptr_t)map % 8)
        return err_set(e, -EINVAL, "no ring: %zu bytes", len);
    memcpy(&h, map, sizeof(h));
    if (memcmp(h.magic, BRIM_RING_MAGIC, sizeof(h.magic)) != 0)
        return err_set(e, -EINVAL, "no ring: it does not start with " BRIM_RING_MAGIC);
    rc = check_sizes(&h, len, e);
    if (rc < 0)
        return rc;
    *r = (struct step_ring){ .map = map, .text_size = h.text_size, .capacity = h.capacity };
    r->texts = r->map + BRIM_RING_HEADER_SIZE;
    r->records = r->texts + h.text_size;
    r->pid = h.pid;
    r->start_monotonic_ns = h.start_monotonic_ns;
    r->start_wall_ns = h.start_wall_ns;
    copy_text(r->framework, sizeof(r->framework), (unsigned char *)h.framework,
              sizeof(h.framework));
    copy_text(r->host, sizeof(r->host), (unsigned char *)h.host, sizeof(h.host));
    return 0;
}

static bool finish_text(const struct step_ring *r, const struct brim_ring_record *rec,
                        struct step_mark *m)
{
    if (rec->extra > r->text_size || rec->code > r->text_size - rec->extra)
        return false;
    copy_text(m->text, sizeof(m->text), r->texts + rec->extra, rec->code);
    return true;
}

static bool finish_seconds(const struct brim_ring_record *rec, struct step_mark *m)
{
    float seconds;

    memcpy(&seconds, &rec->extra, sizeof(seconds));
    m->seconds = (double)seconds;
    return isfinite(seconds) && seconds >= 0;
}

/* False for what this version does not know, or what cannot be. */
static bool decode(const struct step_ring *r, const struct brim_ring_record *rec,
                   struct step_mark *m)
{
    m->kind = rec->kind;
    m->t_ns = rec->t_ns;
    m->thread = rec->kind <= BRIM_RING_LOSS ? rec->extra : 0;
    m->stage = m->source = m->collective = m->outcome = 0;
    m->count = rec->value;
    memcpy(&m->number, &rec->value, sizeof(m->number));
    m->seconds = 0;
    m->text[0] = '\0';
    if (rec->t_ns < 0)
        return false;
    switch (rec->kind) {
    case BRIM_RING_STEP_BEGIN:
    case BRIM_RING_STEP_END:
    case BRIM_RING_LOSS:
        return true;
    case BRIM_RING_STAGE_BEGIN:
    case BRIM_RING_STAGE_END:
        m->stage = rec->code;
        m->source = rec->value & 0xffff;
        return m->stage < BRIM_STAGES;
    case BRIM_RING_SAMPLES:
    case BRIM_RING_FEEDS:
        m->source = rec->code;
        return true;
    case BRIM_RING_COLLECTIVE:
        m->collective = rec->code < BRIM_COLLECTIVES ? rec->code : BRIM_COLLECTIVE_OTHER;
        return finish_seconds(rec, m);
    case BRIM_RING_DEVICE:
        m->stage = rec->code;
        return m->stage < BRIM_STAGES && finish_seconds(rec, m);
    case BRIM_RING_SWITCH:
        m->outcome = rec->code;
        return m->outcome <= BRIM_SWITCH_FAILED;
    case BRIM_RING_NOTE:
    case BRIM_RING_VALUE:
        return finish_text(r, rec, m);
    default:
        return false;
    }
}

/* The record in the slot of number n, if it is that one, whole: 1. 0: it is not written yet.
 * -EPIPE: the slot has another, or got one while it was copied. */
static int copy_record(const struct step_ring *r, uint64_t n, struct brim_ring_record *to)
{
    const struct brim_ring_record *slot = (const void *)(r->records +
                                                         (n & (r->capacity - 1)) * RECORD_SIZE);
    uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

    if (seq != n + 1)
        return seq > n + 1 ? -EPIPE : 0;
    to->t_ns = __atomic_load_n(&slot->t_ns, __ATOMIC_RELAXED);
    to->kind = __atomic_load_n(&slot->kind, __ATOMIC_RELAXED);
    to->code = __atomic_load_n(&slot->code, __ATOMIC_RELAXED);
    to->extra = __atomic_load_n(&slot->extra, __ATOMIC_RELAXED);
    to->value = __atomic_load_n(&slot->value, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&slot->seq, __ATOMIC_RELAXED) != seq)
        return -EPIPE;
    /* a writer that does not clear seq first (plugins/torch without its library) shows here */
    return step_ring_head(r) - n > r->capacity ? -EPIPE : 1;
}

/* Go on so far behind the writer's head that it does not catch up at once. */
static int skip_lost(struct step_ring *r)
{
    uint64_t head = step_ring_head(r), keep = r->capacity - r->capacity / 8;
    uint64_t next = r->next + 1;

    if (head > keep && head - keep > next)
        next = head - keep;
    r->lost += next - r->next;
    r->next = next;
    return -EPIPE;
}

int step_ring_next(struct step_ring *r, struct step_mark *out)
{
    struct brim_ring_record rec;
    /* one lap at most a call, whatever the file says */
    for (uint32_t i = 0; i < r->capacity; i++) {
        uint64_t head = step_ring_head(r);
        int rc;

        if (r->next >= head)
            return 0;
        rc = copy_record(r, r->next, &rec);
        if (rc < 0)
            return skip_lost(r);
        if (rc == 0 && !r->ended && head - r->next <= r->capacity / 2)
            return 0;
        if (rc == 0) { /* its writer died over it, or sleeps since half a lap */
            r->lost++;
            r->next++;
            return -EPIPE;
        }
        r->next++;
        if (decode(r, &rec, out))
            return 1;
    }
    return 0;
}

int step_ring_rank(const struct step_ring *r)
{
    return __atomic_load_n(&header(r)->rank, __ATOMIC_RELAXED);
}

int step_ring_local_rank(const struct step_ring *r)
{
    return __atomic_load_n(&header(r)->local_rank, __ATOMIC_RELAXED);
}

int step_ring_world(const struct step_ring *r)
{
    return __atomic_load_n(&header(r)->world, __ATOMIC_RELAXED);
}

uint64_t step_ring_head(const struct step_ring *r)
{
    return __atomic_load_n(&header(r)->head, __ATOMIC_ACQUIRE);
}

bool step_ring_closed(const struct step_ring *r)
{
    return __atomic_load_n(&header(r)->closed, __ATOMIC_ACQUIRE) != 0;
}
