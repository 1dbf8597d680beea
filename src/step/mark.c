/* Writing records: wait-free, any thread, no allocation. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "step/step_private.h"

enum { NS_PER_S = 1000000000 };

static inline bool is_open(const struct brim_step *s)
{
    return s && s->header && (!s->owner || s->owner == getpid());
}

int64_t brim_step_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* seq is 0 while the fields change: a reader that copies meanwhile sees it. Relaxed atomic stores,
 * as the reader's loads race with them. */
static inline void put(struct brim_step *s, const struct brim_ring_record *r)
{
    uint64_t n = __atomic_fetch_add(&s->header->head, 1, __ATOMIC_RELAXED);
    struct brim_ring_record *slot = &s->records[n & s->mask];

    __atomic_store_n(&slot->seq, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&slot->t_ns, r->t_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->kind, r->kind, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->code, r->code, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->extra, r->extra, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->value, r->value, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->seq, n + 1, __ATOMIC_RELEASE);
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Seconds as a float: 7 digits, whatever the length. */
static inline uint32_t seconds_bits(int64_t begin_ns, int64_t end_ns)
{
    float seconds = (float)((double)(end_ns - begin_ns) * 1e-9);
    uint32_t bits;

    memcpy(&bits, &seconds, sizeof(bits));
    return bits;
}

static inline void mark(struct brim_step *s, uint16_t kind, uint16_t code, uint64_t value)
{
    struct brim_ring_record r = { .kind = kind, .code = code, .value = value };

    if (!is_open(s))
        return;
    r.t_ns = brim_step_now();
    r.extra = BRIM_RING_THREAD(pthread_self());
    put(s, &r);
}

void brim_step_mark(struct brim_step *s, uint32_t code_kind, uint64_t value)
{
    uint16_t kind = code_kind & 0xffff;

    if ((kind >= BRIM_RING_STEP_BEGIN && kind <= BRIM_RING_LOSS) || kind == BRIM_RING_SWITCH)
        mark(s, kind, (uint16_t)(code_kind >> 16), value);
}

void brim_step_begin(struct brim_step *s)
{
    mark(s, BRIM_RING_STEP_BEGIN, 0, 0);
}

void brim_step_end(struct brim_step *s)
{
    mark(s, BRIM_RING_STEP_END, 0, 0);
}

void brim_stage_begin(struct brim_step *s, int stage)
{
    mark(s, BRIM_RING_STAGE_BEGIN, (uint16_t)stage, 0);
}

void brim_stage_end(struct brim_step *s, int stage)
{
    mark(s, BRIM_RING_STAGE_END, (uint16_t)stage, 0);
}

void brim_step_samples(struct brim_step *s, uint64_t count)
{
    mark(s, BRIM_RING_SAMPLES, 0, count);
}

void brim_step_loss(struct brim_step *s, double loss)
{
    mark(s, BRIM_RING_LOSS, 0, bits_of(loss));
}

void brim_stage_device(struct brim_step *s, int stage, int64_t begin_ns, int64_t end_ns)
{
    struct brim_ring_record r = { .t_ns = begin_ns, .kind = BRIM_RING_DEVICE };

    if (!is_open(s))
        return;
    r.code = (uint16_t)stage;
    r.extra = seconds_bits(begin_ns, end_ns);
    put(s, &r);
}

void brim_step_collective(struct brim_step *s, int kind, uint64_t bytes, int64_t begin_ns,
                          int64_t end_ns)
{
    struct brim_ring_record r = { .t_ns = begin_ns, .kind = BRIM_RING_COLLECTIVE };

    if (!is_open(s))
        return;
    r.code = (uint16_t)kind;
    r.extra = seconds_bits(begin_ns, end_ns);
    r.value = bytes;
    put(s, &r);
}

/* Where the text was put, or -1 when there is no room for it. The counter is not taken back: what
 * exceeds text_size tells a reader that texts are missing. */
static int64_t add_text(struct brim_step *s, const char *text, size_t len)
{
    uint64_t at = __atomic_fetch_add(&s->header->text_used, len + 1, __ATOMIC_RELAXED);

    if (at > s->text_size || len + 1 > s->text_size - at)
        return -1;
    memcpy(s->text + at, text, len);
    return (int64_t)at;
}

/* The release of put() orders the text before the record that names it. */
static void put_text(struct brim_step *s, uint16_t kind, uint32_t at, size_t len, double value)
{
    struct brim_ring_record r = { .kind = kind, .code = (uint16_t)len, .extra = at };

    r.t_ns = brim_step_now();
    r.value = bits_of(value);
    put(s, &r);
}

void brim_step_note(struct brim_step *s, const char *text)
{
    size_t len;
    int64_t at;

    if (!is_open(s) || !text)
        return;
    len = strnlen(text, BRIM_RING_TEXT_MAX);
    at = add_text(s, text, len);
    if (at >= 0)
        put_text(s, BRIM_RING_NOTE, (uint32_t)at, len, 0);
}

static int64_t find_name(const struct brim_step *s, const char *name, size_t len)
{
    for (unsigned i = 0; i < s->n_names; i++)
        if (s->names[i].len == len && !memcmp(s->text + s->names[i].at, name, len))
            return s->names[i].at;
    return -1;
}

static int64_t name_place(struct brim_step *s, const char *name, size_t len)
{
    int64_t at;

    if (atomic_flag_test_and_set_explicit(&s->names_taken, memory_order_acquire))
        return add_text(s, name, len);
    at = find_name(s, name, len);
    if (at < 0) {
        at = add_text(s, name, len);
        if (at >= 0 && s->n_names < STEP_NAMES) {
            s->names[s->n_names].at = (uint32_t)at;
            s->names[s->n_names++].len = (uint32_t)len;
        }
    }
    atomic_flag_clear_explicit(&s->names_taken, memory_order_release);
    return at;
}

void brim_step_value(struct brim_step *s, const char *name, double value)
{
    size_t len;
    int64_t at;

    if (!is_open(s) || !name)
        return;
    len = strnlen(name, BRIM_RING_TEXT_MAX);
    at = name_place(s, name, len);
    if (at >= 0)
        put_text(s, BRIM_RING_VALUE, (uint32_t)at, len, value);
}

void brim_step_set_rank(struct brim_step *s, int rank, int local_rank, int world)
{
    if (!is_open(s))
        return;
    __atomic_store_n(&s->header->rank, rank, __ATOMIC_RELAXED);
    __atomic_store_n(&s->header->local_rank, local_rank, __ATOMIC_RELAXED);
    __atomic_store_n(&s->header->world, world, __ATOMIC_RELAXED);
}
