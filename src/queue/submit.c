#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "queue/guard/files.h"
#include "queue/queue_private.h"
#include "queue/team.h"

static const int64_t grace_ms = 30000;

/* ---- reading what was asked for ---- */

static int take_text(char *to, size_t size, const struct str *in, const char *key, struct err *e)
{
    const char *text = wire_get(in, key);

    if (text && snprintf(to, size, "%s", text) >= (int)size)
        return err_set(e, -EINVAL, "--%s is longer than %zu bytes", key, size - 1);
    return 0;
}

static int take_numbers(struct queue_job *j, const struct str *in, struct err *e)
{
    int64_t devices = wire_int(in, "devices", 0), cpus = wire_int(in, "cpus", 0);
    int64_t least = wire_int(in, "least", 0);

    if (devices < 0 || devices > INT32_MAX || cpus < 0 || cpus > INT32_MAX / 1000)
        return err_set(e, -EINVAL, "asks for more than any machine has");
    j->devices = (int32_t)devices;
    j->cpus = (int32_t)cpus;
    j->limit_ms = wire_int(in, "limit", 0);
    j->warn_ms = wire_int(in, "warn", 0);
    j->grace_ms = wire_int(in, "grace", grace_ms);
    j->deadline_ms = wire_int(in, "deadline", 0); /* counted from now on: take() */
    j->signal = (int32_t)wire_int(in, "signal", SIGTERM);
    j->watch = (int8_t)wire_int(in, "watch", -1);
    j->held = wire_int(in, "hold", 0) != 0;
    j->requeue = wire_int(in, "requeue", 0) != 0;
    j->least = (int32_t)least;
    j->share = wire_int(in, "share", 0) != 0;
    j->memory_b = wire_int(in, "memory", 0);
    if (j->share && (!j->requeue || devices == 0 || j->watch == 0))
        return err_set(e, -EINVAL,
                       "--share is for jobs with --requeue and --devices, and without --no-watch");
    if (j->memory_b < 0 || (j->memory_b > 0 && !j->share))
        return err_set(e, -EINVAL, "--memory is for jobs with --share");
    if (least < 0 || (least > 0 && least >= devices) || (least > 0 && !j->requeue))
        return err_set(e, -EINVAL,
                       "--min-devices is for jobs with --requeue, and less than --devices");
    if (!queue_signal_known(j->signal))
        return err_set(e, -EINVAL, "--checkpoint-signal: one of TERM, USR1, USR2, INT, HUP, CONT");
    if (j->limit_ms < 0 || j->warn_ms < 0 || j->grace_ms < 0 || j->deadline_ms < 0 ||
        MAX(MAX(j->limit_ms, j->grace_ms), j->deadline_ms) > INT64_MAX / 4)
        return err_set(e, -EINVAL, "a time is negative or too long");
    if (j->warn_ms > 0 && j->warn_ms >= j->limit_ms)
        return err_set(e, -EINVAL, "--warn is a time before the limit: it needs a longer --limit");
    return 0;
}

/* Letters of a name that is too long: '~' and ten digits follow. */
enum { CUT_NAME = QUEUE_USER - 12 };

static void take_user(struct queue_job *j, const struct queue_client *client)
{
    const struct passwd *p = getpwuid(client->uid);

    j->uid = client->uid;
    j->gid = client->gid;
    /* a name that is cut could be that of another one, too */
    if (p && strlen(p->pw_name) >= sizeof(j->user))
        snprintf(j->user, sizeof(j->user), "%.*s~%u", CUT_NAME, p->pw_name, (unsigned)client->uid);
    else if (p)
        snprintf(j->user, sizeof(j->user), "%s", p->pw_name);
    else
        snprintf(j->user, sizeof(j->user), "%u", (unsigned)client->uid);
}

/* Every job that is named must be there. */
static int check_after(const struct local *l, const char *after, struct err *e)
{
    enum queue_after_kind kind = AFTER_NONE;
    struct queue_met m = { .all = 0 };
    int64_t id;
    int rc;

    while ((rc = queue_after_next(&after, &kind, &id, e)) > 0) {
        rc = queue_store_met(l->store, id, &m, e);
        if (rc == 0 && m.all == 0)
            rc = err_set(e, -ENOENT, "--after: there is no job %lld", (long long)id);
        if (rc < 0)
            return rc;
    }
    return rc;
}

static int check_possible(const struct local *l, struct queue_job *j, struct err *e)
{
    int rc = queue_pool_ask(&l->pool, j, e);

    if (rc == 0)
        rc = queue_plan_possible(&l->pool, l->c->policy, j, e);
    if (rc == 0)
        return err_set(e, -EINVAL,
                       "asks for what this machine could not give even if it were empty%s",
                       l->c->policy->quota.n > 0 ? ", or for more than its share" : "");
    return rc < 0 ? rc : 0;
}

/* Whether there is room for so many more jobs: each takes memory of the engine's. */
static int check_room(const struct local *l, const struct queue_job *j, size_t more, struct err *e)
{
    size_t of_user = 0, most = (size_t)l->c->most_jobs, most_of_user = (size_t)l->c->most_of_user;

    for (size_t i = 0; i < l->n; i++)
        of_user += l->jobs[i]->uid == j->uid;
    if (j->uid != 0 && of_user + more > most_of_user)
        return err_set(e, -EDQUOT,
                       "this queue takes %zu jobs of a user that have not ended, and %s has %zu: "
                       "wait for some, or cancel them",
                       most_of_user, j->user, of_user);
    if (l->n + more > most)
        return err_set(e, -EDQUOT,
                       "this queue takes %zu jobs that have not ended, and has %zu: wait for some",
                       most, l->n);
    return 0;
}

static int check_grace(const struct local *l, const struct queue_job *j, struct err *e)
{
    if (j->grace_ms <= l->c->most_grace_ms)
        return 0;
    return err_set(e, -EINVAL, "--grace: this queue gives a job %lld s at most to end",
                   (long long)(l->c->most_grace_ms / 1000));
}

static int take(const struct local *l, const struct queue_client *client, struct queue_job *j,
                struct err *e)
{
    const struct str *in = &client->in;
    int64_t priority = wire_int(in, "priority", 0);
    int rc = take_text(j->name, sizeof(j->name), in, "name", e);

    if (rc == 0)
        rc = take_text(j->after, sizeof(j->after), in, "after", e);
    if (rc == 0)
        rc = take_text(j->token, sizeof(j->token), in, "token", e);
    if (rc == 0)
        rc = take_text(j->class, sizeof(j->class), in, "class", e);
    if (rc == 0)
        rc = take_text(j->team, sizeof(j->team), in, "team", e);
    if (rc == 0)
        rc = take_numbers(j, in, e);
    if (rc == 0)
        rc = check_grace(l, j, e);
    if (rc == 0)
        rc = queue_priority_check(priority, client->uid == 0 || !l->c->shared, e);
    if (rc == 0)
        rc = check_after(l, j->after, e);
    if (rc == 0 && (!wire_get(in, "arg") || !wire_get(in, "cwd")))
        rc = err_set(e, -EINVAL, "no command was given");
    j->priority = (int32_t)priority;
    j->task = -1;
    j->submit_ms = j->since_ms = queue_wall_ms(l);
    if (j->deadline_ms > 0)
        j->deadline_ms += j->submit_ms;
    take_user(j, client);
    if (rc == 0 && !wire_get(in, "team"))
        queue_team_usual(j);
    else if (rc == 0 && l->c->shared && client->uid != 0)
        rc = queue_team_check(j, e);
    return rc == 0 ? check_possible(l, j, e) : rc;
}

/* ---- only asking ---- */

static void say_when(const struct local *l, int64_t start_ms, const char *slots, struct str *out)
{
    const struct queue_job *other;
    char place[QUEUE_SLOTS];
    int64_t wait_ms = start_ms - queue_wall_ms(l);

    queue_pool_place(&l->pool, slots, place);
    if (start_ms == INT64_MAX) {
        str_add(out, "would wait: nobody knows for how long, since jobs that run have no limit");
        return;
    }
    other = wait_ms <= 0 ? queue_holder(l, slots, 0) : NULL;
    if (other)
        str_addf(out, "would start as soon as job %lld, which %s stopped for it, has gone",
                 (long long)other->id, other->stop == QUEUE_GO ? "would be" : "is being");
    else if (wait_ms <= 0)
        str_add(out, "would start now");
    else
        str_addf(out, "would start in %lld s at the latest, when jobs have reached their limits",
                 (long long)(wait_ms + 999) / 1000);
    if (*place)
        str_addf(out, ", on %s", place);
}

static int foresee(struct local *l, const struct queue_job *j, struct str *answer, struct err *e)
{
    CLEANUP(freep) struct queue_item *items = calloc(l->n + 2, sizeof(*items));
    CLEANUP(str_done) struct str text = STR_INIT(QUEUE_SLOTS + QUEUE_REASON);
    int64_t now_ms = queue_wall_ms(l), start_ms = INT64_MAX;
    char slots[QUEUE_SLOTS] = "";
    struct queue_plan plan;
    int rc;

    if (!items)
        return err_nomem(e);
    rc = queue_decide_items(l, items, e);
    if (rc != 0)
        return rc;
    if (j->held || *j->after) {
        wire_add(answer, "text",
                 j->held ? "would wait until it is released"
                         : "would wait for the jobs that it comes after");
        return 0;
    }
    items[l->n] = (struct queue_item){ j, true };
    rc = queue_plan_make(
        &plan, &(const struct queue_scene){ &l->pool, l->c->policy, items, l->n + 1 }, now_ms, e);
    if (rc < 0)
        return rc;
    rc = queue_plan_foresee(&plan, l->n, now_ms, &start_ms, slots);
    queue_plan_done(&plan);
    if (rc < 0)
        return err_nomem(e);
    say_when(l, start_ms, slots, &text);
    wire_add(answer, "text", str_text(&text));
    return 0;
}

/* ---- storing ---- */

struct adding {
    struct local *l;
    const struct queue_client *client;
    struct queue_job job;
    int64_t first;
    size_t from; /* of those in the list */
    struct err *e;
};

static int count(void *arg, int32_t task)
{
    (void)task;
    ++*(size_t *)arg;
    return 0;
}

/* One job, stored and in the list; the first one with its order. */
static int add(void *arg, int32_t task)
{
    struct adding *a = arg;
    struct queue_job *j = &a->job;
    int rc;

    j->task = task;
    j->array = a->first;
    rc = queue_store_add(a->l->store, j, a->e);
    if (rc == 0 && !a->first) {
        a->first = j->array = j->id;
        rc = queue_store_put(a->l->store, j, a->e);
        if (rc == 0)
            rc = queue_folder_make(a->l->dir, j->id, a->e);
        if (rc == 0)
            rc = queue_order_write(a->l->dir, j->id, &a->client->in, a->e);
    }
    if (rc == 0 && life_add(a->l, j) < 0)
        rc = err_nomem(a->e);
    return rc;
}

static void take_back(struct adding *a)
{
    while (a->l->n > a->from)
        free(a->l->jobs[--a->l->n]);
    if (a->first)
        queue_folder_remove(a->l->dir, a->first);
}

static int store(struct adding *a, const char *array)
{
    int rc = queue_store_begin(a->l->store, a->e);

    if (rc < 0)
        return rc;
    rc = array ? queue_array(array, &a->job.width, add, a, a->e) : add(a, -1);
    if (rc == 0)
        rc = queue_store_commit(a->l->store, a->e);
    else
        queue_store_rollback(a->l->store);
    if (rc < 0)
        take_back(a);
    return rc;
}

int queue_submit(struct local *l, const struct queue_client *client, struct str *answer,
                 struct err *e)
{
    const char *array = wire_get(&client->in, "array");
    CLEANUP(freep) struct adding *a = calloc(1, sizeof(*a));
    size_t tasks = 0;
    int rc;

    if (!a)
        return err_nomem(e);
    a->l = l;
    a->client = client;
    a->e = e;
    a->from = l->n;
    rc = take(l, client, &a->job, e);
    if (rc == 0 && *a->job.token)
        rc = queue_store_token(l->store, a->job.token, client->uid, &a->first, e);
    if (rc == 0 && a->first) { /* an engine stored it and died before it could answer */
        wire_add_int(answer, "id", a->first);
        return 0;
    }
    if (rc == 0 && array)
        rc = queue_array(array, &a->job.width, count, &tasks, e);
    if (rc == 0)
        rc = check_room(l, &a->job, array ? tasks : 1, e);
    if (rc < 0)
        return rc;
    if (wire_int(&client->in, "dry", 0))
        return foresee(l, &a->job, answer, e);
    rc = store(a, array);
    if (rc == 0)
        wire_add_int(answer, "id", a->first);
    return rc;
}
