/* An interpreter of 3.12 that is made up, in memory that changes while it is read. */
#include "probe/python/reader.h"

#include <errno.h>

#include "probe/python/offsets.h"
#include "tap.h"

/* Where its parts lie. */
enum {
    BASE = 0x100000,
    RUNTIME = BASE,
    INTERPRETER = BASE + 0x1000,
    THREAD = BASE + 0x2000,
    OTHER_THREAD = BASE + 0x2400,
    HOLDER = BASE + 0x2800,
    FRAMES = BASE + 0x3000, /* 0x100 bytes each */
    TYPE = BASE + 0x5000,
    NAMES = BASE + 0x6000, /* 0x100 bytes each */
    LINES = BASE + 0x8000,
    CODES = BASE + 0x9000, /* 0x100 bytes each */
    SIZE = 0x9000 + 2300 * 0x100,
    NATIVE_ID = 77,
    MOST = 16,
    THREAD_OWNS = 0,
    GENERATOR_OWNS = 1,
    C_OWNS = 3,
};

struct world {
    uint8_t *bytes;
    struct python_offsets o;
    long reads;
    long change_at; /* the read before which the change is made; 0: never */
    void (*change)(struct world *w);
};

static void put(struct world *w, uint64_t at, uint64_t value)
{
    memcpy(w->bytes + (at - BASE), &value, sizeof(value));
}

static void put_text(struct world *w, uint64_t at, const char *text)
{
    memset(w->bytes + (at - BASE), 0, 0x100);
    put(w, at + w->o.text.length, strlen(text));
    put(w, at + w->o.text.state, 1 << 2 | 1 << 5 | 1 << 6);
    memcpy(w->bytes + (at - BASE) + w->o.text.ascii, text, strlen(text));
}

/* Code object i, whose function has a name of its own, from the given line on. */
static void put_code(struct world *w, int i, int name, uint64_t line)
{
    uint64_t at = CODES + (uint64_t)i * 0x100;

    put(w, at + w->o.size, 4);
    put(w, at + w->o.code.first_line, line);
    put(w, at + w->o.type, TYPE);
    put(w, at + w->o.code.file, NAMES);
    put(w, at + w->o.code.qualified_name, NAMES + (uint64_t)name * 0x100);
    put(w, at + w->o.code.lines, LINES);
}

/* Frame i of code object i, which runs one of its units; previous < 0: none. */
static void put_frame(struct world *w, int i, int previous, uint8_t owner, int unit)
{
    uint64_t at = FRAMES + (uint64_t)i * 0x100, code = CODES + (uint64_t)i * 0x100;

    put(w, at + w->o.frame.code, code);
    put(w, at + w->o.frame.instruction, code + w->o.code.instructions + (uint64_t)(2 * unit));
    put(w, at + w->o.frame.previous, previous < 0 ? 0 : FRAMES + (uint64_t)previous * 0x100);
    w->bytes[at - BASE + w->o.frame.owner] = owner;
}

/* Two calls, "inner" of "outer", below one of C code. */
static void make(struct world *w)
{
    memset(w->bytes, 0, SIZE);
    (void)!python_offsets_of_version(&w->o, 0x030c01f0, NULL);
    w->reads = w->change_at = 0;
    put(w, RUNTIME + w->o.interpreters, INTERPRETER);
    put(w, INTERPRETER + w->o.threads, THREAD);
    put(w, THREAD + w->o.thread.interpreter, INTERPRETER);
    put(w, THREAD + w->o.thread.native_id, NATIVE_ID);
    put(w, THREAD + w->o.thread.frame, HOLDER);
    put(w, HOLDER + (uint64_t)w->o.holder_frame, FRAMES);
    put(w, TYPE + w->o.type_name, TYPE + 0x100);
    memcpy(w->bytes + (TYPE + 0x100 - BASE), "code", 5);
    put_text(w, NAMES, "/job.py");
    put_text(w, NAMES + 0x100, "inner");
    put_text(w, NAMES + 0x200, "outer");
    put_text(w, NAMES + 0x300, "other");
    put(w, LINES + w->o.size, 4);
    /* a unit on the first line, then three on the next one */
    memcpy(w->bytes + (LINES - BASE) + w->o.bytes, "\x80\0\xea\2", 4);
    put_code(w, 0, 1, 10);
    put_code(w, 1, 2, 20);
    put_frame(w, 0, 1, THREAD_OWNS, 0);
    put_frame(w, 1, 2, THREAD_OWNS, 1);
    put_frame(w, 2, -1, C_OWNS, 0);
}

static int read_world(const void *state, const struct python_piece *pieces, size_t n)
{
    struct world *w = (struct world *)(uintptr_t)state;

    if (++w->reads == w->change_at)
        w->change(w);
    for (size_t i = 0; i < n; i++) {
        if (pieces[i].at < BASE || pieces[i].at - BASE > SIZE ||
            pieces[i].len > SIZE - (pieces[i].at - BASE))
            return -EFAULT;
        memcpy(pieces[i].to, w->bytes + (pieces[i].at - BASE), pieces[i].len);
    }
    return 0;
}

static struct python_memory memory_of(const struct world *w)
{
    return (struct python_memory){ read_world, w };
}

static int open_world(struct python_reader **ret, const struct python_memory *m, struct err *e)
{
    *ret = NULL;
    e->text[0] = 0;
    return python_reader_open(ret, m, RUNTIME, 0x030c01f0, e);
}

/* "function:line ..." of a reader; or a number below 0. */
static const char *told(struct python_reader *r, char text[256])
{
    struct python_frame frames[MOST];
    int n = python_reader_stack(r, NATIVE_ID, frames, MOST);
    size_t len = 0;

    snprintf(text, 256, "%s", n < 0 ? strerror(-n) : "");
    for (int i = 0; i < n && len < 200; i++)
        len += (size_t)snprintf(text + len, 256 - len, "%s%s:%d", i ? " " : "", frames[i].function,
                                frames[i].line);
    return text;
}

/* What a fresh reader tells. */
static const char *told_once(const struct world *w, char text[256])
{
    struct python_memory m = memory_of(w);
    struct python_reader *r;
    struct err e;

    snprintf(text, 256, "not opened");
    if (open_world(&r, &m, &e) == 0)
        told(r, text);
    python_reader_close(r);
    return text;
}

static void test_told(struct world *w)
{
    char text[256];

    make(w);
    is_str(told_once(w, text), "inner:10 outer:21", "two calls are told without that of C code");
    put_frame(w, 0, 1, THREAD_OWNS, -1);
    is_str(told_once(w, text), "inner:10 outer:21",
           "a call that has just begun is on its first line");
    put_frame(w, 0, 1, THREAD_OWNS, 4);
    is_str(told_once(w, text), "", "a call beyond its code is none");
    put_frame(w, 0, 1, THREAD_OWNS, -2);
    is_str(told_once(w, text), "", "a call before its code is none");
    put_frame(w, 0, 1, THREAD_OWNS, 0);
    put_code(w, 0, 1, 0);
    is_str(told_once(w, text), "outer:21", "what has no first line is not told");
    make(w);
    put_frame(w, 1, -1, GENERATOR_OWNS, 0);
    is_str(told_once(w, text), "", "a stack that ends in a generator is not told");
    put_frame(w, 1, 1, THREAD_OWNS, 0);
    is_str(told_once(w, text),
           "inner:10 outer:20 outer:20 outer:20 outer:20 outer:20 outer:20 outer:20 outer:20 "
           "outer:20 outer:20 outer:20 outer:20 outer:20 outer:20 outer:20",
           "a stack that goes round ends");
    make(w);
    put(w, CODES + w->o.code.lines, 0);
    is_str(told_once(w, text), "inner:0 outer:21", "code without a table of lines has no line");
    put(w, CODES + w->o.code.lines, NAMES + 0x400);
    is_str(told_once(w, text), "inner:0 outer:21", "an empty table of lines has no line");
    put(w, NAMES + 0x400 + w->o.size, (256 << 10) + 1);
    is_str(told_once(w, text), "inner:0 outer:21", "lines of more than 256 KiB are not read");
    put(w, NAMES + 0x400 + w->o.size, 256 << 10);
    is_str(told_once(w, text), "inner:10 outer:21", "lines of 256 KiB are read");
    put(w, CODES + w->o.code.lines, BASE + SIZE - w->o.bytes - 8);
    put(w, BASE + SIZE - w->o.bytes - 8 + w->o.size, 256 << 10);
    is_str(told_once(w, text), "", "code whose lines cannot be read is not told");
    put(w, CODES + w->o.code.lines, 8);
    is_str(told_once(w, text), "", "code whose lines are nowhere is not told");
    make(w);
    memcpy(w->bytes + (TYPE + 0x100 - BASE), "cod", 4);
    is_str(told_once(w, text), "", "what is no code object is not told");
    put(w, HOLDER + (uint64_t)w->o.holder_frame, 0);
    is_str(told_once(w, text), "", "a thread in no call has none");
}

static void test_refused(struct world *w)
{
    struct python_memory m = memory_of(w);
    struct python_reader *r;
    struct err e;

    make(w);
    put(w, THREAD + w->o.thread.interpreter, THREAD);
    is_int(open_world(&r, &m, &e), -ENOTSUP, "a thread of something else is refused");
    is_str(e.text, "its Python has structs that are not known: a build of its own",
           "a build of its own is named");
    put(w, INTERPRETER + w->o.threads, 0);
    is_int(open_world(&r, &m, &e), -EAGAIN, "an interpreter without threads has not started");
    put(w, RUNTIME + w->o.interpreters, 0);
    is_int(open_world(&r, &m, &e), -EAGAIN, "a runtime without interpreters has not started");
    is_str(e.text, "its Python has not started yet, or has ended", "a start is named");
    is_int(python_reader_open(&r, &m, RUNTIME, 0, &e), -ENOTSUP,
           "a runtime without version is old");
    is_str(e.text,
           "its Python is older than 3.11: calls are read of Python 3.11 to 3.14 from outside",
           "a runtime without version is named");
    make(w);
    put(w, RUNTIME + w->o.interpreters, 8);
    is_int(open_world(&r, &m, &e), -ENOTSUP, "an interpreter that is nowhere is refused");
    is_str(e.text, "its Python has structs that are not known: a build of its own",
           "an interpreter that is nowhere is named");
}

static int refuse(const void *state, const struct python_piece *pieces, size_t n)
{
    (void)pieces;
    return n ? *(const int *)state : 0;
}

/* Memory that the kernel does not give. */
static void test_not_read(void)
{
    static const struct {
        int rc, want;
        const char *sentence;
    } cases[] = {
        { -EPERM, -EPERM, "the memory of its Python cannot be read: Operation not permitted" },
        { -ESRCH, -ESRCH, "the memory of its Python cannot be read: No such process" },
        { -EFAULT, -EAGAIN, "the memory of its Python cannot be read: Bad address" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct python_memory m = { refuse, &cases[i].rc };
        struct python_reader *r;
        struct err e;

        is_int(open_world(&r, &m, &e), cases[i].want, "memory that answers %d is not read",
               cases[i].rc);
        is_str(e.text, cases[i].sentence, "memory that answers %d is named", cases[i].rc);
    }
}

/* How often memory is read: what is known is not looked for again. */
static void test_reads(struct world *w)
{
    enum { THREAD_READS = 2, WALK_READS = 3, TRY_READS = 2 * (THREAD_READS + WALK_READS) };
    struct python_memory m = memory_of(w);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    char text[256];
    struct err e;

    make(w);
    put(w, THREAD + w->o.thread.next, OTHER_THREAD);
    put(w, OTHER_THREAD + w->o.thread.native_id, NATIVE_ID + 1);
    is_int(open_world(&r, &m, &e), 0, "an interpreter is opened to count reads");
    is_str(told(r, text), "inner:10 outer:21", "a first stack is told while reads are counted");
    w->reads = 0;
    is_str(told(r, text), "inner:10 outer:21", "a second stack is told while reads are counted");
    is_int(w->reads, TRY_READS + 1, "a stack that is known takes a try, and its code objects");
    put(w, HOLDER + (uint64_t)w->o.holder_frame, 0);
    w->reads = 0;
    is_str(told(r, text), "", "a thread has left its last call");
    is_int(w->reads, 2 * THREAD_READS, "a thread in no call is asked in one try");
    put(w, HOLDER + (uint64_t)w->o.holder_frame, FRAMES + 0x200);
    put_frame(w, 2, -1, GENERATOR_OWNS, 0);
    w->reads = 0;
    is_str(told(r, text), "", "a stack ends in a generator each time");
    is_int(w->reads, 8 * (THREAD_READS + 1), "a stack that changes all the time has eight tries");
}

/* A code object of which one field is another one by now. */
static void test_other_code(struct world *w)
{
    struct python_memory m = memory_of(w);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    const uint64_t inner = CODES;
    struct python_frame frames[MOST];
    char text[256];
    struct err e;

    make(w);
    put(w, THREAD + w->o.thread.next, 0);
    is_int(open_world(&r, &m, &e), 0, "an interpreter is opened whose code changes");
    is_str(told(r, text), "inner:10 outer:21", "code is told before it changes");
    put(w, inner + w->o.code.qualified_name, NAMES + 0x300);
    is_str(told(r, text), "other:10 outer:21", "code of another name is read again");
    put_text(w, NAMES + 0x400, "/other.py");
    put(w, inner + w->o.code.file, NAMES + 0x400);
    is_int(python_reader_stack(r, NATIVE_ID, frames, MOST), 2, "code of another file is told");
    is_str(frames[0].file, "/other.py", "code of another file is read again");
    is_str(frames[1].file, "/job.py", "code of the same file is told with it");
    put(w, inner + w->o.code.lines, 0);
    is_str(told(r, text), "other:0 outer:21", "code of other lines is read again");
    put(w, inner + w->o.code.lines, LINES);
    put_code(w, 0, 3, 11);
    is_str(told(r, text), "other:11 outer:21", "code of another first line is read again");
    put_frame(w, 0, 1, THREAD_OWNS, 1);
    is_str(told(r, text), "other:12 outer:21", "a call that goes on is on its next line");
    put_frame(w, 0, 1, THREAD_OWNS, 0);
    is_str(told(r, text), "other:11 outer:21", "a call that goes back is on its line before");
    put(w, inner + w->o.type, TYPE + 0x200);
    is_str(told(r, text), "", "an object of another type is no code");
}

/* A reader that knows a stack already, of an interpreter that changes then. */
static void test_changes(struct world *w)
{
    struct python_memory m = memory_of(w);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    char text[256];
    struct err e;

    make(w);
    is_int(open_world(&r, &m, &e), 0, "an interpreter is opened");
    is_str(told(r, text), "inner:10 outer:21", "a first stack is told");
    put_code(w, 0, 3, 30);
    is_str(told(r, text), "other:30 outer:21", "another code object at the same place is seen");
    put(w, INTERPRETER + w->o.threads, 0);
    is_str(told(r, text), strerror(ENOENT), "a thread that has ended is not read any more");
    put(w, INTERPRETER + w->o.threads, THREAD);
    is_str(told(r, text), "other:30 outer:21", "a thread that is there again is read");
    put(w, THREAD + w->o.thread.native_id, NATIVE_ID + 1);
    is_str(told(r, text), strerror(ENOENT), "another thread in the same place is not read");
    put(w, THREAD + w->o.thread.next, THREAD);
    is_str(told(r, text), strerror(ENOENT), "a list of threads that goes round ends");
    put(w, THREAD + w->o.thread.next, 0);
    put(w, INTERPRETER + w->o.next_interpreter, INTERPRETER);
    is_str(told(r, text), strerror(ENOENT), "a list of interpreters that goes round ends");
}

/* Many threads, of which some are kept in the same place. */
static void test_threads(struct world *w)
{
    struct python_memory m = memory_of(w);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    struct python_frame frames[MOST];
    struct err e;
    int wrong = 0;

    make(w);
    put(w, THREAD + w->o.thread.next, OTHER_THREAD);
    is_int(open_world(&r, &m, &e), 0, "an interpreter with two threads is opened");
    for (uint64_t id = NATIVE_ID + 1; id < NATIVE_ID + 200; id++) {
        put(w, OTHER_THREAD + w->o.thread.native_id, id);
        wrong += python_reader_stack(r, NATIVE_ID, frames, MOST) != 2;
        wrong += python_reader_stack(r, id, frames, MOST) != 0;
    }
    is_int(wrong, 0, "no thread has the calls of another one");
}

static void another_inner(struct world *w)
{
    put_code(w, 0, 3, 30);
}

/* Freed, and the memory of its name is another one's. */
static void another_text(struct world *w)
{
    put_text(w, NAMES + 0x100, "other");
    put_code(w, 0, 1, 30);
}

static void another_frame(struct world *w)
{
    put_frame(w, 0, 2, THREAD_OWNS, 0);
}

/* A call that has ended, in whose frame the next one is about to be written. */
static void half_a_frame(struct world *w)
{
    put(w, HOLDER + (uint64_t)w->o.holder_frame, FRAMES + 0x100);
    put_code(w, 3, 3, 30);
    put(w, FRAMES + w->o.frame.code, CODES + 0x300);
    put(w, FRAMES + w->o.frame.instruction, CODES + 0x300 + w->o.code.instructions);
}

/* Whenever the change comes, what is told was there before it, or is there after it. */
static void test_meanwhile(struct world *w)
{
    static const struct {
        void (*change)(struct world *w);
        const char *before, *after;
    } cases[] = {
        { another_inner, "inner:10 outer:21", "other:30 outer:21" },
        { another_text, "inner:10 outer:21", "other:30 outer:21" },
        { another_frame, "inner:10 outer:21", "inner:10" },
        { half_a_frame, "inner:10 outer:21", "outer:21" },
    };

    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        int wrong = 0, before = 0, after = 0;
        char text[256];

        for (long at = 1; at < 60; at++) {
            make(w);
            w->change_at = at;
            w->change = cases[c].change;
            told_once(w, text);
            before += !strcmp(text, cases[c].before);
            after += !strcmp(text, cases[c].after);
            wrong += strcmp(text, cases[c].before) != 0 && strcmp(text, cases[c].after) != 0;
        }
        is_int(wrong, 0, "change %zu at any time gives no stack that never was", c);
        ok(before && after, "change %zu comes in time %d times, and later %d times", c, after,
           before);
    }
}

/* More code objects than are kept. */
static void test_many(struct world *w)
{
    struct python_memory m = memory_of(w);
    CLEANUP(python_reader_closep) struct python_reader *r = NULL;
    char text[256];
    struct err e;
    int wrong = 0;

    make(w);
    is_int(open_world(&r, &m, &e), 0, "an interpreter with much code is opened");
    for (int i = 2; i < 2200; i++) {
        put_code(w, i, 3, 30);
        put(w, FRAMES + w->o.frame.code, CODES + (uint64_t)i * 0x100);
        put(w, FRAMES + w->o.frame.instruction,
            CODES + (uint64_t)i * 0x100 + w->o.code.instructions);
        wrong += strcmp(told(r, text), "other:30 outer:21") != 0;
    }
    is_int(wrong, 0, "2,198 code objects are told, one after the other");
}

int main(void)
{
    struct world w = { .bytes = calloc(1, SIZE) };

    if (!w.bytes)
        return 1;
    test_told(&w);
    test_refused(&w);
    test_not_read();
    test_reads(&w);
    test_other_code(&w);
    test_changes(&w);
    test_threads(&w);
    test_meanwhile(&w);
    test_many(&w);
    free(w.bytes);
    return done();
}
