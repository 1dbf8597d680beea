/* What the actions of a policy ask of the queue of a machine. */
#include "queue/policy.h"
#include "sched/sched.h"

#include "tap.h"

static void test_deeds(void)
{
    is_int(queue_deed(ACTION_START), DEED_START, "starting is the queue's deed for a start");
    is_int(queue_deed(ACTION_PREEMPT), DEED_STOP, "stopping is the queue's deed for a preemption");
    is_int(queue_deed(ACTION_WARN), DEED_TELL, "a warning is no preemption");
    is_int(queue_deed(ACTION_RESIZE), DEED_RESIZE, "a resize is a stop and another start");
    is_int(queue_deed(ACTION_JOIN), DEED_JOIN,
           "a join is a stop and another start on devices of another job");
    for (int kind = 0; kind < 256; kind++)
        if (kind != ACTION_START && kind != ACTION_PREEMPT && kind != ACTION_WARN &&
            kind != ACTION_RESIZE && kind != ACTION_JOIN)
            is_int(queue_deed((uint8_t)kind), DEED_NONE, "action %d is not carried out", kind);
}

int main(void)
{
    test_deeds();
    return done();
}
