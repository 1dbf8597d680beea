/* Folders that cannot be read to their end: what looks into one does not take that for its end. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "folder.h"
#include "probe/process/pids.h"
#include "probe/process/table.h"
#include "queue/guard/control_group.h"
#include "queue/guard/files.h"
#include "queue/guard/strays.h"
#include "run/job/attach.h"
#include "run/ring/rings.h"
#include "run/setting/machine_setting.h"
#include "run/watch/live_runs.h"
#include "tap.h"

/* Names that are still read before the disk fails; -1: it does not. */
static int left = -1;

struct dirent *__real_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir);
struct dirent *__wrap_readdir64(DIR *dir)
{
    if (left == 0) {
        errno = EIO;
        return NULL;
    }
    left -= left > 0;
    return __real_readdir64(dir);
}

static void test_next(const char *root)
{
    DIR *dir = opendir(root);
    const char *name;
    int n = 0, rc;

    folder_need(dir ? 0 : -1, root);
    errno = ENOENT; /* of an earlier call */
    while ((rc = folder_next(dir, &name)) > 0)
        n++;
    is_int(rc, 0, "a folder has an end");
    ok(n > 2, "a folder has its names: %d", n);
    rewinddir(dir);
    left = 1;
    is_int(folder_next(dir, &name), 1, "a name is read before the disk fails");
    is_int(folder_next(dir, &name), -EIO, "a disk that fails is no end of a folder");
    left = -1;
    closedir(dir);
}

static void test_rings(const char *root)
{
    CLEANUP(rings_closep) struct rings *rings = NULL;
    struct err e = { "" };

    is_int(rings_open(&rings, root, &e), 0, "a folder of rings is opened: %s", e.text);
    left = 1;
    is_int(rings_read(rings, &e), 0, "a folder of rings that fails ends no observer");
    is_str(e.text, "the folder of rings: Input/output error: steps of a process may be missing",
           "an observer says that steps may be missing");
    e.text[0] = 0;
    is_int(rings_read(rings, &e), 0, "a folder of rings is read again");
    is_str(e.text, "", "an observer says it once");
    left = -1;
}

static void test_settings(const char *root)
{
    CLEANUP(str_done) struct str out = STR_INIT(4096);
    struct machine_settings l;
    struct err e = { "" };

    folder_text(root, "sys/block/sda/stat", "1 0 1000 0 0\n");
    folder_text(root, "sys/block/sdb/stat", "1 0 1000 0 0\n");
    folder_text(root, "sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
    folder_text(root, "sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "powersave\n");
    left = 3;
    machine_settings_init(&l, &(const struct machine_setting_about){ .root = root });
    left = -1;
    is_int((long long)l.n_disks, 0, "no disk is chosen among those that could be read");
    left = 3;
    is_int(machine_setting_read(&l, "cpu.governor", &out, &e), -EIO,
           "governors of some CPUs are not those of all");
    is_str(e.text, "/sys/devices/system/cpu/cpufreq cannot be read: Input/output error",
           "the sentence names the folder of governors");
    left = -1;
    machine_settings_done(&l);
}

static void test_live_runs(const char *root)
{
    const char *folders[] = { root, NULL };
    static struct live_runs runs;

    left = 1;
    live_runs_look(&runs, folders);
    is_int((long long)runs.unread, 1, "a folder that fails may have more runs");
    left = -1;
    live_runs_look(&runs, folders);
    is_int((long long)runs.unread, 0, "a folder that is read has all of its runs");
}

static void test_attach(void)
{
    CLEANUP(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(str_done) struct str folder = STR_INIT(4096);

    left = 1;
    is_int(attach_folder(proc, getpid(), &folder), -EIO,
           "files that cannot be listed may be those of a run");
    left = -1;
    is_int(attach_folder(proc, getpid(), &folder), 0, "files that are listed tell of no run");
}

static void test_processes_of_jobs(const char *root)
{
    struct strays marked = { .group = "" };
    char path[PATH_MAX + 16];

    strays_mark(marked.mark, 999999999, 999999999);
    is_int((long long)strays_send(&marked, 0), 0, "a job that is not there has no processes");
    left = 5;
    is_int((long long)strays_send(&marked, 0), 1,
           "a list of processes that fails may have some of the job");
    left = -1;
    folder_text(root, "group/cgroup.procs", "");
    folder_text(root, "group/below/cgroup.procs", "");
    snprintf(path, sizeof(path), "%s/group", root);
    is_int((long long)control_group_send(path, 0), 0, "a group and those below it are empty");
    left = 0;
    is_int((long long)control_group_send(path, 0), 1,
           "a group that fails may have processes below it");
    left = -1;
}

/* Processes that are not read have not ended. */
static void test_processes(void)
{
    struct process_table table = { .n = 0 };
    struct process_pids pids = { .n = 0 };
    DIR *proc = opendir("/proc");
    size_t n;

    folder_need(proc ? 0 : -1, "/proc");
    left = 5;
    is_int(process_pids_read(&pids, proc, SIZE_MAX), -EIO,
           "a list of processes that fails says so");
    left = -1;
    is_int(process_pids_read(&pids, proc, SIZE_MAX), 0, "a list of processes is read");
    ok(process_pids_has(&pids, getpid()), "this process is in the list");
    is_int(process_table_update(&table, proc), 0, "a table of processes is made");
    n = table.n;
    left = 5;
    is_int(process_table_update(&table, proc), -EIO, "a table that cannot be read says so");
    left = -1;
    is_int((long long)table.n, (long long)n, "a table that cannot be read is as it was");
    process_table_done(&table);
    process_pids_done(&pids);
    closedir(proc);
}

int main(void)
{
    char root[PATH_MAX];

    folder_make(root);
    test_settings(root);
    test_next(root);
    test_rings(root);
    test_live_runs(root);
    test_attach();
    test_processes_of_jobs(root);
    test_processes();
    folder_remove(root);
    return done();
}
