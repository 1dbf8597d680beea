/* Verdicts over runs whose machine or storage is not as usual, as a second matrix of
 * tests/bench/diagnose.py met them. */
#include "judged.h"
#include "tap.h"

/* What runs on a CPU that another machine has stands still: a loader's process seems to sleep. */
static void test_stolen(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "1");
    made_stage(&m, BRIM_STAGE_WAIT, 0.16);
    m.s[RUN_WORKERS] = 1;
    m.s[RUN_WORKER_CPU] = 0.11;
    m.s[RUN_RANK_CPU] = 1.1;
    m.s[RUN_JOB_CPU] = 1.2;
    m.s[RUN_CPU_BUSY] = 0.58;
    m.s[RUN_RANK_THREAD_CPU] = 0.75;
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "a worker that sleeps");
    m.s[RUN_CPU_STEAL] = 0.12;
    is_int(judge_made(&m), CAUSE_CPU_NEIGHBOURS,
           "a worker that the hypervisor keeps off does not sleep");
    made_stage(&m, BRIM_STAGE_WAIT, 0.25);
    is_int(judge_made(&m), CAUSE_LOADER_WAITS, "what costs more than they do goes first");
}

/* Pages of a mapped file: no call reads them, and requests are as small as the windows. */
static void test_mapped(void)
{
    struct made m = small_node();

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.55);
    m.s[RUN_RANK_CPU] = m.s[RUN_JOB_CPU] = 0.6;
    m.s[RUN_CPU_BUSY] = 0.3;
    m.s[RUN_RANK_THREAD_CPU] = 0.4;
    m.s[RUN_JOB_BLOCKED] = 0.5;
    m.s[RUN_DISK_BUSY] = 0.03;
    m.s[RUN_DISK_AWAIT] = 0.0013;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = 17e6;
    m.s[RUN_DISK_REQUESTS] = 300;
    m.s[RUN_IO_PRESSURE] = 0.48;
    m.s[RUN_JOB_READ_CALLS] = 300;
    m.s[RUN_JOB_IO_READ] = 17e6;
    is_int(judge_made(&m), CAUSE_SMALL_FILES, "small reads of small files");
    m.s[RUN_JOB_READ_CALLS] = 1;
    m.s[RUN_JOB_IO_READ] = 100;
    is_int(judge_made(&m), CAUSE_STORAGE_BANDWIDTH, "files that no calls read are no small files");
}

/* Data that is waited for in one half of the run: chance, or many measurements agree. */
static void test_agreed(void)
{
    struct made m = small_node();
    struct verdict v;
    struct run r;

    made_note(&m, "loader.workers", "0");
    made_stage(&m, BRIM_STAGE_WAIT, 0.5);
    m.s[RUN_RANK_THREAD_CPU] = 0.6;
    m.s[RUN_JOB_BLOCKED] = 0.3;
    m.s[RUN_DISK_BUSY] = 0.75;
    m.s[RUN_JOB_READ] = m.s[RUN_DISK_READ] = m.s[RUN_JOB_IO_READ] = 50e6;
    m.s[RUN_DISK_REQUESTS] = 100;
    for (int pressure = 0; pressure < 2; pressure++) {
        m.s[RUN_IO_PRESSURE] = 0.2 * pressure;
        made_build(&m, &r);
        for (size_t i = 0; i < r.ranks[0].n_steps; i++) {
            struct step *s = &r.ranks[0].steps[i];

            if (i % 100 < 55) {
                s->host_s[BRIM_STAGE_BACKWARD] += s->host_s[BRIM_STAGE_WAIT];
                s->host_s[BRIM_STAGE_WAIT] = 0;
            }
        }
        is_int(judge_built(&r, &v), pressure ? CAUSE_STORAGE_BANDWIDTH : CAUSE_NONE,
               "%s measurements agree", pressure ? "four" : "three");
        verdict_done(&v);
        run_done(&r);
    }
}

int main(void)
{
    test_stolen();
    test_mapped();
    test_agreed();
    return done();
}
