/* Addresses of names, looked up in threads of their own, at most LOOKUP_THREADS at a time: a name
 * service that does not answer holds up neither a loop nor its threads for other work, and nobody
 * waits for it at the end. */
#ifndef BRIM_ASK_LOOKUP_H
#define BRIM_ASK_LOOKUP_H
#include <netinet/in.h>
#include <stdbool.h>

#include "base/err.h"

#include <uv.h> /* behind ours: it brings a MIN of the system's */

enum { LOOKUP_THREADS = 16, LOOKUP_ADDRESSES = 4 };

union lookup_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

struct lookup_found {
    size_t key; /* as it was asked with */
    int error;  /* of getaddrinfo(): EAI_NONAME and the like; 0 */
    unsigned n; /* addresses, without ports */
    union lookup_address addresses[LOOKUP_ADDRESSES];
};

struct lookup;

/* found() is called in the loop's thread. */
int lookup_open(struct lookup **ret, uv_loop_t *loop,
                void (*found)(void *ctx, const struct lookup_found *f), void *ctx) CHECK_RESULT;

/* Look a name up; key goes into what is found. 0, -ENOMEM or -EAGAIN: no thread can be made. */
int lookup_ask(struct lookup *l, const char *name, size_t key) CHECK_RESULT;

/* Nothing is found any more. Run the loop behind it until its handles are closed: then all is freed
 * that threads which still wait do not hold; these free the rest, and do not keep the process from
 * exiting. NULL is skipped. */
void lookup_end(struct lookup *l);

/* An address that is written in numbers: whether it is one. */
bool lookup_number(const char *name, union lookup_address *ret);

#endif
