/* Who is connected, and for how long: clients that take too long for a request or an answer are
 * dropped, and where there are too many, those who have taken longest. Those who say nothing at all
 * are the library's to drop. */
#ifndef BRIM_DAEMON_HTTP_PEERS_H
#define BRIM_DAEMON_HTTP_PEERS_H
#include <stdbool.h>
#include <stdint.h>

struct http_peer {
    int fd;
    int64_t since_ns; /* when its request, or the wait for one, began */
    bool local;       /* from a loopback address */
    bool served;      /* it has had an answer: it waits for the next request */
    bool answering, streaming;
    bool dropped; /* it is shut down; the library has not noticed yet */
    struct http_peer *next, *before;
};

struct http_peers {
    struct http_peer *first;
    unsigned count; /* with those for whom there was no memory: they are watched for silence only */
    unsigned dropped; /* of them, those who are shut down */
};

/* NULL when out of memory; it is counted all the same. */
struct http_peer *http_peers_add(struct http_peers *p, int fd, bool local, int64_t now_ns);

/* peer: what http_peers_add() returned. */
void http_peers_remove(struct http_peers *p, struct http_peer *peer);

/* Drop those who take twice silence_s for all bytes of a request (some send one now and then), or
 * six times as long for taking an answer that is not a stream. crowded: those who never finished a
 * request have half of silence_s. The server's library sees the end of a connection with its next
 * read or write. */
void http_peers_drop_slow(struct http_peers *p, int64_t now_ns, unsigned silence_s, bool crowded);

/* Drop until there are no more than 'most' besides those who are dropped already. First go those
 * from elsewhere, then those of loopback addresses; of either first those whose first request is
 * unfinished, then those who had an answer and ask nothing, then those who do not take theirs; of
 * these the one who began first. Streams stay. */
void http_peers_make_room(struct http_peers *p, unsigned most);

#endif
