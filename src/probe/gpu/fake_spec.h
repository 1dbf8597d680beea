/* What --fake takes: "8xH100-SXM5-80GB", or the path of a script (fake_script.h). */
#ifndef BRIM_PROBE_GPU_FAKE_SPEC_H
#define BRIM_PROBE_GPU_FAKE_SPEC_H
#include "probe/gpu/fake_script.h"

/* Whether it is a path: it has a dot or a slash, as no name of a device has. */
bool fake_is_script(const char *spec);

/* What is no path: how many (1 where no number stands in front), and *name, where the name starts
 * in spec. -ERANGE for more than FAKE_GPUS or none. */
int fake_read_count(const char *spec, int *count, const char **name) CHECK_RESULT;

/* The script at that path, or one of so many accelerators of that name, which idle. A negative
 * errno with a sentence; fake_script_done() what was loaded. */
int fake_script_load(struct fake_script *s, const char *spec, struct err *e) CHECK_RESULT;

#endif
