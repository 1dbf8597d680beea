#include "slurm/user/show.h"

#include <string.h>

#include "base/json.h"
#include "slurm/user/words.h"

enum { WORDS_MOST = 1 << 16 };

static bool is_asked_for(const struct site_job *j, const struct slurm_jobs_shown *what)
{
    bool ended = j->state == SITE_ENDED;

    if (what->id) {
        uint32_t whole = j->array ? j->array : j->id;

        if (what->task >= 0)
            return whole == what->id && (j->task == what->task || j->pending_tasks);
        return whole == what->id || j->id == what->id;
    }
    if (j->id < what->from || (ended && j->end_ms < what->since_ms))
        return false;
    return !what->user || !strcmp(what->user, j->user);
}

static void add_time(struct json *json, const char *key, int64_t ms)
{
    if (ms > 0)
        json_round(json, key, (double)ms / 1e3, 3);
    else
        json_null(json, key);
}

static void add_some(struct json *json, const char *key, const char *text)
{
    json_string(json, key, text && *text ? text : NULL);
}

/* A text that one of slurm_words_...() has made. */
static void add_words(struct json *json, const char *key, const struct str *words)
{
    str_fail(json->out, str_error(words));
    add_some(json, key, str_text(words));
}

static void add_times(struct json *json, const struct site_job *j, int64_t now_ms)
{
    bool began = j->state != SITE_WAITING && j->start_ms;
    int64_t end_ms = j->state == SITE_ENDED ? j->end_ms : now_ms;

    json_int(json, "attempts", (int64_t)j->restarts + began);
    add_time(json, "submitted", j->submit_ms);
    add_time(json, "started", began ? j->start_ms : 0);
    if (!began && j->start_ms > now_ms && j->start_ms <= now_ms + SLURM_WORDS_NEVER_MS)
        add_time(json, "expected", j->start_ms);
    add_time(json, "ended", j->state == SITE_ENDED ? j->end_ms : 0);
    if (began)
        json_round(json, "ran_s", end_ms > j->start_ms ? (double)(end_ms - j->start_ms) / 1e3 : 0.0,
                   3);
    else
        json_null(json, "ran_s");
    add_time(json, "limit_s", j->limit_ms);
}

static void add_output(struct json *json, const struct site_job *j)
{
    CLEANUP(str_done) struct str name = STR_INIT(WORDS_MOST);

    if (j->pending_tasks)
        return;
    str_add(&name, "slurm-");
    slurm_words_label(j, &name);
    str_add(&name, ".out");
    add_words(json, "output", &name);
}

static void add_job(struct json *json, struct slurm_words *w, const struct site_job *j)
{
    CLEANUP(str_done)
    struct str label = STR_INIT(WORDS_MOST), why = STR_INIT(WORDS_MOST),
               place = STR_INIT(WORDS_MOST);

    slurm_words_label(j, &label);
    slurm_words_why(w, j, &why);
    slurm_words_place(w->site, j, &place);
    json_object(json, NULL);
    add_words(json, "job", &label);
    json_int(json, "id", j->id);
    if (j->array)
        json_int(json, "array", j->array);
    if (j->array && j->task != SITE_NO_TASK)
        json_int(json, "task", j->task);
    json_string(json, "name", j->name);
    json_string(json, "user", j->user);
    add_some(json, "team", j->account);
    add_some(json, "class", j->qos);
    json_string(json, "partition", j->partition);
    json_string(json, "state", slurm_words_state(j));
    json_int(json, "priority", j->priority);
    json_int(json, "devices", j->devices);
    json_int(json, "cpus", j->cpus);
    json_bool(json, "requeue", j->requeue);
    add_times(json, j, w->now_ms);
    if (j->after)
        json_string(json, "after", j->after);
    add_words(json, "place", &place);
    json_null(json, "exit");
    add_output(json, j);
    str_fail(json->out, str_error(&why));
    json_string(json, "reason", str_text(&why));
    json_end(json);
}

size_t slurm_show_jobs(const struct site *s, const struct slurm_jobs_shown *what, int64_t now_ms,
                       struct str *out, int64_t *next)
{
    struct json json = JSON_INIT(out);
    struct slurm_words w;
    size_t n = 0;

    *next = 0;
    slurm_words_begin(&w, s, now_ms);
    json_object(&json, NULL);
    json_string(&json, "schema", "brim.jobs.v1");
    json_int(&json, "version", 1);
    json_string(&json, "engine", "slurm");
    add_some(&json, "cluster", s->cluster);
    json_string(&json, "gives", w.devices ? "devices" : "CPUs");
    json_int(&json, "slots", w.devices);
    json_array(&json, "jobs");
    for (size_t i = 0; i < s->n_jobs && *next == 0; i++) {
        if (!is_asked_for(&s->jobs[i], what))
            continue;
        if (n == what->most) {
            *next = s->jobs[i].id;
        } else {
            add_job(&json, &w, &s->jobs[i]);
            n++;
        }
    }
    json_end(&json);
    json_end(&json);
    return n;
}
