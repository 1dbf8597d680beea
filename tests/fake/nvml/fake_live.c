#include "fake_live.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/ini.h"
#include "base/parse.h"

enum { ENTRIES = 512, EVERY_GPU = -1, ANY_SCOPE = -1 };

static struct entry {
    int device;
    char name[32]; /* "" for a field */
    unsigned id;
    int scope;
    double value, per_s; /* of a process: its memory and what it is busy */
} entries[ENTRIES];
static size_t n_entries;
static struct timespec begin;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9;
}

/* "1000", "1000 + 50/s", "1000 0.5" */
static bool read_value(const char *text, struct entry *e)
{
    char first[32] = "", second[32] = "";

    if (sscanf(text, "%31s + %31[^/]/s", first, second) < 2)
        (void)sscanf(text, "%31s %31s", first, second);
    return parse_double(first, &e->value) == 0 &&
           (!second[0] || parse_double(second, &e->per_s) == 0);
}

static int read_entry(void *ctx, const struct ini_entry *at, struct err *e)
{
    struct entry *new = &entries[n_entries];
    bool every = strcmp(at->section, "live") == 0;

    (void)ctx;
    if (!at->key || (!every && strncmp(at->section, "live ", 5) != 0))
        return 0;
    if (n_entries == ENTRIES)
        return err_set(e, -E2BIG, "%s:%d: more than %d values", at->file, at->line, ENTRIES);
    *new = (struct entry){ .device = EVERY_GPU, .scope = ANY_SCOPE };
    if ((!every && sscanf(at->section, "live %d", &new->device) != 1) ||
        !read_value(at->value, new))
        return err_set(e, -EINVAL, "%s:%d: '%s'?", at->file, at->line, at->value);
    if (sscanf(at->key, "field %u.%d", &new->id, &new->scope) < 1)
        snprintf(new->name, sizeof(new->name), "%s", at->key);
    n_entries++;
    return 0;
}

int live_load(const char *path, const char *text, size_t len, struct err *e)
{
    int rc;

    pthread_mutex_lock(&lock);
    if (!begin.tv_sec)
        clock_gettime(CLOCK_MONOTONIC, &begin);
    n_entries = 0;
    rc = ini_parse(path, text, len, read_entry, NULL, e);
    pthread_mutex_unlock(&lock);
    return rc;
}

/* What is said of one GPU goes before what is said of all. */
static bool find(int device, const char *name, unsigned id, unsigned scope, double *ret)
{
    const struct entry *found = NULL;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_entries; i++) {
        const struct entry *e = &entries[i];

        if ((e->device != EVERY_GPU && e->device != device) || e->id != id ||
            (e->scope != ANY_SCOPE && (unsigned)e->scope != scope) || strcmp(e->name, name) != 0)
            continue;
        if (!found || e->device != EVERY_GPU)
            found = e;
    }
    if (found)
        *ret = found->value + (found->per_s > 0 ? found->per_s * seconds() : 0);
    pthread_mutex_unlock(&lock);
    return found != NULL;
}

bool live_number(int device, const char *name, double *ret)
{
    return find(device, name, 0, 0, ret);
}

bool live_field(int device, unsigned id, unsigned scope, double *ret)
{
    return find(device, "", id, scope, ret);
}

bool live_process(int device, size_t i, unsigned *pid, double *memory_b, double *busy)
{
    bool found = false;

    pthread_mutex_lock(&lock);
    for (size_t k = 0; k < n_entries && !found; k++) {
        const struct entry *e = &entries[k];

        if ((e->device != EVERY_GPU && e->device != device) ||
            sscanf(e->name, "process %u", pid) != 1)
            continue;
        found = i-- == 0;
        *memory_b = e->value;
        *busy = e->per_s;
    }
    pthread_mutex_unlock(&lock);
    return found;
}
