#include "sched/engine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/ini.h"

const char *const engine_names[] = { "local", "slurm", NULL };

const char *engine_called(enum engine engine)
{
    return engine == ENGINE_SLURM ? "Slurm" : "brim's queue";
}

const struct engine_part *engine_next(const struct policy *p, enum engine engine,
                                      enum engine_can can, size_t *at)
{
    while (*at < engine_n_parts) {
        const struct engine_part *part = &engine_parts[(*at)++];

        if (part->by[engine].can == can && part->asks && part->asks(p, part->value))
            return part;
    }
    return NULL;
}

const char *engine_part_text(const struct engine_part *part, char ret[ENGINE_PART_TEXT])
{
    bool in_policy = !strcmp(part->section, "policy");

    snprintf(ret, ENGINE_PART_TEXT, "%s%s%s%s%s%s%s", in_policy ? "" : "[",
             in_policy ? "" : part->section, in_policy ? "" : "]",
             part->key && !in_policy ? " " : "", part->key ? part->key : "",
             part->key && part->value ? " = " : "", part->value ? part->value : "");
    return ret;
}

/* ---- what an engine lacks ---- */

struct looking {
    const struct policy *p;
    enum engine engine;
};

static int refuse(const struct ini_entry *at, const char *why, struct err *e)
{
    if (at->key)
        return err_set(e, -EINVAL, "%s:%d: [%s] %s = %.40s: %s", at->file, at->line, at->section,
                       at->key, at->value, why);
    return err_set(e, -EINVAL, "%s:%d: [%s]: %s", at->file, at->line, at->section, why);
}

/* Whether a line of a file is one of a part, with any value. */
static bool is_of(const struct engine_part *part, const struct ini_entry *at)
{
    return !strcmp(part->section, at->section) &&
           (!at->key || !part->key || !strcmp(part->key, at->key));
}

static int look(void *ctx, const struct ini_entry *at, struct err *e)
{
    const struct looking *l = ctx;
    bool known = false;

    for (size_t i = 0; i < engine_n_parts; i++) {
        const struct engine_part *part = &engine_parts[i];
        const struct engine_cell *cell = &part->by[l->engine];

        if (!is_of(part, at))
            continue;
        known = true;
        if (cell->can != ENGINE_LACKS)
            continue;
        if (!part->key || (at->key && part->asks(l->p, part->value) &&
                           (!part->value || !strcmp(part->value, at->value))))
            return refuse(at, cell->why, e);
    }
    return known ? 0 : refuse(at, "only brim sim can do that", e);
}

int engine_check(const struct policy *p, enum engine engine, const struct engine_policy_text *from,
                 struct err *e)
{
    struct looking l = { p, engine };
    char text[ENGINE_PART_TEXT];
    const struct engine_part *part;
    size_t at = 0;
    int rc = from->text ? ini_parse(from->name, from->text, from->len, look, &l, e) : 0;

    if (rc < 0)
        return rc;
    part = engine_next(p, engine, ENGINE_LACKS, &at);
    return part ? err_set(e, -EINVAL, "policy %s: %s: %s", from->name, engine_part_text(part, text),
                          part->by[engine].why)
                : 0;
}

int engine_change(struct policy *p, enum engine engine, struct err *e)
{
    const struct policy was = *p;
    const struct engine_part *part;
    size_t at = 0;
    int rc;

    while ((part = engine_next(&was, engine, ENGINE_CHANGES, &at)))
        part->by[engine].change(p);
    rc = policy_check(p, p->name, e);
    if (rc < 0)
        *p = was;
    return rc < 0 ? err_context(e, rc, "as %s does it: ", engine_called(engine)) : 0;
}
