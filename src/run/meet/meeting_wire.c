#include "run/meet/meeting_wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>

/* Of what came: some frames. */
enum { IN_ROOM = 2 * SEALED_FRAME };

int meeting_wire_init(struct meeting_wire *p, int fd)
{
    const int on = 1;

    *p = (struct meeting_wire){ .fd = fd, .in = malloc(IN_ROOM), .out = malloc(MEETING_WIRE_ROOM) };
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return p->in && p->out ? 0 : -ENOMEM;
}

void meeting_wire_done(struct meeting_wire *p)
{
    closep(&p->fd);
    p->fd = -1;
    free(p->in);
    free(p->out);
    p->in = p->out = NULL;
}

int meeting_wire_connect(const struct sockaddr *to, socklen_t len)
{
    CLEANUP(closep) int fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || (connect(fd, to, len) < 0 && errno != EINPROGRESS))
        return -errno;
    return steal_fd(&fd);
}

int meeting_wire_connected(int fd)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int error = 0;

    if (poll(&p, 1, 0) <= 0)
        return 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return -errno;
    return error ? -error : 1;
}

static void drop_taken(struct meeting_wire *p)
{
    memmove(p->in, p->in + p->taken, p->n_in - p->taken);
    p->n_in -= p->taken;
    p->taken = p->len = p->at = 0; /* what was taken is looked at to its end before */
}

int meeting_wire_read(struct meeting_wire *p)
{
    drop_taken(p);
    if (p->n_in == IN_ROOM)
        return -ENOBUFS; /* of frames there is never so much */
    while (p->n_in < IN_ROOM) {
        ssize_t n = recv(p->fd, p->in + p->n_in, IN_ROOM - p->n_in, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        if (n == 0)
            return -EPIPE;
        p->n_in += (size_t)n;
    }
    return 0;
}

int meeting_wire_send(struct meeting_wire *p)
{
    size_t sent = 0;
    int rc = 0;

    while (sent < p->n_out && rc == 0) {
        ssize_t n = send(p->fd, p->out + sent, p->n_out - sent, MSG_NOSIGNAL);

        if (n >= 0)
            sent += (size_t)n;
        else if (errno != EINTR)
            rc = -errno;
    }
    memmove(p->out, p->out + sent, p->n_out - sent);
    p->n_out -= sent;
    return rc == -EAGAIN ? 0 : rc;
}

void meeting_wire_put(struct meeting_wire *p, const void *bytes, size_t len)
{
    memcpy(p->out + p->n_out, bytes, len); /* greetings come first, when all of it is free */
    p->n_out += len;
}

bool meeting_wire_take(struct meeting_wire *p, void *bytes, size_t len)
{
    if (p->n_in - p->taken < len)
        return false;
    memcpy(bytes, p->in + p->taken, len);
    p->taken += len;
    return true;
}

/* Go on with the frame that was begun, or open the next one: its messages are in place until what
 * came is dropped. */
int meeting_wire_next(struct meeting_wire *p, struct meeting_message *m)
{
    for (;;) {
        const unsigned char *body;
        size_t len;
        int rc;

        if (p->at < p->len) {
            rc = meeting_message_get(m, p->in + p->frame, p->len, &p->at);
            if (rc != 0)
                return rc;
        }
        rc = sealed_frame_take(&p->from, p->in + p->taken, p->n_in - p->taken, &body, &len);
        if (rc <= 0)
            return rc;
        p->frame = (size_t)(body - p->in);
        p->len = len;
        p->at = 0;
        p->taken += (size_t)rc;
    }
}

void meeting_wire_flush(struct meeting_wire *p)
{
    if (!p->n_body)
        return;
    p->n_out += sealed_frame_make(&p->to, p->body, p->n_body, p->out + p->n_out);
    p->n_body = 0;
}

bool meeting_wire_say(struct meeting_wire *p, const struct meeting_message *m)
{
    if (MEETING_WIRE_ROOM - p->n_out < 2 * (size_t)SEALED_FRAME)
        return false; /* what is in the body now finds room, too */
    if (!meeting_message_put(m, p->body, sizeof(p->body), &p->n_body)) {
        meeting_wire_flush(p);
        return meeting_message_put(m, p->body, sizeof(p->body), &p->n_body);
    }
    return true;
}
