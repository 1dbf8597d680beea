/* What is known of a run before it starts. */
#ifndef BRIM_RUN_JOB_ABOUT_H
#define BRIM_RUN_JOB_ABOUT_H
#include "model/job/run.h"
#include "model/signal/signal.h"

struct about {
    const char *id;
    const char *name; /* NULL: after the job */
    char *const *argv, *const *env;
    const char *folder;    /* where it runs; NULL: where we do */
    const char *ring;      /* the folder of rings */
    const char *plugins;   /* of the shim for Python; NULL */
    const char *libraries; /* of its marks; NULL */
    int root;              /* a descriptor of / */
};

/* Fill the run but for its times: what it runs, where, and its environment. 0 or -ENOMEM. */
int about_run(struct run *r, const struct about *a) CHECK_RESULT;

/* What the control group of a process is called among the samplers' rows; "". proc: a descriptor;
 * process: "self", or a number. */
void about_cgroup(int proc, const char *process, char cgroup[SIGNAL_THING]);

/* The job's environment: ours, and what leads it to the ring and the shim. 0 or -ENOMEM. */
int about_environment(struct arena *arena, const struct about *a, char ***ret) CHECK_RESULT;

#endif
