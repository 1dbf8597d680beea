#include "control/faults.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* ---- what was seen ---- */

static bool is_ours(const struct site_node *node)
{
    return node->drained && node->reason &&
           strncmp(node->reason, CONTROL_OWN, strlen(CONTROL_OWN)) == 0;
}

/* All devices that Slurm has there are seen, and none is lost. */
static bool is_whole(const struct site_node *node, const struct node_report *r)
{
    return !(r->lost > 0) && (node->devices <= 0 || r->gpus >= node->devices);
}

bool control_node_note(struct control_node *n, const struct site_node *node,
                       const struct node_answer *answer, int64_t now_ms)
{
    const struct control_node was = *n;
    bool told = answer && answer->fault == NODE_ANSWERED && answer->report.judged &&
                now_ms - answer->report.time_ms <= CONTROL_STALE_MS;

    if (told && *answer->report.unfit) {
        if (n->unfit_ms == 0 || n->fit_ms)
            n->unfit_ms = now_ms;
        n->fit_ms = 0;
    } else if (!told || !is_whole(node, &answer->report)) {
        n->fit_ms = 0;
    } else if (n->unfit_ms && n->fit_ms == 0) {
        n->fit_ms = now_ms;
    }
    if (n->fit_ms && !is_ours(node))
        n->unfit_ms = n->fit_ms = 0;
    return n->unfit_ms != was.unfit_ms || n->fit_ms != was.fit_ms;
}

bool control_node_stays(const struct control_node *n, const struct site_node *node)
{
    return is_ours(node) && n->drains >= CONTROL_OFTEN;
}

/* ---- what is to be done ---- */

static const struct node_report *report_of(const struct control_faults *f, size_t i)
{
    return &f->answers.of[i]->report;
}

static bool is_unfit(const struct control_node *n)
{
    return n->unfit_ms && n->fit_ms == 0;
}

/* That it is unfit was said now, not only before. */
static bool says_unfit(const struct control_faults *f, size_t i)
{
    return is_unfit(&f->nodes[i]) && f->answers.of[i] && f->answers.of[i]->fault == NODE_ANSWERED &&
           *report_of(f, i)->unfit;
}

static struct control_step *add_step(struct control_plan *plan, uint8_t kind, size_t node)
{
    struct control_step *s = ARENA_PUSH(&plan->arena, &plan->steps, &plan->n);

    if (s)
        *s = (struct control_step){ .kind = kind,
                                    .policy = CONTROL_FAULTS,
                                    .job = CONTROL_NONE,
                                    .node = (uint32_t)node,
                                    .other = CONTROL_NONE };
    return s;
}

static int add_drain(struct control_plan *plan, const struct control_faults *f, size_t i)
{
    struct control_step *s = add_step(plan, CONTROL_DRAIN, i);

    if (!s)
        return -ENOMEM;
    s->since_ms = f->nodes[i].unfit_ms;
    s->detail = report_of(f, i)->unfit;
    snprintf(s->text, sizeof(s->text), "node %.64s takes no more jobs: %.160s",
             f->site->nodes[i].name, report_of(f, i)->unfit);
    return 0;
}

static int add_return(struct control_plan *plan, const struct control_faults *f, size_t i)
{
    const struct control_node *n = &f->nodes[i];
    int64_t for_ms = f->answers.now_ms - n->fit_ms;
    struct control_step *s;

    if (n->fit_ms == 0 || for_ms < f->back_ms || !is_ours(&f->site->nodes[i]) ||
        control_node_stays(n, &f->site->nodes[i]))
        return 0;
    s = add_step(plan, CONTROL_RETURN, i);
    if (!s)
        return -ENOMEM;
    s->since_ms = n->fit_ms;
    snprintf(s->text, sizeof(s->text),
             "node %.64s serves again: its agent has found nothing wrong for %lld s, and sees all "
             "its GPUs",
             f->site->nodes[i].name, (long long)(for_ms / 1000));
    return 0;
}

/* What a job has of a node that is broken, as far as devices are told apart. */
static bool is_hurt(const struct site_part *p, const struct node_report *r)
{
    return p->count > 0 && (p->devices == 0 ? r->faulty != 0 : (p->devices & r->faulty) != 0);
}

/* Of a device that is lost no job saves anything. */
static bool is_lost(const struct site_part *p, const struct node_report *r)
{
    for (size_t i = 0; i < r->n_busy; i++)
        if ((p->devices & r->faulty & 1U << i) && isnan(r->busy[i]))
            return true;
    return false;
}

static int add_job(struct control_plan *plan, const struct control_faults *f, size_t i)
{
    const struct site_job *j = &f->site->jobs[i];

    for (size_t k = 0; k < j->n_parts; k++) {
        const struct site_part *p = &j->parts[k];
        const struct site_node *node = p->node < f->site->n_nodes ? &f->site->nodes[p->node] : NULL;
        struct control_step *s;

        if (!node || !node->drained || !says_unfit(f, p->node) ||
            !is_hurt(p, report_of(f, p->node)))
            continue;
        s = add_step(plan, CONTROL_REQUEUE, p->node);
        if (!s)
            return -ENOMEM;
        s->job = (uint32_t)i;
        s->devices = j->devices;
        s->at_once = is_lost(p, report_of(f, p->node));
        snprintf(s->text, sizeof(s->text), "job %u starts again without node %.64s: %.130s",
                 (unsigned)j->id, node->name, report_of(f, p->node)->unfit);
        return 0;
    }
    return 0;
}

int control_faults_add(struct control_plan *plan, const struct control_faults *f)
{
    int rc = 0;

    for (size_t i = 0; i < f->site->n_nodes && rc == 0; i++) {
        const struct site_node *node = &f->site->nodes[i];

        if (f->nodes[i].unfit_ms == 0)
            continue;
        rc = !node->drained && node->state == SITE_NODE_UP && says_unfit(f, i)
                 ? add_drain(plan, f, i)
                 : add_return(plan, f, i);
    }
    for (size_t i = 0; i < f->site->n_jobs && rc == 0; i++)
        if (site_job_may_restart(&f->site->jobs[i]))
            rc = add_job(plan, f, i);
    return rc;
}
