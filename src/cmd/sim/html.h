/* The page of brim sim --html. */
#ifndef BRIM_CMD_SIM_HTML_H
#define BRIM_CMD_SIM_HTML_H
#include "cmd/sim/show.h"

/* The runs have their spans. -ENOMEM. */
int sim_html(const struct sim_report *r, struct str *out, struct err *e) CHECK_RESULT;

#endif
