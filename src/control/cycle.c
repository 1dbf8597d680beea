#include "control/cycle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/cycle_private.h"
#include "model/job/job_spec.h"

enum { KEEP_MS = 60000, FORGET_MS = 24 * 60 * 60000 };

int cycle_open(struct cycle **ret, const struct cycle_config *config, struct err *e)
{
    struct cycle *c = calloc(1, sizeof(*c));

    if (!c)
        return err_nomem(e);
    c->config = config;
    *ret = c;
    return 0;
}

void cycle_close(struct cycle *c)
{
    if (!c)
        return;
    site_done(&c->site);
    free(c->seen);
    free(c->nodes);
    free(c);
}

const struct site *cycle_site(const struct cycle *c)
{
    return &c->site;
}

const struct control_seen *cycle_seen(const struct cycle *c)
{
    return c->seen;
}

const struct control_node *cycle_nodes(const struct cycle *c)
{
    return c->nodes;
}

/* ---- what there is ---- */

static int read_site(struct cycle *c, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    struct site site = { .n_jobs = 0 };
    struct control_seen *seen;
    struct control_node *nodes;
    int rc = x->read(x->ctx, &site, e);

    if (rc <= 0)
        return rc == 0 && !c->known ? err_set(e, -EAGAIN, "the cluster tells nothing yet") : rc;
    seen = calloc(MAX(site.n_jobs, 1), sizeof(*seen));
    nodes = calloc(MAX(site.n_nodes, 1), sizeof(*nodes));
    if (!seen || !nodes) {
        free(seen);
        free(nodes);
        site_done(&site);
        return err_nomem(e);
    }
    site_done(&c->site);
    free(c->seen);
    free(c->nodes);
    c->site = site;
    c->seen = seen;
    c->nodes = nodes;
    c->known = true;
    return 0;
}

static int ask_agents(struct cycle *c, struct arena *a, const struct node_answer ***ret,
                      struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    const struct node_answer **of = arena_alloc(a, c->site.n_nodes * sizeof(const void *));
    bool *which = arena_alloc(a, c->site.n_nodes);

    if (!of || !which)
        return err_nomem(e);
    for (size_t i = 0; i < c->site.n_nodes; i++)
        which[i] = c->site.nodes[i].devices > 0 && c->site.nodes[i].state == SITE_NODE_UP;
    *ret = of;
    return x->ask(x->ctx, &c->site, which, of, e);
}

/* ---- how busy it is ---- */

/* Of a job that holds devices: how busy it was is read, and what was seen now added. */
static int look(struct cycle *c, size_t i, const struct control_answers *answers, int *busy,
                struct err *e)
{
    const struct site_job *j = &c->site.jobs[i];
    struct control_seen *seen = &c->seen[i];
    int rc = control_book_seen(c->config->book, j, seen, e);
    int64_t kept_ms = seen->bursts.seen_ms;
    bool changed;

    if (rc < 0)
        return rc;
    *busy = control_busy(&c->site, j, answers);
    changed = bursts_note(&seen->bursts, c->now_ms, *busy);
    if (changed && seen->bursts.busy) /* should it be idle later, its owner is told anew */
        seen->told_ms = 0;
    return changed || !seen->bursts.busy || c->now_ms - kept_ms > KEEP_MS
               ? control_book_see(c->config->book, j, seen, e)
               : 0;
}

static void count(const struct cycle *c, size_t i, int busy, const struct control_answers *answers,
                  struct cycle_view *v)
{
    const struct site_job *j = &c->site.jobs[i];
    CLEANUP(str_done) struct str why = STR_INIT(CONTROL_TEXT);

    v->holding++;
    v->held += j->devices;
    if (bursts_idle_ms(&c->seen[i].bursts, c->now_ms)) {
        v->idle++;
        v->idle_devices += j->devices;
    }
    if (busy >= 0)
        return;
    if (v->blind++ == 0) {
        control_blind(&c->site, j, answers, &why);
        snprintf(v->blind_why, sizeof(v->blind_why), "%s", str_error(&why) ? "" : str_text(&why));
    }
}

static int look_at_jobs(struct cycle *c, const struct control_answers *answers,
                        struct cycle_view *v, struct err *e)
{
    int rc = 0;

    for (size_t i = 0; i < c->site.n_jobs && rc == 0; i++) {
        const struct site_job *j = &c->site.jobs[i];
        int busy = -1;

        if (j->state == SITE_WAITING && j->devices > 0) {
            v->waiting++;
            v->waited += j->devices;
        }
        if (!site_job_holds(j))
            continue;
        rc = look(c, i, answers, &busy, e);
        if (rc == 0)
            count(c, i, busy, answers, v);
    }
    return rc < 0 ? rc : control_book_forget(c->config->book, c->now_ms - FORGET_MS, e);
}

/* ---- whether nodes are fit ---- */

static void count_node(const struct cycle *c, size_t i, const struct node_answer *answer,
                       struct cycle_view *v)
{
    const struct control_node *n = &c->nodes[i];

    v->kept += control_node_stays(n, &c->site.nodes[i]);
    if (n->unfit_ms == 0 || n->fit_ms)
        return;
    if (v->unfit++ == 0 && answer)
        snprintf(v->unfit_why, sizeof(v->unfit_why), "%.64s: %.180s", c->site.nodes[i].name,
                 answer->report.unfit);
}

static int look_at_nodes(struct cycle *c, const struct control_answers *answers,
                         struct cycle_view *v, struct err *e)
{
    int rc = control_book_nodes(c->config->book, &c->site, c->now_ms, c->nodes, e);

    for (size_t i = 0; i < c->site.n_nodes && rc == 0; i++) {
        const struct site_node *node = &c->site.nodes[i];

        v->devices += MAX(node->devices, 0);
        if (control_node_note(&c->nodes[i], node, answers->of[i], c->now_ms))
            rc = control_book_see_node(c->config->book, node->name, &c->nodes[i], e);
        count_node(c, i, answers->of[i], v);
    }
    return rc;
}

static int look_at_all(struct cycle *c, const struct control_answers *answers, struct cycle_view *v,
                       struct err *e)
{
    int rc = control_book_begin(c->config->book, e), end;

    if (rc < 0)
        return rc;
    rc = look_at_jobs(c, answers, v, e);
    if (rc == 0)
        rc = look_at_nodes(c, answers, v, e);
    end = control_book_commit(c->config->book, rc < 0 ? NULL : e);
    return rc < 0 ? rc : end;
}

/* ---- a cycle ---- */

static int decide(struct cycle *c, const struct control_answers *answers, struct cycle_view *view,
                  struct err *e)
{
    const struct control_faults faults = { &c->site, c->nodes, *answers, c->config->back_ms };
    const struct control_scene scene = { &c->site, c->config->policy, c->seen, c->now_ms };
    struct control_plan plan;
    int rc = control_plan_make(&plan, &scene, e);

    if (rc < 0)
        return rc;
    rc = control_faults_add(&plan, &faults) < 0 ? err_nomem(e) : carry_steps(c, &plan, view, e);
    control_plan_done(&plan);
    return rc;
}

int cycle_run(struct cycle *c, struct cycle_view *ret, struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct cycle_view v = { .holding = 0 };
    const struct node_answer **of = NULL;
    struct control_answers answers;
    int rc = read_site(c, e);

    if (rc == 0)
        rc = ask_agents(c, &a, &of, e);
    c->now_ms = clock_wall_ns(c->config->clock) / NS_PER_MS;
    if (rc == 0)
        rc = control_book_stopped(c->config->book, &v.stopped, e);
    answers = (struct control_answers){ of, c->now_ms };
    if (rc == 0)
        rc = look_at_all(c, &answers, &v, e);
    if (rc == 0)
        rc = carry_settle(c, e);
    if (rc == 0)
        rc = decide(c, &answers, &v, e);
    if (rc == 0)
        *ret = v;
    return rc;
}
