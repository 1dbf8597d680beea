/* Jobs of a ledger out of texts: accounting, brim's own table, traces. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"
#include "trace/sacct.h"
#include "trace/ledger.h"
#include "trace/reader.h"

static const double joules_per_kwh = 3.6e6, most_devices = 1 << 20, most_s = 30 * 365.0 * 86400;

static int bad(struct ledger *l, const char *file, int line, const char *why)
{
    l->rows++;
    if (l->bad++ == 0)
        snprintf(l->note, sizeof(l->note), "%.80s:%d: %s", file, line, why);
    return 0;
}

static int add(struct ledger *l, const struct ledger_job *j)
{
    l->rows++;
    return ledger_add(l, j);
}

/* ---- sacct ---- */

/* States are written as "CANCELLED by 1000". */
static enum ledger_end end_of(const char *state)
{
    static const struct {
        const char *start;
        enum ledger_end end;
    } states[] = {
        { "COMPLETED", LEDGER_DONE },      { "COMPLETING", LEDGER_RUNNING },
        { "RUNNING", LEDGER_RUNNING },     { "SUSPENDED", LEDGER_RUNNING },
        { "CANCELLED", LEDGER_CANCELLED }, { "REVOKED", LEDGER_CANCELLED },
        { "FAILED", LEDGER_FAILED },       { "TIMEOUT", LEDGER_TIME_LIMIT },
        { "DEADLINE", LEDGER_TIME_LIMIT }, { "OUT_OF_ME", LEDGER_MEMORY },
        { "NODE_FAIL", LEDGER_NODE },      { "BOOT_FAIL", LEDGER_NODE },
        { "PREEMPTED", LEDGER_PREEMPTED }, { "REQUEUED", LEDGER_PREEMPTED },
    };

    for (size_t i = 0; i < ARRAY_SIZE(states); i++)
        if (!strncmp(state, states[i].start, strlen(states[i].start)))
            return states[i].end;
    return LEDGER_UNKNOWN;
}

/* A step's use of its GPUs, where the site keeps gres/gpuutil: of the job before it, by time. */
static void take_step(struct ledger *l, const struct sacct *t)
{
    static const char start[] = "gres/gpuutil=";
    const char *id = sacct_field(t, SACCT_ID), *at = strstr(sacct_field(t, SACCT_USAGE), start);
    struct ledger_job *j = l->n ? &l->jobs[l->n - 1] : NULL;
    size_t len = strcspn(id, ".");
    int64_t ms;
    double share;
    char number[24];

    l->skipped++;
    if (!j || !at || strlen(j->name) != len || strncmp(j->name, id, len) != 0)
        return;
    snprintf(number, sizeof(number), "%.*s", (int)strspn(at + sizeof(start) - 1, "0123456789."),
             at + sizeof(start) - 1);
    if (parse_double(number, &share) < 0 || share > 100 || sacct_elapsed(t, &ms) < 0 ||
        !(j->seconds > 0))
        return;
    share = share / 100 * MIN((double)ms / 1e3 / j->seconds, 1.0);
    j->busy = MIN((isnan(j->busy) ? 0 : j->busy) + share, 1.0);
}

static int take_sacct(struct ledger *l, const char *file, const struct sacct *t)
{
    struct ledger_job j = ledger_empty();
    char kind[SACCT_KIND];
    double joules;
    int64_t ms;

    if (strchr(sacct_field(t, SACCT_ID), '.')) {
        take_step(l, t);
        return 0;
    }
    j.devices = sacct_gpus(t);
    if (!(j.devices > 0) || !strncmp(sacct_field(t, SACCT_STATE), "PENDING", 7)) {
        l->skipped++;
        return 0;
    }
    if (sacct_elapsed(t, &ms) < 0)
        return bad(l, file, t->line, "no time that it took");
    j.seconds = (double)ms / 1e3;
    j.name = sacct_field(t, SACCT_ID);
    j.user = sacct_field(t, SACCT_USER);
    j.team = sacct_field(t, SACCT_ACCOUNT);
    j.project = *sacct_field(t, SACCT_KEY) ? sacct_field(t, SACCT_KEY)
                                           : sacct_field(t, SACCT_PARTITION);
    sacct_kind(sacct_field(t, SACCT_ALLOCATED), kind);
    j.kind = kind;
    j.end = end_of(sacct_field(t, SACCT_STATE));
    if (reader_date(sacct_field(t, SACCT_START), &j.begin_s) < 0 &&
        reader_date(sacct_field(t, SACCT_SUBMIT), &j.begin_s) < 0)
        j.begin_s = 0;
    if (parse_double(sacct_field(t, SACCT_ENERGY), &joules) == 0 && joules > 0 && joules < 1e15)
        j.kwh = joules / joules_per_kwh;
    return add(l, &j);
}

static int read_sacct(struct ledger *l, const char *file, const char *text, size_t len,
                      struct err *e)
{
    struct sacct t;
    int rc;

    sacct_init(&t, text, len);
    if (!sacct_has(&t, SACCT_ELAPSED) && !sacct_has(&t, SACCT_ELAPSED_RAW))
        return err_set(e, -EINVAL, "%s: sacct must print JobIDRaw,ElapsedRaw,AllocTRES at least",
                       file);
    while ((rc = sacct_next(&t)) != 0) {
        rc = rc < 0 ? bad(l, file, t.line, "too long") : take_sacct(l, file, &t);
        if (rc < 0)
            return err_nomem(e);
    }
    return 0;
}

/* ---- brim's own table ---- */

enum column {
    NAME,
    USER,
    TEAM,
    PROJECT,
    CLASS, /* where there is no project */
    KINDS,
    STATE,
    CAUSE,
    START,
    DEVICES,
    MILLI,
    LENGTH,
    BUSY,
    KWH,
    COLUMNS
};

static const char *const columns[COLUMNS] = { "job_id",   "user",      "team",      "project",
                                              "class",    "kinds",     "state",     "idle_cause",
                                              "start_s",  "gpus",      "gpu_milli", "duration_s",
                                              "gpu_busy", "energy_kwh" };

struct table {
    struct csv csv;
    int at[COLUMNS];
};

static const char *field(const struct table *t, enum column c)
{
    return t->at[c] < 0 || (size_t)t->at[c] >= t->csv.n_fields ? "" : t->csv.fields[t->at[c]];
}

/* A number up to most; blank leaves it as it is. */
static int number(const struct table *t, enum column c, double most, double *ret)
{
    double n;

    if (!*field(t, c))
        return 0;
    if (parse_double(field(t, c), &n) < 0 || !(n >= 0) || n > most)
        return -EINVAL;
    *ret = n;
    return 0;
}

static enum ledger_end own_end(const char *state)
{
    for (int i = 0; i < LEDGER_ENDS; i++)
        if (!strcasecmp(state, ledger_end_name((enum ledger_end)i)))
            return (enum ledger_end)i;
    return end_of(state);
}

static int take_own(struct ledger *l, const char *file, const struct table *t)
{
    struct ledger_job j = ledger_empty();
    double start = 0, milli = WORK_WHOLE;

    j.seconds = j.devices = -1;
    if (number(t, DEVICES, most_devices, &j.devices) < 0 ||
        number(t, LENGTH, most_s, &j.seconds) < 0 || number(t, BUSY, 1, &j.busy) < 0 ||
        number(t, KWH, 1e12, &j.kwh) < 0 || number(t, MILLI, WORK_WHOLE, &milli) < 0 ||
        number(t, START, 1e11, &start) < 0 || j.seconds < 0 || j.devices < 0)
        return bad(l, file, t->csv.line, "no numbers of devices, time, share or energy");
    if (!(j.devices > 0)) {
        l->skipped++;
        return 0;
    }
    j.devices *= j.devices <= 1 ? milli / WORK_WHOLE : 1;
    j.begin_s = (int64_t)start;
    j.name = field(t, NAME);
    j.user = field(t, USER);
    j.team = field(t, TEAM);
    j.project = field(t, t->at[PROJECT] < 0 ? CLASS : PROJECT);
    j.kind = field(t, KINDS);
    j.idle_cause = *field(t, CAUSE) ? field(t, CAUSE) : NULL;
    j.end = own_end(field(t, STATE));
    return add(l, &j);
}

static bool is_own(struct table *t)
{
    for (int c = 0; c < COLUMNS; c++) {
        t->at[c] = -1;
        for (size_t i = 0; i < t->csv.n_fields; i++)
            if (!strcmp(t->csv.fields[i], columns[c]))
                t->at[c] = (int)i;
    }
    return t->at[NAME] >= 0 && t->at[DEVICES] >= 0 && t->at[LENGTH] >= 0;
}

static int read_own(struct ledger *l, const char *file, struct table *t, struct err *e)
{
    int rc;

    while ((rc = csv_next(&t->csv)) != 0) {
        rc = rc < 0 ? bad(l, file, t->csv.line, "not a row of a table") : take_own(l, file, t);
        if (rc < 0)
            return err_nomem(e);
    }
    return 0;
}

/* ---- other traces ---- */

static const char *name_of(const struct work_names *names, int number)
{
    return number < 0 ? NULL : names->names[number];
}

static int take_trace(struct ledger *l, const struct workload *w, struct err *e)
{
    for (size_t i = 0; i < w->n_jobs; i++) {
        const struct work *from = &w->jobs[i];
        struct ledger_job j = ledger_empty();

        if (from->devices == 0) {
            l->skipped++;
            continue;
        }
        j.name = from->name;
        j.user = name_of(&w->users, from->user);
        j.team = name_of(&w->teams, from->team);
        j.project = name_of(&w->classes, from->class);
        j.seconds = (double)from->length_ms / 1e3;
        j.devices = (double)from->devices * from->milli / WORK_WHOLE;
        if (add(l, &j) < 0)
            return err_nomem(e);
    }
    return 0;
}

static int read_trace(struct ledger *l, const char *file, const char *text, size_t len,
                      struct err *e)
{
    const struct pool pool = { .kinds = { "" }, .n_kinds = 1 };
    const struct trace_text t = { file, text, len, "brim cost" };
    struct workload w = { .n_jobs = 0 };
    struct trace_notes notes;
    int rc = trace_read(&w, &notes, &pool, &t, e);

    if (rc == 0)
        rc = take_trace(l, &w, e);
    if (rc == 0 && notes.bad && l->bad == 0)
        snprintf(l->note, sizeof(l->note), "%.60s: %.90s", file, notes.text[0]);
    if (rc == 0) {
        l->bad += notes.bad;
        l->rows += notes.bad;
        l->skipped += notes.skipped;
    }
    workload_done(&w);
    return rc;
}

int ledger_read(struct ledger *l, const char *file, const char *text, size_t len, struct err *e)
{
    char first[1024];
    struct table t;

    snprintf(first, sizeof(first), "%.*s", (int)MIN(len, sizeof(first) - 1), text);
    first[strcspn(first, "\r\n")] = '\0';
    if (sacct_is(first))
        return read_sacct(l, file, text, len, e);
    csv_init(&t.csv, text, len);
    if (csv_next(&t.csv) > 0 && is_own(&t))
        return read_own(l, file, &t, e);
    return read_trace(l, file, text, len, e);
}
