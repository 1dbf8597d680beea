/* The parts of brim cost. */
#ifndef BRIM_CMD_COST_COST_H
#define BRIM_CMD_COST_COST_H
#include "cmd/common/device_prices.h"
#include "trace/ledger.h"

struct json;

/* Where jobs come from. A new source (a local engine's jobs, a scheduler that is asked) is one more
 * row of cost.c's table: it adds its jobs with ledger_add(). */
struct cost_source {
    const char *name;
    /* Whether it is asked for: files that were named, and whether stored runs are wanted. */
    bool (*wanted)(char **files, bool runs);
    int (*read)(struct ledger *l, char **files, struct err *e);
};

/* The runs that brim keeps; those without accelerators are skipped. */
int cost_runs_read(struct ledger *l, char **files, struct err *e) CHECK_RESULT;

struct cost_report {
    const struct ledger *ledger;
    const struct device_prices *rates;
    enum ledger_by by;
    const char *by_name; /* "user" */
};

/* Tables for people, the groups as a table of commas, all of it as JSON. -ENOMEM. */
int cost_show_text(const struct cost_report *r, struct str *out, struct err *e) CHECK_RESULT;
int cost_show_csv(const struct cost_report *r, struct str *out, struct err *e) CHECK_RESULT;
int cost_show_json(const struct cost_report *r, struct str *out, struct err *e) CHECK_RESULT;

#endif
