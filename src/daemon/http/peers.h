/* Who is connected, and for how long: clients that take too long for a request or an answer are
 * dropped. Those who say nothing at all are the library's to drop. */
#ifndef BRIM_DAEMON_HTTP_PEERS_H
#define BRIM_DAEMON_HTTP_PEERS_H
#include <stdbool.h>
#include <stdint.h>

struct http_peer {
    int fd;
    int64_t since_ns; /* when its request, or the wait for one, began */
    bool answering, streaming;
    struct http_peer *next, *before;
};

struct http_peers {
    struct http_peer *first;
    unsigned count; /* with those for whom there was no memory: they are watched for silence only */
};

/* NULL when out of memory; it is counted all the same. */
struct http_peer *http_peers_add(struct http_peers *p, int fd, int64_t now_ns);

/* peer: what http_peers_add() returned. */
void http_peers_remove(struct http_peers *p, struct http_peer *peer);

/* Drop those who take twice silence_s for all bytes of a request (some send one now and then), or
 * six times as long for taking an answer that is not a stream. The server's library sees the end of
 * a connection with its next read or write. */
void http_peers_drop_slow(const struct http_peers *p, int64_t now_ns, unsigned silence_s);

#endif
