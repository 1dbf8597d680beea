/* NVIDIA's GPUs: what nvml_session.h measures in a thread of its own (probe/thread/owner.h), as
 * rows, and events for a driver that hangs and for GPUs that are lost. Values are those of the tick
 * before. Of a GPU in MIG mode they are what the driver tells of it as a whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "probe/nvidia/sample_nvml.h"
#include "base/clock.h"
#include "probe/thread/owner.h"

#define OPEN_PATIENCE_NS (2LL * NS_PER_S)

/* ---- in the thread ---- */

static int session_read(void *state, struct watch_where *where, void *out, struct err *e)
{
    struct nvml_session *s = state;

    s->where = where;
    if (nvml_session_read(s, out) < 0)
        return err_set(e, -ENOENT, "no NVIDIA driver or GPU");
    return 0;
}

static void session_done(void *state)
{
    nvml_session_close(state);
    free(state);
}

/* Without words for owner_report(): tell_hang() names the GPU by its address. */
static const struct owner_work work = { .read = session_read,
                                        .done = session_done,
                                        .size = sizeof(struct nvml_live_reading) };

/* ---- events ---- */

struct sample_nvml {
    struct owner *owner;
    int64_t patience_ns;
    struct nvml_live_reading newest;
    /* what was told, and has not been told to be over */
    bool hung;
    struct owner_stuck stuck;
    bool lost[NVML_LIVE_GPUS];
};

/* An event that does not fit a tick is dropped, as tick_event() has it: *ret is NULL then. */
static int add_event(struct tick *t, const char *kind, enum severity severity, const char *thing,
                     struct event **ret)
{
    struct event *event = tick_event(t, kind, severity, -1);

    *ret = event;
    if (!event)
        return t->n_events == EVENTS_MAX ? 0 : -ENOMEM;
    snprintf(event->thing, sizeof(event->thing), "%s", thing);
    return 0;
}

static const char *address_of(const struct nvml_live_reading *r, int device)
{
    for (size_t i = 0; i < r->n_gpus; i++)
        if (device >= 0 && r->gpus[i].index == (unsigned)device)
            return r->gpus[i].facts[GPU_PCI];
    return "";
}

/* "nvmlInit_v2", "nvmlDeviceGetName of GPU 3" */
static void name_call(const struct sample_nvml *s, char *buf, size_t size)
{
    if (s->stuck.device < 0)
        snprintf(buf, size, "%s", s->stuck.call);
    else
        snprintf(buf, size, "%s of GPU %d", s->stuck.call, s->stuck.device);
}

static int tell_hang(struct sample_nvml *s, struct tick *t, const struct owner_stuck *stuck)
{
    struct event *event;
    char name[128];
    int rc;

    if (!stuck == !s->hung)
        return 0;
    if (stuck)
        s->stuck = *stuck;
    name_call(s, name, sizeof(name));
    rc = add_event(t, "probe", SEVERITY_WARNING, address_of(&s->newest, s->stuck.device), &event);
    if (rc < 0)
        return rc;
    s->hung = stuck != NULL;
    if (!event)
        return 0;
    event->over = !stuck;
    if (!stuck) {
        snprintf(event->text, sizeof(event->text), "%s answers again", name);
        return 0;
    }
    snprintf(event->text, sizeof(event->text), "%s has not answered for %.3g s", name,
             (double)s->patience_ns / NS_PER_S);
    snprintf(event->action, sizeof(event->action),
             "look at dmesg for lines with NVRM; the GPU may have fallen off the bus");
    return 0;
}

static int tell_lost(struct sample_nvml *s, struct tick *t, const struct nvml_live_gpu *g)
{
    struct event *event;
    int rc;

    if (s->lost[g->index] == g->lost)
        return 0;
    rc = add_event(t, "gpu-lost", SEVERITY_CRITICAL, g->facts[GPU_PCI], &event);
    if (rc < 0)
        return rc;
    s->lost[g->index] = g->lost;
    if (!event)
        return 0;
    event->over = !g->lost;
    snprintf(event->text, sizeof(event->text),
             g->lost ? "GPU %u is lost: the driver does not reach it" : "GPU %u is back", g->index);
    if (g->lost)
        snprintf(event->action, sizeof(event->action),
                 "reboot the node, then inspect the GPU: XID 79 in dmesg tells more");
    return 0;
}

/* ---- rows ---- */

/* A row with a GPU's values; NULL: all absent. */
static int add_row(struct tick *t, const struct signal_set *set, const struct nvml_live_gpu *g,
                   const double *values)
{
    char thing[SIGNAL_THING];
    struct signal_row *row;

    snprintf(thing, sizeof(thing), "%u", g->index);
    row = tick_add(t, set, thing);
    if (!row)
        return -ENOMEM;
    if (values)
        memcpy(row->values, values, set->n_defs * sizeof(*values));
    for (size_t i = 0; set->facts && set->facts[i]; i++)
        tick_fact(row, i, g->facts[i]);
    return 0;
}

/* Of a GPU that is lost, that it is; while the driver hangs nothing is known. */
static int add_gpu(struct tick *t, const struct nvml_live_gpu *g, bool stale)
{
    int rc = add_row(t, &gpu_set, g, stale || g->lost ? NULL : g->gpu);

    if (rc == 0 && g->lost)
        t->rows[t->n_rows - 1].values[GPU_LOST] = 1;
    return rc;
}

static int add_process(struct tick *t, const struct nvml_live_process *p)
{
    char thing[SIGNAL_THING];
    struct signal_row *row;

    snprintf(thing, sizeof(thing), "%u:%u", p->gpu, p->pid);
    row = tick_add(t, &gpu_process_set, thing);
    if (!row)
        return -ENOMEM;
    memcpy(row->values, p->values, sizeof(p->values));
    return 0;
}

/* The rows of a set stand together. */
static int add_rows(struct tick *t, const struct nvml_live_reading *r, bool stale)
{
    int rc = 0;

    for (size_t i = 0; i < r->n_gpus && rc == 0; i++)
        rc = add_gpu(t, &r->gpus[i], stale);
    if (stale)
        return rc;
    for (size_t i = 0; i < r->n_gpus && rc == 0; i++)
        if (!r->gpus[i].lost)
            rc = add_row(t, &gpu_throttle_set, &r->gpus[i], r->gpus[i].throttle);
    for (size_t i = 0; i < r->n_gpus && rc == 0; i++)
        if (!r->gpus[i].lost)
            rc = add_row(t, &gpu_error_set, &r->gpus[i], r->gpus[i].error);
    for (size_t i = 0; i < r->n_processes && rc == 0; i++)
        rc = add_process(t, &r->processes[i]);
    return rc;
}

/* ---- the sampler ---- */

static void nvml_close(void *state)
{
    struct sample_nvml *s = state;

    owner_stop(s->owner);
    free(s);
}
DEFINE_CLEANUP(struct sample_nvml, nvml_close)

int sample_nvml_open(void **state, const struct sampler_env *env, const struct nvml_paces *paces,
                     struct err *e)
{
    CLEANUP(nvml_closep) struct sample_nvml *s = NULL;
    CLEANUP(freep) struct nvml_session *session = NULL;
    int rc;

    if (!env->live)
        return -ENOENT;
    s = calloc(1, sizeof(*s));
    session = calloc(1, sizeof(*session));
    if (!s || !session)
        return err_nomem(e);
    s->patience_ns = env->patience_ns;
    session->paces = *paces;
    rc = owner_start(&s->owner, &work, session, e);
    if (rc < 0)
        return rc;
    (void)steal(&session);
    /* so that a machine without the library is known as one; a driver that hangs costs this once */
    if (owner_wait(s->owner, MIN(s->patience_ns, OPEN_PATIENCE_NS)) &&
        owner_newest(s->owner, &s->newest, e) < 0)
        return -ENOENT;
    *state = steal(&s);
    return 0;
}

static int nvml_open(void **state, const struct sampler_env *env, struct err *e)
{
    return sample_nvml_open(state, env, &nvml_paces, e);
}

static int nvml_sample(void *state, struct tick *t)
{
    struct sample_nvml *s = state;
    struct owner_stuck stuck;
    bool hung = owner_hung(s->owner, s->patience_ns, &stuck);
    bool stale = owner_late(s->owner, s->patience_ns); /* as one that hangs is */
    int rc;

    if (owner_newest(s->owner, &s->newest, NULL) <= 0)
        s->newest.n_gpus = s->newest.n_processes = 0;
    owner_ask(s->owner);
    rc = tell_hang(s, t, hung ? &stuck : NULL);
    for (size_t i = 0; i < s->newest.n_gpus && rc == 0; i++)
        rc = tell_lost(s, t, &s->newest.gpus[i]);
    return rc < 0 ? rc : add_rows(t, &s->newest, stale);
}

const struct sampler_ops sampler_nvml = { "nvml", &gpu_set, nvml_open, nvml_sample, nvml_close };
