#include <errno.h>
#include <signal.h>
#include <string.h>

#include "slurm/code.h"
#include "slurm/library.h"
#include "slurm/take.h"

enum { KILL_BATCH = 1, KILL_STEPS_ONLY = 4, KILL_FULL_JOB = 8 };
enum { REQUEUE_HOLD = 1 << 11, NODE_DOWN = 1 };
enum { NODE_RESUME = 1 << 8, NODE_DRAIN = 1 << 9, SPARE = 256 };

static struct slurm_step_id whole_job(uint32_t job)
{
    return (
        struct slurm_step_id){ .job = job, .component = SLURM_NO_VALUE, .step = SLURM_NO_VALUE };
}

static int call_requeue(const struct slurm_library *l, uint32_t job, uint32_t flags)
{
    return l->layout->by_step ? l->api.requeue_step(whole_job(job), flags)
                              : l->api.requeue(job, flags);
}

static int call_suspend(const struct slurm_library *l, uint32_t job)
{
    return l->layout->by_step ? l->api.suspend_step(whole_job(job)) : l->api.suspend(job);
}

static int call_resume(const struct slurm_library *l, uint32_t job)
{
    return l->layout->by_step ? l->api.resume_step(whole_job(job)) : l->api.resume(job);
}

static int call_kill(const struct slurm_library *l, uint32_t job, uint32_t number, uint16_t flags)
{
    return l->layout->by_step ? l->api.kill_step(whole_job(job), (uint16_t)number, flags)
                              : l->api.kill(job, (uint16_t)number, flags);
}

static int call_notify(const struct slurm_library *l, uint32_t job, const char *text)
{
    struct arena a = ARENA_INIT;
    char *message = arena_strdup(&a, text);
    int rc;

    if (!message) {
        errno = ENOMEM;
        return -1;
    }
    rc = l->layout->by_step ? l->api.notify_step(whole_job(job), message)
                            : l->api.notify(job, message);
    arena_done(&a);
    return rc;
}

/* What is changed of a job: one field, a number or a text. */
static int update_job(const struct slurm_library *l, uint32_t job, enum slurm_field_id id,
                      const char *text, uint32_t value)
{
    CLEANUP(freep) void *desc = calloc(1, l->layout->desc_size + SPARE);

    if (!desc) {
        errno = ENOMEM;
        return -1;
    }
    l->api.init_job(desc);
    slurm_set_number(l->layout, desc, DESC_ID, job);
    if (text)
        slurm_set_text(l->layout, desc, id, text);
    else
        slurm_set_number(l->layout, desc, id, value);
    return l->api.update_job(desc);
}

/* First where, then that it may start: in between it can start nowhere else. */
static int place(const struct slurm_library *l, const struct site_deed *d)
{
    int rc = update_job(l, d->job, DESC_WANTED, d->text, 0);

    return rc != 0 ? rc : update_job(l, d->job, DESC_PRIORITY, NULL, SLURM_INFINITE);
}

static int update_node(const struct slurm_library *l, const struct site_deed *d)
{
    CLEANUP(freep) void *update = calloc(1, l->layout->update_size + SPARE);
    uint32_t state = d->kind == SITE_DO_NODE_DRAIN  ? NODE_DRAIN
                     : d->kind == SITE_DO_NODE_DOWN ? NODE_DOWN
                                                    : NODE_RESUME;

    if (!update) {
        errno = ENOMEM;
        return -1;
    }
    l->api.init_node(update);
    slurm_set_text(l->layout, update, UPDATE_NODES, d->node);
    if (d->kind == SITE_DO_NODE_FEATURES)
        slurm_set_text(l->layout, update, UPDATE_FEATURES_NOW, d->text);
    else
        slurm_set_number(l->layout, update, UPDATE_STATE, state);
    if (state != NODE_RESUME) {
        slurm_set_text(l->layout, update, UPDATE_REASON, d->text);
        slurm_set_number(l->layout, update, UPDATE_REASON_UID, getuid());
    }
    return l->api.update_node(update);
}

static int act(const struct slurm_library *l, const struct site_deed *d)
{
    switch ((enum site_deed_kind)d->kind) {
    case SITE_DO_PRIORITY:
        return update_job(l, d->job, DESC_PRIORITY, NULL, d->value);
    case SITE_DO_HOLD:
        return update_job(l, d->job, DESC_PRIORITY, NULL, 0);
    case SITE_DO_RELEASE:
        return update_job(l, d->job, DESC_PRIORITY, NULL, SLURM_INFINITE);
    case SITE_DO_PLACE:
        return place(l, d);
    case SITE_DO_AVOID:
        return update_job(l, d->job, DESC_AVOIDED, d->text, 0);
    case SITE_DO_REQUEUE:
        return call_requeue(l, d->job, 0);
    case SITE_DO_REQUEUE_HELD:
        return call_requeue(l, d->job, REQUEUE_HOLD);
    case SITE_DO_SUSPEND:
        return call_suspend(l, d->job);
    case SITE_DO_GO_ON:
        return call_resume(l, d->job);
    case SITE_DO_CANCEL:
        return call_kill(l, d->job, SIGKILL, 0);
    case SITE_DO_SIGNAL:
        return call_kill(l, d->job, d->value, KILL_FULL_JOB);
    case SITE_DO_SIGNAL_STEPS:
        return call_kill(l, d->job, d->value, KILL_STEPS_ONLY);
    case SITE_DO_SIGNAL_SCRIPT:
        return call_kill(l, d->job, d->value, KILL_BATCH);
    case SITE_DO_NODES:
        return update_job(l, d->job, DESC_NODES, NULL, d->value);
    case SITE_DO_NOTE:
        return update_job(l, d->job, DESC_NOTE, d->text, 0);
    case SITE_DO_COMMENT:
        return update_job(l, d->job, DESC_COMMENT, d->text, 0);
    case SITE_DO_TELL:
        return call_notify(l, d->job, d->text);
    case SITE_DO_NODE_DRAIN:
    case SITE_DO_NODE_DOWN:
    case SITE_DO_NODE_RESUME:
    case SITE_DO_NODE_FEATURES:
        return update_node(l, d);
    case SITE_DEED_KINDS:
        break;
    }
    errno = EINVAL;
    return -1;
}

int slurm_library_act(void *state, const struct site_deed *deed, struct err *e)
{
    const struct slurm_library *l = state;
    int rc, number;

    errno = 0;
    rc = act(l, deed);
    if (rc == 0)
        return 0;
    number = rc > 0 ? rc : errno;
    return err_set(e, slurm_code_of(number, (enum site_deed_kind)deed->kind), "Slurm: %s",
                   l->api.error_text(number));
}
