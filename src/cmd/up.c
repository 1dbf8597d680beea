/* brim up: agent and dashboard on this machine, no configuration. */
#include <errno.h>
#include <stdio.h>

#include "cmd/agent/options.h"

static void ready(void *arg, const char *where)
{
    const char *port = where;

    for (const char *at = where; *at; at++)
        if (*at == ':')
            port = at + 1;
    (void)arg;
    printf("dashboard: http://%s/\n"
           "metrics:   http://%s/metrics\n"
           "from another machine: ssh -L %s:%s HERE, then http://127.0.0.1:%s/\n"
           "Ctrl-C ends it; 'brim top' shows the same in a terminal\n",
           where, where, port, where, port);
    fflush(stdout);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct agent_options *o = values;
    int rc = agent_options_run(app, o, ready, NULL, e);

    (void)operands;
    if (rc == -EADDRINUSE)
        err_set(e, rc, "%s is taken: if brim is up already, its dashboard is at http://%s/",
                o->listen, o->listen);
    return rc;
}

const struct cmd cmd_up = {
    .name = "up",
    .args = "",
    .summary = "start the agent and its dashboard here, and print the address",
    .about = "Start an agent with its dashboard on this machine, with nothing to configure, and\n"
             "print where it is. The same as 'brim agent', for people who sit at a terminal.",
    .opts = agent_opts + AGENT_ONLY,
    .defaults = &agent_defaults,
    .size = sizeof(struct agent_options),
    .run = run,
};
