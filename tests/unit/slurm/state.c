#include "slurm/state.h"

#include <errno.h>

#include "slurm/code.h"
#include "tap.h"

#define BIT(n) (1u << (n))

static void test_nodes(void)
{
    static const struct {
        unsigned state;
        int is;
        bool drained, silent, reserved;
        const char *words;
    } rows[] = {
        { 0, SITE_NODE_DOWN, false, false, false, "UNKNOWN" },
        { 1, SITE_NODE_DOWN, false, false, false, "DOWN" },
        { 2, SITE_NODE_UP, false, false, false, "IDLE" },
        { 3, SITE_NODE_UP, false, false, false, "allocated" },
        { 5, SITE_NODE_UP, false, false, false, "MIXED" },
        { 6, SITE_NODE_DOWN, false, false, false, "FUTURE" },
        { 2 | BIT(9), SITE_NODE_UP, true, false, false, "IDLE+DRAIN" },
        { 1 | BIT(11), SITE_NODE_DOWN, false, true, false, "DOWN+NOT_RESPONDING" },
        { 2 | BIT(5), SITE_NODE_UP, false, false, true, "IDLE+RESERVED" },
        { 2 | BIT(15), SITE_NODE_UP, false, false, true, "IDLE+MAINTENANCE" },
        { 2 | BIT(12), SITE_NODE_OFF, false, false, false, "IDLE+POWERED_DOWN" },
        { 2 | BIT(14), SITE_NODE_OFF, false, false, false, "IDLE+POWERING_UP" },
        { 2 | BIT(18), SITE_NODE_OFF, false, false, false, "IDLE+POWERING_DOWN" },
        { 3 | BIT(13), SITE_NODE_UP, true, false, false, "ALLOCATED+FAIL" },
        { 2, SITE_NODE_UP, false, false, false, "IDLE+CLOUD" },
    };
    struct site_node n = { .name = "n" };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        slurm_state_of_node(rows[i].state, &n);
        ok(n.state == rows[i].is && n.drained == rows[i].drained && n.silent == rows[i].silent &&
               n.reserved == rows[i].reserved,
           "the state of a node that is %s", rows[i].words);
        is_int(slurm_state_node_bits(rows[i].words), rows[i].state, "the bits of %s",
               rows[i].words);
    }
}

static void test_jobs(void)
{
    static const struct {
        unsigned state;
        int is, became;
        const char *words;
    } rows[] = {
        { 0, SITE_WAITING, SITE_NOT_ENDED, "PENDING" },
        { 1, SITE_RUNNING, SITE_NOT_ENDED, "RUNNING" },
        { 1 | BIT(14), SITE_STARTING, SITE_NOT_ENDED, "RUNNING+CONFIGURING" },
        { 2, SITE_SUSPENDED, SITE_NOT_ENDED, "SUSPENDED" },
        { 3, SITE_ENDED, SITE_DONE, "COMPLETED" },
        { 4, SITE_ENDED, SITE_CANCELLED, "CANCELLED" },
        { 5, SITE_ENDED, SITE_FAILED, "FAILED" },
        { 6, SITE_ENDED, SITE_TIMEOUT, "TIMEOUT" },
        { 7, SITE_ENDED, SITE_LOST, "NODE_FAIL" },
        { 8, SITE_ENDED, SITE_FAILED, "PREEMPTED" },
        { 9, SITE_ENDED, SITE_LOST, "BOOT_FAIL" },
        { 10, SITE_ENDED, SITE_TIMEOUT, "DEADLINE" },
        { 4 | BIT(15), SITE_ENDING, SITE_CANCELLED, "CANCELLED+COMPLETING" },
        { 0 | BIT(15), SITE_ENDING, SITE_NOT_ENDED, "PENDING+COMPLETING" },
        { 11, SITE_ENDED, SITE_FAILED, "OUT_OF_MEMORY" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        is_int(slurm_state_of_job(rows[i].state), rows[i].is, "a job that is %s", rows[i].words);
        is_int(slurm_state_outcome(rows[i].state), rows[i].became, "what became of one that is %s",
               rows[i].words);
        is_int(slurm_state_job_bits(rows[i].words), rows[i].state, "the bits of %s", rows[i].words);
    }
}

static void test_reasons(void)
{
    is_str(slurm_state_reason(3), "Resources", "a reason by its number");
    is_str(slurm_state_reason(16), "JobHeldUser", "the last that is known");
    is_str(slurm_state_reason(17), NULL, "one that is not");
    ok(slurm_state_depends("Dependency") && slurm_state_depends("QOSMaxJobsPerUserLimit") &&
           slurm_state_depends("BeginTime") && slurm_state_depends("AssocGrpGRES"),
       "nodes do not help against dates and limits");
    ok(!slurm_state_depends("Resources") && !slurm_state_depends("Priority") &&
           !slurm_state_depends("JobHeldUser") && !slurm_state_depends("ReqNodeNotAvail"),
       "nodes may help against other reasons");
}

static void test_codes(void)
{
    is_int(slurm_code_of(2017, SITE_DO_CANCEL), -ESRCH, "no such job");
    is_int(slurm_code_of(2018, SITE_DO_NODE_DRAIN), -ESRCH, "no such node");
    is_int(slurm_code_of(2021, SITE_DO_CANCEL), -EALREADY,
           "a job that is cancelled has ended already");
    is_int(slurm_code_of(2021, SITE_DO_HOLD), -ESRCH, "there is nothing left to hold");
    is_int(slurm_code_of(2024, SITE_DO_REQUEUE), -EALREADY, "a job that is requeued waits already");
    is_int(slurm_code_of(2024, SITE_DO_SUSPEND), -EAGAIN,
           "a job that is suspended does not run yet");
    is_int(slurm_code_of(2077, SITE_DO_SUSPEND), -EALREADY, "a job is suspended already");
    is_int(slurm_code_of(2002, SITE_DO_HOLD), -EACCES, "a deed is not allowed");
    is_int(slurm_code_of(2020, SITE_DO_HOLD), -EAGAIN, "a job is in transition");
    is_int(slurm_code_of(2037, SITE_DO_REQUEUE), -ENOTSUP, "a deed is disabled");
    is_int(slurm_code_of(5004, SITE_DO_HOLD), -ETIMEDOUT, "there is no answer");
    is_int(slurm_code_of(2999, SITE_DO_HOLD), -EINVAL, "refused for another reason");
    is_int(slurm_code_of(1001, SITE_DO_HOLD), -EIO, "there is no connection");
    is_int(slurm_code_of_text("scontrol: error: Invalid job id specified", SITE_DO_HOLD), -ESRCH,
           "the same from a command's words");
    is_int(slurm_code_of_text("out of cheese", SITE_DO_HOLD), -EIO, "words that are not known");
}

int main(void)
{
    test_nodes();
    test_jobs();
    test_reasons();
    test_codes();
    return done();
}
