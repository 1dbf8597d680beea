/* Steps of a plan: stored, then done, then stored again with what became of them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "control/cycle_private.h"

enum { HOUR_MS = 3600000, AGAIN_MS = 300000, LISTED = 1000 };

/* What is noted at a job begins so: what others noted there stays. */
static const char own_note[] = "brim: ";

/* ---- those that were being done ---- */

struct settling {
    struct cycle *c;
    struct err *e;
};

/* Whether the attempt that a row is about runs still. */
static bool still_runs(const struct cycle *c, const struct control_row *row)
{
    int64_t i = site_job_find(&c->site, row->job);
    const struct site_job *j = i < 0 ? NULL : &c->site.jobs[i];

    return j && j->state == SITE_RUNNING && j->start_ms == row->start_ms &&
           j->restarts == row->restarts;
}

static int settle(void *arg, const struct control_row *row)
{
    struct settling *s = arg;
    bool happened = row->kind == CONTROL_REQUEUE && !still_runs(s->c, row);

    return control_book_became(s->c->config->book, row->id, happened ? CONTROL_DONE : CONTROL_STALE,
                               happened ? "" : "it was not known whether it was done; it was not",
                               s->e);
}

int carry_settle(struct cycle *c, struct err *e)
{
    struct settling s = { c, e };

    return control_book_rows(c->config->book, 1U << CONTROL_DUE, LISTED, settle, &s, e);
}

/* ---- doing it ---- */

/* Tell a job's owner: in the job, where nobody else has written, and on its terminal. */
static int warn(struct cycle *c, const struct site_job *j, const char *text, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    bool free = !j->note || !*j->note || !strncmp(j->note, own_note, strlen(own_note));
    char note[CONTROL_TEXT + sizeof(own_note)];
    struct site_deed deed = { .kind = SITE_DO_NOTE, .job = j->id, .text = note };
    int rc = 0;

    snprintf(note, sizeof(note), "%s%s", own_note, text);
    if (free)
        rc = x->act(x->ctx, &deed, e);
    deed.kind = SITE_DO_TELL;
    if (rc == 0 && x->act(x->ctx, &deed, NULL) < 0 && !free)
        rc = err_set(e, -EEXIST, "somebody has written into admin_comment of job %u",
                     (unsigned)j->id);
    return rc;
}

static int requeue(struct cycle *c, const struct site_job *j, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    const struct site_deed deed = { .kind = SITE_DO_REQUEUE, .job = j->id };

    return x->act(x->ctx, &deed, e);
}

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
    const struct control_step *step;
    int64_t row;
    uint8_t state; /* enum control_state: CONTROL_DUE while nobody knows */
    char outcome[CONTROL_TEXT];
};

static void do_one(struct cycle *c, struct doing *d, struct cycle_view *view)
{
    const struct site_job *j = &c->site.jobs[d->step->job];
    struct err why = { "" };
    int rc = d->step->kind == CONTROL_WARN ? warn(c, j, d->step->text, &why) : requeue(c, j, &why);

    if (rc == -ETIMEDOUT) /* the next cycle sees */
        return;
    if (rc < 0 && rc != -EALREADY) {
        view->failed++;
        log_warning("%s: %s", d->step->text, why.text);
        d->state = rc == -ESRCH ? CONTROL_STALE : CONTROL_FAILED;
        snprintf(d->outcome, sizeof(d->outcome), "%s", why.text);
        return;
    }
    view->done++;
    log_info("%s", d->step->text);
    d->state = CONTROL_DONE;
}

static int store_one(struct cycle *c, const struct doing *d, struct err *e)
{
    int rc = 0;

    if (d->state != CONTROL_DUE)
        rc = control_book_became(c->config->book, d->row, (enum control_state)d->state, d->outcome,
                                 e);
    return rc == 0 && d->state == CONTROL_DONE ? note_told(c, d->step, e) : rc;
}

/* ---- one step ---- */

static void row_of(const struct cycle *c, const struct control_step *s, struct control_row *ret)
{
    const struct site_job *j = &c->site.jobs[s->job];

    *ret = (struct control_row){
        .time_ms = c->now_ms,
        .start_ms = j->start_ms,
        .job = j->id,
        .other = s->other == CONTROL_NONE ? 0 : c->site.jobs[s->other].id,
        .restarts = j->restarts,
        .devices = s->devices,
        .kind = s->kind,
    };
    snprintf(ret->user, sizeof(ret->user), "%s", j->user);
    snprintf(ret->reason, sizeof(ret->reason), "%s", s->text);
}

static int add(struct cycle *c, const struct control_step *s, enum control_state state,
               struct control_row *row, struct err *e)
{
    row_of(c, s, row);
    row->state = (uint8_t)state;
    return control_book_add(c->config->book, row, e);
}

/* No more than a part of the jobs in an hour. */
static int may(struct cycle *c, const struct control_step *s, const struct cycle_view *view,
               bool *ret, struct err *e)
{
    int64_t most = MAX((int64_t)view->holding * c->config->percent / 100, 1), n = 0;
    int rc = 0;

    if (s->kind == CONTROL_REQUEUE)
        rc = control_book_count(c->config->book, s->kind, c->now_ms - HOUR_MS, &n, e);
    *ret = !view->stopped && (s->kind != CONTROL_REQUEUE || n < most);
    return rc;
}

/* Whether a step is to be done now, by what is known of it: 'known' says whether there is a row. */
static bool wants(const struct cycle *c, bool known, const struct control_row *row)
{
    if (c->config->mode == CONTROL_OBSERVE)
        return false;
    if (c->config->mode == CONTROL_PROPOSE)
        return known && row->state == CONTROL_APPROVED;
    if (!known || row->state == CONTROL_FAILED)
        return !known || c->now_ms - row->time_ms >= AGAIN_MS;
    return row->state != CONTROL_DONE && row->state != CONTROL_DUE;
}

/* The steps of a cycle that are to be done. */
struct doings {
    struct arena *arena;
    struct doing *all;
    size_t n;
};

/* Store it as due, if it may be done. */
static int begin_step(struct cycle *c, const struct control_step *s, bool known,
                      struct control_row *row, struct cycle_view *view, struct doings *to,
                      struct err *e)
{
    bool again = known && (row->state == CONTROL_PROPOSED || row->state == CONTROL_APPROVED);
    bool allowed = false;
    struct doing *d;
    int rc = may(c, s, view, &allowed, e);

    if (rc == 0 && !allowed)
        view->limited++;
    if (rc < 0 || !allowed)
        return rc;
    rc = again ? control_book_became(c->config->book, row->id, CONTROL_DUE, "", e)
               : add(c, s, CONTROL_DUE, row, e);
    if (rc < 0)
        return rc;
    d = ARENA_PUSH(to->arena, &to->all, &to->n);
    if (!d)
        return err_nomem(e);
    *d = (struct doing){ .step = s, .row = row->id, .state = CONTROL_DUE };
    return 0;
}

static int take_step(struct cycle *c, const struct control_step *s, struct cycle_view *view,
                     struct doings *to, struct err *e)
{
    const struct site_job *j = &c->site.jobs[s->job];
    enum control_state state = c->config->mode == CONTROL_OBSERVE ? CONTROL_SAID : CONTROL_PROPOSED;
    struct control_row row;
    int known = control_book_last(c->config->book, j->id, j->start_ms, s->kind, &row, e), rc = 0;

    if (known < 0)
        return known;
    if (wants(c, known, &row))
        return begin_step(c, s, known, &row, view, to, e);
    if (c->config->mode != CONTROL_ACT && (!known || row.state == CONTROL_STALE)) {
        rc = add(c, s, state, &row, e);
        view->proposed++;
        if (rc == 0)
            log_info("%s: %s", state == CONTROL_SAID ? "would be done" : "proposed", s->text);
    }
    return rc < 0 || c->config->mode != CONTROL_OBSERVE ? rc : note_told(c, s, e);
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

    for (size_t i = 0; i < g->plan->n; i++) {
        const struct control_step *s = &g->plan->steps[i];
        const struct site_job *j = &g->c->site.jobs[s->job];

        if (s->kind == row->kind && j->id == row->job && j->start_ms == row->start_ms)
            return 0;
    }
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
static int decide(struct cycle *c, const struct control_plan *plan, struct cycle_view *view,
                  struct doings *to, struct err *e)
{
    struct ageing g = { c, plan, e };
    int rc = control_book_begin(c->config->book, e);

    if (rc < 0)
        return rc;
    rc = control_book_rows(c->config->book, 1U << CONTROL_PROPOSED | 1U << CONTROL_APPROVED, LISTED,
                           age, &g, e);
    for (size_t i = 0; i < plan->n && rc == 0; i++)
        rc = take_step(c, &plan->steps[i], view, to, e);
    return commit(c, rc, e);
}

int carry_steps(struct cycle *c, const struct control_plan *plan, struct cycle_view *view,
                struct err *e)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    struct doings to = { .arena = &a };
    int rc = decide(c, plan, view, &to, e);

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
