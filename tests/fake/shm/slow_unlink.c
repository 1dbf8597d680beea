/* Shared memory whose name is long in going: with this library preloaded, who is ended by a signal
 * in shm_unlink() leaves it. */
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>

#include "base/compiler.h"

typedef int unlink_fn(const char *name);

EXPORT unlink_fn shm_unlink;

int shm_unlink(const char *name)
{
    const struct timespec pause = { .tv_nsec = 200 * 1000 * 1000 };
    unlink_fn *real;

    nanosleep(&pause, NULL);
    *(void **)&real = dlsym(RTLD_NEXT, "shm_unlink");
    return real ? real(name) : -1;
}
