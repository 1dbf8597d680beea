/* What 'brim agent' and 'brim up' have in common: the options of a running agent. */
#ifndef BRIM_CMD_AGENT_OPTIONS_H
#define BRIM_CMD_AGENT_OPTIONS_H
#include "cmd/common/cmd.h"
#include "diagnose/alerts/rules.h"

struct agent_options {
    bool once, compat;
    const char *json, *listen, *token_file, *store, *fake, *rules, *log, *user, *root;
    const char *nodes, *nodes_token_file;
    int64_t interval_ns, silence_ns;
    uint64_t store_mib;
    struct opt_list runs;
};

/* 'brim agent' takes all, 'brim up' those behind the first AGENT_ONLY. */
enum { AGENT_ONLY = 2 };
extern const struct opt agent_opts[];
extern const struct agent_options agent_defaults;

/* Whether the options are within their limits: 0, or ERR_USAGE with a sentence. */
int agent_options_check(const struct agent_options *o, struct err *e);

/* The rules of --rules, or those built in: rules_done() them. 0 or a negative errno with a
 * sentence. */
int agent_options_rules(const struct agent_options *o, struct rules *ret, struct err *e)
    CHECK_RESULT;

/* Run an agent until it is told to end. 0, ERR_USAGE or a negative errno, with a sentence. */
int agent_options_run(const struct app *app, const struct agent_options *o,
                      void (*ready)(void *arg, const char *where), void *arg, struct err *e);

#endif
