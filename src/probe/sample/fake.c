/* Accelerators that are not there, as a script tells (probe/gpu/fake_script.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "probe/gpu/fake_spec.h"
#include "probe/sample/sampler.h"

struct fake {
    struct fake_script script;
    int64_t begin_ns; /* the first tick; INT64_MIN: none yet */
    struct gpu_reading readings[FAKE_GPUS];
};

static void fake_close(void *state)
{
    struct fake *f = state;

    fake_script_done(&f->script);
    free(f);
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
    rc = fake_script_load(&f->script, env->fake, e);
    if (rc < 0) { /* a script that is missing is no machine without accelerators */
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

    if (f->begin_ns == INT64_MIN)
        f->begin_ns = t->monotonic_ns;
    since_ns = MAX(t->monotonic_ns - f->begin_ns, 0);
    for (int i = 0; i < f->script.count; i++)
        fake_script_play(&f->script, i, (double)since_ns / 1e9, &f->readings[i]);
    for (size_t i = 0; i < f->script.n_events; i++)
        if (!f->script.events[i].fired && since_ns >= f->script.events[i].after_ns &&
            fire(&f->script.events[i], t) < 0)
            return -ENOMEM;
    return gpu_reading_add(f->readings, (size_t)f->script.count, sizeof(f->readings[0]), t);
}

const struct sampler_ops sampler_fake = { "fake", &gpu_set, fake_open, fake_sample, fake_close };
