#include "slurm/take.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/compiler.h"
#include "slurm/gres.h"
#include "slurm/state.h"

enum { MINUTE_MS = 60000, YEAR_MINUTES = 365 * 24 * 60 /* that is how it writes "no limit" */ };

static const char *some(const char *text)
{
    return text && text[0] ? text : NULL;
}

static const char *always(const char *text)
{
    return text ? text : "";
}

static int32_t whole(uint64_t n)
{
    return n >= SLURM_NO_VALUE ? 0 : (int32_t)MIN(n, (uint64_t)INT_MAX);
}

/* Slurm's seconds; 0 stays. */
static int64_t ms_of(int64_t s)
{
    return s <= 0 || s >= SLURM_NO_VALUE ? 0 : s * 1000;
}

static int keep_kind(struct site *s, const struct slurm_gres *g, const char **ret)
{
    if (!g->kind[0])
        return 0;
    *ret = arena_strdup(&s->arena, g->kind);
    return *ret ? 0 : -ENOMEM;
}

int slurm_take_node(struct site *s, const struct slurm_raw_node *raw)
{
    struct site_node *n = ARENA_PUSH(&s->arena, &s->nodes, &s->n_nodes);
    struct slurm_gres g;

    if (!n)
        return -ENOMEM;
    n->name = raw->name;
    n->address = some(raw->address);
    slurm_state_of_node(raw->state, n);
    n->reason = some(raw->reason);
    n->reason_uid = raw->reason_uid;
    n->cpus = whole(raw->cpus);
    n->memory_mib = (int64_t)MIN(raw->memory_mib, (uint64_t)INT64_MAX);
    n->features = some(raw->features);
    slurm_gres_read(raw->gres, &g);
    n->devices = g.count;
    return keep_kind(s, &g, &n->kind);
}

static void take_times(struct site_job *j, const struct slurm_raw_job *raw)
{
    bool limited = raw->limit_min && raw->limit_min < YEAR_MINUTES;

    j->submit_ms = ms_of(raw->submit_s);
    j->start_ms = ms_of(raw->start_s);
    j->limit_ms = limited ? (int64_t)raw->limit_min * MINUTE_MS : 0;
    if (limited || j->state == SITE_ENDED || j->state == SITE_ENDING)
        j->end_ms = ms_of(raw->end_s);
}

static int64_t memory_of(const struct slurm_raw_job *raw)
{
    uint64_t each = raw->memory_mib & ~SLURM_PER_CPU;
    uint64_t nodes = MAX(raw->nodes, 1u), cpus = raw->cpus;

    if (each > UINT32_MAX)
        return 0;
    return (int64_t)(raw->memory_mib & SLURM_PER_CPU ? each * ((cpus + nodes - 1) / nodes) : each);
}

/* What it asks for, from whichever of its texts has it. */
static int take_wish(struct site *s, struct site_job *j, const struct slurm_raw_job *raw)
{
    const struct {
        const char *text;
        uint32_t times;
        bool per_node;
    } from[] = {
        { raw->per_job, 1, false },
        { raw->per_node, raw->nodes, true },
        { raw->per_task, raw->processes, false },
        { raw->tres, 1, false },
        { raw->tres_asked, 1, false },
    };
    struct slurm_gres g;
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(from); i++) {
        slurm_gres_read(from[i].text, &g);
        if (g.count && !j->devices)
            j->devices = whole((uint64_t)g.count * from[i].times);
        if (g.count && from[i].per_node)
            j->devices_per_node = g.count;
        if (rc == 0 && i < 3 && !j->kind)
            rc = keep_kind(s, &g, &j->kind);
    }
    return rc;
}

static int take_parts(struct site *s, struct site_job *j, const struct slurm_raw_job *raw)
{
    struct site_part *parts;
    struct slurm_gres g;
    int64_t all = 0;
    bool told = raw->n_details == raw->n_places;

    if (raw->n_places == 0 || j->state == SITE_WAITING || j->state == SITE_ENDED)
        return 0;
    parts = arena_alloc(&s->arena, raw->n_places * sizeof(*parts));
    if (!parts)
        return -ENOMEM;
    for (size_t i = 0; i < raw->n_places; i++) {
        slurm_gres_read(told ? raw->details[i] : NULL, &g);
        parts[i].node = raw->places[i];
        parts[i].devices = g.devices;
        parts[i].count = told ? g.count : j->devices / (int32_t)raw->n_places;
        all += parts[i].count;
    }
    if (told)
        j->devices = (int32_t)MIN(all, (int64_t)INT_MAX);
    j->parts = parts;
    j->n_parts = raw->n_places;
    return 0;
}

static void take_why(struct site_job *j, const struct slurm_raw_job *raw, int64_t now_s)
{
    if (j->state != SITE_WAITING)
        return;
    j->why = raw->reason && strcmp(raw->reason, "None") != 0 ? some(raw->reason) : NULL;
    j->depends = (j->why && slurm_state_depends(j->why)) || some(raw->dependency) ||
                 (raw->eligible_s > now_s && raw->eligible_s < SLURM_NO_VALUE);
}

int slurm_take_job(struct site *s, const struct slurm_raw_job *raw, int64_t now_s)
{
    struct site_job *j = ARENA_PUSH(&s->arena, &s->jobs, &s->n_jobs);
    int rc;

    if (!j)
        return -ENOMEM;
    j->id = raw->id;
    j->array = raw->array;
    j->task = raw->array && raw->task < SLURM_NO_VALUE ? raw->task : SITE_NO_TASK;
    j->uid = raw->uid;
    j->name = always(raw->name);
    j->user = always(raw->user);
    j->account = always(raw->account);
    j->partition = always(raw->partition);
    j->qos = always(raw->qos);
    j->comment = some(raw->comment);
    j->note = some(raw->note);
    j->after = some(raw->dependency);
    j->wanted = some(raw->wanted);
    j->avoided = some(raw->avoided);
    j->features = some(raw->features);
    j->state = slurm_state_of_job(raw->state);
    j->outcome = slurm_state_outcome(raw->state);
    j->held = j->state == SITE_WAITING && raw->priority == 0;
    j->requeue = raw->requeue;
    j->batch = raw->batch;
    j->exclusive = raw->exclusive;
    j->pending_tasks = j->state == SITE_WAITING && raw->array && some(raw->tasks);
    j->tasks = j->pending_tasks ? raw->tasks : NULL;
    j->priority = raw->priority;
    j->restarts = raw->restarts;
    j->nodes = whole(raw->nodes);
    j->nodes_most = MAX(whole(raw->nodes_most), j->nodes);
    j->cpus = whole(raw->cpus);
    j->memory_mib = memory_of(raw);
    take_times(j, raw);
    take_why(j, raw, now_s);
    rc = take_wish(s, j, raw);
    return rc < 0 ? rc : take_parts(s, j, raw);
}

static int by_id(const void *a, const void *b)
{
    const struct site_job *x = a, *y = b;

    return COMPARE(x->id, y->id);
}

int slurm_take_end(struct site *s)
{
    if (s->n_jobs)
        qsort(s->jobs, s->n_jobs, sizeof(*s->jobs), by_id);
    return site_index(s);
}
