/* What an engine makes of the policies, and which of them brim's own queue cannot carry out. */
#include "cmd/sim/show.h"

static void add_changes(const struct sim_run *run, enum engine engine, struct str *out)
{
    char text[ENGINE_PART_TEXT];
    const struct engine_part *part;
    size_t at = 0;

    while ((part = engine_next(&run->asked, engine, ENGINE_CHANGES, &at)))
        str_addf(out, "%s: %s does %s, not %s: %s\n", run->policy.name, engine_called(engine),
                 part->by[engine].instead, engine_part_text(part, text), part->by[engine].why);
}

/* Limits are all that an engine knows of how long jobs take. */
static void add_limits(const struct sim_report *r, struct str *out)
{
    size_t without = 0;
    bool any = false;

    for (size_t i = 0; i < r->n_runs; i++)
        any = any || r->runs[i].policy.length == LENGTH_LIMIT;
    for (size_t i = 0; any && i < r->work->n_jobs; i++)
        without += r->work->jobs[i].limit_ms == WORK_UNKNOWN;
    if (without)
        str_addf(out, "%zu of %zu jobs have no limit (limit_s): nobody knows when they end\n",
                 without, r->work->n_jobs);
}

static void add_lacks(const struct sim_run *run, struct str *out)
{
    char text[ENGINE_PART_TEXT];
    const struct engine_part *part;
    size_t at = 0, n = 0;

    while ((part = engine_next(&run->asked, ENGINE_LOCAL, ENGINE_LACKS, &at))) {
        if (n++ == 0)
            str_addf(out, "%s: brim's queue cannot carry out ", run->policy.name);
        str_addf(out, "%s%s", n > 1 ? ", " : "", engine_part_text(part, text));
    }
    if (n)
        str_add(out, ": --engine local says why\n");
}

void sim_show_engine(const struct sim_report *r, struct str *out)
{
    for (size_t i = 0; i < r->n_runs; i++)
        if (r->engine == ENGINE_N)
            add_lacks(&r->runs[i], out);
        else
            add_changes(&r->runs[i], r->engine, out);
    if (r->engine == ENGINE_N)
        return;
    add_limits(r, out);
    if (r->engine == ENGINE_LOCAL && r->pool->n_nodes > 1)
        str_addf(out, "brim's queue is of one machine: here it decides for %zu nodes\n",
                 r->pool->n_nodes);
}

void sim_show_engine_json(const struct sim_report *r, const struct sim_run *run, struct json *j)
{
    char text[ENGINE_PART_TEXT];
    const struct engine_part *part;
    size_t at = 0;

    json_array(j, "queue_lacks");
    while ((part = engine_next(&run->asked, ENGINE_LOCAL, ENGINE_LACKS, &at)))
        json_string(j, NULL, engine_part_text(part, text));
    json_end(j);
    if (r->engine == ENGINE_N)
        return;
    json_string(j, "engine", engine_names[r->engine]);
    json_array(j, "engine_changes");
    at = 0;
    while ((part = engine_next(&run->asked, r->engine, ENGINE_CHANGES, &at))) {
        json_object(j, NULL);
        json_string(j, "part", engine_part_text(part, text));
        json_string(j, "instead", part->by[r->engine].instead);
        json_string(j, "why", part->by[r->engine].why);
        json_end(j);
    }
    json_end(j);
}

void sim_show_engine_of(const struct policy *p, enum engine engine, struct str *out)
{
    static const enum engine_can kinds[] = { ENGINE_LACKS, ENGINE_CHANGES };
    char text[ENGINE_PART_TEXT];
    const struct engine_part *part;
    bool as_it_is = true;

    for (size_t i = 0; i < ARRAY_SIZE(kinds) && as_it_is; i++) {
        size_t at = 0;

        while ((part = engine_next(p, engine, kinds[i], &at))) {
            if (as_it_is)
                str_addf(out, "%s: %s ", engine_called(engine),
                         kinds[i] == ENGINE_LACKS ? "cannot do" : "does");
            else
                str_add(out, ", ");
            as_it_is = false;
            if (kinds[i] == ENGINE_CHANGES)
                str_addf(out, "%s for ", part->by[engine].instead);
            str_add(out, engine_part_text(part, text));
        }
    }
    if (as_it_is)
        str_addf(out, "%s: as it is", engine_called(engine));
}
