#include "base/json.h"
#include "queue/job/idle_history.h"
#include "queue/queue_private.h"

static void add_time(struct json *json, const char *key, int64_t ms)
{
    if (ms > 0)
        json_round(json, key, (double)ms / 1e3, 3);
    else
        json_null(json, key);
}

/* How busy a job keeps its devices, where somebody looks. */
static void add_use(struct json *json, const struct queue_job *j, int64_t now_ms)
{
    int64_t idle_ms = idle_history_idle_ms(j, now_ms);

    if (j->milli >= 0)
        json_round(json, "use", (double)j->milli / WORK_WHOLE, 3);
    else
        json_null(json, "use");
    add_time(json, "idle_s", idle_ms ? MAX(now_ms - idle_ms, 1) : 0);
    add_time(json, "told", j->told_ms);
}

/* What it is to have, and has; whom it may share that with, and does. */
static void add_wants(struct json *json, const struct queue_job *j)
{
    bool runs = j->state == QUEUE_RUNNING;

    json_int(json, "devices", j->devices);
    if (j->least > 0)
        json_int(json, "min_devices", j->least);
    if (j->least > 0 && runs)
        json_int(json, "has", queue_slots_count(j->slots));
    json_int(json, "cpus", j->cpus);
    json_bool(json, "requeue", j->requeue);
    if (j->share)
        json_bool(json, "share", true);
    if (j->memory_b > 0)
        json_round(json, "memory_gb", (double)j->memory_b / 1e9, 3);
    if (j->host && runs && !*j->next)
        json_int(json, "beside", j->host);
}

void queue_show_job(struct json *json, const struct queue_job *j, const char *sharing,
                    int64_t now_ms)
{
    CLEANUP(str_done) struct str label = STR_INIT(48);
    bool runs = j->state == QUEUE_RUNNING;
    int64_t ran_ms = j->ran_ms + (runs && now_ms > j->since_ms ? now_ms - j->since_ms : 0);

    queue_job_label(j, &label);
    str_fail(json->out, str_error(&label));
    json_object(json, NULL);
    json_string(json, "job", str_text(&label));
    json_int(json, "id", j->id);
    if (j->task >= 0) {
        json_int(json, "array", j->array);
        json_int(json, "task", j->task);
    }
    json_string(json, "name", j->name);
    json_string(json, "user", j->user);
    json_string(json, "team", *j->team ? j->team : NULL);
    json_string(json, "class", *j->class ? j->class : NULL);
    json_string(json, "state", queue_job_word(j));
    json_int(json, "priority", j->priority);
    add_wants(json, j);
    json_int(json, "attempts", j->attempt);
    add_time(json, "submitted", j->submit_ms);
    add_time(json, "started", j->start_ms);
    add_time(json, "ended", j->end_ms);
    json_round(json, "ran_s", (double)ran_ms / 1e3, 3);
    add_time(json, "limit_s", j->limit_ms);
    add_time(json, "deadline", j->deadline_ms);
    if (*j->after)
        json_string(json, "after", j->after);
    json_string(json, "place", *j->place ? j->place : NULL);
    if (runs)
        add_use(json, j, now_ms);
    if (*sharing)
        json_string(json, "sharing", sharing);
    if (*j->stopped)
        json_string(json, "stopped", j->stopped);
    if (j->state == QUEUE_ENDED && j->outcome != QUEUE_NEVER && j->outcome != QUEUE_LOST &&
        j->attempt > 0)
        json_int(json, "exit", queue_exit(j->status));
    else
        json_null(json, "exit");
    json_string(json, "reason", j->reason);
    json_end(json);
}
