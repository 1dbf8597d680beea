/* Which files of a process may have Python in them. */
#ifndef BRIM_PROBE_PYTHON_MAPS_H
#define BRIM_PROBE_PYTHON_MAPS_H
#include <stddef.h>
#include <stdint.h>

/* A file whose first byte is in the memory of a process. */
struct python_map {
    uint64_t from, to;
    const char *path; /* in the text that was looked through; it ends with that line */
    size_t path_len;
};

/* Look through /proc/PID/maps for what is named as Python is, then for the program itself, whose
 * path is given as /proc/PID/exe has it. At most most go to ret; returns how many. */
size_t python_maps_find(const char *text, const char *program, struct python_map *ret, size_t most);

#endif
