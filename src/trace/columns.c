/* Which column of a table is what: brim's own form, Philly's as others passed it on, that of the
 * Muri simulator, and Alibaba's OpenB. */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "trace/csv.h"

static const struct trace_column_name own[] = {
    { "job_id", TRACE_NAME },
    { "submit_s", TRACE_SUBMIT_S },
    { "gpus", TRACE_DEVICES },
    { "gpus_min", TRACE_LEAST },
    { "gpus_max", TRACE_MOST },
    { "scaling", TRACE_SCALING },
    { "duration_s", TRACE_LENGTH_S },
    { "limit_s", TRACE_LIMIT_S },
    { "deadline_s", TRACE_DEADLINE_S },
    { "checkpoint_s", TRACE_CHECKPOINT_S },
    { "per_node", TRACE_PER_NODE },
    { "gpu_milli", TRACE_MILLI },
    { "mig", TRACE_MIG },
    { "cpu_milli", TRACE_CPUS_MILLI },
    { "memory_mib", TRACE_MEMORY_MIB },
    { "kinds", TRACE_KINDS },
    { "user", TRACE_USER },
    { "team", TRACE_TEAM },
    { "class", TRACE_CLASS },
    { "priority", TRACE_PRIORITY },
    { "activity", TRACE_ACTIVITY },
    { "data", TRACE_DATA },
    { "data_s", TRACE_DATA_S },
};

static const struct trace_column_name philly[] = {
    { "timestamp", TRACE_SUBMIT_DATE },
    { "duration", TRACE_LENGTH_S },
    { "num_gpus", TRACE_DEVICES },
    { "cluster", TRACE_CLASS },
};

/* The length is that of the iterations, as in that simulator: the column duration is not used. */
static const struct trace_column_name muri[] = {
    { "job_id", TRACE_NAME },
    { "num_gpu", TRACE_DEVICES },
    { "submit_time", TRACE_SUBMIT_MS },
    { "iterations", TRACE_ITERATIONS },
    { "iteration_time", TRACE_ITERATION_MS },
    { "model_name", TRACE_MODEL },
    { "resource_time_0", TRACE_READ_MS },
    { "resource_time_1", TRACE_COMPUTE_MS },
    { "resource_time_2", TRACE_TALK_MS },
};

static const struct trace_column_name openb[] = {
    { "name", TRACE_NAME },
    { "cpu_milli", TRACE_CPUS_MILLI },
    { "memory_mib", TRACE_MEMORY_MIB },
    { "num_gpu", TRACE_DEVICES },
    { "gpu_milli", TRACE_MILLI },
    { "gpu_spec", TRACE_KINDS },
    { "qos", TRACE_CLASS },
    { "creation_time", TRACE_SUBMIT_S },
    { "deletion_time", TRACE_END_S },
};

static const struct trace_form forms[] = {
    { "brim", "submit_s", own, ARRAY_SIZE(own), true, true },
    { "philly", "timestamp", philly, ARRAY_SIZE(philly), false, true },
    { "muri", "iteration_time", muri, ARRAY_SIZE(muri), true, true },
    { "openb", "gpu_milli", openb, ARRAY_SIZE(openb), true, false },
};

/* ---- header ---- */

const struct trace_form *trace_form_of(const char *header)
{
    for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
        if (strstr(header, forms[i].mark))
            return &forms[i];
    return NULL;
}

/* Whether a field of the header, with blanks around it or none, is the name of a column. */
static bool names(const char *field, const char *name)
{
    size_t len = strlen(name);

    field += strspn(field, " \t");
    return !strncmp(field, name, len) && field[len + strspn(field + len, " \t")] == '\0';
}

static void find_columns(struct trace_table *t)
{
    for (int i = 0; i < TRACE_COLUMNS; i++)
        t->at[i] = -1;
    for (size_t i = 0; i < t->csv.n_fields; i++)
        for (size_t k = 0; k < t->form->n; k++)
            if (names(t->csv.fields[i], t->form->columns[k].name))
                t->at[t->form->columns[k].column] = (int)i;
}

int trace_table_open(struct trace_table *t, const char *file, const char *text, size_t len,
                     struct err *e)
{
    t->form = NULL;
    csv_init(&t->csv, text, len);
    if (csv_next(&t->csv) <= 0)
        return err_set(e, -EINVAL, "%s: no header", file);
    for (size_t i = 0; i < ARRAY_SIZE(forms) && !t->form; i++)
        for (size_t k = 0; k < t->csv.n_fields; k++)
            if (names(t->csv.fields[k], forms[i].mark))
                t->form = &forms[i];
    if (!t->form)
        return err_set(e, -EINVAL, "%s: no columns that brim knows", file);
    find_columns(t);
    if (t->at[TRACE_DEVICES] < 0 && t->at[TRACE_MILLI] < 0 && t->at[TRACE_MIG] < 0)
        return err_set(e, -EINVAL,
                       "%s: no column says how many devices a job takes: add %s, or gpu_milli or "
                       "mig for jobs of one",
                       file, t->form == &forms[0] ? "gpus" : "num_gpus");
    return 0;
}

/* ---- fields ---- */

const char *trace_field(const struct trace_table *t, enum trace_column c)
{
    return t->at[c] < 0 || (size_t)t->at[c] >= t->csv.n_fields ? "" : t->csv.fields[t->at[c]];
}

int trace_number(const struct trace_table *t, enum trace_column c, int64_t most, int64_t *ret)
{
    const char *text = trace_field(t, c);
    int64_t n;

    if (!*text)
        return 0;
    if (parse_i64(text, &n) < 0 || n < -most || n > most)
        return -EINVAL;
    *ret = n;
    return 0;
}

int trace_seconds(const struct trace_table *t, enum trace_column c, int64_t *ret)
{
    return *trace_field(t, c) ? reader_seconds(trace_field(t, c), ret) : 0;
}
