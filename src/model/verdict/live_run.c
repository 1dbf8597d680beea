#include "model/verdict/live_run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_read.h"
#include "base/utf8.h"

static const char schema[] = "brim.live_run.v1";

const struct live_run live_run_none = {
    .uid = -1,
    .ranks = (double)NAN,
    .steps = (double)NAN,
    .steps_per_s = (double)NAN,
    .samples_per_s = (double)NAN,
    .split = { (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN,
               (double)NAN, (double)NAN },
    .share = (double)NAN,
};

void live_run_text(char *to, size_t size, const char *from)
{
    size_t n = 0;

    while (*from) {
        uint32_t code;
        size_t len = utf8_decode(from, &code);
        bool shown = code && !utf8_is_control(code);

        if (n + (shown ? len : 1) >= size)
            break;
        memcpy(to + n, shown ? from : "?", shown ? len : 1);
        n += shown ? len : 1;
        from += len;
    }
    to[n] = '\0';
}

/* ---- writing ---- */

static void add_text(struct json *j, const char *key, const char *text)
{
    json_string(j, key, *text ? text : NULL);
}

void live_run_write(const struct live_run *r, struct str *out)
{
    struct json j = { .out = out, .compact = true };

    json_object(&j, NULL);
    json_string(&j, "schema", schema);
    json_string(&j, "id", r->id);
    json_string(&j, "name", r->name);
    json_string(&j, "user", r->user);
    if (r->slurm_job)
        json_int(&j, "slurm_job", r->slurm_job);
    json_int(&j, "since_ms", r->since_ms);
    json_round(&j, "ranks", r->ranks, 0);
    json_round(&j, "steps", r->steps, 0);
    json_number(&j, "steps_per_s", r->steps_per_s, 4);
    json_number(&j, "samples_per_s", r->samples_per_s, 4);
    json_array(&j, "split");
    for (unsigned i = 0; i < BRIM_STAGES; i++)
        json_round(&j, NULL, r->split[i], 4);
    json_end(&j);
    json_int(&j, "severity", (int64_t)r->severity);
    add_text(&j, "cause", r->cause);
    json_bool(&j, "limited", r->limited);
    json_round(&j, "share", r->share, 4);
    add_text(&j, "sentence", r->sentence);
    add_text(&j, "action", r->action);
    add_text(&j, "trying", r->trying);
    json_int(&j, "pid_space", (int64_t)r->pid_space);
    json_array(&j, "pids");
    for (size_t i = 0; i < r->n_pids; i++)
        json_int(&j, NULL, r->pids[i]);
    json_end(&j);
    json_end(&j);
}

/* ---- reading ---- */

static double number_of(const struct json_value *v, double most)
{
    if (!v || v->kind != JSON_NUMBER || v->number < 0 || v->number > most)
        return (double)NAN;
    return v->number;
}

static void read_text(const struct json_value *root, const char *key, char *to, size_t size)
{
    const struct json_value *v = json_get(root, key);

    live_run_text(to, size, v && v->kind == JSON_STRING ? v->text : "");
}

static void read_numbers(const struct json_value *root, struct live_run *r)
{
    static const double many = 1e15, rates = 1e12;
    const struct json_value *split = json_get(root, "split");
    const double since = number_of(json_get(root, "since_ms"), many);
    const double severity = number_of(json_get(root, "severity"), SEVERITY_CRITICAL);
    const struct json_value *limited = json_get(root, "limited");
    const double job = number_of(json_get(root, "slurm_job"), UINT32_MAX);

    r->slurm_job = isnan(job) ? 0 : (uint32_t)job;
    r->since_ms = isnan(since) ? 0 : (int64_t)since;
    r->severity = isnan(severity) ? SEVERITY_NOTE : (enum severity)severity;
    r->ranks = number_of(json_get(root, "ranks"), many);
    r->steps = number_of(json_get(root, "steps"), many);
    r->steps_per_s = number_of(json_get(root, "steps_per_s"), rates);
    r->samples_per_s = number_of(json_get(root, "samples_per_s"), rates);
    r->share = number_of(json_get(root, "share"), 1);
    r->limited = limited && limited->kind == JSON_BOOL && limited->boolean;
    if (split && split->kind == JSON_ARRAY)
        for (size_t i = 0; i < split->n_items && i < BRIM_STAGES; i++)
            r->split[i] = number_of(&split->items[i], 1);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return COMPARE(*x, *y);
}

static void read_pids(const struct json_value *root, struct live_run *r)
{
    static const double most = 1 << 30;
    const struct json_value *space = json_get(root, "pid_space"), *pids = json_get(root, "pids");

    if (space && space->kind == JSON_NUMBER && space->is_whole && space->whole > 0)
        r->pid_space = (uint64_t)space->whole;
    for (size_t i = 0; pids && pids->kind == JSON_ARRAY && i < pids->n_items; i++) {
        const double pid = number_of(&pids->items[i], most);

        if (pid >= 1 && r->n_pids < LIVE_RUN_PIDS)
            r->pids[r->n_pids++] = (uint32_t)pid;
    }
    qsort(r->pids, r->n_pids, sizeof(r->pids[0]), by_number);
}

bool live_run_has(const struct live_run *r, uint64_t pid, uint64_t uid)
{
    const uint32_t key = (uint32_t)pid;

    return r->uid >= 0 && (r->uid == 0 || (uint64_t)r->uid == uid) && key == pid &&
           bsearch(&key, r->pids, r->n_pids, sizeof(key), by_number) != NULL;
}

int live_run_read(struct live_run *ret, const char *text, size_t len)
{
    CLEANUP(arena_done) struct arena a = ARENA_INIT;
    const struct json_value *root, *of;
    struct live_run r = live_run_none;
    int rc;

    if (len > LIVE_RUN_FILE)
        return -EINVAL;
    rc = json_read(&root, &a, "", text, len, NULL);
    if (rc < 0)
        return rc;
    of = json_get(root, "schema");
    if (!of || of->kind != JSON_STRING || strcmp(of->text, schema) != 0)
        return -EINVAL;
    read_text(root, "id", r.id, sizeof(r.id));
    read_text(root, "name", r.name, sizeof(r.name));
    read_text(root, "user", r.user, sizeof(r.user));
    read_text(root, "cause", r.cause, sizeof(r.cause));
    read_text(root, "sentence", r.sentence, sizeof(r.sentence));
    read_text(root, "action", r.action, sizeof(r.action));
    read_text(root, "trying", r.trying, sizeof(r.trying));
    read_numbers(root, &r);
    read_pids(root, &r);
    if (!r.id[0] || !r.name[0])
        return -EINVAL;
    r.limited = r.limited && r.sentence[0];
    *ret = r;
    return 0;
}

/* Whose sentence stands there already is left for one that it costs a tenth of its time more. */
static double cost_of(const struct live_run *r, const char *before)
{
    return (isnan(r->share) ? 0 : r->share) + (strcmp(r->id, before) ? 0 : 0.1);
}

const struct live_run *live_run_worst(const struct live_run *runs, size_t n, const char *before)
{
    const struct live_run *worst = NULL;

    for (size_t i = 0; i < n; i++) {
        const struct live_run *r = &runs[i];

        if (!r->limited)
            continue;
        if (!worst || r->severity > worst->severity ||
            (r->severity == worst->severity && cost_of(r, before) > cost_of(worst, before)))
            worst = r;
    }
    return worst;
}
