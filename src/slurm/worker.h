/* The process that Slurm's library runs in: started by a fork, it answers until its end of the
 * socket is closed, the one that started it has gone, or it is killed. */
#ifndef BRIM_SLURM_WORKER_H
#define BRIM_SLURM_WORKER_H
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "slurm/slurm.h"

/* What it is asked, without an answer's body; an answer has a code, and behind it a body: a site
 * when a read gave 1, how Slurm is reached when it was asked for, the sentence of an error. */
enum slurm_question { SLURM_ASK_HOW, SLURM_ASK_READ, SLURM_ASK_DEED };

struct slurm_message {
    uint32_t length; /* of the body */
    int32_t code;    /* an enum slurm_question, or what the answer is */
};

struct slurm_worker {
    pid_t pid; /* 0: there is none */
    int fd;    /* to ask and to hear by */
    int said;  /* what it writes to stderr, not waited for */
};

/* The process ends with the thread that calls this. */
int slurm_worker_start(struct slurm_worker *ret, const struct slurm_config *config, struct err *e)
    CHECK_RESULT;

/* Kill it, wait for it, close all. {0} is left. */
void slurm_worker_stop(struct slurm_worker *w);

/* Whether it has gone, or cannot be asked. */
bool slurm_worker_gone(const struct slurm_worker *w);

/* 0, or a negative errno. */
int slurm_worker_ask(const struct slurm_worker *w, enum slurm_question what, const struct str *body)
    CHECK_RESULT;

/* Wait for the answer until then (of the monotonic clock): 0 with its code and its body.
 * -ETIMEDOUT; -EPIPE when the process has ended; -EPROTO; -ENOMEM. */
int slurm_worker_hear(const struct slurm_worker *w, int64_t until_ns, int32_t *code,
                      struct str *body) CHECK_RESULT;

/* The last line that it wrote to stderr since this was asked; "". */
void slurm_worker_last(const struct slurm_worker *w, char *ret, size_t size);

#endif
