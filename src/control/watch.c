#include "control/watch.h"

#include <math.h>

#include "model/job/job_spec.h"

const struct node_report *control_report(const struct control_answers *answers, uint32_t node)
{
    const struct node_answer *a = answers->of[node];

    if (!a || a->fault != NODE_ANSWERED || a->report.time_ms + CONTROL_STALE_MS < answers->now_ms)
        return NULL;
    return &a->report;
}

double control_device_busy(const struct control_answers *answers, uint32_t node, unsigned device)
{
    const struct node_report *r = control_report(answers, node);

    return r && device < r->n_busy ? r->busy[device] : (double)NAN;
}

/* The sum over the devices of a part; NaN, and *gap: the first of which nobody tells. */
static double sum_of(const struct node_report *r, const struct site_part *p, int *gap)
{
    double sum = 0;

    for (uint32_t bits = p->devices; bits; bits &= bits - 1) {
        unsigned i = (unsigned)__builtin_ctz(bits);

        if (i >= r->n_busy || isnan(r->busy[i])) {
            *gap = (int)i;
            return (double)NAN;
        }
        sum += r->busy[i];
    }
    return sum;
}

int control_busy(const struct site *site, const struct site_job *j,
                 const struct control_answers *answers)
{
    double sum = 0;
    int n = 0, gap;

    for (size_t i = 0; i < j->n_parts; i++) {
        const struct site_part *p = &j->parts[i];
        const struct node_report *r = p->node < site->n_nodes ? control_report(answers, p->node)
                                                              : NULL;

        if (p->count == 0)
            continue;
        if (!r || __builtin_popcount(p->devices) != p->count)
            return -1;
        sum += sum_of(r, p, &gap);
        n += p->count;
    }
    return n > 0 && !isnan(sum) ? (int)lround(sum / n * WORK_WHOLE) : -1;
}

void control_blind(const struct site *site, const struct site_job *j,
                   const struct control_answers *answers, struct str *out)
{
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct site_part *p = &j->parts[i];
        const struct node_report *r = p->node < site->n_nodes ? control_report(answers, p->node)
                                                              : NULL;
        const char *name = p->node < site->n_nodes ? site->nodes[p->node].name : "?";
        const struct node_answer *a;
        int gap = -1;

        if (p->count == 0)
            continue;
        a = p->node < site->n_nodes ? answers->of[p->node] : NULL;
        if (!r && a && a->why)
            str_add(out, a->why);
        else if (!r)
            str_addf(out, "no agent answers for node %s", name);
        else if (__builtin_popcount(p->devices) != p->count)
            str_addf(out, "Slurm does not tell which GPUs of node %s it has", name);
        else if (isnan(sum_of(r, p, &gap)))
            str_addf(out, "nothing is known of GPU %d of node %s%s%s", gap, name,
                     a->why ? ": " : "", a->why ? a->why : "");
        else
            continue;
        return;
    }
}
