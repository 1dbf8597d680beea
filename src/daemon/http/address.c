#include "daemon/http/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

int http_address_parse(const char *text, union http_address *ret, struct err *e)
{
    const char *colon = strrchr(text, ':');
    char host[64];
    uint64_t port;
    size_t len;

    memset(ret, 0, sizeof(*ret));
    len = colon ? (size_t)(colon - text) : 0;
    if (!colon || len >= sizeof(host) || parse_u64(colon + 1, &port) < 0 || port > 65535)
        return err_set(e, -EINVAL, "'%s' is no address and port, such as 127.0.0.1:9410", text);
    memcpy(host, text, len);
    host[len] = 0;
    if (host[0] == '[' && host[len - 1] == ']') {
        host[len - 1] = 0;
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons((uint16_t)port);
        if (inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1)
            return 0;
    } else {
        ret->v4.sin_family = AF_INET;
        ret->v4.sin_port = htons((uint16_t)port);
        if (inet_pton(AF_INET, !strcmp(host, "localhost") ? "127.0.0.1" : host,
                      &ret->v4.sin_addr) == 1)
            return 0;
    }
    return err_set(e, -EINVAL, "'%s' is no address and port, such as 127.0.0.1:9410", text);
}

bool http_address_is_loopback(const union http_address *at)
{
    if (at->any.sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&at->v6.sin6_addr);
    return ntohl(at->v4.sin_addr.s_addr) >> 24 == 127;
}

bool http_address_is_local(const struct sockaddr *from)
{
    enum { MAPPED = 12 }; /* where the IPv4 address stands in an IPv6 one */
    union http_address at = { .v6 = { 0 } };

    memcpy(&at, from, from->sa_family == AF_INET6 ? sizeof(at.v6) : sizeof(at.v4));
    if (from->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&at.v6.sin6_addr))
        return at.v6.sin6_addr.s6_addr[MAPPED] == 127;
    return http_address_is_loopback(&at);
}

int http_address_listen(const union http_address *at, int backlog)
{
    bool v6 = at->any.sa_family == AF_INET6;
    socklen_t len = v6 ? sizeof(at->v6) : sizeof(at->v4);
    int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1, rc;

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(fd, &at->any, len) == 0 && listen(fd, backlog) == 0)
        return fd;
    rc = -errno;
    close(fd);
    return rc;
}

unsigned http_address_port(int fd)
{
    union http_address at = { .v6 = { 0 } };
    socklen_t len = sizeof(at);

    if (getsockname(fd, &at.any, &len) < 0)
        return 0;
    return ntohs(at.any.sa_family == AF_INET6 ? at.v6.sin6_port : at.v4.sin_port);
}
