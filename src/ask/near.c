#include "ask/near.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "ask/lookup.h"
#include "ask/reply.h"

enum { LISTENS = 0x0a, LINE = 512, REQUEST_MAX = 4096 + 512, STATUS_OK = 200 };

/* ---- who listens ---- */

int64_t near_listener(FILE *table, unsigned port)
{
    char line[LINE];
    int64_t found = -1;

    while (fgets(line, sizeof(line), table)) {
        unsigned at, state, uid;

        /* sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid */
        if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x %*s %x %*s %*s %*s %u", &at, &state, &uid) == 3 &&
            state == LISTENS && at == port && (int64_t)uid > found)
            found = uid;
    }
    return found;
}

static int check_listener(const struct near_config *c, struct err *e)
{
    static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
    int64_t found = -1;

    for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
        FILE *f = fopen(tables[i], "re");
        int64_t one = f ? near_listener(f, c->port) : -1;

        found = one > found ? one : found;
        if (f)
            (void)fclose(f);
    }
    if (found < 0)
        return err_set(e, -ECONNREFUSED, "nothing listens on port %u: start brim agent", c->port);
    if (found > NEAR_SYSTEM)
        return err_set(e, -EPERM,
                       "a program of user %d listens on port %u, and no agent of the system",
                       (int)found, c->port);
    return 0;
}

/* ---- the question, and the answer ---- */

/* Until the socket is ready. 0, -ETIMEDOUT, or another negative errno. */
static int wait_for(int fd, short what, const struct near_config *c, int64_t until_ns)
{
    int64_t left_ns = until_ns - clock_monotonic_ns(c->clock);
    struct pollfd p = { .fd = fd, .events = what };
    int rc = left_ns > 0 ? poll(&p, 1, (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS)) : 0;

    if (rc < 0)
        return errno == EINTR ? 0 : -errno;
    return rc > 0 ? 0 : -ETIMEDOUT;
}

static int connect_to(int fd, const struct near_config *c, int64_t until_ns)
{
    union lookup_address to;
    int rc = 0, error = 0;
    socklen_t len = sizeof(error);

    if (!lookup_number(c->address, &to))
        return -EINVAL;
    if (to.any.sa_family == AF_INET6)
        to.v6.sin6_port = htons((uint16_t)c->port);
    else
        to.v4.sin_port = htons((uint16_t)c->port);
    if (connect(fd, &to.any, to.any.sa_family == AF_INET6 ? sizeof(to.v6) : sizeof(to.v4)) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    rc = wait_for(fd, POLLOUT, c, until_ns);
    if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        rc = -errno;
    return rc < 0 ? rc : -error;
}

static int send_question(int fd, const struct near_config *c, int64_t until_ns)
{
    char text[REQUEST_MAX];
    int len = snprintf(text, sizeof(text),
                       "GET %s HTTP/1.0\r\nHost: localhost\r\nUser-Agent: brim\r\n%s%s%s\r\n",
                       c->path, c->token ? "Authorization: Bearer " : "", c->token ? c->token : "",
                       c->token ? "\r\n" : "");

    if (len >= (int)sizeof(text))
        return -E2BIG;
    for (int sent = 0; sent < len;) {
        ssize_t n = send(fd, text + sent, (size_t)(len - sent), MSG_NOSIGNAL);
        int rc = n < 0 && errno == EAGAIN ? wait_for(fd, POLLOUT, c, until_ns) : 0;

        if (rc < 0 || (n < 0 && errno != EAGAIN))
            return rc < 0 ? rc : -errno;
        sent += n > 0 ? (int)n : 0;
    }
    return 0;
}

static int take_answer(int fd, struct reply *r, const struct near_config *c, int64_t until_ns)
{
    int rc = 0;

    while (rc == 0) {
        char bytes[16 << 10];
        ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

        if (n > 0)
            rc = reply_add(r, bytes, (size_t)n);
        else if (n == 0)
            rc = reply_end(r);
        else
            rc = errno == EAGAIN ? wait_for(fd, POLLIN, c, until_ns) : -errno;
    }
    return rc < 0 ? rc : 0;
}

static int ask_socket(int fd, struct reply *r, const struct near_config *c, struct err *e)
{
    int64_t until_ns = clock_monotonic_ns(c->clock) + c->patience_ns;
    int rc = connect_to(fd, c, until_ns);

    if (rc == 0)
        rc = send_question(fd, c, until_ns);
    if (rc == 0)
        rc = take_answer(fd, r, c, until_ns);
    if (rc < 0)
        return err_set(e, rc, "the agent at %s, port %u: %s", c->address, c->port, strerror(-rc));
    if (r->status != STATUS_OK)
        return err_set(e, -EACCES, "the agent at %s, port %u refuses: status %u%s", c->address,
                       c->port, r->status, r->status == 401 ? ", it wants its token" : "");
    return 0;
}

int near_ask(struct str *ret, const struct near_config *c, struct err *e)
{
    struct reply r = { .bytes = STR_INIT(ret->max + REPLY_HEAD_MAX) };
    int family = strchr(c->address, ':') ? AF_INET6 : AF_INET, fd = -1, rc = check_listener(c, e);

    reply_begin(&r);
    if (rc == 0 && !lookup_number(c->address, &(union lookup_address){ .v4 = { 0 } }))
        rc = err_set(e, -EINVAL, "'%.100s' is no address in numbers", c->address);
    if (rc == 0) {
        fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        rc = fd < 0 ? err_set(e, -errno, "no socket: %s", strerror(errno))
                    : ask_socket(fd, &r, c, e);
    }
    if (rc == 0) {
        size_t len;
        const char *text = reply_text(&r, &len);

        str_reset(ret);
        str_add_n(ret, text, len);
        rc = str_error(ret) ? err_nomem(e) : 0;
    }
    if (fd >= 0)
        close(fd);
    str_done(&r.bytes);
    return rc;
}
