#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/node/live_private.h"
#include "model/signal/rate.h"

void live_rows_of(const struct live_view *v, const char *set, const struct live_field *fields,
                  struct live_rows *ret)
{
    *ret = (struct live_rows){ .v = v, .fields = fields };
    ret->rows = tick_set(v->now, set, &ret->n);
    for (; fields[ret->n_fields].name && ret->n_fields < LIVE_FIELDS_MAX; ret->n_fields++) {
        const struct live_field *f = &fields[ret->n_fields];

        if (ret->rows)
            ret->at[ret->n_fields] = signal_index(ret->rows->set, f->name, f->label);
    }
}

void live_fill(const struct live_rows *r, size_t i, void *to)
{
    const struct signal_row *row = &r->rows[i], *then = NULL;
    const struct live_view *v = r->v;
    bool looked = false;

    for (size_t f = 0; f < r->n_fields; f++) {
        double *at = (double *)((char *)to + r->fields[f].to), value;

        if (f == 0 || r->fields[f].to != r->fields[f - 1].to)
            *at = (double)NAN;
        if (r->at[f] >= row->set->n_defs)
            continue;
        value = row->values[r->at[f]];
        if (r->fields[f].how == LIVE_RATE) {
            if (!looked) /* once for all: processes come and go, and looking is a search then */
                then = tick_before(v->before, v->now, row);
            looked = true;
            value = then ? (value - then->values[r->at[f]]) / v->seconds : (double)NAN;
        }
        if (!isfinite(value) || value < 0)
            continue;
        *at = isnan(*at) ? value : *at + value;
    }
}

void live_say(char *to, size_t size, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(to, size, fmt, ap);
    va_end(ap);
}

void live_add(char to[LIVE_TEXT], const char *fmt, ...)
{
    size_t len = strlen(to);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(to + len, LIVE_TEXT - len, fmt, ap);
    va_end(ap);
}

struct live_name live_process_name(const struct live_process *p)
{
    struct live_name name;

    live_say(name.text, sizeof(name.text), "process %s (%s)", p->pid, p->comm[0] ? p->comm : "?");
    return name;
}
