/* Findings: what is wrong or worth knowing, as sentences with their numbers. Diagnosis, audit,
 * prediction and validation all speak in findings. */
#ifndef BRIM_MODEL_VERDICT_FINDING_H
#define BRIM_MODEL_VERDICT_FINDING_H
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "model/signal/severity.h"

struct finding {
    const char *check; /* name of the rule: "pcie-width" */
    enum severity severity;
    const char *node;     /* the node it is about, borrowed from it; NULL for all */
    const char *sentence; /* what is the case */
    const char *evidence; /* the numbers behind it; NULL */
    const char *effect;   /* what it costs, what mending it brings; NULL */
    const char *action;   /* a command to paste, or what to do by hand; NULL */
};

struct findings {
    struct arena arena; /* owns the texts */
    struct finding *list;
    size_t count;
    size_t passed;          /* checks that found nothing wrong */
    bool no_memory;         /* a finding was lost: the caller must fail */
    struct finding scratch; /* takes what is added then */
};

void findings_done(struct findings *f);

/* Add a finding and return it, so that the caller can add evidence, effect and action; a scratch
 * finding when memory is out (no_memory is then set), so that callers need not check each. */
struct finding *findings_add(struct findings *f, const char *check, enum severity severity,
                             const char *node);

/* Set one of its texts. */
void findings_text(struct findings *f, const char **to, const char *fmt, ...) PRINTF(3, 4);

#endif
