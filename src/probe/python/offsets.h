/* Where the fields of CPython's structs lie, by version. */
#ifndef BRIM_PROBE_PYTHON_OFFSETS_H
#define BRIM_PROBE_PYTHON_OFFSETS_H
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* What may be read at once of a thread's state, of a frame and of a code object: fields that lie
 * behind that are not believed. */
enum { PYTHON_THREAD_MAX = 1024, PYTHON_FRAME_MAX = 128, PYTHON_CODE_MAX = 256 };

/* Offsets in bytes from the begin of each struct, below the limits above. */
struct python_offsets {
    /* of the runtime, and of an interpreter: they are larger, and read by the word */
    uint32_t interpreters;
    uint32_t next_interpreter, threads;

    struct {
        uint32_t previous, next, interpreter, native_id;
        uint32_t frame; /* where its innermost frame is; or what has that */
        uint32_t end;   /* of the fields named here */
    } thread;
    int32_t holder_frame; /* 3.11, 3.12: where that is in what thread.frame leads to; -1 */

    struct {
        uint32_t code, instruction, previous, owner, end;
        uint32_t
            outermost;   /* the owner of the outermost one: 0, a thread (3.11); from 3 on, C code */
        uint32_t locals; /* its variables, and behind them what it computes with */
    } frame;
    struct {
        uint32_t file, qualified_name, lines, first_line, instructions, end;
        uint32_t stack, variables; /* how many words of a frame these are */
    } code;
    struct {
        uint32_t index; /* 0: it counts what is left alone (3.12 and later) */
        uint32_t length;
    } range;            /* an iterator */
    uint32_t generator; /* where its frame begins */
    uint32_t tuple;     /* its first item */

    uint32_t type;      /* of any object */
    uint32_t type_name; /* of a type */
    uint32_t size;      /* of what has a number of items: code (units of 2 bytes), bytes */
    uint32_t bytes;     /* of bytes: the first one */
    struct {
        uint32_t length, state;
        uint32_t ascii, compact; /* where characters begin: of ASCII, of all others */
    } text;
};

/* The first words of the runtime of 3.13 and later: cookie, version, whether it is free-threaded;
 * offsets follow. */
enum { PYTHON_DEBUG_WORDS = 96 };

/* The offsets of 3.11 and 3.12, which are the same for all their builds for 64 bits but those with
 * --with-trace-refs. version: PY_VERSION_HEX. -ENOTSUP with a sentence for all others. */
int python_offsets_of_version(struct python_offsets *ret, uint64_t version, struct err *e)
    CHECK_RESULT;

/* The offsets as the process itself has them, in the first words of its runtime (3.13, 3.14).
 * -ENOENT without a sentence: these are no such words; -ENOTSUP: they are, and of a version or a
 * build that is not known, or cannot be. */
int python_offsets_of_words(struct python_offsets *ret, const uint64_t words[PYTHON_DEBUG_WORDS],
                            struct err *e) CHECK_RESULT;

#endif
