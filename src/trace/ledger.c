#include "trace/ledger.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double hour_s = 3600;

static const struct {
    const char *name;
    bool wastes; /* what the job had: at most, since checkpoints may hold it */
} ends[LEDGER_ENDS] = {
    [LEDGER_DONE] = { "done", false },           [LEDGER_RUNNING] = { "running", false },
    [LEDGER_UNKNOWN] = { "not known", false },   [LEDGER_FAILED] = { "failed", true },
    [LEDGER_CANCELLED] = { "cancelled", true },  [LEDGER_TIME_LIMIT] = { "time limit", true },
    [LEDGER_MEMORY] = { "out of memory", true }, [LEDGER_NODE] = { "a node failed", true },
    [LEDGER_PREEMPTED] = { "preempted", true },
};

const char *ledger_end_name(enum ledger_end end)
{
    return ends[end].name;
}

void ledger_done(struct ledger *l)
{
    arena_done(&l->arena);
    *l = (struct ledger){ .n = 0 };
}

struct ledger_job ledger_empty(void)
{
    return (struct ledger_job){ .kind = "",
                                .busy = (double)NAN,
                                .kwh = (double)NAN,
                                .usd = (double)NAN,
                                .kwh_guess = (double)NAN,
                                .end = LEDGER_UNKNOWN };
}

int ledger_add(struct ledger *l, const struct ledger_job *job)
{
    struct ledger_job copy = *job, *to;
    const char **texts[] = { &copy.name,    &copy.user, &copy.team,
                             &copy.project, &copy.kind, &copy.idle_cause };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (*texts[i] && !(*texts[i] = arena_strdup(&l->arena, *texts[i])))
            return -ENOMEM;
    to = ARENA_PUSH(&l->arena, &l->jobs, &l->n);
    if (!to)
        return -ENOMEM;
    *to = copy;
    return 0;
}

double ledger_device_hours(const struct ledger_job *j)
{
    return j->devices * j->seconds / hour_s;
}

static double idle_hours(const struct ledger_job *j)
{
    return isnan(j->busy) ? 0 : ledger_device_hours(j) * (1 - j->busy);
}

double ledger_wasted_hours(const struct ledger_job *j)
{
    return ends[j->end].wastes ? ledger_device_hours(j) : idle_hours(j);
}

int ledger_wasted_by(const char **ret, const struct ledger_job *j, struct arena *a)
{
    *ret = NULL;
    if (ends[j->end].wastes)
        *ret = ends[j->end].name;
    else if (idle_hours(j) > 0 && !j->idle_cause)
        *ret = "idle, cause not known";
    else if (idle_hours(j) > 0 && !(*ret = arena_printf(a, "idle: %s", j->idle_cause)))
        return -ENOMEM;
    return 0;
}

/* ---- sums ---- */

void ledger_sums_done(struct ledger_sums *s)
{
    arena_done(&s->arena);
    *s = (struct ledger_sums){ .n = 0 };
}

static void count(struct ledger_sum *s, const struct ledger_job *j, double hours)
{
    double all = ledger_device_hours(j), share = all > 0 ? hours / all : 0;
    double wasted = all > 0 ? ledger_wasted_hours(j) / all : 0;

    s->jobs++;
    s->hours += hours;
    s->measured += isnan(j->busy) ? 0 : hours;
    s->idle += idle_hours(j) * share;
    s->wasted += ledger_wasted_hours(j) * share;
    s->usd += j->usd * share;
    s->usd_wasted += j->usd * share * wasted;
    s->kwh += j->kwh_guess * share;
    s->kwh_measured += isnan(j->kwh) ? 0 : j->kwh * share;
}

/* A job and what it is summed up under. */
struct filed {
    const char *key;
    const struct ledger_job *job;
};

static int by_key(const void *a, const void *b)
{
    const struct filed *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : (int)(x->job - y->job); /* in the order of the list */
}

static int most_first(const void *a, const void *b)
{
    const struct ledger_sum *x = a, *y = b;
    int order = COMPARE(y->hours, x->hours);

    return order ? order : strcmp(x->name, y->name);
}

/* NULL: the job is not summed up. */
static int key_of(const char **ret, const struct ledger_job *j, enum ledger_by by, struct arena *a)
{
    const char *key = by == LEDGER_USER      ? j->user
                      : by == LEDGER_TEAM    ? j->team
                      : by == LEDGER_PROJECT ? j->project
                                             : j->name;

    if (by == LEDGER_CAUSE)
        return ledger_wasted_by(ret, j, a);
    *ret = key && *key ? key : "-";
    return 0;
}

/* Sum up what is sorted by its keys. */
static int sum_up(struct ledger_sums *s, const struct filed *filed, size_t n, bool wasted_only)
{
    for (size_t i = 0; i < n; i++) {
        const struct ledger_job *j = filed[i].job;

        if (i == 0 || strcmp(filed[i].key, filed[i - 1].key) != 0) {
            struct ledger_sum *added = ARENA_PUSH(&s->arena, &s->list, &s->n);

            if (!added)
                return -ENOMEM;
            added->name = filed[i].key;
        }
        count(&s->list[s->n - 1], j, wasted_only ? ledger_wasted_hours(j) : ledger_device_hours(j));
    }
    return 0;
}

int ledger_sum_by(struct ledger_sums *ret, const struct ledger *l, enum ledger_by by, struct err *e)
{
    CLEANUP(freep) struct filed *filed = calloc(l->n + 1, sizeof(*filed));
    struct ledger_sums s = { .n = 0 };
    size_t n = 0;
    int rc = filed ? 0 : -ENOMEM;

    for (size_t i = 0; i < l->n && rc == 0; i++) {
        filed[n].job = &l->jobs[i];
        rc = key_of(&filed[n].key, filed[n].job, by, &s.arena);
        n += filed[n].key != NULL;
    }
    if (rc == 0 && n)
        qsort(filed, n, sizeof(*filed), by_key);
    if (rc == 0)
        rc = sum_up(&s, filed, n, by == LEDGER_CAUSE);
    if (rc < 0) {
        ledger_sums_done(&s);
        return err_nomem(e);
    }
    if (s.n)
        qsort(s.list, s.n, sizeof(*s.list), most_first);
    *ret = s;
    return 0;
}

struct ledger_sum ledger_total(const struct ledger *l)
{
    struct ledger_sum s = { .name = "all" };

    for (size_t i = 0; i < l->n; i++)
        count(&s, &l->jobs[i], ledger_device_hours(&l->jobs[i]));
    return s;
}
