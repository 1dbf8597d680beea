#include "model/nodes/node_report.h"

#include <errno.h>
#include <math.h>

#include "tap.h"

static const struct live_alert alerts[] = {
    { .name = "room", .severity = "note", .text = "a note is no alert here" },
    { .name = "disk", .severity = "warning", .text = "vda is slow" },
    { .name = "gpu", .severity = "critical", .text = "GPU 3 is \033[31mlost" },
    { .name = "net", .severity = "critical", .text = "another one" },
};

/* Eight accelerators: two idle, one lost, one unknown, four half busy. */
static void make_live(struct live *l)
{
    static const double busy[] = { 0, 0.049, 0.5, 0.5, 0.5, 0.5, (double)NAN, (double)NAN };

    *l = (struct live){ .wall_ns = 1795234118000000000,
                        .verdict = { LIVE_LIMIT, SEVERITY_WARNING, LIVE_STORAGE,
                                     "storage limits this node: \"vda\"", "2.0 of 6 GPUs idle",
                                     "iostat -x 1", "" },
                        .n_gpus = ARRAY_SIZE(busy) };
    for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
        l->gpus[i] = (struct live_gpu){ .busy = busy[i], .lost = i == 7 };
}

static void test_there_and_back(void)
{
    static struct live l;
    const struct live_extra x = { .host = "n1", .alerts = alerts, .n_alerts = 4, .n_runs = 2 };
    CLEANUP(str_done) struct str text = STR_INIT(NODE_REPORT_MAX);
    struct node_report made, r;

    make_live(&l);
    node_report_make(&made, &l, &x);
    node_report_write(&made, &text);
    is_int(str_error(&text), 0, "a report is written");
    is_int(node_report_read(&r, str_text(&text), text.len), 0, "a report is read again");
    is_str(r.host, "n1", "the report has the host");
    is_str(r.version, BRIM_VERSION, "the report has the version of brim");
    is_int(r.time_ms, 1795234118000, "the report has the time of its sample");
    is_int(r.verdict.state, LIVE_LIMIT, "the report has the state");
    is_int(r.verdict.severity, SEVERITY_WARNING, "the report has the severity");
    is_int(r.verdict.bottleneck, LIVE_STORAGE, "the report has the stage");
    is_str(r.verdict.sentence, "storage limits this node: \"vda\"", "the report has the sentence");
    is_str(r.verdict.action, "iostat -x 1", "the report has what to do");
    is_int((int)r.gpus, 6, "accelerators whose business is known are counted");
    is_int((int)r.idle, 2, "accelerators that are busy less than 5 %% are idle");
    is_int((int)r.lost, 1, "accelerators that are lost are counted apart");
    is_int((int)lround(r.gpu_hours * 1000), 4951, "what accelerators lose in an hour is summed up");
    is_int((int)r.critical, 2, "critical alerts are counted");
    is_int((int)r.warnings, 1, "warnings are counted");
    is_str(r.alert, "GPU 3 is ?[31mlost", "the first critical alert is told, without controls");
    is_int((int)r.runs, 2, "runs are counted");
    is_int((int)r.n_busy, 8, "the report has how busy each accelerator is");
    is_int((int)lround(r.busy[1] * 1000), 49, "the second one's share of the time is its own");
    ok(isnan(r.busy[6]) && isnan(r.busy[7]), "one that is lost, or not known, is not idle");
}

/* GPU 2 is to be drained for, GPU 3 is lost and no reason to, as far as its rule says. */
static void test_unfit(void)
{
    static const struct live_alert list[] = {
        { .name = "a", .severity = "critical", .thing = "g3", .text = "another one" },
        { .name = "b",
          .severity = "critical",
          .thing = "g2",
          .text = "GPU 2\nis bad",
          .drain = true },
        { .name = "c", .severity = "critical", .thing = "eth0", .text = "a port", .drain = true },
        { .name = "d", .severity = "critical", .thing = "g5", .text = "GPU 5", .drain = true },
    };
    static const char older[] = "{\"schema\": \"brim.node.v1\", \"unfit\": \"x\"}";
    static const char odd[] = "{\"schema\": \"brim.node.v1\", \"unfit\": \"x\","
                              " \"gpus_faulty\": [16, -1, \"2\", 1e300, 15, 0]}";
    static const char *const names[] = { "g0", "g1", "g2", "g3", "g4", "g5", NULL, "g7" };
    static struct live l;
    const struct live_extra x = { .alerts = list, .n_alerts = ARRAY_SIZE(list) };
    CLEANUP(str_done) struct str text = STR_INIT(NODE_REPORT_MAX);
    struct node_report made, r;

    make_live(&l);
    for (size_t i = 0; i < l.n_gpus; i++)
        l.gpus[i].gpu = names[i];
    node_report_make(&made, &l, &x);
    node_report_write(&made, &text);
    is_int(node_report_read(&r, str_text(&text), text.len), 0, "a report of a bad node is read");
    is_str(r.unfit, "GPU 2?is bad", "the first alert that drains is told, without controls");
    is_int((int)r.faulty, 1 << 2 | 1 << 5, "accelerators with an alert that drains are told");
    ok(r.judged, "this agent tells whether its node is fit");
    is_int(node_report_read(&r, older, sizeof(older) - 1), 0, "an older agent's report is read");
    ok(!r.judged && !*r.unfit, "an older agent does not tell whether its node is fit");
    is_int(node_report_read(&r, odd, sizeof(odd) - 1), 0, "a list of odd accelerators is read");
    is_int((int)r.faulty, 1 << 15 | 1, "what is none of the first 16 accelerators is left out");
}

/* Of runs that say whose job they are: as many as there is room for. */
static void test_runs(void)
{
    static struct live l;
    static struct live_run runs[NODE_REPORT_RUNS + 3];
    const struct live_extra x = { .host = "n1", .runs = runs, .n_runs = ARRAY_SIZE(runs) };
    CLEANUP(str_done) struct str text = STR_INIT(NODE_REPORT_MAX);
    struct node_report made, r;

    make_live(&l);
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        runs[i] = live_run_none;
        runs[i].uid = 1000;
        runs[i].slurm_job = 70 + (uint32_t)i;
        runs[i].limited = true;
        runs[i].share = 0.5;
        runs[i].severity = SEVERITY_CRITICAL;
        memset(runs[i].sentence, '"', LIVE_RUN_SENTENCE - 1);
    }
    runs[0].slurm_job = 0;
    runs[1].uid = -1;
    node_report_make(&made, &l, &x);
    node_report_write(&made, &text);
    is_int(str_error(&text), 0, "a report of as many runs as there is room for is written");
    is_int(node_report_read(&r, str_text(&text), text.len), 0, "a report with runs is read again");
    is_int((int)r.n_jobs, NODE_REPORT_RUNS, "a report has as many runs as there is room for");
    is_int((int)r.jobs[0].job, 72, "a run without a job or an owner is left out");
    is_int((int)r.jobs[0].uid, 1000, "the report has who watches a run");
    ok(r.jobs[0].limited && r.jobs[0].severity == SEVERITY_CRITICAL && r.jobs[0].share == 0.5,
       "the report has how much it costs a run");
    is_int((int)strlen(r.jobs[0].sentence), LIVE_RUN_SENTENCE - 1, "a run's sentence is whole");
}

static void test_runs_of_strangers(void)
{
    static const char text[] =
        "{\"schema\": \"brim.node.v1\", \"slurm_jobs\": [1, {}, {\"job\": 0, \"uid\": 1},"
        "{\"job\": 7}, {\"job\": 4294967296, \"uid\": 1}, {\"job\": 8, \"uid\": -1},"
        "{\"job\": 9, \"uid\": 2, \"limited\": true, \"severity\": 77, \"share\": 3}]}";
    struct node_report r;

    is_int(node_report_read(&r, text, sizeof(text) - 1), 0, "a report with odd runs is read");
    is_int((int)r.n_jobs, 1, "a run whose job or owner is no number is none");
    ok(r.jobs[0].job == 9 && r.jobs[0].severity == SEVERITY_NOTE && isnan(r.jobs[0].share),
       "what is out of range is not known");
    ok(!r.jobs[0].limited, "a run without a sentence is not limited");
}

static void test_busy_of_strangers(void)
{
    static const char text[] = "{\"schema\": \"brim.node.v1\", \"busy\": [1, 1.5, -1, \"0\", 0,"
                               " 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5, 0]}";
    static const char other[] = "{\"schema\": \"brim.node.v1\", \"busy\": {\"a\": 0}}";
    struct node_report r;

    is_int(node_report_read(&r, text, sizeof(text) - 1), 0, "a report of 18 accelerators is read");
    is_int((int)r.n_busy, NODE_REPORT_GPUS, "the first 16 of 18 accelerators are told apart");
    ok(r.busy[0] == 1 && isnan(r.busy[1]) && isnan(r.busy[2]) && isnan(r.busy[3]) && r.busy[4] == 0,
       "what is no share of the time is not known");
    is_int(node_report_read(&r, other, sizeof(other) - 1), 0, "an object for a list is read");
    is_int((int)r.n_busy, 0, "an object is no list of accelerators");
}

/* Which alert is told: the first critical one, else the first warning. */
static void test_alert(void)
{
    static const struct {
        size_t n, which[3]; /* of the alerts above */
        const char *want;
    } cases[] = {
        { 0, { 0 }, "" },
        { 1, { 0 }, "" },
        { 2, { 1, 0 }, "vda is slow" },
        { 2, { 2, 0 }, "GPU 3 is ?[31mlost" },
        { 2, { 2, 1 }, "GPU 3 is ?[31mlost" },
        { 3, { 1, 3, 2 }, "another one" },
        { 3, { 3, 2, 1 }, "another one" },
    };
    static struct live l;

    make_live(&l);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct live_alert list[3];
        const struct live_extra x = { .alerts = list, .n_alerts = cases[i].n };
        struct node_report r;

        for (size_t k = 0; k < cases[i].n; k++)
            list[k] = alerts[cases[i].which[k]];
        node_report_make(&r, &l, &x);
        is_str(r.alert, cases[i].want, "of list %zu of alerts one is told", i);
        is_str(r.host, "", "a host without a name has none");
    }
}

static int read_text(struct node_report *r, const char *text)
{
    return node_report_read(r, text, strlen(text));
}

static void test_hostile(void)
{
    CLEANUP(str_done) struct str large = STR_INIT(1 << 20);
    struct node_report r;

    is_int(read_text(&r, ""), -EINVAL, "an empty text is no report");
    is_int(read_text(&r, "<html>"), -EINVAL, "a page is no report");
    is_int(read_text(&r, "[]"), -EINVAL, "an array is no report");
    is_int(read_text(&r, "{\"schema\":\"brim.live.v1\"}"), -EINVAL,
           "another answer of an agent is no report");
    is_int(read_text(&r, "{\"schema\":\"brim.node.v2\"}"), -EPROTONOSUPPORT,
           "a report of another version is told apart");
    is_int(read_text(&r, "{\"schema\":\"brim.node.v1\"}"), 0,
           "a report may lack all but its schema");
    ok(isnan(r.gpus) && isnan(r.gpu_hours) && isnan(r.critical), "what is missing is not known");
    is_int(r.verdict.state, LIVE_UNKNOWN, "a state that is missing is not known");
    is_int(r.verdict.bottleneck, LIVE_NONE, "a stage that is missing is none");
    is_int(read_text(&r, "{\"schema\":\"brim.node.v1\",\"gpus\":-1,\"gpus_idle\":1e300,"
                         "\"gpus_lost\":\"8\",\"time_ms\":1e99,\"state\":7,\"bottleneck\":\"x\","
                         "\"severity\":\"worst\",\"sentence\":[1]}"),
           0, "a report with members of other kinds is read");
    ok(isnan(r.gpus) && isnan(r.idle) && isnan(r.lost), "numbers out of range are not known");
    is_int(r.time_ms, 0, "a time out of range is not told");
    is_int(r.verdict.severity, SEVERITY_NOTE, "a severity that there is not is a note");
    is_str(r.verdict.sentence, "", "a sentence that is no text is empty");
    str_add(&large, "{\"schema\":\"brim.node.v1\",\"sentence\":\"");
    str_fill(&large, 'x', 4096);
    str_add(&large, "\"}");
    is_int(node_report_read(&r, str_text(&large), large.len), 0, "a long sentence is read");
    is_int(strlen(r.verdict.sentence), LIVE_TEXT - 1, "a long sentence is cut");
    str_fill(&large, ' ', NODE_REPORT_MAX - (int)large.len);
    is_int(node_report_read(&r, str_text(&large), large.len), 0, "a text at the ceiling is read");
    str_add_char(&large, ' ');
    is_int(node_report_read(&r, str_text(&large), large.len), -EINVAL,
           "a text above the ceiling is not looked at");
}

int main(void)
{
    test_runs();
    test_runs_of_strangers();
    test_there_and_back();
    test_unfit();
    test_busy_of_strangers();
    test_alert();
    test_hostile();
    return done();
}
