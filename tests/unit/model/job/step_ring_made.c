/* A ring that is made by hand: each kind of record, what no record can be, and on either side of
 * each size that a header tells. */
#include "model/job/step_ring.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tap.h"

enum { CAPACITY = 16, TEXTS = 64, SPARE = 256 };

struct made {
    struct brim_ring_header header;
    char rest[BRIM_RING_HEADER_SIZE - sizeof(struct brim_ring_header)];
    char texts[TEXTS];
    struct brim_ring_record records[CAPACITY];
    char spare[SPARE];
};

enum { LEN = sizeof(struct made) - SPARE };

static struct made ring;

static void make(void)
{
    memset(&ring, 0, sizeof(ring));
    memcpy(ring.header.magic, BRIM_RING_MAGIC, sizeof(ring.header.magic));
    ring.header.major = BRIM_RING_MAJOR;
    ring.header.header_size = BRIM_RING_HEADER_SIZE;
    ring.header.record_size = sizeof(struct brim_ring_record);
    ring.header.text_size = TEXTS;
    ring.header.capacity = CAPACITY;
}

static struct step_ring attach(void)
{
    struct step_ring r = { .map = NULL };

    if (step_ring_attach(&r, &ring, LEN, NULL) < 0)
        ok(false, "a ring that is made by hand is taken");
    return r;
}

static void put(struct brim_ring_record record)
{
    struct brim_ring_record *to = &ring.records[ring.header.head % CAPACITY];

    *to = record;
    to->seq = ++ring.header.head;
}

static int attached(size_t len)
{
    struct step_ring r;

    return step_ring_attach(&r, &ring, len, NULL);
}

static void test_sizes(void)
{
    make();
    is_int(attached(LEN), 0, "a ring with room for all of its records is taken");
    is_int(attached(LEN - 1), -EINVAL, "a ring that lacks a byte is refused");
    is_int(attached(BRIM_RING_HEADER_SIZE - 1), -EINVAL, "a header that lacks a byte is refused");
    ring.header.record_size = 40;
    is_int(attached(LEN), -EINVAL, "records of another size are refused");
    make();
    ring.header.header_size = 8192;
    is_int(attached(LEN), -EINVAL, "a header of another size is refused");
    make();
    ring.header.text_size = TEXTS - 4;
    is_int(attached(LEN), -EINVAL, "texts that leave records at odd places are refused");
    ring.header.text_size = TEXTS - 8;
    is_int(attached(LEN), 0, "texts of any eighths are taken");
    ring.header.text_size = 0xfffffff8;
    is_int(attached(LEN), -EINVAL, "texts that are longer than the file are refused");
}

static void test_capacities(void)
{
    static const struct {
        uint32_t capacity;
        const char *why; /* NULL: it is taken */
    } rings[] = {
        { 0, "ring of 0 records, no power of two" },
        { 1, "ring of 1 records, no power of two" },
        { 2, NULL },
        { 6, "ring of 6 records, no power of two" },
        { 16, NULL },
        { 1 << 24, "ring of 16777216 records, cut off at 4672 bytes" },
        { 1 << 25, "ring of 33554432 records, no power of two" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rings); i++) {
        struct err e = { "" };
        struct step_ring r;

        make();
        ring.header.capacity = rings[i].capacity;
        is_int(step_ring_attach(&r, &ring, LEN, &e), rings[i].why ? -EINVAL : 0,
               "a ring of %u records is taken, or not", rings[i].capacity);
        is_str(e.text, rings[i].why ? rings[i].why : "", "a ring of %u records is told so",
               rings[i].capacity);
    }
}

/* A ring lies at a multiple of 8 bytes. */
static void test_place(void)
{
    static struct {
        char before[8];
        struct made ring;
    } moved;
    struct step_ring r;

    make();
    for (int at = 1; at < 9; at++) {
        char *to = moved.before + at;

        memmove(to, &ring, sizeof(ring) - 8);
        is_int(step_ring_attach(&r, to, LEN, NULL), at == 8 ? 0 : -EINVAL,
               "a ring at byte %d is taken, or not", at);
    }
}

static void test_header(void)
{
    struct step_ring r;

    make();
    memset(ring.header.framework, 'f', sizeof(ring.header.framework));
    memcpy(ring.header.host, "a\x1f \x7f~", 5);
    ring.header.pid = 7;
    ring.header.start_monotonic_ns = 11;
    ring.header.start_wall_ns = 13;
    r = attach();
    is_int((int)strlen(r.framework), (int)sizeof(r.framework) - 1,
           "a name that does not end is cut");
    is_str(r.host, "a? ?~", "what is not printable is masked in a name");
    ok(r.pid == 7 && r.start_monotonic_ns == 11 && r.start_wall_ns == 13,
       "a ring has its process and when it was opened");
}

static int next(struct brim_ring_record record, struct step_mark *m)
{
    struct step_ring r;

    make();
    put(record);
    r = attach();
    memset(m, 'x', sizeof(*m));
    return step_ring_next(&r, m);
}

static uint32_t bits(float seconds)
{
    uint32_t u;

    memcpy(&u, &seconds, sizeof(u));
    return u;
}

static void test_seconds(void)
{
    static const struct {
        float seconds;
        bool taken;
    } took[] = {
        { 0, true }, { 2, true }, { -1, false }, { (float)INFINITY, false }, { (float)NAN, false }
    };
    static const uint16_t kinds[] = { BRIM_RING_COLLECTIVE, BRIM_RING_DEVICE };
    struct step_mark m;

    for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
        for (size_t i = 0; i < ARRAY_SIZE(took); i++)
            is_int(
                next((struct brim_ring_record){ .kind = kinds[k], .extra = bits(took[i].seconds) },
                     &m),
                took[i].taken, "a mark of kind %d that took %g s counts, or not", kinds[k],
                (double)took[i].seconds);
}

static void test_codes(void)
{
    static const struct {
        uint16_t kind, code;
        bool taken;
    } marks[] = {
        { BRIM_RING_DEVICE, BRIM_STAGES - 1, true },
        { BRIM_RING_DEVICE, BRIM_STAGES, false },
        { BRIM_RING_STAGE_BEGIN, BRIM_STAGES - 1, true },
        { BRIM_RING_STAGE_BEGIN, BRIM_STAGES, false },
        { BRIM_RING_STAGE_END, BRIM_STAGES, false },
        { BRIM_RING_SWITCH, BRIM_SWITCH_FAILED, true },
        { BRIM_RING_SWITCH, BRIM_SWITCH_FAILED + 1, false },
        { 0, 0, false },
        { BRIM_RING_SWITCH + 1, 0, false },
    };
    struct step_mark m;

    for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
        is_int(next((struct brim_ring_record){ .kind = marks[i].kind, .code = marks[i].code }, &m),
               marks[i].taken, "a mark of kind %d and code %d counts, or not", marks[i].kind,
               marks[i].code);
    is_int(next((struct brim_ring_record){ .kind = BRIM_RING_COLLECTIVE,
                                           .code = BRIM_COLLECTIVES - 1 },
                &m),
           1, "the last collective is a mark");
    is_int((int)m.collective, BRIM_COLLECTIVES - 1, "a collective has its kind");
    is_int(next((struct brim_ring_record){ .kind = BRIM_RING_COLLECTIVE, .code = BRIM_COLLECTIVES },
                &m),
           1, "a collective of a later version is a mark");
    is_int((int)m.collective, BRIM_COLLECTIVE_OTHER, "a collective of a later version is another");
    is_int(next((struct brim_ring_record){ .kind = BRIM_RING_STEP_END, .t_ns = -1 }, &m), 0,
           "a mark of before time began is passed over");
    is_int(next((struct brim_ring_record){ .kind = BRIM_RING_STEP_END, .t_ns = 0 }, &m), 1,
           "a mark of when time began counts");
}

/* What is not of a kind is nothing, whatever the mark before had. */
static void test_fields(void)
{
    struct step_mark m;

    (void)next((struct brim_ring_record){ .kind = BRIM_RING_STAGE_BEGIN,
                                          .code = BRIM_STAGE_WAIT,
                                          .extra = 77,
                                          .value = 0x7ffffULL << 16 | 0xfffe },
               &m);
    ok(m.stage == BRIM_STAGE_WAIT && m.source == 0xfffe && m.thread == 77,
       "a stage has its source in 16 bits, and its thread");
    ok(!m.collective && !m.outcome && !m.text[0] && m.seconds >= 0 && m.seconds <= 0,
       "a stage has nothing of other kinds");
    (void)next((struct brim_ring_record){ .kind = BRIM_RING_LOSS, .extra = 5 }, &m);
    ok(m.thread == 5 && !m.stage && !m.source, "a loss has its thread, and no stage");
    (void)next((struct brim_ring_record){ .kind = BRIM_RING_COLLECTIVE, .extra = bits(1) }, &m);
    ok(!m.thread && m.seconds > 0.99, "a collective has seconds and no thread");
}

static void test_texts(void)
{
    static const struct {
        uint32_t at;
        uint16_t len;
        const char *text; /* NULL: it is passed over */
    } texts[] = {
        { 0, 5, "ab" }, /* ends at a zero */
        { 8, 3, "cde" },        { TEXTS, 0, "" },       { TEXTS - 1, 1, "z" },
        { TEXTS - 1, 2, NULL }, { TEXTS + 1, 0, NULL },
    };
    struct step_mark m;

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct step_ring r;

        make();
        memcpy(ring.texts, "ab", 2);
        memcpy(ring.texts + 8, "cdef", 4);
        ring.texts[TEXTS - 1] = 'z';
        put((struct brim_ring_record){
            .kind = BRIM_RING_NOTE, .code = texts[i].len, .extra = texts[i].at });
        r = attach();
        is_int(step_ring_next(&r, &m), texts[i].text != NULL,
               "a text of %d bytes at %u of %d is read, or not", texts[i].len, texts[i].at, TEXTS);
        if (texts[i].text)
            is_str(m.text, texts[i].text, "a text of %d bytes at %u is whole", texts[i].len,
                   texts[i].at);
    }
}

/* A writer that died over a record, or sleeps: after half a lap it is not waited for. */
static void test_asleep(void)
{
    struct step_ring r;
    struct step_mark m;

    make();
    for (int i = 0; i < CAPACITY / 2; i++)
        put((struct brim_ring_record){ .kind = BRIM_RING_STEP_END });
    ring.records[0].seq = 0;
    r = attach();
    is_int(step_ring_next(&r, &m), 0, "a record is waited for until half a lap is written");
    put((struct brim_ring_record){ .kind = BRIM_RING_STEP_END });
    is_int(step_ring_next(&r, &m), -EPIPE, "a record is lost when more than half a lap is written");
    ok(r.lost == 1 && r.next == 1, "one record is lost");
    is_int(step_ring_next(&r, &m), 1, "the record behind a lost one is read");
}

/* A reader that was overtaken goes on an eighth of a lap behind the oldest record. */
static void test_overtaken(void)
{
    struct step_ring r;
    struct step_mark m;

    make();
    r = attach();
    for (int i = 0; i < CAPACITY + 3; i++)
        put((struct brim_ring_record){ .kind = BRIM_RING_SAMPLES, .value = (uint64_t)i });
    is_int(step_ring_next(&r, &m), -EPIPE, "a reader that was overtaken is told");
    ok(r.lost == 5 && r.next == 5, "a reader goes on with room before the writer: %llu are lost",
       (unsigned long long)r.lost);
    is_int(step_ring_next(&r, &m), 1, "a reader that was overtaken reads on");
    is_int((int)m.count, 5, "a reader that was overtaken reads what it goes on with");
    /* a writer that clears no seq shows by its head alone */
    make();
    r = attach();
    for (int i = 0; i < CAPACITY; i++)
        put((struct brim_ring_record){ .kind = BRIM_RING_STEP_END });
    ring.header.head++;
    is_int(step_ring_next(&r, &m), -EPIPE, "a record whose slot is reserved anew is lost");
    make();
    r = attach();
    put((struct brim_ring_record){ .kind = BRIM_RING_STEP_END });
    ring.records[0].seq = CAPACITY + 1;
    is_int(step_ring_next(&r, &m), -EPIPE, "a slot with a later record has lost its own");
    is_int((int)r.lost, 1, "a slot with a later record has lost one");
}

/* A file may tell any head: a call reads a lap at most. */
static void test_lap(void)
{
    struct step_ring r;
    struct step_mark m;

    make();
    for (int i = 0; i < CAPACITY; i++)
        put((struct brim_ring_record){ .kind = 999 });
    r = attach();
    is_int(step_ring_next(&r, &m), 0, "a lap of unknown records has no mark");
    is_int((int)r.next, CAPACITY, "a lap of unknown records is read in one call");
    ok(!step_ring_closed(&r), "a ring is open");
    ring.header.closed = 1;
    ok(step_ring_closed(&r), "a ring that was closed is closed");
}

int main(void)
{
    test_sizes();
    test_capacities();
    test_place();
    test_header();
    test_seconds();
    test_codes();
    test_fields();
    test_texts();
    test_asleep();
    test_overtaken();
    test_lap();
    return done();
}
