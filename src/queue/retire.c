#include "queue/retire.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "queue/client.h"
#include "queue/guard/engine_start.h"
#include "queue/job/store.h"
#include "queue/lock.h"

static int count(void *arg, const struct queue_job *j)
{
    (void)j;
    ++*(long *)arg;
    return 0;
}

/* How many jobs have not ended. */
static int check_jobs(const char *folder, struct err *e)
{
    CLEANUP(queue_store_closep) struct queue_store *store = NULL;
    char path[PATH_MAX];
    long n = 0;
    int rc;

    if (snprintf(path, sizeof(path), "%s/queue.db", folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: the name is too long", folder);
    rc = queue_store_open(&store, path, e);
    if (rc == 0)
        rc = queue_store_list(store, QUEUE_LIVE, 0, count, &n, e);
    if (rc == 0 && n > 0)
        return err_set(e, -EBUSY,
                       "%ld %s of the queue in %s %s not ended: run it again, and wait for them or "
                       "cancel them",
                       n, n == 1 ? "job" : "jobs", folder, n == 1 ? "has" : "have");
    return rc;
}

int queue_retire(const char *folder, struct err *e)
{
    CLEANUP(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(closep) int lock = -1;
    int rc;

    if (!queue_is_shared(folder))
        return err_set(e, -ENOENT, "the queue in %s is not one for all users", folder);
    if (dir < 0)
        return err_set(e, -errno, "cannot use %s: %s", folder, strerror(errno));
    lock = queue_lock_take(dir, folder, e);
    if (lock == -EBUSY)
        return err_set(e, -EBUSY, "an engine runs the queue in %s: stop it first", folder);
    rc = lock < 0 ? lock : check_jobs(folder, e);
    if (rc < 0)
        return rc;
    if (unlinkat(dir, QUEUE_SHARED, 0) < 0)
        return err_set(e, -errno, "cannot remove %s/" QUEUE_SHARED ": %s", folder, strerror(errno));
    return 0;
}
