#include "probe/python/reader.h"

#include <errno.h>
#include <string.h>

#include "probe/python/code.h"
#include "probe/python/offsets.h"
#include "probe/python/thread.h"
#include "probe/python/walk.h"

/* How many threads are found without a search; and how often a stack that changes is begun anew. */
enum { THREADS = 64, TRIES = 8 };

struct python_reader {
    const struct python_memory *memory;
    uint64_t runtime;
    struct python_offsets offsets;
    struct python_codes codes;
    struct python_thread threads[THREADS]; /* by number */
    struct python_walk before, after;
    struct python_loops loops;
};

/* Its first words: in 3.11 and 3.12 they are other things. */
static int find_offsets(struct python_reader *r, uint64_t version, struct err *e)
{
    uint64_t words[PYTHON_DEBUG_WORDS];
    int rc = python_memory_read(r->memory, r->runtime, words, sizeof(words));

    if (rc < 0)
        return err_set(e, rc == -EPERM || rc == -ESRCH ? rc : -EAGAIN,
                       "the memory of its Python cannot be read: %s", strerror(-rc));
    rc = python_offsets_of_words(&r->offsets, words, e);
    if (rc != -ENOENT)
        return rc;
    if (!version)
        return err_set(e, -ENOTSUP,
                       "its Python is older than 3.11: calls are read of Python 3.11 to 3.14 from "
                       "outside");
    return python_offsets_of_version(&r->offsets, version, e);
}

int python_reader_open(struct python_reader **ret, const struct python_memory *m, uint64_t runtime,
                       uint64_t version, struct err *e)
{
    CLEANUP(python_reader_closep) struct python_reader *r = calloc(1, sizeof(*r));
    int rc;

    if (!r)
        return err_nomem(e);
    r->memory = m;
    r->loops.memory = m;
    r->loops.offsets = &r->offsets;
    r->runtime = runtime;
    rc = find_offsets(r, version, e);
    if (rc < 0)
        return rc;
    rc = python_thread_check(m, &r->offsets, runtime);
    if (rc == -EAGAIN)
        return err_set(e, rc, "its Python has not started yet, or has ended");
    if (rc < 0)
        return err_set(e, -ENOTSUP,
                       "its Python has structs that are not known: a build of its own");
    if (python_codes_init(&r->codes, m, &r->offsets) < 0)
        return err_nomem(e);
    *ret = steal(&r);
    return 0;
}

/* The innermost frame of a thread: where the thread was the last time, else by a search. */
static int innermost(struct python_reader *r, uint64_t native_id, uint64_t *ret)
{
    struct python_thread *kept = &r->threads[native_id % THREADS];
    int rc;

    if (kept->native_id == native_id && python_thread_frame(r->memory, &r->offsets, kept, ret) == 0)
        return 0;
    rc = python_thread_find(r->memory, &r->offsets, r->runtime, native_id, kept);
    return rc < 0 ? rc : python_thread_frame(r->memory, &r->offsets, kept, ret);
}

/* Tell a call in words: 1; 0: it is not one of a user's code; -EINVAL: it is no call. What has no
 * first line is a piece of the interpreter's own that stands around a call. */
static int tell(struct python_reader *r, const struct python_call *call, const uint8_t *fields,
                struct python_frame *ret)
{
    struct python_code *code = python_codes_get(&r->codes, call->code, fields);
    int line;

    if (!code)
        return -EINVAL;
    line = python_code_line(code, call->code + r->offsets.code.instructions, call->instruction);
    if (line < 0)
        return -EINVAL;
    if (code->first_line <= 0)
        return 0;
    memcpy(ret->function, code->function, sizeof(ret->function));
    memcpy(ret->file, code->file, sizeof(ret->file));
    ret->line = line;
    return 1;
}

/* Calls whose code objects are looked at together. */
struct batch {
    const struct python_call *calls[PYTHON_PIECES];
    uint8_t fields[PYTHON_PIECES][PYTHON_CODE_MAX];
    size_t n;
};

static int read_fields(const struct python_reader *r, struct batch *b)
{
    struct python_piece pieces[PYTHON_PIECES];

    for (size_t i = 0; i < b->n; i++)
        pieces[i] = (struct python_piece){ b->calls[i]->code, b->fields[i], r->offsets.code.end };
    return python_memory_gather(r->memory, pieces, b->n);
}

/* Tell n calls, as many as are wanted: how many, or a negative errno. */
static int tell_all(struct python_reader *r, const struct python_call *calls, size_t n,
                    struct python_frame *frames, int most)
{
    int told = 0, rc = 0;

    for (size_t i = 0; i < n && told < most && rc >= 0;) {
        struct batch b = { .n = 0 };

        for (; i < n && b.n < MIN((size_t)(most - told), (size_t)PYTHON_PIECES); i++)
            if (python_call_is_python(&calls[i]))
                b.calls[b.n++] = &calls[i];
        rc = read_fields(r, &b);
        for (size_t k = 0; rc >= 0 && k < b.n; k++) {
            rc = tell(r, b.calls[k], b.fields[k], &frames[told]);
            told += rc > 0;
        }
    }
    return rc < 0 ? rc : told;
}

/* The calls of a thread, innermost first: how many, or a negative errno: what was read does not fit
 * together. A frame that has ended stays in memory until another one takes its place, piece by
 * piece: what is told was there before and after the moment at which its thread was asked where it
 * is. */
static int read_calls(struct python_reader *r, uint64_t native_id, const struct python_call **ret)
{
    struct python_walk *before = &r->before, *after = &r->after;
    uint64_t frame;
    size_t same;
    int rc = innermost(r, native_id, &frame);

    if (rc == 0)
        rc = python_walk_read(before, r->memory, &r->offsets, frame);
    if (rc == 0)
        rc = innermost(r, native_id, &frame);
    if (rc == 0)
        rc = python_walk_read(after, r->memory, &r->offsets, frame);
    if (rc < 0)
        return rc;
    same = python_walk_same(before, after);
    *ret = after->calls + after->n - same;
    return same == 0 && before->n + after->n > 0 ? -EAGAIN : (int)same;
}

static int read_once(struct python_reader *r, uint64_t native_id, struct python_frame *frames,
                     int most)
{
    const struct python_call *calls;
    int n = read_calls(r, native_id, &calls), rc;

    if (n <= 0)
        return n;
    rc = tell_all(r, calls, (size_t)n, frames, most);
    return rc == 0 ? -EAGAIN : rc;
}

int python_reader_stack(struct python_reader *r, uint64_t native_id, struct python_frame *frames,
                        int most)
{
    for (int i = 0; i < TRIES; i++) {
        int n = read_once(r, native_id, frames, most);

        if (n >= 0 || n == -ENOENT)
            return n;
    }
    return 0;
}

static int read_loops(struct python_reader *r, uint64_t native_id, struct python_loop_of_call *ret,
                      int most)
{
    enum { LOOPS = 64 };
    const struct python_call *calls;
    struct python_loop loops[LOOPS];
    int n = read_calls(r, native_id, &calls), told = 0;
    size_t found;

    if (n <= 0)
        return n;
    found = python_loops_find(&r->loops, calls, (size_t)n, loops, MIN((size_t)most, (size_t)LOOPS));
    for (size_t i = 0; i < found; i++) {
        struct python_loop_of_call *to = &ret[told];

        to->loop = loops[i];
        told += tell_all(r, &calls[loops[i].call], 1, &to->place, 1) == 1;
    }
    return told;
}

int python_reader_loops(struct python_reader *r, uint64_t native_id,
                        struct python_loop_of_call *ret, int most)
{
    for (int i = 0; i < TRIES; i++) {
        int n = read_loops(r, native_id, ret, most);

        if (n >= 0 || n == -ENOENT)
            return n;
    }
    return 0;
}

int python_reader_again(struct python_reader *r, struct python_loop *loop)
{
    return python_loops_again(&r->loops, loop);
}

void python_reader_close(struct python_reader *r)
{
    if (!r)
        return;
    python_codes_done(&r->codes);
    free(r);
}
