/* brim why: what limits a run, what it costs, and what to do next. */
#include <string.h>

#include "base/file.h"
#include "cmd/common/cmd.h"
#include "cmd/common/load_run.h"
#include "cmd/why/card.h"
#include "cmd/why/live.h"
#include "diagnose/verdict/judge.h"

enum { OUTPUT_MAX = 4 << 20, TRACE_MAX = 1 << 30, PID_LIMIT = 1 << 22 /* Linux's */ };

#define STORED UINT64_MAX /* no process: not --live */

struct why_opts {
    const char *json, *trace, *with;
    uint64_t live; /* STORED: a stored run */
    int64_t for_ns;
};

static const struct opt opts[] = {
    CMD_JSON(offsetof(struct why_opts, json)),
    { OPT_STRING, 'w', "with", offsetof(struct why_opts, with), "RUN",
      "compare with this run, not with the last one of the same command" },
    { OPT_STRING, 't', "trace", offsetof(struct why_opts, trace), "FILE",
      "judge a trace of operations (tab-separated) instead of a run" },
    { OPT_UINT, 'l', "live", offsetof(struct why_opts, live), "PID",
      "judge the job of this process, which runs, as it is now", .least = 1, .most = PID_LIMIT },
    { OPT_DURATION, 0, "for", offsetof(struct why_opts, for_ns), "TIME",
      "how long to watch a job that brim run did not start (20s)", .least = 3 * OPT_S,
      .most = OPT_HOUR },
    { .kind = OPT_END },
};

static const struct why_opts defaults = { .live = STORED, .for_ns = 20 * OPT_S };

static int judge_trace(const struct why_opts *o, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(TRACE_MAX);
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    struct op_trace t = { .n_dp = 0 };
    struct straggler s;
    int rc = file_read(o->trace, &text, e);

    if (rc == 0)
        rc = op_trace_load(&t, o->trace, str_text(&text), text.len, e);
    if (rc == 0)
        rc = straggler_judge(&t, &s, e);
    if (rc == 0) {
        (o->json ? why_trace_json : why_trace_card)(&t, &s, &out);
        rc = cmd_print(&out, o->json, e);
    }
    op_trace_done(&t);
    return rc;
}

static int judge(const struct app *app, const struct why_opts *o, const char *which, struct err *e)
{
    CLEANUP(run_done) struct run r = { .id = NULL }, earlier = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(OUTPUT_MAX);
    int rc = load_run(which, &r, e);

    if (rc == 0)
        rc = o->with ? load_run(o->with, &earlier, e) : load_run_earlier(&r, &earlier, e);
    if (rc < 0)
        return rc;
    if (judge_run(&r, earlier.id ? &earlier : NULL, &v) < 0)
        return err_nomem(e);
    if (o->json)
        why_json(&r, &v, NULL, &out);
    else
        why_card(&r, &v, NULL, app->colour, app->columns, &out);
    return cmd_print(&out, o->json, e);
}

static int live(const struct app *app, const struct why_opts *o, char **operands, struct err *e)
{
    struct why_live_opts l = { .json = o->json, .with = o->with, .for_ns = o->for_ns };

    if (operands[0] || o->trace)
        return err_usage(e, "--live takes neither a run nor --trace");
    l.pid = (int)o->live;
    return why_live(app, &l, e);
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    const struct why_opts *o = values;

    if (o->live != STORED)
        return live(app, o, operands, e);
    if (o->trace && (operands[0] || o->with))
        return err_usage(e, "--trace takes neither a run nor --with");
    return o->trace ? judge_trace(o, e) : judge(app, o, operands[0], e);
}

const struct cmd cmd_why = {
    .name = "why",
    .args = "[RUN]",
    .summary = "say what limits a run, what that costs, and what to do next",
    .about =
        "Judge a run: the last one, or that of an id, the start of one, a name, a folder, or a "
        "job\n"
        "of Slurm (job:17).\n"
        "Causes come in order of what they cost, each with what was measured. Of a run of\n"
        "'brim optimize' it begins with what was gained, and causes are of what came after the\n"
        "last setting that was kept. With --live, judge a job that runs: the last minute of it\n"
        "when 'brim run' started it, else what is seen from outside. With --trace, judge a trace\n"
        "of a pipeline-parallel job's operations: who slows it down.",
    .words = CMD_RUNS,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct why_opts),
    .max_operands = 1,
    .run = run,
};
