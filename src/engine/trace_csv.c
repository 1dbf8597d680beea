/* Traces that are tables with a header: brim's own form, Philly's as others passed it on, those of
 * the Muri simulator, and Alibaba's OpenB. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/csv.h"
#include "base/parse.h"
#include "engine/reader.h"

enum column {
    NAME,
    SUBMIT_S,
    SUBMIT_MS,
    SUBMIT_DATE,
    LENGTH_S,
    LIMIT_S,
    CHECKPOINT_S,
    END_S,
    DEVICES,
    PER_NODE,
    MILLI,
    CPUS_MILLI,
    MEMORY_MIB,
    KINDS,
    USER,
    TEAM,
    CLASS,
    PRIORITY,
    ACTIVITY,
    ITERATIONS,
    ITERATION_MS,
    MODEL,
    READ_MS,
    COMPUTE_MS,
    TALK_MS,
    COLUMNS,
};

struct column_name {
    const char *name;
    enum column column;
};

struct form {
    const char *name, *mark; /* a column that only this form has */
    const struct column_name *columns;
    size_t n;
    bool named; /* rows have names; otherwise their numbers serve */
    bool timed; /* without times a row is bad; of the others, some tables have none */
};

static const struct column_name own[] = {
    { "job_id", NAME },
    { "submit_s", SUBMIT_S },
    { "gpus", DEVICES },
    { "duration_s", LENGTH_S },
    { "limit_s", LIMIT_S },
    { "checkpoint_s", CHECKPOINT_S },
    { "per_node", PER_NODE },
    { "gpu_milli", MILLI },
    { "cpu_milli", CPUS_MILLI },
    { "memory_mib", MEMORY_MIB },
    { "kinds", KINDS },
    { "user", USER },
    { "team", TEAM },
    { "class", CLASS },
    { "priority", PRIORITY },
    { "activity", ACTIVITY },
};

static const struct column_name philly[] = {
    { "timestamp", SUBMIT_DATE },
    { "duration", LENGTH_S },
    { "num_gpus", DEVICES },
    { "cluster", CLASS },
};

/* The length is that of the iterations, as in that simulator: the column duration is not used. */
static const struct column_name muri[] = {
    { "job_id", NAME },
    { "num_gpu", DEVICES },
    { "submit_time", SUBMIT_MS },
    { "iterations", ITERATIONS },
    { "iteration_time", ITERATION_MS },
    { "model_name", MODEL },
    { "resource_time_0", READ_MS },
    { "resource_time_1", COMPUTE_MS },
    { "resource_time_2", TALK_MS },
};

static const struct column_name openb[] = {
    { "name", NAME },       { "cpu_milli", CPUS_MILLI },   { "memory_mib", MEMORY_MIB },
    { "num_gpu", DEVICES }, { "gpu_milli", MILLI },        { "gpu_spec", KINDS },
    { "qos", CLASS },       { "creation_time", SUBMIT_S }, { "deletion_time", END_S },
};

static const struct form forms[] = {
    { "brim", "submit_s", own, ARRAY_SIZE(own), true, true },
    { "philly", "timestamp", philly, ARRAY_SIZE(philly), false, true },
    { "muri", "iteration_time", muri, ARRAY_SIZE(muri), true, true },
    { "openb", "gpu_milli", openb, ARRAY_SIZE(openb), true, false },
};

/* ---- what a start costs in the Muri simulator: seconds by model, for 1, 2, 4 ... 32 devices
 * (github.com/Rivendile/Muri, simulator/run_sim.py, Apache-2.0) ---- */

static const struct {
    const char *model;
    uint8_t s[6];
} starts[] = {
    { "vgg16", { 7, 7, 8, 9, 9, 10 } },     { "vgg19", { 7, 7, 8, 9, 10, 10 } },
    { "resnet18", { 4, 5, 5, 7, 7, 7 } },   { "shufflenet_v2_x1_0", { 4, 4, 5, 5, 7, 8 } },
    { "bert", { 10, 10, 10, 10, 10, 10 } }, { "gpt2", { 10, 10, 10, 10, 10, 10 } },
    { "a2c", { 38, 39, 39, 46, 46, 46 } },  { "dqn", { 5, 5, 6, 6, 8, 8 } },
};

static int64_t start_ms(const char *model, int32_t devices)
{
    int size = 0;

    while (size < 5 && 1 << size < devices)
        size++;
    for (size_t i = 0; i < ARRAY_SIZE(starts); i++)
        if (!strcmp(starts[i].model, model))
            return starts[i].s[size] * (int64_t)1000;
    return -1;
}

/* ---- rows ---- */

enum { KINDS_TEXT = 1024 };
static const double speed_min = 1e-3, speed_max = 1e3;
static const int64_t submit_max_ms = 1000000000000; /* 31 years */

struct table {
    const struct form *form;
    struct csv csv;
    int at[COLUMNS]; /* which field; -1 */
};

static const char *field(const struct table *t, enum column c)
{
    return t->at[c] < 0 || (size_t)t->at[c] >= t->csv.n_fields ? "" : t->csv.fields[t->at[c]];
}

static int number(const struct table *t, enum column c, int64_t most, int64_t *ret)
{
    const char *text = field(t, c);
    int64_t n;

    if (!*text)
        return 0;
    if (parse_i64(text, &n) < 0 || n < -most || n > most)
        return -EINVAL;
    *ret = n;
    return 0;
}

static int seconds(const struct table *t, enum column c, int64_t *ret)
{
    return *field(t, c) ? reader_seconds(field(t, c), ret) : 0;
}

/* "T4:0.3" as a number of a kind of the pool, and a speed; -ENOENT: no node has it. */
static int one_kind(const struct reader *r, char *word, double *speed)
{
    char *colon = strchr(word, ':');

    *speed = 1;
    if (colon) {
        *colon++ = '\0';
        if (parse_double(colon, speed) < 0 || !(*speed >= speed_min && *speed <= speed_max))
            return -EINVAL;
    }
    return pool_kind(r->pool, word) < 0 ? -ENOENT : pool_kind(r->pool, word);
}

/* "V100M16|V100M32" as bits of the pool's kinds; "A100:1|T4:0.3" with how fast it is on each. */
static int kinds(struct reader *r, const char *text, struct work *w)
{
    struct work_speeds speeds = { { 0 } };
    char copy[KINDS_TEXT], *word, *rest = copy;
    size_t len = strlen(text);
    int number = 0;

    if (!*text || (r->pool->n_kinds == 1 && !*r->pool->kinds[0]))
        return 0;
    if (len >= sizeof(copy))
        return -EINVAL;
    memcpy(copy, text, len + 1);
    while ((word = strsep(&rest, "|,"))) {
        double speed;
        int kind = one_kind(r, word, &speed);

        if (kind == -EINVAL)
            return -EINVAL;
        if (kind < 0)
            continue;
        w->kinds |= 1ULL << kind;
        speeds.of[kind] = (float)speed;
    }
    if (!w->kinds)
        return -ENOENT;
    if (strchr(text, ':'))
        number = work_speeds(r->work, &speeds);
    if (number < 0)
        return number;
    w->speeds = (uint16_t)number;
    return 0;
}

/* How long the stages of an iteration take, where a trace says. */
static int stages(const struct table *t, struct work *w)
{
    static const enum column columns[WORK_STAGES] = { READ_MS, COMPUTE_MS, TALK_MS };
    static const double most_ms = 1e9;

    for (int i = 0; i < WORK_STAGES; i++) {
        double ms;

        if (!*field(t, columns[i]))
            return 0;
        if (parse_double(field(t, columns[i]), &ms) < 0 || !(ms >= 0 && ms <= most_ms))
            return -EINVAL;
        w->stage_ms[i] = (float)ms;
    }
    return 0;
}

static int iterations(const struct table *t, struct work *w)
{
    /* What its jobs take beyond the time of their iterations: simulator/jobs.py. */
    static const double factor = 1.015;
    double n, each;

    if (t->at[ITERATIONS] < 0)
        return 0;
    if (parse_double(field(t, ITERATIONS), &n) < 0 ||
        parse_double(field(t, ITERATION_MS), &each) < 0)
        return -EINVAL;
    if (!(fabs(n * each) < 1e15))
        return -ERANGE;
    w->length_ms = (int64_t)llround(n * each * factor);
    w->restart_ms = start_ms(field(t, MODEL), w->devices);
    w->step_ms = (float)each;
    return stages(t, w);
}

static int submitted(const struct table *t, struct work *w)
{
    if (t->at[SUBMIT_DATE] >= 0) {
        if (reader_date(field(t, SUBMIT_DATE), &w->submit_ms) < 0)
            return -EINVAL;
        w->submit_ms *= 1000;
        return 0;
    }
    if (t->at[SUBMIT_MS] >= 0)
        return number(t, SUBMIT_MS, submit_max_ms, &w->submit_ms);
    if (!*field(t, SUBMIT_S))
        return t->form->timed ? -EINVAL : 0;
    return reader_seconds(field(t, SUBMIT_S), &w->submit_ms);
}

static int length(const struct table *t, struct work *w)
{
    int64_t end = 0;

    if (*field(t, END_S)) {
        if (seconds(t, END_S, &end) < 0)
            return -EINVAL;
        w->length_ms = end - w->submit_ms;
        return 0;
    }
    if (t->at[ITERATIONS] >= 0)
        return iterations(t, w);
    if (!*field(t, LENGTH_S))
        return t->form->timed ? -EINVAL : 0;
    return reader_seconds(field(t, LENGTH_S), &w->length_ms);
}

/* How much of what it needs. */
static int needs(const struct table *t, struct work *w)
{
    int64_t devices = -1, milli = WORK_WHOLE, cpus = 0, per_node = 0, priority = 0;

    if (number(t, DEVICES, WORK_DEVICES, &devices) < 0 ||
        number(t, MILLI, WORK_WHOLE, &milli) < 0 ||
        number(t, CPUS_MILLI, INT32_MAX / 4, &cpus) < 0 ||
        number(t, MEMORY_MIB, INT32_MAX, &w->memory_mib) < 0 ||
        number(t, PER_NODE, WORK_DEVICES, &per_node) < 0 ||
        number(t, PRIORITY, INT16_MAX, &priority) < 0)
        return -EINVAL;
    w->devices = (int32_t)devices;
    w->milli = (int16_t)(devices == 0 ? WORK_WHOLE : milli);
    w->cpus_milli = (int32_t)cpus;
    w->per_node = (int32_t)per_node;
    w->priority = (int16_t)priority;
    return 0;
}

static int groups(struct reader *r, const struct table *t, struct work *w)
{
    int rc = 0;

    if (*field(t, USER))
        rc = reader_group(r, &r->work->users, field(t, USER), &w->user);
    if (rc == 0 && *field(t, TEAM))
        rc = reader_group(r, &r->work->teams, field(t, TEAM), &w->team);
    if (rc == 0 && *field(t, CLASS))
        rc = reader_group(r, &r->work->classes, field(t, CLASS), &w->class);
    return rc;
}

/* One of "600:95 7200:0 95": seconds and how busy its devices are then, in per cent; the last one
 * may be for the rest of its length. */
static int stretch(const char *word, bool last, int64_t left, struct work_stretch *ret)
{
    const char *colon = strchr(word, ':');
    char time[32];
    double percent;

    ret->ms = left;
    if (!colon && !last)
        return -EINVAL;
    if (colon) {
        if (colon - word >= (ptrdiff_t)sizeof(time))
            return -EINVAL;
        memcpy(time, word, (size_t)(colon - word));
        time[colon - word] = '\0';
        if (reader_seconds(time, &ret->ms) < 0 || ret->ms < 0 || ret->ms > left)
            return -EINVAL;
    }
    if (parse_double(colon ? colon + 1 : word, &percent) < 0 || !(percent >= 0 && percent <= 100))
        return -EINVAL;
    ret->milli = (int16_t)lround(percent * 10);
    return 0;
}

static int activity(struct reader *r, const struct table *t, struct work *w)
{
    const char *at = field(t, ACTIVITY);
    int64_t left = w->length_ms;
    int rc;

    for (at += strspn(at, " "); *at;) {
        size_t len = strcspn(at, " ");
        struct work_stretch s;
        char word[48];

        if (len >= sizeof(word))
            return -EINVAL;
        memcpy(word, at, len);
        word[len] = '\0';
        at += len;
        at += strspn(at, " ");
        if (stretch(word, !*at, left, &s) < 0)
            return -EINVAL;
        left -= s.ms;
        rc = work_stretch_add(r->work, w, s.ms, s.milli);
        if (rc < 0)
            return rc;
    }
    return w->n_stretches > 0 && left > 0 ? -EINVAL : 0;
}

static int take_row(struct reader *r, const struct table *t)
{
    struct work w = reader_empty();
    char number_text[24];
    const char *name = field(t, NAME);
    int rc;

    if (needs(t, &w) < 0)
        return reader_bad(r, "devices, CPUs or memory that are no numbers");
    if (submitted(t, &w) < 0)
        return reader_bad(r, "no time at which it was submitted");
    if (length(t, &w) < 0)
        return reader_bad(r, "no time that it takes");
    if (seconds(t, LIMIT_S, &w.limit_ms) < 0 || w.limit_ms < 0)
        return reader_bad(r, "a limit that is no time");
    if (seconds(t, CHECKPOINT_S, &w.checkpoint_ms) < 0 || w.checkpoint_ms < 0)
        return reader_bad(r, "a time between checkpoints that is none");
    rc = kinds(r, field(t, KINDS), &w);
    if (rc == -ENOMEM)
        return rc;
    if (rc < 0)
        return reader_bad(r,
                          rc == -ENOENT ? "no node has devices of the kind %.60s"
                          : rc == -E2BIG
                              ? "one more table of speeds than can be: %.60s"
                              : "kinds are names, or names:speeds, with | between: %.60s",
                          field(t, KINDS));
    if (groups(r, t, &w) < 0)
        return -ENOMEM;
    rc = activity(r, t, &w);
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

/* ---- header ---- */

static const struct form *find_form(const char *first)
{
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (strstr(first, forms[i].mark))
            return &forms[i];
    return NULL;
}

static bool is_csv(const char *first)
{
    return strchr(first, ',') && find_form(first);
}

static void find_columns(struct table *t)
{
    for (int i = 0; i < COLUMNS; i++)
        t->at[i] = -1;
    for (size_t i = 0; i < t->csv.n_fields; i++)
        for (size_t k = 0; k < t->form->n; k++)
            if (!strcmp(t->csv.fields[i], t->form->columns[k].name))
                t->at[t->form->columns[k].column] = (int)i;
}

static int read_csv(struct reader *r, const char *text, size_t len, struct err *e)
{
    struct table t = { .form = NULL };
    int rc;

    csv_init(&t.csv, text, len);
    if (csv_next(&t.csv) <= 0)
        return err_set(e, -EINVAL, "%s: no header", r->file);
    for (size_t i = 0; i < ARRAY_SIZE(forms) && !t.form; i++)
        for (size_t k = 0; k < t.csv.n_fields; k++)
            if (!strcmp(t.csv.fields[k], forms[i].mark)) {
                t.form = &forms[i];
                r->notes->kind = forms[i].name;
            }
    if (!r->notes->kind)
        return err_set(e, -EINVAL, "%s: no columns that brim knows", r->file);
    find_columns(&t);
    if (t.at[DEVICES] < 0)
        return err_set(e, -EINVAL, "%s: no column with devices", r->file);
    while ((rc = csv_next(&t.csv)) != 0) {
        r->line = t.csv.line;
        rc = rc < 0 ? reader_bad(r, "not a row of a table") : take_row(r, &t);
        if (rc < 0)
            return rc;
    }
    return 0;
}

const struct reader_ops reader_csv = { "csv", is_csv, read_csv };
