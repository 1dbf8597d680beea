/* A directory of recordings, loaded by as many threads as there are cores. The threads share the
 * list of names and a counter; each fills slots of its own. */
#include "probe/fleet.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/thread.h"
#include "probe/recording.h"

enum { THREADS_MAX = 16 };

/* One entry of the directory, and what became of it. */
struct berth {
    const char *name;
    bool found; /* it is a recording */
    int rc;
    struct node *node;
    struct err why;
    struct trouble *troubles;
    size_t n_troubles;
};

struct fleet {
    const char *dir;
    const struct probe *model; /* what every thread's probe starts as */
    struct berth *slots;
    size_t count;
    atomic_size_t next;
};

/* Keep what the probe had to say about this recording. */
static void keep_troubles(struct berth *slot, const struct probe *p)
{
    size_t count = MIN(p->n_troubles, (size_t)TROUBLES_MAX);

    if (!count)
        return;
    slot->troubles = calloc(count, sizeof(*slot->troubles));
    if (!slot->troubles) {
        slot->rc = -ENOMEM;
        return;
    }
    memcpy(slot->troubles, p->troubles, count * sizeof(*slot->troubles));
    slot->n_troubles = count;
}

static void load_slot(const struct fleet *f, struct berth *slot, struct str *text)
{
    struct probe p = *f->model;
    char path[PATH_MAX];
    struct stat st;

    if (snprintf(path, sizeof(path), "%s/%s/%s", f->dir, slot->name, RECORDING_FILE) >=
            (int)sizeof(path) ||
        stat(path, &st) < 0)
        return;
    slot->found = true;
    p.n_troubles = 0; /* what was told before is not about this one */
    slot->rc = recording_load_pack(&p, path, text, &slot->node, &slot->why);
    if (slot->rc == 0)
        keep_troubles(slot, &p);
}

static void *load_slots(void *arg)
{
    CLEANUP(str_done) struct str text = STR_INIT(RECORDING_MAX);
    struct fleet *f = arg;

    for (size_t i; (i = atomic_fetch_add(&f->next, 1)) < f->count;)
        load_slot(f, &f->slots[i], &text);
    return NULL;
}

/* The calling thread works too, so that no thread at all is enough. */
static void load_all(struct fleet *f)
{
    pthread_t threads[THREADS_MAX];
    size_t wanted = MIN(MIN(thread_cpus(), (size_t)THREADS_MAX), f->count / 8 + 1), started = 0;

    while (started + 1 < wanted && pthread_create(&threads[started], NULL, load_slots, f) == 0)
        started++;
    load_slots(f);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* Hand the nodes to the machine and the troubles to the probe, in the order of names. */
static int collect(struct probe *p, struct fleet *f, struct machine *m, struct err *e)
{
    size_t found = 0;

    for (size_t i = 0; i < f->count; i++) {
        struct berth *slot = &f->slots[i];

        found += slot->found;
        if (slot->rc == -ENOMEM || (slot->node && machine_add(m, slot->node) < 0))
            return err_nomem(e);
        slot->node = NULL;
        if (slot->rc < 0)
            probe_trouble(p, "recording", "%s", slot->why.text);
        for (size_t k = 0; k < slot->n_troubles; k++)
            probe_trouble(p, slot->troubles[k].source, "%s", slot->troubles[k].text);
    }
    if (!found)
        return err_set(e, -ENOENT,
                       "%s: is no recording and holds none: there is no " RECORDING_FILE
                       " in it, nor in a directory of it, and no sys",
                       f->dir);
    return 0;
}

static void fleet_done(struct fleet *f)
{
    for (size_t i = 0; f->slots && i < f->count; i++) {
        node_free(f->slots[i].node);
        free(f->slots[i].troubles);
    }
    free(f->slots);
}

int recording_load_fleet(struct probe *p, const char *dir, struct machine *m, struct err *e)
{
    CLEANUP(fleet_done) struct fleet f = { .dir = dir, .model = p };
    struct dirent **list = NULL;
    int count = scandir(dir, &list, NULL, alphasort), rc;

    if (count < 0)
        return err_set(e, -errno, "%s: %s", dir, strerror(errno));
    f.slots = calloc((size_t)count + 1, sizeof(*f.slots));
    for (int i = 0; f.slots && i < count; i++)
        if (list[i]->d_name[0] != '.')
            f.slots[f.count++].name = list[i]->d_name;
    if (f.slots)
        load_all(&f);
    rc = f.slots ? collect(p, &f, m, e) : err_nomem(e);
    for (int i = 0; i < count; i++)
        free(list[i]);
    free(list);
    return rc;
}
