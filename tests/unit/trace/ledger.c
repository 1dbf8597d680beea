/* Jobs of a ledger: what is read, what sums come to, allocations that fail. */
#include <errno.h>
#include <math.h>

#include "base/str.h"
#include "oom.h"
#include "oom_arena.h"
#include "tap.h"
#include "trace/ledger.h"

#define HEAD \
    "JobIDRaw|User|Account|State|Start|ElapsedRaw|AllocTRES|ConsumedEnergyRaw|TRESUsageInAve\n"

static const char sacct[] = HEAD
    "1|ann|vision|COMPLETED|2026-11-02T10:00:00|7200|gres/gpu:h100=4,gres/gpu=4|7200000|\n"
    "1.batch||||2026-11-02T10:00:00|3600|gres/gpu=4||gres/gpumem=1G,gres/gpuutil=50\n"
    "1.0||||2026-11-02T11:00:00|1800|gres/gpu=4||gres/gpuutil=100\n"
    "12.0||||2026-11-02T11:00:00|1800|gres/gpu=4||gres/gpuutil=100\n"
    "2|bob|text|CANCELLED by 7|2026-11-02T10:00:00|3600|gres/gpu=2|0|\n"
    "3|bob|text|PENDING|Unknown|0|gres/gpu=2||\n"
    "4|bob|text|COMPLETED|2026-11-02T10:00:00|3600|cpu=2||\n"
    "5|bob|text|COMPLETED|2026-11-02T10:00:00||gres/gpu=2||\n";

static const char own[] = "job_id,gpus,duration_s,user,kinds,state,gpu_busy,idle_cause,gpu_milli\n"
                          "a,8,3600,ann,H100,done,0.25,small-files,\n"
                          "b,1,3600,ann,,OUT_OF_MEMORY,0.25,,500\n"
                          "c,1,x,ann,,,,,\n"
                          "d,0,5,ann,,,,,\n"
                          "e,1,5,ann,,,1.5,,\n";

static int read_text(struct ledger *l, const char *text, struct err *e)
{
    *l = (struct ledger){ .n = 0 };
    return ledger_read(l, "f", text, strlen(text), e);
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void test_sacct(void)
{
    struct ledger l;
    struct ledger_sums s;
    struct err e;

    is_int(read_text(&l, sacct, &e), 0, "ledger_read reads a table of sacct");
    is_int((int)l.n, 2, "jobs that had devices");
    is_int((int)l.skipped, 5, "steps, one that waits, one without devices");
    is_int((int)l.bad, 1, "one row has no time that it took");
    is_str(l.note, "f:9: no time that it took", "the note names the line without a time");
    is_str(l.jobs[0].kind, "h100", "the job has the kind of its devices");
    ok(near(l.jobs[0].busy, 0.5), "half of an hour and a quarter of another: of two");
    ok(near(l.jobs[0].kwh, 2), "the job has its energy in kWh");
    is_int((int)(l.jobs[0].begin_s % 86400), 36000, "the job begins at ten o'clock");
    ok(isnan(l.jobs[1].kwh) && isnan(l.jobs[1].busy), "0 joules are none that were measured");
    is_int(ledger_sum_by(&s, &l, LEDGER_CAUSE, &e), 0,
           "ledger_sum_by adds up causes of a table of sacct");
    is_int((int)s.n, 2, "the two jobs have two causes");
    is_str(s.list[0].name, "idle, cause not known", "the cause with most device-hours comes first");
    ok(near(s.list[0].hours, 4), "idle jobs took four device-hours");
    is_str(s.list[1].name, "cancelled", "the cause with fewer device-hours comes second");
    ok(near(s.list[1].hours, 2), "cancelled jobs took two device-hours");
    ledger_sums_done(&s);
    ledger_done(&l);
    ok(read_text(&l, "JobID|User\n1|a\n", &e) == -EINVAL && strstr(e.text, "sacct must print"),
       "without times it is none");
    ledger_done(&l);
}

static void test_own(void)
{
    struct ledger l;
    struct ledger_sums s;
    struct ledger_sum all;

    is_int(read_text(&l, own, NULL), 0, "ledger_read reads brim's own table");
    ok(l.n == 2 && l.bad == 2 && l.skipped == 1,
       "good rows, bad ones and one without devices are counted");
    ok(near(l.jobs[1].devices, 0.5), "the second job has half of a device");
    all = ledger_total(&l);
    ok(near(all.hours, 8.5) && near(all.measured, 8.5) && near(all.idle, 6.375),
       "the total has the idle hours of all jobs");
    ok(near(all.wasted, 6.5), "wasted: what was idle of the one, all of the other");
    ok(isnan(all.usd), "a ledger without prices has no sum of money");
    is_int(ledger_sum_by(&s, &l, LEDGER_CAUSE, NULL), 0,
           "ledger_sum_by adds up causes of brim's own table");
    is_str(s.list[0].name, "idle: small-files", "why it was idle");
    is_str(s.list[1].name, "out of memory", "the job's end is the second cause");
    ledger_sums_done(&s);
    is_int(ledger_sum_by(&s, &l, LEDGER_TEAM, NULL), 0, "ledger_sum_by adds up teams");
    ok(s.n == 1 && !strcmp(s.list[0].name, "-"), "jobs without a team count for no name");
    ledger_sums_done(&s);
    ledger_done(&l);
}

/* Any column may be the first. */
static void test_columns(void)
{
    static const char *const cells[][2] = {
        { "job_id", "a" },           { "user", "ann" },      { "team", "vision" },
        { "project", "p" },          { "class", "batch" },   { "kinds", "H100" },
        { "state", "done" },         { "start_s", "86400" }, { "gpus", "1" },
        { "gpu_milli", "500" },      { "duration_s", "60" }, { "gpu_busy", "0.25" },
        { "idle_cause", "storage" }, { "energy_kwh", "2" },
    };

    for (size_t first = 0; first < ARRAY_SIZE(cells); first++) {
        CLEANUP(str_done) struct str text = STR_INIT(4096);
        const struct ledger_job *j;
        struct ledger l;

        for (size_t row = 0; row < 2; row++)
            for (size_t i = 0; i < ARRAY_SIZE(cells); i++)
                str_addf(&text, "%s%c", cells[(first + i) % ARRAY_SIZE(cells)][row],
                         i + 1 < ARRAY_SIZE(cells) ? ',' : '\n');
        if (!ok(read_text(&l, str_text(&text), NULL) == 0 && l.n == 1,
                "a table whose first column is %s is read", cells[first][0]))
            return;
        j = &l.jobs[0];
        ok(!strcmp(j->name, "a") && !strcmp(j->user, "ann") && !strcmp(j->team, "vision") &&
               !strcmp(j->project, "p") && !strcmp(j->kind, "H100") &&
               !strcmp(j->idle_cause, "storage"),
           "the job has the texts of all columns behind %s", cells[first][0]);
        ok(j->begin_s == 86400 && near(j->devices, 0.5) && near(j->seconds, 60) &&
               near(j->busy, 0.25) && near(j->kwh, 2),
           "the job has the numbers of all columns behind %s", cells[first][0]);
        ledger_done(&l);
    }
}

static void test_oom(const char *text)
{
    int wrong = 0, rounds = 0;
    bool failed;

    oom_restart();
    do {
        struct ledger_sums s = { .n = 0 };
        struct ledger l;
        int rc;

        oom_next();
        rc = read_text(&l, text, NULL);
        if (rc == 0)
            rc = ledger_sum_by(&s, &l, LEDGER_CAUSE, NULL);
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        ledger_sums_done(&s);
        ledger_done(&l);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 10, "%d allocations fail, %d wrongly", rounds, wrong);
}

int main(void)
{
    test_sacct();
    test_own();
    test_columns();
    test_oom(sacct);
    test_oom(own);
    test_oom("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:02:55,66.0,1,66.0,a\n");
    return done();
}
