#include "probe/python/thread.h"

#include <errno.h>

/* More than that are not looked at: what another process has in its memory may go round. */
enum { INTERPRETERS = 256, THREADS = 16384 };

static int find_in(const struct python_memory *m, const struct python_offsets *o,
                   uint64_t interpreter, uint64_t native_id, struct python_thread *ret)
{
    uint64_t link = interpreter + o->threads, at;
    int rc = python_memory_word(m, link, &at);

    for (int i = 0; rc == 0 && at && i < THREADS; i++) {
        uint8_t state[PYTHON_THREAD_MAX];

        rc = python_memory_read(m, at, state, o->thread.end);
        if (rc == 0 && python_word(state, o->thread.native_id) == native_id) {
            *ret = (struct python_thread){ at, native_id, link };
            return 0;
        }
        link = at + o->thread.next;
        at = python_word(state, o->thread.next);
    }
    return rc < 0 ? rc : -ENOENT;
}

int python_thread_find(const struct python_memory *m, const struct python_offsets *o,
                       uint64_t runtime, uint64_t native_id, struct python_thread *ret)
{
    uint64_t at;
    int rc = python_memory_word(m, runtime + o->interpreters, &at);

    for (int i = 0; rc == 0 && at && i < INTERPRETERS; i++) {
        rc = find_in(m, o, at, native_id, ret);
        if (rc != -ENOENT)
            return rc;
        rc = python_memory_word(m, at + o->next_interpreter, &at);
    }
    return rc < 0 ? rc : -ENOENT;
}

int python_thread_frame(const struct python_memory *m, const struct python_offsets *o,
                        const struct python_thread *thread, uint64_t *ret)
{
    uint8_t state[PYTHON_THREAD_MAX];
    uint64_t linked, frame;
    struct python_piece pieces[] = {
        { thread->link, &linked, sizeof(linked) },
        { thread->at, state, o->thread.end },
    };
    int rc = python_memory_gather(m, pieces, 2);

    if (rc < 0)
        return rc;
    if (linked != thread->at || python_word(state, o->thread.native_id) != thread->native_id)
        return -ENOENT;
    frame = python_word(state, o->thread.frame);
    if (o->holder_frame >= 0 && frame)
        rc = python_memory_word(m, frame + (uint32_t)o->holder_frame, &frame);
    if (rc == 0)
        *ret = frame;
    return rc;
}

int python_thread_check(const struct python_memory *m, const struct python_offsets *o,
                        uint64_t runtime)
{
    uint64_t interpreter = 0, thread = 0, owner = 0;
    int rc = python_memory_word(m, runtime + o->interpreters, &interpreter);

    if (rc == 0 && !interpreter)
        return -EAGAIN;
    if (rc == 0)
        rc = python_memory_word(m, interpreter + o->threads, &thread);
    if (rc == 0 && !thread)
        return -EAGAIN;
    if (rc == 0)
        rc = python_memory_word(m, thread + o->thread.interpreter, &owner);
    return rc < 0 ? rc : owner == interpreter ? 0 : -EINVAL;
}
