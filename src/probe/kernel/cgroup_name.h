/* What control groups are called: short names that people know, from paths. */
#ifndef BRIM_PROBE_KERNEL_CGROUP_NAME_H
#define BRIM_PROBE_KERNEL_CGROUP_NAME_H
#include "model/signal/signal.h"

/* By what a group holds; of more interest first. */
enum cgroup_kind {
    CGROUP_JOB,       /* of Slurm: "job_123" */
    CGROUP_STEP,      /* of such a job: "job_123/step_0", "job_123/step_batch" */
    CGROUP_POD,       /* of Kubernetes: "pod/" and its UID */
    CGROUP_CONTAINER, /* "docker/0123456789ab": what runs it, and the start of its id */
    CGROUP_SERVICE,   /* of systemd: "nginx.service" */
    CGROUP_OTHER,     /* the last part of its path; "/" is the root */
};

/* The name of the group at the path ("/system.slice/ssh.service"), and what it is. A group inside
 * one that is named so is CGROUP_OTHER, but is named after it: "job_123/step_0". */
enum cgroup_kind cgroup_name(const char *path, char out[SIGNAL_THING]);

/* The path of a group in a text of /proc/PID/cgroup: that of version 2 when controller is NULL, or
 * of the hierarchy of version 1 with that controller. The path, cut when it is too long; "" when
 * there is none. */
void cgroup_path(const char *text, const char *controller, char *out, size_t size);

/* What a process's group is called by its /proc/PID/cgroup: the best of the names of all
 * hierarchies; "" when all of them are the root. */
void cgroup_of_process(const char *text, char out[SIGNAL_THING]);

#endif
