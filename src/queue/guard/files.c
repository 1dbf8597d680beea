#include "queue/guard/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/parse.h"
#include "probe/kernel/boot_id.h"
#include "probe/process/files.h"
#include "queue/job/wire.h"

enum { NAME = 96, RECORD_MAX = 4096 };

/* ---- folders ---- */

static int make_folders(const char *path, struct err *e)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
        return err_set(e, -ENAMETOOLONG, "cannot use %s: the name is too long", path);
    for (char *at = part + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        if (mkdir(part, 0755) < 0 && errno != EEXIST && access(part, F_OK) < 0)
            return err_set(e, -errno, "cannot make %s: %s", part, strerror(errno));
        *at = '/';
    }
    return 0;
}

int queue_files_open(const char *path, bool shared, struct err *e)
{
    int rc = make_folders(path, e);
    CLEANUP(closep) int dir = -1;
    mode_t mode = shared ? 0755 : 0700;

    if (rc < 0)
        return rc;
    if (mkdir(path, mode) < 0 && errno != EEXIST)
        return err_set(e, -errno, "cannot make %s: %s", path, strerror(errno));
    dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || (mkdirat(dir, "jobs", mode) < 0 && errno != EEXIST) ||
        (mkdirat(dir, "ends", 0700) < 0 && errno != EEXIST))
        return err_set(e, -errno, "cannot use %s: %s", path, strerror(errno));
    return steal_fd(&dir);
}

static void name_of(char name[NAME], int64_t id, const char *file, int32_t attempt)
{
    if (attempt)
        snprintf(name, NAME, "jobs/%lld/%s.%d", (long long)id, file, (int)attempt);
    else
        snprintf(name, NAME, "jobs/%lld/%s", (long long)id, file);
}

static void end_name(char name[NAME], int64_t id, int32_t attempt)
{
    snprintf(name, NAME, "ends/%lld.%d", (long long)id, (int)attempt);
}

int queue_folder_make(int dir, int64_t id, struct err *e)
{
    char name[NAME];

    name_of(name, id, "", 0);
    if (mkdirat(dir, name, 0755) < 0 && errno != EEXIST)
        return err_set(e, -errno, "cannot make %s in the queue's folder: %s", name,
                       strerror(errno));
    return 0;
}

/* ---- whole files, on the disk when this returns ---- */

static int write_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, data, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        data += n;
        len -= (size_t)n;
    }
    return fsync(fd) < 0 ? -errno : 0;
}

/* Make what happened to the names of a file's folder last. */
static int sync_folder(int dir, const char *name)
{
    char folder[NAME];
    CLEANUP(closep) int fd = -1;

    snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(name, '/') - name), name);
    fd = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* Beside itself first, under a name that no other process uses. */
static int write_whole(int dir, const char *name, const struct str *text)
{
    char beside[NAME + 16];
    CLEANUP(closep) int fd = -1;
    int rc = str_error(text);

    if (rc < 0)
        return rc;
    fd = file_draft(dir, name, 0600, beside, sizeof(beside));
    if (fd < 0)
        return fd;
    rc = write_all(fd, str_text(text), text->len);
    if (rc == 0 && renameat(dir, beside, dir, name) < 0)
        rc = -errno;
    if (rc < 0) {
        unlinkat(dir, beside, 0);
        return rc;
    }
    return sync_folder(dir, name);
}

static int read_whole(int dir, const char *name, struct str *ret)
{
    CLEANUP(closep) int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char part[4096];
    ssize_t n;

    str_reset(ret);
    if (fd < 0)
        return -errno;
    while ((n = read(fd, part, sizeof(part))) > 0)
        str_add_n(ret, part, (size_t)n);
    return n < 0 ? -errno : str_error(ret);
}

int queue_order_write(int dir, int64_t array, const struct str *order, struct err *e)
{
    char name[NAME];
    int rc;

    name_of(name, array, "order", 0);
    rc = write_whole(dir, name, order);
    return rc < 0 ? err_set(e, rc, "cannot write %s in the queue's folder: %s", name, strerror(-rc))
                  : 0;
}

int queue_order_read(int dir, int64_t array, struct str *ret, struct err *e)
{
    char name[NAME];
    int rc;

    name_of(name, array, "order", 0);
    rc = read_whole(dir, name, ret);
    return rc < 0 ? err_set(e, rc, "cannot read %s in the queue's folder: %s", name, strerror(-rc))
                  : 0;
}

/* ---- claims ---- */

int queue_claim(int dir, int64_t id, int32_t attempt, const char *group)
{
    char name[NAME], beside[NAME + 16], boot[BOOT_ID], text[CONTROL_GROUP + BOOT_ID + 16];
    CLEANUP(closep) int fd = -1;
    int len, rc = 0;

    boot_id_read(boot);
    len = snprintf(text, sizeof(text), "%d\n%s\n%s\n", (int)getpid(), boot, group);
    name_of(name, id, "claim", attempt);
    fd = file_draft(dir, name, 0600, beside, sizeof(beside));
    if (fd < 0)
        return fd;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 || write(fd, text, (size_t)len) != len)
        rc = errno ? -errno : -EIO;
    if (rc == 0 && linkat(dir, beside, dir, name, 0) < 0)
        rc = -errno;
    unlinkat(dir, beside, 0);
    return rc < 0 ? rc : steal_fd(&fd);
}

/* A number from a file that is open. */
static pid_t read_pid(int fd)
{
    char text[32] = "";
    uint64_t value = 0;

    if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || parse_digits(text, 10, 10, &value) == 0)
        return 0;
    return (pid_t)value;
}

enum queue_claimed queue_claim_look(int dir, int64_t id, int32_t attempt, pid_t *pid)
{
    char name[NAME];
    CLEANUP(closep) int fd = -1;

    *pid = 0;
    name_of(name, id, "claim", attempt);
    fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? CLAIM_NONE : CLAIM_HELD; /* cannot be told now: ask again */
    *pid = read_pid(fd);
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return CLAIM_HELD;
    return CLAIM_LEFT;
}

/* ---- starts ---- */

/* When a process started, in the kernel's ticks; 0: there is none. */
static uint64_t start_time(pid_t pid)
{
    struct process_stat stat;

    return process_stat_here(pid, &stat) == 0 && stat.state != 'Z' ? stat.start_ticks : 0;
}

int queue_start_write(int dir, int64_t id, int32_t attempt, pid_t pid, const char *group)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME], boot[BOOT_ID];

    boot_id_read(boot);
    wire_add(&text, "boot", boot);
    wire_add_int(&text, "pid", pid);
    wire_add_int(&text, "started", (int64_t)start_time(pid));
    wire_add(&text, "group", group);
    name_of(name, id, "start", attempt);
    return write_whole(dir, name, &text);
}

enum queue_started queue_start_look(int dir, int64_t id, int32_t attempt, pid_t *pid)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME], boot[BOOT_ID];
    const char *was;
    int64_t started;

    *pid = 0;
    name_of(name, id, "start", attempt);
    if (read_whole(dir, name, &text) < 0)
        return START_NONE;
    boot_id_read(boot);
    was = wire_get(&text, "boot");
    *pid = (pid_t)wire_int(&text, "pid", 0);
    started = wire_int(&text, "started", 0);
    if (!was || strcmp(was, boot) != 0 || *pid <= 1 || started == 0 ||
        start_time(*pid) != (uint64_t)started)
        return START_GONE;
    return START_LIVES;
}

/* ---- control groups ---- */

/* Of a claim: its lines are the guard, the boot and the group. */
static void claimed_group(int dir, int64_t id, int32_t attempt, char ret[CONTROL_GROUP])
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME], boot[BOOT_ID];
    char *at, *was;

    name_of(name, id, "claim", attempt);
    if (read_whole(dir, name, &text) < 0 || text.len == 0)
        return;
    at = text.data;
    boot_id_read(boot);
    (void)strsep(&at, "\n");
    was = strsep(&at, "\n");
    if (was && at && !strcmp(was, boot))
        snprintf(ret, CONTROL_GROUP, "%.*s", (int)strcspn(at, "\n"), at);
}

void queue_group_look(int dir, int64_t id, int32_t attempt, char ret[CONTROL_GROUP])
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME], boot[BOOT_ID];
    const char *was, *group;

    ret[0] = 0;
    name_of(name, id, "start", attempt);
    boot_id_read(boot);
    if (read_whole(dir, name, &text) < 0) {
        claimed_group(dir, id, attempt, ret);
    } else {
        was = wire_get(&text, "boot");
        group = wire_get(&text, "group");
        if (was && group && !strcmp(was, boot))
            snprintf(ret, CONTROL_GROUP, "%s", group);
    }
    if (!control_group_is_of(ret, id))
        ret[0] = 0;
}

/* ---- ends ---- */

int queue_end_write(int dir, int64_t id, int32_t attempt, const struct queue_end *end)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME];

    wire_add_int(&text, "status", end->status);
    wire_add_int(&text, "stop", end->stop);
    wire_add_int(&text, "lost", end->lost);
    wire_add_int(&text, "unstarted", end->unstarted);
    wire_add_int(&text, "end_ms", end->end_ms);
    wire_add(&text, "text", end->text);
    end_name(name, id, attempt);
    return write_whole(dir, name, &text);
}

int queue_end_read(int dir, int64_t id, int32_t attempt, struct queue_end *ret)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME];
    int rc;

    end_name(name, id, attempt);
    rc = read_whole(dir, name, &text);
    if (rc < 0)
        return rc;
    *ret = (struct queue_end){
        .status = (int32_t)wire_int(&text, "status", 0),
        .stop = (uint8_t)wire_int(&text, "stop", 0),
        .lost = wire_int(&text, "lost", 0) != 0,
        .unstarted = wire_int(&text, "unstarted", 0) != 0,
        .end_ms = wire_int(&text, "end_ms", 0),
    };
    snprintf(ret->text, sizeof(ret->text), "%s",
             wire_get(&text, "text") ? wire_get(&text, "text") : "");
    return 0;
}

int queue_stop_write(int dir, int64_t id, int32_t attempt, enum queue_stop stop)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME];

    wire_add_int(&text, "stop", stop);
    name_of(name, id, "stop", attempt);
    return write_whole(dir, name, &text);
}

enum queue_stop queue_stop_read(int dir, int64_t id, int32_t attempt)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORD_MAX);
    char name[NAME];
    int64_t stop;

    name_of(name, id, "stop", attempt);
    if (read_whole(dir, name, &text) < 0)
        return QUEUE_GO;
    stop = wire_int(&text, "stop", QUEUE_GO);
    return stop == QUEUE_PREEMPT || stop == QUEUE_CANCEL ? (enum queue_stop)stop : QUEUE_GO;
}

/* ---- removing ---- */

void queue_attempt_forget(int dir, int64_t id, int32_t attempt)
{
    static const char *const files[] = { "start", "stop" };
    char name[NAME];

    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        name_of(name, id, files[i], attempt);
        unlinkat(dir, name, 0);
    }
    end_name(name, id, attempt);
    unlinkat(dir, name, 0);
}

void queue_folder_remove(int dir, int64_t id)
{
    char name[NAME];
    const char *entry;
    DIR *list;
    int fd;

    name_of(name, id, "", 0);
    fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    list = fd < 0 ? NULL : fdopendir(fd);
    if (!list) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (folder_next(list, &entry) > 0) /* what is not read keeps the folder from going */
        unlinkat(fd, entry, 0);
    closedir(list);
    unlinkat(dir, name, AT_REMOVEDIR);
}
