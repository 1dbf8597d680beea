/* brim plan: predicts what training takes. */
#include "cmd/plan.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "gpus_csv.h"
#include "models_csv.h"
#include "plan_constants_csv.h"

enum { OPERANDS_MAX = 64, CONSTANTS_MAX = 1 << 20 };

static const struct opt opts[] = {
    { OPT_FLAG, 'j', "json", offsetof(struct plan_opts, json), NULL, "print JSON", NULL },
    { OPT_FLAG, 'r', "rows", offsetof(struct plan_opts, rows), NULL,
      "eval: print every row, not only what they come to", NULL },
    { OPT_UINT, 0, "node-gbps", offsetof(struct plan_opts, node_gbps), "N",
      "eval: rate of a node's network cards together, in Gbit/s", NULL },
    { OPT_STRING, 0, "constants", offsetof(struct plan_opts, constants), "FILE",
      "fitted figures in place of the program's own", NULL },
    { .kind = OPT_END },
};

static const struct plan_opts defaults = { .json = false };

static const struct plan_command *const commands[] = { &plan_eval };

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

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    if (!operands[0]) {
        err_set(e, -EINVAL, "say what to do: brim plan eval FILE");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
        if (!strcmp(commands[i]->name, operands[0]))
            return commands[i]->run(app, values, operands + 1, e);
    err_set(e, -EINVAL, "'%.40s' is nothing that brim plan does: eval", operands[0]);
    return EXIT_USAGE;
}

const struct cmd cmd_plan = {
    .name = "plan",
    .args = "eval FILE...",
    .summary = "predict time and memory of training runs",
    .about =
        "eval predicts every row of tables of measured runs and says how far it is off: errors of\n"
        "time and memory, and whether it puts competing layouts in the order that was measured.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct plan_opts),
    .max_operands = OPERANDS_MAX,
    .run = run,
};
