#include "probe/source/source.h"

#include <stdarg.h>
#include <stdio.h>

void probe_trouble(struct probe *p, const char *source, const char *fmt, ...)
{
    if (p->n_troubles < TROUBLES_MAX) {
        struct trouble *t = &p->troubles[p->n_troubles];
        va_list ap;

        snprintf(t->source, sizeof(t->source), "%s", source);
        va_start(ap, fmt);
        vsnprintf(t->text, sizeof(t->text), fmt, ap);
        va_end(ap);
    }
    p->n_troubles++;
}
