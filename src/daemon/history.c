#include "daemon/history.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "daemon/questions.h"
#include "render/node/event_json.h"
#include "store/store.h"

enum { ANSWER_MAX = 16 << 20, POINTS = 2000, SECONDS_MAX = 366 * 86400, EVENTS = 1000 };

enum combine { COMBINE_SUM, COMBINE_MEAN };

/* The lines of the dashboard's charts. thing NULL: all of the set together. */
static const struct chart {
    const char *name, *set, *thing, *signal;
    bool rate;
    enum combine combine;
} charts[] = {
    { "storage", "stage", "storage", "load_ratio", false, COMBINE_MEAN },
    { "cpu", "stage", "cpu", "load_ratio", false, COMBINE_MEAN },
    { "pcie", "stage", "pcie", "load_ratio", false, COMBINE_MEAN },
    { "gpu", "stage", "gpu", "load_ratio", false, COMBINE_MEAN },
    { "network", "stage", "network", "load_ratio", false, COMBINE_MEAN },
    { "gpu_busy", "gpu", NULL, "busy_ratio", false, COMBINE_MEAN },
    { "disk_read", "disk", NULL, "read_bytes_total", true, COMBINE_SUM },
    { "disk_write", "disk", NULL, "write_bytes_total", true, COMBINE_SUM },
    { "net_rx", "net", NULL, "receive_bytes_total", true, COMBINE_SUM },
    { "net_tx", "net", NULL, "transmit_bytes_total", true, COMBINE_SUM },
};

_Static_assert(ARRAY_SIZE(charts) == (size_t)RECENT_LINES, "a line in memory for each chart");

enum { NAME = 96 };

struct past {
    struct question question; /* the first member */
    struct history *history;
    int (*answer)(struct store_reader *r, const struct past *q, struct str *out, struct err *e);
    char set[NAME], thing[NAME], signal[NAME], label[NAME];
    int64_t from_ms, to_ms, step_ms;
    int limit;
};

struct history {
    struct questions questions;
    const char *path;
    const struct recent *recent; /* what stands for the store where there is none; NULL */
    struct store_reader *reader; /* the worker's; opened with the first question */
};

/* ---- answers, in the worker ---- */

/* What one thing adds to a line. */
struct sum {
    double *values, *one;
    unsigned *counts;
    size_t n;
};

struct adding {
    struct store_reader *reader;
    struct store_query query;
    struct sum *sum;
};

static void add_values(struct sum *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(s->one[i])) {
            s->values[i] += s->one[i];
            s->counts[i]++;
        }
}

static int add_thing(void *arg, const char *thing, const char *facts)
{
    struct adding *a = arg;
    int rc;

    (void)facts;
    a->query.thing = thing;
    rc = store_series(a->reader, &a->query, a->sum->one, NULL);
    if (rc == 0)
        add_values(a->sum);
    return rc == -ENOENT ? 0 : rc;
}

static int read_chart(struct store_reader *r, const struct past *q, const struct chart *c,
                      struct sum *sum, struct err *e)
{
    struct adding a = {
        r, { c->set, c->thing, c->signal, NULL, q->from_ms, q->to_ms, q->step_ms, c->rate }, sum
    };
    int rc;

    memset(sum->values, 0, sum->n * sizeof(*sum->values));
    memset(sum->counts, 0, sum->n * sizeof(*sum->counts));
    if (c->thing) {
        rc = add_thing(&a, c->thing, NULL);
        return rc < 0 ? err_set(e, rc, "the store cannot be read: %s", strerror(-rc)) : rc;
    }
    rc = store_things(r, c->set, add_thing, &a, e);
    return rc == -ENOENT ? 0 : rc;
}

static void write_values(struct json *j, const struct sum *s, bool mean)
{
    for (size_t i = 0; i < s->n; i++)
        json_number(j, NULL, s->counts[i] ? s->values[i] / (mean ? s->counts[i] : 1) : (double)NAN,
                    6);
}

/* The same of what is in memory. */
static void read_recent(const struct recent *r, const struct past *q, size_t line, struct sum *sum)
{
    struct recent_means means = { .from_ms = q->from_ms,
                                  .step_ms = q->step_ms,
                                  .n = sum->n,
                                  .means = sum->one,
                                  .counts = sum->counts };

    memset(sum->values, 0, sum->n * sizeof(*sum->values));
    recent_series(r, (enum recent_line)line, &means);
    memset(sum->counts, 0, sum->n * sizeof(*sum->counts));
    add_values(sum);
}

static void write_times(struct json *j, const struct past *q, size_t n)
{
    json_array(j, "time");
    for (size_t i = 0; i < n; i++)
        json_int(j, NULL, q->from_ms + (int64_t)i * q->step_ms);
    json_end(j);
}

static int sum_new(struct sum *s, size_t n)
{
    *s = (struct sum){ calloc(n + 1, sizeof(double)), calloc(n + 1, sizeof(double)),
                       calloc(n + 1, sizeof(unsigned)), n };
    return s->values && s->one && s->counts ? 0 : -ENOMEM;
}

static void sum_done(struct sum *s)
{
    free(s->values);
    free(s->one);
    free(s->counts);
}

/* Of the store, or of recent where that is given; nothing without both. */
static int write_charts(struct store_reader *r, const struct recent *recent, const struct past *q,
                        struct str *out, struct err *e)
{
    const struct store_query times = { .from_ms = q->from_ms,
                                       .to_ms = q->to_ms,
                                       .step_ms = q->step_ms };
    CLEANUP(sum_done) struct sum sum = { NULL, NULL, NULL, 0 };
    struct json j = { .out = out, .compact = true };
    int rc = 0;

    if (sum_new(&sum, r || recent ? store_points(&times) : 0) < 0)
        return err_nomem(e);
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.history.v1");
    write_times(&j, q, sum.n);
    json_object(&j, "series");
    for (size_t i = 0; i < ARRAY_SIZE(charts) && rc == 0; i++) {
        if (r)
            rc = read_chart(r, q, &charts[i], &sum, e);
        else if (recent)
            read_recent(recent, q, i, &sum);
        json_array(&j, charts[i].name);
        write_values(&j, &sum, charts[i].combine == COMBINE_MEAN);
        json_end(&j);
    }
    json_end(&j);
    json_end(&j);
    return rc;
}

static int answer_charts(struct store_reader *r, const struct past *q, struct str *out,
                         struct err *e)
{
    return write_charts(r, NULL, q, out, e);
}

static int answer_series(struct store_reader *r, const struct past *q, struct str *out,
                         struct err *e)
{
    struct store_query query = { q->set,     q->thing,
                                 q->signal,  *q->label ? q->label : NULL,
                                 q->from_ms, q->to_ms,
                                 q->step_ms, strstr(q->signal, "_total") != NULL };
    CLEANUP(sum_done) struct sum sum = { NULL, NULL, NULL, 0 };
    struct json j = { .out = out, .compact = true };
    int rc;

    if (!r)
        return err_set(e, -ENOENT, "this agent has no store");
    if (sum_new(&sum, store_points(&query)) < 0)
        return err_nomem(e);
    rc = store_series(r, &query, sum.one, e);
    if (rc < 0)
        return rc;
    add_values(&sum);
    json_object(&j, NULL);
    json_string(&j, "schema", "brim.series.v1");
    json_bool(&j, "rate", query.rate);
    write_times(&j, q, sum.n);
    json_array(&j, "values");
    write_values(&j, &sum, false);
    json_end(&j);
    json_end(&j);
    return 0;
}

static int write_event(void *arg, const struct event *event)
{
    event_json(arg, event);
    return 0;
}

static int answer_events(struct store_reader *r, const struct past *q, struct str *out,
                         struct err *e)
{
    struct json j = { .out = out, .compact = true };
    int rc = 0;

    json_object(&j, NULL);
    json_string(&j, "schema", "brim.events.v1");
    json_array(&j, "events");
    if (r)
        rc = store_events(r, q->from_ms, q->limit, write_event, &j, e);
    json_end(&j);
    json_end(&j);
    return rc;
}

static int answer_past(struct question *asked, struct str *out, struct err *e)
{
    const struct past *q = (const struct past *)asked;
    struct history *h = q->history;
    int rc = 0;

    if (h->path && !h->reader)
        rc = store_reader_open(&h->reader, h->path, e);
    if (rc == -ENOENT) /* the store's own thread has not made it yet */
        rc = 0;
    if (rc == 0)
        rc = q->answer(h->reader, q, out, e);
    if (rc < 0 && rc != -ENOENT) { /* it may be another file by now */
        store_reader_close(h->reader);
        h->reader = NULL;
    }
    return rc;
}

/* ---- what is asked ---- */

/* The question with what all have in common, put at the end by ask(); NULL when the call was
 * refused. */
static struct past *past_new(struct history *h, int64_t now_ms, struct http_call *call)
{
    int64_t seconds = questions_number(call, "seconds", 600, SECONDS_MAX);
    int64_t step = questions_number(call, "step", MAX(1, (seconds + POINTS - 1) / POINTS),
                                    SECONDS_MAX);
    struct past *q;

    if (seconds < 0 || step < 0 || seconds / step > POINTS) {
        questions_refuse(call,
                         "seconds and step must be whole numbers, with 2,000 steps at most\n");
        return NULL;
    }
    q = calloc(1, sizeof(*q));
    if (!q) {
        questions_refuse(call, "out of memory\n");
        return NULL;
    }
    q->history = h;
    q->question.answer = answer_past;
    q->question.call = call;
    q->question.out = (struct str)STR_INIT(ANSWER_MAX);
    q->step_ms = step * 1000;
    q->to_ms = now_ms / q->step_ms * q->step_ms;
    q->from_ms = q->to_ms - seconds * 1000 / q->step_ms * q->step_ms;
    return q;
}

static void ask(struct history *h, struct past *q)
{
    questions_ask(&h->questions, &q->question);
}

/* At once: what is in memory is of this thread. */
static void reply_recent(const struct history *h, struct past *q, struct http_call *call)
{
    CLEANUP(str_done) struct str out = STR_INIT(ANSWER_MAX);
    int64_t begin_ms = MIN(recent_begin_ms(h->recent), q->to_ms);

    if (begin_ms > q->from_ms)
        q->from_ms = begin_ms / q->step_ms * q->step_ms;
    if (write_charts(NULL, h->recent, q, &out, NULL) < 0 || str_error(&out))
        questions_refuse(call, "out of memory\n");
    else
        http_reply(call, 200, NULL, str_text(&out), out.len);
    free(q);
}

void history_charts(struct history *h, int64_t now_ms, struct http_call *call)
{
    struct past *q = past_new(h, now_ms, call);

    if (!q)
        return;
    if (!h->path && h->recent) {
        reply_recent(h, q, call);
        return;
    }
    q->answer = answer_charts;
    ask(h, q);
}

/* A text of the query; false when it is too long. */
static bool text(const struct http_call *call, const char *name, char out[NAME])
{
    const char *given = http_query(call, name);

    if (given && strlen(given) >= NAME)
        return false;
    memcpy(out, given ? given : "", given ? strlen(given) + 1 : 1);
    return true;
}

void history_series(struct history *h, int64_t now_ms, struct http_call *call)
{
    struct past *q = past_new(h, now_ms, call);

    if (!q)
        return;
    q->answer = answer_series;
    if (!text(call, "set", q->set) || !text(call, "thing", q->thing) ||
        !text(call, "signal", q->signal) || !text(call, "label", q->label) || !*q->set ||
        !*q->signal) {
        questions_refuse(call, "set and signal must be given, such as ?set=disk&thing=vda&"
                               "signal=read_bytes_total\n");
        free(q);
        return;
    }
    ask(h, q);
}

void history_events(struct history *h, int64_t now_ms, struct http_call *call)
{
    int64_t limit = questions_number(call, "limit", 100, EVENTS);
    struct past *q;

    if (limit < 0) {
        questions_refuse(call, "limit must be a whole number from 1 to 1000\n");
        return;
    }
    q = past_new(h, now_ms, call);
    if (!q)
        return;
    q->answer = answer_events;
    q->limit = (int)limit;
    ask(h, q);
}

/* ---- the whole ---- */

int history_open(struct history **ret, uv_loop_t *loop, const char *path,
                 const struct recent *recent, struct err *e)
{
    struct history *h = calloc(1, sizeof(*h));

    if (!h)
        return err_nomem(e);
    h->questions.loop = loop;
    h->path = path;
    h->recent = recent;
    *ret = h;
    return 0;
}

void history_end(struct history *h)
{
    if (h)
        questions_end(&h->questions);
}

bool history_busy(const struct history *h)
{
    return h && questions_busy(&h->questions);
}

void history_close(struct history *h)
{
    if (!h)
        return;
    store_reader_close(h->reader);
    free(h);
}
