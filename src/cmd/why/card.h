/* How verdicts and analyses of traces are shown. */
#ifndef BRIM_CMD_WHY_CARD_H
#define BRIM_CMD_WHY_CARD_H
#include <stdbool.h>

#include "base/str.h"
#include "diagnose/straggler/straggler.h"
#include "model/job/run.h"
#include "model/verdict/verdict.h"

/* What a verdict of a job that goes on is made of. */
struct why_live {
    int pid;
    bool outside;     /* observed by us, not by 'brim run' */
    double seconds;   /* judged */
    double still_s;   /* since a step ended; NaN: none did */
    double longest_s; /* the longest step of them; NaN */
};

/* A card for a terminal of that width. live: NULL for a run that is stored. */
void why_card(const struct run *r, const struct verdict *v, const struct why_live *live,
              bool colour, unsigned columns, struct str *out);
void why_json(const struct run *r, const struct verdict *v, const struct why_live *live,
              struct str *out);

void why_trace_card(const struct op_trace *t, const struct straggler *s, struct str *out);
void why_trace_json(const struct op_trace *t, const struct straggler *s, struct str *out);

#endif
