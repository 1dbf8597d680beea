/* Traces that are tables with a header: rows into jobs. */
#include "trace/csv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const int64_t submit_max_ms = (int64_t)200 * 365 * 86400 * 1000;

static int submitted(const struct trace_table *t, struct work *w)
{
    if (t->at[TRACE_SUBMIT_DATE] >= 0) {
        if (reader_date(trace_field(t, TRACE_SUBMIT_DATE), &w->submit_ms) < 0)
            return -EINVAL;
        w->submit_ms *= 1000;
        return 0;
    }
    if (t->at[TRACE_SUBMIT_MS] >= 0)
        return trace_number(t, TRACE_SUBMIT_MS, submit_max_ms, &w->submit_ms);
    if (!*trace_field(t, TRACE_SUBMIT_S))
        return t->form->timed ? -EINVAL : 0;
    return reader_seconds(trace_field(t, TRACE_SUBMIT_S), &w->submit_ms);
}

static int length(const struct trace_table *t, struct work *w)
{
    int64_t end = 0;

    if (*trace_field(t, TRACE_END_S)) {
        if (trace_seconds(t, TRACE_END_S, &end) < 0)
            return -EINVAL;
        w->length_ms = end - w->submit_ms;
        return 0;
    }
    if (t->at[TRACE_ITERATIONS] >= 0)
        return trace_iterations(t, w);
    if (!*trace_field(t, TRACE_LENGTH_S))
        return t->form->timed ? -EINVAL : 0;
    return reader_seconds(trace_field(t, TRACE_LENGTH_S), &w->length_ms);
}

/* How much of what it needs. */
static int needs(const struct trace_table *t, struct work *w)
{
    int64_t devices = -1, milli = WORK_WHOLE, cpus = 0, memory = 0;
    int64_t per_node = 0, priority = 0;

    if (*trace_field(t, TRACE_MILLI) || *trace_field(t, TRACE_MIG))
        devices = 1; /* a share, or an instance, is of one device */
    if (trace_number(t, TRACE_DEVICES, WORK_DEVICES, &devices) < 0 ||
        trace_number(t, TRACE_MILLI, WORK_WHOLE, &milli) < 0 ||
        trace_number(t, TRACE_CPUS_MILLI, INT32_MAX / 4, &cpus) < 0 ||
        trace_number(t, TRACE_MEMORY_MIB, INT32_MAX, &memory) < 0 ||
        trace_number(t, TRACE_PER_NODE, WORK_DEVICES, &per_node) < 0 ||
        trace_number(t, TRACE_PRIORITY, INT16_MAX, &priority) < 0)
        return -EINVAL;
    w->devices = (int32_t)devices;
    w->milli = (int16_t)(devices == 0 ? WORK_WHOLE : milli);
    w->cpus_milli = (int32_t)cpus;
    w->memory_mib = (int32_t)memory;
    w->per_node = (int32_t)per_node;
    w->priority = (int16_t)priority;
    return 0;
}

static int groups(struct reader *r, const struct trace_table *t, struct work *w)
{
    int rc = 0;

    if (*trace_field(t, TRACE_USER))
        rc = reader_group(r, &r->work->users, trace_field(t, TRACE_USER), &w->user);
    if (rc == 0 && *trace_field(t, TRACE_TEAM))
        rc = reader_group(r, &r->work->teams, trace_field(t, TRACE_TEAM), &w->team);
    if (rc == 0 && *trace_field(t, TRACE_CLASS))
        rc = reader_group(r, &r->work->classes, trace_field(t, TRACE_CLASS), &w->class);
    return rc;
}

/* Blanks around fields are no part of them. */
static void trim(struct csv *c)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        char *text = c->fields[i] + strspn(c->fields[i], " \t");
        size_t len = strlen(text);

        while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
            text[--len] = '\0';
        c->fields[i] = text;
    }
}

static int take_row(struct reader *r, const struct trace_table *t)
{
    const struct reader_range range = { trace_field(t, TRACE_LEAST), trace_field(t, TRACE_MOST),
                                        trace_field(t, TRACE_SCALING) };
    struct work w = reader_empty();
    char number_text[24];
    const char *name = trace_field(t, TRACE_NAME), *why;
    int rc;

    if (needs(t, &w) < 0)
        return reader_bad(r, "devices, CPUs or memory that are no numbers");
    why = reader_elastic(&w, &range);
    if (why)
        return reader_bad(r, "%s", why);
    if (submitted(t, &w) < 0)
        return reader_bad(r, "no time at which it was submitted");
    if (length(t, &w) < 0)
        return reader_bad(r, "no time that it takes");
    if (trace_seconds(t, TRACE_LIMIT_S, &w.limit_ms) < 0 || w.limit_ms < 0)
        return reader_bad(r, "a limit that is no time");
    if (trace_seconds(t, TRACE_CHECKPOINT_S, &w.checkpoint_ms) < 0 || w.checkpoint_ms < 0)
        return reader_bad(r, "a time between checkpoints that is none");
    rc = trace_kinds(r, trace_field(t, TRACE_KINDS), &w);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return reader_bad(r,
                          rc == -ENOENT ? "no node has devices of the kind %.60s"
                          : rc == -E2BIG
                              ? "one more table of speeds than can be: %.60s"
                              : "kinds are names, or names:speeds, with | between: %.60s",
                          trace_field(t, TRACE_KINDS));
    why = trace_mig(r, trace_field(t, TRACE_MIG), &w);
    if (why)
        return reader_bad(r, "%s", why);
    if (groups(r, t, &w) < 0)
        return -ENOMEM;
    rc = trace_wish(r, t, &w);
    if (rc != 0)
        return MIN(rc, 0);
    rc = trace_activity(r, trace_field(t, TRACE_ACTIVITY), &w);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return reader_bad(r, "its activity is not seconds:per cent that add up to its length");
    if (!t->form->named || !*name) {
        snprintf(number_text, sizeof(number_text), "%zu", r->notes->rows + 1);
        name = number_text;
    }
    return reader_add(r, &w, name);
}

static bool is_csv(const char *first)
{
    return strchr(first, ',') && trace_form_of(first);
}

static int read_csv(struct reader *r, const char *text, size_t len, struct err *e)
{
    struct trace_table t;
    int rc = trace_table_open(&t, r->file, text, len, e);

    if (rc < 0)
        return rc;
    r->notes->kind = t.form->name;
    while ((rc = csv_next(&t.csv)) != 0) {
        r->line = t.csv.line;
        trim(&t.csv);
        if (rc > 0 && t.csv.n_fields == 1 && !*t.csv.fields[0])
            continue;
        rc = rc < 0 ? reader_bad(r, "not a row of a table") : take_row(r, &t);
        if (rc < 0)
            return rc;
    }
    return 0;
}

const struct reader_ops reader_csv = { "csv", is_csv, read_csv };
