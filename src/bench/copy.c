#include "bench/copy.h"

#include <string.h>

#include "base/clock.h"
#include "base/compiler.h"

enum { COPIES_MIN = 3 };

int copy_child(struct child *c, const void *arg, void *result, struct err *e)
{
    const struct copy_about *about = arg;
    CLEANUP(freep) char *from = malloc(about->bytes);
    CLEANUP(freep) char *to = malloc(about->bytes);
    struct copied *ret = result;
    double spent = 0;

    if (!from || !to)
        return err_nomem(e);
    memset(from, 1, about->bytes); /* touched here, so that they are on this CPU's NUMA node */
    memset(to, 2, about->bytes);
    child_ready(c);
    for (int i = 0; i < COPIES_MIN || spent < clock_seconds(about->window_ns); i++) {
        int64_t begin = clock_monotonic_ns(&clock_system);
        double seconds;

        from[(size_t)i % about->bytes] = (char)i;
        memcpy(to, from, about->bytes);
        __asm__ volatile("" : : "r"(to) : "memory"); /* somebody reads it */
        seconds = clock_seconds(clock_monotonic_ns(&clock_system) - begin);
        spent += seconds;
        if (seconds > 0 && 2 * (double)about->bytes / seconds / 1e9 > ret->gbs)
            ret->gbs = 2 * (double)about->bytes / seconds / 1e9;
    }
    return 0;
}
