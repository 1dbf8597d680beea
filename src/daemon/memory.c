#include "daemon/memory.h"

#include <malloc.h>

void memory_begin(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
}

void memory_settle(void)
{
    malloc_trim(0);
}
