#include "cmd/control/door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"
#include "cmd/control/operate.h"

enum { ORDER_MOST = 64, ANSWER_MOST = 16 << 20, CLIENT_S = 5, WAITING = 16, NAMES = 16384 };

/* What an answer begins with. */
enum { GOOD = '+', BAD = '-' };

struct door {
    const struct door_config *config;
    struct control_book *book;
    pthread_t thread;
    bool running;
    int listener, wake; /* -1 */
};

/* ---- who asks ---- */

/* The name of a user; its number where it has none. */
static void name_of(uid_t uid, char *ret, size_t size)
{
    CLEANUP(freep) char *room = malloc(NAMES);
    struct passwd entry, *found = NULL;

    if (room && getpwuid_r(uid, &entry, room, NAMES, &found) == 0 && found)
        snprintf(ret, size, "%s", found->pw_name);
    else
        snprintf(ret, size, "%u", (unsigned)uid);
}

/* What Slurm does not tell of somebody he may not do. */
static int judge(const struct door *d, uid_t uid, struct asker *who, struct slurm_rights *rights,
                 struct err *e)
{
    int rc = 0;

    *rights = (struct slurm_rights){ .operates = false };
    who->own = d->config->own;
    who->rights = rights;
    who->operates = uid == 0 || uid == geteuid();
    if (!who->operates)
        rc = slurm_rights_ask(rights, who->user, d->config->conf, d->config->patience_ms, e);
    who->operates = who->operates || rights->operates;
    return rc;
}

/* ---- one client ---- */

/* A line that comes whole: who sends a byte now and then does not keep others waiting. */
static int read_order(int fd, char text[ORDER_MOST])
{
    ssize_t n = recv(fd, text, ORDER_MOST - 1, 0);

    if (n <= 0)
        return -EIO;
    text[n] = 0;
    if (text[n - 1] != '\n' || strlen(text) != (size_t)n)
        return -EINVAL;
    text[n - 1] = 0;
    return 0;
}

static void send_all(int fd, char first, const char *text, size_t len)
{
    bool sent = send(fd, &first, 1, MSG_NOSIGNAL) == 1;

    while (sent && len > 0) {
        ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

        sent = n > 0;
        text += sent ? n : 0;
        len -= sent ? (size_t)n : 0;
    }
}

static int obey(struct door *d, uid_t uid, const char *text, struct str *out, struct err *e)
{
    char name[ORDER_MOST * 2];
    struct asker who = { .user = name };
    struct slurm_rights rights;
    struct err why = { "" };
    struct order order;
    int unknown = 0, rc;

    name_of(uid, name, sizeof(name));
    if (order_read(&order, text) < 0)
        return err_set(e, -EINVAL, "this control does not know the order '%.64s'", text);
    if (order.kind != ORDER_LIST || d->config->own)
        unknown = judge(d, uid, &who, &rights, &why);
    rc = operate(d->book, &order, &who, out, e);
    if (rc == -EACCES && unknown < 0)
        return err_set(e, rc, "what %.64s may do is not known: %.300s", name, why.text);
    if (rc == 0 && order.kind != ORDER_LIST)
        log_info("%s asked: %s", name, text);
    return rc;
}

static void serve_one(struct door *d, int fd)
{
    const struct timeval patience = { .tv_sec = CLIENT_S };
    CLEANUP(str_done) struct str out = STR_INIT(ANSWER_MOST);
    struct ucred peer = { 0 };
    socklen_t len = sizeof(peer);
    char text[ORDER_MOST];
    struct err e = { "" };
    int rc;

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 || read_order(fd, text) < 0)
        return;
    rc = obey(d, peer.uid, text, &out, &e);
    if (rc == 0 && str_error(&out) == 0)
        send_all(fd, GOOD, str_text(&out), out.len);
    else
        send_all(fd, BAD, *e.text ? e.text : "out of memory",
                 strlen(*e.text ? e.text : "out of memory"));
}

static void *run(void *arg)
{
    struct door *d = arg;
    struct pollfd fds[] = { { .fd = d->listener, .events = POLLIN },
                            { .fd = d->wake, .events = POLLIN } };

    while (!fds[1].revents) {
        CLEANUP(closep) int fd = -1;

        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        fd = fds[0].revents ? accept4(d->listener, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (fd >= 0)
            serve_one(d, fd);
        else if (fds[0].revents && errno != EAGAIN && errno != EINTR)
            (void)poll(&fds[1], 1, 1000); /* what keeps it from accepting may go */
    }
    return NULL;
}

/* ---- the socket ---- */

static int address_of(const char *path, struct sockaddr_un *ret, struct err *e)
{
    *ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (snprintf(ret->sun_path, sizeof(ret->sun_path), "%s", path) >= (int)sizeof(ret->sun_path))
        return err_set(e, -ENAMETOOLONG, "the name of the socket %s is too long: %zu bytes at most",
                       path, sizeof(ret->sun_path) - 1);
    return 0;
}

/* A socket of one that was killed is in the way; one that answers is another control's. */
static int make_room(const char *path, const struct sockaddr_un *address, struct err *e)
{
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct stat st;

    if (lstat(path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return err_set(e, -EEXIST, "%s is there, and no socket: name another one", path);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
        return err_set(e, -EBUSY, "another brim control listens at %s", path);
    return unlink(path) < 0 ? err_set(e, -errno, "cannot remove %s: %m", path) : 0;
}

static int open_listener(const char *path, struct err *e)
{
    CLEANUP(closep) int fd = -1;
    struct sockaddr_un address;
    int rc = address_of(path, &address, e);

    if (rc == 0)
        rc = make_room(path, &address, e);
    if (rc < 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
        chmod(path, 0666) < 0 || listen(fd, WAITING) < 0)
        return err_set(e, -errno, "cannot listen at %s: %m", path);
    return steal_fd(&fd);
}

int door_open(struct door **ret, const struct door_config *config, struct err *e)
{
    struct door *d = calloc(1, sizeof(*d));
    int rc;

    if (!d)
        return err_nomem(e);
    d->config = config;
    d->wake = -1;
    d->listener = rc = open_listener(config->path, e);
    if (rc >= 0)
        rc = control_book_open(&d->book, config->where, false, e);
    if (rc == 0) {
        d->wake = eventfd(0, EFD_CLOEXEC);
        rc = d->wake < 0 ? err_set(e, -errno, "cannot make an event: %m") : 0;
    }
    if (rc == 0) {
        rc = thread_start(&d->thread, run, d);
        d->running = rc == 0;
        if (rc < 0)
            rc = err_set(e, rc, "cannot start a thread: %s", strerror(-rc));
    }
    if (rc < 0)
        door_close(d);
    else
        *ret = d;
    return rc;
}

void door_close(struct door *d)
{
    const uint64_t one = 1;

    if (!d)
        return;
    if (d->running && write(d->wake, &one, sizeof(one)) == (ssize_t)sizeof(one))
        pthread_join(d->thread, NULL);
    if (d->listener >= 0) {
        close(d->listener);
        unlink(d->config->path);
    }
    if (d->wake >= 0)
        close(d->wake);
    control_book_close(d->book);
    free(d);
}

/* ---- asking ---- */

static int nobody(const char *path, struct err *e)
{
    return err_set(e, -errno, "no brim control answers at %s: %m", path);
}

int door_ask(const char *path, const char *order, struct str *out, struct err *e)
{
    const struct timeval patience = { .tv_sec = 60 };
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CLEANUP(str_done) struct str line = STR_INIT(ORDER_MOST), answer = STR_INIT(ANSWER_MOST);
    struct sockaddr_un address;
    char part[4096];
    ssize_t n;
    int rc = address_of(path, &address, e);

    if (rc < 0)
        return rc;
    str_addf(&line, "%s\n", order);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
        return nobody(path, e);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (send(fd, str_text(&line), line.len, MSG_NOSIGNAL) != (ssize_t)line.len)
        return nobody(path, e);
    while ((n = recv(fd, part, sizeof(part), 0)) > 0)
        str_add_n(&answer, part, (size_t)n);
    if (n < 0)
        return nobody(path, e);
    if (str_error(&answer) || answer.len == 0)
        return err_set(e, -EIO, "the answer of the brim control at %s is not whole", path);
    if (str_text(&answer)[0] != GOOD)
        return err_set(e, -EPERM, "%s", str_text(&answer) + 1);
    str_add_n(out, str_text(&answer) + 1, answer.len - 1);
    return 0;
}
