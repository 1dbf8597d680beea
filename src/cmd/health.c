/* brim health: whether a job would fail on GPUs of this machine, for who is about to start one. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ask/lookup.h"
#include "ask/near.h"
#include "base/json.h"
#include "base/parse.h"
#include "cmd/common/cmd.h"
#include "cmd/common/nodes_option.h"
#include "model/nodes/node_fit.h"
#include "model/nodes/node_list.h"
#include "model/nodes/node_series.h"

enum { OUTPUT_MAX = 64 << 10, TOKEN_MAX = 4096, STEPS = 1000 };

struct health_opts {
    const char *gpus, *address, *token, *json;
    uint64_t port;
    int64_t patience_ns, last_ns;
};

static const struct opt opts[] = {
    { OPT_STRING, 'g', "gpus", offsetof(struct health_opts, gpus), "LIST",
      "of these GPUs, in the agent's order: 0,2-3 (all)" },
    { OPT_STRING, 'a', "address", offsetof(struct health_opts, address), "ADDRESS",
      "where the agent of this machine listens (127.0.0.1)" },
    { OPT_UINT, 0, "port", offsetof(struct health_opts, port), "PORT", "its port (9410)",
      .least = 1, .most = 65535 },
    { OPT_STRING, 0, "token", offsetof(struct health_opts, token), "FILE",
      "the token that it asks for" },
    { OPT_DURATION, 0, "patience", offsetof(struct health_opts, patience_ns), "TIME",
      "how long it may take to answer (500ms)", .least = OPT_MS, .most = OPT_MIN },
    { OPT_DURATION, 'l', "last", offsetof(struct health_opts, last_ns), "TIME",
      "how busy they were in that time, by what the agent has stored", .least = OPT_S,
      .most = 525600 * OPT_MIN },
    CMD_JSON(offsetof(struct health_opts, json)),
    { .kind = OPT_END },
};

static const struct health_opts defaults = {
    .address = "127.0.0.1",
    .port = NODE_LIST_PORT,
    .patience_ns = 500 * NS_PER_MS,
};

/* A number at *s, which is moved behind it; -1. */
static int take_number(const char **s)
{
    uint64_t n = 0;
    int digits = parse_digits(*s, 10, 3, &n);

    if (digits <= 0 || n >= NODE_FIT_GPUS)
        return -1;
    *s += digits;
    return (int)n;
}

/* "0,2-3" as bits. */
static int read_gpus(const char *text, uint64_t *ret, struct err *e)
{
    const char *s = text;
    uint64_t bits = 0;

    do {
        int first = take_number(&s), last = first;

        if (first >= 0 && *s == '-') {
            s++;
            last = take_number(&s);
        }
        if (first < 0 || last < first || (*s && *s != ','))
            return err_usage(e, "--gpus=%.100s: it is to be numbers below %d, as in 0,2-3", text,
                             NODE_FIT_GPUS);
        for (int i = first; i <= last; i++)
            bits |= UINT64_C(1) << i;
    } while (*s++ == ',');
    *ret = bits;
    return 0;
}

static int fetch(const struct app *app, const struct health_opts *o, const char *path,
                 struct str *text, struct err *e)
{
    CLEANUP(str_done) struct str token = STR_INIT(TOKEN_MAX);
    int rc = o->token ? nodes_option_token(o->token, &token, e) : 0;
    const struct near_config config = { .address = o->address,
                                        .port = (unsigned)o->port,
                                        .token = o->token ? str_text(&token) : NULL,
                                        .path = path,
                                        .patience_ns = o->patience_ns,
                                        .clock = app->clock };

    return rc == 0 ? near_ask(text, &config, e) : rc;
}

/* 1: a job would fail on *bad; 0: of no GPU is that known; a negative errno: nobody can tell. */
static int look(const struct app *app, const struct health_opts *o, uint64_t gpus,
                struct node_unfit *bad, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(NODE_FIT_TEXT_MAX);
    int rc = fetch(app, o, "/api/v1/live.json", &text, e);

    return rc == 0 ? node_fit_read(bad, str_text(&text), text.len, gpus,
                                   clock_wall_ns(app->clock) / NS_PER_MS, e)
                   : rc;
}

/* How busy a GPU was; NaN. */
static double busy_of(const struct app *app, const struct health_opts *o, const char *name)
{
    CLEANUP(str_done) struct str text = STR_INIT(NODE_FIT_TEXT_MAX);
    long long seconds = o->last_ns / NS_PER_S;
    char path[256];

    snprintf(path, sizeof(path),
             "/api/v1/series?set=gpu&thing=%s&signal=busy_ratio&seconds=%lld&step=%lld", name,
             seconds, seconds / STEPS + 1);
    return fetch(app, o, path, &text, NULL) == 0 ? node_series_mean(str_text(&text), text.len)
                                                 : (double)NAN;
}

static int add_busy(const struct app *app, const struct health_opts *o, uint64_t gpus,
                    struct str *out, struct err *e)
{
    CLEANUP(str_done) struct str live = STR_INIT(NODE_FIT_TEXT_MAX);
    char name[NODE_SERIES_NAME];
    struct json j = { .out = out };
    int rc = fetch(app, o, "/api/v1/live.json", &live, e);

    if (rc < 0)
        return rc;
    if (o->json) {
        json_object(&j, NULL);
        json_string(&j, "schema", "brim.busy.v1");
        json_array(&j, "gpus");
    }
    for (unsigned i = 0; i < NODE_FIT_GPUS; i++) {
        double busy;

        if (!(gpus >> i & 1) || node_gpu_name(name, str_text(&live), live.len, i) < 0)
            continue;
        busy = busy_of(app, o, name);
        if (o->json) {
            json_object(&j, NULL);
            json_int(&j, "gpu", i);
            json_round(&j, "busy", busy, 4);
            json_end(&j);
        } else if (isnan(busy)) {
            str_addf(out, "GPU %u: not known\n", i);
        } else {
            str_addf(out, "GPU %u: busy %.1f %% of the time\n", i, 100 * busy);
        }
    }
    if (o->json) {
        json_end(&j);
        json_end(&j);
    }
    return 0;
}

static void add_json(int found, const struct node_unfit *bad, const char *unknown, struct str *out)
{
    struct json j = { .out = out };

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.health.v1");
    json_string(&j, "state", found > 0 ? "bad" : found < 0 ? "unknown" : "good");
    if (found > 0)
        json_int(&j, "gpu", bad->gpu);
    else
        json_null(&j, "gpu");
    json_string(&j, "why", found > 0 ? bad->why : found < 0 ? unknown : NULL);
    json_end(&j);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    const struct health_opts *o = values;
    struct node_unfit bad = { .gpu = 0 };
    struct err unknown = { "" };
    uint64_t gpus = UINT64_MAX;
    int found, rc = o->gpus ? read_gpus(o->gpus, &gpus, e) : 0;

    (void)operands;
    if (rc == 0 && !lookup_number(o->address, &(union lookup_address){ .v4 = { 0 } }))
        rc = err_usage(e, "--address %s: this is no address in numbers", o->address);
    if (rc < 0)
        return rc;
    if (o->last_ns) {
        rc = add_busy(app, o, gpus, &out, e);
        return rc == 0 ? cmd_print(&out, o->json, e) : rc;
    }
    found = look(app, o, gpus, &bad, &unknown);
    if (o->json)
        add_json(found, &bad, unknown.text, &out);
    else if (found > 0)
        str_addf(&out, "GPU %u: %s\n", bad.gpu, bad.why);
    else if (found < 0)
        str_addf(&out, "not known: %s\n", unknown.text);
    else
        str_add(&out, "nothing is known for which a job would fail\n");
    rc = cmd_print(&out, o->json, e);
    return rc < 0 ? rc : found > 0 ? EXIT_FAILED : EXIT_OK;
}

const struct cmd cmd_health = {
    .name = "health",
    .args = "",
    .summary = "whether a job would fail on GPUs here, and how busy they were",
    .about =
        "Ask the agent of this machine for what makes any job fail on a GPU: the driver does not\n"
        "reach it, or asks for its reset; its memory is damaged and not replaced yet; it told a\n"
        "fault that only a reset ends (XID 46, 62, 79, 95, 119, 120, 140, 143, 158, 167). The "
        "exit\n"
        "status is 1 for such a GPU, and 0 when there is none or when nobody can tell: a job is\n"
        "not kept away by doubt. --last says how busy they were instead. Slurm's Prolog and "
        "Epilog\n"
        "ask these: see docs/slurm/hooks.md.",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct health_opts),
    .run = run,
};
