#include "daemon/finished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/finished_json.h"
#include "daemon/questions.h"
#include "daemon/trusted_path.h"
#include "diagnose/verdict/judge.h"
#include "render/report/beside.h"
#include "render/report/report.h"

enum { LIST_MAX = 8 << 20, ANSWER_MAX = 4 << 20, LIMIT = 20, LIMIT_MAX = 100 };

/* How many folders one question looks into for each run that it wants: some hold none. */
enum { LOOKED = 10 };

struct finished {
    struct questions questions;
    struct run_folders folders;
};

struct asked {
    struct question question; /* the first member */
    const struct run_folders *folders;
    char a[RUN_KEY], b[RUN_KEY];
    int limit;
};

/* A run with what was judged of it. */
struct judged {
    struct run run, earlier; /* earlier: without an id where there is none */
    struct verdict verdict;
};

static void judged_done(struct judged *j)
{
    verdict_done(&j->verdict);
    run_done(&j->earlier);
    run_done(&j->run);
}

/* ---- answers, in the other thread ---- */

/* Add a run to the list, unless it goes on or nothing is stored of it. 1: it was added. */
static int add_run(const struct asked *q, const char *key, struct finished_json *list)
{
    CLEANUP(judged_done) struct judged j = { .verdict = { .sentence = NULL } };
    uid_t owner = 0;
    int rc = run_folders_load(q->folders, key, true, &j.run, &owner, NULL);

    if (rc == 0 && j.run.end == RUN_RUNNING)
        return 0;
    if (rc == 0)
        rc = judge_run(&j.run, NULL, &j.verdict);
    if (rc == 0)
        rc = finished_json_run(list, key, &j.run, (int64_t)owner, &j.verdict);
    if (rc == 0 || rc == -ENOMEM)
        return rc == 0 ? 1 : rc;
    if (rc != -ENODATA && rc != -ENOENT) /* its observer found the disk full; it was removed */
        list->unreadable++;
    return 0;
}

static int answer_list(struct question *asked, struct str *out, struct err *e)
{
    CLEANUP(str_done) struct str keys = STR_INIT(LIST_MAX);
    struct finished_json list = FINISHED_JSON_INIT(out);
    const struct asked *q = (const struct asked *)asked;
    const char *last = NULL, *key;
    int added = 0, looked = 0, rc = run_folders_list(q->folders, &keys, &list.unread);

    if (rc < 0)
        return err_nomem(e);
    finished_json_begin(&list, q->folders->n > 0);
    for (key = str_text(&keys); rc >= 0 && key < str_text(&keys) + keys.len;
         key += strlen(key) + 1) {
        if (*q->a && run_folders_compare(key, q->a) <= 0)
            continue;
        if (added == q->limit || looked++ == LOOKED * q->limit)
            break;
        last = key;
        rc = add_run(q, key, &list);
        added += rc > 0;
    }
    finished_json_end(&list, key < str_text(&keys) + keys.len ? last : NULL);
    finished_json_done(&list);
    return rc < 0 ? err_nomem(e) : 0;
}

static int load(const struct asked *q, const char *key, bool earlier, struct judged *j,
                struct err *e)
{
    uid_t owner;
    int rc = run_folders_load(q->folders, key, true, &j->run, &owner, e);

    if (rc == 0 && earlier)
        rc = run_folders_load_earlier(q->folders, key, &j->run, &j->earlier, e);
    if (rc < 0)
        return rc == -EINVAL || rc == -ENODATA ? -ENOENT : rc;
    rc = judge_run(&j->run, j->earlier.id ? &j->earlier : NULL, &j->verdict);
    return rc < 0 ? err_nomem(e) : 0;
}

static int answer_report(struct question *asked, struct str *out, struct err *e)
{
    CLEANUP(judged_done) struct judged j = { .verdict = { .sentence = NULL } };
    const struct asked *q = (const struct asked *)asked;
    int rc = load(q, q->a, true, &j, e);

    if (rc == 0)
        report_html(&j.run, &j.verdict, j.earlier.id ? &j.earlier : NULL, out);
    return rc;
}

static int answer_beside(struct question *asked, struct str *out, struct err *e)
{
    CLEANUP(judged_done) struct judged a = { .verdict = { .sentence = NULL } };
    CLEANUP(judged_done) struct judged b = { .verdict = { .sentence = NULL } };
    const struct asked *q = (const struct asked *)asked;
    int rc = load(q, q->a, false, &a, e);

    if (rc == 0)
        rc = load(q, q->b, false, &b, e);
    if (rc == 0)
        report_beside(&a.run, &a.verdict, &b.run, &b.verdict, out);
    return rc;
}

/* ---- what is asked ---- */

/* A key of the query: false when it is too long to be one, or missing where it must be there. */
static bool key_of(const struct http_call *call, const char *name, bool needed, char out[RUN_KEY])
{
    const char *given = http_query(call, name);

    if (!given ? needed : strlen(given) >= RUN_KEY)
        return false;
    memcpy(out, given ? given : "", given ? strlen(given) + 1 : 1);
    return true;
}

static struct asked *asked_new(struct finished *f, struct http_call *call,
                               int (*answer)(struct question *q, struct str *out, struct err *e))
{
    struct asked *q = calloc(1, sizeof(*q));

    if (!q) {
        questions_refuse(call, "out of memory\n");
        return NULL;
    }
    q->folders = &f->folders;
    q->question.answer = answer;
    q->question.call = call;
    q->question.out = (struct str)STR_INIT(ANSWER_MAX);
    return q;
}

static void ask(struct finished *f, struct asked *q, bool good, const char *sentence)
{
    if (good) {
        questions_ask(&f->questions, &q->question);
        return;
    }
    questions_refuse(q->question.call, sentence);
    free(q);
}

void finished_list(struct finished *f, struct http_call *call)
{
    int64_t limit = questions_number(call, "limit", LIMIT, LIMIT_MAX);
    struct asked *q = asked_new(f, call, answer_list);

    if (!q)
        return;
    q->limit = (int)limit;
    ask(f, q, limit > 0 && key_of(call, "before", false, q->a),
        "limit must be a whole number from 1 to 100, and before a run's key\n");
}

void finished_report(struct finished *f, struct http_call *call)
{
    struct asked *q = asked_new(f, call, answer_report);

    if (q)
        ask(f, q, key_of(call, "run", true, q->a),
            "run must be a run's key: /api/v1/runs lists them\n");
}

void finished_beside(struct finished *f, struct http_call *call)
{
    struct asked *q = asked_new(f, call, answer_beside);

    if (q)
        ask(f, q, key_of(call, "a", true, q->a) && key_of(call, "b", true, q->b),
            "a and b must be two runs' keys: /api/v1/runs lists them\n");
}

/* ---- the whole ---- */

int finished_open(struct finished **ret, uv_loop_t *loop, struct run_folders folders, struct err *e)
{
    struct finished *f;

    for (size_t i = 0; i < folders.n; i++) {
        struct err why = { "" };
        CLEANUP(closep) int fd = trusted_path_open(folders.paths[i], &why);

        if (fd < 0 && fd != -ENOENT) /* no run was kept there yet */
            return err_set(e, fd, "--runs: %s", why.text);
    }
    f = calloc(1, sizeof(*f));
    if (!f)
        return err_nomem(e);
    f->questions.loop = loop;
    f->folders = folders;
    *ret = f;
    return 0;
}

void finished_end(struct finished *f)
{
    if (f)
        questions_end(&f->questions);
}

bool finished_busy(const struct finished *f)
{
    return f && questions_busy(&f->questions);
}

void finished_close(struct finished *f)
{
    free(f);
}
