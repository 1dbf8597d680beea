/* The options of brim optimize. */
#ifndef BRIM_CMD_OPTIMIZE_OPTIONS_H
#define BRIM_CMD_OPTIMIZE_OPTIONS_H
#include "cmd/common/meet_option.h"

struct optimize_opts {
    bool quiet, undo, once;
    struct opt_list allow, named;
    const char *goal, *price_hour, *price_kwh, *name, *json, *save, *profile, *knobs, *fake;
    struct meet_option meet;
    int64_t budget_ns, interval_ns;
    uint64_t restarts;
};

extern const struct opt optimize_options[];
extern const struct optimize_opts optimize_defaults;

/* Whether --allow has a word. */
bool optimize_allows(const struct optimize_opts *o, const char *word);

/* 0, or ERR_USAGE with a sentence. */
int optimize_check(const struct optimize_opts *o, char **argv, struct err *e) CHECK_RESULT;

#endif
