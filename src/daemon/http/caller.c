/* The kernel tells of each TCP socket of this machine whose it is (NETLINK_SOCK_DIAG): that of the
 * client is the one whose ends are ours, the other way round. */
#include "daemon/http/caller.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/http/address.h"

struct question {
    struct nlmsghdr head;
    struct inet_diag_req_v2 wanted;
};

/* Connections of IPv4 to a socket of IPv6 are sockets of IPv4. */
static void plain(union http_address *a)
{
    enum { MAPPED = 12 }; /* where the IPv4 address stands in an IPv6 one */
    const union http_address was = *a;

    if (was.any.sa_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&was.v6.sin6_addr))
        return;
    a->v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = was.v6.sin6_port };
    memcpy(&a->v4.sin_addr, &was.v6.sin6_addr.s6_addr[MAPPED], sizeof(a->v4.sin_addr));
}

static void set_end(const union http_address *a, __be16 *port, __be32 address[4])
{
    if (a->any.sa_family == AF_INET6) {
        *port = a->v6.sin6_port;
        memcpy(address, &a->v6.sin6_addr, sizeof(a->v6.sin6_addr));
    } else {
        *port = a->v4.sin_port;
        memcpy(address, &a->v4.sin_addr, sizeof(a->v4.sin_addr));
    }
}

static int64_t ask(int kernel, const struct question *q)
{
    union {
        struct nlmsghdr head;
        char bytes[4096];
    } answer;
    const struct inet_diag_msg *of;
    ssize_t n;

    if (send(kernel, q, sizeof(*q), 0) != (ssize_t)sizeof(*q))
        return -1;
    n = recv(kernel, &answer, sizeof(answer), 0);
    if (n < (ssize_t)NLMSG_LENGTH(sizeof(*of)) || !NLMSG_OK(&answer.head, (size_t)n) ||
        answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
        return -1;
    of = NLMSG_DATA(&answer.head);
    /* what listens there answers for a connection that has gone */
    if (of->id.idiag_sport != q->wanted.id.idiag_sport ||
        of->id.idiag_dport != q->wanted.id.idiag_dport)
        return -1;
    /* one that its process has closed is root's, and has no inode */
    return of->idiag_inode ? (int64_t)of->idiag_uid : -1;
}

int64_t caller_uid(int fd)
{
    union http_address peer = { .v6 = { 0 } }, own = { .v6 = { 0 } };
    socklen_t peer_len = sizeof(peer), own_len = sizeof(own);
    CLEANUP(closep) int kernel = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    struct question q = {
        .head = { .nlmsg_len = sizeof(q),
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST },
        .wanted = { .sdiag_protocol = IPPROTO_TCP,
                    .idiag_states = ~0U,
                    .id = { .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
    };

    if (kernel < 0 || getpeername(fd, &peer.any, &peer_len) < 0 ||
        getsockname(fd, &own.any, &own_len) < 0 || !http_address_is_local(&peer.any))
        return -1;
    plain(&peer);
    plain(&own);
    q.wanted.sdiag_family = (uint8_t)peer.any.sa_family;
    set_end(&peer, &q.wanted.id.idiag_sport, q.wanted.id.idiag_src);
    set_end(&own, &q.wanted.id.idiag_dport, q.wanted.id.idiag_dst);
    return ask(kernel, &q);
}
