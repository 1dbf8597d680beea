/* Questions about the past: what is asked wrongly, what is answered out of a store and without one,
 * and those that wait when the agent ends. The server is a stub here: calls and their answers. */
#include "daemon/history.h"

#include <uv.h>

#include "base/clock.h"
#include "stored.h"

struct http_call {
    const char *query; /* "seconds=10&step=1" */
    unsigned status;   /* 0: not answered yet */
    char text[8192], value[256];
    unsigned order; /* in which it was answered */
};

static unsigned answered;

const char *http_query(const struct http_call *call, const char *name)
{
    struct http_call *c = (struct http_call *)(uintptr_t)call;
    size_t len = strlen(name);

    for (const char *at = c->query; at && *at; at += strcspn(at, "&"), at += *at == '&')
        if (!strncmp(at, name, len) && at[len] == '=') {
            snprintf(c->value, sizeof(c->value), "%.*s", (int)strcspn(at + len + 1, "&"),
                     at + len + 1);
            return c->value;
        }
    return NULL;
}

void http_reply(struct http_call *call, unsigned status, const char *type, const char *text,
                size_t len)
{
    (void)type;
    call->status = status;
    call->order = ++answered;
    snprintf(call->text, sizeof(call->text), "%.*s", (int)len, text);
}

typedef void question_fn(struct history *h, int64_t now_ms, struct http_call *call);

struct past {
    uv_loop_t loop;
    struct history *history;
};

static void past_open(struct past *p, const char *path, const struct recent *recent)
{
    folder_need(uv_loop_init(&p->loop), "loop");
    folder_need(history_open(&p->history, &p->loop, path, recent, NULL), "history");
}

static void past_close(struct past *p)
{
    uv_run(&p->loop, UV_RUN_DEFAULT);
    ok(!history_busy(p->history), "no call waits when the loop has ended");
    history_close(p->history);
    is_int(uv_loop_close(&p->loop), 0, "a closed history leaves nothing in the loop");
}

/* Ask at second 1010, and wait for the answer. */
static const char *say(struct past *p, question_fn *fn, const char *query, struct http_call *c)
{
    *c = (struct http_call){ .query = query };
    fn(p->history, 1010 * 1000 + 7, c);
    uv_run(&p->loop, UV_RUN_DEFAULT);
    return c->text;
}

static void test_refused(void)
{
    static const struct {
        question_fn *fn;
        const char *query, *why;
    } cases[] = {
        { history_charts, "seconds=0", "whole numbers" },
        { history_charts, "seconds=x", "whole numbers" },
        { history_charts, "seconds=86400&step=1", "2,000 steps" },
        { history_charts, "seconds=99999999999", "whole numbers" },
        { history_charts, "seconds=2001&step=1", "2,000 steps" },
        { history_charts, "seconds=10&step=0", "whole numbers" },
        { history_series, "seconds=0&set=disk&signal=busy", "whole numbers" },
        { history_events, "limit=0", "1 to 1000" },
        { history_events, "limit=1001", "1 to 1000" },
        { history_series, "seconds=10", "set and signal" },
        { history_series, "set=disk", "set and signal" },
        { history_series, "signal=busy", "set and signal" },
        { history_series,
          "signal=busy&set=disk&thing="
          "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
          "x"
          "xxxxxxxxxxxx",
          "set and signal" },
    };
    struct http_call c;
    struct past p;

    past_open(&p, NULL, NULL);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        say(&p, cases[i].fn, cases[i].query, &c);
        ok(c.status == 400 && strstr(c.text, cases[i].why), "history refuses %.40s with status %u",
           cases[i].query, c.status);
    }
    past_close(&p);
}

/* Questions at the limits of what is answered. */
static void test_limits(void)
{
    static struct recent recent;
    static const struct {
        question_fn *fn;
        const char *query;
    } cases[] = {
        { history_charts, "seconds=2000&step=1" },
        { history_charts, "seconds=1&step=1" },
        { history_charts, "" },
    };
    struct http_call c;
    struct past p;

    past_open(&p, NULL, &recent);
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        say(&p, cases[i].fn, cases[i].query, &c);
        is_int(c.status, 200, "history answers '%s'", cases[i].query);
    }
    past_close(&p);
}

/* Seconds 1000 to 1009, of which the disk is known from the second on; no accelerator. */
static void test_memory_instead_of_a_store(void)
{
    static struct recent recent;
    static struct live l;
    struct http_call c;
    struct past p;

    l = (struct live){ .n_disks = 2, .n_nets = 1 };
    for (int i = 0; i < LIVE_STAGES; i++)
        l.stages[i].load = (double)NAN;
    past_open(&p, NULL, &recent);
    say(&p, history_charts, "seconds=10", &c);
    ok(c.status == 200 && strstr(c.text, "\"time\":[]"),
       "charts of an empty memory have no time: %s", c.text);
    for (int i = 0; i < 40; i++) { /* four a second */
        l.wall_ns = 1000 * NS_PER_S + i * NS_PER_S / 4;
        l.stages[LIVE_CPU].load = i < 20 ? 0.25 : 0.75;
        l.disks[0].read = i ? 100 : (double)NAN;
        l.disks[1].read = i ? 50 : (double)NAN;
        l.nets[0].rx = 8;
        l.nets[0].tx = (double)NAN;
        recent_add(&recent, &l);
    }
    is_int((long long)recent.n, 10, "of four samples a second one is kept");
    say(&p, history_charts, "seconds=600&step=5", &c);
    ok(strstr(c.text, "\"time\":[1000000,1005000]"), "charts begin where the memory does: %s",
       c.text);
    ok(strstr(c.text, "\"cpu\":[0.25,0.75]") && strstr(c.text, "\"net_rx\":[8,8]"),
       "a step of a chart is the mean of its points");
    ok(strstr(c.text, "\"disk_read\":[150,150]"),
       "disks are summed, and what was not known is left out");
    ok(strstr(c.text, "\"gpu_busy\":[null,null]") && strstr(c.text, "\"net_tx\":[null,"),
       "what is not known at all is no zero");
    say(&p, history_charts, "seconds=4", &c);
    ok(strstr(c.text, "\"time\":[1006000,1007000,1008000,1009000]"),
       "charts have what was asked for of a longer memory");
    for (int i = 0; i < 2 * RECENT_POINTS; i++) {
        l.wall_ns = (2000 + i) * NS_PER_S;
        recent_add(&recent, &l);
    }
    ok(recent.n == RECENT_POINTS &&
           recent_begin_ms(&recent) == (2000 + RECENT_POINTS) * (int64_t)1000,
       "the memory keeps its last %d points", RECENT_POINTS);
    l.wall_ns = 5 * NS_PER_S;
    recent_add(&recent, &l);
    ok(recent.n == 1 && recent_begin_ms(&recent) == 5000, "a clock that was set back begins anew");
    past_close(&p);
}

static void test_without_a_store(void)
{
    char path[PATH_MAX + 16], folder[PATH_MAX];
    struct http_call c;
    struct past p;

    past_open(&p, NULL, NULL);
    say(&p, history_charts, "seconds=10", &c);
    ok(c.status == 200 && strstr(c.text, "\"time\":[]") && strstr(c.text, "\"disk_read\":[]"),
       "charts are empty without a store: %s", c.text);
    say(&p, history_events, "", &c);
    ok(c.status == 200 && strstr(c.text, "\"events\":[]"), "events are empty without a store");
    say(&p, history_series, "set=disk&thing=vda&signal=busy", &c);
    ok(c.status == 404 && strstr(c.text, "no store"), "there is no series without a store: %s",
       c.text);
    past_close(&p);
    folder_make(folder);
    snprintf(path, sizeof(path), "%s/store.db", folder);
    past_open(&p, path, NULL);
    say(&p, history_charts, "seconds=10", &c);
    ok(c.status == 200 && strstr(c.text, "\"time\":[]"),
       "charts are empty where the store is not made yet");
    folder_text(folder, "store.db", "this is no database, and long enough not to be taken for one");
    say(&p, history_events, "", &c);
    is_int(c.status, 503, "a broken store is answered with status 503: %s", c.text);
    past_close(&p);
    folder_remove(folder);
}

static void test_answers(void)
{
    struct stored s;
    struct http_call c;
    struct past p;

    stored_make(&s);
    for (int i = 0; i <= 10; i++)
        put(&s, 1000 + i, i, 100 * i);
    tick_begin(&s.tick, 1011 * S_NS, 1011 * S_NS);
    ok(tick_event(&s.tick, "kmsg", SEVERITY_WARNING, 7) != NULL, "a tick takes an event");
    folder_need(store_tick(s.store, &s.tick, NULL), "store_tick");
    past_open(&p, s.path, NULL);
    say(&p, history_charts, "seconds=4&step=1", &c);
    ok(c.status == 200 && strstr(c.text, "\"time\":[1006000,1007000,1008000,1009000]"),
       "charts have times up to now: %.120s", c.text);
    ok(strstr(c.text, "\"disk_read\":[100,100,100,100]"), "charts have the rates of counters");
    ok(strstr(c.text, "\"gpu_busy\":[null,null,null,null]"),
       "charts have null for what is not measured");
    say(&p, history_series, "set=disk&thing=vda&signal=busy&seconds=4&step=2", &c);
    ok(c.status == 200 && strstr(c.text, "\"rate\":false") &&
           strstr(c.text, "\"values\":[7.5,9.5]"),
       "a gauge is served in means of two seconds: %s", c.text);
    say(&p, history_series, "set=disk&thing=vda&signal=read_bytes_total&seconds=2&step=1", &c);
    ok(strstr(c.text, "\"rate\":true") && strstr(c.text, "[100,100]"),
       "a counter is served as its rate");
    say(&p, history_series, "set=disk&thing=vdz&signal=busy", &c);
    is_int(c.status, 404, "a thing that is not there is answered with 404: %s", c.text);
    say(&p, history_series, "set=disk&thing=vda&signal=nothing", &c);
    is_int(c.status, 404, "a signal that is not there is answered with 404: %s", c.text);
    say(&p, history_events, "seconds=60&limit=5", &c);
    ok(c.status == 200 && strstr(c.text, "\"kmsg\""),
       "history_events serves an event that was kept: %s", c.text);
    past_close(&p);
    stored_remove(&s);
}

/* One is answered at a time, in their order; those that wait when it ends are refused. */
static void test_queue(void)
{
    struct http_call calls[4];
    struct past p;
    unsigned in_order = 0, late = 0;

    past_open(&p, NULL, NULL);
    answered = 0;
    for (unsigned i = 0; i < 4; i++) {
        calls[i] = (struct http_call){ .query = "seconds=10" };
        history_charts(p.history, 1000, &calls[i]);
    }
    ok(history_busy(p.history) && answered == 0, "four questions wait until the loop runs");
    uv_run(&p.loop, UV_RUN_DEFAULT);
    for (unsigned i = 0; i < 4; i++)
        in_order += calls[i].status == 200 && calls[i].order == i + 1;
    is_int(in_order, 4, "four questions are answered in their order");
    for (unsigned i = 0; i < 4; i++) {
        calls[i] = (struct http_call){ .query = "seconds=10" };
        history_charts(p.history, 1000, &calls[i]);
    }
    history_end(p.history);
    uv_run(&p.loop, UV_RUN_DEFAULT);
    is_int(calls[0].status, 200, "the question being answered at the end is finished");
    for (unsigned i = 1; i < 4; i++)
        late += calls[i].status == 503;
    is_int(late, 3, "the three questions that wait at the end are refused");
    past_close(&p);
    history_end(NULL);
    history_close(NULL);
    ok(!history_busy(NULL), "NULL is a history that is not busy");
}

int main(void)
{
    test_refused();
    test_limits();
    test_memory_instead_of_a_store();
    test_without_a_store();
    test_answers();
    test_queue();
    return done();
}
