#include "slurm/user/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "model/signal/quantity.h"

enum { NODES_SHOWN = 8 };

/* ---- states and labels ---- */

const char *slurm_words_state(const struct site_job *j)
{
    static const char *const outcomes[SITE_OUTCOMES] = {
        "ended", "done", "failed", "cancelled", "timeout", "lost",
    };

    switch ((enum site_job_state)j->state) {
    case SITE_WAITING:
        return j->held ? "held" : "waiting";
    case SITE_STARTING:
        return "starting";
    case SITE_RUNNING:
        return "running";
    case SITE_SUSPENDED:
        return "suspended";
    case SITE_ENDING:
        return "stopping";
    case SITE_ENDED:
        break;
    }
    return outcomes[j->outcome < SITE_OUTCOMES ? j->outcome : 0];
}

void slurm_words_label(const struct site_job *j, struct str *out)
{
    if (j->pending_tasks && j->tasks)
        str_addf(out, "%u_[%s]", j->array, j->tasks);
    else if (j->array && j->task != SITE_NO_TASK)
        str_addf(out, "%u_%u", j->array, j->task);
    else
        str_addf(out, "%u", j->id);
}

/* ---- where ---- */

static void add_devices(uint32_t devices, struct str *out)
{
    const char *before = ": ";

    for (int i = 0; i < 32; i++)
        if (devices & UINT32_C(1) << i) {
            str_addf(out, "%sGPU%d", before, i);
            before = ",";
        }
}

void slurm_words_place(const struct site *s, const struct site_job *j, struct str *out)
{
    size_t shown = j->n_parts <= NODES_SHOWN ? j->n_parts : NODES_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        str_addf(out, "%s%s", i ? "; " : "", s->nodes[j->parts[i].node].name);
        add_devices(j->parts[i].devices, out);
    }
    if (shown < j->n_parts)
        str_addf(out, "; and %zu more", j->n_parts - shown);
}

/* ---- why ---- */

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool starts_jobs(const struct site_node *n)
{
    return n->state == SITE_NODE_UP && !n->drained && !n->silent;
}

void slurm_words_begin(struct slurm_words *w, const struct site *s, int64_t now_ms)
{
    *w = (struct slurm_words){ .site = s, .now_ms = now_ms };
    for (size_t i = 0; i < s->n_nodes; i++) {
        w->devices += s->nodes[i].devices;
        w->available += starts_jobs(&s->nodes[i]) ? s->nodes[i].devices : 0;
    }
    for (size_t i = 0; i < s->n_jobs; i++)
        for (size_t k = 0; k < s->jobs[i].n_parts; k++) {
            const struct site_part *p = &s->jobs[i].parts[k];

            w->available -= starts_jobs(&s->nodes[p->node]) ? p->count : 0;
        }
    w->available = MAX(w->available, 0);
}

/* The one of its partition that Slurm looks at first, of those that wait for nodes; NULL: none goes
 * before it. */
static const struct site_job *before(struct slurm_words *w, const struct site_job *j)
{
    const struct site *s = w->site;

    if (!w->partition || strcmp(w->partition, j->partition) != 0) {
        w->partition = j->partition;
        w->first = NULL;
        for (size_t i = 0; i < s->n_jobs; i++) {
            const struct site_job *o = &s->jobs[i];

            if (o->state == SITE_WAITING && !o->held && !o->depends &&
                (!w->first || o->priority > w->first->priority) &&
                strcmp(o->partition, j->partition) == 0)
                w->first = o;
        }
    }
    return w->first && w->first->priority > j->priority ? w->first : NULL;
}

/* "waits for 2 devices and 1 CPU: 0 of 8 devices of the cluster are free; job 3 goes before it" */
static void add_needs(struct slurm_words *w, const struct site_job *j, struct str *out)
{
    const struct site_job *first = before(w, j);

    str_add(out, "waits for ");
    if (j->devices)
        str_addf(out, "%d device%s and ", j->devices, str_plural(j->devices));
    str_addf(out, "%d CPU%s", j->cpus, str_plural(j->cpus));
    if (j->devices)
        str_addf(out, ": %" PRId64 " of %" PRId64 " devices of the cluster are free", w->available,
                 w->devices);
    if (!first)
        return;
    str_add(out, "; job ");
    slurm_words_label(first, out);
    str_add(out, " goes before it");
}

/* How many of a job, or of an array, are there and have ended. */
static void count_ended(const struct site *s, uint32_t id, int *all, int *ended)
{
    *all = *ended = 0;
    for (size_t i = 0; i < s->n_jobs; i++) {
        const struct site_job *j = &s->jobs[i];

        if (j->id != id && j->array != id)
            continue;
        *all += j->pending_tasks ? 1000 : 1; /* more than one: nobody counts them here */
        *ended += j->state == SITE_ENDED;
    }
}

/* The first of "afterok:7(unfulfilled),afterany:8(unfulfilled)" that is not met. */
static void add_after(const struct site *s, const struct site_job *j, bool never, struct str *out)
{
    const char *at = j->after ? j->after : "";
    size_t len = strcspn(at, "(,?"), kind = strcspn(at, ":(,?");
    uint64_t id = 0;
    int all = 0, ended = 0;

    if (!len) {
        str_add(out, never ? "waits for a job that cannot be met any more" : "waits for a job");
        return;
    }
    if (!never)
        str_add(out, "waits for ");
    str_add_n(out, at, len);
    if (never)
        str_add(out, " cannot be met any more");
    if (at[kind] == ':' && parse_digits(at + kind + 1, 10, 10, &id) > 0)
        count_ended(s, (uint32_t)id, &all, &ended);
    if (!never && all == 1)
        str_addf(out, ": %d of %d ended", ended, all);
}

/* "its array runs 2 at a time" */
static void add_width(const struct site_job *j, struct str *out)
{
    const char *width = j->tasks ? strrchr(j->tasks, '%') : NULL;

    if (width)
        str_addf(out, "its array runs %s at a time", width + 1);
    else
        str_add(out, "its array runs no more at a time");
}

/* Reasons that one sentence says; of those that begin so. */
static const struct {
    const char *word, *sentence;
} sentences[] = {
    { "BeginTime", "waits for the time that it is to begin at, or after it was requeued" },
    { "PartitionDown", "its partition starts no jobs: an operator has set it down" },
    { "PartitionInactive", "its partition starts no jobs: an operator has set it inactive" },
    { "PartitionNodeLimit", "it asks for more nodes than its partition gives a job" },
    { "PartitionTimeLimit", "its --limit is longer than its partition allows" },
    { "ReqNodeNotAvail", "nodes that it needs are down, drained or reserved" },
    { "BadConstraints", "no node is what it asks for" },
    { "Licenses", "waits for licences" },
    { "Reservation", "waits for its reservation" },
    { "Cleaning", "its last attempt is being cleaned up" },
    { "Prolog", "its nodes are being made ready" },
    { "NodeDown", "a node that it needs is down" },
    { "InvalidAccount", "its account is not valid any more" },
    { "InvalidQOS", "its QOS is not valid any more" },
    { "QOS", "a limit of its QOS is reached" },
    { "Assoc", "a limit of its account is reached" },
    { "Max", "a limit of its account is reached" },
};

static void add_reason(struct slurm_words *w, const struct site_job *j, struct str *out)
{
    const char *why = j->why ? j->why : "";
    size_t i = 0;

    if (!*why && j->after) {
        add_after(w->site, j, false, out);
    } else if (!*why) {
        str_add(out, "Slurm has not looked at it yet");
    } else if (!strcmp(why, "Resources") || !strcmp(why, "Priority")) {
        add_needs(w, j, out);
    } else if (begins(why, "DependencyNeverSatisfied")) {
        add_after(w->site, j, true, out);
    } else if (begins(why, "Dependency")) {
        add_after(w->site, j, false, out);
    } else if (begins(why, "JobArrayTaskLimit")) {
        add_width(j, out);
    } else {
        while (i < ARRAY_SIZE(sentences) && !begins(why, sentences[i].word))
            i++;
        if (i < ARRAY_SIZE(sentences))
            str_addf(out, "%s (Slurm: %s)", sentences[i].sentence, why);
        else
            str_addf(out, "waits: Slurm says %s", why);
    }
}

static void add_held(const struct site_job *j, struct str *out)
{
    const char *why = j->why ? j->why : "";

    if (!strcmp(why, "JobHeldAdmin"))
        str_addf(out, "held by an operator of Slurm: brim release %u is for operators alone",
                 j->array && j->pending_tasks ? j->array : j->id);
    else
        str_addf(out, "held: brim release %u lets it go on",
                 j->array && j->pending_tasks ? j->array : j->id);
    if (*why && !begins(why, "JobHeld"))
        str_addf(out, " (Slurm: %s)", why);
}

static void add_end(const struct site_job *j, struct str *out)
{
    switch ((enum site_job_outcome)j->outcome) {
    case SITE_DONE:
        str_add(out, "exit status 0");
        return;
    case SITE_FAILED:
        str_addf(out, "it failed: scontrol show job %u says how", j->id);
        return;
    case SITE_CANCELLED:
        str_add(out, "cancelled");
        return;
    case SITE_TIMEOUT:
        str_add(out, "it reached its time limit");
        return;
    case SITE_LOST:
        str_add(out, "a node that it ran on failed");
        return;
    case SITE_NOT_ENDED:
    case SITE_OUTCOMES:
        break;
    }
}

void slurm_words_why(struct slurm_words *w, const struct site_job *j, struct str *out)
{
    if (j->state == SITE_ENDED)
        add_end(j, out);
    if (j->state == SITE_STARTING)
        str_add(out, "its nodes are being made ready");
    if (j->state == SITE_SUSPENDED)
        str_add(out, "suspended: it keeps its devices");
    if (j->state != SITE_WAITING)
        return;
    if (j->held) {
        add_held(j, out);
        return;
    }
    add_reason(w, j, out);
    if (j->start_ms > w->now_ms + SLURM_WORDS_NEVER_MS)
        str_add(out, "; Slurm does not know for how long, as when jobs that run have no limit");
    else if (j->start_ms > w->now_ms)
        str_addf(out, "; Slurm expects its start in %s",
                 quantity_span((double)(j->start_ms - w->now_ms) / 1000).text);
}
