/* Questions that take time, in a loop and with answers of the test's own: their order, what is said
 * of a failure, and who is refused at the end. */
#include "daemon/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

enum { ANSWERS = 8, ROOM = 64 };

/* What was answered, in its order. */
static struct {
    unsigned status;
    char type[32], text[ROOM];
} answers[ANSWERS];
static size_t n_answers;
static const char *query; /* of every parameter */

void __wrap_http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                       size_t len);
const char *__wrap_http_query(const struct http_call *call, const char *name);

void __wrap_http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                       size_t len)
{
    (void)call;
    answers[n_answers].status = status;
    snprintf(answers[n_answers].type, sizeof(answers[0].type), "%s", type ? type : "(own)");
    snprintf(answers[n_answers++].text, ROOM, "%.*s", (int)len, text);
}

const char *__wrap_http_query(const struct http_call *call, const char *name)
{
    (void)call;
    (void)name;
    return query;
}

struct asked {
    struct question question; /* the first member */
    const char *text;
    int rc;
};

/* What it is asked for: a text, or a failure with one. */
static int answer(struct question *q, struct str *out, struct err *e)
{
    const struct asked *a = (const struct asked *)q;

    str_add(out, a->text);
    if (a->rc < 0 && *a->text)
        return err_set(e, a->rc, "%s", a->text);
    return a->rc;
}

static void put(struct questions *all, const char *text, int rc, size_t room)
{
    struct asked *a = calloc(1, sizeof(*a));

    if (!a) {
        printf("Bail out! out of memory\n");
        exit(1);
    }
    a->question.answer = answer;
    a->question.out = (struct str)STR_INIT(room);
    a->text = text;
    a->rc = rc;
    questions_ask(all, &a->question);
}

static void run(struct questions *all)
{
    while (questions_busy(all))
        uv_run(all->loop, UV_RUN_ONCE);
}

static void check(size_t i, unsigned status, const char *type, const char *text)
{
    ok(i < n_answers && answers[i].status == status, "answer %zu is %u", i, status);
    is_str(answers[i].type, type, "answer %zu has its type", i);
    is_str(answers[i].text, text, "answer %zu has its text", i);
}

static void test_order(uv_loop_t *loop)
{
    static const char plain[] = "text/plain; charset=utf-8";
    struct questions all = { .loop = loop };

    n_answers = 0;
    ok(!questions_busy(&all), "nobody waits before anybody asks");
    put(&all, "one", 0, ROOM);
    put(&all, "no run", -ENOENT, ROOM);
    put(&all, "broken", -EIO, ROOM);
    put(&all, "", -EACCES, ROOM);
    put(&all, "more than there is room for", 0, 20);
    put(&all, "last", 0, ROOM);
    ok(questions_busy(&all) && !n_answers, "questions wait for the loop");
    run(&all);
    is_int((long long)n_answers, 6, "each question is answered");
    check(0, 200, "(own)", "one");
    check(1, 404, plain, "no run\n");
    check(2, 503, plain, "broken\n");
    check(3, 503, plain, "Permission denied\n");
    check(4, 503, plain, "File too large\n");
    check(5, 200, "(own)", "last");
    put(&all, "again", 0, ROOM);
    run(&all);
    check(6, 200, "(own)", "again");
}

/* Those that wait are refused; the one that is being answered is finished. */
static void test_end(uv_loop_t *loop)
{
    struct questions all = { .loop = loop };

    n_answers = 0;
    put(&all, "first", 0, ROOM);
    put(&all, "second", 0, ROOM);
    put(&all, "third", 0, ROOM);
    questions_end(&all);
    run(&all);
    is_int((long long)n_answers, 3, "each question is answered at the end");
    check(0, 200, "(own)", "first");
    for (size_t i = 1; i < 3; i++)
        check(i, 503, "text/plain; charset=utf-8", "operation canceled\n");
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        int64_t want;
    } cases[] = {
        { NULL, 7 }, { "1", 1 },   { "20", 20 }, { "21", -1 },
        { "0", -1 }, { "-1", -1 }, { "x", -1 },  { "", -1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        query = cases[i].text;
        is_int(questions_number(NULL, "limit", 7, 20), cases[i].want,
               "a number from 1 to 20 that is '%s' is read", cases[i].text ? cases[i].text : "");
    }
    n_answers = 0;
    questions_refuse(NULL, "no\n");
    check(0, 400, "text/plain; charset=utf-8", "no\n");
}

int main(void)
{
    uv_loop_t loop;

    is_int(uv_loop_init(&loop), 0, "a loop is made");
    test_order(&loop);
    test_end(&loop);
    test_numbers();
    is_int(uv_loop_close(&loop), 0, "nothing is left in the loop");
    return done();
}
