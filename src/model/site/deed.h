/* What can be done to a job or a node of a cluster, whoever does it. Plain data. */
#ifndef BRIM_MODEL_SITE_DEED_H
#define BRIM_MODEL_SITE_DEED_H
#include <stdint.h>

enum site_deed_kind {
    /* to jobs */
    SITE_DO_PRIORITY, /* value: the priority */
    SITE_DO_HOLD,
    SITE_DO_RELEASE,
    SITE_DO_PLACE,   /* one that waits: it starts on the nodes of text, and no others; released */
    SITE_DO_AVOID,   /* text: nodes that it does not run on */
    SITE_DO_REQUEUE, /* it waits again */
    SITE_DO_REQUEUE_HELD,
    SITE_DO_SUSPEND,
    SITE_DO_GO_ON, /* after that */
    SITE_DO_CANCEL,
    SITE_DO_SIGNAL,        /* value: the signal, to all steps and the batch script */
    SITE_DO_SIGNAL_STEPS,  /* to steps alone */
    SITE_DO_SIGNAL_SCRIPT, /* to the batch script alone */
    SITE_DO_NODES,         /* value: it goes on with so many nodes, fewer than it has */
    SITE_DO_NOTE,          /* text: becomes its admin_comment */
    SITE_DO_COMMENT,       /* text: becomes its comment */
    SITE_DO_TELL,          /* text: is written to the terminals of its srun (scontrol notify) */
    /* to nodes */
    SITE_DO_NODE_DRAIN, /* text: the reason */
    SITE_DO_NODE_DOWN,  /* text: the reason; jobs there are requeued at once */
    SITE_DO_NODE_RESUME,
    SITE_DO_NODE_FEATURES, /* text: that are active from now on */
    SITE_DEED_KINDS
};

struct site_deed {
    uint8_t kind;     /* enum site_deed_kind */
    uint32_t job;     /* its id; of deeds to jobs */
    const char *node; /* its name; of deeds to nodes */
    const char *text;
    uint32_t value;
};

#endif
