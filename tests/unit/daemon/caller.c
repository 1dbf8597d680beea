/* Whose the other end of a connection is: of IPv4, IPv6, both, and of what is no connection. */
#include "daemon/http/caller.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/http/address.h"
#include "tap.h"

enum { NOBODY = 65534 };

/* A client connects from that address to a server that listens there: the server's end, and the
 * client's. */
static int connected(const char *listen_at, const char *connect_to, int *client)
{
    CLEANUP(closep) int server = -1;
    struct pollfd ready = { .events = POLLIN };
    union http_address at;
    socklen_t len;

    if (http_address_parse(listen_at, &at, NULL) < 0)
        return -1;
    server = http_address_listen(&at, 1);
    if (server < 0)
        return -1;
    ready.fd = server;
    if (http_address_parse(connect_to, &at, NULL) < 0)
        return -1;
    len = at.any.sa_family == AF_INET6 ? sizeof(at.v6) : sizeof(at.v4);
    if (at.any.sa_family == AF_INET6)
        at.v6.sin6_port = htons((uint16_t)http_address_port(server));
    else
        at.v4.sin_port = htons((uint16_t)http_address_port(server));
    *client = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*client < 0 || connect(*client, &at.any, len) < 0)
        return -1;
    if (poll(&ready, 1, -1) < 0)
        return -1;
    return accept4(server, NULL, NULL, SOCK_CLOEXEC);
}

static void test_connections(void)
{
    static const char *const ends[][2] = {
        { "127.0.0.1:0", "127.0.0.1:0" },
        { "[::1]:0", "[::1]:0" },
        { "[::]:0", "127.0.0.1:0" },
        { "0.0.0.0:0", "127.0.0.1:0" },
    };

    for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
        CLEANUP(closep) int client = -1;
        CLEANUP(closep) int fd = connected(ends[i][0], ends[i][1], &client);

        if (fd < 0) {
            ok(i > 0, "this machine has no IPv6: %s is not listened on", ends[i][0]);
            continue;
        }
        is_int(caller_uid(fd), getuid(), "the user who connects from %s to %s is known", ends[i][1],
               ends[i][0]);
    }
}

/* A socket is whose process made it. */
static void test_another_user(void)
{
    CLEANUP(closep) int client = -1;
    CLEANUP(closep) int fd = -1;

    if (getuid() == 0 && seteuid(NOBODY) < 0)
        ok(false, "the test becomes another user");
    fd = connected("127.0.0.1:0", "127.0.0.1:0", &client);
    if (getuid() == 0 && seteuid(0) < 0)
        ok(false, "the test becomes root again");
    is_int(caller_uid(fd), getuid() == 0 ? NOBODY : getuid(), "a connection is its maker's");
}

static void test_none(void)
{
    CLEANUP(closep) int client = -1;
    CLEANUP(closep) int fd = connected("127.0.0.1:0", "127.0.0.1:0", &client);
    int pair[2];

    is_int(caller_uid(-1), -1, "what is no descriptor is nobody's");
    is_int(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0, "a pair of sockets is made");
    is_int(caller_uid(pair[0]), -1, "a connection that is not of TCP is nobody's");
    close(pair[0]);
    close(pair[1]);
    closep(&client); /* the kernel keeps what is left of it as root's */
    client = -1;
    is_int(caller_uid(fd), -1, "a connection whose client has gone is nobody's");
}

int main(void)
{
    test_connections();
    test_another_user();
    test_none();
    return done();
}
