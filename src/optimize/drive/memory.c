/* Memory that runs out with a setting: what took it is written down as refused, and is not tried
 * again. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "optimize/drive/drive_private.h"

/* By the last moment: of the group's limit in use, and of the machine's memory still free. */
static const double nearly_full = 0.9, nearly_none = 0.05;

enum { KILLED = 9, KILLED_STATUS = 128 + KILLED };

static const char workers_knob[] = "loader.workers";

static struct session_entry *kept_workers(struct session *s)
{
    for (unsigned i = s->n_entries; i-- > 0;)
        if (s->entries[i].outcome == SESSION_ADOPTED && !strcmp(s->entries[i].knob, workers_knob))
            return &s->entries[i];
    return NULL;
}

/* ---- what the shim tells when it takes workers back ---- */

/* "loader 1: workers 4, prefetch 2 in force, for memory ran low with 9 workers: ...". */
static bool is_word(const char *text, unsigned *left, const char **why)
{
    static const char key[] = ": workers ";
    const char *at = strstr(text, key);
    uint64_t n;

    *why = strstr(text, "memory ran low with ");
    if (!*why || !at || strncmp(text, "loader ", 7) != 0 ||
        !parse_digits(at + strlen(key), 10, 6, &n))
        return false;
    *left = (unsigned)n;
    return true;
}

/* Workers that were kept are fewer now; more are refused. */
static void fewer(struct drive *d, unsigned left, const char *why)
{
    struct session *s = &d->session;
    struct session_entry *k;
    char before[KNOB_VALUE_MAX];

    while ((k = kept_workers(s)) && strtoul(k->value, NULL, 10) > left) {
        snprintf(before, sizeof(before), "%s", k->value);
        if (strtoul(k->before, NULL, 10) >= left) {
            k->outcome = SESSION_ROLLED_BACK;
            k->refused = true;
            snprintf(k->note, sizeof(k->note), "%s", why);
        } else {
            snprintf(k->value, sizeof(k->value), "%u", left);
            session_refuse(s, k, before, why);
        }
    }
    drive_progress(d);
    d->workers = left;
}

/* Whether workers are tried, or have just been kept: the session takes them back then. */
static bool is_tried(const struct session *s)
{
    return s->phase >= PHASE_CANARY && s->phase <= PHASE_GUARD && s->n_offers &&
           !strcmp(s->offers[0].knob, workers_knob);
}

static void take_word(struct drive *d, unsigned left, const char *why)
{
    struct session *s = &d->session;
    unsigned entry = s->n_entries - (s->phase == PHASE_ADOPT || s->phase == PHASE_GUARD);

    if (d->state != DRIVE_RUNS || !is_tried(s)) {
        fewer(d, left, why);
        return;
    }
    drive_send(d, SESSION_FAILED, why);
    if (entry < s->n_entries)
        s->entries[entry].refused = s->entries[entry].outcome == SESSION_BROKE;
}

void drive_look_at_memory(struct drive *d)
{
    for (size_t i = 0; i < rings_count(d->w.rings); i++) {
        const struct rank_steps *l = rings_lane(d->w.rings, i);

        /* A setting that is under way is answered first. */
        for (; d->notes[i] < l->n_notes && !d->order.open; d->notes[i]++) {
            const char *why;
            unsigned left;

            if (is_word(l->notes[d->notes[i]].value, &left, &why))
                take_word(d, left, why);
        }
    }
}

/* ---- the job's end ---- */

static bool was_full(const struct run *r)
{
    const struct run_moment *m = r->n_moments ? &r->moments[r->n_moments - 1] : NULL;

    return m && (m->values[RUN_JOB_MEMORY] >= nearly_full * m->values[RUN_JOB_MEMORY_LIMIT] ||
                 m->values[RUN_MEMORY_AVAILABLE] <= nearly_none * m->values[RUN_MEMORY_TOTAL]);
}

void drive_refuse_at_end(struct drive *d, const struct run *r, unsigned tried)
{
    struct session *s = &d->session;
    bool killed = r->end == RUN_KILLED ? r->status == KILLED : r->status == KILLED_STATUS;
    struct session_entry *k = kept_workers(s);

    if (!killed)
        return;
    if (tried < s->n_entries && s->entries[tried].outcome == SESSION_BROKE) {
        s->entries[tried].refused = true;
    } else if (k && was_full(r)) {
        k->outcome = SESSION_BROKE;
        k->refused = true;
        snprintf(k->note, sizeof(k->note),
                 "the job was killed (signal %d) with it, as memory was nearly used up", KILLED);
        drive_progress(d);
    }
}
