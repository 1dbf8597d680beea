/* What few rows of a table say besides: a deadline, where a job's data are. */
#include <errno.h>

#include "trace/csv.h"

/* Note that a row is bad. */
static int bad(struct reader *r, const char *why, const char *text)
{
    reader_bad(r, "%s%.60s", why, text);
    return 1;
}

/* On the clock of the submission. */
static int take_deadline(struct reader *r, const struct trace_table *t, const struct work *w,
                         struct work_wish *ret)
{
    int64_t deadline_ms = 0;

    if (!*trace_field(t, TRACE_DEADLINE_S))
        return 0;
    if (trace_seconds(t, TRACE_DEADLINE_S, &deadline_ms) < 0 || deadline_ms <= w->submit_ms)
        return bad(r, "its deadline is no time after its submission", "");
    ret->due_ms = deadline_ms - w->submit_ms;
    return 0;
}

/* Whether a pool has a place; -ENOENT, -ENOMEM. */
static int look_for(struct reader *r, const char *text)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct node_names_found there;

    if (!r->locate.slots && node_names_init(&r->locate, &r->work->arena, r->pool) < 0)
        return -ENOMEM;
    return node_names_find(&r->locate, text, &a, &there);
}

static int take_data(struct reader *r, const struct trace_table *t, struct work_wish *ret)
{
    const char *text = trace_field(t, TRACE_DATA);
    int number, rc;

    if (!*text)
        return 0;
    if (trace_seconds(t, TRACE_DATA_S, &ret->data_ms) < 0 || ret->data_ms < 0)
        return bad(r, "what it costs to bring its data is no time", "");
    number = work_data_find(r->work, text);
    if (number < 0) {
        rc = look_for(r, text);
        if (rc == -ENOENT)
            return bad(r, "no node, leaf or the like is called ", text);
        if (rc < 0)
            return rc;
        number = work_data_number(r->work, text);
    }
    if (number == -E2BIG)
        return bad(r, "one more place of data than can be: ", text);
    if (number < 0)
        return number;
    ret->data = (uint16_t)(number + 1);
    return 0;
}

int trace_wish(struct reader *r, const struct trace_table *t, struct work *w)
{
    struct work_wish wish = { .due_ms = 0 }, *kept;
    int rc = take_deadline(r, t, w, &wish);

    if (rc == 0)
        rc = take_data(r, t, &wish);
    if (rc != 0 || (!wish.due_ms && !wish.data))
        return rc;
    kept = arena_alloc(&r->work->arena, sizeof(*kept));
    if (!kept)
        return -ENOMEM;
    *kept = wish;
    w->wish = kept;
    return 0;
}
