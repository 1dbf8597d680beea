#include "cmd/plan/known.h"

#include "base/file.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan_constants_csv.h"

enum { CONSTANTS_MAX = 1 << 20 };

void plan_known_done(struct plan_known *k)
{
    gpus_done(&k->gpus);
    models_done(&k->models);
}

static int fit(const struct plan_opts *o, struct gpus *g, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(CONSTANTS_MAX);
    int rc;

    if (!o->constants)
        return gpus_fit(g, "plan_constants.csv", (const char *)data_plan_constants_csv,
                        data_plan_constants_csv_len, e);
    rc = file_read(o->constants, &text, e);
    return rc < 0 ? rc : gpus_fit(g, o->constants, str_text(&text), text.len, e);
}

int plan_known_load(const struct plan_opts *o, struct plan_known *ret, struct err *e)
{
    int rc = gpus_load(&ret->gpus, (const char *)data_gpus_csv, data_gpus_csv_len, e);

    if (rc == 0)
        rc = models_load(&ret->models, (const char *)data_models_csv, data_models_csv_len, e);
    return rc < 0 ? rc : fit(o, &ret->gpus, e);
}
