/* Which engine brim submit, jobs, cancel and the like speak to: the queue of this machine where
 * there is one, else Slurm where it is set up, else that queue, which a submission starts. */
#ifndef BRIM_CMD_QUEUE_ENGINE_H
#define BRIM_CMD_QUEUE_ENGINE_H
#include "base/opt.h"
#include "sched/engine.h"

/* The row of --engine. */
#define ENGINE_OPTION(at) \
    { \
        OPT_CHOICE, 0, "engine", at, "NAME", \
            "who runs jobs (local where there is a queue, else slurm where it is set up)", \
            .choices = engine_names \
    }

/* What there is on this machine. */
struct engine_there {
    bool queue; /* the folder of its queue */
    bool slurm; /* slurm.conf and sbatch */
};

/* Of what was asked for (NULL: nothing), with the folder of a queue that was named. Pure. ERR_USAGE
 * with a sentence where these exclude each other. */
int engine_choose(enum engine *ret, const char *asked, const char *directory,
                  const struct engine_there *there, struct err *e) CHECK_RESULT;

/* The same for the queue in a folder, on this machine. */
int engine_of(enum engine *ret, const char *asked, const char *directory, const char *folder,
              struct err *e) CHECK_RESULT;

#endif
