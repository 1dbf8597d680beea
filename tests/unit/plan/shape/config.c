/* argv[1]: tests/fixtures/configs. */
#include "plan/shape/config.h"

#include <errno.h>

#include "base/file.h"
#include "oom_arena.h"
#include "tap.h"

enum { FILE_MAX = 64 << 10 };

static int from_file(const char *folder, const char *name, struct shape *ret, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    char path[512];
    int rc;

    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    rc = file_read(path, &text, e);
    return rc < 0 ? rc : shape_from_config(ret, name, str_text(&text), text.len, e);
}

static int from_text(const char *text, struct shape *ret, struct err *e)
{
    return shape_from_config(ret, "config.json", text, strlen(text), e);
}

/* The parameters of the part for text, with the weights that shift an expert's score and scale a
 * layer, as transformers 5.24 builds it on PyTorch's meta device from the same file. */
#define BUILT "transformers 5.24 builds"

/* Totals as others count them. hub: the number of parameters that the Hugging Face Hub shows for
 * the safetensors of the repository (its API: safetensors.total); keras: "params" of KerasHub's
 * presets; card: README of the repository. */
static const struct published {
    const char *file;
    double total;
    const char *source;
} published[] = {
    { "llama-2-7b", 6738415616, "hub meta-llama/Llama-2-7b-hf; keras llama2_7b_en" },
    { "llama-3.1-8b", 8030261248, "hub meta-llama/Llama-3.1-8B" },
    { "llama-3.1-70b", 70553706496, "hub meta-llama/Llama-3.1-70B" },
    { "llama-3.1-405b", 405853388800, "hub meta-llama/Llama-3.1-405B" },
    { "llama-3.2-1b", 1235814400, "hub meta-llama/Llama-3.2-1B" },
    { "mistral-7b", 7241732096, "hub mistralai/Mistral-7B-v0.1" },
    { "mixtral-8x7b", 46702792704, "hub mistralai/Mixtral-8x7B-v0.1; keras mixtral_8_7b_en" },
    { "qwen2.5-7b", 7615616512, "hub Qwen/Qwen2.5-7B, Qwen/Qwen2-7B" },
    { "qwen1.5-moe-a2.7b", 14315784192, "hub Qwen/Qwen1.5-MoE-A2.7B; keras qwen1.5_moe_2.7b_en" },
    { "qwen3-8b", 8190735360, "hub Qwen/Qwen3-8B" },
    { "qwen3-30b-a3b", 30532122624, "hub Qwen/Qwen3-30B-A3B" },
    { "gemma-2b", 2506172416, "hub google/gemma-2b; keras gemma_2b_en" },
    { "gemma-7b", 8537680896, "hub google/gemma-7b; keras gemma_7b_en" },
    { "gemma-2-9b", 9241705984, "hub google/gemma-2-9b; keras gemma2_9b_en" },
    { "recent/gemma-3-1b", 999885952, "keras gemma3_1b" },
    { "recent/gemma-3-4b", 3880099328, "keras gemma3_4b_text" },
    { "recent/gemma-3-27b", 27009002240, "keras gemma3_27b_text" },
    { "gpt2", 124439808, "keras gpt2_base_en" },
    { "gpt-neox-20b", 20554567680, "card EleutherAI/gpt-neox-20b" },
    { "gpt-j-6b", 6050882784, "model.num_parameters() of EleutherAI/gpt-j-6b, many notebooks" },
    { "opt-125m", 125239296, "keras opt_125m_en; hub facebook/opt-125m" },
    { "bloom", 176247271424, "card bigscience/bloom" },
    /* The Hub's 7,217,189,760 and 41,835,970,560 count the head, which is the embedding. */
    { "falcon-7b", 7217189760 - 65024.0 * 4544, "hub tiiuae/falcon-7b" },
    { "falcon-40b", 41835970560 - 65024.0 * 8192, "hub tiiuae/falcon-40b" },
    { "phi-2", 2779683840, "hub microsoft/phi-2" },
    { "phi-3-mini", 3821079552, "hub microsoft/Phi-3-mini-4k-instruct; keras phi3_mini_4k" },
    /* 12 matrices of 4096 x 4096 and two norms a layer, the embedding, the last norm */
    { "mpt-7b", 32 * (12 * 4096.0 * 4096 + 2 * 4096) + 50432 * 4096.0 + 4096, "by hand" },
    { "gpt-oss-20b", 20914757184, "openai/gpt-oss-20b as Ollama shows it" },
    { "deepseek-v2", 235741434880, "hub deepseek-ai/DeepSeek-V2" },
    { "deepseek-v2-lite", 15706484224, "hub deepseek-ai/DeepSeek-V2-Lite" },
    { "deepseek-v3", 671026419200, "deepseek-ai/DeepSeek-V3, main model without its MTP module" },
    { "kimi-k2", 1026408232448, "moonshotai/Kimi-K2-Instruct, without FP8 scales" },
    /* SC'21 (arXiv 2104.04473), equation 1, and the last norm */
    { "plain-gpt3-175b",
      12 * 96 * 12288.0 * 12288 + 13 * 96 * 12288.0 + (51200 + 2048) * 12288.0 + 2 * 12288,
      "by hand" },
    { "plain-llama", 8030261248, "hub meta-llama/Llama-3.1-8B" },
    { "parts", 7241732096, "hub mistralai/Mistral-7B-v0.1" },
    { "recent/llama-4-scout", 107769861120, BUILT },
    { "recent/llama-4-maverick", 400711848960, BUILT },
    { "recent/qwen3-vl-4b", 4022468096, "hub Qwen/Qwen3-4B, which it begins from; " BUILT },
    { "recent/qwen3-vl-30b-a3b", 30532122624, "hub Qwen/Qwen3-30B-A3B; " BUILT },
    { "recent/glm-4.5-air", 106852251264, BUILT },
    { "recent/glm-4.5", 352797829024, BUILT },
    { "recent/minimax-m2.5", 228689764864, BUILT },
    { "recent/deepseek-v3.2", 671877944064, BUILT },
    { "recent/glm-5", 743911218432, BUILT },
    { "recent/glm-5.2", 743377019904, BUILT },
    { "recent/gemma-4-31b", 30697345340, BUILT },
    { "recent/gemma-4-26b-a4b", 25233141790, BUILT },
    { "recent/qwen3-next-80b", 79674391296, BUILT },
    { "recent/qwen3.5-27b", 26895998464, BUILT },
    { "recent/qwen3.5-35b-a3b", 34660610688, BUILT },
    { "recent/kimi-linear-48b", 49122681728, BUILT },
    { "recent/jamba-v0.1", 51570323328, BUILT },
    { "recent/nemotron-h-56b", 56324350464, BUILT },
    { "recent/nemotron-3-nano", 31577940288, BUILT },
};

static void test_published(const char *folder)
{
    for (size_t i = 0; i < ARRAY_SIZE(published); i++) {
        const struct published *p = &published[i];
        struct err e = { "" };
        struct shape s = { .name = "" };
        double total = 0;

        if (is_int(from_file(folder, p->file, &s, &e), 0, "%s.json is read: %s", p->file, e.text))
            total = shape_count(&s).total;
        is_int((long long)total, (long long)p->total, "%s has as many parameters as %s", p->file,
               p->source);
    }
}

static void test_traits(const char *folder)
{
    struct shape s = { .name = "" };

    is_int(from_file(folder, "llama-2-7b", &s, NULL), 0, "the config of Llama 2 is read");
    is_str(s.name, "Llama-2-7b-hf", "a shape's name is the last part of where it came from");
    ok(s.gated && !s.tied && !s.dropout && !s.window && s.positions == 4096,
       "Llama 2 is gated and has 4096 positions");
    is_int(from_file(folder, "gpt2", &s, NULL), 0, "the config of GPT-2 is read");
    is_str(s.name, "gpt2", "a config's family stands in for a name");
    ok(!s.gated && s.tied && s.dropout && s.learned_positions && s.ffn == 3072,
       "GPT-2 is tied, with dropout and learned positions");
    is_int(from_file(folder, "gpt-j-6b", &s, NULL), 0, "the config of GPT-J is read");
    ok(s.parallel && !s.dropout && s.mlp_biases && !s.biases,
       "GPT-J is parallel with biases of MLPs");
    is_int(from_file(folder, "mistral-7b", &s, NULL), 0, "the config of Mistral is read");
    ok(s.window == 4096 && s.full_every == 0, "Mistral looks back 4096 tokens in all layers");
    is_int(from_file(folder, "gemma-2-9b", &s, NULL), 0, "the config of Gemma 2 is read");
    ok(s.window == 4096 && s.full_every == 2,
       "Gemma 2 looks back 4096 tokens in every second layer");
    is_int(from_file(folder, "qwen2.5-7b", &s, NULL), 0, "the config of Qwen2.5 is read");
    ok(s.window == 0 && s.qkv_biases && !s.biases, "a window that is not in use is none");
    is_int(from_file(folder, "falcon-7b", &s, NULL), 0, "the config of Falcon 7B is read");
    is_int(s.kv_heads, 1, "multi_query of Falcon 7B wins over num_kv_heads");
    is_int(from_file(folder, "falcon-40b", &s, NULL), 0, "the config of Falcon 40B is read");
    is_int(s.kv_heads, 8, "Falcon 40B has its num_kv_heads with the new architecture");
    is_int(from_file(folder, "deepseek-v2-lite", &s, NULL), 0,
           "the config of DeepSeek V2 lite is read");
    ok(s.attention == SHAPE_LATENT && s.q_rank == 0 && s.head_dim == 192 && s.shared_ffn == 2816 &&
           s.dense_first == 1 && !s.router_biases,
       "DeepSeek V2 lite has latent attention and a dense layer");
    ok(s.groups == 0, "DeepSeek V2 lite lets a token go to any expert");
    is_int(from_file(folder, "deepseek-v3", &s, NULL), 0, "the config of DeepSeek V3 is read");
    ok(s.groups == 8 && s.active_groups == 4,
       "DeepSeek V3 lets a token go to 4 of 8 groups of experts");
    is_int(from_file(folder, "qwen1.5-moe-a2.7b", &s, NULL), 0,
           "the config of Qwen1.5-MoE is read");
    ok(s.experts == 60 && s.active == 4 && s.shared == 1 && s.shared_gate,
       "Qwen1.5-MoE has 60 experts and a gated shared one");
    is_int(from_file(folder, "gpt-oss-20b", &s, NULL), 0, "the config of gpt-oss is read");
    ok(s.sinks && s.window == 128 && s.full_every == 2 && s.expert_ffn == 2880,
       "gpt-oss has sinks and a window in every second layer");
}

#define SIZES \
    "\"num_hidden_layers\": 2, \"hidden_size\": 64, \"intermediate_size\": 256, " \
    "\"vocab_size\": 100"
#define LLAMA "{\"model_type\": \"llama\", " SIZES ", \"num_attention_heads\": 4"

#define MPT \
    "{\"model_type\": \"mpt\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 2, " \
    "\"vocab_size\": 100, \"max_seq_len\": 32"
#define GLM \
    "{\"model_type\": \"glm4_moe\", " SIZES ", \"num_attention_heads\": 4, " \
    "\"n_routed_experts\": 4, \"num_experts_per_tok\": 1"

static void test_variants(void)
{
    static const char gpt[] = "{\"n_layer\": 2, \"n_embd\": 64, \"n_head\": 4, \"vocab_size\": 100";
    char text[512];
    struct err e = { "" };
    struct shape s = { .name = "" };

    is_int(from_text(LLAMA ", \"attention_bias\": true, \"mlp_bias\": true}", &s, &e), 0,
           "a Llama's config may have biases");
    ok(s.qkv_biases && s.out_biases && s.mlp_biases && !s.biases && s.kv_heads == 4,
       "a Llama has the biases of its config");
    is_int(from_text(LLAMA ", \"attention_dropout\": 0.1}", &s, &e), 0,
           "a Llama's config may have dropout");
    ok(s.dropout && s.head_dim == 16, "a Llama has the dropout of its config");
    is_int(from_text(LLAMA ", \"time_step_limit\": [0.0, Infinity], \"low\": -Infinity, "
                           "\"router_z\": NaN}",
                     &s, &e),
           0, "a config may have Infinity and NaN, as Python writes them: %s", e.text);
    is_int(from_text(LLAMA ", \"_name_or_path\": \"a/b\\u0007\\u00e9\"}", &s, &e), 0,
           "a config's name may have a control character");
    is_str(s.name, "b???", "a name has letters alone that a terminal can show");
    is_int(from_text(LLAMA ", \"_name_or_path\": \"A-1.b_c --x=`$(y)` coding:z;'\\\"#\"}", &s, &e),
           0, "a config's name may have letters of a shell");
    is_str(s.name, "A-1.b_c?--x????y???coding?z????",
           "a name has letters alone that a script can be trusted with");
    snprintf(text, sizeof(text), "%s, \"n_ctx\": 32}", gpt);
    is_int(from_text(text, &s, &e), 0, "a config without model_type is read: %s", e.text);
    ok(s.learned_positions && s.positions == 32 && s.tied && s.ffn == 256 && s.biases,
       "a config without model_type is a plain GPT");
    snprintf(text, sizeof(text), "%s, \"num_moe_experts\": 4, \"moe_router_topk\": 2}", gpt);
    is_int(from_text(text, &s, &e), 0, "the config of a plain GPT with experts is read: %s",
           e.text);
    ok(s.experts == 4 && s.active == 2 && s.expert_ffn == 256 && !s.learned_positions,
       "a plain GPT has the experts of its config");
    is_int(from_text("{\"model_type\": \"qwen3_moe\", " SIZES ", \"num_attention_heads\": 4, "
                     "\"num_experts\": 4, \"num_experts_per_tok\": 1, \"mlp_only_layers\": [0]}",
                     &s, &e),
           0, "a config with a dense layer is read: %s", e.text);
    is_int(s.dense_first, 1, "a dense layer stands at the beginning");
    is_int(from_text("{\"model_type\": \"gpt_neox\", " SIZES ", \"num_attention_heads\": 4, "
                     "\"attention_bias\": false, \"use_parallel_residual\": false}",
                     &s, &e),
           0, "the config of a NeoX is read: %s", e.text);
    ok(!s.biases && !s.qkv_biases && s.mlp_biases && !s.parallel,
       "a NeoX has the traits of its config");
    is_str(shape_family(0), "llama", "the first family is 'llama'");
    ok(!shape_family(1000), "no family stands behind the last");
}

struct refused {
    const char *text, *said;
};

static void refuse_all(const struct refused *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct shape s = { .name = "as it was" };
        struct err e = { "" };

        is_int(from_text(cases[i].text, &s, &e), -EINVAL, "shape_from_config refuses: %s",
               cases[i].said);
        is_str(e.text, cases[i].said, "shape_from_config says: %s", cases[i].said);
        is_str(s.name, "as it was", "the shape is left alone after: %s", cases[i].said);
    }
}

static void test_refused(void)
{
    static const struct refused cases[] = {
        { "{\"model_type\": \"llama\", " SIZES "}", "config.json: num_attention_heads is missing" },
        { "{\"model_type\": \"llama\", " SIZES ", \"num_attention_heads\": null}",
          "config.json: num_attention_heads is missing" },
        { "{\"model_type\": \"gpt2\", \"n_layer\": 2, \"n_embd\": 64}",
          "config.json: n_head is missing" },
        { "{\"model_type\": \"mpt\", \"n_layers\": 2}", "config.json: d_model is missing" },
        { "{\"model_type\": \"mixtral\", " SIZES ", \"num_attention_heads\": 4}",
          "config.json: num_local_experts is missing" },
        { "{\"model_type\": \"deepseek_v3\", " SIZES ", \"num_attention_heads\": 4}",
          "config.json: kv_lora_rank is missing" },
        { "{}", "config.json: num_hidden_layers is missing" },
        { "[]", "config.json: this is no object with the fields of a model" },
        { "{\"model_type\": \"llama\", " SIZES ", \"num_attention_heads\": 7}",
          "config.json: the hidden size 64 does not divide by 7 heads" },
        { "{\"model_type\": \"llama\", " SIZES ", \"num_attention_heads\": 0}",
          "config.json: the hidden size 64 does not divide by 0 heads" },
        { LLAMA ", \"num_key_value_heads\": 3}",
          "config.json: 4 heads do not divide by 3 key-value heads" },
        { LLAMA ",\n\"num_key_value_heads\": \"3\"}",
          "config.json:2:24: num_key_value_heads must be a whole number from 0 to 2147483647" },
        { LLAMA ",\n \"num_key_value_heads\": 1e99}",
          "config.json:2:25: num_key_value_heads must be a whole number from 0 to 2147483647" },
        { LLAMA ",\n\"num_key_value_heads\": Infinity}",
          "config.json:2:24: num_key_value_heads must be a whole number from 0 to 2147483647" },
        { LLAMA ",\n\"num_key_value_heads\": -1}",
          "config.json:2:24: num_key_value_heads must be a whole number from 0 to 2147483647" },
        { LLAMA ", \"num_hidden_layers\": 20000}",
          "config.json: layers is 20000: it must be 1 to 10000" },
        { LLAMA ",\n\"attention_bias\": 1}",
          "config.json:2:19: attention_bias must be true or false" },
        { LLAMA ",\n\"attention_dropout\": []}",
          "config.json:2:22: attention_dropout must be a number" },
        { "{\"model_type\": 3}", "config.json:1:16: model_type must be a string" },
        { "{\"model_type\": \"opt\", \"num_hidden_layers\": 2, \"hidden_size\": 64, "
          "\"num_attention_heads\": 4, \"ffn_dim\": 256, \"vocab_size\": 100, "
          "\"max_position_embeddings\": 10, \"word_embed_proj_dim\": 32}",
          "config.json: word_embed_proj_dim 32 is not hidden_size 64: embeddings of another width "
          "are not known" },
        { "{\"model_type\": \"qwen3_moe\", " SIZES ", \"num_attention_heads\": 4, "
          "\"num_experts\": 4, \"num_experts_per_tok\": 1,\n\"mlp_only_layers\": [1]}",
          "config.json:2:20: mlp_only_layers must be the first layers, such as [0, 1]: others are "
          "not known" },
        { "{\"n_layer\": 1, \"n_embd\": 1000000000, \"n_head\": 1}",
          "config.json: four times the hidden size is too large" },
        { "{\"n_layer\":", "config.json:1:12: the text ends where a value must stand" },
    };

    refuse_all(cases, ARRAY_SIZE(cases));
}

/* What would change the total, and is not known of a family. */
static void test_not_counted(void)
{
    static const struct refused cases[] = {
        { LLAMA ",\n\"num_experts\": 4}",
          "config.json:2:16: num_experts is not known of llama: it may change how many parameters "
          "there are, so that none are counted" },
        { LLAMA ",\n\"n_layers\": 3}",
          "config.json:2:13: n_layers is not known of llama: it may change how many parameters "
          "there are, so that none are counted" },
        { "{\"model_type\": \"qwen3_moe\", " SIZES ", \"num_attention_heads\": 4, "
          "\"num_experts\": 4, \"num_experts_per_tok\": 1, \"decoder_sparse_step\": 2,\n"
          "\"mlp_only_layers\": [0]}",
          "config.json:2:20: mlp_only_layers must be empty where only each second or later layer "
          "has experts" },
        { MPT ", \"attn_config\": {\"qk_ln\": true}}",
          "config.json: qk_ln is true: norms of queries and keys are not known of mpt" },
        { GLM ", \"moe_layer_freq\": 2}", "config.json: moe_layer_freq above 1 is not known" },
        { GLM ",\n\"mlp_layer_types\": [\"sparse\", \"dense\"]}",
          "config.json:2:20: mlp_layer_types must be 'dense' of the first layers and 'sparse' of "
          "the "
          "rest" },
        { GLM ",\n\"mlp_layer_types\": [\"sparse\"]}",
          "config.json:2:20: mlp_layer_types must be an array of 2 kinds of layers" },
        { "{\"model_type\": \"llama4_text\", " SIZES ", \"num_attention_heads\": 4, "
          "\"num_local_experts\": 4, \"num_experts_per_tok\": 1, \"intermediate_size_mlp\": 9,\n"
          "\"moe_layers\": [1]}",
          "config.json:2:15: moe_layers must be the layers that interleave_moe_layer_step tells" },
        { "{\"model_type\": \"minimax_m2\", " SIZES ", \"num_attention_heads\": 4, "
          "\"num_local_experts\": 4, \"num_experts_per_tok\": 1, \"use_qk_norm\": false}",
          "config.json: use_qk_norm is false: MiniMax-M2 is not known without" },
        { "{\"model_type\": \"kimi_linear\", " SIZES ", \"num_attention_heads\": 4, "
          "\"tie_word_embeddings\": true}",
          "config.json: tie_word_embeddings is true, which programs read differently in this "
          "family: whether the head counts is not known" },
        { "{\"model_type\": \"kimi_linear\", " SIZES ", \"num_attention_heads\": 4, "
          "\"tie_word_embeddings\": false, \"kv_lora_rank\": 8, \"qk_rope_head_dim\": 4, "
          "\"qk_nope_head_dim\": 4, \"v_head_dim\": 4, \"linear_num_heads\": 4, "
          "\"linear_head_dim\": 16, \"linear_conv_kernel_dim\": 4}",
          "config.json: layer_types is missing" },
        { "{\"model_type\": \"nemotron_h\", " SIZES ", \"num_attention_heads\": 4}",
          "config.json: hybrid_override_pattern and layers_block_type are missing" },
        { "{\"model_type\": \"nemotron_h\", " SIZES ", \"num_attention_heads\": 4,\n"
          "\"hybrid_override_pattern\": \"MX\"}",
          "config.json:2:28: hybrid_override_pattern must be of the letters M, *, - and E" },
        { "{\"model_type\": \"opt\", " SIZES ", \"num_attention_heads\": 4, \"ffn_dim\": 256, "
          "\"max_position_embeddings\": 10, \"do_layer_norm_before\": false}",
          "config.json: do_layer_norm_before or layer_norm_elementwise_affine is false: layers of "
          "that kind are not known" }
    };

    refuse_all(cases, ARRAY_SIZE(cases));
}

static void test_name_of_file(void)
{
    static const struct {
        const char *file, *name;
    } cases[] = {
        { "config.json", "llama" },
        { "./config.json", "llama" },
        { "models/Llama-3.1-8B/config.json", "Llama-3.1-8B" },
        { "models/Llama-3.1-8B//config.json", "Llama-3.1-8B" },
        { "/config.json", "llama" },
        { "../config.json", "llama" },
        { "models/mine v2.json", "mine?v2" },
        { "my-llama", "my-llama" },
        { ".json", "llama" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        static const char text[] = LLAMA "}";
        struct shape s = { .name = "" };
        struct err e = { "" };

        is_int(shape_from_config(&s, cases[i].file, text, strlen(text), &e), 0,
               "the config in %s is read: %s", cases[i].file, e.text);
        is_str(s.name, cases[i].name, "the model of %s has a name", cases[i].file);
    }
}

static void test_mpt(void)
{
    struct shape s = { .name = "" };
    struct err e = { "" };

    is_int(from_text(MPT ", \"attn_config\": {\"attn_type\": \"multiquery_attention\"}}", &s, &e),
           0, "the config of an MPT is read: %s", e.text);
    ok(s.kv_heads == 1 && s.norm_biases && s.learned_positions,
       "an MPT with multiquery attention has one head of keys and values");
    is_int(from_text(MPT ", \"norm_type\": \"low_precision_rmsnorm\"}", &s, &e), 0,
           "the config of an MPT with another norm is read: %s", e.text);
    ok(s.kv_heads == 4 && s.biases && !s.norm_biases, "an MPT's RMSNorm has no biases");
}

/* How many norms a layer of Falcon has, with and without the new architecture. */
static void test_falcon_norms(void)
{
    static const struct {
        const char *more;
        int norms;
    } cases[] = {
        { "", 1 },
        { ", \"parallel_attn\": false", 2 },
        { ", \"num_ln_in_parallel_attn\": 2", 2 },
        { ", \"new_decoder_architecture\": true", 2 },
        { ", \"new_decoder_architecture\": true, \"num_ln_in_parallel_attn\": 1", 1 },
        { ", \"new_decoder_architecture\": true, \"num_ln_in_parallel_attn\": 1, "
          "\"parallel_attn\": false",
          2 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct shape s = { .name = "" };
        struct err e = { "" };
        char text[512];

        snprintf(text, sizeof(text),
                 "{\"model_type\": \"falcon\", " SIZES ", \"num_attention_heads\": 4%s}",
                 cases[i].more);
        is_int(from_text(text, &s, &e), 0, "the config of a Falcon is read: %s", e.text);
        is_int(s.norms, cases[i].norms, "a layer of a Falcon with '%s' has so many norms",
               cases[i].more);
    }
}

/* What is not told in struct shape's fields is counted all the same, and said. */
static void test_counted(void)
{
    static const char jamba[] =
        "{\"model_type\": \"jamba\", " SIZES ", \"num_attention_heads\": 4, \"num_experts\": 2, "
        "\"num_experts_per_tok\": 1, \"mamba_d_state\": 4, \"mamba_d_conv\": 4, "
        "\"mamba_expand\": 2, \"attn_layer_period\": 2, \"attn_layer_offset\": 1, "
        "\"expert_layer_period\": 2, \"expert_layer_offset\": 1}";
    struct shape s = { .name = "" };
    struct err e = { "" };

    is_int(from_text(jamba, &s, &e), 0, "a config of Mamba layers is read: %s", e.text);
    is_str(s.lacks, "Mamba layers", "a shape names what it lacks");
    ok(s.counted > s.counted_active && shape_count(&s).total - s.counted < 0.5,
       "a shape that was counted layer by layer has that total");
    is_int(shape_can_plan(&s, &e), -ENOTSUP, "a shape of Mamba layers is refused by the model");
    ok(strstr(e.text, "jamba has Mamba layers, whose memory and time are not modelled; what is "
                      "known: it has "),
       "the refusal says what is known: %s", e.text);
    is_int(from_text(GLM ", \"num_nextn_predict_layers\": 1}", &s, &e), 0,
           "a config with a layer for multi-token prediction is read: %s", e.text);
    ok(s.further_layers == 1 && s.layers == 2 && !s.lacks && shape_can_plan(&s, &e) == 0,
       "a layer for multi-token prediction is beside the others");
    ok(s.router_biases && !s.out_biases && !s.part, "GLM's experts have weights of their scores");
}

static void test_unknown_family(void)
{
    struct shape s;
    struct err e = { "" };

    is_int(from_text("{\"model_type\": \"mamba\"}", &s, &e), -EINVAL,
           "shape_from_config refuses an unknown family");
    ok(strstr(e.text, "config.json:1:16: model_type 'mamba' is not known, so that nothing says "
                      "which layers it has; known are llama, mistral, mixtral,"),
       "the error lists the families that are known: %s", e.text);
    ok(!strstr(e.text, "plain") && !strstr(e.text, "without"),
       "the error of an unknown family does not advise to read it as another: %s", e.text);
    is_int(from_text("{\"model_type\": \"x\", \"text_config\": {\"model_type\": \"y\"}}", &s, &e),
           -EINVAL, "shape_from_config refuses an unknown family of a part");
    ok(strstr(e.text, "model_type 'y' is not known"), "the error names the family of the part: %s",
       e.text);
}

static void test_oom(void)
{
    bool failed;

    oom_restart();
    do {
        struct shape s;
        struct err e = { "" };
        int rc;

        oom_next();
        rc = from_text(LLAMA ", \"attention_dropout\": 0.1}", &s, &e);
        failed = oom_end();
        ok(failed ? rc == -ENOMEM : rc == 0,
           "shape_from_config with allocation %d failing returns %d", oom_at, rc);
    } while (failed);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "tests/fixtures/configs";

    test_published(folder);
    test_traits(folder);
    test_variants();
    test_refused();
    test_not_counted();
    test_name_of_file();
    test_mpt();
    test_falcon_norms();
    test_counted();
    test_unknown_family();
    test_oom();
    return done();
}
