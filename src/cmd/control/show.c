#include "cmd/control/show.h"

#include "base/clock.h"
#include "render/text.h"

void show_sentence(const struct cycle_view *v, struct str *out)
{
    if (v->devices == 0)
        str_add(out, "Slurm has no GPUs here");
    else if (v->holding == 0)
        str_addf(out, "no job holds any of %lld GPUs", (long long)v->devices);
    else if (v->idle == 0)
        str_addf(out, "%zu job%s %s %lld of %lld GPUs, none of them idle", v->holding,
                 str_plural((int64_t)v->holding), v->holding == 1 ? "holds" : "hold",
                 (long long)v->held, (long long)v->devices);
    else
        str_addf(out, "%zu of %zu job%s %s %lld of %lld GPUs idle", v->idle, v->holding,
                 str_plural((int64_t)v->holding), v->idle == 1 ? "keeps" : "keep",
                 (long long)v->idle_devices, (long long)v->devices);
    if (v->waiting)
        str_addf(out, "; %zu %s for %lld", v->waiting, v->waiting == 1 ? "waits" : "wait",
                 (long long)v->waited);
    if (v->unfit)
        str_addf(out, "; %zu node%s not fit for jobs: %s", v->unfit,
                 v->unfit == 1 ? " is" : "s are", v->unfit_why);
    if (v->blind)
        str_addf(out, "; how busy %zu %s, nobody tells: %s", v->blind, v->blind == 1 ? "is" : "are",
                 v->blind_why);
}

static void add_notes(const struct cycle_view *v, struct str *out)
{
    if (v->stopped)
        str_add(out, "an operator has stopped all actions: brim control go lets them go on\n");
    else if (v->limited)
        str_addf(out, "%zu more to do: as much as one hour allows (--most) was done\n", v->limited);
    if (v->saving)
        str_addf(out, "%zu job%s told to save, and will be requeued then\n", v->saving,
                 v->saving == 1 ? " was" : "s were");
    if (v->kept)
        str_addf(out,
                 "%zu node%s drained until an operator resumes %s: brim drained %s %d times "
                 "in a week\n",
                 v->kept, v->kept == 1 ? " stays" : "s stay", v->kept == 1 ? "it" : "them",
                 v->kept == 1 ? "it" : "each", CONTROL_OFTEN);
}

static void add_nodes(const struct site *s, const struct site_job *j, struct str *out)
{
    for (size_t i = 0; i < j->n_parts && i < 4; i++)
        if (j->parts[i].node < s->n_nodes)
            str_addf(out, "%s%s", i ? "," : "", s->nodes[j->parts[i].node].name);
    if (j->n_parts > 4)
        str_add(out, ",...");
}

static void add_job(const struct cycle *c, size_t i, int64_t idle_ms, int64_t now_ms,
                    struct str *out)
{
    const struct site *s = cycle_site(c);
    const struct site_job *j = &s->jobs[i];

    str_addf(out, "%-9u %-10.10s %-10.10s %-10.10s %5d  ", (unsigned)j->id, j->user, j->account,
             j->partition, (int)j->devices);
    if (idle_ms)
        str_addf(out, "%6lld s  ", (long long)((now_ms - idle_ms) / 1000));
    else
        str_addf(out, "%8s  ", "-");
    add_nodes(s, j, out);
    str_add_char(out, '\n');
}

/* Nodes that are not fit, or were not a moment ago. */
static void add_unfit(const struct cycle *c, int64_t now_ms, struct str *out)
{
    const struct site *s = cycle_site(c);
    bool any = false;

    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct control_node *n = &cycle_nodes(c)[i];
        int64_t since_ms = n->fit_ms ? n->fit_ms : n->unfit_ms;

        if (n->unfit_ms == 0)
            continue;
        if (!any)
            str_addf(out, "\n%-16s %-8s %8s  %-7s %s\n", "NODE", "STATE", "SINCE", "DRAINED",
                     "REASON");
        any = true;
        str_addf(out, "%-16.16s %-8s %6lld s  %-7s ", s->nodes[i].name,
                 n->fit_ms ? "well" : "unfit", (long long)((now_ms - since_ms) / 1000),
                 s->nodes[i].drained ? "yes" : "no");
        text_add(out, s->nodes[i].reason ? s->nodes[i].reason : "-");
        str_add_char(out, '\n');
    }
}

void show_cycle(const struct cycle *c, const struct cycle_view *v, int64_t now_ms, struct str *out)
{
    const struct site *s = cycle_site(c);

    show_sentence(v, out);
    str_add_char(out, '\n');
    add_notes(v, out);
    add_unfit(c, now_ms, out);
    if (v->holding == 0)
        return;
    str_addf(out, "\n%-9s %-10s %-10s %-10s %5s  %8s  %s\n", "JOB", "USER", "ACCOUNT", "PARTITION",
             "GPUS", "IDLE FOR", "NODES");
    for (int idle = 1; idle >= 0; idle--)
        for (size_t i = 0; i < s->n_jobs; i++) {
            int64_t since_ms;

            if (!site_job_holds(&s->jobs[i]))
                continue;
            since_ms = bursts_idle_ms(&cycle_seen(c)[i].bursts, now_ms);
            if ((since_ms != 0) == idle)
                add_job(c, i, since_ms, now_ms, out);
        }
}

static void add_unfit_json(const struct cycle *c, struct json *j)
{
    const struct site *s = cycle_site(c);

    json_array(j, "nodes");
    for (size_t i = 0; i < s->n_nodes; i++) {
        const struct control_node *n = &cycle_nodes(c)[i];

        if (n->unfit_ms == 0)
            continue;
        json_object(j, NULL);
        json_string(j, "name", s->nodes[i].name);
        json_bool(j, "fit", n->fit_ms != 0);
        json_int(j, "since_ms", n->fit_ms ? n->fit_ms : n->unfit_ms);
        json_bool(j, "drained", s->nodes[i].drained);
        json_string(j, "reason", s->nodes[i].reason);
        json_int(j, "drains", n->drains);
        json_end(j);
    }
    json_end(j);
}

void show_cycle_json(const struct cycle *c, const struct cycle_view *v, int64_t now_ms,
                     struct str *out)
{
    const struct site *s = cycle_site(c);
    struct json j = JSON_INIT(out);

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.control.v1");
    json_int(&j, "time_ms", now_ms);
    json_string(&j, "cluster", s->cluster);
    json_int(&j, "gpus", v->devices);
    json_int(&j, "gpus_held", v->held);
    json_int(&j, "gpus_idle", v->idle_devices);
    json_int(&j, "gpus_waited_for", v->waited);
    json_int(&j, "jobs_holding", (int64_t)v->holding);
    json_int(&j, "jobs_idle", (int64_t)v->idle);
    json_int(&j, "jobs_unknown", (int64_t)v->blind);
    json_int(&j, "jobs_waiting", (int64_t)v->waiting);
    json_int(&j, "nodes_unfit", (int64_t)v->unfit);
    json_int(&j, "nodes_kept_drained", (int64_t)v->kept);
    json_bool(&j, "stopped", v->stopped);
    add_unfit_json(c, &j);
    json_array(&j, "jobs");
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct site_job *x = &s->jobs[i];
        int64_t idle_ms;

        if (!site_job_holds(x))
            continue;
        idle_ms = bursts_idle_ms(&cycle_seen(c)[i].bursts, now_ms);
        json_object(&j, NULL);
        json_int(&j, "id", x->id);
        json_string(&j, "user", x->user);
        json_string(&j, "account", x->account);
        json_string(&j, "partition", x->partition);
        json_int(&j, "gpus", x->devices);
        json_round(&j, "idle_s", idle_ms ? (double)(now_ms - idle_ms) / 1e3 : 0, 3);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
}

/* ---- actions ---- */

void show_action_head(struct str *out)
{
    str_addf(out, "%-6s %-20s %-8s %-9s %s\n", "ID", "WHEN", "ACTION", "STATE", "WHY");
}

void show_action(const struct control_row *row, struct str *out)
{
    str_addf(out, "%-6lld ", (long long)row->id);
    clock_add_iso(out, row->time_ms / 1000 * NS_PER_S);
    str_addf(out, " %-8s %-9s %s%s%s\n", control_kind_name(row->kind),
             control_state_names[row->state], row->reason, *row->outcome ? ": " : "", row->outcome);
}

void show_action_json(const struct control_row *row, struct json *j)
{
    json_object(j, NULL);
    json_int(j, "id", row->id);
    json_int(j, "time_ms", row->time_ms);
    json_string(j, "action", control_kind_name(row->kind));
    json_string(j, "state", control_state_names[row->state]);
    json_int(j, "job", row->job);
    json_int(j, "for_job", row->other);
    json_string(j, "node", *row->node ? row->node : NULL);
    json_string(j, "user", row->user);
    json_int(j, "gpus", row->devices);
    json_string(j, "reason", row->reason);
    json_string(j, "outcome", *row->outcome ? row->outcome : NULL);
    json_end(j);
}
