#include <errno.h>
#include <math.h>
#include <stdio.h>
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

int queue_client_check_folder(const char *named, const char *folder, struct err *e)
{
    size_t len = strlen(folder);
    char above[PATH_TEXT];

    while (len > 0 && folder[len - 1] == '/')
        len--;
    while (len > 0 && folder[len - 1] != '/')
        len--;
    if (!named || len == 0 || len >= sizeof(above))
        return 0;
    snprintf(above, sizeof(above), "%.*s", MAX((int)len - 1, 1), folder);
    if (access(above, F_OK) == 0 || errno != ENOENT)
        return 0; /* who opens it says what is wrong */
    return err_set(e, -ENOENT,
                   "--directory %s: there is no folder %s: make it, or name another folder", named,
                   above);
}

int queue_client_label(const char *label, struct err *e)
{
    int64_t id;
    int32_t task;

    return err_usage_of(queue_label_read(label, &id, &task, e));
}

int queue_client_job(const char *folder, const char *label, struct str *answer, struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX);

    wire_add(&request, "verb", "jobs");
    wire_add(&request, "job", label);
    return queue_ask(folder, &request, answer, e);
}

/* Add the jobs of a page to those before: of the first one also what stands in front of them. No
 * text in it holds a newline. */
static int add_page(struct str *to, const char *page, bool first, struct err *e)
{
    static const char mark[] = "\n  \"jobs\": [";
    const char *begin = page ? strstr(page, mark) : NULL, *end = begin ? strrchr(begin, ']') : NULL;

    if (!end)
        return err_set(e, -EPROTO, page ? QUEUE_BAD_ANSWER : QUEUE_NO_ANSWER);
    begin += strlen(mark);
    while (end > begin && (end[-1] == ' ' || end[-1] == '\n'))
        end--;
    if (first)
        str_add_n(to, page, (size_t)(begin - page));
    else if (end > begin && str_text(to)[to->len - 1] != '[')
        str_add_char(to, ',');
    str_add_n(to, begin, (size_t)(end - begin));
    return 0;
}

/* One page: how many jobs it has. */
static int64_t ask_page(const char *folder, const struct queue_listing *what, struct str *answer,
                        struct err *e)
{
    CLEANUP(str_done) struct str request = STR_INIT(WIRE_MAX);
    int rc;

    wire_add(&request, "verb", "jobs");
    wire_add_int(&request, "since", what->since_ms);
    wire_add_int(&request, "from", what->from);
    wire_add_int(&request, "most", (int64_t)MIN(what->most, (uint64_t)INT32_MAX));
    if (what->user)
        wire_add(&request, "user", what->user);
    str_reset(answer);
    rc = queue_ask(folder, &request, answer, e);
    return rc < 0 ? rc : wire_int(answer, "n", 0);
}

int queue_client_jobs(const char *folder, const struct queue_listing *what, struct str *answer,
                      int64_t *next, struct err *e)
{
    CLEANUP(str_done) struct str text = STR_INIT(WIRE_MAX - PATH_TEXT);
    struct queue_listing page = *what;
    int rc = 0;

    do {
        int64_t n = ask_page(folder, &page, answer, e);

        if (n < 0)
            return (int)n;
        rc = add_page(&text, wire_get(answer, "text"), text.len == 0, e);
        page.from = wire_int(answer, "next", 0);
        page.most -= MIN((uint64_t)n, page.most);
    } while (rc == 0 && page.from > 0 && page.most > 0);
    if (rc < 0)
        return rc;
    str_add(&text, str_text(&text)[text.len - 1] == '[' ? "]\n}\n" : "\n  ]\n}\n");
    if (str_error(&text) == -ENOMEM)
        return err_nomem(e);
    if (str_error(&text) < 0)
        return err_set(e, -EFBIG, "too many jobs to list: ask for fewer with --most");
    str_reset(answer);
    wire_add(answer, "text", str_text(&text));
    *next = page.from;
    return 0;
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
    int rc;

    if (!text || !*text)
        return err_set(e, -EPIPE, QUEUE_NO_ANSWER);
    rc = json_read(&root, a, "", text, strlen(text), NULL);
    if (rc == -ENOMEM)
        return err_nomem(e);
    if (rc < 0)
        return err_set(e, rc, QUEUE_BAD_ANSWER);
    *jobs = json_get(root, "jobs");
    if (!*jobs || (*jobs)->kind != JSON_ARRAY)
        return err_set(e, -EPROTO, QUEUE_BAD_ANSWER);
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
