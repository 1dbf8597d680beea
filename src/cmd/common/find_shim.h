/* Where the shim for Python is. */
#ifndef BRIM_CMD_COMMON_FIND_SHIM_H
#define BRIM_CMD_COMMON_FIND_SHIM_H
#include "base/arena.h"

struct shim {
    const char *folder;    /* with sitecustomize.py; NULL: it is nowhere */
    const char *libraries; /* folders of what makes its marks cheap, for BRIM_LIB; NULL: it finds
                            * them by itself */
};

/* given: the folder that BRIM_PLUGINS names, NULL for none. Else where it is installed with this
 * program, or in the source tree that the program was built in. Allocated in a. */
struct shim find_shim(struct arena *a, const char *given);

#endif
