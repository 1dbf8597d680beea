#include "run/meet/meeting_message.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Numbers of a step that are told only where they are not what they usually are. */
enum { STEP_NUMBERS = 2 * BRIM_STAGES + 6 };

/* Fields as they are written or read, one behind the other; size and used are of 'to' or 'from'. */
struct fields {
    unsigned char *to;
    const unsigned char *from;
    size_t size, used;
    bool bad;
};

static void put(struct fields *f, uint64_t x, size_t bytes)
{
    f->bad = f->bad || f->size - f->used < bytes;
    for (size_t i = 0; i < bytes && !f->bad; i++)
        f->to[f->used++] = (unsigned char)(x >> (8 * i));
}

static uint64_t get(struct fields *f, size_t bytes)
{
    uint64_t x = 0;

    f->bad = f->bad || f->size - f->used < bytes;
    for (size_t i = 0; i < bytes && !f->bad; i++)
        x |= (uint64_t)f->from[f->used++] << (8 * i);
    return x;
}

static void put_text(struct fields *f, const char *text, size_t most)
{
    size_t len = strnlen(text, most - 1);

    put(f, len, 2);
    for (size_t i = 0; i < len; i++)
        put(f, (unsigned char)text[i], 1);
}

/* Printable letters alone: they come to terminals. */
static void get_text(struct fields *f, char *ret, size_t most)
{
    size_t len = (size_t)get(f, 2);

    f->bad = f->bad || len >= most;
    for (size_t i = 0; i < len && !f->bad; i++) {
        ret[i] = (char)get(f, 1);
        f->bad = f->bad || ret[i] < 0x20 || ret[i] > 0x7e;
    }
    ret[f->bad ? 0 : len] = '\0';
}

static void put_number(struct fields *f, double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    put(f, bits, sizeof(bits));
}

static double get_number(struct fields *f)
{
    uint64_t bits = get(f, sizeof(bits));
    double x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

/* The numbers of a step in their order; absent: those that are NaN where they are not told. */
static double *number_of(struct step *s, unsigned i, bool *absent)
{
    double *const rest[] = { &s->samples, &s->loss, &s->backwards, &s->collective_s,
                             &s->collective_b };

    *absent = i >= BRIM_STAGES && i < 2 * BRIM_STAGES + 2;
    if (i < BRIM_STAGES)
        return &s->host_s[i];
    return i < 2 * BRIM_STAGES ? &s->device_s[i - BRIM_STAGES] : rest[i - 2 * BRIM_STAGES];
}

static bool is_usual(double x, bool absent)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return absent ? isnan(x) : bits == 0;
}

static void put_step(struct fields *f, const struct step *from)
{
    struct step s = *from;
    uint32_t told = 0;
    bool absent;

    for (unsigned i = 0; i < STEP_NUMBERS - 1; i++) {
        double x = *number_of(&s, i, &absent);

        told |= (uint32_t)!is_usual(x, absent) << i;
    }
    told |= (uint32_t)(s.collectives != 0) << (STEP_NUMBERS - 1);
    put(f, s.number, 8);
    put(f, (uint64_t)s.begin_ns, 8);
    put(f, (uint64_t)s.end_ns, 8);
    put(f, told, 4);
    for (unsigned i = 0; i < STEP_NUMBERS - 1; i++)
        if (told >> i & 1)
            put_number(f, *number_of(&s, i, &absent));
    if (s.collectives)
        put(f, s.collectives, 4);
}

/* Seconds and counts; the loss is the job's and may be anything. */
static bool can_be(double x, unsigned i)
{
    return i == 2 * BRIM_STAGES + 1 || (isfinite(x) && x >= 0);
}

static void get_step(struct fields *f, struct step *s)
{
    uint32_t told;
    bool absent;

    memset(s, 0, sizeof(*s));
    s->number = get(f, 8);
    s->begin_ns = (int64_t)get(f, 8);
    s->end_ns = (int64_t)get(f, 8);
    told = (uint32_t)get(f, 4);
    f->bad = f->bad || s->begin_ns < 0 || s->end_ns < s->begin_ns || told >> STEP_NUMBERS;
    for (unsigned i = 0; i < STEP_NUMBERS - 1; i++) {
        double *x = number_of(s, i, &absent);

        *x = absent ? (double)NAN : 0;
        if (!(told >> i & 1))
            continue;
        *x = get_number(f);
        f->bad = f->bad || !can_be(*x, i);
    }
    if (told >> (STEP_NUMBERS - 1) & 1)
        s->collectives = (unsigned)get(f, 4);
}

static void put_fields(struct fields *f, const struct meeting_message *m)
{
    put(f, m->kind, 1);
    if (m->kind >= MEETING_LANE && m->kind <= MEETING_CLOSED)
        put(f, m->lane, 2);
    if (m->kind == MEETING_LANE) {
        put(f, (uint32_t)m->rank, 4);
        put(f, (uint32_t)m->local_rank, 4);
        put(f, (uint32_t)m->world, 4);
        put(f, (uint32_t)m->pid, 4);
    }
    if (m->kind == MEETING_STEP)
        put_step(f, &m->step);
    if (m->kind == MEETING_SWITCH || m->kind == MEETING_LOST || m->kind == MEETING_ASK)
        put(f, m->number, 8);
    if (m->kind == MEETING_SWITCH)
        put(f, m->outcome, 1);
    if (m->kind == MEETING_ASK)
        put(f, m->at_step, 8);
    if (m->kind == MEETING_PONG || m->kind == MEETING_PING)
        put(f, (uint64_t)m->t_ns, 8);
    if (m->kind == MEETING_PONG)
        put(f, (uint64_t)m->at_ns, 8);
    if (m->kind == MEETING_LANE || m->kind == MEETING_NOTE)
        put_text(f, m->name, sizeof(m->name));
    if (m->kind == MEETING_HOST || m->kind == MEETING_LANE || m->kind == MEETING_NOTE ||
        m->kind == MEETING_ASK)
        put_text(f, m->text, sizeof(m->text));
    if (m->kind == MEETING_ASK)
        put_text(f, m->back, sizeof(m->back));
}

/* NOLINTNEXTLINE(readability-non-const-parameter): it is written to, by put() */
bool meeting_message_put(const struct meeting_message *m, unsigned char *to, size_t size,
                         size_t *used)
{
    struct fields f = { .to = to, .size = size, .used = *used };

    put_fields(&f, m);
    if (!f.bad)
        *used = f.used;
    return !f.bad;
}

static void get_lane(struct fields *f, struct meeting_message *m)
{
    m->rank = (int)(int32_t)get(f, 4);
    m->local_rank = (int)(int32_t)get(f, 4);
    m->world = (int)(int32_t)get(f, 4);
    m->pid = (int)(int32_t)get(f, 4);
    f->bad = f->bad || m->rank < -1 || m->local_rank < -1 || m->world < -1;
}

static void get_fields(struct fields *f, struct meeting_message *m)
{
    if (m->kind >= MEETING_LANE && m->kind <= MEETING_CLOSED) {
        m->lane = (unsigned)get(f, 2);
        f->bad = f->bad || m->lane >= MEETING_LANES;
    }
    if (m->kind == MEETING_LANE)
        get_lane(f, m);
    if (m->kind == MEETING_STEP)
        get_step(f, &m->step);
    if (m->kind == MEETING_SWITCH || m->kind == MEETING_LOST || m->kind == MEETING_ASK)
        m->number = get(f, 8);
    if (m->kind == MEETING_SWITCH) {
        m->outcome = (unsigned)get(f, 1);
        f->bad = f->bad || m->outcome > BRIM_SWITCH_FAILED;
    }
    if (m->kind == MEETING_ASK)
        m->at_step = get(f, 8);
    if (m->kind == MEETING_PONG || m->kind == MEETING_PING)
        m->t_ns = (int64_t)get(f, 8);
    if (m->kind == MEETING_PONG)
        m->at_ns = (int64_t)get(f, 8);
    if (m->kind == MEETING_LANE || m->kind == MEETING_NOTE)
        get_text(f, m->name, sizeof(m->name));
    if (m->kind == MEETING_HOST || m->kind == MEETING_LANE || m->kind == MEETING_NOTE ||
        m->kind == MEETING_ASK)
        get_text(f, m->text, sizeof(m->text));
    if (m->kind == MEETING_ASK)
        get_text(f, m->back, sizeof(m->back));
}

int meeting_message_get(struct meeting_message *m, const unsigned char *from, size_t size,
                        size_t *at)
{
    struct fields f = { .from = from, .size = size, .used = *at };
    unsigned kind;

    if (*at == size)
        return 0;
    kind = (unsigned)get(&f, 1);
    if (kind < MEETING_HOST || kind >= MEETING_KINDS)
        return -EBADMSG;
    *m = (struct meeting_message){ .kind = (enum meeting_kind)kind };
    get_fields(&f, m);
    if (f.bad)
        return -EBADMSG;
    *at = f.used;
    return 1;
}

static bool is_setting(const char *text, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";
    size_t name = strspn(text, letters);

    if (name == 0 || name >= len || text[name] != '=')
        return false;
    for (size_t i = name + 1; i < len; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

bool meeting_message_is_request(const char *text)
{
    for (;;) {
        size_t len = strcspn(text, ";");

        if (!is_setting(text, len))
            return false;
        if (!text[len])
            return true;
        text += len + 1;
    }
}
