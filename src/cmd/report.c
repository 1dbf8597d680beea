/* brim report: one page of HTML about a run. */
#include "cmd/common/cmd.h"
#include "cmd/common/load_run.h"
#include "diagnose/verdict/judge.h"
#include "render/report/report.h"

struct report_opts {
    const char *output;
};

static const struct opt opts[] = {
    { OPT_STRING, 'o', "output", offsetof(struct report_opts, output), "FILE",
      "write the page to FILE instead of standard output", .file = OPT_PAGE },
    { .kind = OPT_END },
};

static const struct report_opts defaults = { .output = NULL };

/* Load a run, the one before it, and judge. */
static int load(const char *which, struct run *r, struct run *last, struct verdict *v,
                struct err *e)
{
    int rc = load_run(which, r, e);

    if (rc == 0)
        rc = load_run_earlier(r, last, e);
    if (rc < 0)
        return rc;
    return judge_run(r, last->id ? last : NULL, v) < 0 ? err_nomem(e) : 0;
}

static int run(const struct app *app, const void *values, char **operands, struct err *e)
{
    CLEANUP(run_done) struct run r = { .id = NULL };
    CLEANUP(run_done) struct run last = { .id = NULL };
    CLEANUP(verdict_done) struct verdict v = { .count = 0 };
    CLEANUP(str_done) struct str out = STR_INIT(REPORT_MAX);
    const struct report_opts *o = values;
    int rc = load(operands[0], &r, &last, &v, e);

    (void)app;
    if (rc < 0)
        return rc;
    report_html(&r, &v, last.id ? &last : NULL, &out);
    return cmd_print(&out, o->output, e);
}

const struct cmd cmd_report = {
    .name = "report",
    .args = "[RUN]",
    .summary = "one HTML page about a run, with the pictures",
    .about = "Write a page that needs nothing else: what limited the run, what "
             "to do, how its steps\n"
             "and the node changed over time, and what is different from the "
             "last run of its name.\n"
             "Of a run of 'brim optimize' it begins with what was gained; "
             "pictures shade the trials.\n"
             "RUN is an id, the start of one, a name, or a path; the youngest "
             "run without it.",
    .words = CMD_RUNS,
    .opts = opts,
    .defaults = &defaults,
    .size = sizeof(struct report_opts),
    .max_operands = 1,
    .run = run,
};
