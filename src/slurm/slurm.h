/* Slurm: what it says of a cluster, and what it is told to do. Its library runs in a process of
 * its own, which is killed when it hangs and started anew when it ends: libslurm retries for
 * minutes and ends the process that calls it when its configuration is wrong. Without a library
 * that is known, Slurm's commands are read instead, which is said once. */
#ifndef BRIM_SLURM_SLURM_H
#define BRIM_SLURM_SLURM_H
#include "base/err.h"
#include "model/site/deed.h"
#include "model/site/site.h"

struct slurm;

struct slurm_config {
    const char *conf;    /* the path of slurm.conf; NULL: where Slurm looks for it */
    const char *library; /* the path of libslurm; NULL: the newest that is installed and known */
    bool commands;       /* use commands though there is a library */
    int64_t patience_ms; /* for one question or deed */
};

/* 0, or a negative errno with a sentence that says how to go on. */
int slurm_open(struct slurm **ret, const struct slurm_config *config, struct err *e) CHECK_RESULT;
void slurm_close(struct slurm *s);
DEFINE_CLEANUP(struct slurm, slurm_close)

/* "libslurm 22.05", which does not tell more, or "squeue and sinfo 25.05.0, since libslurm with
 * interface 43 is not known". */
const char *slurm_how(const struct slurm *s);

/* What there is now. 1: *site is new, and the caller's to free; 0: nothing has changed since the
 * last call that gave one; -ETIMEDOUT when Slurm does not answer in time, and other errors, with a
 * sentence. */
int slurm_read(struct slurm *s, struct site *site, struct err *e) CHECK_RESULT;

/* Do it. 0 when Slurm took it; -ESRCH: there is no such job or node (any more); -EALREADY: it is so
 * already; -EACCES; -EAGAIN: not now, as when a job is being started or ends; -ENOTSUP: this Slurm
 * cannot; -ETIMEDOUT: nobody knows whether it was done; with a sentence in Slurm's words. */
int slurm_act(struct slurm *s, const struct site_deed *deed, struct err *e) CHECK_RESULT;

#endif
