/* Layouts in words, "tp=8,pp=4,recompute=full": what of a layout, and of how the job computes, is
 * settled before a search. */
#ifndef BRIM_PLAN_LAYOUT_PINS_H
#define BRIM_PLAN_LAYOUT_PINS_H
#include <stdint.h>

#include "base/str.h"
#include "plan/layout/layout.h"

enum pin {
    PIN_TP,
    PIN_PP,
    PIN_VPP,
    PIN_CP,
    PIN_EP,
    PIN_ETP,
    PIN_DP,
    PIN_MICRO_BATCH,
    PIN_CONTEXT,
    PIN_RECOMPUTE,
    PIN_ZERO,
    PIN_SHARD,
    PIN_SEQ_PARALLEL,
    PIN_SCHEDULE,
    PIN_STAGES,
    PIN_OVERLAP_DP,
    PIN_OVERLAP_TP,
    PIN_OVERLAP_PP,
    PIN_OVERLAP_EP,
    PIN_OFFLOAD,
    PINS_LAYOUT, /* from here on of the job */
    PIN_ATTENTION = PINS_LAYOUT,
    PIN_ENGINE,
    PIN_GRADIENT_B,
    PIN_MOMENT_B,
    PIN_FUSED,
    PIN_GRAPHS,
    PIN_FUSED_LOSS,
    PIN_IMBALANCE,
    PINS
};

struct pins {
    struct layout layout; /* fields whose bit is set in 'fixed' count */
    struct plan_job job;  /* the same */
    uint32_t fixed;       /* 1 << enum pin */
    uint32_t any;         /* "schedule=any": what is tried although few programs can do it */
};

/* Add "tp=8,pp=4" to what is there. -EINVAL with a sentence: "unknown part of a layout 'recompte'
 * (did you mean recompute?)", for one that stands twice, ... */
int pins_read(struct pins *p, const char *text, struct err *e) CHECK_RESULT;

/* Whether a part is settled. */
bool pins_has(const struct pins *p, enum pin pin);

/* Set what is pinned; the rest stays. */
void pins_set_layout(const struct pins *p, struct layout *l);
void pins_set_job(const struct pins *p, struct plan_job *job);

/* What programs do where nobody says otherwise: collectives beside the compute where Megatron-LM
 * can (tensor parallelism's with seq_parallel, the pipeline's with vpp). */
void layout_usual_overlaps(struct layout *l);

/* A layout of what is pinned without a search: degrees of 1, dp what is left of the GPUs, one
 * sequence in a micro-batch, ZeRO-1, no recompute, seq_parallel with tp, and the above. 0, or
 * layout_check()'s -EINVAL. */
int pins_complete(const struct pins *p, const struct plan_job *job, const struct cluster *c,
                  struct layout *ret, struct err *e) CHECK_RESULT;

/* A layout in the words that pins_read() takes, without what is 1, off or usual:
 * pins_complete() makes the same of them. */
void layout_words(const struct layout *l, struct str *out);

/* "even", "ends" or "1+2". */
void stages_words(const struct stage_split *s, struct str *out);

/* The words of a choice: "full" of RECOMPUTE_FULL. */
const char *recompute_name(enum recompute r);
const char *schedule_name(enum schedule s);
const char *context_name(enum context_kind c);

#endif
