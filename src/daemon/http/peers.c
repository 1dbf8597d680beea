#include "daemon/http/peers.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { REQUEST_SILENCES = 2, ANSWER_SILENCES = 6 };

struct http_peer *http_peers_add(struct http_peers *p, int fd, int64_t now_ns)
{
    struct http_peer *peer = calloc(1, sizeof(*peer));

    p->count++;
    if (!peer)
        return NULL;
    peer->fd = fd;
    peer->since_ns = now_ns;
    peer->next = p->first;
    if (peer->next)
        peer->next->before = peer;
    p->first = peer;
    return peer;
}

void http_peers_remove(struct http_peers *p, struct http_peer *peer)
{
    p->count--;
    if (!peer)
        return;
    if (peer->before)
        peer->before->next = peer->next;
    else
        p->first = peer->next;
    if (peer->next)
        peer->next->before = peer->before;
    free(peer);
}

void http_peers_drop_slow(const struct http_peers *p, int64_t now_ns, unsigned silence_s)
{
    for (const struct http_peer *peer = p->first; peer; peer = peer->next) {
        int64_t allowed_s = (int64_t)silence_s *
                            (peer->answering ? ANSWER_SILENCES : REQUEST_SILENCES);

        if (!peer->streaming && now_ns - peer->since_ns > allowed_s * NS_PER_S)
            shutdown(peer->fd, SHUT_RDWR);
    }
}
