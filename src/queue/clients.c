/* Who is connected to the socket: read a request, write its answer, never wait for one of them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/log.h"
#include "queue/client.h"
#include "queue/queue_private.h"

enum { BACKLOG = 64, DEAF_MS = 200 };

/* A path of any length in an address of 108 bytes. */
static void make_address(struct sockaddr_un *a, int dir)
{
    *a = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(a->sun_path, sizeof(a->sun_path), "/proc/self/fd/%d/" QUEUE_SOCKET, dir);
}

int clients_open(struct local *l, struct err *e)
{
    struct sockaddr_un address;
    CLEANUP(closep) int fd = -1;
    mode_t before;
    int rc;

    for (int i = 0; i < QUEUE_CLIENTS; i++)
        l->clients[i] = (struct queue_client){ .fd = -1,
                                               .in = STR_INIT(WIRE_ORDER),
                                               .out = STR_INIT(WIRE_MAX) };
    make_address(&address, l->dir);
    unlinkat(l->dir, QUEUE_SOCKET, 0); /* of an engine that died: we hold its lock */
    before = umask(l->c->shared ? 0111 : 0177);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    rc = fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
                 listen(fd, BACKLOG) < 0
             ? -errno
             : 0;
    umask(before);
    if (rc < 0)
        return err_set(e, rc, "cannot listen at %s/" QUEUE_SOCKET ": %s", l->c->folder,
                       strerror(-rc));
    l->listener = steal_fd(&fd);
    return 0;
}

void clients_drop(struct queue_client *client)
{
    closep(&client->fd);
    client->fd = -1;
    str_done(&client->in);
    str_done(&client->out);
}

static struct queue_client *find_free(struct local *l)
{
    struct queue_client *oldest = &l->clients[0];

    for (int i = 0; i < l->n_clients; i++) {
        if (l->clients[i].fd < 0)
            return &l->clients[i];
        if (l->clients[i].since_ms < oldest->since_ms)
            oldest = &l->clients[i];
    }
    clients_drop(oldest);
    return oldest;
}

/* One that cannot be accepted makes the listener ready all the time. */
static void rest(struct local *l, int error)
{
    if (error == EAGAIN || error == EINTR || error == ECONNABORTED)
        return;
    if (l->deaf_ms == 0)
        log_warning("nobody can be answered: %s", strerror(error));
    l->deaf_ms = queue_now_ms(l) + DEAF_MS;
}

void clients_accept(struct local *l)
{
    int fd;

    while ((fd = accept4(l->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        struct queue_client *client = find_free(l);
        struct ucred peer;
        socklen_t len = sizeof(peer);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
            close(fd);
            continue;
        }
        *client = (struct queue_client){ .fd = fd,
                                         .uid = peer.uid,
                                         .gid = peer.gid,
                                         .in = STR_INIT(WIRE_ORDER),
                                         .out = STR_INIT(WIRE_MAX),
                                         .since_ms = queue_now_ms(l) };
        l->deaf_ms = 0;
    }
    rest(l, errno);
}

/* 1: the request is whole; 0: more is to come; -1: it went, or talks nonsense. */
static int take_in(struct queue_client *client)
{
    char part[16384];

    for (;;) {
        bool head = client->got < WIRE_HEAD;
        size_t want = head ? WIRE_HEAD - client->got
                           : wire_length(client->head) - (client->got - WIRE_HEAD);
        ssize_t n;

        if (!head && want == 0)
            return 1;
        if (!head && wire_length(client->head) > WIRE_ORDER)
            return -1;
        n = recv(client->fd, part, MIN(want, sizeof(part)), 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0)
            return -1;
        if (head)
            memcpy(client->head + client->got, part, (size_t)n);
        else
            str_add_n(&client->in, part, (size_t)n);
        client->got += (size_t)n;
        if (str_error(&client->in) < 0)
            return -1;
    }
}

/* The same of the answer, whose length goes in front. */
static int give_out(struct queue_client *client)
{
    char head[WIRE_HEAD];

    wire_head(&client->out, head);
    while (client->sent < WIRE_HEAD + client->out.len) {
        bool first = client->sent < WIRE_HEAD;
        const char *from = first ? head + client->sent
                                 : str_text(&client->out) + (client->sent - WIRE_HEAD);
        size_t len = first ? WIRE_HEAD - client->sent
                           : client->out.len - (client->sent - WIRE_HEAD);
        ssize_t n = send(client->fd, from, len, MSG_NOSIGNAL);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0)
            return -1;
        client->sent += (size_t)n;
    }
    return 1;
}

void clients_turn(struct local *l, struct queue_client *client)
{
    int rc = client->answered ? 1 : client->waits ? -1 /* it went */ : take_in(client);

    if (rc == 1 && !client->answered) {
        client->waits = queue_request_waits(l, client);
        if (client->waits)
            return;
        queue_request(l, client, &client->out);
        client->answered = true;
        if (str_error(&client->out) < 0)
            rc = -1;
    }
    if (rc == 1)
        rc = give_out(client) == 0 ? 0 : -1;
    if (rc < 0)
        clients_drop(client);
}

void clients_ended(struct local *l)
{
    for (int i = 0; i < QUEUE_CLIENTS; i++) {
        struct queue_client *client = &l->clients[i];

        if (client->fd < 0 || !client->waits || queue_request_waits(l, client))
            continue;
        client->waits = false;
        clients_turn(l, client);
    }
}
