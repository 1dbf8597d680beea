/* A program that trains, as emit.c sees it: one file each. */
#ifndef BRIM_PLAN_EMIT_EMIT_PRIVATE_H
#define BRIM_PLAN_EMIT_EMIT_PRIVATE_H
#include "plan/emit/emit.h"

/* What is to be written, and how many processes start. */
struct emit {
    const struct plan_job *job;
    const struct cluster *cluster;
    const struct layout *l;
    int nodes, per_node;
};

struct emit_ops {
    const char *name;
    const char *version; /* whose words these are: "Megatron-LM core_v0.15" */
    enum plan_engine engine;
    bool modules;    /* recomputes norms, or MLPs and experts, alone */
    bool overlap_ep; /* has experts' collectives beside the compute of another micro-batch */
    bool offload;    /* has states in the host's memory */
    bool moments;    /* has moments of 16 bits */
    /* 0, or -EINVAL with a sentence for what has no words; the rest is not asked then. */
    int (*check)(const struct emit *x, struct err *e);
    const char *file; /* name of the file that it reads; NULL: it takes flags */
    bool file_alone;  /* the file is what people want, not a script that writes it */
    void (*add_file)(const struct emit *x, struct str *out);    /* with 'file' */
    void (*add_setup)(const struct emit *x, struct str *out);   /* lines of shell; or NULL */
    void (*add_command)(const struct emit *x, struct str *out); /* behind torchrun's options */
};

extern const struct emit_ops emit_megatron;
extern const struct emit_ops emit_torchtitan;
extern const struct emit_ops emit_deepspeed;
extern const struct emit_ops emit_nemo;
extern const struct emit_ops emit_fsdp;

/* What a target has no words for. */
struct emit_limit {
    bool broken;
    const char *field; /* "schedule=gpipe" */
    const char *why;
};

/* Whether a program that picks its attention kernels itself has such ones. */
static inline bool emit_is_usual(enum plan_attention a)
{
    return a == ATTENTION_FLASH || a == ATTENTION_SECOND || a == ATTENTION_THIRD;
}

/* 0, or -EINVAL with the sentence of the first that is broken. */
int emit_check(const struct emit_ops *ops, const struct emit_limit *limits, size_t n, struct err *e)
    CHECK_RESULT;

/* The word by which a target knows the shape, out of pairs of a model's name and that word, which
 * end with NULL; NULL when it does not know it. */
struct emit_model {
    const char *name, *word, *more; /* more: a second word, or NULL */
};
const struct emit_model *emit_find_model(const struct emit_model *list, const char *name);

/* "true" or "false", "True" or "False". */
const char *emit_lower(bool b);
const char *emit_upper(bool b);

/* Whether all stages, and all their chunks, have as many layers, with those that the first and the
 * last have fewer. */
bool emit_stages_equal(const struct emit *x);

#endif
