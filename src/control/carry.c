/* Steps of a plan: stored, then done, then stored again with what became of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "control/cycle_private.h"
#include "control/do.h"
#include "model/site/words.h"

enum { HOUR_MS = 3600000, AGAIN_MS = 300000, PLACE_AGAIN_MS = 60000, LISTED = 1000 };

/* ---- those that were being done ---- */

struct settling {
    struct cycle *c;
    struct err *e;
};

static int settle(void *arg, const struct control_row *row)
{
    struct settling *s = arg;
    bool happened = control_happened(s->c, row);

    return control_book_became(s->c->config->book, row->id, happened ? CONTROL_DONE : CONTROL_STALE,
                               happened ? "" : "its control ended meanwhile, and it is not so",
                               s->e);
}

int carry_settle(struct cycle *c, struct err *e)
{
    struct settling s = { c, e };

    return control_book_rows(c->config->book, 1U << CONTROL_DUE, LISTED, settle, &s, e);
}

/* ---- a step's row ---- */

/* What tells one decision from the next about the same: a job's attempt, or what a node is drained
 * or given back for. */
static int64_t since_of(const struct cycle *c, const struct control_step *s)
{
    const struct site_job *j = s->job == CONTROL_NONE ? NULL : &c->site.jobs[s->job];

    if (control_step_is_of_node(s->kind) || !j)
        return s->since_ms;
    return j->state == SITE_WAITING ? j->submit_ms : j->start_ms;
}

/* A row as it is before anybody decides: its job's attempt, or its node. */
static void row_of(const struct cycle *c, const struct control_step *s, struct control_row *ret)
{
    *ret = (struct control_row){
        .time_ms = c->now_ms, .start_ms = since_of(c, s), .devices = s->devices, .kind = s->kind
    };
    if (s->other != CONTROL_NONE)
        ret->other = c->site.jobs[s->other].id;
    if (control_step_is_of_node(s->kind)) {
        snprintf(ret->node, sizeof(ret->node), "%s", c->site.nodes[s->node].name);
    } else {
        const struct site_job *j = &c->site.jobs[s->job];

        ret->job = j->id;
        ret->restarts = j->restarts;
        snprintf(ret->user, sizeof(ret->user), "%s", j->user);
        snprintf(ret->account, sizeof(ret->account), "%s", j->account);
    }
    snprintf(ret->reason, sizeof(ret->reason), "%s", s->text);
}

/* Whether a row is about what a step is about. */
static bool is_about(const struct cycle *c, const struct control_step *s,
                     const struct control_row *row)
{
    if (s->kind != row->kind)
        return false;
    if (since_of(c, s) != row->start_ms)
        return false;
    if (control_step_is_of_node(s->kind))
        return !strcmp(c->site.nodes[s->node].name, row->node);
    return c->site.jobs[s->job].id == row->job;
}

static int add(struct cycle *c, const struct control_step *s, enum control_state state,
               struct control_row *row, struct err *e)
{
    row_of(c, s, row);
    row->state = (uint8_t)state;
    return control_book_add(c->config->book, row, e);
}

static enum control_mode mode_of(const struct cycle *c, const struct control_step *s)
{
    return c->config->mode[s->policy];
}

/* ---- doing it ---- */

/* Its owner counts as told. */
static int note_told(struct cycle *c, const struct control_step *s, struct err *e)
{
    if (s->kind != CONTROL_WARN)
        return 0;
    c->seen[s->job].told_ms = c->now_ms;
    return control_book_see(c->config->book, &c->site.jobs[s->job], &c->seen[s->job], e);
}

/* A step that is stored as due, and what came of it. */
struct doing {
    struct control_step step;
    int64_t row;
    uint8_t state; /* enum control_state: CONTROL_DUE while nobody knows */
    char outcome[CONTROL_TEXT];
};

static void do_one(struct cycle *c, struct doing *d, struct cycle_view *view)
{
    struct err why = { "" };
    int rc = control_do(c, &d->step, &why);

    if (rc == -ETIMEDOUT) /* the next cycle sees */
        return;
    if (rc < 0 && rc != -EALREADY) {
        view->failed++;
        log_warning("%s: %s", d->step.text, why.text);
        d->state = rc == -ESRCH ? CONTROL_STALE : CONTROL_FAILED;
        snprintf(d->outcome, sizeof(d->outcome), "%s", why.text);
        return;
    }
    view->done++;
    view->drained += d->step.kind == CONTROL_DRAIN;
    log_info("%s", d->step.text);
    d->state = CONTROL_DONE;
}

static int store_one(struct cycle *c, const struct doing *d, struct err *e)
{
    int rc = 0;

    if (d->state != CONTROL_DUE)
        rc = control_book_became(c->config->book, d->row, (enum control_state)d->state, d->outcome,
                                 e);
    return rc == 0 && d->state == CONTROL_DONE ? note_told(c, &d->step, e) : rc;
}

/* ---- one step ---- */

/* No more than a part of the jobs, or of the nodes, in an hour: of those that there are now, which
 * are fewer than there were. All of them is no limit. */
static int may(struct cycle *c, const struct control_step *s, const struct cycle_view *view,
               bool *ret, struct err *e)
{
    size_t of = s->kind == CONTROL_DRAIN ? c->site.n_nodes : view->holding;
    int64_t most = MAX((int64_t)of * c->config->percent / 100, 1), n = 0;
    bool counts = (control_step_takes(s->kind) || s->kind == CONTROL_DRAIN) &&
                  c->config->percent < 100;
    int rc = 0;

    if (counts)
        rc = control_book_count(c->config->book, s->kind, c->now_ms - HOUR_MS, &n, e);
    *ret = !view->stopped && (!counts || n < most);
    return rc;
}

/* Whether a step is to be done now, by what is known of it: 'known' says whether there is a row. */
static bool wants(const struct cycle *c, const struct control_step *s, bool known,
                  const struct control_row *row)
{
    enum control_mode mode = mode_of(c, s);

    if (mode == CONTROL_OBSERVE)
        return false;
    if (mode == CONTROL_PROPOSE)
        return known && row->state == CONTROL_APPROVED;
    if (!known || row->state == CONTROL_FAILED)
        return !known || c->now_ms - row->time_ms >= AGAIN_MS;
    if (row->state == CONTROL_DONE && s->kind == CONTROL_PLACE) /* others took its nodes */
        return c->now_ms - row->time_ms >= PLACE_AGAIN_MS;
    return row->state != CONTROL_DONE && row->state != CONTROL_DUE;
}

/* What a job needs before it gives way: 0: nothing more; 1: to be told to save, which *s becomes;
 * 2: time, it was told. */
enum before { BEFORE_NOTHING, BEFORE_SIGNAL, BEFORE_TIME };

static int before(struct cycle *c, struct control_step *s, struct err *e)
{
    struct site_words w;
    struct control_row row, like;
    int known;

    if (!control_step_takes(s->kind) || s->at_once)
        return BEFORE_NOTHING;
    w = site_words_of(c->site.jobs[s->job].comment);
    if (w.signal == 0)
        return BEFORE_NOTHING;
    row_of(c, s, &like);
    like.kind = CONTROL_SIGNAL;
    known = control_book_last(c->config->book, &like, &row, e);
    if (known < 0)
        return known;
    if (!known || row.state == CONTROL_STALE ||
        (row.state == CONTROL_FAILED && c->now_ms - row.time_ms >= AGAIN_MS)) {
        char text[CONTROL_TEXT];

        s->kind = CONTROL_SIGNAL;
        snprintf(text, sizeof(text), "job %u is to save, and has %d s: %.200s",
                 (unsigned)c->site.jobs[s->job].id, (int)w.grace_s, s->text);
        memcpy(s->text, text, sizeof(text));
        return BEFORE_SIGNAL;
    }
    return row.state == CONTROL_DONE && c->now_ms - row.time_ms >= w.grace_s * INT64_C(1000)
               ? BEFORE_NOTHING
               : BEFORE_TIME;
}

/* The steps of a cycle that are to be done. */
struct doings {
    struct cycle_view *view;
    struct arena *arena;
    struct doing *all;
    size_t n;
};

static int push(struct doings *to, const struct control_step *s, int64_t row, struct err *e)
{
    struct doing *d = ARENA_PUSH(to->arena, &to->all, &to->n);

    if (!d)
        return err_nomem(e);
    *d = (struct doing){ .step = *s, .row = row, .state = CONTROL_DUE };
    return 0;
}

/* Store as due what is to be done now: 'again': it has a row that waits for this. */
static int store_due(struct cycle *c, const struct control_step *s, bool again,
                     struct control_row *row, struct doings *to, struct err *e)
{
    int rc = again ? control_book_became(c->config->book, row->id, CONTROL_DUE, "", e)
                   : add(c, s, CONTROL_DUE, row, e);

    return rc < 0 ? rc : push(to, s, row->id, e);
}

/* Begin it, or what comes before it, if it may be done. known: whether it has a row. */
static int begin_step(struct cycle *c, const struct control_step *wanted, bool known,
                      struct control_row *row, struct doings *to, struct err *e)
{
    bool waits = known && (row->state == CONTROL_PROPOSED || row->state == CONTROL_APPROVED);
    struct control_step s = *wanted;
    bool allowed = false;
    int rc = may(c, &s, to->view, &allowed, e);

    if (rc < 0 || !allowed) {
        to->view->limited += rc == 0;
        return rc;
    }
    rc = before(c, &s, e);
    to->view->saving += rc == BEFORE_TIME || rc == BEFORE_SIGNAL;
    if (rc < 0 || rc == BEFORE_TIME)
        return MIN(rc, 0);
    return store_due(c, &s, waits && rc == BEFORE_NOTHING, row, to, e);
}

static int take_step(struct cycle *c, const struct control_step *s, struct doings *to,
                     struct err *e)
{
    enum control_mode mode = mode_of(c, s);
    enum control_state state = mode == CONTROL_OBSERVE ? CONTROL_SAID : CONTROL_PROPOSED;
    struct control_row row, like;
    int known, rc = 0;

    row_of(c, s, &like);
    known = control_book_last(c->config->book, &like, &row, e);
    if (known < 0)
        return known;
    if (wants(c, s, known, &row))
        return begin_step(c, s, known, &row, to, e);
    if (mode != CONTROL_ACT && (!known || row.state == CONTROL_STALE)) {
        rc = add(c, s, state, &row, e);
        to->view->proposed++;
        if (rc == 0)
            log_info("%s: %s", state == CONTROL_SAID ? "would be done" : "proposed", s->text);
    }
    return rc < 0 || mode != CONTROL_OBSERVE ? rc : note_told(c, s, e);
}

/* ---- all of them ---- */

struct ageing {
    struct cycle *c;
    const struct control_plan *plan;
    struct err *e;
};

static int age(void *arg, const struct control_row *row)
{
    const struct ageing *g = arg;

    for (size_t i = 0; i < g->plan->n; i++)
        if (is_about(g->c, &g->plan->steps[i], row))
            return 0;
    return control_book_became(g->c->config->book, row->id, CONTROL_STALE, "it is no longer so",
                               g->e);
}

/* End a transaction, whatever came of what is in it. */
static int commit(struct cycle *c, int rc, struct err *e)
{
    int end = control_book_commit(c->config->book, rc < 0 ? NULL : e);

    return rc < 0 ? rc : end;
}

/* All that is to be done is on the disk before the first of it is done. */
static int decide(struct cycle *c, const struct control_plan *plan, struct doings *to,
                  struct err *e)
{
    struct ageing g = { c, plan, e };
    int rc = control_book_begin(c->config->book, e);

    if (rc < 0)
        return rc;
    rc = control_book_rows(c->config->book, 1U << CONTROL_PROPOSED | 1U << CONTROL_APPROVED, LISTED,
                           age, &g, e);
    for (size_t i = 0; i < plan->n && rc == 0; i++)
        rc = take_step(c, &plan->steps[i], to, e);
    return commit(c, rc, e);
}

int carry_steps(struct cycle *c, const struct control_plan *plan, struct cycle_view *view,
                struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct doings to = { .view = view, .arena = &a };
    int rc = decide(c, plan, &to, e);

    if (rc < 0 || to.n == 0)
        return rc;
    for (size_t i = 0; i < to.n; i++)
        do_one(c, &to.all[i], view);
    rc = control_book_begin(c->config->book, e);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < to.n && rc == 0; i++)
        rc = store_one(c, &to.all[i], e);
    return commit(c, rc, e);
}
