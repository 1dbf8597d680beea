#include <math.h>

#include "base/json.h"
#include "base/str.h"
#include "cmd/plan/sure.h"
#include "cmd/plan/train.h"

enum { WORDS_MAX = 512, DIGITS = 7 };

static void json_layout(struct json *j, const struct layout *l, int layers)
{
    CLEANUP(str_done) struct str words = STR_INIT(WORDS_MAX), stages = STR_INIT(WORDS_MAX);

    layout_words(l, &words);
    stages_words(&l->less, &stages);
    str_fail(j->out, str_error(&words) ? str_error(&words) : str_error(&stages));
    json_string(j, "words", str_text(&words));
    json_object(j, "layout");
    json_int(j, "tp", l->tp);
    json_int(j, "pp", l->pp);
    json_int(j, "vpp", l->vpp);
    json_int(j, "cp", l->cp);
    json_string(j, "context", l->cp > 1 ? context_name(l->context) : NULL);
    json_int(j, "ep", l->ep);
    json_int(j, "etp", l->etp);
    json_int(j, "dp", l->dp);
    json_int(j, "micro_batch", l->micro_batch);
    json_string(j, "recompute", recompute_name(l->recompute));
    json_int(j, "zero", l->zero);
    json_int(j, "shard", l->shard);
    json_bool(j, "seq_parallel", l->seq_parallel);
    json_string(j, "schedule", schedule_name(l->schedule));
    json_string(j, "stages", str_text(&stages));
    json_int(j, "first_layers", layout_layers(l, layers, 0));
    json_int(j, "last_layers", layout_layers(l, layers, l->pp - 1));
    json_bool(j, "overlap_dp", l->overlap_dp);
    json_bool(j, "overlap_tp", l->overlap_tp);
    json_bool(j, "overlap_pp", l->overlap_pp);
    json_bool(j, "overlap_ep", l->overlap_ep);
    json_bool(j, "offload", l->offload);
    json_end(j);
}

static void json_one(struct json *j, const struct plan_ask *a, const struct found_layout *c)
{
    struct plan_sure sure = plan_sure_of(a, &c->layout);
    struct plan_memory_part part;
    struct plan_one one;

    plan_one_make(a, &c->layout, &one);
    json_object(j, NULL);
    json_layout(j, &c->layout, a->job.shape.layers);
    json_int(j, "gpus", c->gpus);
    json_number(j, "step_s", c->time_s, DIGITS);
    json_number(j, "tokens_per_s", one.step.tokens_s * c->gpus, DIGITS);
    json_number(j, "tokens_per_s_per_gpu", one.step.tokens_s, DIGITS);
    json_number(j, "flops_per_gpu", one.step.model_flops, DIGITS);
    json_number(j, "mfu", one.step.mfu, DIGITS);
    json_number(j, "error_expected", sure.mean, DIGITS);
    json_number(j, "error_most", sure.most, DIGITS);
    json_int(j, "micro_batches", one.step.micro_batches);
    json_number(j, "days", plan_days(a, c->time_s), DIGITS);
    json_number(j, "cost", plan_cost(a, c->time_s, c->gpus), DIGITS);
    json_number(j, "memory_b", c->memory_b, DIGITS);
    json_int(j, "memory_stage", one.memory.stage);
    json_object(j, "parts_s");
    for (int p = 0; p < PARTS; p++)
        json_number(j, step_part_name((enum step_part)p), one.step.part[p], DIGITS);
    json_end(j);
    json_object(j, "parts_b");
    for (size_t i = 0; plan_memory_part(&one.memory, &a->job, i, &part); i++)
        json_number(j, part.name, part.bytes, DIGITS);
    json_end(j);
    json_end(j);
}

void plan_train_json(const struct plan_train *t, struct str *out)
{
    const struct search *s = &t->found->search;
    const struct plan_ask *a = t->ask;
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.train.v1");
    json_string(&j, "model", a->job.shape.name);
    json_number(&j, "parameters", a->parameters, 15);
    json_string(&j, "gpu", a->cluster.gpu.name);
    json_int(&j, "gpus", (int64_t)a->cluster.nodes * a->cluster.per_node);
    json_number(&j, "gpu_memory_b", a->cluster.gpu.memory_b, DIGITS);
    json_int(&j, "seq", a->job.seq);
    json_int(&j, "batch", a->job.global_batch);
    json_string(&j, "precision", plan_precision_name(a->job.precision));
    json_number(&j, "tokens", a->tokens, 15);
    json_string(&j, "assumed", a->notes);
    json_bool(&j, "fewer", t->forced || t->opts->fewer);
    json_number(&j, "layouts", t->found->layouts, 15);
    json_number(&j, "as_fast", s->opts.margin, DIGITS);
    json_number(&j, "fastest_s", t->found->plain ? t->found->fastest.time_s : s->best[0].time_s,
                DIGITS);
    json_array(&j, "best");
    for (int i = 0; i < s->n_best; i++)
        json_one(&j, a, &s->best[i]);
    json_end(&j);
    if (t->opts->pareto) {
        json_array(&j, "pareto");
        for (size_t i = 0; i < s->front.n; i++)
            json_one(&j, a, &s->front.list[i]);
        json_end(&j);
    }
    json_end(&j);
}
