/* Jobs that share devices, for policies with [share]: their steps are looked at, and of two of
 * which one costs the other too much the one that came later goes back. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "queue/guard/cpu_time.h"
#include "queue/guard/files.h"
#include "queue/job/idle_history.h"
#include "queue/job/sharing.h"
#include "queue/queue_private.h"
#include "run/job/thread.h"
#include "run/watch/live_runs.h"

enum { HALF = 5, TENTH = 10 /* thousandths in a percent */ };

static bool is_watched(const struct local *l, const struct queue_job *j)
{
    const struct policy *p = l->c->policy;

    return (p->share.below > 0 || p->idle.action == IDLE_SHRINK) && j->share &&
           j->state == QUEUE_RUNNING && j->stop == QUEUE_GO;
}

static bool are_together(const struct queue_job *guest, const struct queue_job *host)
{
    return guest->host == host->id && queue_job_has(guest) && queue_job_has(host) &&
           strcmp(guest->slots, host->slots) == 0;
}

struct queue_job *queue_partner(const struct local *l, const struct queue_job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (are_together(l->jobs[i], j) || are_together(j, l->jobs[i]))
            return l->jobs[i];
    return NULL;
}

static bool overlap(const char *one, const char *other)
{
    bool has[QUEUE_SLOTS] = { false };
    int slot;

    while ((slot = queue_slots_next(&one)) >= 0)
        has[slot % QUEUE_SLOTS] = true;
    while ((slot = queue_slots_next(&other)) >= 0)
        if (has[slot % QUEUE_SLOTS])
            return true;
    return false;
}

static bool is_parked_on(const struct queue_job *j, const char *slots)
{
    return j->state == QUEUE_RUNNING && j->parked_ms && overlap(j->slots, slots);
}

/* ---- in words ---- */

void queue_share_why(const struct local *l, const struct queue_job *j, struct str *out)
{
    const struct policy *p = l->c->policy;
    int64_t seen_ms = MIN(j->alone_ms, j->worked_ms), after_ms = p->share.after_ms;

    if (!j->share || j->state != QUEUE_RUNNING || j->stop != QUEUE_GO || queue_partner(l, j) ||
        (p->share.below == 0 && p->idle.action == IDLE_SHRINK))
        return;
    if (p->share.below == 0)
        str_add(out, "it shares with nobody: the queue's policy has no section [share]");
    else if (j->apart)
        str_add(out, "it shares no more: it made another job too slow, or one made it so");
    else if (j->steps < 0)
        str_add(out, "it shares with nobody so far: no step of it was seen, and of a job without "
                     "steps nobody could tell what sharing costs it");
    else if (!sharing_is_known(j, after_ms))
        str_addf(out,
                 "it shares with nobody so far: it was seen at work, with steps, for %.0f s of the "
                 "%.0f s that the policy asks",
                 (double)MIN(seen_ms, after_ms) / 1e3, (double)after_ms / 1e3);
    else if (sharing_usual(j) > p->share.below)
        str_addf(out,
                 "it shares with nobody: it keeps its devices busy for %d %% of the time, and the "
                 "policy lets those share that do for %d %% at most",
                 sharing_usual(j) / TENTH, p->share.below / TENTH);
}

/* ---- what is seen ---- */

/* What its observer tells, or whoever counts steps here; live_run_none. */
static void run_of(const struct local *l, const struct queue_job *j, struct live_run *ret)
{
    pid_t pid;

    *ret = live_run_none;
    if (l->c->steps)
        ret->steps = l->c->steps(l->c->arg, j);
    else if (queue_start_look(l->dir, j->id, j->attempt, &pid) != START_LIVES ||
             live_runs_of(ret, (int)pid, (int64_t)j->uid, NULL) < 0)
        *ret = live_run_none;
}

/* How long it waited for CPUs, and the other one was on some. A step waits for the process that is
 * last: of the first threads the one that waited most counts. */
static void look_at_waits(struct local *l, struct queue_job *j, const struct live_run *run,
                          const struct queue_job *other, enum sharing_time time)
{
    CLEANUP(closep) int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t waited_ns = -NS_PER_MS;
    struct cpu_time used = { .guard = 0 };
    struct thread_times times;

    for (size_t i = 0; i < run->n_pids; i++)
        if (live_run_has(run, run->pids[i], j->uid) &&
            thread_times(proc, (pid_t)run->pids[i], &times) == 0)
            waited_ns = MAX(waited_ns, (int64_t)times.waited_ns);
    if (queue_start_look(l->dir, other->id, other->attempt, &used.guard) != START_LIVES ||
        cpu_time_read(proc, &used, 1) < 0)
        used.there = false;
    sharing_note_waits(j, waited_ns / NS_PER_MS,
                       used.there ? (int64_t)used.ticks * 1000 / sysconf(_SC_CLK_TCK) : -1, time);
}

static void look_at(struct local *l, struct queue_job *j)
{
    const struct queue_job *other = queue_partner(l, j);
    enum sharing_time time = SHARING_ALONE;
    struct live_run run;

    run_of(l, j, &run);
    if (other)
        time = other->works && is_watched(l, other) ? SHARING_BESIDE : SHARING_NEITHER;
    if (other && other->host == j->id && !l->c->steps)
        look_at_waits(l, j, &run, other, time);
    sharing_note_steps(j, queue_now_ms(l), run.steps, l->c->look_ms, time);
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
        for (size_t i = 0; i < l->n; i++)
            if (is_parked_on(l->jobs[i], j->slots))
                memory_milli = -1; /* of whom it is nobody knows */
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

/* ---- parked jobs ---- */

bool queue_may_park(const struct local *l, const struct queue_job *j)
{
    return l->c->policy->idle.action == IDLE_SHRINK && is_watched(l, j) && j->steps >= 0 &&
           queue_pool_memory(&l->pool, j) > 0;
}

/* One that is parked ends, and waits for devices in its turn, behind a job that it made way for (0:
 * none). Stored, then done. */
static void unpark(struct local *l, struct queue_job *j, int64_t yields, const char *why)
{
    struct queue_job was = *j;
    struct err e = { "" };

    j->stop = QUEUE_PREEMPT;
    j->yields = yields;
    snprintf(j->reason, sizeof(j->reason), "job %lld %s", (long long)j->id, why);
    memcpy(j->stopped, j->reason, sizeof(j->stopped));
    if (queue_store_put(l->store, j, &e) < 0) {
        *j = was;
        log_error("%s", e.text);
        return;
    }
    log_info("%s", j->reason);
    life_tell(l, j);
}

const struct queue_job *queue_parked(struct local *l, const struct queue_job *j, const char *slots)
{
    int needs = queue_pool_memory(&l->pool, j), sum = needs;
    const struct queue_job *first = NULL;

    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i] != j && l->jobs[i]->state == QUEUE_RUNNING &&
            overlap(l->jobs[i]->slots, slots))
            sum += queue_pool_memory(&l->pool, l->jobs[i]);
    for (size_t i = 0; i < l->n; i++) {
        struct queue_job *other = l->jobs[i];

        if (other == j || !is_parked_on(other, slots) ||
            (other->stop == QUEUE_GO && j->share && needs > 0 && sum <= WORK_WHOLE))
            continue;
        if (other->stop == QUEUE_GO)
            unpark(l, other, j->id,
                   "leaves the devices on which it has memory: it does not fit beside "
                   "that of another job; it starts again in its turn");
        first = first ? first : other;
    }
    return first;
}

static void look_at_parked(struct local *l, struct queue_job *j)
{
    double before = j->steps;
    struct live_run run;

    run_of(l, j, &run);
    sharing_note_steps(j, queue_now_ms(l), run.steps, l->c->look_ms, SHARING_NEITHER);
    if (before >= 0 && j->steps > before)
        unpark(l, j, 0,
               "works again and waits for devices: those on which it has memory are another "
               "one's");
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
        if (is_watched(l, l->jobs[i]) && l->jobs[i]->parked_ms)
            look_at_parked(l, l->jobs[i]);
        else if (is_watched(l, l->jobs[i]))
            look_at(l, l->jobs[i]);
    for (size_t i = 0; i < l->n; i++)
        if (is_watched(l, l->jobs[i]) && !l->jobs[i]->parked_ms)
            judge(l, l->jobs[i]);
}
