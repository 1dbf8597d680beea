/* What is printed of a run when it ends. */
#ifndef BRIM_CMD_RUN_CARD_H
#define BRIM_CMD_RUN_CARD_H
#include "base/json.h"
#include "model/job/run.h"
#include "model/verdict/verdict.h"

struct run_card_look {
    unsigned columns;
    bool colour, unicode;
};

/* What limits the run, beside the earlier one of the same job. 0 with *ret filled, or -ENOMEM.
 * verdict_done() in any case. */
int run_card_judge(const struct run *r, struct verdict *ret) CHECK_RESULT;

/* The card; verdict: NULL when there is none. stored: the run can be looked at later. 0 or
 * -ENOMEM. */
int run_card(const struct run *r, const struct verdict *verdict, bool stored,
             const struct run_card_look *look, struct str *out) CHECK_RESULT;

/* The same as one JSON object; alone, or inside of other JSON (key NULL: of an
 * array). */
int run_card_json(const struct run *r, const struct verdict *verdict, struct str *out) CHECK_RESULT;

int run_card_json_in(const struct run *r, const struct verdict *verdict, const char *key,
                     struct json *j) CHECK_RESULT;

/* "exit 0", "killed by signal 9", "running", "lost". */
struct run_card_end {
    char text[48];
};
struct run_card_end run_card_end(const struct run *r);

#endif
