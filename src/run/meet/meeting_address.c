#include "run/meet/meeting_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"

/* Whoever comes last frees it: the thread that asks, or its owner. */
enum state { ASKS, THERE, LEFT };

struct meeting_address {
    atomic_int state;
    int rc; /* of getaddrinfo() */
    struct addrinfo *list;
    char host[256], port[12];
};

static void done(struct meeting_address *a)
{
    if (a->list)
        freeaddrinfo(a->list);
    free(a);
}

static int look_up(struct meeting_address *a, int flags)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = flags | AI_NUMERICSERV };

    return getaddrinfo(a->host, a->port, &hints, &a->list);
}

static void *ask(void *arg)
{
    struct meeting_address *a = arg;

    a->rc = look_up(a, 0);
    if (atomic_exchange(&a->state, THERE) == LEFT)
        done(a);
    return NULL;
}

int meeting_address_ask(struct meeting_address **ret, const char *host, int port, struct err *e)
{
    struct meeting_address *a = calloc(1, sizeof(*a));
    pthread_t thread;
    int rc;

    if (!a)
        return err_nomem(e);
    snprintf(a->host, sizeof(a->host), "%s", host);
    snprintf(a->port, sizeof(a->port), "%d", port);
    a->rc = look_up(a, AI_NUMERICHOST);
    if (a->rc == 0) {
        a->state = THERE;
        *ret = a;
        return 0;
    }
    rc = thread_start(&thread, ask, a);
    if (rc < 0) {
        done(a);
        return err_set(e, rc, "thread: %s", strerror(-rc));
    }
    pthread_detach(thread);
    *ret = a;
    return 0;
}

int meeting_address_get(const struct meeting_address *a, const struct addrinfo **ret, struct err *e)
{
    if (atomic_load(&a->state) != THERE)
        return 0;
    if (a->rc != 0)
        return err_set(e, -ENOENT, "%s: %s", a->host, gai_strerror(a->rc));
    *ret = a->list;
    return 1;
}

void meeting_address_free(struct meeting_address *a)
{
    if (atomic_exchange(&a->state, LEFT) == THERE)
        done(a);
}
