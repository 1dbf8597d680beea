#include "daemon/http/peers.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/clock.h"

enum { REQUEST_SILENCES = 2, ANSWER_SILENCES = 6 };

struct http_peer *http_peers_add(struct http_peers *p, int fd, bool local, int64_t now_ns)
{
    struct http_peer *peer = calloc(1, sizeof(*peer));

    p->count++;
    if (!peer)
        return NULL;
    peer->fd = fd;
    peer->local = local;
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
    p->dropped -= peer->dropped;
    if (peer->before)
        peer->before->next = peer->next;
    else
        p->first = peer->next;
    if (peer->next)
        peer->next->before = peer->before;
    free(peer);
}

static void drop(struct http_peers *p, struct http_peer *peer)
{
    shutdown(peer->fd, SHUT_RDWR);
    peer->dropped = true;
    p->dropped++;
}

void http_peers_drop_slow(struct http_peers *p, int64_t now_ns, unsigned silence_s, bool crowded)
{
    for (struct http_peer *peer = p->first; peer; peer = peer->next) {
        int64_t allowed_ns = (int64_t)silence_s * NS_PER_S *
                             (peer->answering ? ANSWER_SILENCES : REQUEST_SILENCES);

        if (crowded && !peer->served && !peer->answering)
            allowed_ns = (int64_t)silence_s * NS_PER_S / 2;
        if (!peer->streaming && !peer->dropped && now_ns - peer->since_ns > allowed_ns)
            drop(p, peer);
    }
}

/* Who goes first: the lower one. */
static int rank(const struct http_peer *peer)
{
    int state = peer->answering ? 2 : peer->served;

    return state + (peer->local ? 3 : 0);
}

static bool is_before(const struct http_peer *a, const struct http_peer *b)
{
    return !b || rank(a) < rank(b) || (rank(a) == rank(b) && a->since_ns <= b->since_ns);
}

void http_peers_make_room(struct http_peers *p, unsigned most)
{
    while (p->count - p->dropped > most) {
        struct http_peer *first = NULL;

        /* the list has the newest at its head: of equal times the last one began first */
        for (struct http_peer *peer = p->first; peer; peer = peer->next)
            if (!peer->dropped && !peer->streaming && is_before(peer, first))
                first = peer;
        if (!first)
            return;
        drop(p, first);
    }
}
