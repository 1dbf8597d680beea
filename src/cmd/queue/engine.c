#include "cmd/queue/engine.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/conf.h"
#include "cmd/queue/submit_check.h"
#include "queue/client.h"
#include "run/job/environ.h"

/* Where Slurm's own commands look for it, and slurmd and sackd put it without a file on each
 * node. */
static const char *const usual[] = {
    "/etc/slurm/slurm.conf",
    "/etc/slurm-llnl/slurm.conf",
    "/run/slurm/conf/slurm.conf",
    "/usr/local/etc/slurm.conf",
};

static bool is_set_up(void)
{
    char *const *env = conf_environment();
    const char *conf = environ_get(env, "SLURM_CONF");
    bool there = conf && access(conf, R_OK) == 0;

    for (size_t i = 0; !conf && !there && i < ARRAY_SIZE(usual); i++)
        there = access(usual[i], R_OK) == 0;
    return there && submit_check_command("sbatch", "/", environ_get(env, "PATH"), NULL) == 0;
}

/* Slurm's commands would look a minute for a file that is not there. */
static int check_conf(struct err *e)
{
    const char *conf = environ_get(conf_environment(), "SLURM_CONF");

    if (!conf || access(conf, R_OK) == 0)
        return 0;
    return err_set(e, -errno, "SLURM_CONF: %s: %s", conf, strerror(errno));
}

int engine_choose(enum engine *ret, const char *asked, const char *directory,
                  const struct engine_there *there, struct err *e)
{
    bool slurm = asked && !strcmp(asked, engine_names[ENGINE_SLURM]);

    if (slurm && directory)
        return err_usage(e, "--engine slurm and --directory exclude each other: the folder is one "
                            "of brim's queue");
    if (!asked && !directory)
        slurm = !there->queue && there->slurm;
    *ret = slurm ? ENGINE_SLURM : ENGINE_LOCAL;
    return 0;
}

int engine_of(enum engine *ret, const char *asked, const char *directory, const char *folder,
              struct err *e)
{
    struct engine_there there = { .queue = queue_is_there(folder) };

    int rc;

    there.slurm = !asked && !directory && !there.queue && is_set_up();
    rc = engine_choose(ret, asked, directory, &there, e);
    return rc == 0 && *ret == ENGINE_SLURM ? check_conf(e) : rc;
}
