/* What a scheduler does with jobs, and why. */
#ifndef BRIM_SCHED_CORE_ACTION_H
#define BRIM_SCHED_CORE_ACTION_H
#include <stdint.h>

enum action_kind {
    ACTION_START,
    ACTION_PREEMPT, /* it waits again */
    ACTION_PARK,    /* it gives its devices up, and says when it needs some: sched_wake() */
    ACTION_WARN,    /* its owner is told */
    ACTION_JOIN,    /* it gives its devices up, and shares those of another one */
    ACTION_HOLD,    /* it found a place and no power, and waits: told once a wait */
    ACTION_RESIZE,  /* it goes on with more devices, or fewer */
    /* What happened, told in the same form for sched_reason(); sched_pass() gives none of them. */
    ACTION_LOSE,   /* a job lost its devices with the node 'other' */
    ACTION_DOWN,   /* the node 'other' is lost until until_ms */
    ACTION_UP,     /* it is back */
    ACTION_STANDS, /* the node 'other' stands in for the node 'job' */
    ACTION_CLOSE,  /* nothing starts on the node 'other': a window begins at until_ms */
    ACTION_WINDOW, /* the window of the node 'other', until until_ms */
    ACTION_LEAVE,  /* a job leaves the node 'other' for its window: what it did is saved */
};

enum action_why {
    WHY_FIRST,   /* goes first, and there is room */
    WHY_GREEDY,  /* fits where the first one does not */
    WHY_SHORT,   /* ends before the first one could start */
    WHY_SPARE,   /* leaves the first one what it will need */
    WHY_PLANNED, /* delays none before it */
    WHY_SHARE,   /* among those that get devices in the order of the policy */
    WHY_BEHIND,  /* no longer among them: preempted */
    WHY_VICTIM,  /* another one goes first: preempted */
    WHY_WITHIN,  /* within the share of its class or team */
    WHY_LENT,    /* above that, of what others do not need */
    WHY_RECLAIM, /* above that, and they do: preempted */
    WHY_IDLE,    /* its devices are idle */
    WHY_LITTLE,  /* its devices are busy for a part of the time */
    WHY_RESERVE, /* a replica, in the reserve of its service */
    WHY_SERVICE, /* a replica, beyond that */
    WHY_SPOT,    /* a spot job, on what nobody else wants */
    WHY_WAY,     /* a spot job, which another one needs to go: preempted */
    WHY_REPLICA, /* a replica needs to go before it: preempted */
    WHY_POWER,   /* there is not enough power for it */
    WHY_GIVES,   /* another one gets what it can do without: resized */
    WHY_FREE,    /* nobody waits for what is free: resized */
};

struct action {
    uint32_t job;
    uint8_t kind, why;
    uint32_t other; /* the job that waits, or that goes first; WAITING_NONE */
    /* When that one can start; WORK_UNKNOWN. LOSE: what it goes back by; HOLD: the power that it
     * needs, in mW; RESIZE: what it costs. */
    int64_t until_ms;
    uint32_t with;    /* ACTION_JOIN: whose devices it shares */
    int32_t devices;  /* START, RESIZE: that it has from then on; PREEMPT, PARK: that it had */
    int32_t before;   /* RESIZE: that it had */
    int64_t ready_ms; /* START: when those that gave way for it are gone; 0: at once */
};

#endif
