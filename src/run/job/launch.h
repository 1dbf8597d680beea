/* A job started as its user's shell would have: its terminal, its signals and its end. */
#ifndef BRIM_RUN_JOB_LAUNCH_H
#define BRIM_RUN_JOB_LAUNCH_H
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct launch {
    pid_t pid;        /* the job's first process */
    bool own_group;   /* it leads a process group of its own */
    int tty;          /* the controlling terminal; -1 */
    int signals;      /* a signalfd of what concerns us */
    sigset_t before;  /* what was blocked when we began: the job's mask */
    const char *cpus; /* that the job is bound to, as the kernel lists them; NULL */
    bool shared;      /* stay in our group where the terminal is ours: it tells us, too */
    int asked;        /* the last HUP, INT, QUIT or TERM that came for the job; 0: none */
    bool ended;
    int status;      /* of waitpid(), once ended */
    double reaped_s; /* CPU time of descendants that we waited for */
};

enum { LAUNCH_NOT_EXECUTABLE = 126, LAUNCH_NOT_FOUND = 127 };

/* Take over signals, before any thread is made, and become the one that orphans of the job go
 * to. */
int launch_init(struct launch *l, struct err *e) CHECK_RESULT;
/* Signals are as they were before; what is pending of them takes effect. */
void launch_done(struct launch *l);

/* Start argv with env. 0; LAUNCH_NOT_FOUND or LAUNCH_NOT_EXECUTABLE with a sentence; or a negative
 * errno. Nothing ties the job's life to ours. */
int launch_start(struct launch *l, char *const *argv, char *const *env, struct err *e) CHECK_RESULT;

/* Signals came: pass them on, reap who ended, stop and go on with the job. */
void launch_signals(struct launch *l);

/* When the shell has put us into the foreground meanwhile: hand the terminal to the job. */
void launch_tty(const struct launch *l);

/* The exit status that a shell would tell: 128 + signal for who was killed. */
int launch_exit(const struct launch *l);

#endif
