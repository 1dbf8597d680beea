/* The run that an observer reports at its end, while others of its job may still write: what sleeps
 * between two looks is the test's. */
#include "cmd/common/load_run.h"

#include <time.h>
#include <unistd.h>

#include "folder.h"
#include "run/archive/archive.h"
#include "tap.h"

static struct {
    unsigned sleeps, ends_at;
    struct archive *archive;
    struct run run;
} other;

int __wrap_nanosleep(const struct timespec *t, struct timespec *left);

int __wrap_nanosleep(const struct timespec *t, struct timespec *left)
{
    (void)t;
    (void)left;
    if (++other.sleeps == other.ends_at) {
        other.run.end = RUN_EXITED;
        other.run.status = 3;
        other.run.end_ns = other.run.begin_ns + 5;
        folder_need(archive_about(other.archive, &other.run, NULL), "archive_about");
    }
    return 0;
}

/* How the run had ended, when it was reported; ends_at: the look between which the other ends. */
static enum run_end end_of(unsigned ends_at, unsigned *sleeps)
{
    char root[PATH_MAX], host[65] = "";
    struct run got;
    enum run_end end;

    folder_make(root);
    folder_need(gethostname(host, sizeof(host) - 1), "gethostname");
    other.sleeps = 0;
    other.ends_at = ends_at;
    other.run = (struct run){ .id = "r1",
                              .name = "n",
                              .command = "c",
                              .folder = "/f",
                              .user = "u",
                              .host = host,
                              .begin_ns = 1000 };
    folder_need(archive_create(&other.archive, root, &other.run, 400, NULL), root);
    ok(load_run_at_end(archive_folder(other.archive), &got), "a run is read at its end");
    end = got.end;
    run_done(&got);
    archive_close(other.archive);
    folder_remove(root);
    *sleeps = other.sleeps;
    return end;
}

int main(void)
{
    struct run none;
    unsigned sleeps;

    is_int(end_of(3, &sleeps), RUN_EXITED, "the end of another observer is waited for");
    is_int(sleeps, 3, "nothing is waited for behind the end of another observer");
    is_int(end_of(100, &sleeps), RUN_RUNNING, "an observer that goes on is not waited for");
    is_int(sleeps, 20, "an observer that goes on is looked for 20 times");
    ok(!load_run_at_end("/nonexistent", &none), "a run that is not there is not read");
    run_done(&none);
    return done();
}
