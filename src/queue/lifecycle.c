#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "queue/guard/files.h"
#include "queue/guard/guard.h"
#include "queue/queue_private.h"

enum { SPAWN_MS = 5000, RETRY_MS = 2000, REMEMBER = 1000 };

/* ---- the list ---- */

struct queue_job *life_find(const struct local *l, int64_t id)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (l->jobs[middle]->id == id)
            return l->jobs[middle];
        if (l->jobs[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int life_add(struct local *l, const struct queue_job *j)
{
    struct queue_job *copy;

    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        struct queue_job **grown = reallocarray(l->jobs, room, sizeof(void *));

        if (!grown)
            return -ENOMEM;
        l->jobs = grown;
        l->room = room;
    }
    copy = malloc(sizeof(*copy));
    if (!copy)
        return -ENOMEM;
    *copy = *j;
    l->jobs[l->n++] = copy;
    l->changed = true;
    return 0;
}

void life_sweep(struct local *l)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i]->state == QUEUE_ENDED)
            free(l->jobs[i]);
        else
            l->jobs[n++] = l->jobs[i];
    l->ended |= n < l->n;
    l->n = n;
}

void life_free(struct local *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->jobs[i]);
    free(l->jobs);
    orphans_free(l);
    l->jobs = NULL;
    l->n = l->room = 0;
}

void life_trouble(struct local *l, const struct err *e)
{
    if (!l->retry_ms)
        log_error("%s", e->text);
    l->retry_ms = queue_now_ms(l) + RETRY_MS;
    l->changed = true;
}

/* ---- ends ---- */

/* The job that is on the devices of one that has ended: they are its own; NULL. */
static struct queue_job *heir_of(const struct local *l, const struct queue_job *j)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->jobs[i]->host == j->id && l->jobs[i]->state == QUEUE_RUNNING && !*l->jobs[i]->next)
            return l->jobs[i];
    return NULL;
}

static int store_end(struct local *l, const struct queue_job *j, const struct queue_job *heir,
                     struct err *e)
{
    int rc;

    if (!heir)
        return queue_store_put(l->store, j, e);
    rc = queue_store_begin(l->store, e);
    if (rc == 0)
        rc = queue_store_put(l->store, j, e);
    if (rc == 0)
        rc = queue_store_put(l->store, heir, e);
    if (rc == 0)
        return queue_store_commit(l->store, e);
    queue_store_rollback(l->store);
    return rc;
}

/* Store the end of an attempt, then forget its files. Without room on the disk they tell again. */
static void end(struct local *l, struct queue_job *j, const struct queue_end *word)
{
    struct queue_job was = *j, *heir = heir_of(l, j);
    struct err e = { "" };

    queue_job_end(j, word);
    if (heir)
        heir->host = 0;
    if (store_end(l, j, heir, &e) < 0) {
        *j = was;
        if (heir)
            heir->host = j->id;
        life_trouble(l, &e);
        return;
    }
    orphans_forget(l, &was);
    queue_attempt_forget(l->dir, j->id, j->attempt);
    l->changed = true;
}

/* A guard that went without a word: killed, or the machine went down. Its devices are not free
 * before the last process of the job has gone. */
static void miss(struct local *l, struct queue_job *j)
{
    struct queue_end word = { .end_ms = queue_wall_ms(l) };
    pid_t pid;

    if (orphans_keep(l, j, &word.stop)) {
        snprintf(j->reason, sizeof(j->reason),
                 "its guard was killed: how it ends will not be known");
        return;
    }
    if (queue_start_look(l->dir, j->id, j->attempt, &pid) == START_NONE) {
        word.unstarted = true;
        word.status = QUEUE_REQUEUED << 8;
        snprintf(word.text, sizeof(word.text), "its guard was killed before it started the job");
    } else {
        word.lost = true;
        snprintf(word.text, sizeof(word.text),
                 "nobody saw how it ended: its guard was killed, or the machine went down");
    }
    end(l, j, &word);
}

/* Whether a guard that was started long ago should be there by now. A clock that was set back is
 * no reason to wait. */
static bool is_overdue(const struct local *l, const struct queue_job *j)
{
    int64_t age_ms = queue_wall_ms(l) - j->since_ms;

    return age_ms > SPAWN_MS || age_ms < 0;
}

void life_look(struct local *l, struct queue_job *j)
{
    struct queue_end word;
    enum queue_claimed claimed;
    pid_t pid;

    if (j->state != QUEUE_RUNNING)
        return;
    claimed = queue_claim_look(l->dir, j->id, j->attempt, &pid);
    if (queue_end_read(l->dir, j->id, j->attempt, &word) == 0)
        end(l, j, &word);
    else if (claimed == CLAIM_LEFT)
        miss(l, j);
    else if (claimed == CLAIM_NONE && is_overdue(l, j))
        life_spawn(l, j);
}

void life_look_all(struct local *l)
{
    for (size_t i = 0; i < l->n; i++)
        life_look(l, l->jobs[i]);
    life_sweep(l);
}

/* ---- beginnings ---- */

void life_spawn(struct local *l, const struct queue_job *j)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const char *give[2 * (QUEUE_GIVEN + 1) + 1];
    struct queue_job job = *j;
    struct queue_guard g = { .job = &job, .folder = l->c->folder, .cpus = j->bound, .give = give };
    struct err e = { "" };
    pid_t pid;

    if (queue_pool_variables(&l->pool, j->slots, &a, give) < 0) {
        log_error("job %lld is not started now: out of memory", (long long)j->id);
        return; /* life_look() comes back to it */
    }
    job.grace_ms = MIN(job.grace_ms, l->c->most_grace_ms); /* another engine may have taken it */
    g.watch = j->watch > 0 || (j->watch < 0 && j->devices > 0);
    pid = queue_folder_make(l->dir, j->id, &e);
    if (pid == 0)
        pid = queue_guard_start(&g);
    if (pid < 0)
        log_error("job %lld is not started now: %s", (long long)j->id,
                  *e.text ? e.text : strerror(-pid));
}

void life_tell(struct local *l, const struct queue_job *j)
{
    pid_t pid;
    int rc = queue_stop_write(l->dir, j->id, j->attempt, j->stop);

    if (rc < 0)
        log_error("job %lld cannot be stopped now: %s", (long long)j->id, strerror(-rc));
    else if (queue_claim_look(l->dir, j->id, j->attempt, &pid) == CLAIM_HELD && pid > 1)
        kill(pid, SIGTERM);
}

int life_drop(struct local *l, struct queue_job *j, enum queue_outcome outcome, const char *why,
              struct err *e)
{
    struct queue_job was = *j;
    int rc;

    queue_job_drop(j, outcome, queue_wall_ms(l), why);
    rc = queue_store_put(l->store, j, e);
    if (rc < 0)
        *j = was;
    l->changed = true;
    return rc;
}

/* ---- coming back ---- */

static int load(void *arg, const struct queue_job *j)
{
    return life_add(arg, j);
}

struct forgetting {
    int64_t ids[REMEMBER], arrays[REMEMBER];
    size_t n;
};

static int forget(void *arg, const struct queue_job *j)
{
    struct forgetting *f = arg;

    f->ids[f->n] = j->id;
    f->arrays[f->n] = j->array;
    return ++f->n == REMEMBER;
}

/* Jobs that ended long ago. The order of an array stays with its first job until all are old. */
static int remove_old(struct local *l, struct err *e)
{
    CLEANUP(freep) struct forgetting *f = calloc(1, sizeof(*f));
    int rc;

    if (!f)
        return err_nomem(e);
    rc = queue_store_list(l->store, QUEUE_OLD, queue_wall_ms(l) - l->c->keep_ms, forget, f, e);
    if (rc >= 0 && f->n > 0)
        rc = queue_store_begin(l->store, e);
    for (size_t i = 0; i < f->n && rc >= 0; i++) {
        struct queue_met met;

        rc = queue_store_met(l->store, f->arrays[i], &met, e);
        if (rc < 0 || met.ended < met.all)
            continue;
        rc = queue_store_remove(l->store, f->ids[i], e);
        if (rc >= 0)
            queue_folder_remove(l->dir, f->ids[i]);
    }
    if (f->n > 0)
        rc = rc < 0 ? (queue_store_rollback(l->store), rc) : queue_store_commit(l->store, e);
    return rc < 0 ? rc : 0;
}

int life_load(struct local *l, struct err *e)
{
    int rc = remove_old(l, e);

    if (rc == 0)
        rc = queue_store_list(l->store, QUEUE_LIVE, 0, load, l, e);
    if (rc < 0)
        return rc == -ENOMEM ? err_nomem(e) : rc;
    for (size_t i = 0; i < l->n; i++) {
        struct queue_job *j = l->jobs[i];
        pid_t pid;

        if (j->state != QUEUE_RUNNING)
            continue;
        /* Stored as started, but nobody came to it: the guard of another engine may yet. */
        if (queue_claim_look(l->dir, j->id, j->attempt, &pid) == CLAIM_NONE)
            life_spawn(l, j);
        if (j->stop != QUEUE_GO)
            life_tell(l, j);
        life_look(l, j);
    }
    life_sweep(l);
    return 0;
}
