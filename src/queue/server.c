#include "queue/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parse.h"
#include "queue/client.h"
#include "queue/guard/engine_start.h"
#include "queue/guard/files.h"
#include "queue/lock.h"
#include "queue/queue_private.h"

enum {
    LOOK_MS = 1000,    /* guards that died leave no word */
    CLIENT_MS = 60000, /* that a client may take */
    LOW = 4,           /* descriptors that are no client's */
    FDS = QUEUE_CLIENTS + LOW,
};

/* ---- open and close ---- */

static void watch_ends(struct local *l)
{
    char name[64];

    snprintf(name, sizeof(name), "/proc/self/fd/%d/ends", l->dir);
    l->notify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (l->notify < 0 || inotify_add_watch(l->notify, name, IN_MOVED_TO) < 0)
        log_warning("ends of jobs are noticed with a delay of %d s: inotify: %s", LOOK_MS / 1000,
                    strerror(errno));
}

static int take_signals(struct local *l, struct err *e)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    signal(SIGCHLD, SIG_IGN); /* guards leave word in files; nobody has to reap them */
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0)
        l->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    return l->signals < 0 ? err_set(e, -errno, "signals: %s", strerror(errno)) : 0;
}

/* Make a file that says something by being there, or remove it. */
static void mark(const struct local *l, const char *name, bool there)
{
    int fd;

    if (!there) {
        unlinkat(l->dir, name, 0);
        return;
    }
    fd = openat(l->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd >= 0)
        close(fd);
}

static int open_all(struct local *l, struct err *e)
{
    char path[PATH_MAX];
    int rc = l->lock = queue_lock_take(l->dir, l->c->folder, e);

    if (rc >= 0)
        rc = take_signals(l, e);
    if (rc < 0)
        return rc;
    if (snprintf(path, sizeof(path), "%s/queue.db", l->c->folder) >= (int)sizeof(path))
        return err_set(e, -ENAMETOOLONG, "%s: the name is too long", l->c->folder);
    rc = queue_store_open(&l->store, path, e);
    if (rc == 0)
        rc = queue_pool_make(&l->pool, l->c->node, l->c->cpus, e);
    if (rc == 0)
        rc = queue_plan_check(&l->pool, l->c->policy, e);
    if (rc < 0)
        return rc;
    rc = queue_unknown_pass(l, e);
    if (rc < 0)
        return rc;
    watch_ends(l);
    rc = life_load(l, e);
    if (rc == 0)
        rc = clients_open(l, e);
    if (rc < 0)
        return rc;
    mark(l, QUEUE_STOPPED, !l->c->on_demand);
    if (l->c->shared)
        mark(l, QUEUE_SHARED, true); /* until queue_retire() */
    return 0;
}

static void close_all(struct local *l)
{
    for (int i = 0; i < QUEUE_CLIENTS && l->listener >= 0; i++)
        clients_drop(&l->clients[i]);
    if (l->listener >= 0)
        unlinkat(l->dir, QUEUE_SOCKET, 0);
    closep(&l->listener);
    closep(&l->notify);
    closep(&l->signals);
    queue_look_done(l);
    life_free(l);
    queue_store_close(l->store);
    queue_pool_done(&l->pool);
    closep(&l->lock);
    closep(&l->dir);
}

/* ---- turns ---- */

/* "12.1": attempt 1 of job 12 has ended. */
static void take_end(struct local *l, const char *name)
{
    uint64_t id;
    struct queue_job *j;
    int n = parse_digits(name, 10, 18, &id);

    if (n == 0 || name[n] != '.')
        return;
    j = life_find(l, (int64_t)id);
    if (j)
        life_look(l, j);
}

static void take_ends(struct local *l)
{
    union {
        struct inotify_event event;
        char bytes[16384];
    } buffer;
    ssize_t len;

    while ((len = read(l->notify, buffer.bytes, sizeof(buffer.bytes))) > 0)
        for (ssize_t at = 0; at < len;) {
            const struct inotify_event *x = (const void *)(buffer.bytes + at);

            if (x->mask & IN_Q_OVERFLOW)
                l->look_ms = 0;
            else if (x->len > 0)
                take_end(l, x->name);
            at += (ssize_t)(sizeof(*x) + x->len);
        }
    life_sweep(l);
}

static void leave(struct local *l)
{
    struct signalfd_siginfo s;

    while (read(l->signals, &s, sizeof(s)) == sizeof(s))
        l->stop |= s.ssi_signo != SIGHUP;
    if (l->stop)
        mark(l, QUEUE_STOPPED, true);
}

/* How long until something is to be done without anybody asking, in ms; -1: never. */
static int patience(const struct local *l)
{
    int64_t now_ms = queue_now_ms(l), due = INT64_MAX;

    for (size_t i = 0; i < l->n && due == INT64_MAX; i++)
        if (l->jobs[i]->state == QUEUE_RUNNING)
            due = l->look_ms;
    due = MIN(due, queue_look_due(l));
    due = MIN(due, l->again_ms);
    if (now_ms < l->deaf_ms)
        due = MIN(due, l->deaf_ms);
    if (l->retry_ms)
        due = MIN(due, l->retry_ms);
    else if (l->changed)
        due = now_ms;
    if (l->c->on_demand && l->idle_ms)
        due = MIN(due, l->idle_ms + l->c->idle_ms);
    for (int i = 0; i < QUEUE_CLIENTS; i++)
        if (l->clients[i].fd >= 0 && !l->clients[i].waits)
            due = MIN(due, l->clients[i].since_ms + CLIENT_MS);
    if (due == INT64_MAX)
        return -1;
    return (int)MIN(MAX(due - now_ms, 0), INT_MAX);
}

static void wait_for(struct local *l)
{
    bool deaf = queue_now_ms(l) < l->deaf_ms;
    struct pollfd fds[FDS] = { { .fd = deaf ? -1 : l->listener, .events = POLLIN },
                               { .fd = l->notify, .events = POLLIN },
                               { .fd = l->signals, .events = POLLIN },
                               { .fd = l->look.sensor, .events = POLLIN } };
    struct queue_client *of[FDS] = { NULL };
    nfds_t n = LOW;

    for (int i = 0; i < QUEUE_CLIENTS; i++)
        if (l->clients[i].fd >= 0) {
            of[n] = &l->clients[i];
            fds[n++] = (struct pollfd){ .fd = l->clients[i].fd,
                                        .events = l->clients[i].answered ? POLLOUT : POLLIN };
        }
    if (poll(fds, n, patience(l)) <= 0)
        return;
    if (fds[2].revents)
        leave(l);
    if (fds[1].revents)
        take_ends(l);
    if (fds[3].revents)
        queue_look_take(l);
    for (nfds_t i = LOW; i < n; i++)
        if (fds[i].revents)
            clients_turn(l, of[i]);
    if (fds[0].revents)
        clients_accept(l);
}

static void drop_slow(struct local *l)
{
    int64_t now_ms = queue_now_ms(l);

    for (int i = 0; i < QUEUE_CLIENTS; i++)
        if (l->clients[i].fd >= 0 && !l->clients[i].waits &&
            now_ms - l->clients[i].since_ms >= CLIENT_MS)
            clients_drop(&l->clients[i]);
}

static bool has_client(const struct local *l)
{
    for (int i = 0; i < QUEUE_CLIENTS; i++)
        if (l->clients[i].fd >= 0)
            return true;
    return false;
}

static void turn(struct local *l)
{
    int64_t now_ms;

    wait_for(l);
    drop_slow(l);
    now_ms = queue_now_ms(l);
    if (now_ms >= l->look_ms) {
        life_look_all(l);
        l->look_ms = now_ms + LOOK_MS;
    }
    queue_look(l);
    if ((l->changed && now_ms >= l->retry_ms) || now_ms >= l->again_ms)
        queue_decide(l);
    if (l->ended)
        clients_ended(l);
    l->ended = false;
    if (l->n > 0 || has_client(l))
        l->idle_ms = 0;
    else if (!l->idle_ms)
        l->idle_ms = now_ms;
    if (l->c->on_demand && l->idle_ms && now_ms - l->idle_ms >= l->c->idle_ms)
        l->stop = true;
}

/* As many clients as the limit leaves room for. Two things at once need more descriptors than one,
 * so an engine that could start jobs and answer nobody does not begin. */
static int count_clients(struct local *l, struct err *e)
{
    const int least = QUEUE_FILES + QUEUE_CLIENTS_LEAST;
    struct rlimit limit;

    l->n_clients = QUEUE_CLIENTS;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= QUEUE_FILES + QUEUE_CLIENTS)
        return 0;
    if (limit.rlim_cur < (rlim_t)least)
        return err_set(e, -EMFILE,
                       "the queue's engine may have %d files open and needs %d: raise the limit, "
                       "with ulimit -n",
                       (int)limit.rlim_cur, least);
    l->n_clients = (int)limit.rlim_cur - QUEUE_FILES;
    return 0;
}

int queue_serve(const struct queue_config *c, struct err *e)
{
    struct local *l = calloc(1, sizeof(*l));
    int rc;

    if (!l)
        return err_nomem(e);
    l->c = c;
    l->dir = l->lock = l->listener = l->notify = l->signals = l->look.sensor = -1;
    l->changed = true;
    l->again_ms = INT64_MAX;
    rc = count_clients(l, e);
    if (rc == 0)
        rc = l->dir = queue_files_open(c->folder, c->shared, e);
    if (rc >= 0)
        rc = open_all(l, e);
    if (rc >= 0 && c->ready) {
        char what[64];

        snprintf(what, sizeof(what), "%zu %s", l->pool.n_slots,
                 pool_word(&l->pool.pool, (int64_t)l->pool.n_slots));
        c->ready(c->arg, c->folder, what);
    }
    while (rc >= 0 && !l->stop)
        turn(l);
    close_all(l);
    free(l);
    return MIN(rc, 0);
}
