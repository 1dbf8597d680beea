#include "probe/sample/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "probe/kernel/kept_file.h"
#include "probe/kernel/scan.h"

/* 1,000 targets of a Lustre file system; a softnet_stat of 512 CPUs is 69 KiB. */
enum { THINGS_MAX = 1024, TEXT_MAX = 128 << 10, NUMBER_MAX = 64 };

/* In place of a descriptor. */
enum { FILE_NONE = -1, FILE_SLOW = -2 };

struct thing {
    char name[SIGNAL_THING];
    char prefix[SAMPLE_PATH];
    uint32_t hash; /* of the prefix */
    char facts[SIGNAL_FACTS][SIGNAL_THING];
    const struct sample_file *files;
    size_t n_files;
    int *fds; /* in this block */
    int64_t slow_due_ns;
    bool began;    /* its slow files were read */
    bool known;    /* by a look before this one */
    bool gone;     /* a file said so */
    bool is_first; /* of those with its name, which stand together */
    double values[];
};

struct things {
    struct thing **items;
    size_t n, room;
};

struct sample_files {
    const struct sample_class *class;
    int root; /* our own descriptor */
    struct things things;
    struct things finding; /* while find() runs */
    struct thing *added;   /* by the last sample_files_add(); NULL: it was passed over */
    bool found;
    int64_t find_due_ns;
    char text[TEXT_MAX];
};

/* ---- things ---- */

static void thing_free(struct thing *g)
{
    for (size_t i = 0; i < g->n_files; i++)
        if (g->fds[i] >= 0)
            close(g->fds[i]);
    free(g);
}

static void things_done(struct things *list)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i])
            thing_free(list->items[i]);
    free(list->items);
    *list = (struct things){ .n = 0 };
}

int sample_open_below(int root, const char *prefix, const char *path)
{
    char full[2 * SAMPLE_PATH];

    if (snprintf(full, sizeof(full), "%s%s", prefix, path) >= (int)sizeof(full)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return openat(root, full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int sample_files_root(const struct sample_files *s)
{
    return s->root;
}

/* FNV-1a: a thousand targets are told from each other without comparing their prefixes. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261U;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    return hash;
}

static int open_below(const struct sample_files *s, const char *prefix, const char *path)
{
    return sample_open_below(s->root, prefix, path);
}

static struct thing *thing_new(const struct sample_files *s, const char *name, const char *prefix,
                               const struct sample_file *files, size_t n)
{
    size_t values = s->class->n_values * sizeof(double);
    struct thing *g = calloc(1, sizeof(*g) + values + n * sizeof(int));

    if (!g)
        return NULL;
    g->fds = (int *)(void *)((char *)g->values + values);
    snprintf(g->name, sizeof(g->name), "%s", name);
    snprintf(g->prefix, sizeof(g->prefix), "%s", prefix);
    g->hash = hash_of(prefix);
    g->files = files;
    g->n_files = n;
    for (size_t i = 0; i < s->class->n_values; i++)
        g->values[i] = (double)NAN;
    for (size_t i = 0; i < n; i++)
        g->fds[i] = files[i].slow ? FILE_SLOW : open_below(s, prefix, files[i].path);
    return g;
}

/* Take the thing from those that are known already; NULL when it is none, or was gone. */
static struct thing *take_known(struct sample_files *s, const char *name, const char *prefix,
                                const struct sample_file *files)
{
    uint32_t hash = hash_of(prefix);

    for (size_t i = 0; i < s->things.n; i++) {
        struct thing *g = s->things.items[i];

        if (g && g->hash == hash && !g->gone && g->files == files && !strcmp(g->prefix, prefix) &&
            !strncmp(g->name, name, sizeof(g->name) - 1)) {
            s->things.items[i] = NULL;
            return g;
        }
    }
    return NULL;
}

static bool is_added(const struct things *list, const char *prefix)
{
    uint32_t hash = hash_of(prefix);

    for (size_t i = 0; i < list->n; i++)
        if (list->items[i]->hash == hash && !strcmp(list->items[i]->prefix, prefix))
            return true;
    return false;
}

static int make_room(struct things *list)
{
    size_t room = list->room ? 2 * list->room : 16;
    struct thing **more;

    if (list->n < list->room)
        return 0;
    more = realloc(list->items, room * sizeof(struct thing *));
    if (!more)
        return -ENOMEM;
    list->items = more;
    list->room = room;
    return 0;
}

int sample_files_add(struct sample_files *s, const char *name, const char *prefix,
                     const struct sample_file *files, size_t n)
{
    struct thing *g;

    s->added = NULL;
    if (s->finding.n >= THINGS_MAX || strlen(prefix) >= SAMPLE_PATH ||
        is_added(&s->finding, prefix))
        return 0;
    if (make_room(&s->finding) < 0)
        return -ENOMEM;
    g = take_known(s, name, prefix, files);
    if (!g)
        g = thing_new(s, name, prefix, files, n);
    if (!g)
        return -ENOMEM;
    s->finding.items[s->finding.n++] = s->added = g;
    return 0;
}

void sample_files_fact(struct sample_files *s, size_t i, const char *text)
{
    if (s->added)
        snprintf(s->added->facts[i], SIGNAL_THING, "%s", text);
}

/* By name, mlx5_2 before mlx5_10; those of one name by prefix. */
static int compare(const void *a, const void *b)
{
    const struct thing *x = *(struct thing *const *)a, *y = *(struct thing *const *)b;
    int order = strverscmp(x->name, y->name);

    return order ? order : strverscmp(x->prefix, y->prefix);
}

/* A look that did not come to its end tells neither what is new nor what is gone: those that it
 * took stand again among those that are known, each where one was taken. */
static void give_back(struct sample_files *s)
{
    for (size_t i = 0, at = 0; i < s->finding.n; i++) {
        if (!s->finding.items[i]->known)
            continue;
        while (s->things.items[at])
            at++;
        s->things.items[at] = steal(&s->finding.items[i]);
    }
    things_done(&s->finding);
}

/* Look for all things anew. Those that are still there keep what is open and known of them. */
static int find_things(struct sample_files *s, int64_t now_ns)
{
    int rc = s->class->find(s);

    if (rc < 0) {
        give_back(s);
    } else {
        things_done(&s->things);
        s->things = s->finding;
        s->finding = (struct things){ .n = 0 };
    }
    if (s->things.n > 1)
        qsort(s->things.items, s->things.n, sizeof(struct thing *), compare);
    for (size_t i = 0; i < s->things.n; i++) {
        struct thing *g = s->things.items[i];

        g->known = true;
        g->is_first = i == 0 || strcmp(s->things.items[i - 1]->name, g->name) != 0;
    }
    s->found = rc == 0;
    s->find_due_ns = now_ns + SAMPLE_FIND_NS;
    return rc;
}

/* ---- reading ---- */

/* Whether a file of a thing answers never again. */
static bool is_refusal(int rc)
{
    return rc == -EINVAL || rc == -EOPNOTSUPP || rc == -ENODEV || rc == -EISDIR;
}

/* A number is read by one call: sysfs gives a whole file at once. */
static int read_text(struct sample_files *s, int fd, bool number)
{
    const struct kept k = { fd };
    ssize_t len;

    if (!number)
        return kept_read(&k, s->text, sizeof(s->text));
    len = pread(fd, s->text, NUMBER_MAX, 0);
    if (len < 0)
        return -errno;
    s->text[len] = 0;
    return (int)len;
}

static void read_file(struct sample_files *s, struct thing *g, size_t i)
{
    const struct sample_file *f = &g->files[i];
    int fd = g->fds[i], rc = -ENOENT;

    if (fd == FILE_SLOW)
        fd = open_below(s, g->prefix, f->path);
    if (fd >= 0)
        rc = read_text(s, fd, !f->read);
    else if (errno != EMFILE && errno != ENFILE)
        g->fds[i] = FILE_NONE;
    if (rc < 0)
        s->text[0] = 0;
    if (is_refusal(rc)) {
        g->gone = g->gone || rc == -ENODEV;
        close(fd);
        g->fds[i] = FILE_NONE;
    } else if (fd >= 0 && g->fds[i] == FILE_SLOW) {
        close(fd);
    }
    if (f->read) {
        f->read(f, s->text, g->values);
    } else {
        const char *at = s->text;
        bool negative = *at == '-';

        at += negative;
        g->values[f->value] = scan_number(&at) * (negative ? -f->scale : f->scale);
    }
}

/* Read what is due of a thing. The slow files of the things come due in different seconds, so that
 * no tick reads all. */
static void read_thing(struct sample_files *s, size_t index, int64_t now_ns)
{
    struct thing *g = s->things.items[index];
    bool slow = !g->began || now_ns >= g->slow_due_ns;

    if (slow) {
        g->slow_due_ns = now_ns + SAMPLE_SLOW_NS;
        if (!g->began)
            g->slow_due_ns -= (int64_t)(index % 10) * NS_PER_S;
        g->began = true;
    }
    for (size_t i = 0; i < g->n_files; i++)
        if (g->files[i].slow ? slow : g->fds[i] >= 0)
            read_file(s, g, i);
}

static bool has_values(const struct sample_files *s, const struct thing *g)
{
    for (size_t i = 0; i < s->class->set->n_defs; i++)
        if (!isnan(g->values[i]))
            return true;
    return false;
}

/* A row with what the thing has; its values, or NULL when out of memory. */
static double *add_row(struct tick *t, const struct signal_set *set, const struct thing *g)
{
    struct signal_row *row = tick_add(t, set, g->name);

    if (!row)
        return NULL;
    memcpy(row->values, g->values, set->n_defs * sizeof(double));
    for (size_t k = 0; set->facts && k < SIGNAL_FACTS && set->facts[k]; k++)
        tick_fact(row, k, g->facts[k]);
    return row->values;
}

int sample_files_sample(void *state, struct tick *t)
{
    struct sample_files *s = state;
    const struct sample_class *c = s->class;
    double *row = NULL; /* of the things of this name */
    int rc = 0;

    if (!s->found || t->monotonic_ns >= s->find_due_ns)
        rc = find_things(s, t->monotonic_ns);
    if (rc != -ENOMEM)
        rc = 0; /* the next tick looks again */
    for (size_t i = 0; i < s->things.n && rc == 0; i++) {
        const struct thing *g = s->things.items[i];

        if (g->is_first)
            row = NULL;
        else if (!c->combine)
            continue;
        read_thing(s, i, t->monotonic_ns);
        if (!has_values(s, g))
            continue;
        if (row) {
            c->combine(c->set, row, g->values);
            continue;
        }
        row = add_row(t, c->set, g);
        if (!row)
            rc = -ENOMEM;
    }
    return rc;
}

/* ---- the state ---- */

void sample_files_close(void *state)
{
    struct sample_files *s = state;

    things_done(&s->things);
    closep(&s->root);
    free(s);
}

static void state_close(struct sample_files *s)
{
    sample_files_close(s);
}

DEFINE_CLEANUP(struct sample_files, state_close)

int sample_files_open(void **state, const struct sampler_env *env, const struct sample_class *class,
                      struct err *e)
{
    CLEANUP(state_closep) struct sample_files *s = calloc(1, sizeof(*s));
    const char *const *folder = class->folders;

    if (!s)
        return err_nomem(e);
    s->class = class;
    s->root = -1;
    while (*folder && faccessat(env->root, *folder, F_OK, 0) < 0)
        folder++;
    if (!*folder)
        return err_set(e, -ENOENT, "%s: not there", class->folders[0]);
    s->root = fcntl(env->root, F_DUPFD_CLOEXEC, 0);
    if (s->root < 0)
        return err_set(e, -errno, "%s: %m", class->folders[0]);
    *state = steal(&s);
    return 0;
}
