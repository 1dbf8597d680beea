/* What is told of a run that goes on: written and read back, from hostile hands, with no memory. */
#include "model/verdict/live_run.h"

#include <errno.h>
#include <math.h>

#include "oom.h"
#include "tap.h"

static struct live_run made(void)
{
    struct live_run r = live_run_none;

    live_run_text(r.id, sizeof(r.id), "20261125-101112-ab12");
    live_run_text(r.name, sizeof(r.name), "train.py \"big\"");
    live_run_text(r.user, sizeof(r.user), "alice");
    live_run_text(r.cause, sizeof(r.cause), "few-workers");
    live_run_text(r.sentence, sizeof(r.sentence), "the loader has one worker");
    live_run_text(r.trying, sizeof(r.trying), "loader.workers=4 instead of 1");
    r.slurm_job = 4294967290;
    r.since_ms = 1795619506444;
    r.ranks = 8;
    r.steps = 1200;
    r.steps_per_s = 31.25;
    r.split[BRIM_STAGE_WAIT] = 0.93;
    r.share = 0.93;
    r.severity = SEVERITY_CRITICAL;
    r.limited = true;
    return r;
}

static int read_back(const struct str *text, struct live_run *r)
{
    return live_run_read(r, str_text(text), text->len);
}

static void test_there_and_back(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIVE_RUN_FILE);
    const struct live_run r = made();
    struct live_run back;

    live_run_write(&r, &text);
    is_int(str_error(&text), 0, "a run is written");
    ok(!strchr(str_text(&text), '\n'), "a run is one line");
    is_int(read_back(&text, &back), 0, "a run is read back");
    is_str(back.id, r.id, "the id is read back");
    is_str(back.name, r.name, "a name with quotes is read back");
    is_str(back.user, "alice", "the user is read back");
    is_str(back.cause, "few-workers", "the cause is read back");
    is_str(back.sentence, r.sentence, "the sentence is read back");
    is_str(back.action, "", "an action that there is not is empty");
    is_str(back.trying, r.trying, "what is on trial is read back");
    is_int(back.slurm_job, 4294967290, "the number of Slurm's job is read back");
    is_int(back.since_ms, r.since_ms, "the time of its start is read back");
    is_int(back.uid, -1, "the owner's number is not of the text");
    ok(back.steps_per_s == 31.25 && back.steps == 1200 && back.ranks == 8,
       "steps, their rate and ranks are read back");
    ok(back.split[BRIM_STAGE_WAIT] == 0.93 && isnan(back.split[BRIM_STAGE_COPY]),
       "shares are read back, absent ones as absent");
    ok(back.limited && back.severity == SEVERITY_CRITICAL, "the severity is read back");
}

/* Whose processes are the run's: what the text says counts for its owner's processes alone. */
static void test_processes(void)
{
    static const char text[] = "{\"schema\":\"brim.live_run.v1\",\"id\":\"a\",\"name\":\"b\","
                               "\"pid_space\":4026531836,\"pids\":[70,-1,12,\"x\",0,1e30,4711]}";
    CLEANUP(str_done) struct str many = STR_INIT(LIVE_RUN_FILE);
    struct live_run r = live_run_none;

    is_int(live_run_read(&r, text, strlen(text)), 0, "a run with processes is read");
    is_int((long long)r.n_pids, 3, "what is no number of a process is left out");
    is_int((long long)r.pid_space, 4026531836, "the namespace of the numbers is read");
    ok(!live_run_has(&r, 12, 1000), "a run whose owner is not known has no process");
    r.uid = 1000;
    ok(live_run_has(&r, 12, 1000) && live_run_has(&r, 70, 1000) && live_run_has(&r, 4711, 1000),
       "a run has the processes that its text names, in any order");
    ok(!live_run_has(&r, 13, 1000), "a run has no process that its text does not name");
    ok(!live_run_has(&r, 12, 1001), "a run has no process of another user");
    ok(!live_run_has(&r, ((uint64_t)1 << 32) + 12, 1000), "a number too large is no process's");
    r.uid = 0;
    ok(live_run_has(&r, 12, 1000), "a run of root's has processes of other users");
    r.n_pids = LIVE_RUN_PIDS;
    for (size_t i = 0; i < LIVE_RUN_PIDS; i++)
        r.pids[i] = 4190000 + (uint32_t)i;
    live_run_write(&r, &many);
    is_int(str_error(&many), 0, "a run with as many processes as it may have is written");
    is_int(live_run_read(&r, str_text(&many), many.len), 0, "a run with many processes is read");
    is_int((long long)r.n_pids, LIVE_RUN_PIDS, "all processes of a run are read back");
    is_int((long long)r.pid_space, 4026531836, "the namespace of the numbers is read back");
}

#define HEAD "{\"schema\":\"brim.live_run.v1\",\"id\":\"a\",\"name\":\"b\""

static void test_hostile(void)
{
    static const char *const bad[] = {
        "",
        "x",
        "[]",
        "{}",
        "{\"schema\":\"brim.live_run.v1\"}",
        "{\"schema\":3,\"id\":\"a\"}",
        "{\"schema\":\"brim.live.v1\",\"id\":\"a\",\"name\":\"b\"}",
        "{\"schema\":\"brim.live_run.v1\",\"id\":\"a\",\"name\":\"\"}",
        HEAD,
    };
    static const char wild[] = HEAD
        ",\"steps\":-1,\"ranks\":\"8\",\"steps_per_s\":1e300,\"share\":7,\"severity\":99,"
        "\"limited\":true,\"since_ms\":-5,\"slurm_job\":4294967296,\"split\":[2,0.5,null,{}],"
        "\"action\":[1],"
        "\"trying\":\"a\\u001b[31m\\u009b1m\\nb\"}";
    static const char many[] = HEAD ",\"split\":[0,0,0,0,0,0,0,0,0,0,0,1]}";
    CLEANUP(str_done) struct str text = STR_INIT(1 << 16);
    struct live_run r = live_run_none;

    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        is_int(live_run_read(&r, bad[i], strlen(bad[i])), -EINVAL, "text %zu is no run", i);
    is_str(r.id, "", "nothing is set by what is no run");
    is_int(live_run_read(&r, wild, strlen(wild)), 0, "a run of wild numbers is read");
    ok(isnan(r.steps) && isnan(r.ranks) && isnan(r.steps_per_s) && isnan(r.share) &&
           isnan(r.split[0]) && r.split[1] == 0.5 && isnan(r.split[2]) && isnan(r.split[3]),
       "numbers out of range are absent");
    is_int(r.severity, SEVERITY_NOTE, "a severity that there is not is a note");
    ok(!r.limited, "a run without a sentence is not limited");
    is_int(r.since_ms, 0, "a time before 1970 is not known");
    is_str(r.action, "", "an action that is no text is empty");
    is_str(r.trying, "a?[31m?1m?b", "what a terminal acts upon is made harmless");
    is_int(live_run_read(&r, many, strlen(many)), 0, "stages beyond the last are passed over");
    str_add(&text, HEAD);
    str_fill(&text, ' ', LIVE_RUN_FILE);
    str_add(&text, "}");
    is_int(read_back(&text, &r), -EINVAL, "a text that is too long is no run");
}

/* The greatest numbers that are taken, and what is above them. */
static void test_greatest(void)
{
    static const char most[] = HEAD ",\"steps\":1000000000000000,\"ranks\":1000000000000001,"
                                    "\"steps_per_s\":1000000000000,"
                                    "\"samples_per_s\":1000000000001,\"share\":1,"
                                    "\"since_ms\":1000000000000000,\"severity\":3}";
    struct live_run r = live_run_none;

    is_int(live_run_read(&r, most, strlen(most)), 0, "a run of great numbers is read");
    ok(r.steps > 0.9e15 && isnan(r.ranks), "counts are known up to 10^15");
    ok(r.steps_per_s > 0.9e12 && isnan(r.samples_per_s), "rates are known up to 10^12");
    ok(r.share > 0.99 && r.since_ms == 1000000000000000, "a whole share and a late time are known");
    is_int(r.severity, SEVERITY_CRITICAL, "the greatest severity is known");
}

static void test_text(void)
{
    char to[6];

    live_run_text(to, sizeof(to), "ab\xc3\xb6\xc3\xb6");
    is_str(to, "ab\xc3\xb6", "a text is cut at a whole character");
    live_run_text(to, sizeof(to),
                  "a\xff"
                  "b");
    is_str(to, "a?b", "a byte that is no character is a question mark");
    live_run_text(to, sizeof(to), "abcdefgh");
    is_str(to, "abcde", "a long text is cut");
}

static void test_worst(void)
{
    struct live_run runs[4];

    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        runs[i] = made();
    ok(!live_run_worst(runs, 0, ""), "of no runs none is the worst");
    runs[0].limited = runs[1].limited = runs[2].limited = runs[3].limited = false;
    ok(!live_run_worst(runs, 4, ""), "of runs that nothing limits none is the worst");
    runs[1].limited = runs[2].limited = runs[3].limited = true;
    runs[1].severity = SEVERITY_WARNING;
    runs[2].share = 0.5;
    ok(live_run_worst(runs, 4, "") == &runs[3], "the severe one that costs most is the worst");
    live_run_text(runs[2].id, sizeof(runs[2].id), "before");
    ok(live_run_worst(runs, 4, "before") == &runs[3], "a run that costs clearly more takes over");
    runs[2].share = 0.86;
    ok(live_run_worst(runs, 4, "") == &runs[3], "the run that costs a little more is the worst");
    ok(live_run_worst(runs, 4, "before") == &runs[2], "the run that was told before stays");
    runs[3].share = (double)NAN;
    ok(live_run_worst(runs, 4, "") == &runs[2], "a share that is not known counts least");
    ok(live_run_worst(runs, 2, "") == &runs[1], "a warning is the worst where there is no more");
    runs[0].limited = true;
    ok(live_run_worst(runs, 2, "") == &runs[0], "the first run may be the worst");
    runs[1] = runs[0];
    ok(live_run_worst(runs, 2, "") == &runs[0], "of runs that are alike the first is the worst");
}

static void test_oom(void)
{
    CLEANUP(str_done) struct str text = STR_INIT(LIVE_RUN_FILE);
    const struct live_run r = made();
    struct live_run back;
    int rounds = 0, rc;

    live_run_write(&r, &text);
    do {
        back = live_run_none;
        oom_at = ++rounds;
        oom_count = 0;
        rc = read_back(&text, &back);
        oom_at = 0;
        ok(rc == 0 ? back.id[0] : rc == -ENOMEM && !back.id[0],
           "reading with allocation %d failing is whole or not at all: %d", rounds, rc);
    } while (rc < 0);
}

int main(void)
{
    test_there_and_back();
    test_processes();
    test_hostile();
    test_greatest();
    test_text();
    test_worst();
    test_oom();
    return done();
}
