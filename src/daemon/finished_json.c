#include "daemon/finished_json.h"

#include <errno.h>

#include "base/clock.h"
#include "run/archive/figures.h"
#include "run/watch/accounts.h"

void finished_json_done(struct finished_json *l)
{
    str_done(&l->accounts);
}

void finished_json_begin(struct finished_json *l, bool served)
{
    json_object(&l->json, NULL);
    json_string(&l->json, "schema", "brim.finished.v1");
    json_bool(&l->json, "served", served);
    json_array(&l->json, "runs");
    if (served)
        accounts_read(&l->accounts);
}

/* At most so much of a text that may be of any length. */
static void add_text(struct json *j, const char *key, const char *text)
{
    char kept[LIVE_RUN_SENTENCE] = "";

    if (text)
        live_run_text(kept, sizeof(kept), text);
    json_string(j, key, *kept ? kept : NULL);
}

static void add_time(struct json *j, const char *key, int64_t ns)
{
    if (ns > 0)
        json_int(j, key, ns / NS_PER_MS);
    else
        json_null(j, key);
}

static void add_owner(struct finished_json *l, const struct run *r, int64_t owner)
{
    char name[LIVE_RUN_NAME] = "";

    if (r->user)
        live_run_text(name, sizeof(name), r->user);
    accounts_name(str_text(&l->accounts), owner, name);
    json_string(&l->json, "user", name);
}

static void add_end(struct json *j, const struct run *r)
{
    static const char *const ends[] = { [RUN_RUNNING] = "running",
                                        [RUN_EXITED] = "exited",
                                        [RUN_KILLED] = "killed",
                                        [RUN_LOST] = "lost" };

    json_string(j, "end", ends[r->end]);
    if (r->end == RUN_LOST)
        json_null(j, "status");
    else
        json_int(j, "status", r->status);
}

static void add_verdict(struct json *j, const struct verdict *v)
{
    const struct verdict_item *first = &v->items[0];

    json_string(j, "severity", severity_text(MAX(first->severity, SEVERITY_NOTE)));
    json_string(j, "cause", cause_name(first->cause));
    json_bool(j, "limited", first->cause != CAUSE_NONE && first->cause != CAUSE_UNKNOWN);
    json_round(j, "share", first->share, 4);
    add_text(j, "sentence", v->sentence);
    add_text(j, "action", first->action);
}

int finished_json_run(struct finished_json *l, const char *key, const struct run *r, int64_t owner,
                      const struct verdict *v)
{
    struct json *j = &l->json;
    struct run_figures f;

    if (run_figures(r, &f) < 0)
        return -ENOMEM;
    json_object(j, NULL);
    json_string(j, "key", key);
    add_text(j, "id", r->id);
    add_text(j, "name", r->name);
    add_owner(l, r, owner);
    add_time(j, "begin_ms", r->begin_ns);
    add_time(j, "end_ms", r->end_ns);
    add_end(j, r);
    json_number(j, "duration_s", f.seconds, 6);
    json_round(j, "steps", f.steps, 0);
    json_number(j, "steps_per_s", f.steps_per_s, 4);
    json_number(j, "samples_per_s", f.samples_per_s, 4);
    add_verdict(j, v);
    json_end(j);
    return 0;
}

void finished_json_end(struct finished_json *l, const char *next)
{
    struct json *j = &l->json;

    json_end(j);
    json_string(j, "next", next);
    json_int(j, "unreadable_runs", (int64_t)l->unreadable);
    json_int(j, "unreadable_folders", (int64_t)l->unread);
    json_end(j);
}
