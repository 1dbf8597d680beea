/* What few rows of a table say besides: a deadline. */
#include <errno.h>

#include "engine/trace_csv.h"

/* On the clock of the submission. */
static int take_deadline(const struct trace_table *t, const struct work *w, struct work_wish *ret)
{
    int64_t deadline_ms = 0;

    if (!*trace_field(t, TRACE_DEADLINE_S))
        return 0;
    if (trace_seconds(t, TRACE_DEADLINE_S, &deadline_ms) < 0 || deadline_ms <= w->submit_ms)
        return -EINVAL;
    ret->due_ms = deadline_ms - w->submit_ms;
    return 0;
}

int trace_wish(struct reader *r, const struct trace_table *t, struct work *w)
{
    struct work_wish wish = { .due_ms = 0 }, *kept;

    if (take_deadline(t, w, &wish) < 0)
        return -EINVAL;
    if (!wish.due_ms)
        return 0;
    kept = arena_alloc(&r->work->arena, sizeof(*kept));
    if (!kept)
        return -ENOMEM;
    *kept = wish;
    w->wish = kept;
    return 0;
}
