#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "queue/queue_private.h"

enum {
    TEXT_MAX = WIRE_MAX - 4096,
    PAGE = 1000,    /* jobs that one answer lists, */
    LOOKED = 20000, /* or looks at: meanwhile nobody else is answered */
    AT_ONCE = 1000, /* jobs of a user that one request cancels */
};

/* ---- jobs ---- */

struct showing {
    struct local *l;
    struct json json;
    int32_t task;     /* -1: all */
    const char *user; /* NULL: of all */
    size_t n, looked;
    size_t most, most_looked;
    int64_t next; /* where to go on; 0: that was all */
};

/* Of those that have not ended what is in memory is newer: why they wait. */
static int show(void *arg, const struct queue_job *j)
{
    struct showing *s = arg;
    CLEANUP(str_done) struct str sharing = STR_INIT(QUEUE_REASON);
    const struct queue_job *live = life_find(s->l, j->id);

    if (s->n == s->most || s->looked++ == s->most_looked) {
        s->next = j->id;
        return 1;
    }
    if ((s->task >= 0 && j->task != s->task) || (s->user && strcmp(s->user, j->user) != 0))
        return 0;
    if (live)
        queue_share_why(s->l, live, &sharing);
    str_fail(s->json.out, str_error(&sharing));
    queue_show_job(&s->json, live ? live : j, str_text(&sharing), queue_wall_ms(s->l));
    s->n++;
    return 0;
}

/* An array as a whole; else a page of those that are asked for. */
static int list(struct local *l, const struct str *in, struct showing *s, struct err *e)
{
    const char *label = wire_get(in, "job");
    int64_t id = 0, most = wire_int(in, "most", PAGE);
    int rc = label ? queue_label_read(label, &id, &s->task, e) : 0;

    if (rc < 0)
        return rc;
    if (label)
        return queue_store_list(l->store, QUEUE_OF_ARRAY, id, show, s, e);
    s->user = wire_get(in, "user");
    s->most = (size_t)MIN(MAX(most, 1), PAGE);
    s->most_looked = LOOKED;
    return queue_store_recent(l->store, wire_int(in, "since", INT64_MAX), wire_int(in, "from", 1),
                              show, s, e);
}

static int jobs(struct local *l, const struct queue_client *client, struct str *answer,
                struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(TEXT_MAX);
    const char *label = wire_get(&client->in, "job");
    struct showing s = {
        .l = l, .json = JSON_INIT(&text), .task = -1, .most = SIZE_MAX, .most_looked = SIZE_MAX
    };
    int rc;

    json_object(&s.json, NULL);
    json_string(&s.json, "schema", "brim.jobs.v1");
    json_int(&s.json, "version", 1);
    json_string(&s.json, "policy", l->c->policy->name);
    json_string(&s.json, "gives", pool_word(&l->pool.pool, 0));
    json_int(&s.json, "slots", (int64_t)l->pool.n_slots);
    json_array(&s.json, "jobs");
    rc = list(l, &client->in, &s, e);
    json_end(&s.json);
    json_end(&s.json);
    if (rc < 0)
        return rc;
    if (label && !s.n)
        return err_set(e, -ENOENT, "there is no job %s: brim jobs lists them", label);
    if (str_error(&text) == -ENOMEM)
        return err_nomem(e);
    if (str_error(&text) < 0)
        return err_set(e, -EFBIG, "too many jobs to list: ask for one");
    wire_add(answer, "text", str_text(&text));
    wire_add_int(answer, "next", s.next);
    wire_add_int(answer, "n", (int64_t)s.n);
    return 0;
}

bool queue_request_waits(const struct local *l, const struct queue_client *client)
{
    const char *verb = wire_get(&client->in, "verb"), *label = wire_get(&client->in, "job");
    int64_t id;
    int32_t task;

    if (!verb || strcmp(verb, "wait") != 0 ||
        queue_label_read(label ? label : "", &id, &task, NULL))
        return false;
    for (size_t i = 0; i < l->n; i++) {
        const struct queue_job *j = l->jobs[i];

        if ((j->id == id || j->array == id) && (task < 0 || j->task == task) &&
            j->state != QUEUE_ENDED)
            return true;
    }
    return false;
}

/* ---- orders about jobs ---- */

enum order { ORDER_CANCEL, ORDER_HOLD, ORDER_RELEASE, ORDER_PRIORITY };

/* What is to be done, and to which jobs. */
struct ordering {
    const struct queue_client *client;
    enum order order;
    int32_t task, priority;
    size_t n, ended; /* of those that were asked for */
    int64_t changed[QUEUE_TASKS];
    size_t n_changed;
};

static int check(void *arg, const struct queue_job *j)
{
    struct ordering *o = arg;

    if (o->task >= 0 && j->task != o->task)
        return 0;
    if (o->client->uid != 0 && o->client->uid != j->uid)
        return -EACCES;
    o->n++;
    o->ended += j->state == QUEUE_ENDED;
    if (j->state != QUEUE_ENDED && o->n_changed < QUEUE_TASKS)
        o->changed[o->n_changed++] = j->id;
    return 0;
}

static void change(const struct local *l, const struct ordering *o, struct queue_job *j)
{
    switch (o->order) {
    case ORDER_HOLD:
        j->held = true;
        break;
    case ORDER_RELEASE:
        j->held = false;
        break;
    case ORDER_PRIORITY:
        j->priority = o->priority;
        break;
    default:
        if (j->state == QUEUE_RUNNING) {
            j->stop = QUEUE_CANCEL;
            j->next[0] = 0;
            snprintf(j->reason, sizeof(j->reason), "is being cancelled");
        } else {
            queue_job_drop(j, QUEUE_CANCELLED, queue_wall_ms(l), "cancelled before it ran");
        }
    }
}

/* All of them or none: what was before is kept until they are stored. */
static int change_all(struct local *l, struct ordering *o, struct err *e)
{
    CLEANUP(freep) struct queue_job *was = reallocarray(NULL, o->n_changed + 1, sizeof(*was));
    size_t n = 0;
    int rc;

    if (!was)
        return err_nomem(e);
    rc = queue_store_begin(l->store, e);
    for (; n < o->n_changed && rc == 0; n++) {
        struct queue_job *j = life_find(l, o->changed[n]);

        was[n] = *j;
        change(l, o, j);
        rc = queue_store_put(l->store, j, e);
    }
    if (rc == 0)
        rc = queue_store_commit(l->store, e);
    else
        queue_store_rollback(l->store);
    for (size_t i = 0; i < n && rc < 0; i++)
        *life_find(l, o->changed[i]) = was[i];
    for (size_t i = 0; i < n && rc == 0 && o->order == ORDER_CANCEL; i++) {
        const struct queue_job *j = life_find(l, o->changed[i]);

        if (j->state == QUEUE_RUNNING)
            life_tell(l, j);
    }
    l->changed = true;
    life_sweep(l);
    return rc;
}

static int about(struct local *l, const struct queue_client *client, enum order order,
                 struct err *e)
{
    const char *label = wire_get(&client->in, "job");
    CLEANUP(freep) struct ordering *o = calloc(1, sizeof(*o));
    int64_t id = 0, priority = wire_int(&client->in, "priority", 0);
    int rc;

    if (!o)
        return err_nomem(e);
    *o = (struct ordering){ .client = client, .order = order, .task = -1 };
    rc = queue_label_read(label ? label : "", &id, &o->task, e);
    if (rc == 0 && order == ORDER_PRIORITY)
        rc = queue_priority_check(priority, client->uid == 0 || !l->c->shared, e);
    o->priority = (int32_t)priority;
    if (rc == 0)
        rc = queue_store_list(l->store, QUEUE_OF_ARRAY, id, check, o, e);
    if (rc == -EACCES && !*e->text)
        return err_set(e, rc, "job %s is another user's", label);
    if (rc < 0)
        return rc;
    if (!o->n)
        return err_set(e, -ENOENT, "there is no job %s: brim jobs lists them", label);
    if (o->ended == o->n)
        return err_set(e, -EALREADY, "job %s has ended already", label);
    return change_all(l, o, e);
}

/* Some of a user's jobs that are not being cancelled: how many, as there may be more. */
static int cancel_user(struct local *l, const struct queue_client *client, struct str *answer,
                       struct err *e)
{
    const char *user = wire_get(&client->in, "user");
    CLEANUP(freep) struct ordering *o = calloc(1, sizeof(*o));
    int rc = 0;

    if (!o)
        return err_nomem(e);
    *o = (struct ordering){ .client = client, .order = ORDER_CANCEL, .task = -1 };
    for (size_t i = 0; i < l->n && o->n_changed < AT_ONCE && rc == 0; i++)
        if (!strcmp(l->jobs[i]->user, user) && l->jobs[i]->stop != QUEUE_CANCEL)
            rc = check(o, l->jobs[i]);
    if (rc == -EACCES)
        return err_set(e, rc, "only %s and root may cancel jobs of %s", user, user);
    if (o->n_changed > 0)
        rc = change_all(l, o, e);
    wire_add_int(answer, "n", (int64_t)o->n_changed);
    return rc;
}

/* ---- one request ---- */

static int dispatch(struct local *l, const struct queue_client *client, struct str *answer,
                    struct err *e)
{
    static const char *const orders[] = { "cancel", "hold", "release", "priority" };
    const char *verb = wire_get(&client->in, "verb");

    if (!l->c->shared && client->uid != 0 && client->uid != geteuid())
        return err_set(e, -EACCES, "this queue is another user's");
    if (verb && !strcmp(verb, "submit"))
        return queue_submit(l, client, answer, e);
    if (verb && (!strcmp(verb, "jobs") || !strcmp(verb, "wait")))
        return jobs(l, client, answer, e);
    if (verb && !strcmp(verb, "cancel") && wire_get(&client->in, "user"))
        return cancel_user(l, client, answer, e);
    for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
        if (verb && !strcmp(verb, orders[i]))
            return about(l, client, (enum order)i, e);
    return err_set(e, -EINVAL,
                   "the engine that runs does not know this request: it is of another "
                   "version of brim; end it with kill, the next command starts a new one");
}

void queue_request(struct local *l, const struct queue_client *client, struct str *answer)
{
    struct err e = { "" };
    int rc = dispatch(l, client, answer, &e);

    if (rc < 0) {
        str_reset(answer);
        wire_add(answer, "error", *e.text ? e.text : strerror(-rc));
    }
    wire_add_int(answer, "status", rc < 0 ? -rc : 0);
}
