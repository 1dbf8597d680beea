/* Code objects of a process, which are read once each. */
#ifndef BRIM_PROBE_PYTHON_CODE_H
#define BRIM_PROBE_PYTHON_CODE_H
#include "probe/python/frame.h"
#include "probe/python/line_table.h"
#include "probe/python/memory.h"
#include "probe/python/offsets.h"

struct python_code {
    uint64_t at;
    uint8_t bytes[PYTHON_CODE_MAX]; /* its fields when it was read: others at the same address, and
                                       it is another one */
    char function[PYTHON_FUNCTION];
    char file[PYTHON_FILE];
    uint64_t units; /* of its instructions, 2 bytes each */
    int first_line;
    uint8_t *lines; /* its table of lines; NULL where it is too long, or empty */
    size_t lines_len;
    struct python_line_range last; /* that was asked for */
};

/* Those that were read. */
struct python_codes {
    const struct python_memory *memory;
    const struct python_offsets *offsets;
    uint64_t type; /* of code objects; 0: none was seen yet */
    struct python_code **slots;
    size_t n, lines_bytes;
};

/* 0 or -ENOMEM. Memory and offsets are borrowed. */
int python_codes_init(struct python_codes *c, const struct python_memory *m,
                      const struct python_offsets *o) CHECK_RESULT;
void python_codes_done(struct python_codes *c);

/* The code object at an address, whose fields (offsets->code.end bytes) have just been read; valid
 * until the next call. NULL: it is none, it cannot be read, or memory is short. */
struct python_code *python_codes_get(struct python_codes *c, uint64_t at, const uint8_t *fields);

/* Which line an instruction belongs to; 0: not known; -1: it is not of this code object. */
int python_code_line(struct python_code *code, uint64_t instructions, uint64_t instruction);

#endif
