#include "plan/shape/unknown.h"

#include <errno.h>
#include <string.h>

/* What stands in the names of fields that parameters follow from. */
static const char *const words[] = {
    "expert", "moe",    "mamba",  "ssm",          "conv",  "lora", "rank",  "latent",
    "linear", "index",  "share",  "layer",        "_dim",  "dim_", "_size", "num_",
    "head",   "ffn",    "hidden", "intermediate", "bias",  "norm", "mlp",   "embed",
    "vocab",  "hybrid", "block",  "expan",        "gate",  "kv",   "depth", "width",
    "matrix", "module", "proj",   "engram",       "hyper",
};

/* Names with one of them that change no parameter: beginnings of how a model is trained, run, saved
 * and quantised; then whole names. */
static const char *const harmless_beginnings[] = { "rope_",    "output_", "quantization",
                                                   "vision_",  "audio_",  "image_",
                                                   "video_",   "router_", "time_step_",
                                                   "rescale_", "torch_",  "compress" };
static const char *const harmless[] = {
    "attention_chunk_size",
    "chunk_size",
    "chunk_size_feed_forward",
    "embedding_fraction",
    "embedding_multiplier",
    "encoder_no_repeat_ngram_size",
    "ep_size",
    "expert_capacity_factor",
    "expand",
    "global_head_dim",
    "index_share_for_mtp_iteration",
    "index_topk",
    "indexer_rope_interleave",
    "layer_norm_eps",
    "layer_norm_epsilon",
    "layerdrop",
    "mamba_chunk_size",
    "mamba_hidden_act",
    "mamba_ssm_cache_dtype",
    "max_window_layers",
    "mlp_hidden_act",
    "moe_aux_loss_coeff",
    "moe_layer_freq",
    "moe_renormalize",
    "moe_router_activation_func",
    "moe_shared_expert_overlap",
    "mtp_layers_block_type",
    "mtp_transformer_layers",
    "mtp_use_dedicated_embeddings",
    "no_rope_layer_interval",
    "no_rope_layers",
    "norm_eps",
    "norm_topk_prob",
    "normalize_attention_scores",
    "num_beam_groups",
    "num_beams",
    "num_expert_group",
    "num_labels",
    "num_logits_to_keep",
    "num_return_sequences",
    "original_max_position_embeddings",
    "prune_heads",
    "pruned_heads",
    "qk_head_dim",
    "qk_norm_type",
    "rms_norm_eps",
    "rotary_dim",
    "scale_attn_by_inverse_layer_idx",
    "shared_moe_mode",
    "summary_proj_to_labels",
    "summary_use_proj",
    "use_mamba_kernels",
};

static bool is_harmless(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(harmless_beginnings); i++)
        if (!strncmp(name, harmless_beginnings[i], strlen(harmless_beginnings[i])))
            return true;
    for (size_t i = 0; i < ARRAY_SIZE(harmless); i++)
        if (!strcmp(name, harmless[i]))
            return true;
    return false;
}

static bool may_count(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(name, words[i]))
            return !is_harmless(name);
    return false;
}

static bool is_on(const struct json_value *v)
{
    switch (v->kind) {
    case JSON_BOOL:
        return v->boolean;
    case JSON_NUMBER:
        return v->is_whole && v->whole != 0;
    case JSON_ARRAY:
    case JSON_OBJECT:
        return v->n_items > 0;
    case JSON_STRING:
    case JSON_NULL:
        break;
    }
    return false;
}

/* A file without model_type is one of a trainer, whose arguments are many and have usual values;
 * but these would not be read as they are meant. */
static int check_plain(const struct shape_file *c)
{
    static const char *const others[] = {
        "n_routed_experts",       "num_local_experts", "moe_shared_expert_intermediate_size",
        "multi_latent_attention", "is_hybrid_model",   "linear_attn_config",
        "layers_block_type",      "layer_types"
    };
    const struct json_value *v = json_get(c->root, "architectures");

    if (v)
        return err_set(c->e, -EINVAL,
                       "%s:%d:%d: the file has architectures but no model_type: add the "
                       "model_type that transformers writes into it",
                       c->file, v->line, v->column);
    v = shape_get(c, "hybrid_override_pattern");
    for (size_t i = 0; !v && i < ARRAY_SIZE(others); i++) {
        const struct json_value *o = json_get(c->root, others[i]);

        v = o && is_on(o) ? o : NULL;
    }
    return v ? err_set(c->e, -EINVAL, "%s:%d:%d: %s is not known without a model_type", c->file,
                       v->line, v->column, v->key)
             : 0;
}

int shape_check_unknown(const struct shape_file *c, const struct shape_family *f)
{
    if (f == shape_family_named(NULL))
        return check_plain(c);
    for (size_t i = 0; i < c->root->n_items; i++) {
        const struct json_value *v = &c->root->items[i];

        if (!c->seen[i] && is_on(v) && may_count(v->key) && json_get(c->root, v->key) == v)
            return err_set(c->e, -EINVAL,
                           "%s:%d:%d: %.60s is not known of %s: it may change how many parameters "
                           "there are, so that none are counted",
                           c->file, v->line, v->column, v->key, f->name);
    }
    return 0;
}
