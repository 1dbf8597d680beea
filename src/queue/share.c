/* Jobs that share devices, for policies with [share]: their steps are looked at, and of two of
 * which one costs the other too much the one that came later goes back. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "queue/guard/files.h"
#include "queue/job/idle_history.h"
#include "queue/job/sharing.h"
#include "queue/queue_private.h"
#include "run/watch/live_runs.h"

enum { HALF = 5, TENTH = 10 /* thousandths in a percent */ };

static bool is_watched(const struct local *l, const struct queue_job *j)
{
    return l->c->policy->share.below > 0 && j->share && j->state == QUEUE_RUNNING &&
           j->stop == QUEUE_GO;
}

static bool are_together(const struct queue_job *guest, const struct queue_job *host)
{
    return guest->host == host->id && guest->state == QUEUE_RUNNING &&
           host->state == QUEUE_RUNNING && strcmp(guest->slots, host->slots) == 0;
}

struct queue_job *queue_partner(const struct local *l, const struct queue_job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (are_together(l->jobs[i], j) || are_together(j, l->jobs[i]))
            return l->jobs[i];
    return NULL;
}

/* ---- what is seen ---- */

static double steps_of(const struct local *l, const struct queue_job *j)
{
    struct live_run run;
    pid_t pid;

    if (l->c->steps)
        return l->c->steps(l->c->arg, j);
    if (queue_start_look(l->dir, j->id, j->attempt, &pid) != START_LIVES ||
        live_runs_of(&run, (int)pid, (int64_t)j->uid, NULL) < 0)
        return (double)NAN;
    return run.steps;
}

static void look_at(struct local *l, struct queue_job *j)
{
    const struct queue_job *other = queue_partner(l, j);
    enum sharing_time time = SHARING_ALONE;

    if (other)
        time = other->works && is_watched(l, other) ? SHARING_BESIDE : SHARING_NEITHER;
    sharing_note_steps(j, queue_now_ms(l), steps_of(l, j), l->c->look_ms, time);
}

int queue_share_use(struct local *l, struct queue_job *j, int milli, int memory_milli)
{
    int64_t kept_ms = queue_wall_ms(l) - j->kept_ms, after_ms = l->c->policy->share.after_ms;
    bool known;

    if (!is_watched(l, j))
        return milli;
    if (kept_ms > QUEUE_KEEP_MS || kept_ms < 0)
        j->kept_ms = 0; /* what was seen is to be stored */
    if (!queue_partner(l, j)) {
        sharing_note_use(j, queue_now_ms(l), milli, memory_milli);
        known = sharing_is_known(j, after_ms);
        if (known != j->known) {
            l->changed = true;
            j->kept_ms = 0;
        }
        j->known = known;
        return milli;
    }
    j->use_ms = 0;
    if (j->steps < 0 || milli <= WORK_IDLE)
        return milli;
    return j->works ? MAX(sharing_usual(j), WORK_IDLE + 1) : 0;
}

/* ---- undoing it ---- */

/* Stored, then done. */
static void undo(struct local *l, struct queue_job *host, struct queue_job *guest, int milli)
{
    const struct queue_job was = *guest;
    bool had = host->apart;
    struct err e = { "" };
    int rc;

    snprintf(guest->reason, sizeof(guest->reason),
             "job %lld gives up the devices that it shares: beside it the steps of job %lld take "
             "%d %% longer; neither shares any more, and it starts again in its turn",
             (long long)guest->id, (long long)host->id, (milli + HALF) / TENTH);
    memcpy(guest->stopped, guest->reason, sizeof(guest->stopped));
    guest->stop = QUEUE_PREEMPT;
    guest->apart = host->apart = true;
    rc = queue_store_begin(l->store, &e);
    if (rc == 0)
        rc = queue_store_put(l->store, guest, &e);
    if (rc == 0)
        rc = queue_store_put(l->store, host, &e);
    rc = rc < 0 ? (queue_store_rollback(l->store), rc) : queue_store_commit(l->store, &e);
    if (rc < 0) {
        *guest = was;
        host->apart = had;
        log_error("%s", e.text);
        return;
    }
    log_info("%s", guest->reason);
    life_tell(l, guest);
    l->changed = true;
}

static void judge(struct local *l, struct queue_job *host)
{
    const struct policy_share_devices *p = &l->c->policy->share;
    struct queue_job *guest = queue_partner(l, host);
    int milli = 0;

    if (!guest || guest->host != host->id || !is_watched(l, guest) ||
        !sharing_cost(host, p->after_ms, &milli))
        return;
    log_debug("beside job %lld the steps of job %lld take %d thousandths longer",
              (long long)guest->id, (long long)host->id, milli);
    if (milli > MAX(p->cost, SHARING_COST))
        undo(l, host, guest, milli);
}

void queue_share_look(struct local *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (is_watched(l, l->jobs[i]))
            look_at(l, l->jobs[i]);
    for (size_t i = 0; i < l->n; i++)
        if (is_watched(l, l->jobs[i]))
            judge(l, l->jobs[i]);
}
