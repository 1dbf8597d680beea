#include "queue/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/un.h>

#include "base/log.h"
#include "queue/guard/engine_start.h"
#include "queue/guard/files.h"
#include "queue/job/wire.h"

enum {
    PATIENCE_S = 60,   /* for an answer */
    START_MS = 500,    /* for an engine to take its lock */
    PROBE_MS = 15000,  /* and then to read the machine: a driver may hang */
    SERVICE_MS = 6000, /* for a service that is started anew */
    TURN_MS = 20,
    TRIES = 12,
    REFUSALS = 2,
    ASKED = 12,
    AGAIN_MS = 1000, /* between two engines that are asked for the end of a job, at most */
    LOOK_MS = 1000,
    ROOM_LEAST = 64 << 10, /* bytes */
};

static int open_folder(const char *folder)
{
    int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

    return dir < 0 ? -errno : dir;
}

/* A connection; -ENOENT or -ECONNREFUSED: nobody listens. */
static int try_connect(const char *folder)
{
    const struct timeval patience = { .tv_sec = PATIENCE_S };
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    CLEANUP(closep) int dir = open_folder(folder);
    CLEANUP(closep) int fd = -1;

    if (dir < 0)
        return dir;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/" QUEUE_SOCKET, dir);
    if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return -errno;
    return steal_fd(&fd);
}

bool queue_is_there(const char *folder)
{
    CLEANUP(closep) int dir = open_folder(folder);

    return dir >= 0;
}

bool queue_is_shared(const char *folder)
{
    CLEANUP(closep) int dir = open_folder(folder);

    return dir >= 0 && faccessat(dir, QUEUE_SHARED, F_OK, 0) == 0;
}

/* Whether nobody listens there, as far as a failed connection tells. */
static bool is_nobody(int rc)
{
    return rc == -ENOENT || rc == -ECONNREFUSED || rc == -EAGAIN;
}

/* Wait for one that comes back by itself: a service is started anew. */
static int await(const char *folder, int patience_ms)
{
    int fd = try_connect(folder);

    for (int waited = 0; waited < patience_ms && is_nobody(fd); waited += TURN_MS) {
        (void)poll(NULL, 0, TURN_MS);
        fd = try_connect(folder);
    }
    return fd;
}

/* The last line of what an engine said before it went. */
static void last_words(const char *folder, char *ret, size_t size)
{
    CLEANUP(closep) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP(closep)
    int fd = dir < 0 ? -1 : openat(dir, QUEUE_LOG, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    off_t len = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
    ssize_t n = len > 0 ? pread(fd, ret, size - 1, MAX(len - (off_t)size + 1, 0)) : 0;
    char *line;

    ret[n > 0 ? n : 0] = 0;
    if (n > 0 && ret[n - 1] == '\n')
        ret[n - 1] = 0;
    line = strrchr(ret, '\n');
    if (line)
        memmove(ret, line + 1, strlen(line));
}

/* How much engines have said so far. */
static off_t said(int dir)
{
    struct stat st;

    return fstatat(dir, QUEUE_LOG, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_size : 0;
}

/* Whether its disk has no room for what an engine writes first. Some of it may be for root alone.
 */
static bool is_full(int dir)
{
    struct statvfs v;
    bool root = geteuid() == 0 || faccessat(dir, QUEUE_SHARED, F_OK, 0) == 0;

    return fstatvfs(dir, &v) == 0 &&
           (uint64_t)(root ? v.f_bfree : v.f_bavail) * v.f_frsize < ROOM_LEAST;
}

bool queue_warn_full(const char *folder)
{
    CLEANUP(closep) int dir = open_folder(folder);
    bool full = dir >= 0 && is_full(dir);

    if (full)
        log_warning("the disk of %s is full: before there is room no job starts, and one that has "
                    "ended counts as running",
                    folder);
    return full;
}

/* One that is killed as soon as it is there is started again, a few times; one that says why it
 * goes, once. */
static int start_engine(const char *folder, struct err *e)
{
    char words[256];
    int refused = 0;
    CLEANUP(closep) int dir = queue_files_open(folder, false, e);
    int fd = -ENOENT;

    if (dir < 0)
        return dir;
    unlinkat(dir, QUEUE_STOPPED, 0);
    for (int i = 0; i < TRIES && refused < REFUSALS && is_nobody(fd); i++) {
        off_t before = said(dir);

        if (!queue_engine_lives(dir) && queue_engine_start(folder) < 0)
            return err_set(e, -EAGAIN, "cannot start the queue's engine: no process can be made");
        fd = await(folder, START_MS);
        if (is_nobody(fd) && queue_engine_lives(dir))
            fd = await(folder, PROBE_MS);
        refused += is_nobody(fd) && said(dir) > before;
        if (is_nobody(fd) && is_full(dir))
            break; /* it cannot even say why */
    }
    if (fd >= 0)
        return fd;
    if (is_full(dir))
        return err_set(e, -ENOSPC, "the queue's engine does not come up: the disk of %s is full",
                       folder);
    last_words(folder, words, sizeof(words));
    if (!*words)
        return err_set(e, fd,
                       "the queue's engine does not come up, and does not say why: brim queue "
                       "--directory=%s does",
                       folder);
    return err_set(e, fd,
                   "the queue's engine does not come up: its last words are '%.190s' (%s/" QUEUE_LOG
                   ")",
                   words, folder);
}

static int open_connection(const char *folder, struct err *e)
{
    bool shared = queue_is_shared(folder);
    int fd = await(folder, shared ? SERVICE_MS : 0);

    if (is_nobody(fd) && shared && access(folder, W_OK) < 0)
        return err_set(e, fd,
                       "nobody runs the queue of this machine now: its operator does, with brim "
                       "queue");
    if (is_nobody(fd))
        return start_engine(folder, e);
    if (fd == -EACCES)
        return err_set(e, fd, "the queue in %s is another user's", folder);
    if (fd < 0)
        return err_set(e, fd, "cannot reach the queue's engine in %s: %s", folder, strerror(-fd));
    return fd;
}

/* Whether the engine went before it had answered, and another one can be asked the same. */
static bool went(int rc)
{
    return rc == -EPIPE || rc == -ECONNRESET;
}

/* Until there is something of the answer, or nobody to give it. */
static void await_answer(int fd, const char *folder)
{
    struct pollfd p = { .fd = fd, .events = POLLIN };
    bool said = false;

    while (poll(&p, 1, LOOK_MS) == 0)
        said = said || queue_warn_full(folder);
}

/* patience_s: for the answer; 0: as long as it takes. */
static int ask_once(const char *folder, const struct str *request, int patience_s,
                    struct str *answer, struct err *e)
{
    const struct timeval patience = { .tv_sec = patience_s };
    CLEANUP(closep) int fd = open_connection(folder, e);
    int rc;

    if (fd < 0)
        return fd;
    rc = wire_send(fd, request);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (rc == 0 && patience_s == 0)
        await_answer(fd, folder);
    if (rc == 0 || went(rc)) /* what it said before it closed the connection */
        rc = wire_receive(fd, answer);
    return rc;
}

/* What the answer, or that there is none, means for the command. */
static int conclude(int rc, const char *folder, const struct str *answer, struct err *e)
{
    const char *error;
    int status;

    if (rc == -EFBIG)
        return err_set(e, rc, "the job's command and environment are larger than %d MiB",
                       WIRE_ORDER >> 20);
    if (went(rc) || rc == -EAGAIN)
        return err_set(e, rc,
                       "the queue's engine in %s does not answer: brim jobs tells what became "
                       "of this",
                       folder);
    if (rc < 0)
        return rc;
    if (answer->len == 0)
        return err_set(e, -EPIPE, QUEUE_NO_ANSWER);
    error = wire_get(answer, "error");
    status = (int)wire_int(answer, "status", EPROTO);
    return status ? err_set(e, -status, "%s", error ? error : QUEUE_BAD_ANSWER) : 0;
}

int queue_ask(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    int rc = -EPIPE;

    for (int i = 0; i < ASKED && went(rc); i++)
        rc = ask_once(folder, request, PATIENCE_S, answer, e);
    return conclude(rc, folder, answer, e);
}

int queue_wait(const char *folder, const struct str *request, struct str *answer, struct err *e)
{
    int rc = ask_once(folder, request, 0, answer, e);

    for (int pause_ms = TURN_MS; went(rc); pause_ms = MIN(2 * pause_ms, AGAIN_MS)) {
        (void)poll(NULL, 0, pause_ms);
        rc = ask_once(folder, request, 0, answer, e);
    }
    return conclude(rc, folder, answer, e);
}
