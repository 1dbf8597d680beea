#include "model/signal/event.h"

#include <string.h>

#include "base/compiler.h"

/* FNV-1a. */
uint64_t event_what(const struct event *e)
{
    size_t len = e->words ? MIN((size_t)e->words, strlen(e->text)) : strlen(e->text);
    uint64_t hash = 0xcbf29ce484222325U;

    for (size_t i = 0; e->code < 0 && i < len; i++)
        hash = (hash ^ (uint8_t)e->text[i]) * 0x100000001b3U;
    return e->code < 0 ? hash : 0;
}
