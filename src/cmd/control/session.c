#include "cmd/control/session.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "cmd/control/mail.h"
#include "control/used_file.h"

enum { POLICY_MAX = 64 << 10, LINES_MAX = 64 << 20 };

/* Without a file: what sites do that reclaim idle GPUs, with a grace for a job's start. */
static const char usual[] =
    "[policy]\nname = usual\nplace = topology\n[idle]\nwarn = 1h\nreclaim = 2h\nburst = 1m\n"
    "grace = 10m\naction = requeue\n";

/* Write down what the jobs that have ended used: without it control goes on. */
static void tell_used(struct control_session *s, const struct site *site)
{
    CLEANUP(str_done) struct str lines = STR_INIT(LINES_MAX);
    struct err e = { "" };

    used_end(s->used, site, &lines);
    if (used_file_add(s->folder, &lines, &e) < 0)
        log_warning("%s", e.text);
}

static int read_site(void *ctx, struct site *ret, struct err *e)
{
    struct control_session *s = ctx;
    int rc = slurm_read(s->slurm, ret, e);

    if (rc > 0 && s->used)
        tell_used(s, ret);
    return rc;
}

/* One that was stopped for long may find that another one leads. */
static int act(void *ctx, const struct site_deed *deed, struct err *e)
{
    const struct control_session *s = ctx;

    if (!control_book_leads(s->book))
        return err_set(e, -EPERM, "another brim control may lead by now");
    return slurm_act(s->slurm, deed, e);
}

static int ask(void *ctx, const struct site *site, const bool *which, const struct node_answer **of,
               struct err *e)
{
    struct control_session *s = ctx;
    int rc = source_ask(&s->source, site, which, of, e);
    const struct control_answers answers = { of, clock_wall_ns(s->app->clock) / NS_PER_MS };

    if (rc == 0 && s->used && used_see(s->used, site, &answers) < 0)
        log_warning("out of memory: what jobs used is not seen this time");
    return rc == 0 ? page_asked(s->page, of, site->n_nodes, e) : rc;
}

static void tell_owner(void *ctx, const struct site_job *j, const char *text)
{
    const struct control_session *s = ctx;

    if (s->o->mail && !mail_send(s->o->mail, j->user, j->id, text))
        log_warning("job %u: no letter to its owner %s", (unsigned)j->id, j->user);
}

static int load_policy(struct control_session *s, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(POLICY_MAX);
    int rc = 0;

    if (s->o->policy)
        rc = file_read(s->o->policy, &text, e);
    else
        str_add(&text, usual);
    if (rc == 0)
        rc = policy_read(&s->policy, s->o->policy ? s->o->policy : "usual", str_text(&text),
                         text.len, e);
    return rc < 0 ? rc : control_policy_check(&s->policy, e);
}

int control_session_open(struct control_session *s, struct err *e)
{
    const struct slurm_config slurm = { .conf = s->o->conf,
                                        .patience_ms = s->o->patience_ns / NS_PER_MS };
    const struct source_opts source = { s->o->prometheus, s->o->query,          s->o->login,
                                        s->o->token,      (unsigned)s->o->port, s->o->patience_ns };
    int rc;

    s->config = (struct cycle_config){ .engine = { read_site, act, ask, tell_owner, s },
                                       .policy = &s->policy,
                                       .clock = s->app->clock,
                                       .back_ms = s->o->back_ns / NS_PER_MS,
                                       .percent = (unsigned)s->o->most };
    rc = control_modes_read(s->o->mode, s->config.mode, e);
    if (rc == 0)
        rc = load_policy(s, e);
    if (rc == 0)
        rc = source_open(&s->source, &source, s->app->clock, e);
    if (rc == 0)
        rc = control_book_open(&s->book, s->where, true, e);
    if (rc == 0)
        rc = slurm_open(&s->slurm, &slurm, e);
    s->config.book = s->book;
    return rc == 0 ? cycle_open(&s->control, &s->config, e) : rc;
}

void control_session_close(struct control_session *s)
{
    door_close(s->door);
    page_close(s->page);
    used_close(s->used);
    cycle_close(s->control);
    slurm_close(s->slurm);
    control_book_close(s->book);
    source_done(&s->source);
}

/* When a node was drained there are jobs on it to look at, and nothing to wait for. */
int control_session_cycle(struct control_session *s, struct cycle_view *v, struct err *e)
{
    int rc = cycle_run(s->control, v, e);

    return rc == 0 && v->drained ? cycle_run(s->control, v, e) : rc;
}
