/* What limits jobs, by what their runs tell the agents of their nodes: one row for a job, on
 * however many nodes it runs. */
#include "control/board/board_private.h"

/* A run says whose job it is; only what the job's owner or root watches is believed. */
static bool is_of(const struct node_run *run, const struct site_job *j)
{
    return run->job == j->id && (run->uid == 0 || run->uid == (int64_t)j->uid);
}

static bool is_worse(const struct node_run *a, const struct node_run *b)
{
    if (!b || a->limited != b->limited)
        return !b || a->limited;
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->share > b->share; /* NaN is not */
}

static void look_at_node(struct board_job *row, const struct site_job *j, uint32_t node,
                         const struct node_report *r)
{
    bool watched = false;

    for (size_t i = 0; i < r->n_jobs; i++) {
        if (!is_of(&r->jobs[i], j))
            continue;
        watched = true;
        if (*r->jobs[i].sentence && is_worse(&r->jobs[i], row->worst)) {
            row->worst = &r->jobs[i];
            row->worst_node = node;
        }
    }
    row->watched += watched;
}

void board_find_runs(struct board *b, const struct control_answers *answers)
{
    for (size_t i = 0; answers->of && i < b->n_running; i++) {
        struct board_job *row = &b->running[i];
        const struct site_job *j = &b->site->jobs[row->job];

        for (size_t k = 0; k < j->n_parts; k++) {
            uint32_t node = j->parts[k].node;
            const struct node_report *r = node < b->site->n_nodes ? control_report(answers, node)
                                                                  : NULL;

            if (r)
                look_at_node(row, j, node, r);
        }
    }
}
