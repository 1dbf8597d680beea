#include "queue/policy.h"

#include "sched/sched.h"

enum queue_deed queue_deed(uint8_t kind)
{
    switch (kind) {
    case ACTION_START:
        return DEED_START;
    case ACTION_PREEMPT:
        return DEED_STOP;
    case ACTION_WARN:
        return DEED_TELL;
    case ACTION_RESIZE:
        return DEED_RESIZE;
    case ACTION_JOIN:
        return DEED_JOIN;
    default:
        return DEED_NONE;
    }
}
