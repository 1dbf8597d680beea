#include <stdio.h>

#include "slurm/commands.h"

enum { ARGUMENTS = 6 };

/* "scontrol update JobId=7 KEY=VALUE" */
static bool update(struct arena *a, const char **argv, const struct site_deed *d, const char *key)
{
    argv[0] = "scontrol";
    argv[1] = "update";
    argv[2] = arena_printf(a, "JobId=%u", d->job);
    argv[3] = d->text ? arena_printf(a, "%s=%s", key, d->text)
                      : arena_printf(a, "%s=%u", key, d->value);
    return argv[2] && argv[3];
}

static bool update_node(struct arena *a, const char **argv, const struct site_deed *d,
                        const char *key, const char *state)
{
    argv[0] = "scontrol";
    argv[1] = "update";
    argv[2] = arena_printf(a, "NodeName=%s", d->node);
    argv[3] = state ? state : arena_printf(a, "%s=%s", key, d->text);
    if (state && d->text && key) {
        argv[4] = arena_printf(a, "%s=%s", key, d->text);
        return argv[2] && argv[4];
    }
    return argv[2] && argv[3];
}

/* "scontrol VERB 7 [TEXT]" */
static bool plain(struct arena *a, const char **argv, const struct site_deed *d, const char *verb)
{
    argv[0] = "scontrol";
    argv[1] = verb;
    argv[2] = arena_printf(a, "%u", d->job);
    argv[3] = d->kind == SITE_DO_TELL ? d->text : NULL;
    return argv[2];
}

static bool cancel(struct arena *a, const char **argv, const struct site_deed *d)
{
    int n = 0;

    argv[n++] = "scancel";
    argv[n++] = "--verbose"; /* or it does not say what went wrong */
    if (d->kind == SITE_DO_SIGNAL)
        argv[n++] = "--full";
    if (d->kind == SITE_DO_SIGNAL_SCRIPT)
        argv[n++] = "--batch";
    if (d->kind != SITE_DO_CANCEL) {
        argv[n] = arena_printf(a, "--signal=%u", d->value);
        if (!argv[n++])
            return false;
    }
    argv[n] = arena_printf(a, "%u", d->job);
    return argv[n];
}

static bool fill(struct arena *a, const char **argv, const struct site_deed *d)
{
    struct site_deed number = *d;

    number.text = NULL;
    switch ((enum site_deed_kind)d->kind) {
    case SITE_DO_PRIORITY:
        return update(a, argv, &number, "Priority");
    case SITE_DO_NODES:
        return update(a, argv, &number, "NumNodes");
    case SITE_DO_PLACE:
        return update(a, argv, d, "ReqNodeList");
    case SITE_DO_AVOID:
        return update(a, argv, d, "ExcNodeList");
    case SITE_DO_NOTE:
        return update(a, argv, d, "AdminComment");
    case SITE_DO_COMMENT:
        return update(a, argv, d, "Comment");
    case SITE_DO_HOLD:
        return plain(a, argv, d, "hold");
    case SITE_DO_RELEASE:
        return plain(a, argv, d, "release");
    case SITE_DO_REQUEUE:
        return plain(a, argv, d, "requeue");
    case SITE_DO_REQUEUE_HELD:
        return plain(a, argv, d, "requeuehold");
    case SITE_DO_SUSPEND:
        return plain(a, argv, d, "suspend");
    case SITE_DO_GO_ON:
        return plain(a, argv, d, "resume");
    case SITE_DO_TELL:
        return plain(a, argv, d, "notify");
    case SITE_DO_CANCEL:
    case SITE_DO_SIGNAL:
    case SITE_DO_SIGNAL_STEPS:
    case SITE_DO_SIGNAL_SCRIPT:
        return cancel(a, argv, d);
    case SITE_DO_NODE_DRAIN:
        return update_node(a, argv, d, "Reason", "State=DRAIN");
    case SITE_DO_NODE_DOWN:
        return update_node(a, argv, d, "Reason", "State=DOWN");
    case SITE_DO_NODE_RESUME:
        return update_node(a, argv, d, NULL, "State=RESUME");
    case SITE_DO_NODE_FEATURES:
        return update_node(a, argv, d, "ActiveFeatures", NULL);
    case SITE_DEED_KINDS:
        break;
    }
    return false;
}

const char *const *slurm_command_of(const struct site_deed *d, struct arena *a)
{
    const char **argv = arena_alloc(a, ARGUMENTS * sizeof(*argv));

    return argv && fill(a, argv, d) ? argv : NULL;
}
