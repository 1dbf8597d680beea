#include "slurm/slurm.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "slurm/wire.h"
#include "slurm/worker.h"

enum { HOW_MOST = 1024, DEED_MOST = 1 << 18, LINE = 320 };

struct slurm {
    struct slurm_config config; /* its texts are ours */
    struct arena texts;
    struct slurm_worker worker;
    struct str body; /* of the newest answer */
    char how[HOW_MOST];
};

/* ---- one question and its answer ---- */

/* The process is of no more use: why, and what Slurm wrote last. */
static int give_up(struct slurm *s, int rc, struct err *e)
{
    char line[LINE];
    const char *colon;

    slurm_worker_last(&s->worker, line, sizeof(line));
    slurm_worker_stop(&s->worker);
    colon = line[0] ? ": " : "";
    if (rc == -ETIMEDOUT)
        return err_set(e, rc, "Slurm does not answer within %.4g s%s%s; look at slurmctld",
                       (double)s->config.patience_ms / 1000, colon, line);
    if (rc == -EPIPE)
        return err_set(e, -EIO, "Slurm's library has ended%s%s; look at its slurm.conf", colon,
                       line);
    if (rc == -ENOMEM)
        return err_nomem(e);
    return err_set(e, rc, "what came from Slurm's library cannot be read: %s", strerror(-rc));
}

/* What the answer's code is; its body is in s. */
static int exchange(struct slurm *s, enum slurm_question what, const struct str *body,
                    struct err *e)
{
    int64_t until = clock_monotonic_ns(&clock_system) + s->config.patience_ms * NS_PER_MS;
    char before[LINE];
    int32_t code = 0;
    int rc = 0;

    if (s->worker.pid && slurm_worker_gone(&s->worker))
        slurm_worker_stop(&s->worker);
    if (!s->worker.pid)
        rc = slurm_worker_start(&s->worker, &s->config, e);
    if (rc < 0)
        return rc;
    slurm_worker_last(&s->worker, before, sizeof(before)); /* that is no reason of what comes */
    rc = slurm_worker_ask(&s->worker, what, body);
    if (rc == 0)
        rc = slurm_worker_hear(&s->worker, until, &code, &s->body);
    if (rc < 0)
        return give_up(s, rc, e);
    if (code < 0)
        return err_set(e, code, "%s", str_text(&s->body));
    return code;
}

/* ---- public ---- */

void slurm_close(struct slurm *s)
{
    if (!s)
        return;
    slurm_worker_stop(&s->worker);
    str_done(&s->body);
    arena_done(&s->texts);
    free(s);
}

static int keep(struct slurm *s, const char **text)
{
    *text = arena_strdup(&s->texts, *text);
    return *text ? 0 : -ENOMEM;
}

int slurm_open(struct slurm **ret, const struct slurm_config *config, struct err *e)
{
    CLEANUP(slurm_closep) struct slurm *s = calloc(1, sizeof(*s));
    int rc;

    if (!s)
        return err_nomem(e);
    s->config = *config;
    if ((config->conf && keep(s, &s->config.conf) < 0) ||
        (config->library && keep(s, &s->config.library) < 0))
        return err_nomem(e);
    /* libslurm would wait a minute for it */
    if (config->conf && access(config->conf, R_OK) < 0)
        return err_set(e, -errno, "%s: %s", config->conf, strerror(errno));
    s->body = (struct str)STR_INIT(SLURM_WIRE_MOST);
    rc = exchange(s, SLURM_ASK_HOW, NULL, e);
    if (rc < 0)
        return rc;
    snprintf(s->how, sizeof(s->how), "%s", str_text(&s->body));
    *ret = steal(&s);
    return 0;
}

const char *slurm_how(const struct slurm *s)
{
    return s->how;
}

int slurm_read(struct slurm *s, struct site *site, struct err *e)
{
    int rc = exchange(s, SLURM_ASK_READ, NULL, e);

    if (rc <= 0)
        return rc;
    rc = slurm_wire_site(site, str_text(&s->body), s->body.len);
    str_done(&s->body);
    s->body = (struct str)STR_INIT(SLURM_WIRE_MOST);
    return rc < 0 ? give_up(s, rc, e) : 1;
}

/* Whether all is there that a deed of its kind needs. */
static bool is_whole(const struct site_deed *d)
{
    switch ((enum site_deed_kind)d->kind) {
    case SITE_DO_PLACE:
    case SITE_DO_AVOID:
    case SITE_DO_NOTE:
    case SITE_DO_COMMENT:
    case SITE_DO_TELL:
        return d->text && d->job;
    case SITE_DO_NODE_DRAIN:
    case SITE_DO_NODE_DOWN:
    case SITE_DO_NODE_FEATURES:
        return d->text && d->node && d->node[0];
    case SITE_DO_NODE_RESUME:
        return d->node && d->node[0];
    default:
        return d->kind < SITE_DEED_KINDS && d->job;
    }
}

int slurm_act(struct slurm *s, const struct site_deed *deed, struct err *e)
{
    CLEANUP(str_done) struct str body = STR_INIT(DEED_MOST);
    int rc;

    if (!is_whole(deed))
        return err_set(e, -EINVAL, "a deed lacks its job, its node or its text");
    slurm_wire_add_deed(&body, deed);
    if (str_error(&body))
        return err_set(e, str_error(&body), "a deed's text is too long");
    rc = exchange(s, SLURM_ASK_DEED, &body, e);
    return MIN(rc, 0);
}
