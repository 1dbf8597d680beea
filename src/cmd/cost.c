/* brim cost: who used what, what it cost, and what of it was wasted. */
#include "cmd/cost/cost.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "cmd/common/cmd.h"
#include "trace/unpack.h"

enum { TEXT_MAX = 1 << 30, OUTPUT_MAX = 256 << 20, FILES = 64 };

struct cost_opts {
    bool csv, runs;
    const char *json, *by;
    int64_t since_ns;
    struct device_price_opts rates;
};

/* In the order of enum ledger_by. */
static const char *const by[] = { "user", "team", "project", "job", NULL };

static const struct opt opts[] = {
    { OPT_CHOICE, 'b', "by", offsetof(struct cost_opts, by), "WHAT", "a line for each of these",
      .choices = by },
    { OPT_DURATION, 's', "since", offsetof(struct cost_opts, since_ns), "TIME",
      "only jobs that began since then (30d)" },
    { OPT_FLAG, 'r', "runs", offsetof(struct cost_opts, runs), NULL,
      "the runs that brim keeps, too (without files they are all there is)" },
    RATE_GPU(struct cost_opts, "what devices are where nobody says"),
    RATE_PRICE(struct cost_opts),
    RATE_POWER(struct cost_opts, "watts of a device where none were measured (else its TDP)"),
    CMD_JSON(offsetof(struct cost_opts, json)),
    { OPT_FLAG, 0, "csv", offsetof(struct cost_opts, csv), NULL, "print a table of commas" },
    { .kind = OPT_END },
};

static const struct cost_opts defaults = { .by = "user" };

/* ---- sources ---- */

static bool files_wanted(char **files, bool runs)
{
    (void)runs;
    return files[0] != NULL;
}

static bool runs_wanted(char **files, bool runs)
{
    return runs || !files[0];
}

static int read_files(struct ledger *l, char **files, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    int rc = 0;

    for (; *files && rc == 0; files++) {
        rc = unpack_read(*files, "brim cost", &text, e);
        if (rc == 0)
            rc = ledger_read(l, file_input_name(*files), str_text(&text), text.len, e);
    }
    return rc;
}

static const struct cost_source sources[] = {
    { "files", files_wanted, read_files },
    { "runs", runs_wanted, cost_runs_read },
};

/* ---- what jobs cost ---- */

/* Where nobody measured energy: what such devices draw, by how busy they were. */
static double guess_kwh(const struct ledger_job *j, const struct rate *x)
{
    double hours = ledger_device_hours(j);

    if (isnan(j->busy) || isnan(x->idle_w))
        return hours * x->busy_w / 1e3;
    return hours * (j->busy * x->busy_w + (1 - j->busy) * x->idle_w) / 1e3;
}

static int price(struct ledger *l, struct device_prices *rates, struct err *e)
{
    for (size_t i = 0; i < l->n; i++) {
        struct ledger_job *j = &l->jobs[i];
        int row = device_prices_row(rates, j->kind, e);

        if (row < 0)
            return row;
        j->usd = ledger_device_hours(j) * rates->rows[row].usd_per_hour;
        j->kwh_guess = isnan(j->kwh) ? guess_kwh(j, &rates->rows[row]) : j->kwh;
    }
    return 0;
}

/* Drop those that began before a time; those that nobody dated stay. */
static void keep_since(struct ledger *l, int64_t since_s)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i].begin_s == 0 || l->jobs[i].begin_s >= since_s)
            l->jobs[n++] = l->jobs[i];
    l->n = n;
}

static int load(const struct app *app, struct ledger *l, const struct cost_opts *o, char **files,
                struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < ARRAY_SIZE(sources) && rc == 0; i++)
        if (sources[i].wanted(files, o->runs))
            rc = sources[i].read(l, files, e);
    if (o->since_ns > 0)
        keep_since(l, (clock_wall_ns(app->clock) - o->since_ns) / NS_PER_S);
    return rc;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct cost_opts *o = values;
    CLEANUP(ledger_done) struct ledger l = { .n = 0 };
    CLEANUP(device_prices_done) struct device_prices rates = { .n = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct cost_report report = { .ledger = &l, .rates = &rates, .by_name = o->by };
    int rc = o->json && o->csv ? err_usage(e, "--json and --csv: give one of them")
                               : device_prices_open(&rates, &o->rates, e);

    while (strcmp(by[report.by], o->by) != 0)
        report.by++;
    if (rc == 0)
        rc = load(app, &l, o, operands, e);
    if (rc == 0)
        rc = price(&l, &rates, e);
    if (rc == 0)
        rc = o->json  ? cost_show_json(&report, &out, e)
             : o->csv ? cost_show_csv(&report, &out, e)
                      : cost_show_text(&report, &out, e);
    return rc < 0 ? rc : cmd_print(&out, o->json, e);
}

const struct cmd cmd_cost = {
    .name = "cost",
    .args = "[FILE|-]...",
    .summary = "who used what, what it cost, and what was wasted",
    .about =
        "Sums up device-hours, energy and money by user, team, project or job, and says what was\n"
        "wasted by what. FILE is accounting (sacct --parsable2), brim's own table or a trace;\n"
        "without one it is about the runs that brim keeps.\n"
        "  sacct -a --parsable2 -S 2026-11-01 --format=JobIDRaw,User,Account,WCKey,Partition,\\\n"
        "State,Start,ElapsedRaw,AllocTRES,ConsumedEnergyRaw,TRESUsageInAve | brim cost -",
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct cost_opts),
    .max_operands = FILES,
    .run = run,
};
