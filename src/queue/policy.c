#include "queue/policy.h"

#include <errno.h>
#include <string.h>

#include "base/ini.h"
#include "sched/sched.h"

/* ---- what cannot be carried out ---- */

static bool moves(const struct policy *p)
{
    return p->preempt == PREEMPT_REBUILD || p->restart_each_pass || p->interleave > 1;
}

static bool counts_steps(const struct policy *p)
{
    return p->length == LENGTH_STEPS;
}

static bool shares(const struct policy *p)
{
    return p->share.below > 0;
}

/* A part of a policy: whether it asks for it, where that stands (key NULL: a section; value NULL:
 * any), and what to say. */
static const struct cannot {
    bool (*asks)(const struct policy *p);
    const char *section, *key, *value, *why;
} cannots[] = {
    { moves, "policy", "preempt", "rebuild", "it moves jobs that run, which only brim sim can do" },
    { moves, "policy", "restart-each-pass", "yes",
      "it moves jobs that run, which only brim sim can do" },
    { moves, "policy", "interleave", NULL,
      "jobs cannot take turns on devices, which only brim sim can do" },
    { counts_steps, "policy", "length", "steps", "length = steps is for brim sim" },
    { shares, "share", NULL, NULL,
      "a job that runs cannot move to another one's devices, whose memory may not hold both: "
      "leave the section out" },
};

/* What is known to work here. */
static const char *const sections[] = { "policy", "idle", "quota", "elastic", NULL };
static const char *const keys[] = {
    "name",       "order",     "place",     "backfill", "preempt",    "kinds",
    "ties",       "length",    "every",     "notice",   "restart",    "restart-multi",
    "queues",     "half-life", "least-run", "ageing",   "priorities", "restart-each-pass",
    "interleave", NULL
};

static bool is_in(const char *const *list, const char *word)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

/* ---- looking for it ---- */

static int refuse(const struct ini_entry *at, const char *why, struct err *e)
{
    if (at->key)
        return err_set(e, -EINVAL, "%s:%d: [%s] %s = %.40s: %s", at->file, at->line, at->section,
                       at->key, at->value, why);
    return err_set(e, -EINVAL, "%s:%d: [%s]: %s", at->file, at->line, at->section, why);
}

static int look(void *ctx, const struct ini_entry *at, struct err *e)
{
    const struct policy *p = *(const struct policy *const *)ctx;

    for (size_t i = 0; i < ARRAY_SIZE(cannots); i++) {
        const struct cannot *c = &cannots[i];

        if (strcmp(c->section, at->section) != 0 || !c->asks(p))
            continue;
        if (!c->key ||
            (at->key && !strcmp(c->key, at->key) && (!c->value || !strcmp(c->value, at->value))))
            return refuse(at, c->why, e);
    }
    if (!is_in(sections, at->section) ||
        (at->key && !strcmp(at->section, "policy") && !is_in(keys, at->key)))
        return refuse(at, "only brim sim can do that", e);
    return 0;
}

int queue_policy_check(const struct policy *p, const struct queue_policy_text *from, struct err *e)
{
    int rc = 0;

    if (from->text)
        rc = ini_parse(from->name, from->text, from->len, look, &p, e);
    for (size_t i = 0; i < ARRAY_SIZE(cannots) && rc == 0; i++)
        if (cannots[i].asks(p))
            rc = err_set(e, -EINVAL, "policy %s: %s", from->name, cannots[i].why);
    return rc;
}

/* ---- actions ---- */

enum queue_deed queue_deed(uint8_t kind)
{
    switch (kind) {
    case ACTION_START:
        return DEED_START;
    case ACTION_PREEMPT:
        return DEED_STOP;
    case ACTION_WARN:
        return DEED_TELL;
    case ACTION_RESIZE:
        return DEED_RESIZE;
    default:
        return DEED_NONE;
    }
}
