/* The node's sentence with runs that go on there: theirs where nothing of the node is at its limit,
 * and the node's own else. */
#include "diagnose/node/run_limit.h"

#include "diagnose/node/live.h"
#include "live_ticks.h"
#include "tap.h"

static const struct given quiet[] = { CPU(0.2, 0), DISK("vda", 0.1, 10, 0.001, 1), END };
static const struct given idle[] = { CPU(0.02, 0), DISK("vda", 0, 0, 0, 0), END };
static const struct given full[] = { CPU(0.2, 0.3), DISK("vda", 0.98, 100, 0.084, 412), END };
static const struct given one_cpu[] = { CPU(0.2, 0), CORE("0", 0.99), CORE("1", 0.02), END };
static const struct given waits[] = { CPU(0.2, 0), GPU("0", 0.1, 1), END };
static const struct given works[] = { CPU(0.2, 0), GPU("0", 0.97, 1), END };
static const struct given nothing[] = { ONE("memory", "", "total_bytes", 1e9), END };

static struct live live;

static void update(const struct given *lines, const struct live_run *runs, size_t n)
{
    struct tick ticks[2] = { { .n_rows = 0 }, { .n_rows = 0 } };

    made_ticks(lines, 1, ticks);
    live_update(&live, &ticks[0], &ticks[1]);
    run_limit(&live, runs, n);
    tick_done(&ticks[0]);
    tick_done(&ticks[1]);
}

static const char *sentence(const struct given *lines, const struct live_run *runs, size_t n)
{
    live = (struct live){ .n_gpus = 0 };
    update(lines, runs, n);
    return live.verdict.sentence;
}

static struct live_run made(const char *id, double share)
{
    struct live_run r = live_run_none;

    live_run_text(r.id, sizeof(r.id), id);
    live_run_text(r.name, sizeof(r.name), id);
    live_run_text(r.user, sizeof(r.user), "alice");
    live_run_text(r.sentence, sizeof(r.sentence), "waits for data");
    live_run_text(r.action, sizeof(r.action), "raise num_workers");
    r.uid = 1000;
    r.share = share;
    r.severity = SEVERITY_CRITICAL;
    r.limited = true;
    return r;
}

static void test_when(void)
{
    const struct live_run run = made("train", 0.93);
    struct live_run content = made("content", 0.93);

    is_str(sentence(quiet, &run, 1), "run train: waits for data",
           "a node that has room says what limits its run");
    is_int(live.verdict.state, LIVE_LIMIT, "a node whose run is limited is at a limit");
    is_int(live.verdict.severity, SEVERITY_CRITICAL, "the severity is the run's");
    is_int(live.verdict.bottleneck, LIVE_NONE, "no stage limits a node whose run is limited");
    is_str(live.verdict.action, "raise num_workers", "the action is the run's");
    is_str(live.verdict.run, "train", "the verdict names the run");
    is_str(sentence(idle, &run, 1), "run train: waits for data",
           "an idle node says what limits its run");
    is_str(sentence(waits, &run, 1), "run train: waits for data",
           "a node whose GPU waits for nothing of it says what limits its run");
    is_str(sentence(one_cpu, &run, 1), "run train: waits for data",
           "a weak cause of the node stands back");
    is_str(sentence(full, &run, 1),
           "storage limits this node: disk vda is 98 % busy and takes 84 ms a request",
           "a full disk says more than the run that waits for it");
    is_str(live.verdict.run, "", "the node's own sentence is no run's");
    ok(strstr(sentence(works, &run, 1), "as it should be"), "a busy GPU says more than a run");
    ok(strstr(sentence(nothing, &run, 1), "nothing is known"),
       "a node of which nothing is known says so");
    content.limited = false;
    ok(strstr(sentence(quiet, &content, 1), "nothing is at its limit"),
       "a run that nothing limits changes nothing");
    ok(strstr(sentence(quiet, NULL, 0), "nothing is at its limit"), "no run changes nothing");
}

static void test_which(void)
{
    struct live_run runs[] = { made("one", 0.80), made("two", 0.85) };

    is_str(sentence(quiet, runs, 2), "run two: waits for data",
           "of two runs the one that it costs most is told");
    runs[0].share = 0.90;
    update(quiet, runs, 2);
    is_str(live.verdict.sentence, "run two: waits for data",
           "the run that was told stays while the other is near it");
    runs[0].share = 0.97;
    update(quiet, runs, 2);
    is_str(live.verdict.sentence, "run one: waits for data",
           "a run that costs clearly more takes over");
    runs[1].uid = 1001;
    update(quiet, runs, 2);
    is_str(live.verdict.sentence, "run one of alice: waits for data",
           "where others run as well it is said whose run it is");
}

int main(void)
{
    test_when();
    test_which();
    return done();
}
