#include <errno.h>
#include <math.h>

#include "fuzz.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan/measured/rows.h"
#include "plan/model/step.h"

static void check_row(const struct plan_row *r)
{
    struct plan_tables tables;
    struct memory memory;
    struct plan_step step;

    check(memchr(r->reason, '\0', sizeof(r->reason)) && memchr(r->name, '\0', sizeof(r->name)));
    if (r->reason[0])
        return;
    check(layout_check(&r->layout, &r->job, &r->cluster, NULL) == 0);
    check(r->time_s > 0 || r->memory_b > 0 || r->out);
    plan_tables_make(&r->job, &r->cluster, &r->layout, &tables);
    plan_step_make(&r->job, &r->cluster, &r->layout, &tables, &step);
    memory_make(&r->job, &r->layout, &tables.bytes, &memory);
    check(isfinite(step.time_s) && step.time_s > 0);
    check(isfinite(memory.total) && memory.total > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct gpus g; /* read once: they take longer than all else here */
    static struct models m;
    CLEANUP(arena_done) struct arena arena = ARENA_INIT;
    const struct row_tables tables = { &g, &m, 0 };
    struct plan_rows rows = { .arena = &arena };
    struct err e = { "" };
    int rc;

    if (!g.n_rows) {
        check(gpus_load(&g, (const char *)data_gpus_csv, data_gpus_csv_len, NULL) == 0);
        check(models_load(&m, (const char *)data_models_csv, data_models_csv_len, NULL) == 0);
    }
    rc = rows_read((const char *)data, size, &tables, &rows, &e);
    check(rc == 0 || rc == -EINVAL);
    check((rc == 0) == (e.text[0] == '\0'));
    for (size_t i = 0; rc == 0 && i < rows.n; i++)
        check_row(&rows.list[i]);
    return 0;
}
