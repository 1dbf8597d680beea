/* brim alerts: the rules by which the agent raises alerts, also as rules of Prometheus. */
#include <string.h>

#include "alerts_ini.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/str.h"
#include "cmd/common/cmd.h"
#include "diagnose/alerts/promql.h"
#include "diagnose/alerts/rules.h"
#include "probe/samplers.h"

enum { OUTPUT_MAX = 4 << 20, FILE_MAX = 1 << 20 };

struct alerts_opts {
    bool prometheus, check, signals;
    const char *json, *file;
};

static const struct opt opts[] = {
    CMD_JSON(offsetof(struct alerts_opts, json)),
    { OPT_FLAG, 'p', "prometheus", offsetof(struct alerts_opts, prometheus), NULL,
      "print a rule file for Prometheus" },
    { OPT_FLAG, 'c', "check", offsetof(struct alerts_opts, check), NULL,
      "say which sets and signals are not measured here" },
    { OPT_FLAG, 's', "signals", offsetof(struct alerts_opts, signals), NULL,
      "list what rules may look at" },
    { OPT_STRING, 'f', "file", offsetof(struct alerts_opts, file), "FILE",
      "rules of this file, not those of brim" },
    { .kind = OPT_END },
};

static const struct alerts_opts defaults = { .json = NULL };

static const struct signal_set *find_set(const char *name)
{
    const struct signal_set *set;

    for (size_t i = 0; (set = samplers_set(i)); i++)
        if (!strcmp(set->name, name))
            return set;
    return NULL;
}

static const char *set_at(const void *ctx, size_t i)
{
    (void)ctx;
    return samplers_set(i)->name;
}

static const char *signal_at(const void *set, size_t i)
{
    return ((const struct signal_set *)set)->defs[i].name;
}

static void add_near(struct str *out, const char *near)
{
    if (near)
        str_addf(out, " (did you mean %s?)", near);
    str_add_char(out, '\n');
}

/* What is wrong with one signal of a rule, as a line. */
static void check_signal(const char *file, const struct rule *r, const struct expr_signal *s,
                         struct str *out)
{
    const struct signal_set *set = find_set(s->set);
    struct expr_place place;
    size_t n_sets = 0;

    while (samplers_set(n_sets))
        n_sets++;
    if (set && expr_find(s, set, &place) && (s->scope != EXPR_THING || !strcmp(set->thing, r->by)))
        return;
    str_addf(out, "%s:%d: [%s]: ", file, r->line, r->name);
    if (!set) {
        str_addf(out, "no set '%s'", s->set);
        add_near(out, opt_nearest(s->set, n_sets, set_at, NULL));
    } else if (expr_find(s, set, &place)) {
        str_addf(out, "the set '%s' is by %s, not by %s\n", s->set, set->thing, r->by);
    } else {
        const char *near = opt_nearest(s->name, set->n_defs, signal_at, set);

        str_addf(out, "the set '%s' has no signal '%s%s%s%s' of %s", s->set, s->name,
                 s->label ? "{" : "", s->label ? s->label : "", s->label ? "}" : "",
                 s->scope == EXPR_THING ? "a thing" : "the host");
        add_near(out, near && strcmp(near, s->name) != 0 ? near : NULL);
    }
}

static void check_rule(const char *file, const struct rule *r, struct str *out)
{
    const char *missing = NULL; /* of a set that is not there, one line will do */

    for (size_t i = 0; i < r->when.n_signals; i++) {
        const struct expr_signal *s = &r->when.signals[i];

        if (missing && !strcmp(missing, s->set))
            continue;
        check_signal(file, r, s, out);
        missing = find_set(s->set) ? missing : s->set;
    }
}

static int check(const struct rules *rules, const char *file, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc;

    for (size_t i = 0; i < rules->count; i++)
        check_rule(file, &rules->list[i], &out);
    rc = cmd_print(&out, NULL, e);
    return rc == 0 && out.len ? EXIT_FAILED : rc;
}

/* "disk by device: reads_total counter, reads completed" */
static void add_signals(struct str *out)
{
    const struct signal_set *set;

    for (size_t i = 0; (set = samplers_set(i)); i++)
        for (size_t k = 0; k < set->n_defs; k++) {
            const struct signal_def *d = &set->defs[k];

            str_addf(out, "%s%s%s", set->name, set->thing ? " by " : "",
                     set->thing ? set->thing : "");
            str_pad(out, 24);
            str_addf(out, " %s%s%s%s", d->name, d->label ? "{" : "", d->label ? d->label : "",
                     d->label ? "}" : "");
            str_pad(out, 64);
            str_addf(out, " %s\n", d->help);
        }
}

static void add_text(const struct rules *rules, struct str *out)
{
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *r = &rules->list[i];

        str_add(out, r->name);
        str_pad(out, 24);
        if (r->event) {
            str_addf(out, " event    for %4llds  %s\n", (long long)(r->keep_ns / NS_PER_S),
                     r->event);
            continue;
        }
        str_addf(out, " %-8s for %4llds  %s\n", severity_text(r->severity),
                 (long long)(r->for_ns / NS_PER_S), r->say);
    }
}

static void add_optional(struct json *j, const char *key, const char *text)
{
    if (text && *text)
        json_string(j, key, text);
}

static void add_condition(struct json *j, const struct rule *r)
{
    CLEANUP(str_done) struct str promql = STR_INIT(OUTPUT_MAX);

    promql_add(r, &promql);
    str_fail(j->out, str_error(&promql));
    json_string(j, "set", r->set);
    add_optional(j, "by", r->by);
    json_string(j, "when", r->text);
    json_string(j, "promql", str_text(&promql));
    json_number(j, "for_s", clock_seconds(r->for_ns), 15);
    json_number(j, "for_seconds", clock_seconds(r->for_ns), 15);
    json_string(j, "severity", severity_text(r->severity));
    json_string(j, "say", r->say);
}

static void add_json(const struct rules *rules, struct str *out)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.rules.v1");
    json_array(&j, "rules");
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *r = &rules->list[i];

        json_object(&j, NULL);
        json_string(&j, "name", r->name);
        if (r->event) {
            json_string(&j, "event", r->event);
            json_number(&j, "keep_s", clock_seconds(r->keep_ns), 15);
            json_number(&j, "keep_seconds", clock_seconds(r->keep_ns), 15);
        } else {
            add_condition(&j, r);
        }
        json_bool(&j, "drain", r->drain);
        add_optional(&j, "why", r->why);
        add_optional(&j, "action", r->action);
        add_optional(&j, "source", r->source);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(rules_done) struct rules rules = { .count = 0 };
    CLEANUP(str_done) struct str text = STR_INIT(FILE_MAX);
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct alerts_opts *o = values;
    const char *file = o->file ? o->file : "alerts.ini";
    int rc = 0;

    (void)app;
    (void)operands;
    if ((o->json != NULL) + o->prometheus + o->check + o->signals > 1)
        return err_usage(e, "--json, --prometheus, --check and --signals: give one of them");
    if (o->file)
        rc = file_read(o->file, &text, e);
    if (rc == 0)
        rc = rules_load(&rules, file, o->file ? str_text(&text) : data_alerts_ini,
                        o->file ? text.len : data_alerts_ini_len, e);
    if (rc < 0)
        return rc;
    if (o->check)
        return check(&rules, file, e);
    if (o->signals)
        add_signals(&out);
    else if (o->json)
        add_json(&rules, &out);
    else if (o->prometheus)
        promql_rules(&rules, o->file ? file : "data/alerts.ini", &out);
    else
        add_text(&rules, &out);
    return cmd_print(&out, o->json, e);
}

const struct cmd cmd_alerts = {
    .name = "alerts",
    .args = "",
    .summary = "the rules by which alerts are raised, also for Prometheus",
    .about =
        "List the rules by which the agent raises alerts: when, how long that must last, what is\n"
        "said. --prometheus prints the same conditions as a rule file for Prometheus. --check\n"
        "says of each rule which of its signals this brim does not measure, and exits with 1\n"
        "when there is one.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct alerts_opts),
    .run = run,
};
