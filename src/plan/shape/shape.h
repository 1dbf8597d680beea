/* The shape of a transformer: what its parameters, memory and time follow from. One for all
 * families: dense or mixture of experts, multi-head, grouped or latent attention. */
#ifndef BRIM_PLAN_SHAPE_SHAPE_H
#define BRIM_PLAN_SHAPE_SHAPE_H
#include <stdbool.h>

#include "base/err.h"

enum { SHAPE_NAME = 96, SHAPE_LAYERS_MAX = 10000 };

enum shape_attention {
    SHAPE_HEADS,  /* kv_heads == heads: multi-head; 1: multi-query; between: grouped */
    SHAPE_LATENT, /* DeepSeek's MLA: the ranks and dimensions below */
};

struct shape {
    char name[SHAPE_NAME];
    int layers, hidden, heads, kv_heads, head_dim;
    int ffn;                /* of a dense MLP */
    int vocab;              /* as it is stored: padded where the source says so */
    int positions;          /* the longest sequence that it is made for; 0: not known */
    int extra_positions;    /* rows of their table beyond them (OPT: 2) */
    bool gated;             /* SwiGLU and its like: three matrices in an MLP instead of two */
    bool tied;              /* the head is the embedding */
    bool learned_positions; /* a table of positions x hidden */
    bool biases;            /* in all linear layers but router and head; or only in some: */
    bool qkv_biases;        /* in those of queries, keys and values */
    bool out_biases;        /* in the one behind attention */
    bool mlp_biases;        /* in MLPs and experts */
    bool head_bias;
    bool norm_biases;    /* LayerNorm; false: RMSNorm */
    bool embedding_norm; /* behind the embedding (BLOOM) */
    bool dropout;        /* its masks are kept for the backward pass */
    bool parallel;       /* attention and MLP beside each other (NeoX, GPT-J, Falcon) */
    bool sinks;          /* a weight of each head in its softmax (gpt-oss) */
    int norms;           /* in a layer; 0: as most have, 2, or 1 when parallel */
    int qk_norms;        /* weights of the norms of queries and keys in a layer; 0: none */
    enum shape_attention attention;
    int q_rank, kv_rank, rope_dim, nope_dim, v_dim; /* SHAPE_LATENT; q_rank 0: none */
    int window;                                     /* tokens that attention looks back; 0: all */
    int full_every; /* with a window: a layer of so many looks at all the same; 0: none does */
    /* Mixture of experts; experts 0: none. */
    int experts, active; /* of which so many take a token */
    int expert_ffn;
    int shared;         /* experts that take all tokens */
    int shared_ffn;     /* of all shared ones together */
    bool shared_gate;   /* what they give is weighted by a gate of hidden weights (Qwen) */
    bool router_biases; /* a weight of each expert beside the router's matrix */
    int groups;         /* in which experts lie; 0: in none */
    int active_groups;  /* of them that one token goes to (DeepSeek's node-limited routing) */
    int dense_first;    /* layers at the beginning that have a dense MLP */
    int expert_every;   /* a layer of so many has experts; 0 and 1: all behind dense_first */
    /* Of files that tell more than the fields above can: */
    double counted, counted_active; /* parameters, layer by layer; 0: the fields tell them */
    const char *lacks;  /* what memory and time do not know of it: "Mamba layers"; NULL: nothing */
    int further_layers; /* beside 'layers', for multi-token prediction: not counted */
    bool part;          /* of a model that sees or hears, too: the part for text */
};

/* Parameters, by where they lie. */
struct shape_params {
    double embedding;              /* tokens, positions, and the norm behind them */
    double head;                   /* 0 when tied */
    double final_norm;             /* behind the last layer */
    double attention, norms;       /* of one layer; norms: with those inside of attention */
    double mlp;                    /* of one dense layer */
    double router, expert, shared; /* of one layer with experts; expert: of a single one */
    double dense_layers, expert_layers;
    double total, active; /* active: without the experts that do not take a token */
};

/* A shape that cannot be: -EINVAL with a sentence that names the field ("64 heads do not divide by
 * 7 key-value heads"). */
int shape_check(const struct shape *s, struct err *e) CHECK_RESULT;

/* Of a shape that was checked. Exact: counts are whole and below 2^53. With 'counted' only total,
 * active, embedding, head and final_norm are true: the rest is that of a layer which is like the
 * fields. */
struct shape_params shape_count(const struct shape *s);

/* -ENOTSUP where memory and time do not know the shape, with a sentence that says how many
 * parameters it has all the same. */
int shape_can_plan(const struct shape *s, struct err *e) CHECK_RESULT;

#endif
