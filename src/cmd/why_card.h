/* How verdicts and analyses of traces are shown. */
#ifndef BRIM_CMD_WHY_CARD_H
#define BRIM_CMD_WHY_CARD_H
#include <stdbool.h>

#include "base/str.h"
#include "diagnose/straggler.h"
#include "model/run.h"
#include "model/verdict.h"

/* A card for a terminal of that width. */
void why_card(const struct run *r, const struct verdict *v, bool colour, unsigned columns,
              struct str *out);
void why_json(const struct run *r, const struct verdict *v, struct str *out);

void why_trace_card(const struct op_trace *t, const struct straggler *s, struct str *out);
void why_trace_json(const struct op_trace *t, const struct straggler *s, struct str *out);

#endif
