/* The embedded engine: a queue on this machine, without a service. It decides by a policy of
 * src/sched and has guards carry that out. All it knows is in its folder: it may die at any moment,
 * and the next one goes on. */
#ifndef BRIM_QUEUE_SERVER_H
#define BRIM_QUEUE_SERVER_H
#include "base/clock.h"
#include "base/err.h"
#include "model/machine/machine.h"
#include "sched/policy/policy.h"

struct queue_job;

struct queue_config {
    const struct clock *clock;
    const char *folder; /* its files; the socket is there, too */
    const struct node *node;
    const char *cpus; /* that jobs may use, as the kernel lists them */
    const struct policy *policy;
    bool shared;     /* for all users of this machine; else for its own user alone */
    bool on_demand;  /* ends when there is nothing to do */
    int64_t idle_ms; /* after so long */
    int64_t keep_ms; /* how long jobs that ended are remembered */
    int64_t most_jobs, most_of_user; /* that have not ended; root may have more of its own */
    int64_t most_grace_ms;           /* that a job may take to end when it is to give way */
    int64_t look_ms; /* between two looks at how busy jobs are, where the policy asks for that */
    /* How many steps a job has done, by what its observer tells; NaN: nobody knows. NULL: that is
     * read where observers put it. */
    double (*steps)(void *arg, const struct queue_job *j);
    const char *fake; /* a file that scripts what accelerators that are not there do; NULL */
    void (*ready)(void *arg, const char *folder, const char *what); /* NULL: nobody is told */
    void *arg;
};

/* Serve until SIGTERM or SIGINT, or as on_demand says. -EBUSY with a sentence: another engine has
 * the folder; or another negative errno. */
int queue_serve(const struct queue_config *c, struct err *e) CHECK_RESULT;

#endif
