#include "run/watch/node.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "probe/samplers.h"
#include "run/moment/moment.h"

struct node {
    struct sampler_env env;
    pthread_t thread;
    atomic_bool ready; /* the thread is done with what is below */
    struct samplers *samplers;
};

static void *open_all(void *arg)
{
    struct node *n = arg;

    if (samplers_open(&n->samplers, &n->env, NULL) < 0)
        n->samplers = NULL;
    atomic_store(&n->ready, true);
    return NULL;
}

int node_open(struct node **ret, int root, const char *fake, struct err *e)
{
    struct node *n = calloc(1, sizeof(*n));
    int rc;

    if (!n)
        return err_nomem(e);
    n->env = (struct sampler_env){ .root = root,
                                   .live = true,
                                   .fake = fake,
                                   .patience_ns = SAMPLER_PATIENCE_NS,
                                   .only = moment_samplers };
    rc = pthread_create(&n->thread, NULL, open_all, n);
    if (rc) {
        free(n);
        return err_set(e, -rc, "cannot start a thread");
    }
    *ret = n;
    return 0;
}

int node_sample(struct node *n, struct tick *t)
{
    if (!n || !atomic_load(&n->ready) || !n->samplers)
        return 0;
    return samplers_sample(n->samplers, t);
}

void node_close(struct node *n)
{
    if (!n)
        return;
    pthread_join(n->thread, NULL);
    samplers_close(n->samplers);
    free(n);
}
