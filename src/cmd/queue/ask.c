#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/conf.h"
#include "cmd/queue/queue_client.h"
#include "queue/client.h"
#include "queue/job/job.h"
#include "run/job/environ.h"

enum { PATH_TEXT = 4096 };

/* Where root keeps one for all users. */
static const char of_machine[] = "/var/lib/brim/queue";

const char *queue_client_folder(struct arena *a, const char *named)
{
    char *const *env = conf_environment();
    char path[PATH_TEXT], host[256];
    const char *name;

    if (named && *named != '/' && getcwd(path, sizeof(path)))
        return arena_printf(a, "%s/%s", path, named);
    if (named)
        return named;
    if (!environ_get(env, "STATE_DIRECTORY") && geteuid() != 0 && queue_is_shared(of_machine))
        return of_machine;
    if (environ_get(env, "STATE_DIRECTORY") || geteuid() == 0)
        return conf_state(a, "queue");
    if (gethostname(host, sizeof(host)) < 0 || strchr(host, '/'))
        return conf_state(a, "queue");
    host[sizeof(host) - 1] = 0;
    name = arena_printf(a, "queue-%s", host);
    return name ? conf_state(a, name) : NULL;
}

int queue_client_label(const char *label, struct err *e)
{
    int64_t id;
    int32_t task;

    return err_usage_of(queue_label_read(label, &id, &task, e));
}

int queue_client_jobs(const char *folder, const char *label, int64_t since_ms, struct str *answer,
                      struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX);

    wire_add(&request, "verb", "jobs");
    if (label)
        wire_add(&request, "job", label);
    wire_add_int(&request, "since", since_ms);
    return queue_ask(folder, &request, answer, e);
}

int queue_client_wait(const char *folder, int64_t id, struct str *answer, struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX);

    wire_add(&request, "verb", "wait");
    wire_add_int(&request, "job", id);
    return queue_wait(folder, &request, answer, e);
}

int queue_client_read(const struct json_value **jobs, struct arena *a, const struct str *answer,
                      struct err *e)
{
    const char *text = wire_get(answer, "text");
    const struct json_value *root;
    int rc = json_read(&root, a, "the engine's answer", text ? text : "", text ? strlen(text) : 0,
                       e);

    if (rc < 0)
        return rc;
    *jobs = json_get(root, "jobs");
    if (!*jobs || (*jobs)->kind != JSON_ARRAY)
        return err_set(e, -EPROTO, "the engine's answer is damaged");
    return 0;
}

const char *queue_client_text(const struct json_value *job, const char *key)
{
    const struct json_value *v = json_get(job, key);

    return v && v->kind == JSON_STRING ? v->text : "";
}

double queue_client_number(const struct json_value *job, const char *key)
{
    const struct json_value *v = json_get(job, key);

    return v && v->kind == JSON_NUMBER ? v->number : (double)NAN;
}
