/* What the fake NVML measures: numbers under names, from the sections [live] and [live N] of its
 * script (fake_nvml.c describes them). */
#ifndef BRIM_TESTS_FAKE_LIVE_H
#define BRIM_TESTS_FAKE_LIVE_H
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* Read the sections anew. */
int live_load(const char *path, const char *text, size_t len, struct err *e);

/* The number under a name of a GPU, now; false when the script does not say it. */
bool live_number(int device, const char *name, double *ret);

/* The same for a field: "field 83", or "field 202.3" with its scope. */
bool live_field(int device, unsigned id, unsigned scope, double *ret);

/* Process i of a GPU: "process 4711 = 1000000 0.5" is its memory and what it is busy. */
bool live_process(int device, size_t i, unsigned *pid, double *memory_b, double *busy);

#endif
