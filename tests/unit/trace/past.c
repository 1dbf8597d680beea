/* Jobs of the past: what is replayed of them, and how it went. */
#include "trace/past.h"

#include <errno.h>
#include <string.h>

#include "oom.h"
#include "oom_arena.h"
#include "tap.h"

#define HEADER \
    "JobIDRaw\x1fUser\x1f" \
    "Account\x1fPartition\x1fSubmit\x1f" \
    "Eligible\x1fStart\x1f" \
    "End\x1f" \
    "ElapsedRaw\x1fTimelimitRaw\x1f" \
    "AllocTRES\x1fReqTRES\x1fNNodes\x1fState\x1fNodeList\n"

enum { FROM = 1000000, UNTIL = 1010000 };

static struct err e;
static char nodes[256];

static void had(void *ctx, const char *list)
{
    (void)ctx;
    snprintf(nodes + strlen(nodes), sizeof(nodes) - strlen(nodes), "%s ", list);
}

static uint64_t kinds(void *ctx, const char *partition, const char *type)
{
    (void)ctx;
    return !strcmp(type, "h100") ? 1 : !strcmp(partition, "old") ? 2 : 0;
}

/* Rows are written with '|' between fields. */
static int read_rows(struct past *p, const char *rows)
{
    static const struct pool pool = { .kinds = { "h100" }, .n_kinds = 1 };
    char text[4096];
    int rc;

    snprintf(text, sizeof(text), "%s%s", HEADER, rows);
    for (char *c = text; *c; c++)
        *c = *c == '|' ? '\x1f' : *c;
    *p = (struct past){ .pool = &pool, .from_s = FROM, .until_s = UNTIL };
    nodes[0] = '\0';
    p->cluster = (struct past_cluster){ had, kinds, NULL };
    rc = past_text(p, text, strlen(text), &e);
    return rc < 0 ? rc : past_settle(p, &e);
}

static const struct work *find(const struct past *p, const char *name, struct work_went *went)
{
    for (size_t i = 0; i < p->work.n_jobs; i++)
        if (!strcmp(p->work.jobs[i].name, name)) {
            *went = p->went[i];
            went->start_ms += p->work.first_ms;
            went->end_ms += p->work.first_ms;
            return &p->work.jobs[i];
        }
    return NULL;
}

static void test_jobs(void)
{
    struct work_went went = { 0, 0 };
    const struct work *w;
    struct past p;

    is_int(read_rows(&p, "9|ada|lab|batch|1000500|1000600|1000700|1000800|100|60|"
                         "cpu=8,gres/gpu=8,gres/gpu:h100=8|cpu=8,gres/gpu=8,gres/gpu:h100=8|2|"
                         "COMPLETED|n[0-1]\n"
                         "\n"
                         "7|bo|shop|old|1000100|1000100|1000400|1000900|500|UNLIMITED|"
                         "gres/gpu=1|gres/gpu=1|1|CANCELLED by 7|n3\n"),
           0, "two jobs are a past");
    is_int((int)p.work.n_jobs, 2, "two jobs are read");
    is_str(p.work.jobs[0].name, "7", "jobs are in the order of submission");
    is_int((int)p.work.jobs[1].submit_ms, 500000, "times count from the first");
    is_int((int)(p.went[1].start_ms - p.work.jobs[1].submit_ms), 100000,
           "a job waits from when on it could have started");
    w = find(&p, "9", &went);
    ok(w && w->devices == 8 && w->per_node == 4, "what it had, and on how many nodes");
    ok(w && w->length_ms == 100000 && w->limit_ms == 3600000, "how long it took and might");
    ok(w && w->kinds == 1, "the type that it asked for");
    is_str(p.work.users.names[w ? w->user : 0], "ada", "a job has its user");
    is_str(p.work.teams.names[w ? w->team : 0], "lab", "a job has its account");
    w = find(&p, "7", &went);
    ok(w && w->limit_ms == WORK_UNKNOWN, "no limit is none");
    ok(w && w->kinds == 2, "what its partition has");
    ok(w && went.start_ms == 1000400000 && went.end_ms == 1000900000, "how it went with it");
    is_str(nodes, "n[0-1] n3 ", "where they were");
    past_done(&p);
}

/* Before, across both ends of the window, and not at all. */
static void test_window(void)
{
    struct work_went went = { 0, 0 };
    const struct work *w;
    struct past p;

    is_int(read_rows(&p,
                     "1|u|a|p|999000|999000|999100|999900|800|1|gres/gpu=1|gres/gpu=1|1|"
                     "COMPLETED|n0\n"
                     "2|u|a|p|998000|998000|999100|1000200|1100|1|gres/gpu=1|gres/gpu=1|1|"
                     "COMPLETED|n0\n"
                     "3|u|a|p|997000|997000|1000300|1000400|100|1|gres/gpu=1|gres/gpu=1|1|"
                     "COMPLETED|n0\n"
                     "4|u|a|p|1001000|1001000|1002000|Unknown|8000|1|gres/gpu=1|gres/gpu=1|1|"
                     "RUNNING|n0\n"
                     "5|u|a|p|1001000|1001000|Unknown|Unknown|0|1||gres/gpu=8|1|PENDING|None\n"
                     "6|u|a|p|1001000|1001000|1001100|1001100|0|1||gres/gpu=8|1|CANCELLED|None\n"
                     "8|u|a|p|1001000|1001000|1001000|1001100|100|1|cpu=4|cpu=4|1|COMPLETED|"
                     "n0\n"
                     "9.0|u|a|p|1001000|1001000|1001000|1001100|100|1|gres/gpu=1||1|COMPLETED|"
                     "n0\n"),
           0, "a window has jobs");
    is_int((int)p.work.n_jobs, 3, "jobs that had devices in it");
    ok(!find(&p, "1", &went), "one that had ended before is none");
    w = find(&p, "2", &went);
    ok(w == &p.work.jobs[0] && w->length_ms == 200001 && went.end_ms == 1000200000,
       "one that ran is there first, for what was left of it");
    ok(w && p.went[0].start_ms == w->submit_ms, "one that ran did not wait");
    w = find(&p, "3", &went);
    ok(w && w->submit_ms == 1 && went.start_ms == 1000300000, "one that waited, waits");
    w = find(&p, "4", &went);
    ok(w && w->length_ms == 8000000, "one that runs has run up to the end");
    is_int((int)p.before, 1, "jobs that ran at the beginning are counted");
    is_int((int)p.running, 1, "jobs that run at the end are counted");
    is_int((int)p.waiting, 1, "jobs that wait are counted");
    is_int((int)p.never, 1, "jobs that never started are counted");
    is_int((int)p.notes.skipped, 2, "jobs without devices, and steps");
    past_done(&p);
}

static void test_requeued(void)
{
    struct past p;

    is_int(read_rows(&p, "8|u|a|p|1000000|1000000|1000000|1000030|30|1|gres/gpu=1|gres/gpu=1|1|"
                         "REQUEUED|n0\n"
                         "8|u|a|p|1000030|1000060|1000061|1000100|39|1|gres/gpu=1|gres/gpu=1|1|"
                         "COMPLETED|n0\n"),
           0, "a job that was requeued");
    is_int((int)p.work.n_jobs, 2, "a job that was requeued is one for each time that it ran");
    is_int((int)p.work.jobs[1].submit_ms, 60000, "again from when on Slurm let it");
    past_done(&p);
}

static void test_bad(void)
{
    static const struct {
        const char *rows;
        int rc;
        const char *says;
    } cases[] = {
        { "", -ENODATA, "there are no jobs: ask for more days, --from-sacct=30" },
        { "8|u|a|p|x|x|1000000|1000030|30|1|gres/gpu=1|gres/gpu=1|1|COMPLETED|n0\n", -ENODATA,
          "no job can be used: line 2: no times of submission or of what it took" },
        { "8|u|a|p|1000000|1|1000300|1000030|30|1|gres/gpu=1|gres/gpu=1|1|COMPLETED|n0\n", -ENODATA,
          "no job can be used: line 2: it ended before it started" },
        { "8|u|a|p|1000000|1|Unknown|Unknown|0|1||gres/gpu=1|1|PENDING|None\n", -ENODATA,
          "no job with GPUs has started: 1 waits" },
        { "8|u|a|p|1000000|1|1000300|1000400|100|1|cpu=1|cpu=1|1|COMPLETED|n0\n", -ENODATA,
          "none of 1 jobs had GPUs, as far as accounting knows: it counts them when "
          "AccountingStorageTRES in slurm.conf names gres/gpu" },
    };
    struct past p;

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        is_int(read_rows(&p, cases[i].rows), cases[i].rc, "rows %zu are no jobs", i);
        is_str(e.text, cases[i].says, "why is said");
        past_done(&p);
    }
    is_int(read_rows(&p, "||||||||||||||\n\x1f\n1\n"
                         "8|u|a|p|1000000|1|1000300|1000400|100|1|gres/gpu=4|gres/gpu=1|1|X|n0\n"),
           0, "rows that are none do not matter");
    is_int((int)p.work.n_jobs, 1, "the good one counts");
    is_int(past_line(&p, NULL, &e), 0, "a line that nobody can hold does not matter");
    is_int((int)p.notes.bad, 1, "a line that nobody can hold is counted");
    past_done(&p);
    p = (struct past){ .n_rows = 0 };
    is_int(past_text(&p, "JobIDRaw|User\n", 14, &e), -EINVAL, "a header without columns");
    past_done(&p);
}

static void test_devices(void)
{
    static const struct {
        const char *tres;
        int devices;
    } cases[] = {
        { "cpu=1,gres/gpu=2,mem=1G", 2 },
        { "gres/gpu:h100=2", 2 },
        { "gres/gpu:a=2,gres/gpu:b=3", 5 },
        { "gres/gpu=2,gres/gpu:a=2", 2 },
        { "gres/gpu:a=2,gres/gpu=2", 2 },
        { "gres/gpumem=2", 0 },
        { "gres/gpuutil=2,cpu=1", 0 },
        { "gres/gpu=", 0 },
        { "gres/gpu:a", 0 },
        { "gres/gpu:a=x,gres/gpu:b=1", 1 },
        { "gres/shard=4", 0 },
        { "", 0 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char line[] = "AllocTRES|Submit", row[128];
        struct sacct t;

        snprintf(row, sizeof(row), "%s|1", cases[i].tres);
        ok(sacct_header(&t, line) == 0 && sacct_row(&t, row) == 0, "a row is taken apart");
        is_int(sacct_gpus(&t), cases[i].devices, "devices of '%s'", cases[i].tres);
    }
}

static void test_oom(void)
{
    int wrong = 0, rounds = 0;
    bool failed;

    oom_restart();
    do {
        struct past p;
        int rc;

        oom_next();
        rc = read_rows(&p, "1|u|a|p|1000100|1000100|1000100|1000200|100|1|gres/gpu=1||1|DONE|n0\n"
                           "2|v|b|q|1000000|1000000|1000100|1000200|100|1|gres/gpu=2||1|DONE|n0\n");
        failed = oom_end();
        wrong += rc != (failed ? -ENOMEM : 0);
        past_done(&p);
        rounds++;
    } while (failed);
    ok(wrong == 0 && rounds > 5, "%d allocations fail, %d wrongly", rounds, wrong);
}

int main(void)
{
    test_jobs();
    test_window();
    test_requeued();
    test_bad();
    test_devices();
    test_oom();
    return done();
}
