/* Memory that is read by address: of another process; of a file, where an address is an offset; of
 * a test. */
#ifndef BRIM_PROBE_PYTHON_MEMORY_H
#define BRIM_PROBE_PYTHON_MEMORY_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

struct python_piece {
    uint64_t at;
    void *to;
    size_t len;
};

enum { PYTHON_PIECES = 64 }; /* of one read */

struct python_memory {
    /* Fill all pieces: 0, or a negative errno, and what they hold then is not known. */
    int (*read)(const void *state, const struct python_piece *pieces, size_t n);
    const void *state;
};

/* Of a process, which stays borrowed: its number. */
struct python_memory python_memory_of_process(const pid_t *pid);

/* Of an open file, which stays borrowed: its descriptor. */
struct python_memory python_memory_of_file(const int *fd);

/* At most PYTHON_PIECES. */
int python_memory_gather(const struct python_memory *m, const struct python_piece *pieces, size_t n)
    CHECK_RESULT;

int python_memory_read(const struct python_memory *m, uint64_t at, void *to, size_t len)
    CHECK_RESULT;

/* An address, or any other number of 8 bytes. */
int python_memory_word(const struct python_memory *m, uint64_t at, uint64_t *ret) CHECK_RESULT;

/* The number of 8 (4) bytes at an offset of what was read. */
uint64_t python_word(const uint8_t *bytes, size_t offset);
uint32_t python_half(const uint8_t *bytes, size_t offset);

#endif
