#include "probe/python/walk.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Frames lie one behind the other in pieces of 16 KiB, a dozen in a page; those of generators are
 * anywhere. So with a frame comes what lies before it in its page, and is kept for the next ones:
 * whatever is in a page that can be read can be read. */
enum { PAGE = 4096, WINDOWS = 4 };

struct window {
    uint64_t at;
    size_t len;
    uint8_t bytes[PAGE + PYTHON_FRAME_MAX];
};

struct windows {
    struct window all[WINDOWS];
    size_t next;
};

static const uint8_t *in_windows(const struct windows *w, uint64_t at, size_t len)
{
    for (size_t i = 0; i < WINDOWS; i++) {
        const struct window *one = &w->all[i];

        if (one->len >= len && at >= one->at && at - one->at <= one->len - len)
            return one->bytes + (at - one->at);
    }
    return NULL;
}

/* Bytes at an address; NULL: they cannot be read. */
static const uint8_t *look(struct windows *w, const struct python_memory *m, uint64_t at,
                           size_t len)
{
    const uint8_t *there = in_windows(w, at, len);
    struct window *one = &w->all[w->next];
    size_t before = (size_t)(at % PAGE);

    if (there)
        return there;
    if (python_memory_read(m, at - before, one->bytes, before + len) < 0)
        return NULL;
    one->at = at - before;
    one->len = before + len;
    w->next = (w->next + 1) % WINDOWS;
    return one->bytes + before;
}

static struct python_call call_of(const struct python_offsets *o, uint64_t at, const uint8_t *frame)
{
    return (struct python_call){
        .at = at,
        /* 3.14 has the kind of a reference in its lowest bits */
        .code = python_word(frame, o->frame.code) & ~(uint64_t)7,
        .instruction = python_word(frame, o->frame.instruction),
        .previous = python_word(frame, o->frame.previous),
        .owner = frame[o->frame.owner],
    };
}

static bool is_outermost(const struct python_offsets *o, const struct python_call *call)
{
    return o->frame.outermost ? call->owner >= o->frame.outermost : call->owner == 0;
}

int python_walk_read(struct python_walk *w, const struct python_memory *m,
                     const struct python_offsets *o, uint64_t innermost)
{
    struct windows windows;

    for (size_t i = 0; i < WINDOWS; i++)
        windows.all[i].len = 0;
    windows.next = 0;
    w->n = 0;
    for (uint64_t at = innermost; at && w->n < PYTHON_DEPTH;) {
        const uint8_t *frame = look(&windows, m, at, o->frame.end);

        if (!frame)
            return -EFAULT;
        w->calls[w->n] = call_of(o, at, frame);
        at = w->calls[w->n++].previous;
    }
    return w->n == 0 || w->n == PYTHON_DEPTH || is_outermost(o, &w->calls[w->n - 1]) ? 0 : -EAGAIN;
}

static bool is_same(const struct python_call *a, const struct python_call *b)
{
    return a->at == b->at && a->code == b->code && a->previous == b->previous &&
           a->owner == b->owner;
}

size_t python_walk_same(const struct python_walk *before, const struct python_walk *after)
{
    size_t most = MIN(before->n, after->n), n = 0;

    while (n < most && is_same(&before->calls[before->n - 1 - n], &after->calls[after->n - 1 - n]))
        n++;
    return n;
}
