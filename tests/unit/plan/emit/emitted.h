/* A layout of a model, made of pins, and its text for a target. */
#ifndef BRIM_TESTS_EMITTED_H
#define BRIM_TESTS_EMITTED_H
#include "models_csv.h"
#include "plan/emit/emit.h"
#include "plan/layout/pins.h"
#include "plan/shape/models.h"
#include "tap.h"

enum { TEXT = 1 << 16 };

static const char *const target_names[EMIT_TARGETS] = { "megatron", "torchtitan", "deepspeed",
                                                        "nemo", "torchrun-fsdp" };

/* A layout and its job, as pins on a model and a cluster of H100. */
struct made {
    struct plan_job job;
    struct cluster cluster;
    struct layout l;
};

static inline struct made make(const struct models *m, const char *model, int nodes, int batch,
                               const char *pins)
{
    const struct model_row *row = NULL;
    struct made x = { .job = { .seq = 4096,
                               .global_batch = batch,
                               .precision = PLAN_BF16,
                               .attention = ATTENTION_FLASH,
                               .gradient_b = 4,
                               .fused = true,
                               .imbalance = 1 },
                      .cluster = { .gpu = { .name = "H100-SXM5-80GB" },
                                   .nodes = nodes,
                                   .per_node = 8,
                                   .domain = 8 } };
    struct pins p = { .fixed = 0 };
    struct err e = { "" };
    int rc = models_find(m, model, &row, &e);

    if (rc == 0) {
        x.job.shape = row->shape;
        rc = pins_read(&p, pins, &e);
    }
    pins_set_job(&p, &x.job);
    if (rc == 0)
        rc = pins_complete(&p, &x.job, &x.cluster, &x.l, &e);
    ok(rc == 0, "pins complete a layout of %s with '%s': %s", model, pins, e.text);
    return x;
}

static inline int text_of(int target, const struct made *x, struct str *out, struct err *e)
{
    str_reset(out);
    return emit_text((enum emit_target)target, &x->job, &x->cluster, &x->l, out, e);
}

/* The table of models. */
static inline void models_of_emit(struct models *m)
{
    is_int(models_load(m, (const char *)data_models_csv, data_models_csv_len, NULL), 0,
           "models_load reads models.csv");
}

#endif
