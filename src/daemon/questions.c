#include "daemon/questions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

static void on_work(uv_work_t *w)
{
    struct question *q = w->data;

    q->rc = q->answer(q, &q->out, &q->err);
    if (q->rc == 0)
        q->rc = str_error(&q->out);
}

static void start(struct questions *all);

static void on_done(uv_work_t *w, int status)
{
    struct question *q = w->data;
    struct questions *all = q->all;

    if (status < 0 && q->rc == 0)
        q->rc = err_set(&q->err, -ECANCELED, "%s", uv_strerror(status));
    if (q->rc == 0) {
        http_reply(q->call, 200, NULL, str_text(&q->out), q->out.len);
    } else {
        const char *why = *q->err.text ? q->err.text : strerror(-q->rc);

        str_reset(&q->out);
        str_addf(&q->out, "%s\n", why);
        http_reply(q->call, q->rc == -ENOENT ? 404 : 503, "text/plain; charset=utf-8",
                   str_text(&q->out), q->out.len);
    }
    all->first = q->next;
    if (!all->first)
        all->last = NULL;
    str_done(&q->out);
    free(q);
    start(all);
}

static void start(struct questions *all)
{
    if (all->first && all->ending)
        on_done(&all->first->work, UV_ECANCELED);
    else if (all->first && uv_queue_work(all->loop, &all->first->work, on_work, on_done) < 0)
        on_done(&all->first->work, UV_ENOMEM);
}

void questions_ask(struct questions *all, struct question *q)
{
    q->all = all;
    q->work.data = q;
    if (all->last)
        all->last->next = q;
    else
        all->first = q;
    all->last = q;
    if (all->first == q)
        start(all);
}

bool questions_busy(const struct questions *all)
{
    return all->first;
}

void questions_end(struct questions *all)
{
    all->ending = true;
}

void questions_refuse(struct http_call *call, const char *sentence)
{
    http_reply(call, 400, "text/plain; charset=utf-8", sentence, strlen(sentence));
}

int64_t questions_number(const struct http_call *call, const char *name, int64_t otherwise,
                         int64_t max)
{
    const char *text = http_query(call, name);
    uint64_t n;

    if (!text)
        return otherwise;
    return parse_u64(text, &n) < 0 || n < 1 || n > (uint64_t)max ? -1 : (int64_t)n;
}
