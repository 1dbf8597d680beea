#include "ask/lookup.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread.h"

/* A name that waits, is being looked up, or was. */
struct wish {
    struct wish *next;
    struct lookup_found found;
    char name[];
};

/* Shared with threads, and freed by whoever is done with it last. */
struct lookup {
    void (*found)(void *ctx, const struct lookup_found *f); /* of the loop's thread */
    void *ctx;
    uv_async_t wake;
    pthread_mutex_t lock;      /* for what follows */
    struct wish *first, *last; /* that wait */
    struct wish *done;
    unsigned threads, holders; /* holders: threads, and the loop */
    bool ended;
};

static void free_wishes(struct wish *w)
{
    while (w) {
        struct wish *next = w->next;

        free(w);
        w = next;
    }
}

static void let_go(struct lookup *l)
{
    bool last;

    pthread_mutex_lock(&l->lock);
    last = --l->holders == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last)
        return;
    free_wishes(l->first);
    free_wishes(l->done);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- in the threads ---- */

static void find(struct wish *w)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct lookup_found *f = &w->found;
    struct addrinfo *all = NULL;

    f->error = getaddrinfo(w->name, NULL, &hints, &all);
    for (const struct addrinfo *a = f->error ? NULL : all; a && f->n < LOOKUP_ADDRESSES;
         a = a->ai_next)
        if (a->ai_addrlen <= sizeof(f->addresses[0]))
            memcpy(&f->addresses[f->n++], a->ai_addr, a->ai_addrlen);
    if (!f->error)
        freeaddrinfo(all);
    if (!f->error && f->n == 0)
        f->error = EAI_NONAME;
}

/* The next that waits; NULL: the thread is to end. */
static struct wish *take(struct lookup *l)
{
    struct wish *w = l->ended ? NULL : l->first;

    if (w)
        l->first = w->next;
    if (!l->first)
        l->last = NULL;
    if (!w)
        l->threads--;
    return w;
}

static void *look(void *arg)
{
    struct lookup *l = arg;
    struct wish *w;

    pthread_mutex_lock(&l->lock);
    while ((w = take(l))) {
        pthread_mutex_unlock(&l->lock);
        find(w);
        pthread_mutex_lock(&l->lock);
        w->next = l->done;
        l->done = w;
        if (!l->ended)
            uv_async_send(&l->wake);
    }
    pthread_mutex_unlock(&l->lock);
    let_go(l);
    return NULL;
}

/* ---- in the loop's thread ---- */

static void on_wake(uv_async_t *wake)
{
    struct lookup *l = wake->data;
    struct wish *done;

    pthread_mutex_lock(&l->lock);
    done = l->done;
    l->done = NULL;
    pthread_mutex_unlock(&l->lock);
    for (const struct wish *w = done; w; w = w->next)
        l->found(l->ctx, &w->found);
    free_wishes(done);
}

int lookup_open(struct lookup **ret, uv_loop_t *loop,
                void (*found)(void *ctx, const struct lookup_found *f), void *ctx)
{
    struct lookup *l = calloc(1, sizeof(*l));
    int rc;

    if (!l)
        return -ENOMEM;
    *l = (struct lookup){ .found = found, .ctx = ctx, .holders = 1 };
    rc = uv_async_init(loop, &l->wake, on_wake);
    if (rc < 0) {
        free(l);
        return rc;
    }
    l->wake.data = l;
    pthread_mutex_init(&l->lock, NULL);
    *ret = l;
    return 0;
}

/* With the lock held: one more thread, where there are wishes for it. */
static int add_thread(struct lookup *l)
{
    pthread_t thread;
    int rc;

    if (l->threads >= LOOKUP_THREADS)
        return 0;
    rc = thread_start(&thread, look, l);
    if (rc < 0)
        return l->threads ? 0 : rc;
    pthread_detach(thread);
    l->threads++;
    l->holders++;
    return 0;
}

int lookup_ask(struct lookup *l, const char *name, size_t key)
{
    size_t size = strlen(name) + 1;
    struct wish *w = calloc(1, sizeof(*w) + size);
    int rc;

    if (!w)
        return -ENOMEM;
    w->found.key = key;
    memcpy(w->name, name, size);
    pthread_mutex_lock(&l->lock);
    rc = add_thread(l);
    if (rc == 0) {
        *(l->last ? &l->last->next : &l->first) = w;
        l->last = w;
    }
    pthread_mutex_unlock(&l->lock);
    if (rc < 0)
        free(w);
    return rc;
}

static void on_closed(uv_handle_t *wake)
{
    let_go(wake->data);
}

void lookup_end(struct lookup *l)
{
    if (!l)
        return;
    pthread_mutex_lock(&l->lock);
    l->ended = true;
    pthread_mutex_unlock(&l->lock);
    uv_close((uv_handle_t *)&l->wake, on_closed);
}

bool lookup_number(const char *name, union lookup_address *ret)
{
    union lookup_address at = { .any.sa_family = 0 };

    if (uv_ip4_addr(name, 0, &at.v4) < 0 && uv_ip6_addr(name, 0, &at.v6) < 0)
        return false;
    *ret = at;
    return true;
}
