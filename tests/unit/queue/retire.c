/* When a queue of all users may end: none of its jobs is left, and no engine runs it. */
#include "queue/retire.h"

#include <errno.h>
#include <unistd.h>

#include "folder.h"
#include "queue/client.h"
#include "queue/guard/engine_start.h"
#include "queue/guard/files.h"
#include "queue/job/store.h"
#include "queue/lock.h"
#include "tap.h"

static void refuses(const char *root, int rc, const char *before, const char *behind)
{
    char want[PATH_MAX + 160];
    struct err e = { "" };

    snprintf(want, sizeof(want), "%s%s%s", before, root, behind);
    is_int(queue_retire(root, &e), rc, "a queue does not end yet");
    is_str(e.text, want, "the refusal tells why");
}

static void end_job(struct queue_store *s, struct queue_job *j)
{
    struct err e = { "" };

    j->state = QUEUE_ENDED;
    folder_need(queue_store_put(s, j, &e), e.text);
}

int main(void)
{
    CLEANUP(queue_store_closep) struct queue_store *store = NULL;
    struct queue_job jobs[2] = { { .task = -1 }, { .task = -1 } };
    char root[PATH_MAX], path[PATH_MAX + 16];
    struct err e = { "" };
    int dir, lock;

    folder_make(root);
    dir = queue_files_open(root, true, &e);
    folder_need(dir, root);
    snprintf(path, sizeof(path), "%s/queue.db", root);
    folder_need(queue_store_open(&store, path, &e), e.text);
    for (int i = 0; i < 2; i++)
        folder_need(queue_store_add(store, &jobs[i], &e), e.text);
    refuses(root, -ENOENT, "the queue in ", " is not one for all users");
    folder_text(root, QUEUE_SHARED, "");
    ok(queue_is_shared(root), "a queue of all users is known as one");
    lock = queue_lock_take(dir, root, &e);
    folder_need(lock, "lock");
    refuses(root, -EBUSY, "an engine runs the queue in ", ": stop it first");
    close(lock);
    refuses(root, -EBUSY, "2 jobs of the queue in ",
            " have not ended: run it again, and wait for them or cancel them");
    end_job(store, &jobs[0]);
    refuses(root, -EBUSY, "1 job of the queue in ",
            " has not ended: run it again, and wait for them or cancel them");
    ok(queue_is_shared(root), "a queue that does not end is still one of all users");
    end_job(store, &jobs[1]);
    is_int(queue_retire(root, &e), 0, "a queue ends whose jobs have ended: %s", e.text);
    ok(!queue_is_shared(root), "a queue that ended is none of all users");
    close(dir);
    folder_remove(root);
    return done();
}
