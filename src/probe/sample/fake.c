/* Accelerators that are not there, as a script tells (probe/gpu/fake_script.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "probe/gpu/fake_spec.h"
#include "probe/sample/sampler.h"

struct fake {
    struct fake_script script;
    int64_t begin_ns; /* the first tick; INT64_MIN: none yet */
    char *path;       /* of the script */
    struct stat was;  /* as it was read */
    struct gpu_reading readings[FAKE_GPUS];
};

static void fake_close(void *state)
{
    struct fake *f = state;

    fake_script_done(&f->script);
    free(f->path);
    free(f);
}

static bool is_changed(const struct fake *f, struct stat *st)
{
    return stat(f->path, st) == 0 &&
           (st->st_ino != f->was.st_ino || st->st_size != f->was.st_size ||
            st->st_mtim.tv_sec != f->was.st_mtim.tv_sec ||
            st->st_mtim.tv_nsec != f->was.st_mtim.tv_nsec);
}

/* Read a script anew that was changed: it begins again. One that cannot be read, or is of another
 * number of accelerators, changes nothing. */
static void read_again(struct fake *f)
{
    struct fake_script script;
    struct stat st;

    if (!is_changed(f, &st))
        return;
    f->was = st;
    if (fake_script_load(&script, f->path, NULL) < 0)
        return;
    if (script.count != f->script.count) {
        fake_script_done(&script);
        return;
    }
    fake_script_done(&f->script);
    f->script = script;
    f->begin_ns = INT64_MIN;
}

static int fake_open(void **state, const struct sampler_env *env, struct err *e)
{
    struct fake *f;
    int rc;

    if (!env->fake)
        return err_set(e, -ENOENT, "no script of accelerators");
    f = calloc(1, sizeof(*f));
    if (!f)
        return err_nomem(e);
    f->begin_ns = INT64_MIN;
    f->path = strdup(env->fake);
    if (!f->path || stat(f->path, &f->was) < 0)
        memset(&f->was, 0, sizeof(f->was));
    rc = f->path ? fake_script_load(&f->script, env->fake, e) : err_nomem(e);
    if (rc < 0) { /* a script that is missing is no machine without accelerators */
        free(f->path);
        free(f);
        return rc == -ENOMEM ? rc : -EINVAL;
    }
    *state = f;
    return 0;
}

static int fire(struct fake_event *from, struct tick *t)
{
    struct event *event = tick_event(t, from->kind, from->event.severity, from->event.code);

    if (!event) /* when there are too many, at the next tick */
        return t->n_events == EVENTS_MAX ? 0 : -ENOMEM;
    memcpy(event->thing, from->event.thing, sizeof(event->thing));
    memcpy(event->text, from->event.text, sizeof(event->text));
    memcpy(event->action, from->event.action, sizeof(event->action));
    from->fired = true;
    return 0;
}

static int fake_sample(void *state, struct tick *t)
{
    struct fake *f = state;
    int64_t since_ns;

    read_again(f);
    if (f->begin_ns == INT64_MIN)
        f->begin_ns = t->monotonic_ns;
    since_ns = MAX(t->monotonic_ns - f->begin_ns, 0);
    for (int i = 0; i < f->script.count; i++)
        fake_script_play(&f->script, i, clock_seconds(since_ns), &f->readings[i]);
    for (size_t i = 0; i < f->script.n_events; i++)
        if (!f->script.events[i].fired && since_ns >= f->script.events[i].after_ns &&
            fire(&f->script.events[i], t) < 0)
            return -ENOMEM;
    return gpu_reading_add(f->readings, (size_t)f->script.count, sizeof(f->readings[0]), t);
}

const struct sampler_ops sampler_fake = { "fake", &gpu_set, fake_open, fake_sample, fake_close };
