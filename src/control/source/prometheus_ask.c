#include "control/source/prometheus_ask.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ask/ask.h"

enum { PATH_MAX_B = 3 * PROMETHEUS_QUERY_MAX + 512 };

/* One question. */
struct question {
    const struct prometheus_config *config;
    const struct site *site;
    struct arena *arena;
    struct node_answer **of; /* of nodes that are asked about */
    uv_loop_t loop;
    int rc; /* of reading the answer */
    struct err wrong;
    bool read; /* it is what it should be */
};

static void on_answered(void *ctx, size_t node, unsigned status, const char *text, size_t len)
{
    struct question *q = ctx;
    CLEANUP(str_done) struct str words = STR_INIT(sizeof(q->wrong.text));

    (void)node;
    if (status == 200) {
        const struct prometheus_text t = { text, len, clock_wall_ns(q->config->clock) / NS_PER_MS };

        q->rc = prometheus_read(q->site, q->of, q->arena, &t, &q->wrong);
        q->read = q->rc == 0;
        return;
    }
    prometheus_refusal(status, text, len, &words);
    q->rc = err_set(&q->wrong, -EPROTO, "%s", str_text(&words));
}

static void on_done(void *ctx)
{
    uv_stop(&((struct question *)ctx)->loop);
}

/* What is wrong when there was no answer. */
static void name_fault(struct question *q, const struct node_answer *a)
{
    switch (a->fault) {
    case NODE_ANSWERED:
        break;
    case NODE_NO_NAME:
        err_set(&q->wrong, 0, "is not there: nobody knows this name");
        break;
    case NODE_NO_LOOKUP:
        err_set(&q->wrong, 0, "cannot be found: the name service does not answer");
        break;
    case NODE_REFUSED:
        err_set(&q->wrong, 0, "is not there: nothing listens on port %u",
                q->config->place->at.nodes[0].port);
        break;
    case NODE_NO_WAY:
        err_set(&q->wrong, 0, "cannot be reached: %s", strerror(a->error));
        break;
    case NODE_SILENT:
        err_set(&q->wrong, 0, "does not answer within %.0f s",
                clock_seconds(q->config->patience_ns));
        break;
    case NODE_CLOSED:
        err_set(&q->wrong, 0, "ends the connection before its answer is whole");
        break;
    case NODE_HERE:
        err_set(&q->wrong, 0, "could not be asked from here: %s", strerror(a->error));
        break;
    default:
        if (a->error == EFBIG)
            err_set(&q->wrong, 0, "answers with more than %d MiB: let the query give less",
                    PROMETHEUS_ANSWER_MAX >> 20);
        else
            err_set(&q->wrong, 0, "is none: what answers there does not speak HTTP");
    }
}

static int make_answers(struct question *q, const bool *which)
{
    size_t n = q->site->n_nodes;

    q->of = arena_alloc(q->arena, n * sizeof(const void *));
    if (!q->of)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        q->of[i] = which[i] ? arena_alloc(q->arena, sizeof(**q->of)) : NULL;
        if (which[i] && !q->of[i])
            return -ENOMEM;
    }
    return 0;
}

/* When nothing was read all of them have the same sentence. */
static int blame(struct question *q)
{
    char *why = arena_printf(q->arena, "Prometheus (%s) %s", q->config->place->shown,
                             q->wrong.text);

    if (!why)
        return -ENOMEM;
    if (strlen(why) >= PROMETHEUS_WHY)
        why[PROMETHEUS_WHY - 1] = '\0';
    for (size_t i = 0; i < q->site->n_nodes; i++)
        if (q->of[i])
            *q->of[i] = (struct node_answer){ .fault = NODE_UNTOLD, .why = why };
    return 0;
}

static int ask(struct question *q, struct err *e)
{
    CLEANUP(str_done) struct str path = STR_INIT(PATH_MAX_B);
    struct ask_page page = { NULL, q->config->login, PROMETHEUS_ANSWER_MAX, on_answered };
    const struct ask_config config = { .nodes = &q->config->place->at,
                                       .page = &page,
                                       .at_once = 1,
                                       .patience_ns = q->config->patience_ns,
                                       .done = on_done,
                                       .ctx = q };
    CLEANUP(ask_closep) struct ask *k = NULL;
    int rc;

    prometheus_path(q->config->place, q->config->query, &path);
    if (str_error(&path))
        return err_nomem(e);
    page.path = str_text(&path);
    rc = ask_open(&k, &q->loop, &config, e);
    if (rc < 0)
        return rc;
    ask_begin(k);
    uv_run(&q->loop, UV_RUN_DEFAULT);
    name_fault(q, ask_answers(k));
    ask_end(k);
    uv_run(&q->loop, UV_RUN_DEFAULT);
    return 0;
}

int prometheus_ask(struct prometheus_answers *p, const struct prometheus_config *config,
                   const struct site *site, const bool *which, const struct node_answer **of,
                   struct err *e)
{
    struct question q = { .config = config, .site = site, .arena = &p->arena };
    bool any = false;
    int rc;

    prometheus_answers_done(p);
    for (size_t i = 0; i < site->n_nodes; i++) {
        of[i] = NULL;
        any = any || which[i];
    }
    if (!any)
        return 0;
    if (make_answers(&q, which) < 0)
        return err_nomem(e);
    rc = uv_loop_init(&q.loop);
    if (rc < 0)
        return err_set(e, rc, "cannot ask Prometheus: %s", uv_strerror(rc));
    rc = ask(&q, e);
    (void)uv_loop_close(&q.loop);
    if (rc < 0 || q.rc == -ENOMEM)
        return rc < 0 ? rc : err_nomem(e);
    if (!q.read && blame(&q) < 0)
        return err_nomem(e);
    for (size_t i = 0; i < site->n_nodes; i++)
        of[i] = q.of[i];
    return 0;
}

void prometheus_answers_done(struct prometheus_answers *p)
{
    arena_done(&p->arena);
    *p = (struct prometheus_answers){ ARENA_INIT };
}

/* ---- what it asks for ---- */

static void add_base64(const char *text, struct str *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = strlen(text);

    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = 0;
        size_t have = MIN(len - i, 3);

        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < have ? (uint8_t)text[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            str_add_char(out, (char)(k <= have ? digits[bits >> (18 - 6 * k) & 63] : '='));
    }
}

int prometheus_login(const char *token, struct str *out, struct err *e)
{
    for (const char *c = token; *c; c++)
        if (*c <= ' ' || *c > '~')
            return err_set(e, -EINVAL,
                           "what Prometheus asks for has signs that are no letters, digits or "
                           "signs of ASCII");
    if (!strchr(token, ':')) {
        str_addf(out, "Bearer %s", token);
    } else {
        str_add(out, "Basic ");
        add_base64(token, out);
    }
    return str_error(out) ? err_nomem(e) : 0;
}
