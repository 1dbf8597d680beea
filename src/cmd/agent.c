/* brim agent: sample this node, judge, store and serve what was measured. */
#include "cmd/agent/options.h"

#include "base/log.h"
#include "daemon/exporters.h"
#include "daemon/privileges.h"
#include "diagnose/alerts/alert.h"
#include "probe/root.h"
#include "probe/samplers.h"
#include "render/node/metrics.h"

enum { OUTPUT_MAX = 8 << 20 };

/* Add the alerts of rules that hold at once: those that want a rate or a time cannot, of one
 * tick. */
static int add_alerts(const struct rules *rules, struct tick *tick)
{
    CLEANUP(alerts_freep) struct alerts *alerts = NULL;
    int rc = alerts_new(&alerts, rules);

    if (rc == 0)
        rc = alerts_step(alerts, NULL, tick);
    return rc < 0 ? rc : alerts_rows(alerts, tick);
}

static int print_once(const struct app *app, const struct agent_options *o, struct err *e)
{
    CLEANUP(closep) int root = probe_root_open(o->root, e);
    CLEANUP(samplers_closep) struct samplers *samplers = NULL;
    CLEANUP(exporters_closep) struct exporters *compat = NULL;
    CLEANUP(rules_done) struct rules rules = { .count = 0 };
    CLEANUP(tick_done) struct tick tick = { .n_rows = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct sampler_env env = {
        .root = root, .live = !o->root, .fake = o->fake, .patience_ns = SAMPLER_PATIENCE_NS
    };
    int rc;

    if (root < 0)
        return root;
    rc = agent_options_rules(o, &rules, e);
    if (rc == 0 && o->user) /* what that account would see */
        rc = privileges_drop(o->user, e);
    if (rc == 0)
        rc = samplers_open(&samplers, &env, e);
    if (rc == 0 && o->compat)
        rc = exporters_open(&compat, &env, e);
    if (rc < 0)
        return rc;
    tick_begin(&tick, clock_wall_ns(app->clock), clock_monotonic_ns(app->clock));
    if (samplers_sample(samplers, &tick) < 0 || add_alerts(&rules, &tick) < 0)
        return err_nomem(e);
    if (o->json)
        metrics_render_json(&tick, &out);
    else
        metrics_render(&tick, METRICS_PROMETHEUS, &out);
    if (compat && exporters_add(compat, &tick, &out) < 0)
        return err_nomem(e);
    return cmd_print(&out, o->json, e);
}

static void ready(void *arg, const char *where)
{
    (void)arg;
    log_info("sampling; dashboard at http://%s/, metrics at http://%s/metrics", where, where);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct agent_options *o = values;
    int rc = agent_options_check(o, e);

    (void)operands;
    if (rc != 0)
        return rc;
    if (o->json && !o->once)
        return err_usage(e, "--json is for --once");
    if (o->json && o->compat)
        return err_usage(e, "--compat has no JSON");
    if (o->once && o->nodes)
        return err_usage(e, "--once is of this node: 'brim top --once --nodes' asks others");
    return o->once ? print_once(app, o, e) : agent_options_run(app, o, ready, NULL, e);
}

const struct cmd cmd_agent = {
    .name = "agent",
    .args = "",
    .summary = "sample this node; serve metrics and the dashboard",
    .about =
        "Sample accelerators, CPUs, memory, disks, networks, file systems and processes of this\n"
        "node, keep what was measured, raise alerts, and serve: the dashboard at /, the metrics\n"
        "at /metrics for Prometheus (or as OpenMetrics where that is asked for), and /healthz.\n"
        "Loopback addresses need no token, others do. Ends on SIGTERM and SIGINT.",
    .opts = agent_opts,
    .defaults = &agent_defaults,
    .size = sizeof(struct agent_options),
    .run = run,
};
