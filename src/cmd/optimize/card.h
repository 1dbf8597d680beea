/* What is printed of an optimisation when its job ends. */
#ifndef BRIM_CMD_OPTIMIZE_CARD_H
#define BRIM_CMD_OPTIMIZE_CARD_H
#include "base/json.h"
#include "optimize/drive/drive.h"

struct optimize_card {
    const struct run *run;
    const struct drive_report *report;
    const char *profile; /* where what was kept is written; NULL: it is not */
    const char *again;   /* the command that uses it; NULL */
};

/* What changed and by how much, what was tried and rejected, what remains, in lines of so
 * many columns. 0 or -ENOMEM. */
int optimize_card(const struct optimize_card *c, unsigned columns, struct str *out) CHECK_RESULT;

/* The same inside of other JSON: an object "optimize". */
void optimize_card_json(const struct optimize_card *c, struct json *j);

#endif
