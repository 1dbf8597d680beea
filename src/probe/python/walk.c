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
    one->len = 0;
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

int python_walk_read(struct python_walk *w, const struct python_memory *m,
                     const struct python_offsets *o, uint64_t innermost, size_t most)
{
    struct windows windows;

    for (size_t i = 0; i < WINDOWS; i++)
        windows.all[i].len = 0;
    windows.next = 0;
    w->n = 0;
    for (uint64_t at = innermost; at && w->n < MIN(most, (size_t)PYTHON_DEPTH);) {
        const uint8_t *frame = look(&windows, m, at, o->frame.end);

        if (!frame)
            return -EFAULT;
        w->calls[w->n] = call_of(o, at, frame);
        at = w->calls[w->n++].previous;
    }
    return 0;
}

/* The same calls again, n of them at once: frames, and code objects where they are Python. */
enum { TOGETHER = PYTHON_PIECES / 2 };

static int read_again(struct python_walk *w, const struct python_memory *m,
                      const struct python_offsets *o, size_t first, size_t n,
                      uint8_t frames[TOGETHER][PYTHON_FRAME_MAX])
{
    struct python_piece pieces[PYTHON_PIECES];
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        const struct python_call *call = &w->calls[first + i];

        pieces[k++] = (struct python_piece){ call->at, frames[i], o->frame.end };
        if (python_call_is_python(call))
            pieces[k++] = (struct python_piece){ call->code, w->code[first + i], o->code.end };
    }
    return python_memory_gather(m, pieces, k);
}

int python_walk_settle(struct python_walk *w, const struct python_memory *m,
                       const struct python_offsets *o)
{
    uint8_t frames[TOGETHER][PYTHON_FRAME_MAX];
    size_t settled = 0; /* the first one behind all that have changed */

    for (size_t first = 0; first < w->n; first += TOGETHER) {
        size_t n = MIN(w->n - first, (size_t)TOGETHER);
        int rc = read_again(w, m, o, first, n, frames);

        if (rc < 0)
            return rc;
        for (size_t i = 0; i < n; i++) {
            const struct python_call *was = &w->calls[first + i];
            struct python_call is = call_of(o, was->at, frames[i]);

            if (is.code != was->code || is.previous != was->previous || is.owner != was->owner)
                settled = first + i + 1;
        }
    }
    w->n -= settled;
    memmove(w->calls, w->calls + settled, w->n * sizeof(w->calls[0]));
    memmove(w->code, w->code + settled, w->n * sizeof(w->code[0]));
    return 0;
}
