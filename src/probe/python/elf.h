/* Where a program or a library has Python's runtime. */
#ifndef BRIM_PROBE_PYTHON_ELF_H
#define BRIM_PROBE_PYTHON_ELF_H
#include "probe/python/memory.h"

struct python_elf {
    uint64_t base;    /* the address that its first byte is linked for */
    uint64_t runtime; /* of _PyRuntime, as it is linked; 0: there is none */
    uint64_t version; /* of Py_Version (3.11 and later), in the same way; 0 */
};

/* Look through a file (python_memory_of_file()) for its symbols, and for the section .PyRuntime
 * (3.13 and later), which no strip takes away. 0; -EINVAL: it is no ELF file of this kind of
 * machine; or another negative errno. */
int python_elf_find(const struct python_memory *file, struct python_elf *ret) CHECK_RESULT;

#endif
