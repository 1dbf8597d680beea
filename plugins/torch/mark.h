/* What the files of the extension share. */
#ifndef BRIM_TORCH_MARK_H
#define BRIM_TORCH_MARK_H
/* One binary for every CPython from 3.8 on. */
#define Py_LIMITED_API 0x03080000
#include <Python.h>
#include <stdint.h>

/* One record of the kinds 1 to 7 and 12 of brim/ring.h into the process's ring, if it has one.
 * Touches no object and no exception. */
void mark_put(uint32_t code_kind, uint64_t value);

/* The functions of brim_torch/marks/ring.py, ended by an empty row. */
extern PyMethodDef mark_methods[];

#endif
