#include "control/do.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "control/place.h"
#include "model/site/words.h"

/* Tell a job's owner: in the job, where nobody else has written, and on its terminal. */
static int warn(struct cycle *c, const struct site_job *j, const char *text, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    bool free = !j->note || !*j->note || !strncmp(j->note, CONTROL_OWN, strlen(CONTROL_OWN));
    char note[CONTROL_TEXT + sizeof(CONTROL_OWN)];
    struct site_deed deed = { .kind = SITE_DO_NOTE, .job = j->id, .text = note };
    int rc = 0;

    snprintf(note, sizeof(note), "%s%s", CONTROL_OWN, text);
    if (free)
        rc = x->act(x->ctx, &deed, e);
    deed.kind = SITE_DO_TELL;
    if (rc == 0 && x->act(x->ctx, &deed, NULL) < 0 && !free)
        rc = err_set(e, -EEXIST, "somebody has written into admin_comment of job %u",
                     (unsigned)j->id);
    if (rc == 0 && x->tell)
        x->tell(x->ctx, j, text);
    return rc;
}

/* Held by its owner later, it is not to be taken for one that waits for brim: its note changes. */
static int place(struct cycle *c, const struct control_step *s, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    struct site_deed deed = { .kind = s->detail ? SITE_DO_PLACE : SITE_DO_RELEASE,
                              .job = c->site.jobs[s->job].id,
                              .text = s->detail };
    int rc = x->act(x->ctx, &deed, e);

    deed.kind = SITE_DO_NOTE;
    deed.text = s->detail ? CONTROL_OWN "was given its place" : CONTROL_OWN "was let go";
    if (rc == 0)
        (void)x->act(x->ctx, &deed, NULL);
    return rc;
}

static int act_on_job(struct cycle *c, const struct control_step *s, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    const struct site_job *j = &c->site.jobs[s->job];
    struct site_words w = site_words_of(j->comment);
    struct site_deed deed = { .kind = SITE_DO_REQUEUE, .job = j->id };

    if (s->kind == CONTROL_WARN)
        return warn(c, j, s->text, e);
    if (s->kind == CONTROL_PLACE)
        return place(c, s, e);
    if (s->kind == CONTROL_SHRINK) {
        deed.kind = SITE_DO_NODES;
        deed.value = (uint32_t)s->nodes;
    }
    if (s->kind == CONTROL_SIGNAL) {
        deed.kind = w.to_script ? SITE_DO_SIGNAL_SCRIPT : SITE_DO_SIGNAL_STEPS;
        deed.value = (uint32_t)w.signal;
    }
    return x->act(x->ctx, &deed, e);
}

static int act_on_node(struct cycle *c, const struct control_step *s, struct err *e)
{
    const struct cycle_engine *x = &c->config->engine;
    char reason[CONTROL_TEXT + sizeof(CONTROL_OWN)];
    struct site_deed deed = { .kind = SITE_DO_NODE_RESUME, .node = c->site.nodes[s->node].name };

    if (s->kind == CONTROL_DRAIN) {
        snprintf(reason, sizeof(reason), "%s%s", CONTROL_OWN, s->detail);
        deed.kind = SITE_DO_NODE_DRAIN;
        deed.text = reason;
    }
    return x->act(x->ctx, &deed, e);
}

int control_do(struct cycle *c, const struct control_step *s, struct err *e)
{
    return control_step_is_of_node(s->kind) ? act_on_node(c, s, e) : act_on_job(c, s, e);
}

/* ---- afterwards ---- */

static bool waits_for_place(const struct cycle *c, const struct control_row *row)
{
    int64_t i = site_job_find(&c->site, row->job);

    return i >= 0 && control_waits_for_place(&c->site.jobs[i]);
}

/* Whether the attempt that a row is about runs still. */
static bool still_runs(const struct cycle *c, const struct control_row *row)
{
    int64_t i = site_job_find(&c->site, row->job);
    const struct site_job *j = i < 0 ? NULL : &c->site.jobs[i];

    return j && j->state == SITE_RUNNING && j->start_ms == row->start_ms &&
           j->restarts == row->restarts;
}

/* It has no more nodes than it says it can do with. */
static bool has_shrunk(const struct cycle *c, const struct control_row *row)
{
    int64_t i = site_job_find(&c->site, row->job);
    const struct site_job *j = i < 0 ? NULL : &c->site.jobs[i];

    return j && j->n_parts <= (size_t)site_words_of(j->comment).fewest;
}

static bool is_drained(const struct cycle *c, const struct control_row *row)
{
    int64_t i = site_node_find(&c->site, row->node);

    return i >= 0 && c->site.nodes[i].drained;
}

bool control_happened(const struct cycle *c, const struct control_row *row)
{
    switch ((enum control_step_kind)row->kind) {
    case CONTROL_REQUEUE:
        return !still_runs(c, row);
    case CONTROL_SHRINK:
        return !still_runs(c, row) || has_shrunk(c, row);
    case CONTROL_DRAIN:
        return is_drained(c, row);
    case CONTROL_RETURN:
        return !is_drained(c, row);
    case CONTROL_PLACE:
        return !waits_for_place(c, row);
    case CONTROL_WARN:   /* said again, it is said once */
    case CONTROL_SIGNAL: /* to save twice costs a moment; not at all, the work */
    case CONTROL_STEP_KINDS:
        break;
    }
    return false;
}
