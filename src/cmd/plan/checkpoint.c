/* brim plan checkpoint: how often to save, and what failures cost. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/parse.h"
#include "cmd/plan/job.h"
#include "failures_csv.h"
#include "plan/cluster/failures.h"
#include "model/signal/quantity.h"
#include "plan/search/checkpoint.h"

enum { OUTPUT_MAX = 1 << 20, WORD_MAX = 32, SIZES = 16, SPAN = 32 };

static const char usual_cluster[] = "8xH100-SXM";
/* Into pinned memory of the host, over a PCIe 4 link of 31 GB/s or a better one. */
static const double copy_rate = 25e9;
static const double usual_restart_s = 600, shortest_s = 1e-3;
static const int sizes[] = { 64, 256, 1024, 4096, 16384, 32768 };

struct asked {
    char model[SHAPE_NAME]; /* "": only its state is known */
    double state_b, storage, restart_s, stall_s, every_s;
    double node_mtbf_s;
    int gpus, node_gpus;
    bool async, stall_said;
    char why[256]; /* where the failure rate is from */
};

struct row {
    int gpus;
    double mtbf_s;
    struct checkpoint_cost cost;
    struct checkpoint_interval interval;
    struct checkpoint_share share;
};

/* ---- what is asked ---- */

/* "100GB/s", "2TB": a number, an optional unit of bytes, and '/s' or nothing behind it. */
static int read_bytes(const char *option, const char *text, double *ret, struct err *e)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = { { "TB", 1e12 },     { "GB", 1e9 },     { "MB", 1e6 }, { "TiB", 1099511627776. },
                  { "GiB", 1 << 30 }, { "MiB", 1 << 20 } };
    size_t len = strcspn(text, "TGM");
    const char *rest = text + len;
    char word[WORD_MAX];

    for (size_t i = 0; i < ARRAY_SIZE(units) && len < sizeof(word); i++) {
        size_t n = strlen(units[i].unit);

        if (strncmp(rest, units[i].unit, n) || (rest[n] && strcmp(rest + n, "/s")))
            continue;
        memcpy(word, text, len);
        word[len] = '\0';
        if (parse_double(word, ret) < 0 || !(*ret > 0) || *ret * units[i].bytes > 1e21)
            break;
        *ret *= units[i].bytes;
        return 0;
    }
    return err_usage(e, "--%s is a number of bytes above 0, such as %s, not '%.40s'", option,
                     strcmp(option, "state") ? "100GB/s" : "2TB", text);
}

static int read_span(const char *option, const char *text, bool none, double *ret, struct err *e)
{
    int64_t ns = 0;

    if (!text)
        return 0;
    if (parse_duration_ns(text, &ns) < 0 || ns < 0 || (ns == 0 && !none))
        return err_usage(e, "--%s is a duration%s, such as 30s, 10m or 50d, not '%.40s'", option,
                         none ? "" : " above 0", text);
    *ret = clock_seconds(ns);
    return 0;
}

static int read_state(const struct plan_opts *o, const char *model, struct asked *a, struct err *e)
{
    struct plan_ask ask = { .count_only = true };
    struct plan_opts given = *o;
    int rc;

    if (o->state && model)
        return err_usage(e, "a model and --state say the same: give one of them");
    if (!o->state && !model)
        return err_usage(e, "name a model, or say what is saved: --state=2TB");
    given.cluster = o->cluster ? o->cluster : usual_cluster;
    if (!o->batch_tokens && !o->batch)
        given.batch = 1;
    /* The cluster is read by the same rules without a model, too. */
    rc = plan_ask_read(&given, model ? model : "Llama-3.1-8B", &ask, e);
    if (rc == 0) {
        if (model)
            memcpy(a->model, ask.job.shape.name, sizeof(a->model));
        a->state_b = checkpoint_state_b(ask.parameters);
        a->gpus = ask.cluster.nodes * ask.cluster.per_node;
        a->node_gpus = ask.cluster.per_node;
        a->node_mtbf_s = ask.cluster.mtbf_s / ask.cluster.per_node; /* NaN: not said */
    }
    plan_ask_done(&ask);
    if (rc == 0 && o->state)
        rc = read_bytes("state", o->state, &a->state_b, e);
    return rc;
}

static int read_gpus(const struct plan_opts *o, struct asked *a, struct err *e)
{
    if (!o->gpus && !o->cluster)
        return err_usage(e, "say on how many GPUs: --gpus=1024, or --cluster=128x8xH100");
    if (o->gpus)
        a->gpus = (int)o->gpus;
    return 0;
}

static int read_rate(const struct plan_opts *o, struct asked *a, struct err *e)
{
    CLEANUP(failures_done) struct failures f = { .n_rows = 0 };
    const struct failure_row *row;
    int rc;

    if (o->mtbf_node || (a->node_mtbf_s > 0 && !o->failures)) {
        if (o->mtbf_node && o->failures)
            return err_usage(e, "--mtbf-node and --failures say the same: give one of them");
        return read_span("mtbf-node", o->mtbf_node, false, &a->node_mtbf_s, e);
    }
    rc = failures_load(&f, (const char *)data_failures_csv, data_failures_csv_len, e);
    if (rc < 0)
        return rc;
    row = f.rows;
    if (o->failures)
        rc = err_usage_of(failures_find(&f, o->failures, &row, e));
    if (rc == ERR_USAGE)
        err_context(e, rc, "--failures: ");
    if (rc < 0)
        return rc;
    a->node_mtbf_s = row->node_mtbf_s * row->node_gpus / a->node_gpus;
    snprintf(a->why, sizeof(a->why), "failures as often as in %s (%s), %s", row->name, row->source,
             row->notes);
    return 0;
}

static int read_spans(const struct plan_opts *o, struct asked *a, struct err *e)
{
    int rc = read_span("restart", o->restart, true, &a->restart_s, e);

    if (rc == 0)
        rc = read_span("stall", o->stall, false, &a->stall_s, e);
    if (rc == 0)
        rc = read_span("every", o->every, false, &a->every_s, e);
    if (rc == 0 && o->stall && !o->async)
        rc = err_usage(e, "--stall is what an asynchronous save makes training wait: add "
                          "--async");
    return rc;
}

static int read_asked(const struct plan_opts *o, const char *model, struct asked *a, struct err *e)
{
    int rc = read_state(o, model, a, e);

    if (rc == 0)
        rc = read_gpus(o, a, e);
    if (rc)
        return rc;
    if (!o->storage)
        return err_usage(e, "say how fast the storage takes it: --storage=100GB/s");
    rc = read_bytes("storage", o->storage, &a->storage, e);
    if (rc == 0)
        rc = read_rate(o, a, e);
    a->restart_s = usual_restart_s;
    a->async = o->async;
    a->stall_said = o->stall;
    return rc ? rc : read_spans(o, a, e);
}

/* ---- figures ---- */

static struct row make_row(const struct asked *a, int gpus)
{
    double save = fmax(a->state_b / a->storage, shortest_s);
    struct row r = { .gpus = gpus,
                     .mtbf_s = a->node_mtbf_s / gpus * a->node_gpus,
                     .cost = { .stall_s = save, .restart_s = a->restart_s } };

    if (a->async) {
        r.cost.stall_s = a->stall_said ? a->stall_s
                                       : fmax(a->state_b / gpus / copy_rate, shortest_s);
        r.cost.write_s = save;
    }
    r.interval = checkpoint_interval(&r.cost, r.mtbf_s);
    r.share = checkpoint_share(&r.cost, r.mtbf_s, r.interval.best_s);
    return r;
}

/* ---- text ---- */

/* "57 s", "18 min", "3.1 h", "12 d": three digits at most. */
static const char *span(double s, char buf[SPAN])
{
    double value = s;
    const char *unit = "s";

    if (s >= 86400 * 2) {
        value = s / 86400;
        unit = "d";
    } else if (s >= 3600) {
        value = s / 3600;
        unit = "h";
    } else if (s >= 120) {
        value = s / 60;
        unit = "min";
    }
    snprintf(buf, SPAN, "%.*f %s", value < 0.1 ? 3 : value < 10 ? 1 : 0, value, unit);
    return buf;
}

static void add_sentence(struct str *out, const struct asked *a, const struct row *r)
{
    char one[SPAN], two[SPAN];

    if (*a->model)
        str_addf(out, "%s on %d GPUs: ", a->model, a->gpus);
    else
        str_addf(out, "%d GPUs: ", a->gpus);
    str_addf(out, "save every %s, and %.1f %% of the time trains\n", span(r->interval.best_s, one),
             100 * r->share.useful);
    str_addf(out, "  a save of %s TB at %s GB/s takes %s",
             quantity_number(a->state_b / 1e12, 3).text, quantity_number(a->storage / 1e9, 4).text,
             span(a->state_b / a->storage, one));
    if (a->async)
        str_addf(out, ", of which training waits %s", span(r->cost.stall_s, two));
    str_addf(out, "; a failure comes every %s and costs %s\n", span(r->mtbf_s, one),
             span(r->cost.restart_s, two));
    str_addf(out,
             "  of the rest, %.1f %% is saving, %.1f %% is done again, %.1f %% is restarting\n",
             100 * r->share.saving, 100 * r->share.repeated, 100 * r->share.restart);
    if (r->interval.by_storage)
        str_add(out, "  storage is the limit: a save must be whole before the next one begins\n");
    if (a->every_s > 0) {
        double now = checkpoint_share(&r->cost, r->mtbf_s, a->every_s).useful;

        str_addf(out, "  every %s it is %.1f %%: %.1f points less\n", span(a->every_s, one),
                 100 * now, 100 * (r->share.useful - now));
    }
}

static void add_table(struct str *out, const struct row *rows, int n)
{
    char mtbf[SPAN], best[SPAN], wait[SPAN], young[SPAN], daly[SPAN];

    str_addf(out, "\n%8s %14s %12s %12s %10s %12s %12s\n", "GPUs", "failure every", "save every",
             "waits for it", "useful", "Young says", "Daly");
    for (int i = 0; i < n; i++) {
        const struct row *r = &rows[i];

        str_addf(out, "%8d %14s %12s %12s %8.1f %% %12s %12s\n", r->gpus, span(r->mtbf_s, mtbf),
                 span(r->interval.best_s, best), span(r->cost.stall_s, wait), 100 * r->share.useful,
                 span(r->interval.young_s, young), span(r->interval.daly_s, daly));
    }
}

static void add_text(struct str *out, const struct asked *a, const struct row *one,
                     const struct row *rows, int n)
{
    add_sentence(out, a, one);
    add_table(out, rows, n);
    if (*a->why)
        str_addf(out, "\nassumed: %s\n", a->why);
    if (a->async && !a->stall_said)
        str_addf(out, "%sassumed: each GPU copies its share into the host's memory at %.0f GB/s\n",
                 *a->why ? "" : "\n", copy_rate / 1e9);
}

/* ---- JSON ---- */

static void json_row(struct json *j, const char *key, const struct row *r)
{
    json_object(j, key);
    json_int(j, "gpus", r->gpus);
    json_number(j, "mtbf_s", r->mtbf_s, 6);
    json_number(j, "stall_s", r->cost.stall_s, 6);
    json_number(j, "write_s", r->cost.write_s, 6);
    json_number(j, "interval_s", r->interval.best_s, 6);
    json_number(j, "young_s", r->interval.young_s, 6);
    json_number(j, "daly_s", r->interval.daly_s, 6);
    json_bool(j, "by_storage", r->interval.by_storage);
    json_number(j, "useful", r->share.useful, 6);
    json_number(j, "saving", r->share.saving, 6);
    json_number(j, "repeated", r->share.repeated, 6);
    json_number(j, "restarting", r->share.restart, 6);
    json_end(j);
}

static void add_json(struct str *out, const struct asked *a, const struct row *one,
                     const struct row *rows, int n)
{
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.plan.checkpoint.v1");
    json_string(&j, "model", *a->model ? a->model : NULL);
    json_round(&j, "state_b", a->state_b, 0);
    json_round(&j, "storage_b_s", a->storage, 0);
    json_number(&j, "node_mtbf_s", a->node_mtbf_s, 6);
    json_number(&j, "restart_s", a->restart_s, 6);
    json_bool(&j, "async", a->async);
    json_row(&j, "asked", one);
    if (a->every_s > 0) {
        json_number(&j, "every_s", a->every_s, 6);
        json_number(&j, "every_useful",
                    checkpoint_share(&one->cost, one->mtbf_s, a->every_s).useful, 6);
    }
    json_array(&j, "sizes");
    for (int i = 0; i < n; i++)
        json_row(&j, NULL, &rows[i]);
    json_end(&j);
    json_string(&j, "assumed", a->why);
    json_end(&j);
}

/* ---- the command ---- */

static int run(const struct app *app, const struct plan_opts *o, char **operands, struct err *e)
{
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct asked a = { .gpus = 0 };
    struct row one, rows[SIZES];
    int n = 0, rc;
    bool placed = false;

    (void)app;
    if (operands[0] && operands[1])
        return err_usage(e, "one model at a time, not '%.40s' too", operands[1]);
    rc = read_asked(o, operands[0], &a, e);
    if (rc)
        return rc;
    one = make_row(&a, a.gpus);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        if (!placed && a.gpus <= sizes[i]) {
            rows[n++] = one;
            placed = true;
        }
        if (sizes[i] != a.gpus)
            rows[n++] = make_row(&a, sizes[i]);
    }
    if (!placed)
        rows[n++] = one;
    if (o->json)
        add_json(&out, &a, &one, rows, n);
    else
        add_text(&out, &a, &one, rows, n);
    return cmd_print(&out, o->json, e);
}

const struct plan_command plan_checkpoint = {
    "checkpoint",
    "[MODEL]",
    "how often to save so that failures cost least",
    run,
};
