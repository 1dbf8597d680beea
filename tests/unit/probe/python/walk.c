/* Frames of a stack, in memory that counts how often it is read. */
#include "probe/python/walk.h"

#include <errno.h>
#include <stdlib.h>

#include "tap.h"

/* Pages of memory, and frames of 64 bytes in them, all by our own offsets. */
enum { PAGE = 4096, BASE = 16 * PAGE, PAGES = 8, C_OWNS = 3 };

static const struct python_offsets offsets = {
    .frame = { .code = 0, .previous = 8, .instruction = 16, .owner = 24, .end = 64, .outermost = 3 }
};

struct memory {
    uint8_t bytes[PAGES * PAGE];
    long reads;
};

static int read_memory(const void *state, const struct python_piece *pieces, size_t n)
{
    struct memory *m = (struct memory *)(uintptr_t)state;

    m->reads++;
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at < BASE || pieces[i].at - BASE > sizeof(m->bytes) ||
            pieces[i].len > sizeof(m->bytes) - (pieces[i].at - BASE))
            return -EFAULT;
        memcpy(pieces[i].to, m->bytes + (pieces[i].at - BASE), pieces[i].len);
    }
    return 0;
}

static void put_frame(struct memory *m, uint64_t at, uint64_t previous, uint8_t owner)
{
    const uint64_t words[] = { at + 1024, previous, at + 2048 };

    memcpy(m->bytes + (at - BASE), words, sizeof(words));
    m->bytes[at - BASE + offsets.frame.owner] = owner;
}

/* Walk through n frames, the innermost first; only the last one is of C code. */
static int walk(struct memory *m, struct python_walk *w, const uint64_t *frames, size_t n)
{
    struct python_memory memory = { read_memory, m };

    m->reads = 0;
    for (size_t i = 0; i < n; i++)
        put_frame(m, frames[i], i + 1 < n ? frames[i + 1] : 0, i + 1 < n ? 0 : C_OWNS);
    return python_walk_read(w, &memory, &offsets, frames[0]);
}

static void test_calls(struct memory *m, struct python_walk *w)
{
    const uint64_t frames[] = { BASE + 128, BASE + PAGE };

    is_int(walk(m, w, frames, 2), 0, "a stack of two frames is walked through");
    is_int((long long)w->n, 2, "a stack of two frames has two calls");
    is_int((long long)w->calls[0].at, BASE + 128, "a call has the address of its frame");
    is_int((long long)w->calls[0].code, (BASE + 128 + 1024), "a call has its code object");
    is_int((long long)w->calls[0].instruction, BASE + 128 + 2048, "a call has its instruction");
    is_int((long long)w->calls[0].previous, BASE + PAGE, "a call has the frame before it");
    is_int(w->calls[0].owner, 0, "a call has its owner");
    is_int(w->calls[1].owner, C_OWNS, "the last call is of C code");
    m->bytes[128] |= 7;
    (void)!python_walk_read(w, &(struct python_memory){ read_memory, m }, &offsets, frames[0]);
    is_int((long long)w->calls[0].code, (BASE + 128 + 1024), "kinds of references are left out");
}

/* What lies before a frame in its page comes with it. */
static void test_pages(struct memory *m, struct python_walk *w)
{
    uint64_t frames[16];

    for (size_t i = 0; i < 16; i++)
        frames[i] = BASE + 64 * (15 - i);
    is_int(walk(m, w, frames, 16), 0, "a stack in one page is walked through");
    is_int((long long)w->n, 16, "a stack in one page has all of its calls");
    is_int(m->reads, 1, "a stack in one page is read at once");
    for (size_t i = 0; i < 16; i++)
        frames[i] = BASE + 64 * i;
    is_int(walk(m, w, frames, 16), 0, "a stack upside down is walked through");
    is_int(m->reads, 16, "a frame that lies behind another one is read on its own");
    for (size_t i = 0; i < 16; i++)
        frames[i] = BASE + PAGE * (i % 4) + 64 * (15 - i);
    is_int(walk(m, w, frames, 16), 0, "a stack in four pages is walked through");
    is_int(m->reads, 4, "four pages are kept");
    for (size_t i = 0; i < 16; i++)
        frames[i] = BASE + PAGE * (i % 5) + 64 * (15 - i);
    is_int(walk(m, w, frames, 16), 0, "a stack in five pages is walked through");
    is_int(m->reads, 16, "the page that was kept for the longest makes room");
    frames[0] = BASE + PAGE - 32;
    frames[1] = BASE + PAGE - 96;
    frames[2] = BASE;
    is_int(walk(m, w, frames, 3), 0, "a frame in two pages is walked through");
    is_int(m->reads, 1, "a frame in two pages is read with what lies before it");
}

static void test_ends(struct memory *m, struct python_walk *w)
{
    struct python_memory memory = { read_memory, m };
    struct python_offsets first = offsets;
    const uint64_t frames[] = { BASE + 128, BASE };

    first.frame.outermost = 0;
    is_int(python_walk_read(w, &memory, &offsets, 0), 0, "a thread in no call is walked through");
    is_int((long long)w->n, 0, "a thread in no call has none");
    walk(m, w, frames, 2);
    m->bytes[offsets.frame.owner] = C_OWNS + 1;
    is_int(python_walk_read(w, &memory, &offsets, frames[0]), 0, "other C code may come last");
    m->bytes[offsets.frame.owner] = C_OWNS - 1;
    is_int(python_walk_read(w, &memory, &offsets, frames[0]), -EAGAIN,
           "a stack ends with no call of Python's");
    is_int(python_walk_read(w, &memory, &first, frames[0]), -EAGAIN,
           "a stack of 3.11 ends with no frame of a generator");
    m->bytes[offsets.frame.owner] = 0;
    is_int(python_walk_read(w, &memory, &first, frames[0]), 0,
           "a stack of 3.11 ends with a frame of its thread");
    put_frame(m, BASE, BASE - 64, 0);
    is_int(python_walk_read(w, &memory, &offsets, frames[0]), -EFAULT,
           "a frame that cannot be read ends it all");
    put_frame(m, BASE, BASE, 0);
    is_int(python_walk_read(w, &memory, &offsets, frames[0]), 0, "a stack may be too deep");
    is_int((long long)w->n, PYTHON_DEPTH, "a stack that is too deep is cut");
}

/* The outermost calls that two walks have in common. */
static void test_same(struct python_walk *a, struct python_walk *b)
{
    static const struct python_call call = { 1, 2, 3, 4, 5 };

    for (size_t i = 0; i < 3; i++)
        a->calls[i] = b->calls[i] = call;
    a->n = b->n = 3;
    is_int((long long)python_walk_same(a, b), 3, "equal calls are the same");
    a->n = 2;
    is_int((long long)python_walk_same(a, b), 2, "two calls are the same as two of three");
    is_int((long long)python_walk_same(b, a), 2, "two of three calls are the same as two");
    a->n = 3;
    a->calls[1].instruction++;
    is_int((long long)python_walk_same(a, b), 3, "a call that goes on is the same");
    a->calls[1].at++;
    is_int((long long)python_walk_same(a, b), 1, "a call at another place is another one");
    a->calls[1] = call;
    a->calls[1].code++;
    is_int((long long)python_walk_same(a, b), 1, "a call of other code is another one");
    a->calls[1] = call;
    a->calls[1].previous++;
    is_int((long long)python_walk_same(a, b), 1, "a call in another one is another one");
    a->calls[1] = call;
    a->calls[1].owner++;
    is_int((long long)python_walk_same(a, b), 1, "a call of another owner is another one");
    a->calls[2].at++;
    is_int((long long)python_walk_same(a, b), 0, "without the outermost call nothing is the same");
}

int main(void)
{
    struct memory *m = calloc(1, sizeof(*m));
    struct python_walk *w = calloc(2, sizeof(*w));

    if (!m || !w)
        return 1;
    test_calls(m, w);
    test_pages(m, w);
    test_ends(m, w);
    test_same(&w[0], &w[1]);
    free(w);
    free(m);
    return done();
}
