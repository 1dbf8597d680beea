#include "daemon/http/peers.h"

#include <stdlib.h>
#include <sys/socket.h>

enum {
    REQUEST_S = 20, /* for all bytes of a request: some send one now and then */
    ANSWER_S = 60,  /* for taking an answer that is not a stream */
};

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

void http_peers_drop_slow(const struct http_peers *p, int64_t now_ns)
{
    for (const struct http_peer *peer = p->first; peer; peer = peer->next) {
        int64_t allowed_s = peer->answering ? ANSWER_S : REQUEST_S;

        if (!peer->streaming && now_ns - peer->since_ns > allowed_s * 1000000000)
            shutdown(peer->fd, SHUT_RDWR);
    }
}
