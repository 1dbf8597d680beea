"""Numbers of include/brim/step.h, ring.h and control.h."""

STEP_BEGIN, STEP_END, STAGE_BEGIN, STAGE_END, SAMPLES, FEEDS, LOSS = range(1, 8)
COLLECTIVE, NOTE, VALUE, DEVICE, SWITCH = range(8, 13)

OTHER, WAIT, COPY, FORWARD, BACKWARD, COMMUNICATION, OPTIMIZER, CHECKPOINT = range(8)

ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, REDUCE = range(1, 6)
ALL_TO_ALL, GATHER, SCATTER, SEND_RECEIVE, BARRIER = range(6, 11)

DONE, REFUSED, FAILED = range(3)


def begin(stage: int) -> int:
    return STAGE_BEGIN | stage << 16


def end(stage: int) -> int:
    return STAGE_END | stage << 16
